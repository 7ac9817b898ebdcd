/* What the other browser tests do not do: frames, notes, included workflows, families, lights and constraints of the Workbench; Plan,
 * Experiments and Database by hand; two windows; a run of 100,000 tasks. Speaks TAP. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, shot, test, until, weft } from "./support.mjs";

const lab = laboratory("views");
const box = (page, name) => page.locator(`[data-box="${name}"]`);
const run = (file, ...words) => execFileSync(weft, ["run", path.join(lab.work, file), "-q", ...words], { env: lab.environment, stdio: ["ignore", "ignore", "ignore"] });
const says = (page, name, word, text) => until(async () => ((await box(page, name).getAttribute("aria-label").catch(() => "")) ?? "").includes(word), text);

lab.write("lib/qc.yaml", 'weft: 1\ntasks:\n  count: { run: "wc -l < {in} > {out}", in: raw.txt, out: count.txt }\n');
const docs = `# read by people
weft: 1
parameters: { least: 1 }
lists: { doc: [a, b, c] }
include: { qc: { file: lib/qc.yaml, as: { raw.txt: all.txt } } }
tasks:
  words: # each document
    each: doc
    run: "echo {doc} words > {out}"
    out: "words-{doc}.txt"
  join: { run: "cat {in} > {out}", in: "words-{doc}.txt", out: all.txt }
  never: { run: "touch {out}", in: all.txt, out: never.txt, when: "{in} contains zebra" }
  show: { run: "cat {in}", in: lib/count.txt, after: qc }
`;
lab.write("docs.yaml", docs);

async function around(page, origin) {
    await page.goto(`${origin}/#workbench?file=docs.yaml`);
    await comes(box(page, "qc"), "an included workflow is a box");
    await until(async () => (await page.locator("path.wire").count()) === 5, "with its wires: what it reads, what it makes, who comes after it");
    await box(page, "join").click({ position: { x: 60, y: 12 } });
    await box(page, "words").click({ position: { x: 60, y: 12 }, modifiers: ["Shift"] });
    await page.getByLabel("title of the frame").fill("Reading");
    await page.getByRole("button", { name: "Frame them" }).click();
    await until(() => /\ncanvas:\n  frames:\n    Reading: \[(join, words|words, join)\]\n$/.test(lab.read("docs.yaml")), "a frame is in the file");
    ok(lab.read("docs.yaml").startsWith(docs), "and every other byte is as it was");
    await box(page, "never").click({ position: { x: 60, y: 12 } });
    await page.getByLabel("a new note").fill("Only zebras need this.");
    await page.getByRole("button", { name: "Add the note" }).click();
    await comes(page.locator(".note-box", { hasText: "Only zebras need this." }), "a note stands at its task");
    await until(() => lab.read("docs.yaml").includes("beside: never"), "and in the file");
    await box(page, "join").click({ position: { x: 60, y: 12 } });
    await page.getByLabel("name", { exact: true }).fill("gather");
    await page.keyboard.press("Enter");
    await until(() => /Reading: \[(gather, words|words, gather)\]/.test(lab.read("docs.yaml")), "a frame follows a task that is renamed");
    await page.locator(".canvas").click({ position: { x: 5, y: 5 } });
    await page.getByLabel("another constraint").fill("assert value requirement (function = (select max(task-finish-time) from task), max = 100)");
    await page.getByLabel("another constraint").evaluate((area) => area.form.requestSubmit());
    await until(() => /assert: .?assert value requirement .*max = 100/.test(lab.read("docs.yaml")), "a constraint is written by a form");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => !lab.read("docs.yaml").includes("assert"), "and undone");
    await page.getByLabel("values to try for least").fill("1, 2, 3");
    await page.getByLabel("values to try for least").press("Enter");
    await until(() => fs.existsSync(path.join(lab.work, "docs-experiment.yaml")) && /by: \[1, 2, 3\]/.test(lab.read("docs-experiment.yaml")), "values of a parameter are tried");
    await comes(page.getByRole("button", { name: "⇄ 3 combinations" }), "which the bar tells");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => !/by: /.test(lab.read("docs-experiment.yaml")), "undo takes a substitution back");
    await page.getByRole("button", { name: "Redo" }).click();
    await until(() => /by: \[1, 2, 3\]/.test(lab.read("docs-experiment.yaml")), "and redo gives it again");
    fs.rmSync(path.join(lab.work, "docs-experiment.yaml"));
    run("docs.yaml");
    await says(page, "gather", "up to date", "after a run a box is up to date");
    await says(page, "never", "skipped", "a task that was not taken is skipped");
    await says(page, "qc", "up to date", "an included workflow has its light");
    await box(page, "words").locator(".port.out text").click();
    await comes(page.locator("section.behind pre", { hasText: "a words" }), "behind a family's port is the file of a member");
    await page.getByLabel("member of the family").selectOption("words-c.txt");
    await comes(page.locator("section.behind pre", { hasText: "c words" }), "of whichever one chooses");
    await accessible(page, "the Workbench with frames, notes and an included workflow");
    await shot(page, "around");
    await box(page, "qc").dblclick({ position: { x: 60, y: 12 } });
    await comes(box(page, "count"), "a double click opens an included workflow");
    ok(page.url().includes("qc.yaml"), "at an address of its own");
    await page.goBack();
    await comes(box(page, "gather"), "and the browser's way back leads back");
}

/* Own tasks in the palette, wires that do not fit, many boxes at once, the map, tables, the colour of a kind beside its lines. */
async function bench(page, context, origin) {
    lab.write("tasks/count-here.yaml", "# Of this folder.\nweft: 1\ntasks:\n  count-here: { run: 'wc -l < {in} > {out}', in: table.csv, out: lines.txt }\n");
    lab.write("bench.yaml", `weft: 1
tasks:
  make: { run: "printf 'name,size\\na,1\\nb,2\\n' > {out}", out: table.csv }
  note: { run: "echo > {out}", out: note.txt }
  show: { run: "cp {in} {out}", in: picture.png, out: shown.png }
  last: { run: "cp {in} {out}", in: note.txt, out: last.txt }
`);
    run("bench.yaml", "make");
    await page.goto(`${origin}/#workbench?file=bench.yaml`);
    await comes(box(page, "make"), "another workflow");
    await page.reload();
    await box(page, "make").waitFor();
    await page.getByLabel("search tasks").fill("count-here");
    await page.locator(".palette li button", { hasText: "count-here" }).click();
    await until(() => lab.read("bench.yaml").includes("count-here:"), "a task of the folder's own library is in the palette");
    await comes(page.locator(".unlit", { hasText: "picture.png" }), "a run that could not begin is told, with what is missing");
    await box(page, "note").focus();
    await page.keyboard.press("w");
    await box(page, "show").focus();
    await page.keyboard.press("w");
    await until(async () => /\.txt.*\.png|\.png.*\.txt|text|picture/.test(await page.locator(".refused").innerText().catch(() => "")), "a text is not wired to where a picture belongs, and a word says why");
    ok(lab.read("bench.yaml").includes("in: picture.png"), "and nothing is changed");
    const stripe = (word) => page.evaluate((w) => {
        const at = document.querySelector(".editor textarea").value.split("\n").findIndex((line) => line.includes(w));
        return getComputedStyle(document.querySelectorAll(".editor pre span")[at]).borderRightColor;
    }, word);
    const fill = await box(page, "show").locator("rect").evaluateAll((all) => all.map((r) => getComputedStyle(r).fill));
    ok(fill.includes(await stripe("show:")), "beside its lines stands the colour of its box", `${fill} ${await stripe("show:")}`);
    await box(page, "make").locator(".port.out text").click();
    await comes(page.locator("section.behind table tr", { hasText: "b" }).first(), "a table is behind the port as a table");
    ok(/\d+ B · [0-9a-f]{12}/.test(await page.locator("section.behind").innerText()), "with its size and digest");
    await box(page, "note").click({ position: { x: 60, y: 12 } });
    await box(page, "last").click({ position: { x: 60, y: 12 }, modifiers: ["Shift"] });
    await page.getByRole("button", { name: "Align left" }).click();
    const left = async (name) => Math.round((await box(page, name).locator("rect").first().boundingBox()).x);
    await until(async () => (await left("note")) === (await left("last")), "two boxes are aligned");
    const before = await left("note");
    await page.locator(".minimap").click({ position: { x: 3, y: 3 } });
    await until(async () => (await left("note")) !== before, "a click on the map goes there");
    await page.getByRole("button", { name: "Tidy" }).click();
    await page.locator(".canvas").focus().catch(() => undefined);
    await box(page, "note").focus();
    await page.keyboard.press("Space");
    await box(page, "last").focus();
    await page.keyboard.press("Shift+Space");
    await page.getByPlaceholder("name").last().fill("pair");
    await page.getByRole("button", { name: "Group to a sub-workflow" }).click();
    await until(() => fs.existsSync(path.join(lab.work, "pair.yaml")) && /note:/.test(lab.read("pair.yaml")) && !/\n  note:/.test(lab.read("bench.yaml")), "two boxes become a sub-workflow in a file of its own");
    await comes(box(page, "pair"), "which is a box");
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    await box(page, "show").focus();
    await page.keyboard.press("Control+c");
    const other = await context.newPage();
    lab.write("empty.yaml", "weft: 1\ntasks:\n  one: { run: 'true > {out}', out: one.txt }\n");
    await other.goto(`${origin}/#workbench?file=empty.yaml`);
    await box(other, "one").focus();
    await other.bringToFront();
    await other.keyboard.press("Control+v");
    await until(() => /show:/.test(lab.read("empty.yaml")), "what is copied in one window is pasted in another");
    await other.close();
    await shot(page, "bench");
}

