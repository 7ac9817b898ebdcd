/* The Workbench in a real browser (Debian's chromium), by mouse and by keyboard. WEFT: the program; WEFT_SHOTS: a folder for pictures of
 * what is seen. Speaks TAP. Run in the checkout's root. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const need = createRequire(path.resolve("page/package.json"));
const { chromium } = need("playwright-core");
const weft = path.resolve(process.env.WEFT), shots = process.env.WEFT_SHOTS;
const work = fs.mkdtempSync(path.join(os.tmpdir(), "weft-workbench-"));
const environment = { ...process.env, WEFT_HISTORY: path.join(work, "history.db"), XDG_CONFIG_HOME: path.join(work, "config") };
const patience = Number(process.env.WEFT_PATIENCE ?? 180000); /* for conditions; nothing sleeps */
let count = 0, bad = 0;
function ok(good, text) {
    count++;
    if (!good) bad++;
    console.log(`${good ? "ok" : "not ok"} ${count} - ${text}`);
}

function serve(port, ...more) {
    return new Promise((resolve, reject) => {
        const child = spawn(weft, ["ui", work, ...(port ? ["--port", String(port)] : []), ...more], { env: environment, stdio: ["ignore", "pipe", "ignore"] });
        child.stdout.once("data", (data) => resolve({ child, url: String(data).trim() }));
        child.once("exit", (code) => reject(new Error(`weft ui ended: ${code}`)));
    });
}
const read = (name) => fs.readFileSync(path.join(work, name), "utf8");
/* Until a file says so: everything is saved within a second, on a machine that may be slow. */
async function until(act, text) {
    for (const end = Date.now() + patience; Date.now() < end;) {
        if (await act()) return ok(true, text);
        await new Promise((done) => setTimeout(done, 100));
    }
    ok(false, text);
}
const shot = (page, name) => (shots ? page.screenshot({ path: path.join(shots, `${name}.png`) }) : null);

fs.mkdirSync(path.join(work, "config/weft/tasks"), { recursive: true });
fs.writeFileSync(path.join(work, "config/weft/tasks/mine.yaml"), "# My own.\nweft: 1\ntasks:\n  mine: { run: 'cp {in} {out}', in: a, out: b }\n");
fs.writeFileSync(path.join(work, "kept.yaml"), "# a comment\nweft: 1   # and another\ntasks:\n  first: # here\n    run: echo 1 > {out}\n    out: one.txt\n");
fs.writeFileSync(path.join(work, "<b>hostile<i>.yaml"), "weft: 1\ntasks:\n  '<img src=x onerror=alert(1)>': { run: 'true > {out}', out: '<b>.txt' }\n");

let server = await serve(0);
process.on("exit", () => server.child.kill("SIGKILL"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", timeout: patience, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const page = await context.newPage();
page.setDefaultTimeout(patience);
const mistakes = [];
page.on("pageerror", (error) => mistakes.push(String(error)));
page.on("dialog", (dialog) => (mistakes.push(dialog.message()), dialog.dismiss()));
await page.goto(server.url);
await page.goto(`${new URL(server.url).origin}/#workbench`);

/* ---- the paper's Figure 2: boxes from the palette, wired ---- */
await page.getByRole("button", { name: "New" }).click();
await page.getByLabel("name of the new workflow").fill("edges");
await page.getByRole("button", { name: "Make" }).click();
const box = (name) => page.locator(`[data-box="${name}"]`);
async function take(name) {
    await page.getByLabel("search tasks").fill(name);
    await page.locator(".palette li button", { hasText: new RegExp(`^${name}$`) }).click();
    await box(name).waitFor();
}
await page.locator(".saving.saved").waitFor();
for (const name of ["draw-test-picture", "blur", "sobel"]) await take(name);
ok(await box("blur").isVisible(), "three boxes from the palette");
await until(() => read("edges.yaml").includes("  sobel:"), "are in the file");
const portOf = (name, out, at = 0) => box(name).locator(`.port.${out ? "out" : "in"} circle`).nth(at);
async function wire(from, to) {
    const a = await portOf(from, true).boundingBox(), b = await portOf(to, false).boundingBox();
    await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await page.mouse.down();
    await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2 + 10, { steps: 3 });
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 3 });
    await page.mouse.up();
}
/* the picture's name is the one that blur reads: that wire is there already */
ok((await page.locator("path.wire").count()) >= 1, "names that are the same are a wire");
await wire("blur", "sobel");
await until(() => /sobel:\n(.*\n)*? +in: blurred\.png/.test(read("edges.yaml")), "a wire that is drawn is a name in the file");
await shot(page, "workbench-wired");
await wire("sobel", "blur");
await until(async () => (await page.locator(".refused", { hasText: "circle" }).count()) === 1, "one that goes in a circle is refused with a word");

