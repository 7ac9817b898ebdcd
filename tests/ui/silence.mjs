/* Nothing that somebody asks for or types is dropped in silence (018_silence_test.sh): a workflow that no list has, conditions that cannot
 * be asked, ends of lines, texts that could not be saved, pictures of every kind, what lists leave out, boxes out of sight. Speaks TAP. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, shot, test, until, weft } from "./support.mjs";

const lab = laboratory("silence");
const at = (name) => path.join(lab.work, name);
const box = (page, name) => page.locator(`[data-box="${name}"]`);
const run = (file, ...words) => execFileSync(weft, ["run", at(file), "-q", ...words], { env: lab.environment, stdio: "ignore" });
const task = (name, out) => `  ${name}: { run: "echo ${name} > {out}", out: ${out} }\n`;

/* The form has the workflow that was asked for, and no other in its place. */
async function asked(page, origin) {
    lab.write("aaa.yaml", `weft: 1\ntasks:\n${task("wrong", "wrong.txt")}`);
    lab.write("a/b/c/d/e/deep.yaml", `weft: 1\ntasks:\n${task("right", "right.txt")}`);
    await page.goto(`${origin}/#run?flow=a/b/c/d/e/deep.yaml`);
    await comes(page.getByLabel("Workflow"), "the form of a run");
    ok((await page.getByLabel("Workflow").inputValue()) === "a/b/c/d/e/deep.yaml", "has the workflow of the address, deep as it lies", await page.getByLabel("Workflow").inputValue());
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.locator(".counts .state.done"), "and runs it");
    ok(fs.existsSync(at("a/b/c/d/e/right.txt")) && !fs.existsSync(at("wrong.txt")), "and nothing else");
    await page.goto(`${origin}/#run?flow=gone.yaml`);
    await page.getByRole("button", { name: "What would run?" }).click();
    await comes(page.getByText("no file 'gone.yaml'"), "one that is not there is told");
    await page.getByLabel("Where").fill("--force");
    await page.getByLabel("Workflow").selectOption("aaa.yaml");
    await page.getByRole("button", { name: "▶ Run" }).click();
    await until(async () => /"on" is nothing/.test(await page.locator(".said").innerText()), "a place that is none is told, and nothing runs here instead");
    ok(!fs.existsSync(at("wrong.txt")), "indeed nothing");
}

async function conditions(page, origin) {
    const list = page.locator("section.list tbody tr"), said = page.locator("section.list").getByRole("alert");
    const find = async (label, text) => {
        await page.getByLabel(label).fill(text);
        await page.getByRole("button", { name: "Find" }).click();
    };
    lab.write("sum.yaml", 'weft: 1\nparameters: { a: 1 }\ntasks:\n  sum: { run: "echo total {a} > {out}", out: total.txt }\n  same: { run: "echo same > {out}", out: same.txt }\n');
    run("sum.yaml");
    run("sum.yaml", "-p", "a=2", "--force");
    await page.goto(`${origin}/#database?workflow=sum`);
    await until(async () => (await list.count()) === 2, "two runs of one workflow");
    await find("Since", "yesterday");
    await comes(said.getByText("Since is 'yesterday'; expected a time ago (2d, 12h) or a day"), "a time that is none is told");
    const day = await page.evaluate(() => ((d) => `${d.getFullYear()}-${d.getMonth() + 1}-${d.getDate()}`)(new Date()));
    await find("Since", day);
    await until(async () => (await list.count()) === 2, "a day begins where one is");
    await find("Since", "");
    await find("Digest", "not one");
    await comes(said.getByText("Digest is 'not one'"), "so is a digest that is none");
    const files = await page.evaluate(async () => (await fetch("/api/run/2/files")).json());
    const same = files.files.find((f) => f.path.endsWith("same.txt")).digest;
    await find("Digest", same);
    await until(async () => (await list.count()) === 2, "runs by a whole digest");
    await find("Where", "total > 1");
    await until(async () => (await list.count()) === 1, "and by a condition beside it: both hold");
    await find("Digest", same.slice(0, 12));
    await comes(said.getByText("a digest needs all of its 64 digits"), "the beginning of one beside a condition is told");
    await find("Where", "");
    await until(async () => (await list.count()) === 2, "alone it finds");
    /* more files than a page has room for are counted, and it says where all are */
    lab.write("files.yaml", 'weft: 1\nlists: { i: { from: 1, to: 150 } }\ntasks:\n  one: { each: i, run: "echo {i} > {out}", out: "{i}.num" }\n');
    run("files.yaml");
    await page.goto(`${origin}/#database?workflow=files`);
    await list.first().getByRole("link").click();
    await page.locator("summary", { hasText: "150 files" }).click();
    await comes(page.getByText(/and 50 more: weft history \d+ --files/), "a list that is cut says how many are left out, and where they are");
}

