/* What the other browser tests do not do: frames, notes, included workflows, families, lights and constraints of the Workbench; Plan,
 * Experiments and Database by hand; two windows; a run of 100,000 tasks. Speaks TAP. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, settled, shot, test, until, weft } from "./support.mjs";

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
    await page.locator(".note-box text").click();
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => !lab.read("docs.yaml").includes("beside: never"), "a press on a note is no step that undo would have to take back");
    await page.getByRole("button", { name: "Redo" }).click();
    await until(() => lab.read("docs.yaml").includes("beside: never"), "the note itself is one");
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
    await says(page, "count", "up to date", "with the lights that it has there, though alone it could not run");
    ok((await page.locator(".unlit").count()) === 0 && /1 of 1 up to date/.test(await page.locator(".bar").innerText()), "and no mistake");
    await page.goBack();
    await comes(box(page, "gather"), "and the browser's way back leads back");
    await box(page, "qc").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Open lib/qc.yaml" }).click();
    await page.getByRole("button", { name: "↑ docs.yaml · qc" }).click();
    await comes(box(page, "gather"), "so does the name of the workflow that it is a part of");
}

/* Run again, done or not, from the form; what took its time once is predicted, beside what it takes. */
async function again(page, origin) {
    lab.write("again.yaml", 'weft: 1\nlists: { i: [1, 2, 3] }\ntasks:\n  each: { each: i, run: "sleep 0.02; echo > {out}", out: "again-{i}.txt" }\n  all: { run: "cat {in} > {out}", in: "again-{i}.txt", out: again.txt }\n');
    run("again.yaml");
    await page.goto(`${origin}/#run?flow=again.yaml`);
    await page.getByRole("button", { name: "What would run?" }).click();
    await comes(page.getByText("0 of 4 tasks would run"), "what is up to date would not run");
    await page.getByLabel("again, done or not").check();
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.locator(".counts", { has: page.locator(".state.done") }).filter({ hasText: /predicted [\d.]+ \S*s/ }), "it runs when it is told to, and its end was predicted");
    await comes(page.getByRole("columnheader", { name: "predicted" }), "beside what each task takes stands what was predicted");
    await until(async () => /^[\d.]+ \S*s \([\d.]+ \S*s\)$/.test((await page.locator(".bars small").first().innerText()).trim()), "and for each family");
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
    const top = async (name) => Number(await box(page, name).locator("rect.card").getAttribute("y"));
    await box(page, "last").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Alt+ArrowDown");
    const tops = [await top("note"), await top("last")];
    ok(tops[1] - tops[0] >= 30, "one is moved by keys");
    await page.getByRole("button", { name: "Align top" }).click();
    await until(async () => (await top("note")) === (await top("last")), "or by their tops");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(async () => (await top("note")) === tops[0] && (await top("last")) === tops[1], "which undo takes back");
    await page.getByRole("button", { name: "show all" }).click();
    ok((await page.locator(".minimap").count()) === 0, "where all is seen there is no map, which would hide boxes");
    for (let i = 0; i < 6; i++) await page.getByRole("button", { name: "zoom in" }).click();
    const map = page.getByRole("img", { name: "map of all boxes" });
    await comes(map, "where a part is seen there is a map");
    ok((await map.locator("rect:not(.seen)").count()) === (await page.locator("[data-box]").count()), "of all boxes");
    const far = await left("note"), on = await map.boundingBox();
    await map.click({ position: { x: 3, y: 3 } });
    await until(async () => (await left("note")) > far + 50, "a click on the map goes there");
    await page.mouse.move(on.x + 3, on.y + 3);
    await page.mouse.down();
    await page.mouse.move(on.x + on.width - 3, on.y + on.height - 3, { steps: 4 });
    await page.mouse.up();
    await until(async () => (await left("note")) < far - 50, "and so does dragging on it");
    for (let i = 0; i < 14; i++) await page.getByRole("button", { name: "zoom out" }).click();
    ok(!(await box(page, "note").locator("text").first().isVisible()) && (await box(page, "note").locator("rect").last().boundingBox()).width > 10, "from afar a box is its kind's colour, without words");
    await page.getByRole("button", { name: "show all" }).click();
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
    lab.write("picture.png", "");
    run("bench.yaml", "last.txt");
    ok(lab.read("last.txt") === "\n", "and runs as before");
    await says(page, "pair", "2 of 2 up to date", "with one light for both");
    await box(page, "pair").dblclick({ position: { x: 60, y: 12 } });
    await says(page, "note", "up to date", "inside each has its own");
    await page.goBack();
    await box(page, "pair").waitFor();
    const grouped = lab.read("bench.yaml");
    lab.write("deep/two.yaml", "weft: 1\ntasks:\n  a: { run: 'echo > {out}', out: a.txt }\n  b: { run: 'cp {in} {out}', in: a.txt, out: b.txt }\n");
    await page.goto(`${origin}/#workbench?file=deep/two.yaml`);
    await box(page, "a").waitFor();
    await page.keyboard.press("Control+a");
    await page.getByLabel("name of the sub-workflow").fill("both");
    await page.getByRole("button", { name: "Group to a sub-workflow" }).click();
    await until(() => fs.existsSync(path.join(lab.work, "deep/both.yaml")) && /both:/.test(lab.read("deep/two.yaml")), "in a folder below, its file stands beside the workflow");
    ok(!fs.existsSync(path.join(lab.work, "both.yaml")), "and nowhere else");
    await says(page, "both", "would run", "where it is found");
    await page.goto(`${origin}/#workbench?file=bench.yaml`);
    await box(page, "pair").waitFor();
    ok(lab.read("bench.yaml") === grouped, "looking changes nothing");
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