/* Each task its own light, while a run goes on. */
async function lights(page, origin) {
    lab.write("slow.yaml", 'weft: 1\ntasks:\n  first: { run: "echo 1 > {out}", out: one.txt }\n  wait: { run: "while [ ! -e {go} ]; do sleep 0.1; done; cp {in} {out}", in: one.txt, out: two.txt }\n  last: { run: "cp {in} {out}", in: two.txt, out: three.txt }\nparameters: { go: "' + path.join(lab.work, "go") + '" }\n');
    await page.goto(`${origin}/#workbench?file=slow.yaml`);
    await says(page, "wait", "would run", "a box would run");
    const child = spawn(weft, ["run", path.join(lab.work, "slow.yaml"), "-q"], { env: lab.environment, stdio: "ignore" });
    const over = new Promise((done) => child.once("exit", done));
    await says(page, "wait", "runs", "the box of a task that runs says so");
    await says(page, "first", "up to date", "the one before it is up to date");
    await says(page, "last", "waits", "the one after it waits");
    lab.write("go", "");
    await over;
    await says(page, "last", "up to date", "and when it is over all are up to date");
}

async function plan(page, origin) {
    lab.write("fan.yaml", `weft: 1\nname: fan\nlists: { i: { from: 1, to: 24 } }\ntasks:\n  cut: { work: 2, out: { name: c, size: 1M } }\n  part: { each: i, work: 3, memory: 1G, in: c, out: { name: "p{i}", size: 1M } }\n  join: { work: 2, in: "p{i}" }\n`);
    await page.goto(`${origin}/#plan?flow=fan.yaml&on=4&with=heft,roundrobin`);
    await until(async () => (await page.locator("section canvas, .plan canvas").count()) >= 2, "Plan: two planners side by side");
    await page.getByRole("button", { name: "Compare all that suit" }).click();
    await comes(page.getByText(/planners, best first/), "Plan: all planners, best first");
    const film = page.getByRole("region", { name: "virtual time as a film" }).first();
    await film.getByLabel("moment").focus();
    await page.keyboard.press("End");
    await until(async () => (await film.getByLabel("moment").inputValue()) === "1000", "Plan: the film is moved by keys");
    await accessible(page, "the Plan view");
    await shot(page, "plan");
}

