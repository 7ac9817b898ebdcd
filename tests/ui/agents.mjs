/* A run on real agents in the Run view (018_agents_view_test.sh): the log of a task that runs on an agent while it writes, transfers
 * between agents, one task cancelled from the page, what is being cancelled told in the live line. Nothing is timed: tasks wait for
 * files. Speaks TAP. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, shot, test, until, weft } from "./support.mjs";

const lab = laboratory("agents");
const at = (name) => path.join(lab.work, name);
const gate = (name) => `until [ -e ${at(name)} ]; do sleep 0.05; done`;
/* Each agent has one core: a big file is made on one while the other is busy, so that what reads both has to fetch one. */
lab.write("flow.yaml", `weft: 1
tasks:
  left: { run: "touch ${at("left-runs")}; ${gate("both")}; head -c 3000000 /dev/urandom > {out}", out: left.bin }
  right: { run: "touch ${at("right-runs")}; ${gate("both")}; head -c 2000000 /dev/urandom > {out}", out: right.bin }
  join: { run: "cat {in} | wc -c > {out}", in: [left.bin, right.bin], out: size.txt }
  long: { run: "for i in 1 2 3; do echo 'line <b>'$i'</b>'; ${gate("line")}-$i; done; touch ${at("written")}; sleep 600; cat {in} > {out}", in: size.txt, out: a.txt }
  below: { run: "cat {in} > {out}", in: a.txt, out: b.txt }
  other: { run: "${gate("end")}; cp {in} c.txt; cp {in} e.txt", in: size.txt, out: [c.txt, e.txt] }
  after: { run: "touch ${at("after-ran")}; cat {in} > {out}", in: c.txt, out: d.txt }
`.replaceAll(`${at("line")} ]; do sleep 0.05; done-$i`, `${at("line")}-$i ]; do sleep 0.05; done`));

const touch = (name) => fs.writeFileSync(at(name), "");
const there = (name) => fs.existsSync(at(name));
let status = null;
const saying = fs.openSync(at(".said"), "a");
const child = spawn(weft, ["run", at("flow.yaml"), "--on", "local:2", "-j", "1", "--no-shared"], { env: lab.environment, stdio: ["ignore", saying, saying] });
child.on("exit", (code) => (status = code));

await test(lab, async ({ context }) => {
    await until(() => there("left-runs") && there("right-runs"), "each of two agents has a task");
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await page.goto(`${origin}/#run?run=1`);
    await comes(page.getByText("2 at once, 0 of 7 tasks over"), "a run on agents is watched");
    await page.goto(`${origin}/#cluster`);
    await page.getByRole("link", { name: /^Agents of run \d+ of this folder$/ }).click();
    await comes(page.getByText("2 agents up"), "its agents are one click from the Cluster view");
    await page.goto(`${origin}/#run?run=1`);
    await comes(page.getByText("2 at once, 0 of 7 tasks over"), "and it is looked at again");
    touch("both");
    await comes(page.getByRole("row", { name: /left\.bin|right\.bin/ }).first(), "data that went between agents is listed by name");
    await comes(page.getByRole("region", { name: "data between nodes" }).getByRole("row", { name: /node \d node \d 1 / }).first(), "and summed up by nodes");
    await comes(page.getByText("data between nodes").first(), "with a curve");
    const long = page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "long" });
    await long.click();
    const log = page.getByRole("log");
    await comes(log.filter({ hasText: "line <b>1</b>" }), "the log of a task on an agent is seen while it runs, and is text");
    ok(!(await log.innerText()).includes("line <b>2"), "as far as it is written");
    touch("line-1");
    await comes(log.filter({ hasText: "line <b>2</b>" }), "and goes on as it is written");
    ok((await log.innerText()).match(/line <b>1/g).length === 1, "nothing of it twice");
    touch("line-2");
    touch("line-3");
    await until(() => there("written"), "the task has written all");
    await comes(log.filter({ hasText: "line <b>3</b>" }), "to its last line");
    await shot(page, "agents");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "after" }).click();
    await page.getByRole("button", { name: "Cancel this task" }).click();
    await comes(page.getByText("It is asked to end, with what depends on it").first(), "one that waits is cancelled");
    await long.click();
    await page.getByRole("button", { name: "Cancel this task" }).click();
    await comes(page.getByText(/being cancelled, with what depends on/), "what is being cancelled stands in the live line");
    await comes(page.locator("header .state", { hasText: "skipped" }).first(), "the one that runs has ended");
    await until(async () => (await page.getByRole("region", { name: "list of tasks" }).getByRole("row", { name: /skipped/ }).count()) === 3, "and so have those that wait and depend on them");
    await until(async () => (await page.getByText(/being cancelled/).count()) === 0, "then the line says it no more");
    ok(status === null && !there("after-ran"), "the run goes on");
    await accessible(page, "a run on agents");
    touch("end");
    await until(() => status !== null, "until the rest is done");
    ok(status === 1, "it does not end well", String(status));
    const said = lab.read(".said");
    ok(/task long and what depends on it are being cancelled/.test(said) && /2 tasks were cancelled, 1 not run because of that/.test(said), "and says why", said);
    ok(lab.read("e.txt").trim() === "5000000" && !there("a.txt") && !there("b.txt") && !there("d.txt"), "what did not depend on them was made, and nothing else");
    await comes(page.getByText("cancelled", { exact: false }).first(), "the page knows");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "join" }).click();
    await comes(page.getByRole("region", { name: "transfers" }), "transfers stay on record");
    ok(fs.readdirSync(at(".weft/logs/1")).every((name) => !name.startsWith(".live")), "nothing is left of what was brought while it ran");
    const phone = await context.newPage();
    await phone.setViewportSize({ width: 360, height: 740 });
    await phone.emulateMedia({ colorScheme: "dark" });
    await phone.goto(`${origin}/#run?run=1`);
    await comes(phone.getByRole("region", { name: "transfers" }), "on a phone");
    ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 360), "it is not wider than it");
    await phone.getByRole("region", { name: "transfers" }).scrollIntoViewIfNeeded();
    await shot(phone, "agents-phone");
});