/* A wire is a thing of its own: pressed, told, cut. */
async function wires(page, origin) {
    const text = "weft: 1\ntasks:\n  a: { run: 'echo > {out}', out: a.txt }\n  b: { run: 'cp {in} {out}', in: a.txt, out: b.txt }\n  c: { run: 'true', in: b.txt, after: [a, b], when: 'size({in}) > 0' }\n  d: { run: 'true', after: c }\n";
    lab.write("wired.yaml", text);
    await page.goto(`${origin}/#workbench?file=wired.yaml`);
    await box(page, "d").waitFor();
    ok((await page.locator("[data-wire]").count()) === 5, "files and orders are wires");
    await comes(box(page, "c").locator(".when"), "a condition has its sign");
    ok(/only when size\({in}\) > 0/.test(await box(page, "c").getAttribute("aria-label")), "and is told to who does not see it");
    /* a press in the middle of the curve */
    const press = async (name, order) => {
        const at = await page.locator(`[data-wire="${name}"]`).filter({ has: page.locator(order ? ".order" : ".wire:not(.order)") }).locator(".grip").evaluate((path) => {
            const p = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
            return [p.x, p.y + 2]; /* beside it, as hands do */
        });
        await page.mouse.click(...at);
        await page.getByRole("heading", { name: "Wire", exact: true }).waitFor();
    };
    const panel = page.getByRole("complementary", { name: "inspector" });
    await press("a b", false);
    await comes(panel.getByText("a.txt"), "a press on a wire says what it carries");
    await panel.getByRole("button", { name: "Its data" }).click();
    await comes(page.getByRole("region", { name: "data of a.txt" }), "leads to its data");
    await accessible(page, "a wire that is chosen");
    await page.keyboard.press("Delete");
    await until(() => !/in: a\.txt/.test(lab.read("wired.yaml")), "Delete cuts it");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => lab.read("wired.yaml") === text, "and undo lays it again");
    await press("b c", true);
    await comes(panel.getByText("An order without a file"), "an order is told as that");
    await panel.getByRole("button", { name: "Cut it" }).click();
    await until(() => /after: \[\s*a\s*\]/.test(lab.read("wired.yaml")) && /in: b\.txt/.test(lab.read("wired.yaml")), "and cut alone, with the others as they were", lab.read("wired.yaml"));
    await press("c d", true);
    await panel.getByRole("button", { name: "c", exact: true }).click();
    await comes(page.getByRole("heading", { name: "c", exact: true }), "from a wire one comes to its ends");
    await press("c d", true);
    await page.keyboard.press("Delete");
    await until(() => /d: { run: 'true' ?}/.test(lab.read("wired.yaml")), "the only order goes with its key", lab.read("wired.yaml"));
}