/* Trees, streams and orders have pictures of their own. */
async function plans(page, origin) {
    lab.write("tree.yaml", `weft: 1\nname: tree\ntasks:\n${Array.from({ length: 15 }, (_, i) => `  t${i}: { work: ${1 + (i % 3)}, memory: 1M${i > 6 ? "" : `, in: [f${2 * i + 1}, f${2 * i + 2}]`}, out: { name: f${i}, size: 1M } }\n`).join("")}`);
    lab.write("four.yaml", "weft: 1\nnodes:\n  - { name: n, count: 4, cores: 1, memory: 1G }\nnetwork: { bandwidth: 100M }\n");
    const pictures = { hetpart2: [".plan canvas", "parts of a tree"], mos: ["section svg", "the front of throughput and latency"], ic: ["section[aria-label='eligible tasks'] svg", "eligible tasks after each step"] };
    for (const [planner, [look, what]] of Object.entries(pictures)) {
        await page.goto(`${origin}/#plan?flow=tree.yaml&on=four.yaml&with=${planner}`);
        if (planner === "mos") await page.getByRole("button", { name: "Every trade-off of the two" }).click();
        await comes(page.locator(look).first(), `Plan: ${what}`);
        ok((await page.getByRole("alert").count()) === 0, `Plan: without a mistake, by ${planner}`, (await page.getByRole("alert").allInnerTexts()).join());
        await shot(page, `plan-${planner}`);
    }
}