/* What one types changes what one typed. */
async function ends(page, origin) {
    const crlf = "weft: 1\r\n# kept\r\ntasks:\r\n  a: { run: 'true > {out}', out: a.txt }\r\n# mixed\n# end\r\n";
    lab.write("crlf.yml", crlf);
    await page.goto(`${origin}/#workbench?file=crlf.yml`);
    await comes(box(page, "a"), "a file in .yml whose lines end as on Windows");
    ok(await page.getByLabel("workflow", { exact: true }).locator("option", { hasText: "crlf.yml" }).count() === 1, "is in the list");
    await page.getByRole("button", { name: "New" }).click();
    await page.getByLabel("name of the new workflow").fill("crlf.yml");
    await page.getByRole("button", { name: "Make" }).click();
    await comes(page.getByText("There is a file crlf.yml already."), "a name that is taken is told as what it is");
    const area = page.getByLabel("text of crlf.yml");
    await area.focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("End");
    await page.keyboard.type(" # x");
    await page.keyboard.press("Enter");
    await page.keyboard.type("# y");
    await until(() => lab.read("crlf.yml") === crlf.replace("weft: 1\r\n", "weft: 1 # x\r\n# y\r\n"), "typing changes the line that is typed, and its end is like the others'", JSON.stringify(lab.read("crlf.yml")));
    ok((await area.evaluate((a) => a.selectionStart)) === "weft: 1 # x\n# y".length, "and the cursor stays where one types");
    fs.writeFileSync(at("latin.yaml"), Buffer.from("weft: 1\n# caf\xe9\ntasks:\n  a: { run: 'true' }\n", "latin1"));
    await page.goto(`${origin}/#workbench?file=latin.yaml`);
    await comes(page.locator(".refused").filter({ hasText: "latin.yaml: byte 14 is no text in UTF-8" }), "what is no UTF-8 is told, and not saved as something else");
}

/* Whoever comes back sees what others have written meanwhile. */
async function meanwhile(page, origin) {
    const begin = `weft: 1\ntasks:\n${task("a", "a.txt")}`;
    lab.write("shared.yaml", begin);
    await page.goto(`${origin}/#workbench?file=shared.yaml`);
    await page.getByLabel("text of shared.yaml").waitFor(); /* the file before has a box of that name, too */
    await box(page, "a").waitFor();
    lab.write("shared.yaml", begin + task("b", "b.txt"));
    await page.evaluate(() => dispatchEvent(new Event("focus"))); /* as the browser does when its window comes to the front */
    await comes(box(page, "b"), "what an editor has written is seen by whoever comes back to the page");
    await comes(page.getByText("The file was changed by somebody else"), "and told");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => lab.read("shared.yaml") === begin, "what was seen before can be had again");
    await page.locator(".saving.saved").waitFor();
    lab.write("shared.yaml", `${begin}# same\n`);
    const refused = page.waitForResponse((response) => response.url().endsWith("/api/workbench/save") && response.status() === 409);
    await page.getByLabel("text of shared.yaml").fill(`${begin}# same\n`);
    await refused;
    await comes(page.locator(".saving.saved"), "who writes what is there already is not asked whose is to stay");
    await page.getByLabel("text of shared.yaml").fill(`${begin}# other\n`);
    await until(() => lab.read("shared.yaml") === `${begin}# other\n`, "and goes on");
}