/* ---- undo, redo, keyboard ---- */
await page.locator(".canvas").click({ position: { x: 5, y: 5 } });
const before = read("edges.yaml");
await page.keyboard.press("Control+z");
await until(() => read("edges.yaml") !== before, "Ctrl+Z undoes");
await page.keyboard.press("Control+Shift+Z");
await until(() => read("edges.yaml") === before, "Ctrl+Shift+Z gives the same bytes");
/* without end: eighty moves are taken back, one by one, and made again */
const spot = async (name) => `${await box(name).locator("rect.card").getAttribute("x")},${await box(name).locator("rect.card").getAttribute("y")}`;
const stood = await spot("sobel");
await box("sobel").focus();
for (let i = 0; i < 80; i++) await page.keyboard.press(i % 2 ? "Alt+ArrowDown" : "Alt+ArrowRight");
const moved = await spot("sobel");
for (let i = 0; i < 79; i++) await page.keyboard.press("Control+z");
ok(moved !== stood && (await spot("sobel")) !== stood, "79 of 80 moves are undone");
await page.keyboard.press("Control+z");
ok((await spot("sobel")) === stood, "and the first one");
for (let i = 0; i < 80; i++) await page.keyboard.press("Control+Shift+Z");
ok((await spot("sobel")) === moved, "and all made again");
await page.keyboard.press("t");
ok((await spot("sobel")) === stood, "tidy puts boxes in order");
await box("sobel").focus();
await page.keyboard.press("Enter");
await until(() => page.evaluate(() => document.activeElement?.closest(".inspector") !== null), "Enter on a box leads into its form");
await page.getByLabel("name", { exact: true }).fill("detect");
await page.keyboard.press("Enter");
await until(() => read("edges.yaml").includes("  detect:"), "a task is renamed there");
await box("detect").focus();
await page.keyboard.press("Control+c");
await page.keyboard.press("Control+d");
await until(() => read("edges.yaml").includes("detect2:") && read("edges.yaml").includes("sobel2.png"), "copied and pasted with a name and a file of its own");
await until(() => page.evaluate(() => document.activeElement?.getAttribute("data-box") === "detect2"), "one is at the copy then");
await page.keyboard.press("Delete");
await until(() => !read("edges.yaml").includes("detect2:"), "and removed with Delete");
/* a wire with the keyboard alone */
await page.keyboard.press("/");
await page.keyboard.type("threshold");
await page.keyboard.press("Enter");
await box("threshold").waitFor();
await box("blur").focus();
await page.keyboard.press("w");
await box("threshold").focus();
await page.keyboard.press("w");
await until(() => /threshold:\n(.*\n)*? +in: blurred\.png/.test(read("edges.yaml")), "a wire with the keyboard alone");
await box("blur").focus();
await page.keyboard.press("g");
await page.keyboard.press("w");
ok(!/A wire with/.test(await page.locator(".problems").innerText()), "g and w go to the Workbench, and take no wire");
await page.getByLabel("search tasks").fill("mine");
ok(await page.locator(".palette details", { hasText: "mine" }).getByRole("button", { name: "mine", exact: true }).isEnabled(), "one's own tasks are in the palette");

/* ---- lights and data ---- */
await until(async () => (await box("blur").getAttribute("aria-label")).includes("would run"), "the light says that it would run");
execFileSync(weft, ["run", path.join(work, "edges.yaml"), "-q"], { env: environment });
await until(async () => (await box("blur").getAttribute("aria-label")).includes("up to date"), "and after a run that it is up to date");
await box("detect").locator(".port.out text").click();
await page.locator("section.behind img").waitFor();
await until(() => page.evaluate(() => document.querySelector("section.behind img")?.naturalWidth === 200), "behind a port is its picture");
await shot(page, "workbench-data");

/* ---- the text ---- */
await page.getByLabel("workflow", { exact: true }).selectOption("kept.yaml");
await box("first").waitFor();
await box("first").click();
await page.getByLabel("run", { exact: true }).fill("echo 2 > {out}");
await page.keyboard.press("Control+Enter");
await until(() => read("kept.yaml") === "# a comment\nweft: 1   # and another\ntasks:\n  first: # here\n    run: echo 2 > {out}\n    out: one.txt\n", "a form changes its bytes, and no others");
const area = page.getByLabel("text of kept.yaml");
await area.fill(`${read("kept.yaml")}  second: { run: 'cat {in} > {out}', in: one.txt, out: two.txt }\n`);
await box("second").waitFor();
ok((await page.locator("path.wire").count()) === 1, "what is typed is on the canvas, with its wire");
await area.fill(`${await area.inputValue()}  third: { rnu: x }\n`);
await until(async () => /line 8: .*rnu/.test(await page.locator(".problems").innerText()), "a mistake stands at its line");
await until(async () => (await box("third").getAttribute("class")).includes("wrong"), "and at its box");
await shot(page, "workbench-mistake");
await page.getByRole("button", { name: "Undo" }).click();
await until(async () => /none/.test(await page.locator(".problems").innerText()), "which undo takes back");

