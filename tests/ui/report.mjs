// A report with the Run view in it, opened from the disk (018_report_view_test.sh). Speaks TAP.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { accessible, comes, laboratory, ok, shot, test, weft } from "./support.mjs";

const lab = laboratory("report"), { work, environment } = lab;
const run = (...words) => spawnSync(weft, words, { cwd: work, env: environment, encoding: "utf8" });
const hostile = "</script><script>alert(1)</script><!--";
writeFileSync(
    join(work, "flow.yaml"),
    `weft: 1
name: ${JSON.stringify(hostile)}
lists: { i: [1, 2, 3, 4, 5, 6, 7, 8] }
tasks:
  ${JSON.stringify(hostile)}: {run: "echo '</script><script>alert(2)</script>'; echo a > {out}", out: a.txt}
  part: {each: i, run: "echo part {i}; cat {in} > {out}", in: a.txt, out: "p{i}.txt"}
  broken: {run: "echo '<img src=x onerror=alert(3)>' >&2; exit 3", in: a.txt, out: b.txt}
`,
);
await test(lab, async ({ browser }) => {
    ok(run("run", "flow.yaml", "-k", "-q").status === 1, "a run with a failure");
    const made = run("report", "-o", "run.html");
    ok(made.status === 0 && made.stdout === "" && made.stderr === "", "its report is written, and nothing is said", made.stderr);
    const text = readFileSync(join(work, "run.html"), "utf8");
    ok((text.match(/<script/g) ?? []).length === 2 && (text.match(/<\/script/g) ?? []).length === 2, "it has two scripts: what was kept, and the view");
    ok(run("report", "-o", "again.html").status === 0 && readFileSync(join(work, "again.html"), "utf8") === text, "the same record gives the same bytes");
    const url = pathToFileURL(join(work, "run.html")).href;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, offline: true });
    const page = await context.newPage();
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("dialog", (dialog) => (wrong.push(`a script of a name ran: ${dialog.message()}`), dialog.dismiss()));
    page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("data:") || wrong.push(`asked elsewhere: ${request.url()}`));
    await page.goto(url);
    const view = page.locator("#run-view");
    await comes(view.locator(".gantt canvas"), "opened from the disk, it shows the Run view with its Gantt");
    await comes(view.getByText("10 tasks, 9 done").or(view.locator(".counts")), "counts");
    ok((await view.locator(".counts").textContent()).includes("1 failed"), "with the failure", await view.locator(".counts").textContent());
    ok(await page.locator("#timeline").isHidden(), "what the view shows is not shown twice");
    await comes(page.locator("#path"), "below it the report: the critical path");
    await shot(page, "report");
    await view.getByRole("button", { name: "broken", exact: true }).click();
    await comes(view.getByRole("log").getByText("<img src=x onerror=alert(3)>"), "a click on a task shows its log, as text");
    await comes(view.getByText("failed, status 3"), "and its status");
    await view.getByLabel("State").selectOption("done");
    await view.getByLabel("Tasks", { exact: true }).fill("part");
    await comes(view.getByText("8 tasks", { exact: true }), "tasks are found by name and state");
    ok((await view.getByRole("button", { name: /Retry|Run again|Stop/ }).count()) === 0, "nothing is offered that needs a server");
    await view.getByRole("button", { name: "part@i=3" }).click().catch(() => {});
    await accessible(page, "a report");
    await shot(page, "report-task");
    const phone = await context.newPage();
    await phone.setViewportSize({ width: 360, height: 740 });
    await phone.emulateMedia({ colorScheme: "dark" });
    await phone.goto(url);
    await comes(phone.locator("#run-view .gantt canvas"), "on a phone");
    ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 360), "it is not wider than it", await phone.evaluate(() => document.documentElement.scrollWidth));
    await shot(phone, "report-phone");
    const plain = await (await browser.newContext({ javaScriptEnabled: false, offline: true })).newPage();
    await plain.goto(url);
    ok((await plain.locator("#run-view").isHidden()) && (await plain.locator("#timeline svg").isVisible()), "without scripts the report is there, with its timeline");
    ok(wrong.length === 0, "no script of a name ran, and nothing was asked for", wrong.join("\n"));
});