/* A text that could not be saved waits, whatever happens. */
async function unsaved(page, origin) {
    const name = "sub/mine.yaml", begin = `weft: 1\ntasks:\n${task("a", "a.txt")}`;
    const area = page.getByLabel(`text of ${name}`), saving = page.locator(".saving");
    lab.write(name, begin);
    await page.goto(`${origin}/#workbench?file=${name}`);
    await area.waitFor();
    await box(page, "a").waitFor();
    fs.appendFileSync(at(name), "# theirs\n");
    await area.fill(`${begin}# mine\n`);
    await comes(page.locator(".saving.conflict"), "somebody else has changed the file");
    await page.goto(`${origin}/#workbench?file=aaa.yaml`);
    await box(page, "wrong").waitFor();
    await page.goto(`${origin}/#workbench?file=${name}`);
    await comes(page.locator(".saving.conflict"), "whoever has gone elsewhere meanwhile is asked again");
    ok((await area.inputValue()) === `${begin}# mine\n` && lab.read(name) === `${begin}# theirs\n`, "and has both texts");
    await page.reload();
    await comes(page.locator(".saving.conflict"), "also when the page was loaded anew");
    await page.getByRole("button", { name: "Keep mine" }).click();
    await until(() => lab.read(name) === `${begin}# mine\n`, "one's own is kept");
    await page.locator(".saving.saved").waitFor();
    fs.rmSync(at("sub"), { recursive: true });
    await area.fill(`${begin}# more\n`);
    await comes(page.locator(".saving.refused"), "a folder that has gone: it is not saved");
    await comes(page.locator(".refused").filter({ hasText: "no such folder" }), "and the server's word says why");
    ok(!/does not answer/.test(await saving.innerText()), "since it answers");
    fs.mkdirSync(at("sub"));
    await comes(page.locator(".saving.conflict"), "when the folder is back the file is not");
    await page.getByRole("button", { name: "Keep mine" }).click();
    await until(() => fs.existsSync(at(name)) && lab.read(name) === `${begin}# more\n`, "and is made anew of what was typed");
}

/* More tables, runs and causes than a page has room for: it says how many there are besides. */
async function more(page, origin) {
    lab.write("cube.yaml", 'weft: 1\nparameters: { a: 1, b: 1, c: 1 }\ntasks:\n  t: { run: "echo {a} {b} {c} > {out}", out: t.txt }\n');
    lab.write("cubes.yaml", `weft: 1\nexperiment: cubes\nworkflow: cube.yaml\nsubstitute:\n  a: { parameter: a, by: [1, 2] }\n  b: { parameter: b, by: [1, 2] }\n  c: { parameter: c, by: [${Array.from({ length: 30 }, (_, i) => i).join(", ")}] }\n`);
    await page.goto(`${origin}/#experiments?file=cubes.yaml`);
    await comes(page.getByText("and 6 more tables like these"), "30 tables of an experiment: 24, and a word on the others");
    lab.write("causes.yaml", `weft: 1\ntasks:\n${Array.from({ length: 23 }, (_, i) => `  ${"abcdefghijklmnopqrstuvw"[i]}: { run: "echo ${"abcdefghijklmnopqrstuvw"[i].repeat(9)}; exit ${i + 3}" }\n`).join("")}`);
    try {
        run("causes.yaml", "--keep-going");
    } catch {
        /* as it must */
    }
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /causes/ }).first().click();
    await comes(page.getByRole("region", { name: "failures" }).getByText("and 3 more causes"), "23 causes of failures: 20, and a word on the others");
}

/* A run that was stopped: what a second press would have done is said no more. */
async function stopped(page, origin) {
    lab.write("long.yaml", 'weft: 1\ntasks:\n  long: { run: "echo begun; sleep 600; echo > {out}", out: long.txt }\n');
    await page.goto(`${origin}/#run?flow=long.yaml`);
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.locator(".counts .state.running"), "a run that lasts");
    await until(async () => (await page.locator(".counts").innerText()).includes("1 at once"), "its task runs");
    await page.getByRole("button", { name: "Stop" }).click();
    await comes(page.getByText("Nothing new starts. Once more: everything is ended now."), "Stop says what it did, and what once more would do");
    await page.getByRole("button", { name: "Stop" }).click();
    await comes(page.locator(".counts .state.cancelled"), "twice, and it is over");
    await until(async () => (await page.getByText("Nothing new starts.").count()) === 0, "and nothing is said of a press that would do nothing");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "long", exact: true }).click();
    await comes(page.getByText("skipped, ended before it was done"), "its task is told from one that never began");
}

