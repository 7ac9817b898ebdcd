// The page in chromium: a run that fails is started, looked at, mended and tried again; hostile names; every view by axe-core and on a
// phone; a server that dies. WEFT: the program. Speaks TAP.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "../../page/node_modules/playwright-core/index.mjs";

const weft = resolve(process.env.WEFT);
const axe = readFileSync("page/node_modules/axe-core/axe.min.js", "utf8");
const work = mkdtempSync(join(tmpdir(), "weft-page-"));
const environment = { ...process.env, WEFT_HISTORY: join(work, "history.db") };
const patience = Number(process.env.WEFT_PATIENCE ?? 180000); // for conditions; nothing sleeps
let count = 0, bad = 0;
const ok = (good, text, more = "") => {
    count++;
    if (!good) bad++;
    console.log(`${good ? "ok" : "not ok"} ${count} - ${text}`);
    if (!good && more) console.log(`# ${String(more).replace(/\n/g, "\n# ")}`);
};
const comes = async (what, text) => ok(await what.waitFor({ timeout: patience }).then(() => true, () => false), text);

async function serve(...words) {
    const server = spawn(weft, ["ui", ...words], { cwd: work, env: environment, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout })) return { server, url: line.trim() };
    throw new Error("weft ui did not begin");
}

const flow = (good) => `weft: 1
tasks:
  "<img src=x onerror=alert(1)>": {run: "echo '<script>alert(2)</script>'; echo a > {out}", out: a.txt}
  count: {run: "${good ? "wc -l {in} > {out}" : "echo no such region >&2; exit 3"}", in: a.txt, out: b.txt}
  last: {run: "cat {in} > {out}", in: b.txt, out: c.txt}
`;

async function run(page) {
    await page.goto(new URL("/#run", page.url()).href);
    await page.getByLabel("Workflow").selectOption("flow.yaml");
    await page.getByRole("button", { name: "What would run?" }).click();
    await comes(page.getByText("3 of 3 tasks would run"), "what would run is told");
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.getByRole("heading", { name: "Run 1 · flow" }), "a run that is started is shown");
    await comes(page.locator(".counts .failed"), "its failure is seen while nobody asks");
    await comes(page.locator(".gantt canvas"), "with a Gantt");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "count", exact: true }).click();
    await comes(page.getByText("no such region").last(), "a click leads to the log");
    await comes(page.getByText("failed, status 3"), "and to the status");
    await page.getByRole("button", { name: "<img src=x onerror=alert(1)>", exact: true }).click();
    await comes(page.getByRole("log").getByText("<script>alert(2)</script>"), "what a task wrote is text, whatever it looks like");
    writeFileSync(join(work, "flow.yaml"), flow(true));
    await page.getByRole("button", { name: "Retry" }).click();
    await comes(page.getByRole("heading", { name: "Run 2 · flow" }), "mended and tried again");
    await comes(page.locator(".counts .state.done"), "it ends well");
}

// Names of workflows, tasks, files, nodes, parameters, experiments and notes that would be elements, were they ever taken for HTML: as they
// stand, in every view that shows them.
async function hostile(page) {
    const bad = (n) => `<img src=x onerror=alert(${n})>`;
    writeFileSync(join(work, "swept.yaml"), `weft: 1\nname: "${bad(3)}"\nparameters: { p: "${bad(4)}" }\ntasks:\n  "${bad(5)}": { run: "echo 'score 1' > {out}; echo '${bad(6)} {p}' >> {out}", out: "${bad(7)}.txt" }\n`);
    writeFileSync(join(work, "tried.yaml"), `weft: 1\nexperiment: "${bad(8)}"\nworkflow: swept.yaml\nsubstitute:\n  "s": { parameter: p, by: ["${bad(9)}", "${bad(10)}"] }\n`);
    writeFileSync(join(work, "nodes.yaml"), `weft: 1\nnodes:\n  - { name: "${bad(11)}", cores: 1 }\n`);
    const views = [
        ["#workbench?file=swept.yaml", page.locator("text.name").filter({ hasText: "<img" })],
        ["#plan?flow=swept.yaml&on=nodes.yaml&with=heft", page.locator(".machine").getByText(bad(11))],
        ["#experiments?file=tried.yaml", page.getByRole("heading", { name: bad(8) })],
        ["#run?flow=swept.yaml", page.getByRole("button", { name: "▶ Run" })],
    ];
    for (const [view, shown] of views) {
        await page.goto(new URL(`/${view}`, page.url()).href);
        await comes(shown, `hostile names are text in ${view}`);
        ok((await page.locator("img[src=x]").count()) === 0, "and no elements");
    }
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.locator(".counts .state.done"), "they run");
    await comes(page.getByRole("heading", { name: bad(3) }), "a run of that name");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: bad(5) }).click();
    await page.getByRole("button", { name: `${bad(7)}.txt` }).click();
    await comes(page.locator("section.behind pre").getByText(bad(6)), "and what it has written, behind a click");
    const run = new URL(page.url()).hash.match(/run=(\d+)/)[1];
    await page.goto(new URL(`/#database?run=${run}`, page.url()).href);
    await page.getByLabel("its text").fill(bad(12));
    await page.getByRole("button", { name: "Say" }).click();
    await comes(page.getByText(bad(12)), "a note in the Database");
    await page.locator("summary", { hasText: /file/ }).first().click();
    await page.getByRole("link", { name: `${bad(7)}.txt` }).click();
    await comes(page.getByRole("cell", { name: bad(5) }), "the lineage of a file");
    await page.goto(new URL(`/#database?before=1&after=${run}`, page.url()).href);
    await comes(page.getByText(bad(5)).first(), "and two runs beside each other");
    ok((await page.locator("img[src=x]").count()) === 0, "all of them text");
}

