/* The server is killed (SIGKILL) at random moments while somebody types: the file is whole, one of the texts that were typed, and not
 * older than a second; and what was lost on disk the browser has. Speaks TAP. */
import fs from "node:fs";
import path from "node:path";
import { laboratory, ok, test, until } from "./support.mjs";

const lab = laboratory("kill");
/* WEFT_TASKS: in a workflow of that many tasks */
const more = Array.from({ length: Number(process.env.WEFT_TASKS ?? 0) }, (_, i) => `  t${i}: { run: "cat {in} > {out}", in: [${i < 24 ? "one.txt" : `f${i - 24}.txt, f${i - 13}.txt`}], out: f${i}.txt }\n`).join("");
const begin = `weft: 1\ntasks:\n  first: { run: 'echo 1 > {out}', out: one.txt }\n${more}# `;
const rounds = Number(process.env.WEFT_ROUNDS ?? 5), seed = Number(process.env.WEFT_SEED ?? Date.now() % 100000);
let state = seed;
const random = () => ((state = (state * 48271) % 2147483647) / 2147483647);

/* Every text that stood in the editor, with its moment; `stall`: the longest time in which the machine let the page do nothing. */
const record = () => {
    window.texts = [];
    window.stall = 0;
    const note = () => window.texts.push([Date.now(), document.querySelector(".editor textarea").value]);
    note();
    document.querySelector(".editor textarea").addEventListener("input", note);
    let before = performance.now();
    setInterval(() => {
        window.stall = Math.max(window.stall, performance.now() - before - 20);
        before = performance.now();
    }, 20);
};

await test(lab, async ({ context }) => {
    console.log(`# seed ${seed}`);
    lab.write("typed.yaml", begin);
    let server = await lab.serve(), worst = 0, letters = 0;
    const port = new URL(server.url).port;
    const page = await context.newPage();
    for (let round = 1; round <= rounds; round++) {
        await page.goto(server.url);
        await page.goto(`${server.origin}/#workbench?file=typed.yaml`);
        await page.locator('[data-box="first"]').waitFor();
        const area = page.getByLabel("text of typed.yaml");
        await page.evaluate(record);
        await area.focus();
        await page.keyboard.press("Control+End");
        const end = Date.now() + 600 + 1500 * random();
        for (let i = 0; Date.now() < end; i++, letters++) {
            await page.keyboard.press(i % 40 === 39 ? "Enter" : i % 40 === 0 ? "#" : "abcdefghij"[i % 10]);
            await page.waitForTimeout(10 + 30 * random());
        }
        const gone = new Promise((done) => server.child.once("exit", done)), killed = Date.now();
        server.child.kill("SIGKILL");
        await gone;
        const left = lab.read("typed.yaml");
        const { texts, stall } = await page.evaluate(() => ({ texts: window.texts, stall: window.stall }));
        const at = texts.findLastIndex(([, text]) => text === left);
        if (!ok(at >= 0, `round ${round}: the file is whole: one of the ${texts.length} texts that were typed`, left)) break;
        /* until the next text was typed, it was the newest */
        const lost = at + 1 < texts.length ? Math.max(0, killed - texts[at + 1][0]) : 0;
        worst = Math.max(worst, lost);
        ok(lost <= 1000 + stall, `round ${round}: not more than the last second is lost`, `${lost} ms, and the machine stood still for ${stall} ms`);
        ok(fs.readdirSync(lab.work).filter((name) => !name.startsWith(".")).join() === "typed.yaml", `round ${round}: and nothing half written lies beside it`);
        const last = texts.at(-1)[1];
        server = await lab.serve("--port", port);
        await page.goto(server.url);
        await page.goto(`${server.origin}/#workbench?file=typed.yaml`);
        await until(() => lab.read("typed.yaml") === last, `round ${round}: what the disk did not have the browser had`);
    }
    console.log(`# at most ${worst} ms of typing were lost in ${rounds} rounds of ${letters} letters`);
});