/* A kind's colour is one everywhere: at its box (that of a sub-workflow, too), beside its lines, in the run and in the plan. */
async function colours(page, origin) {
    lab.write("lib/two.yaml", 'weft: 1\ntasks:\n  x: { run: "echo 1 > {out}", out: x1.txt }\n  y: { run: "cat {in} > {out}", in: x1.txt, out: y1.txt }\n');
    lab.write("kinds.yaml", `weft: 1\ntasks:\n  first: { run: "echo 1 > {out}", out: k1.txt }\n  inner: { flow: lib/two.yaml }\n${[1, 2].map((i) => `  last_${i}: { run: "cat {in} > {out}", in: k1.txt, out: l${i}.txt }\n`).join("")}  big: { kind: special, run: "cat {in} > {out}", in: k1.txt, out: l3.txt }\n`);
    run("kinds.yaml");
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /kinds/ }).first().click();
    await page.locator(".bars li").nth(4).waitFor();
    const ran = Object.fromEntries(await page.locator(".bars li").evaluateAll((all) => all.map((li) => [li.querySelector(".name").textContent, getComputedStyle(li.querySelector(".swatch")).backgroundColor])));
    await page.goto(`${origin}/#workbench?file=kinds.yaml`);
    await box(page, "big").waitFor();
    const boxes = Object.fromEntries(await page.locator("[data-box]").evaluateAll((all) => all.map((g) => [g.dataset.box, getComputedStyle(g.querySelector("rect[fill]")).fill])));
    const both = [[ran.first, boxes.first], [ran["inner/x"], boxes.inner], [ran.last, boxes.last_1], [ran.last, boxes.last_2], [ran.big, boxes.big]];
    ok(new Set(Object.values(ran)).size === 5 && both.every(([a, b]) => a === b), "boxes have the colours of the run, with a sub-workflow among them", JSON.stringify([ran, boxes]));
    const stripes = await page.locator(".editor pre span").evaluateAll((all) => all.map((line) => getComputedStyle(line).borderRightColor));
    ok(stripes[2] === ran.first && stripes[4] === ran.last && stripes[6] === ran.big, "and so have their lines", String(stripes));
    const plan = await page.evaluate(async () => (await fetch("/api/plan?flow=kinds.yaml&on=2&with=heft")).json());
    const numbers = Object.fromEntries(plan.placements.name.map((name, i) => [name, plan.placements.colour[i]]));
    const found = await page.evaluate(async () => (await (await fetch("/api/workbench/flow?file=kinds.yaml")).json()).tasks.map((t) => [t.name, t.colour]));
    ok(found.every(([name, colour]) => numbers[name === "inner" ? "inner/x" : name] === colour), "and the plan", JSON.stringify([numbers, found]));
}