// Serious and critical findings alone: the rest is taste.
async function accessible(page, view) {
    await page.evaluate(axe).catch(() => {});
    const found = await page.evaluate(async () => {
        const result = await window.axe.run(document, { resultTypes: ["violations"] });
        return result.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes[0].html}`);
    });
    ok(found.length === 0, `axe-core finds nothing serious in ${view}`, found.join("\n"));
}

writeFileSync(join(work, "flow.yaml"), flow(false));
const { server, url } = await serve();
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    timeout: patience,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
    // playwright's own scripts are not the page's; its policy stays in force for all that the page does
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("dialog", (dialog) => (wrong.push(`a script of a task's name ran: ${dialog.message()}`), dialog.dismiss()));
    page.on("request", (request) => new URL(request.url()).host === new URL(url).host || request.url().startsWith("data:") || wrong.push(`asked elsewhere: ${request.url()}`));
    await page.goto(url);
    ok(!page.url().includes("token"), "the token leaves the address");
    await comes(page.getByRole("navigation", { name: "views" }), "the page opens");
    await run(page);
    await hostile(page);
    const views = await page.locator("nav[aria-label=views] a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    for (const view of [...views, "#run?run=2&task=0", "#database?run=2", "#plan?flow=swept.yaml&on=nodes.yaml&with=heft", "#experiments?file=tried.yaml", "#workbench?file=swept.yaml"]) {
        await page.goto(new URL(`/${view}`, page.url()).href);
        await page.locator("main").waitFor({ timeout: patience });
        await accessible(page, view);
    }
    await page.keyboard.press("g");
    await comes(page.getByRole("status").filter({ hasText: "r Run" }), "g says which letters go where");
    await page.waitForTimeout(1200);
    await page.keyboard.press("r");
    await comes(page.getByRole("heading", { name: "Runs" }), "g and r go to the runs, for slow hands as well");
    ok((await page.getByRole("status").filter({ hasText: "w Workbench" }).count()) === 0, "and then it says so no more");
    await page.keyboard.press("g");
    await page.keyboard.press("x");
    await page.keyboard.press("d");
    ok(await page.getByRole("heading", { name: "Runs" }).isVisible(), "any other key takes g back");
    await page.goto(new URL("/#frob", page.url()).href);
    await comes(page.getByText("There is no view 'frob'"), "a view that there is not is told");
    for (const view of ["#workbench?file=nowhere.yaml", "#plan?flow=nowhere.yaml", "#plan?flow=flow.yaml&on=nowhere.yaml", "#experiments?file=nowhere.yaml"]) {
        await page.goto(new URL(`/${view}`, page.url()).href);
        await comes(page.locator("[role=alert], [role=status]").filter({ hasText: "nowhere.yaml" }).first(), `${view}: a file that is not there is told, by its name`);
    }
    for (const view of ["#run?run=99", "#database?run=99"]) {
        await page.goto(new URL(`/${view}`, page.url()).href);
        await comes(page.getByRole("alert").filter({ hasText: "there is no run 99" }), `${view}: nor is a run`);
    }
    const phone = await context.newPage();
    await phone.setViewportSize({ width: 360, height: 740 });
    await phone.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await phone.goto(new URL("/#run?run=2", page.url()).href);
    await comes(phone.getByRole("heading", { name: "Run 2 · flow" }), "a second window, on a phone");
    ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 360), "is not wider than it");
    const gone = new Promise((wake) => server.once("exit", wake));
    server.kill("SIGKILL");
    await gone;
    await comes(page.getByText("The server does not answer"), "a server that dies is told");
    const second = await serve("--port", new URL(url).port);
    await comes(page.getByText("The server was started again"), "and one that was started again");
    await page.goto(second.url);
    await comes(page.getByRole("navigation", { name: "views" }), "whose address opens the page again");
    second.server.kill("SIGTERM");
    ok(wrong.length === 0, "nothing went wrong meanwhile, and nothing was asked elsewhere", wrong.join("\n"));
} catch (error) {
    ok(false, "the test goes to its end", error.stack);
} finally {
    await browser.close();
    server.kill("SIGKILL");
    rmSync(work, { recursive: true, force: true });
}
console.log(`1..${count}`);
process.exit(bad > 0 ? 1 : 0);