/* Behind a port: every kind of netpbm, and no more than is there. */
async function behind(page, origin) {
    const pixels = Array.from({ length: 6 }, (_, i) => i % 2);
    const kinds = {
        "p1.pbm": `P1\n# bits without blanks\n3 2\n010\n101\n`,
        "p2.pgm": `P2\n3 2\n15\n${pixels.map((p) => 15 * p).join(" ")}\n`,
        "p3.ppm": `P3 3 2 255 ${pixels.map((p) => `${255 * p} 0 0`).join(" ")}\n`,
        "p4.pbm": Buffer.from([...Buffer.from("P4\n3 2\n"), 0b01000000, 0b10100000]),
        "p5.pgm": Buffer.from([...Buffer.from("P5\n3 2\n65535\n"), ...pixels.flatMap((p) => [255 * p, 255 * p])]),
        "p6.ppm": Buffer.from([...Buffer.from("P6\n3 2\n255\n"), ...pixels.flatMap((p) => [255 * p, 0, 0])]),
        "cut.pgm": "P5\n300 200\n255\nxyz",
    };
    for (const [name, bytes] of Object.entries(kinds)) fs.writeFileSync(at(name), bytes);
    lab.write("lines.txt", Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join(""));
    lab.write("rows.tsv", Array.from({ length: 50 }, (_, i) => `a\t${i + 1}\n`).join(""));
    const names = [...Object.keys(kinds), "lines.txt", "rows.tsv"];
    lab.write("look.yaml", `weft: 1\ntasks:\n  look: { run: "cat {in} > {out}", in: [${names.join(", ")}], out: all.bin }\n`);
    await page.goto(`${origin}/#workbench?file=look.yaml`);
    await box(page, "look").waitFor();
    const panel = page.locator("section.behind");
    const show = async (name) => {
        await box(page, "look").locator(".port.in text", { hasText: name }).click();
        await panel.getByRole("heading", { name }).waitFor();
    };
    const colours = () => panel.locator("canvas").evaluate((c) => [c.width, c.height, ...c.getContext("2d").getImageData(0, 0, 3, 2).data.filter((_, i) => i % 4 === 0)].join()).catch(() => "");
    for (const name of Object.keys(kinds).slice(0, 6)) {
        await show(name);
        const black = name.endsWith(".pbm") ? "3,2,255,0,255,0,255,0" : "3,2,0,255,0,255,0,255";
        await until(async () => (await colours()) === black, `behind a port: ${name}, with its pixels`);
    }
    await show("cut.pgm");
    await comes(panel.getByText("only the beginning of one"), "of a picture that is cut it is said, and no black is shown");
    await show("lines.txt");
    await until(async () => /line 60\n…$/.test(await panel.locator("pre").innerText().catch(() => "")), "a text that goes on says so");
    await show("rows.tsv");
    await comes(panel.getByText("There are more rows."), "and so does a table");
}

/* A file that cannot be read has no boxes of another one; a run that is none is told. */
async function unreadable(page, origin) {
    lab.write("torn.yaml", 'weft: 1\ntasks:\n  a: { run: "x\n');
    await page.goto(`${origin}/#workbench?file=look.yaml`);
    await box(page, "look").waitFor();
    await page.goto(`${origin}/#workbench?file=torn.yaml`);
    await comes(page.locator(".problems").getByText("line 3: not valid YAML"), "a file that is no YAML is told at its line");
    ok((await page.locator("[data-box]").count()) === 0, "and has no boxes of the file that was open before");
    await page.goto(`${origin}/#run?run=abc`);
    await comes(page.getByRole("alert").getByText("There is no run 'abc'; expected its number."), "what is no number of a run is told as that");
}

/* Long names: whole words, no bar over them, and never nothing. */
async function names(page, origin) {
    const words = "align_sequences_against_the_reference_genome", one = "averyveryveryverylongnamewithoutanyplacetobebrokenat";
    lab.write("names.yaml", `weft: 1\ntasks:\n  ${words}: { run: "true > {out}", out: a.names }\n  ${one}: { run: "true", in: a.names }\n`);
    run("names.yaml");
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /names/ }).first().click();
    const name = page.locator(".bars .name").filter({ hasText: words });
    await comes(name, "a long name stands whole among the families");
    const apart = () => page.evaluate(() => [...document.querySelectorAll(".bars li")].every((li) => {
        const range = document.createRange();
        range.selectNodeContents(li.querySelector(".name"));
        return range.getBoundingClientRect().right <= li.querySelector(".bar").getBoundingClientRect().left + 1;
    }));
    for (const width of [360, 1440, 3840]) {
        await page.setViewportSize({ width, height: 900 });
        await until(apart, `no bar covers a name in a window of ${width}`);
        const lines = await name.evaluate((span) => {
            const tops = [], range = document.createRange();
            for (const node of span.childNodes) if (node.nodeType === 3) range.selectNodeContents(node), tops.push(...[...range.getClientRects()].map((r) => Math.round(r.top)));
            return [tops.length, span.childNodes.length];
        });
        ok(lines[0] <= lines[1], `and its words are whole`, String(lines));
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    const row = page.getByRole("region", { name: "list of tasks" }).locator("tr", { hasText: one });
    ok(await row.locator(".state").evaluate((td) => td.getBoundingClientRect().right <= td.closest(".scroll").getBoundingClientRect().right), "a name without a place to be broken at does not push its state out of sight");
}