/* Hundreds of single boxes stand in strips, so that something is seen of them, and no button does the contrary of what it says. */
async function strips(page, origin) {
    lab.write("wide.yaml", `weft: 1\ntasks:\n${Array.from({ length: 300 }, (_, i) => `  a${i}: { work: 1 }\n  b${i}: { work: 1, after: a${i} }\n`).join("")}`);
    await page.goto(`${origin}/#workbench?file=wide.yaml`);
    await box(page, "b299").waitFor({ state: "attached" });
    const seen = () => page.locator("[data-box] rect.card").evaluateAll((all) => {
        const at = all.map((r) => [Number(r.getAttribute("x")), Number(r.getAttribute("y"))]), range = (i) => Math.max(...at.map((p) => p[i])) - Math.min(...at.map((p) => p[i]));
        return { wide: range(0), high: range(1), apart: new Set(at.map(String)).size, shown: all[0].getBoundingClientRect().width };
    });
    const first = await seen();
    ok(first.wide > first.high && first.wide < 4 * first.high && first.apart === 600, "600 boxes of two levels are about as wide as the canvas, and none covers another", JSON.stringify(first));
    ok(first.shown > 5, "so that each is seen", String(first.shown));
    const left = async (name) => Number(await box(page, name).locator("rect.card").getAttribute("x"));
    ok((await left("b7")) > (await left("a7")) && (await left("b299")) > (await left("a299")), "what comes after stands to the right");
    await page.getByRole("button", { name: "zoom out" }).click();
    await settled(page);
    ok((await seen()).shown <= first.shown, "zooming out makes nothing larger");
    await page.getByRole("button", { name: "zoom in" }).click();
    await until(async () => (await seen()).shown > first.shown * 1.1, "and zooming in does");
}