async function experiments(page, origin) {
    lab.write("sum.yaml", 'weft: 1\nname: sum\nparameters: { a: 1, b: 1 }\ntasks:\n  sum: { run: "echo total $(( {a} * 10 + {b} )) > {out}", out: total.txt }\n');
    lab.write("sums.yaml", "weft: 1\nexperiment: sums\nworkflow: sum.yaml\nsubstitute:\n  a: { parameter: a, by: [1, 2, 3] }\n  b: { parameter: b, by: [1, 2] }\n");
    await page.goto(`${origin}/#experiments?file=sums.yaml`);
    await page.getByRole("button", { name: /^Run \d+ of \d+ tasks$/ }).click();
    await until(async () => (await page.locator(".grid button.done").count()) === 6, "Experiments: every combination is computed");
    await until(async () => (await page.locator("section[aria-label=values] tbody tr.chosen").textContent().catch(() => ""))?.includes("32"), "Experiments: the best is marked");
    await page.getByRole("button", { name: /^total/ }).click();
    await page.getByRole("button", { name: /^total/ }).click();
    await until(async () => /^3/.test((await page.locator("section[aria-label=values] tbody tr").first().textContent()) ?? ""), "Experiments: sorted by a click on a head, downwards by a second one");
    await comes(page.locator("section[aria-label=plot] svg").first(), "Experiments: a plot");
    await accessible(page, "the Experiments view");
}

async function database(page, origin) {
    await page.goto(`${origin}/#database`);
    const list = page.locator("section.list tbody tr");
    await until(async () => (await list.count()) >= 3, "Database: runs are listed");
    await page.getByLabel("Workflow").fill("slow");
    await page.getByRole("button", { name: "Find" }).click();
    await until(async () => (await list.count()) === 1, "Database: found by a part of the name");
    const number = (await list.first().locator("td").first().textContent()).trim();
    await list.first().locator("a, button").first().click();
    await page.getByLabel("its text").fill("the one with <b>waiting</b>");
    await page.getByRole("button", { name: "Say" }).click();
    await comes(page.getByText("the one with <b>waiting</b>"), "Database: a note is said, and is text");
    await page.getByLabel("Workflow").fill("");
    await page.getByLabel("Words").fill("waiting");
    await page.getByRole("button", { name: "Find" }).click();
    await until(async () => (await list.count()) === 1, "Database: found by words of the note");
    await page.getByLabel("Words").fill("");
    await page.getByLabel("Where").fill("total > 31");
    await page.getByRole("button", { name: "Find" }).click();
    await until(async () => (await list.count()) === 1 && /sums?/.test(await list.first().innerText()), "Database: found by a value that a result states");
    await page.goto(`${origin}/#database?run=${number}`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]);
    ok(/wait/.test(fs.readFileSync(await download.path(), "utf8")), "Database: a run is exported by a click");
    await page.getByRole("button", { name: "Its graph to the workbench" }).click();
    await comes(box(page, "wait"), "Database: an old graph is opened in the workbench again");
    await page.goto(`${origin}/#database?run=${number}`);
    await page.getByRole("region", { name: `run ${number}` }).waitFor();
    await accessible(page, "the Database with a run");
    await page.locator("summary", { hasText: /files?$/ }).first().click();
    await page.getByRole("link", { name: "three.txt" }).first().click();
    await comes(page.locator("img.lineage"), "Database: where a file comes from, as a graph");
    await until(() => page.evaluate(() => document.querySelector("img.lineage")?.naturalWidth > 0), "which is drawn");
    await page.goto(`${origin}/#database?before=1&after=${number}`);
    await comes(page.getByText("from start to end"), "Database: two runs are compared");
    await accessible(page, "the Database with two runs");
}

