/* What an audit of the page found (018_again_test.sh): a run that is tried again is the same run; what would run is asked for what is
 * typed; wires are those that the workflow has; a constraint that cannot be read is told; moved boxes are put back; axe-core in wide
 * windows, dark and light, and in the dark on a laptop. Speaks TAP. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { accessible, comes, laboratory, ok, settled, shot, test, until, weft } from "./support.mjs";

const lab = laboratory("again");
const box = (page, name) => page.locator(`[data-box="${name}"]`);
const flow = (word) => `weft: 1\nname: sum\nparameters: { a: 1 }\ntasks:\n  sum: { run: "echo ${word} {a} > {out}", out: total.txt }\n  twice: { run: "cat {in} {in} > {out}", in: total.txt, out: twice.txt }\n`;
lab.write("flow.yaml", flow("above"));
lab.write("sub/flow.yaml", flow("below"));
lab.write("reads.tsv", "name\tfile\nann\tann.txt\nbob\tbob.txt\n");
lab.write("ann.txt", "a\n");
lab.write("bob.txt", "b\n");
lab.write("table.yaml", 'weft: 1\nlists: { reads: { table: reads.tsv } }\ntasks:\n  align: { each: reads, run: "cp {in} {out}", in: "{file}", out: "hits/{name}.txt" }\n  join: { run: "cat {in} > {out}", in: "hits/{name}.txt", out: all.txt }\n');

/* In a terminal, in a folder below the page's, with a parameter. */
async function again(page, origin) {
    execFileSync(weft, ["run", "flow.yaml", "-q", "-p", "a=7"], { cwd: path.join(lab.work, "sub"), env: lab.environment });
    await page.goto(`${origin}/#run?run=1`);
    await comes(page.getByText("with a=7"), "what a run was given is told");
    await page.getByRole("button", { name: "Run again" }).click();
    await comes(page.getByText("Everything is up to date: nothing had to run."), "run again: it is the same, and nothing has to run");
    lab.write("sub/flow.yaml", flow("anew"));
    await page.getByRole("button", { name: "Run again" }).click();
    await comes(page.getByRole("heading", { name: "Run 2 · sum" }), "changed, it runs");
    await comes(page.locator(".counts .state.done"), "to its end");
    ok(lab.read("sub/total.txt") === "anew 7\n", "the file of that folder, with its parameter", lab.read("sub/total.txt"));
}

async function dry(page, origin) {
    await page.goto(`${origin}/#run?flow=flow.yaml`);
    const look = page.getByRole("button", { name: "What would run?" });
    await look.click();
    await comes(page.getByText("2 of 2 tasks would run"), "what would run: all");
    await page.getByLabel("Only").fill("sum");
    await look.click();
    await comes(page.getByText("1 of 1 task would run").or(page.getByText("1 of 2 tasks would run")), "or only what is asked for");
    await page.getByLabel("With").fill("b=1");
    await look.click();
    await until(async () => /-p b: there is no parameter/.test(await page.locator(".said").innerText()), "a parameter that it has not is told");
    await page.getByLabel("With").fill("a=3");
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.getByText("with a=3"), "a run with a parameter");
    await comes(page.locator(".counts .state.done"), "ends well");
    ok(lab.read("total.txt") === "above 3\n", "and has it");
}

async function bench(page, origin) {
    await page.goto(`${origin}/#workbench?file=table.yaml`);
    await box(page, "join").waitFor();
    ok((await page.locator("path.wire").count()) === 1, "a column of files is wired to nothing that does not make them", String(await page.locator("path.wire").count()));
    const left = async () => Number(await box(page, "join").locator("rect.card").getAttribute("x")); /* pixels would count the line around it, which is thicker around one that has the focus */
    const before = await left();
    await box(page, "join").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Alt+ArrowRight");
    const moved = await left();
    ok(moved > before, "a box is moved");
    await page.keyboard.press("t");
    await until(async () => (await left()) < moved, "tidied");
    await page.keyboard.press("Control+z");
    await until(async () => (await left()) === moved, "and put back: tidying is undone");
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await until(async () => (await left()) === before, "as is moving");
    await page.locator(".canvas").click({ position: { x: 5, y: 5 } });
    await page.getByLabel("another constraint").fill("makespan < 100");
    await page.getByLabel("another constraint").evaluate((area) => area.form.requestSubmit());
    await until(async () => /line \d+: .*expected 'assert'/.test(await page.locator(".problems").innerText()), "a constraint that is none is told at its line");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(async () => /none/.test(await page.locator(".problems").innerText()), "and undone");
    await page.getByLabel("a constraint to begin with", { exact: true }).selectOption({ index: 1 });
    await page.getByRole("button", { name: "Take: a constraint to begin with" }).click();
    await page.getByLabel("another constraint").evaluate((area) => area.form.requestSubmit());
    await until(() => /assert: .*max = 100/.test(lab.read("table.yaml")), "a ready one is taken");
    await until(async () => /none/.test(await page.locator(".problems").innerText()), "and is one");
    await shot(page, "again-bench");
}

/* Every view, in a large window in both colours, and on a laptop in the dark (views.mjs looks at it by day). */
async function wide(page, origin) {
    for (const [width, height, colorScheme] of [[3840, 2160, "dark"], [3840, 2160, "light"], [1366, 768, "dark"]]) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const view of ["#workbench?file=table.yaml", "#run", "#run?run=2&task=0", "#plan?flow=table.yaml&on=2", "#experiments", "#database?run=1", "#cluster"]) {
            await page.goto(`${origin}/${view}`);
            await page.locator("main .card, main .workbench, main section").first().waitFor();
            await settled(page);
            await accessible(page, `${view} in a window of ${width} x ${height}, ${colorScheme}`);
        }
    }
}

await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await again(page, origin);
    await dry(page, origin);
    await bench(page, origin);
    await wide(page, origin);
});