/* From a task of a run to its data, and to why it ran, also when another run came since. */
async function told(page, origin) {
    lab.write("told.yaml", 'weft: 1\ntasks:\n  make: { run: "echo name,size > {out}; echo a,17 >> {out}", out: told.csv }\n  read: { run: "cat {in} > {out}", in: told.csv, out: told.txt }\n');
    run("told.yaml");
    lab.write("since.yaml", 'weft: 1\ntasks:\n  since: { run: "true" }\n');
    run("since.yaml");
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /told/ }).first().click();
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "read", exact: true }).click();
    const task = page.getByRole("region", { name: "task read", exact: true });
    await comes(task.locator(".facts div", { hasText: "why it ran" }).getByText("input will change"), "why a task ran is known when another run came since");
    await task.getByRole("button", { name: "told.csv" }).click();
    await comes(task.getByRole("region", { name: "data of told.csv" }).getByRole("cell", { name: "17" }), "what it read is behind a click");
    ok(/\d+ B · [0-9a-f]{12}/.test(await task.getByRole("region", { name: "data of told.csv" }).innerText()), "with its size and digest");
    ok(page.url().includes("data=told.csv"), "and stands in the address");
    await page.setViewportSize({ width: 1366, height: 600 });
    ok(await task.evaluate((card) => getComputedStyle(card).overflowY === "auto" && card.getBoundingClientRect().bottom >= Math.min(...[...card.children].map((c) => c.getBoundingClientRect().top))), "in a low window it scrolls within its card");
    await page.setViewportSize({ width: 1400, height: 900 });
    await accessible(page, "a task with its data");
    await shot(page, "task-data");
    await task.getByRole("button", { name: "told.txt" }).click();
    await task.getByRole("region", { name: "data of told.txt" }).getByRole("link", { name: "Where it comes from" }).click();
    await comes(page.getByRole("heading", { name: "Where told.txt comes from" }), "so is where it comes from");
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
    const on = encodeURIComponent("homogeneous:n=4,bandwidth=1M");
    await page.goto(`${origin}/#plan?flow=fan.yaml&on=${on}&with=heft,roundrobin`);
    await until(async () => (await page.locator("section canvas, .plan canvas").count()) >= 2, "Plan: two planners side by side");
    await page.getByRole("button", { name: "Compare all that suit" }).click();
    await comes(page.getByText(/planners, best first/), "Plan: all planners, best first");
    const film = page.getByRole("region", { name: "virtual time as a film" }).first();
    await film.getByLabel("moment").focus();
    await page.keyboard.press("End");
    await until(async () => (await film.getByLabel("moment").inputValue()) === "1000", "Plan: the film is moved by keys");
    /* what travels at a moment, reckoned from the plan */
    const plan = await page.evaluate(async (on) => (await fetch(`/api/plan?flow=fan.yaml&on=${on}&with=heft`)).json(), on);
    const end = Math.max(...plan.placements.finish), going = plan.transfers.filter((t) => t.finish - t.start > end / 100).pop(), at = going && Math.round((1000 * (going.start + going.finish)) / 2 / end);
    const count = (list, now) => list.filter((t) => t.start <= now && now < t.finish).length;
    ok(plan.transfers.length > 0 && plan.transfers.every((t) => t.from !== t.to && t.start <= t.finish), "Plan: data goes from one node to another");
    await film.getByLabel("moment").fill(String(at));
    const travel = count(plan.transfers, (at / 1000) * end), over = plan.placements.finish.filter((f) => f <= (at / 1000) * end).length;
    await comes(film.getByText(`: ${over} of 26 done, `).filter({ hasText: new RegExp(`, ${travel} transfers?$`) }), "Plan: the film says what is done at a moment, and what travels");
    /* a twelfth of it at a time for who wants no motion, smoothly for the others */
    const first = async (reducedMotion) => {
        await page.emulateMedia({ reducedMotion });
        await film.getByLabel("moment").fill("0");
        const moved = film.getByLabel("moment").evaluate((range) => new Promise((done) => {
            const look = () => (range.value === "0" ? requestAnimationFrame(look) : done(Number(range.value)));
            look();
        }));
        await film.getByRole("button", { name: "▶ Play" }).click();
        const at = await moved;
        await film.getByRole("button", { name: "❚❚ Pause" }).click();
        return at;
    };
    ok((await first("reduce")) === Math.round(1000 / 12), "Plan: with less motion the film goes by steps");
    ok((await first("no-preference")) % Math.round(1000 / 12) !== 0, "Plan: otherwise it flows");
    await page.emulateMedia({ reducedMotion: "reduce" });
    await accessible(page, "the Plan view");
    lab.write("strict.yaml", `weft: 1\nassert:\n${[1, 100].map((most) => `  - assert value requirement (function = (select max(task-finish-time) from task), max = ${most})\n`).join("")}tasks: { a: { work: 2 } }\n`);
    await page.goto(`${origin}/#plan?flow=strict.yaml&on=4&with=heft`);
    const kept = page.getByRole("region", { name: "constraints and heft" }).getByRole("listitem");
    await comes(kept.filter({ hasText: "max = 1)" }).getByText("✕ broken"), "Plan: a constraint that the plan breaks is told, by sign and word");
    await comes(kept.filter({ hasText: "max = 100)" }).getByText("● kept"), "Plan: and one that it keeps");
    await shot(page, "plan");
}

/* Trees, streams and orders have pictures of their own. */
async function plans(page, origin) {
    lab.write("tree.yaml", `weft: 1\nname: tree\ntasks:\n${Array.from({ length: 15 }, (_, i) => `  t${i}: { work: ${1 + (i % 3)}, memory: 1M${i > 6 ? "" : `, in: [f${2 * i + 1}, f${2 * i + 2}]`}, out: { name: f${i}, size: 1M } }\n`).join("")}`);
    lab.write("four.yaml", "weft: 1\nnodes:\n  - { name: n, count: 4, cores: 1, memory: 1G }\nnetwork: { bandwidth: 100M }\n");
    const pictures = { hetpart2: [".plan canvas", "parts of a tree"], mos: ["section[aria-label='front of throughput and latency'] svg", "the front of throughput and latency"], ic: ["section[aria-label='eligible tasks'] svg", "eligible tasks after each step"] };
    for (const [planner, [look, what]] of Object.entries(pictures)) {
        await page.goto(`${origin}/#plan?flow=tree.yaml&on=four.yaml&with=${planner}`);
        if (planner === "mos") await page.getByRole("button", { name: "Every trade-off of the two" }).click();
        await comes(page.locator(look).first(), `Plan: ${what}`);
        ok((await page.getByRole("alert").count()) === 0, `Plan: without a mistake, by ${planner}`, (await page.getByRole("alert").allInnerTexts()).join());
        await shot(page, `plan-${planner}`);
        await judge[planner](page);
    }
}

