/* What tests of the page share: TAP, a server over a folder of its own, chromium, axe-core, pictures for docs (WEFT_SHOTS: a folder).
 * WEFT: the program. To be run in the checkout's root. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const need = createRequire(path.resolve("page/package.json"));
const { chromium } = need("playwright-core");
export const weft = path.resolve(process.env.WEFT);
export const patience = Number(process.env.WEFT_PATIENCE ?? 180000); /* for conditions, on a machine that may be slow; nothing sleeps for long */

let count = 0, bad = 0;
export function ok(good, text, more = "") {
    count++;
    if (!good) bad++;
    console.log(`${good ? "ok" : "not ok"} ${count} - ${text}`);
    if (!good && more) console.log(`# ${String(more).replace(/\n/g, "\n# ")}`);
    return good;
}
/* Until a condition holds. */
export async function until(act, text) {
    for (const end = Date.now() + patience; Date.now() < end;) {
        if (await act()) return ok(true, text);
        await new Promise((done) => setTimeout(done, 100));
    }
    return ok(false, text);
}
export const comes = async (what, text) => ok(await what.waitFor({ timeout: patience }).then(() => true, () => false), text);

/* A folder for one test, with a history of its own. */
export function laboratory(name) {
    const work = fs.mkdtempSync(path.join(os.tmpdir(), `weft-${name}-`));
    const environment = { ...process.env, WEFT_HISTORY: path.join(work, ".history.db"), XDG_CONFIG_HOME: path.join(work, ".config") };
    const servers = [];
    return {
        work, environment,
        read: (file) => fs.readFileSync(path.join(work, file), "utf8"),
        write: (file, text) => (fs.mkdirSync(path.dirname(path.join(work, file)), { recursive: true }), fs.writeFileSync(path.join(work, file), text)),
        /* the address that `weft ui` prints */
        serve: (...words) => new Promise((resolve, reject) => {
            const child = spawn(weft, ["ui", work, ...words], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
            servers.push(child);
            child.stdout.once("data", (data) => resolve({ child, url: String(data).trim(), origin: new URL(String(data).trim()).origin }));
            child.once("exit", (code) => reject(new Error(`weft ui ended: ${code}`)));
        }),
        end: () => {
            servers.forEach((child) => child.kill("SIGKILL"));
            fs.rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
        },
    };
}

/* `wrong` collects what a page must never do: mistakes of its own, dialogs, questions to others. */
export async function browse(size = { width: 1400, height: 900 }, more = []) {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        timeout: patience,
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", ...more],
    });
    const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" });
    const wrong = [];
    context.on("page", (page) => {
        page.setDefaultTimeout(patience);
        const asked = new Set(); /* and not answered; events never are */
        page.on("request", (request) => request.url().includes("/api/events") || asked.add(request));
        for (const over of ["requestfinished", "requestfailed"]) page.on(over, (request) => asked.delete(request));
        page.asked = asked;
        page.on("pageerror", (error) => wrong.push(error.stack ?? String(error)));
        page.on("dialog", (dialog) => (wrong.push(dialog.message()), dialog.dismiss()));
        page.on("request", (request) => {
            const { hostname, protocol } = new URL(request.url());
            if (!["data:", "blob:"].includes(protocol) && hostname !== "127.0.0.1") wrong.push(`asked elsewhere: ${request.url()}`);
        });
    });
    return { browser, context, wrong };
}

/* Until a view has all its answers and is drawn, however long that takes. */
export async function settled(page) {
    for (let calm = 0; calm < 3; calm = page.asked.size ? 0 : calm + 1) await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10))));
}

const axe = () => fs.readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");
/* Open a page, and wait until it hears keys. */
export async function visit(page, url) {
    await page.goto(url);
    await page.getByRole("navigation", { name: "views" }).waitFor();
}

/* Serious and critical findings alone: the rest is taste. */
export async function accessible(page, what) {
    await page.evaluate(axe());
    const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes[0].html}`));
    ok(found.length === 0, `axe-core finds nothing serious or critical in ${what}`, found.join("\n"));
}

/* A picture for docs, or to be looked at; few colours, since it goes into the repository. */
export async function shot(page, name) {
    if (!process.env.WEFT_SHOTS) return;
    const file = path.join(process.env.WEFT_SHOTS, `${name}.png`);
    await page.screenshot({ path: file });
    try {
        execFileSync("convert", [file, "-resize", "1100x", "-dither", "None", "-colors", "64", "-strip", `PNG8:${file}`]);
    } catch {
        /* without imagemagick it is as large as it is */
    }
}

/* To the last line, whatever happens. */
export async function test(lab, act) {
    const all = await browse();
    try {
        await act(all);
        ok(all.wrong.length === 0, "no mistake of the page's own, no dialog, no question to others", all.wrong.join("\n"));
    } catch (error) {
        ok(false, "the test goes to its end", error.stack);
        for (const page of all.context.pages()) await shot(page, "failed").catch(() => {});
    }
    await all.browser.close();
    lab.end();
    console.log(`1..${count}`);
    process.exit(bad ? 1 : 0);
}