/* 31 equal failures are one row. */
async function failures(page, origin) {
    lab.write("failing.yaml", 'weft: 1\nname: failing\nlists: { s: { from: 1, to: 31 } }\ntasks:\n  align: { each: s, run: "echo reading {s}; echo no reference >&2; exit 2", out: "o{s}" }\n  join: { run: "cat {in} > {out}", in: "o{s}", out: all }\n  maybe: { when: "false", run: "echo > {out}", out: maybe.txt }\n');
    try {
        run("failing.yaml", "--keep-going");
    } catch {
        /* as it must */
    }
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /failing/ }).first().click();
    const failed = page.getByRole("region", { name: "failures" });
    await comes(failed.getByText("31 tasks failed, all for one cause"), "31 equal failures are one row");
    ok((await failed.locator("li").count()) === 1 && /31 × exit status 2/.test(await failed.innerText()), "which says how they ended");
    ok(/echo reading \d+; echo no reference/.test(await failed.innerText()) && /no reference\s*$/.test(await failed.innerText()), "with the command and the last lines");
    ok(/31 failed, 1 not run, 1 not taken/.test(await page.locator(".counts").innerText()), "what waited for them is told apart from what a decision left out", await page.locator(".counts").innerText());
    await failed.getByRole("button").first().click();
    await until(async () => (await page.locator(".tasks tbody tr").count()) >= 1 && (await page.locator(".tasks tbody tr").count()) <= 11, "a click finds the task");
    await accessible(page, "a run that failed");
    await shot(page, "failures");
}

/* One of two that run is cancelled; the other goes on. */
async function cancelled(page, origin) {
    lab.write("two.yaml", `weft: 1\nname: two\ntasks:\n  long: { run: "sleep 600; echo > {out}", out: long.txt }\n  below: { run: "cat {in} > {out}", in: long.txt, out: below.txt }\n  rest: { run: "until [ -e ${lab.work}/two.gate ]; do sleep 0.1; done; echo > {out}", out: rest.txt }\n`);
    const child = spawn(weft, ["run", path.join(lab.work, "two.yaml"), "-q", "-j", "2"], { env: lab.environment, stdio: "ignore" });
    const over = new Promise((done) => child.once("exit", done));
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /two/ }).first().click();
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "long", exact: true }).click();
    await page.getByRole("button", { name: "Cancel this task" }).click();
    await comes(page.getByText("It is asked to end, with what depends on it"), "a task that runs is cancelled from the page");
    await until(async () => (await page.locator(".tasks tr", { hasText: "below" }).innerText().catch(() => "")).includes("skipped"), "what depends on it is told as skipped while the rest goes on");
    await accessible(page, "a run with a cancelled task");
    lab.write("two.gate", "");
    ok((await over) === 1, "the run ends with status 1");
    await until(async () => /cancelled.*1 done.*2 not run/.test((await page.locator(".counts").innerText()).replace(/\s+/g, " ")), "and the page says what was not run");
}

/* Filters in order, no Gantt of tasks that neither begin nor end. */
async function stream(page, origin) {
    lab.write("stream.yaml", 'weft: 1\nname: lines\ntasks:\n  upper: { run: "tr a-z A-Z < {in} > {out}", per_item: true, in: line, out: loud }\n  mark: { run: "sed s/^/-/ {in} > {out}", per_item: true, in: loud, out: marked }\n');
    execFileSync(weft, ["stream", path.join(lab.work, "stream.yaml"), "--from", "-", "--to", "-", "-q"], { env: lab.environment, input: "a\nb\nc\n" });
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /lines/ }).first().click();
    const card = page.getByRole("region", { name: "stream" });
    await comes(card.getByText(/3 items · .* items\/s · latency/), "a stream has its figures");
    ok((await card.locator("table").first().locator("tbody tr td:first-child").allInnerTexts()).join() === "upper,mark", "and its filters, as items go through them");
    ok((await page.locator(".gantt").count()) === 0 && (await page.getByText("skipped").count()) === 0 && (await page.getByRole("button", { name: "Run again" }).count()) === 0, "nothing of it is told as skipped");
    await accessible(page, "a stream");
    await shot(page, "stream");
}