/* What the pictures must say of the tree t0 to t14 of two children each, reckoned here. */
const judge = {
    hetpart2: async (page) => {
        const rows = await page.locator(".plan tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
        ok(rows.length > 1 && rows.reduce((sum, row) => sum + Number(row[2]), 0) === 15, "Plan: each task is in one part", JSON.stringify(rows));
        ok(new Set(rows.map((row) => row[1])).size === rows.length && rows.some((row) => row[0] === "t0"), "Plan: each part has a node of its own, and one holds the root");
        ok(/^parts of the tree by hetpart2/.test(await page.locator(".plan canvas").getAttribute("aria-label")), "Plan: the picture says what it is");
    },
    mos: async (page) => {
        const front = page.getByRole("region", { name: "front of throughput and latency" });
        const points = (await front.locator("svg .s0 .point title").allTextContents()).map((text) => /^([\d.e-]+) items a second, latency (?:([\d.]+) min )?(?:([\d.]+) s)?, (\d+) processors?$/.exec(text)?.slice(1).map((part) => Number(part ?? 0)));
        ok(points.length > 1 && points.every(Boolean), "Plan: points of the front say throughput, latency and processors", JSON.stringify(points));
        const order = [...points].sort((a, b) => a[0] - b[0]).map((p) => 60 * p[1] + p[2]);
        ok(order.every((latency, i) => i === 0 || latency > order[i - 1]), "Plan: on the front, more throughput costs latency", JSON.stringify(points));
        ok(points.every((p) => p[3] >= 1 && p[3] <= 4), "Plan: by as many processors as there are");
    },
    ic: async (page) => {
        const order = await page.evaluate(async () => (await (await fetch("/api/plan?flow=tree.yaml&on=four.yaml&with=ic")).json()).order);
        const done = new Set(), children = (t) => (t < 7 ? [2 * t + 1, 2 * t + 2] : []);
        const eligible = () => Array.from({ length: 15 }, (_, t) => t).filter((t) => !done.has(t) && children(t).every((c) => done.has(c))).length;
        const heights = [eligible(), ...order.map((name) => (done.add(Number(name.slice(1))), eligible()))];
        const path = await page.locator("section[aria-label='eligible tasks'] path.line").getAttribute("d");
        const drawn = path.replace(/^M\S+ /, "").split(/H[\d.]+V|V/).map(Number), low = drawn[15], high = drawn[0];
        ok(order.length === 15 && heights.every((h, i) => Math.abs(drawn[i] - (low + ((high - low) * h) / heights[0])) < 0.2), "Plan: the curve is the number of eligible tasks after each step of the order", `${heights} ${drawn}`);
    },
};

/* On paper: everything that was found, in dark ink on white, and nothing to press. */
async function paper(page, origin) {
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /failing/ }).first().click();
    await page.locator(".tasks tbody tr").nth(32).waitFor();
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    ok(await page.evaluate(() => getComputedStyle(document.querySelector(".card")).backgroundColor === "rgb(255, 255, 255)" && getComputedStyle(document.querySelector("td")).color !== "rgb(255, 255, 255)"), "print: white, whatever the screen is");
    ok(!(await page.locator("nav").isVisible()) && !(await page.getByRole("button", { name: "Retry" }).isVisible()) && !(await page.locator(".tasks form").isVisible()), "print: nothing to press");
    ok(await page.locator(".tasks").getByText("align@", { exact: false }).first().isVisible() && await page.locator(".bars .name").first().isVisible(), "print: names of tasks and families are there");
    const cut = () => page.evaluate(() => [...document.querySelectorAll("main, main .card, main .scroll, main .log, main .editor textarea")].filter((e) => e.offsetHeight && getComputedStyle(e).overflowY !== "visible" && (e.tagName !== "TEXTAREA" || e.scrollHeight > e.clientHeight + 2)).map((e) => `${e.tagName} ${e.className}`));
    ok((await cut()).length === 0 && (await page.locator(".gantt canvas").boundingBox()).height < 800, "print: no table is cut, and no picture is longer than a page", (await cut()).join());
    await shot(page, "print-run");
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    ok((pdf.match(/\/Type \/Page\b/g) ?? []).length >= 2, "print: a long table goes on on the next page");
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
    lab.write("long.yaml", `weft: 1\ntasks:\n${Array.from({ length: 120 }, (_, i) => `  t${i}: { run: "true" }\n`).join("")}`);
    await page.goto(`${origin}/#workbench?file=long.yaml`);
    await box(page, "t119").waitFor({ state: "attached" });
    await page.emulateMedia({ media: "print" });
    ok(!(await page.locator(".palette").isVisible()) && await page.locator(".canvas").isVisible() && (await cut()).length === 0, "print: the Workbench is its canvas and its whole text", (await cut()).join());
    await page.emulateMedia({ media: "screen" });
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
    await until(async () => (await page.locator("section[aria-label=plot] svg").first().locator("path.line").count()) === 2 && (await page.locator("section[aria-label=plot] svg").first().locator("path.point").count()) === 6, "Experiments: a plot over one factor, a line for each choice of the other");
    await comes(page.locator(".multiples pre", { hasText: /^total 1/ }).first(), "Experiments: results stand side by side");
    ok((await page.locator(".multiples pre").first().evaluate((pre) => parseFloat(getComputedStyle(pre).fontSize))) > 11, "Experiments: a text of short lines is large enough to be read");
    await accessible(page, "the Experiments view");
    await page.goto(`${origin}/#experiments?file=sums.yaml&picture=gone.png`);
    await comes(page.getByText("There is no result 'gone.png'."), "Experiments: a result that there is not is told");
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
    await page.reload();
    await until(async () => (await list.count()) === 1 && (await page.getByLabel("Where").inputValue()) === "total > 31", "Database: what was asked stands in the address");
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
        await settled(small);
        if (colorScheme === "dark") ok(await small.evaluate(() => document.documentElement.scrollWidth <= 360), `on a phone ${view} is not wider than it`);
        await accessible(small, `${view} on a phone, ${colorScheme}`);
    }
    await small.goto(`${origin}/#database?before=1&after=2`);
    const names = small.locator("td.names:first-child, td.names:nth-child(2)");
    await names.first().waitFor();
    ok((await names.evaluateAll((all) => all.filter((td) => td.getBoundingClientRect().width < 90).length)) === 0, "on a phone names in tables are not broken letter by letter");
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
    await until(async () => (await other.locator(".tasks tbody tr").count()) === 1 && (await other.getByLabel("Tasks", { exact: true }).inputValue()) === "align@i=24999", "what was filtered, too");
    await other.close();
}

await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await around(page, origin);
    await again(page, origin);
    await bench(page, context, origin);
    await wires(page, origin);
    await colours(page, origin);
    await strips(page, origin);
    await told(page, origin);
    await lights(page, origin);
    await plan(page, origin);
    await plans(page, origin);
    await experiments(page, origin);
    await database(page, origin);
    await failures(page, origin);
    await paper(page, origin);
    await cancelled(page, origin);
    await stream(page, origin);
    await stream_live(page, origin);
    await phone(context, origin);
    await without_cluster(page, origin);
    await many(page, context, origin);
});