/* Keys lead to what is seen, and are told. */
async function sight(page, origin) {
    lab.write("wide.yaml", `weft: 1\ntasks:\n${Array.from({ length: 12 }, (_, i) => `  t${i}: { run: "true", ${i ? `in: f${i - 1}, ` : ""}out: f${i} }\n`).join("")}`);
    await page.goto(`${origin}/#workbench?file=wide.yaml`);
    await box(page, "t11").waitFor();
    for (let i = 0; i < 8; i++) await page.getByRole("button", { name: "zoom in" }).click();
    const inside = (name) => page.evaluate((n) => {
        const r = document.querySelector(`[data-box="${n}"] rect.card`).getBoundingClientRect(), c = document.querySelector("svg.canvas").getBoundingClientRect();
        return r.left >= c.left && r.right <= c.right && r.top >= c.top && r.bottom <= c.bottom;
    }, name);
    await page.locator("svg.canvas").press("Tab").catch(() => undefined);
    await box(page, "t0").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Shift+Tab");
    await until(() => inside("t0"), "a box that Tab comes to is seen");
    for (let i = 0; i < 11; i++) await page.keyboard.press("ArrowRight");
    await until(async () => (await page.evaluate(() => document.activeElement.getAttribute("data-box"))) === "t11" && (await inside("t11")), "and so is one that arrows come to");
    await page.keyboard.press("?");
    await comes(page.getByRole("complementary", { name: "keys" }).getByText("take a wire from this box"), "? says the keys of the Workbench, too");
    await accessible(page, "the keys of the Workbench");
    await shot(page, "keys");
    await page.keyboard.press("Escape");
}

/* What cannot be copied is not cut. */
async function includes(page, origin) {
    lab.write("part.yaml", `weft: 1\ntasks:\n${task("inner", "inner.txt")}`);
    lab.write("whole.yaml", `weft: 1\ninclude: { part: part.yaml }\ntasks:\n${task("own", "own.txt")}`);
    await page.goto(`${origin}/#workbench?file=whole.yaml`);
    await box(page, "part").focus();
    await page.keyboard.press("Control+x");
    await comes(page.getByText("An included workflow is not copied"), "that an included workflow is not copied is told");
    ok(lab.read("whole.yaml").includes("part: part.yaml") && (await box(page, "part").count()) === 1, "and it is not cut");
}

/* Each workflow has the lights of its own runs. */
async function lights(page, origin) {
    for (const [folder, command] of [["one", "exit 1"], ["two", "true"]]) lab.write(`${folder}/flow.yaml`, `weft: 1\nname: same\ntasks:\n  a: { run: "${command}; echo > {out}", out: a.txt }\n`);
    try {
        run("one/flow.yaml");
    } catch {
        /* as it must */
    }
    run("two/flow.yaml");
    fs.rmSync(at("two/a.txt"));
    const says = (word, text) => until(async () => ((await box(page, "a").getAttribute("aria-label").catch(() => "")) ?? "").includes(word), text);
    await page.goto(`${origin}/#workbench?file=one/flow.yaml`);
    await says("failed", "a workflow of the same name in another folder has run since: this one has failed");
    await page.goto(`${origin}/#workbench?file=two/flow.yaml`);
    await says("would run", "and that one has not");
}

/* From a failure to its log. */
async function failure(page, origin) {
    lab.write("failing.yaml", 'weft: 1\nlists: { s: { from: 1, to: 12 } }\ntasks:\n  align: { each: s, run: "echo reading {s}; exit 2", out: "o{s}" }\n');
    try {
        run("failing.yaml", "--keep-going");
    } catch {
        /* as it must */
    }
    await page.goto(`${origin}/#run`);
    await page.getByRole("link", { name: /failing/ }).first().click();
    const first = page.getByRole("region", { name: "failures" }).getByRole("button", { name: "align@s=1", exact: true });
    await first.click();
    await comes(page.getByRole("region", { name: "task align@s=1", exact: true }).getByRole("log").getByText("reading 1", { exact: true }), "one press on a failed task leads to its log");
}

await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    for (const part of [asked, conditions, ends, meanwhile, unsaved, behind, unreadable, names, sight, includes, lights, failure, more, stopped]) await part(page, origin);
});