/* ---- two windows ---- */
const other = await context.newPage();
await other.goto(`${new URL(server.url).origin}/#workbench?file=kept.yaml`);
await other.locator('[data-box="second"]').waitFor();
fs.appendFileSync(path.join(work, "kept.yaml"), "# somebody else\n");
await other.locator('[data-box="first"]').focus();
await other.keyboard.press("Delete");
await other.locator(".saving.conflict").waitFor();
ok(read("kept.yaml").endsWith("# somebody else\n"), "what somebody else has written is not written over");
await other.getByRole("button", { name: "Take theirs" }).click();
await other.locator(".saving.saved").waitFor();
ok((await other.getByLabel("text of kept.yaml").inputValue()).endsWith("# somebody else\n"), "and can be taken");
await other.close();

/* ---- names are text ---- */
await page.getByLabel("workflow", { exact: true }).selectOption("<b>hostile<i>.yaml");
await page.locator('[data-box^="<img"]').waitFor();
ok((await page.locator("img[src=x]").count()) === 0, "a name is never HTML");

/* ---- files of the folder, and no others ---- */
fs.symlinkSync("/etc/passwd", path.join(work, "link.txt"));
fs.symlinkSync("/etc", path.join(work, "etc"));
fs.mkdirSync(path.join(work, ".hidden"));
fs.writeFileSync(path.join(work, ".hidden/x.txt"), "x");
const statuses = await page.evaluate(async (names) => {
    const found = {};
    for (const name of names) {
        const at = encodeURIComponent(name);
        found[name] = (await Promise.all(["data", "picture", "flow", "lights"].map((what) => fetch(`/api/workbench/${what}?file=${at}`)))).map((r) => r.status);
        found[name].push((await fetch("/api/workbench/save", { method: "POST", body: JSON.stringify({ file: name, text: "x", digest: "" }) })).status);
    }
    return found;
}, ["../x.yaml", "/etc/passwd", "a/../../x.yaml", "link.txt", "etc/new.yaml", ".hidden/x.txt", ".weft/x.yaml", ""]);
ok(Object.values(statuses).flat().every((s) => s >= 400 && s < 500), `no file outside of the folder, nor a hidden one: ${JSON.stringify(statuses)}`);
ok(!fs.existsSync(path.join(work, "../x.yaml")) && !fs.existsSync("/etc/new.yaml"), "is read or written");

/* ---- accessibility ---- */
await page.getByLabel("workflow", { exact: true }).selectOption("edges.yaml");
await box("detect").waitFor();
await box("detect").click();
await page.addScriptTag({ path: need.resolve("axe-core/axe.min.js") }).catch(() => page.evaluate(fs.readFileSync(need.resolve("axe-core/axe.min.js"), "utf8")));
const found = await page.evaluate(async () => (await axe.run()).violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes[0].html}`));
ok(found.length === 0, `axe-core finds nothing serious${found.length ? `: ${found.join("; ")}` : ""}`);

/* ---- killed while somebody edits: what was typed a second ago is there, the file is whole, and the page goes on ---- */
await page.getByLabel("workflow", { exact: true }).selectOption("kept.yaml");
await box("first").waitFor();
const typing = page.getByLabel("text of kept.yaml");
const base = await typing.inputValue();
await typing.fill(`${base}# typed one\n`);
await until(() => read("kept.yaml").endsWith("# typed one\n"), "typed, and saved by itself");
const port = new URL(server.url).port;
for (let i = 0; i < 20; i++) await typing.fill(`${base}# typed one\n${"# more\n".repeat(i + 1)}`);
server.child.kill("SIGKILL");
await new Promise((done) => server.child.once("exit", done));
const left = read("kept.yaml");
ok(left.startsWith(`${base}# typed one\n`) && /(# more\n)*$/.test(left), "the server is killed while somebody types: the file is whole");
await typing.fill(`${base}# typed while it was away\n`);
await page.locator(".saving.away").waitFor();
server = await serve(Number(port));
await page.goto(server.url);
await page.goto(`${new URL(server.url).origin}/#workbench?file=kept.yaml`);
await until(() => read("kept.yaml").endsWith("# typed while it was away\n"), "what was typed while it was away is saved when it is back");

/* ---- only to look ---- */
server.child.kill("SIGTERM");
await new Promise((done) => server.child.once("exit", done));
server = await serve(Number(port), "--read-only");
await page.goto(server.url);
await page.goto(`${new URL(server.url).origin}/#workbench?file=edges.yaml`);
await box("detect").waitFor();
ok((await page.getByRole("button", { name: "Undo" }).count()) === 0 && (await page.locator(".palette li button:enabled").count()) === 0, "with --read-only nothing can be changed");

/* ---- narrow ---- */
await page.setViewportSize({ width: 360, height: 740 });
ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360), "360 pixels are wide enough");
await shot(page, "workbench-narrow");
ok(mistakes.length === 0, `no mistake of the page's own${mistakes.length ? `: ${mistakes.join("; ")}` : ""}`);

await browser.close();
server.child.kill("SIGTERM");
fs.rmSync(work, { recursive: true, force: true });
console.log(`1..${count}`);
process.exit(bad ? 1 : 0);
