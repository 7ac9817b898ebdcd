/* The page in the real browser: every figure of its design beside its goal. `make bench-page`; WEFT: the program, WEFT_BUILD: its build,
 * WEFT_NOTHING: a library with the function `nothing`. Some minutes on a machine that does nothing else; BENCH_PAGE=quick takes a
 * tenth of the tasks, to see that it works, and PARTS=open,pan,... some of the parts. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import zlib from "node:zlib";
import { browse, laboratory, weft } from "../tests/ui/support.mjs";

const quick = process.env.BENCH_PAGE === "quick", share = quick ? 0.1 : 1;
const every = ["bundle", "workbench", "open", "pan", "million", "latency", "instructions", "cost"];
const parts = (process.env.PARTS ?? every.join()).split(",");
const unknown = parts.filter((part) => !every.includes(part));
if (unknown.length) {
    console.error(`PARTS: there is no part '${unknown.join("', '")}'; expected some of ${every.join(", ")}`);
    process.exit(2);
}
const lab = laboratory("bench-page");
const rows = [];
let missed = 0;
/* `goal` null: the design states none. */
function figure(name, value, unit, goal = null, atMost = true) {
    const good = goal === null ? null : atMost ? value <= goal : value >= goal;
    if (good === false) missed++;
    const text = `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
    rows.push([name, text, goal === null ? "–" : `${atMost ? "≤" : "≥"} ${goal} ${unit}`, good === null ? "" : good ? "met" : "missed"]);
    console.log(`${name.padEnd(66)} ${text.padStart(12)}   ${rows.at(-1)[2].padStart(12)}   ${rows.at(-1)[3]}`);
}
const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];

/* Four families of functions behind one task, as a workflow of n tasks. */
function calls(name, n) {
    const call = `${process.env.WEFT_NOTHING}:nothing`, each = Math.floor((n - 1) / 4);
    const family = (kind, after) => `  ${kind}: { each: i, call: "${call}", after: ${after} }\n`;
    lab.write(`${name}.yaml`, `weft: 1\nname: ${name}\nlists: { i: { from: 1, to: ${each} } }\ntasks:\n  begin: { call: "${call}" }\n${["align", "sort", "merge", "call"].map((k) => family(k, "begin")).join("")}`);
    return 4 * each + 1;
}
function run(name) {
    const began = process.hrtime.bigint();
    execFileSync(weft, ["run", path.join(lab.work, `${name}.yaml`), "-q", "--force"], { env: lab.environment, stdio: ["ignore", "ignore", "inherit"] });
    return Number(process.hrtime.bigint() - began) / 1e9;
}

/* ---- parts ---- */

function bundle() {
    const dist = path.join(process.env.WEFT_BUILD, "page/dist");
    const packed = (name) => zlib.gzipSync(fs.readFileSync(path.join(dist, name)), { level: 9 }).length / 1000;
    figure("bundle, gzipped: scripts and styles of all views", packed("page.js") + packed("page.css"), "kB");
}

/* When the run's families and its Gantt are drawn, and when its graph is, too, since the navigation began. */
async function opened(context, origin, number) {
    const page = await context.newPage();
    await page.goto(`${origin}/#run?run=${number}`);
    const at = await page.evaluate(() => new Promise((done) => {
        let painted = 0;
        const look = () => {
            const families = document.querySelectorAll(".bars li").length;
            if (!painted && families >= 4 && document.querySelector(".gantt canvas")) painted = performance.now();
            if (painted && document.querySelector("[aria-label='graph by family'] canvas")) done({ painted: painted / 1000, whole: performance.now() / 1000 });
            else requestAnimationFrame(look);
        };
        look();
    }));
    return { page, ...at };
}

async function openRuns(context, origin, number, n, goal) {
    const first = await opened(context, origin, number);
    await first.page.close();
    const again = [];
    for (let i = 0; i < 5; i++) {
        const { page, painted } = await opened(context, origin, number);
        again.push(painted);
        await page.close();
    }
    figure(`a run of ${n} tasks: first paint, families and Gantt`, first.painted, "s", goal);
    figure("  with the graph by family, whose text has to be read", first.whole, "s");
    figure("  first paint when the server has seen it before (median of 5)", median(again), "s", goal);
}