/* One that goes on: its figures come while items do, and stand when it is over. */
async function stream_live(page, origin) {
    const going = spawn(weft, ["stream", path.join(lab.work, "stream.yaml"), "--from", "-", "--to", "-", "-q"], { env: lab.environment, stdio: ["pipe", "ignore", "ignore"] });
    const over = new Promise((resolve) => going.on("exit", resolve));
    let fed = 0;
    const feeding = setInterval(() => going.stdin.write(`line ${++fed}\n`), 100);
    await page.goto(`${origin}/#run`);
    const runs = page.getByRole("link", { name: /lines/ }); // the one before stands there, too: a slow machine's first look finds it alone
    await until(async () => (await page.reload(), await runs.first().waitFor(), (await runs.count()) > 1), "a second stream is listed");
    await runs.first().click();
    const figures = page.getByRole("region", { name: "stream" }).getByRole("status");
    const items = async () => Number(/^([\d,]+) item/.exec(await figures.innerText().catch(() => ""))?.[1] ?? NaN);
    await until(async () => /in work/.test(await figures.innerText().catch(() => "")), "a stream that goes on has figures");
    const before = await items();
    await until(async () => (await items()) > before, "which grow with its items");
    clearInterval(feeding);
    going.stdin.end();
    ok((await over) === 0, "it ends");
    await until(async () => (await items()) === fed && !/in work/.test(await figures.innerText()), "and all of its items are told");
}

/* Every view on a phone is as wide as it, and scrolls one way. */
async function phone(context, origin) {
    const small = await context.newPage();
    await small.setViewportSize({ width: 360, height: 740 });
    for (const colorScheme of ["dark", "light"])
        for (const view of ["#workbench?file=docs.yaml", "#run", "#run?run=1", "#plan?flow=docs.yaml", "#experiments", "#database?run=1", "#cluster"]) {
        await small.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await small.goto(`${origin}/${view}`);
        await small.locator("main .card, main .workbench, main section").first().waitFor();
        await small.waitForTimeout(300);
        if (colorScheme === "dark") ok(await small.evaluate(() => document.documentElement.scrollWidth <= 360), `on a phone ${view} is not wider than it`);
        await accessible(small, `${view} on a phone, ${colorScheme}`);
    }
    await small.close();
}

/* Whoever has no cluster has made no mistake. */
async function without_cluster(page, origin) {
    await page.goto(`${origin}/#cluster`);
    await comes(page.getByText("No cluster is named here."), "without a cluster the view says so, and how to have one");
    ok((await page.getByRole("alert").count()) === 0, "and not as a mistake", (await page.getByRole("alert").allInnerTexts()).join());
}

async function many(page, context, origin) {
    lab.write("many.yaml", 'weft: 1\nname: many\nlists: { i: { from: 1, to: 25000 } }\ntasks:\n  begin: { call: "libc.so.6:sched_yield" }\n' + ["align", "sort", "merge", "call"].map((k) => `  ${k}: { each: i, call: "libc.so.6:sched_yield", after: begin }\n`).join(""));
    run("many.yaml");
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /many/ }).first().click();
    await until(async () => (await page.locator(".bars li").count()) === 5, "a run of 100,001 tasks: its families");
    await comes(page.locator(".gantt canvas"), "its Gantt");
    await page.getByLabel("Tasks", { exact: true }).fill("align@i=24999");
    await until(async () => (await page.locator(".tasks tbody tr").count()) === 1, "one of them is found by its name");
    ok((await page.locator("*").count()) < 3000, "and the page has few things in it");
    await shot(page, "many");
    const other = await context.newPage();
    await other.goto(page.url());
    await comes(other.locator(".gantt canvas"), "a second window shows the same by its address");
    await other.close();
}

await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await around(page, origin);
    await bench(page, context, origin);
    await lights(page, origin);
    await plan(page, origin);
    await plans(page, origin);
    await experiments(page, origin);
    await database(page, origin);
    await failures(page, origin);
    await cancelled(page, origin);
    await stream(page, origin);
    await stream_live(page, origin);
    await phone(context, origin);
    await without_cluster(page, origin);
    await many(page, context, origin);
});
