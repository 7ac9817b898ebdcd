/* A run on agents that nobody follows, in the Run view: whoever began it is killed, the run goes on, and the page says how far it is, follows
 * it again and brings the results. Nothing is timed: tasks wait for files. Speaks TAP. */
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, shot, test, until } from "./support.mjs";

const lab = laboratory("alone");
const at = (name) => path.join(lab.work, name);
lab.write("flow.yaml", `weft: 1
name: left
lists: { i: [1, 2, 3, 4] }
tasks:
  wait: { each: i, run: "touch ${at("runs")}; until [ -e ${at("gate")}-{i} ]; do sleep 0.05; done; echo {i} > {out}", out: "{i}.txt" }
  join: { run: "cat {in} > {out}", in: "{i}.txt", out: all.txt }
`);
const touch = (name) => fs.writeFileSync(at(name), "");

await test(lab, async ({ context }) => {
    const { url, origin, child } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await page.goto(`${origin}/#run`);
    await page.getByLabel("Workflow").selectOption("flow.yaml");
    await page.getByLabel("Where").fill("local:2");
    await page.getByLabel("Cores").fill("2");
    await page.getByRole("button", { name: "▶ Run" }).click();
    await until(() => fs.existsSync(at("runs")), "the page starts a run on agents");
    await comes(page.getByText(/[1-9] at once, 0 of 5 tasks over/), "and shows it");
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /Run 1/ }).waitFor();
    const alone = page.getByRole("region", { name: "runs that nobody follows" });
    ok((await alone.count()) === 0, "while somebody follows it nothing is said");
    const began = fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ").map(Number);
    ok(began.length === 1, "by a process of its own", String(began));
    process.kill(began[0], "SIGKILL");
    await page.reload();
    await comes(alone.getByText("goes on on its agents, and nobody follows it: 0 of 5 tasks done"), "who began it is killed: it is told that it goes on");
    await page.getByRole("link", { name: /Run 1/ }).click();
    await comes(page.locator(".counts .state.lost"), "its record was lost");
    await comes(alone.getByText("0 of 5 tasks done"), "and there, too, it stands that it goes on");
    touch("gate-1");
    touch("gate-2");
    await comes(alone.getByText("2 of 5 tasks done"), "how far it is follows by itself");
    await accessible(page, "a run that nobody follows");
    await shot(page, "alone");
    await alone.getByRole("button", { name: "Follow it" }).click();
    await comes(page.locator(".counts .state.running"), "it is followed again, and its record goes on");
    ok(page.url().endsWith("run=1"), "under its number", page.url());
    await comes(page.getByText(/2 of 5 tasks over/), "with what was done before");
    ok((await alone.count()) === 0, "then somebody follows it");
    for (const i of [3, 4]) touch(`gate-${i}`);
    await comes(page.locator(".counts .state.done"), "and ends well");
    ok(lab.read("all.txt") === "1\n2\n3\n4\n", "its results are here", lab.read("all.txt"));
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /Run 1/ }).waitFor();
    ok((await page.getByRole("link", { name: /^Run \d/ }).count()) === 1, "one run has one record");
    await until(async () => !fs.existsSync(at(".weft/cluster")) || fs.readdirSync(at(".weft/cluster")).length === 0, "and no note is left");
    ok((await alone.count()) === 0, "so that nothing is said any more");
});