/* Frames while somebody drags, zoomed in so that there is something to draw anew. */
async function pan(context, browser, origin, number) {
    const { page } = await opened(context, origin, number);
    const canvas = page.locator(".gantt canvas"), box = await canvas.boundingBox();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    await page.mouse.move(x, y);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -240);
    await page.waitForTimeout(1000);
    await page.evaluate(() => {
        window.frames_ = [];
        const tick = (t) => (window.frames_.push(t), requestAnimationFrame(tick));
        requestAnimationFrame(tick);
    });
    await page.mouse.down();
    for (const end = Date.now() + 4000, turn = { n: 0 }; Date.now() < end; turn.n++) await page.mouse.move(x + 200 * Math.sin(turn.n / 15), y);
    await page.mouse.up();
    const gaps = await page.evaluate(() => window.frames_.slice(1).map((t, i) => t - window.frames_[i]).sort((a, b) => a - b));
    const sum = gaps.reduce((a, b) => a + b, 0);
    figure("panning the Gantt: frames a second (60, but for 5 %)", (1000 * gaps.length) / sum, "/s", 57, false);
    figure("  the longest of 100 frames", gaps[Math.floor(gaps.length * 0.99)], "ms");
    const session = await context.newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage").catch(() => {});
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    figure("memory of the page: objects of scripts", metrics.find((m) => m.name === "JSHeapUsedSize").value / 1e6, "MB", 200);
    const whole = await browser.newBrowserCDPSession();
    const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
    const own = processInfo.filter((p) => p.type === "renderer").map((p) => Number(/Private_Dirty:\s+(\d+)/.exec(fs.readFileSync(`/proc/${p.id}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1000);
    figure("  the renderer's process, what it has for itself", Math.max(...own), "MB", 200);
    await page.close();
}

/* From the moment a task is done (its file appears) until the page says so. */
async function latency(context, origin, number) {
    lab.write("steps.yaml", `weft: 1\nname: steps\nlists: { i: { from: 1, to: 8 } }\ntasks:\n  step: { each: i, run: "sleep 0.7; echo 1 > {out}", out: "step{i}.txt" }\n`);
    const page = await context.newPage();
    await page.goto(`${origin}/#run?run=${number}`);
    const child = spawn(weft, ["run", path.join(lab.work, "steps.yaml"), "-q", "-j", "1"], { env: lab.environment, stdio: "ignore" });
    const over = new Promise((done) => child.once("exit", done)), late = [];
    for (let i = 1; i <= 8; i++) {
        await page.waitForFunction((n) => Number(/(\d+)\/8/.exec(document.querySelector(".bars .number")?.textContent ?? "")?.[1] ?? 0) >= n, i, { polling: 10 });
        late.push((Date.now() - fs.statSync(path.join(lab.work, `step${i}.txt`)).mtimeMs) / 1000);
    }
    await over;
    figure("a task that ends is seen after (mean of 8)", late.reduce((a, b) => a + b, 0) / late.length, "s");
    figure("  at most", Math.max(...late), "s");
    await page.close();
}

/* Processor seconds of processes, threads included; one that has ended keeps what it had. */
const known = new Map();
function cpu(...pids) {
    for (const pid of pids) {
        try {
            const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
            known.set(pid, (Number(fields[11]) + Number(fields[12])) / 100);
        } catch {
            /* a renderer that the browser had in reserve */
        }
    }
    return pids.reduce((sum, pid) => sum + (known.get(pid) ?? 0), 0);
}
/* The browser's processes. */
async function browserProcesses(browser) {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    return processInfo.map((p) => p.id);
}
/* Looks at what server and browser have taken, twenty times a second; afterwards: what they took until a moment. When the run is
 * on record as over the page reads all of it, which costs the run nothing any more. */
function sampling(server, browser) {
    const samples = [];
    const look = () => samples.push({ at: Date.now() / 1000, server: cpu(server), browser: cpu(...browser) });
    look();
    const timer = setInterval(look, 50);
    return (end) => {
        clearInterval(timer);
        look();
        const last = samples.findLast((sample) => sample.at <= end) ?? samples.at(-1);
        return { server: last.server - samples[0].server, browser: last.browser - samples[0].browser };
    };
}
/* A run as a child: its wall time, and its own processor seconds, which a machine that others use does not change. */
async function measured(name) {
    const began = process.hrtime.bigint();
    const child = spawn("/usr/bin/time", ["-f", "%U %S", weft, "run", path.join(lab.work, `${name}.yaml`), "-q", "--force"], { env: lab.environment, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (data) => (said += data));
    const status = await new Promise((done) => child.once("close", done));
    if (status !== 0) throw new Error(`the run ended with ${status}: ${said}`);
    const own = said.trim().split("\n").at(-1).split(" ");
    return { wall: Number(process.hrtime.bigint() - began) / 1e9, own: Number(own[0]) + Number(own[1]) };
}

/* In pairs, so that a machine that slows down does not count; the page watches the very run. What it costs is told thrice: by the
 * clock on the wall, which only a machine without other work makes true; by what the run itself has to do more; and by what server
 * and browser take while it runs, which is what a run that uses all cores loses. */
async function cost(context, browser, origin, server, first, n) {
    let number = first;
    const pairs = [];
    const settle = () => new Promise((done) => setTimeout(done, 3000)); /* a browser goes on for a while after it has opened a page */
    const page = await context.newPage();
    await measured("million"); /* the caches are warm for both */
    number++;
    const alone = async () => {
        await page.goto("about:blank");
        await settle();
        number++;
        return measured("million");
    };
    const watched = async () => {
        await page.goto(`${origin}/#run?run=${number}`);
        await page.locator(".problem").waitFor(); /* there is no such run yet */
        await settle();
        const taken = sampling(server.pid, await browserProcesses(browser));
        let last = 0; /* moment at which the page was told that it runs */
        const hear = async (response) => {
            if (!response.url().endsWith("/live") || !response.ok()) return;
            const at = Date.now() / 1000;
            if ((await response.json()).outcome === "running") last = at;
        };
        page.on("response", hear);
        const run = await measured("million");
        number++;
        page.off("response", hear);
        if (!last) throw new Error("the page did not see the run");
        return { ...run, ...taken(last) };
    };
    for (let i = 0; i < Number(process.env.PAIRS ?? 7); i++) {
        /* each comes first as often */
        const pair = {};
        for (const which of i % 2 ? ["watched", "alone"] : ["alone", "watched"]) pair[which] = await (which === "alone" ? alone : watched)();
        pairs.push(pair);
        if (process.env.BENCH_PAGE_EACH) console.log(JSON.stringify(pair));
    }
    const of = (act) => median(pairs.map(act));
    /* What the machine does to the very same work: a difference below it says nothing. */
    const spread = (act) => 100 * (Math.max(...pairs.map(act)) / Math.min(...pairs.map(act)) - 1);
    figure(`a run of ${n} calls without a page (median)`, of((p) => p.alone.wall), "s");
    figure("  the slowest of them is longer than the quickest by", spread((p) => p.alone.wall), "%");
    figure("  with a page that watches it, slower by (median of pairs)", 100 * (of((p) => p.watched.wall / p.alone.wall) - 1), "%", 2);
    figure("  processor seconds of the run itself, without a page", of((p) => p.alone.own), "s");
    figure("  the most of them is more than the least by", spread((p) => p.alone.own), "%");
    figure("  which grow with a page by (median of pairs)", 100 * (of((p) => p.watched.own / p.alone.own) - 1), "%");
    figure("  the server takes, of a core, while it runs", 100 * of((p) => p.watched.server / p.watched.wall), "%");
    figure("  the browser takes, of a core, while it runs", 100 * of((p) => p.watched.browser / p.watched.wall), "%");
    figure(`  both together, of ${os.cpus().length} cores`, (100 * of((p) => (p.watched.server + p.watched.browser) / p.watched.wall)) / os.cpus().length, "%", 2);
    await page.close();
    return number;
}

/* What the run itself does more when a page watches it, in instructions: no machine is too busy for that. Under valgrind a run takes
 * fifty times as long, so that the page asks fifty times as often for each of its calls: more than it ever costs. */
async function instructions(context, origin, first, n) {
    let number = first;
    const page = await context.newPage();
    const counted = async () => {
        const child = spawn("valgrind", ["--tool=callgrind", "--callgrind-out-file=/dev/null", weft, "run", path.join(lab.work, "counted.yaml"), "-q", "--force"], { env: lab.environment, stdio: ["ignore", "ignore", "pipe"] });
        let said = "";
        child.stderr.on("data", (data) => (said += data));
        if ((await new Promise((done) => child.once("close", done))) !== 0) throw new Error(said);
        number++;
        return Number(/Collected : (\d+)/.exec(said)[1]);
    };
    const alone = async () => (await page.goto("about:blank"), counted());
    const watched = async () => {
        await page.goto(`${origin}/#run?run=${number}`);
        await page.locator(".problem").waitFor();
        return counted();
    };
    run("counted"), number++;
    await alone(); /* runs learn from the ones before: from the third on they do the same */
    const before = await alone(), seen = await watched(), after = await alone();
    figure(`a run of ${n} calls: instructions of its own`, before / 1e6, "million");
    figure("  which grow with a page that watches it by", 100 * ((2 * seen) / (before + after) - 1), "%", 2);
    await page.close();
    return number;
}

async function workbench(context, origin) {
    let text = "weft: 1\nname: large\ntasks:\n";
    for (let i = 0; i < 1704; i++) text += `  t${i}: { run: "cat {in} > {out}", in: [${i < 24 ? "start.txt" : `f${i - 24}.txt, f${i - 13}.txt`}], out: f${i}.txt }\n`;
    lab.write("large.yaml", text);
    const page = await context.newPage();
    await page.goto(origin);
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await page.evaluate(async () => {
        const began = performance.now();
        await (await fetch("/api/workbench/flow?file=large.yaml")).arrayBuffer();
        return (performance.now() - began) / 1000;
    }));
    figure("a workflow of 1,704 boxes: text read, laid out, told (median of 3)", median(answers), "s");
    const began = Date.now();
    await page.goto(`${origin}/#workbench?file=large.yaml`);
    await page.locator('[data-box="t1703"]').waitFor({ state: "attached" });
    figure("  and drawn in the Workbench", (Date.now() - began) / 1000, "s");
    await page.close();
}

/* ---- all ---- */

console.log(`${"figure".padEnd(66)} ${"measured".padStart(12)}   ${"goal".padStart(12)}`);
const { browser, context, wrong } = await browse({ width: 1400, height: 900 });
try {
    const { url, origin, child: server } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await page.close();
    let number = 1;
    if (parts.includes("bundle")) bundle();
    if (parts.includes("workbench")) await workbench(context, origin);
    if (parts.includes("open") || parts.includes("pan")) {
        const n = calls("many", 100000 * share);
        run("many");
        if (parts.includes("open")) await openRuns(context, origin, number, n, 1);
        if (parts.includes("pan")) await pan(context, browser, origin, number);
        number++;
    }
    if (parts.includes("latency")) await latency(context, origin, number++);
    if (parts.includes("instructions")) number = await instructions(context, origin, number, calls("counted", 40000 * share));
    if (parts.includes("million") || parts.includes("cost")) {
        const n = calls("million", 1000000 * share);
        if (parts.includes("cost")) number = await cost(context, browser, origin, server, number, n);
        else run("million"), number++;
        if (parts.includes("million")) await openRuns(context, origin, number - 1, n, null);
    }
    if (wrong.length) throw new Error(wrong.join("\n"));
    console.log(missed ? `${missed} of the goals missed` : "every goal met");
} finally {
    await browser.close();
    lab.end();
}
process.exit(0);
