/* The paper's Figures 2 to 4 (environment), by mouse, and again by the keyboard alone: three boxes from the palette, wired, run; a region and
 * the detector substituted; six results seen; one taken back to the workbench. The folder is examples/satellite. Speaks TAP.
 * WEFT_SHOTS=docs/images/page makes the pictures of docs/tutorial-page.md. */
import fs from "node:fs";
import path from "node:path";
import { accessible, comes, laboratory, ok, shot, test, until } from "./support.mjs";

const lab = laboratory("figures");
fs.cpSync("examples/satellite", lab.work, { recursive: true });

const box = (page, name) => page.locator(`[data-box="${name}"]`);
const light = (page, name, word, text) => until(async () => ((await box(page, name).getAttribute("aria-label")) ?? "").includes(word), text);
const flow = (name) => (fs.existsSync(path.join(lab.work, name)) ? lab.read(name) : "");

/* What both ways must have come to. */
async function judgeGraph(file, text) {
    await until(() => /region_a:[^]*sobel:[^]*in: region\.png[^]*display:[^]*in: sobel\.png/.test(flow(file)), text);
}
async function judgeResults(page, name) {
    await until(async () => (await page.locator(".grid button.done").count()) === 6, `${name}: six combinations are there`);
    await until(async () => (await page.locator(".multiples figure img").evaluateAll((all) => all.filter((i) => i.naturalWidth === 240).length)) === 6, `${name}: six pictures stand side by side`);
}

/* ---- Figure 2, 3 and 4 by mouse ---- */

async function dragWire(page, from, to) {
    const middle = async (where) => {
        const b = await where.boundingBox();
        return [b.x + b.width / 2, b.y + b.height / 2];
    };
    const [ax, ay] = await middle(box(page, from).locator(".port.out circle").first()), [bx, by] = await middle(box(page, to).locator(".port.in circle").first());
    await page.mouse.move(ax, ay);
    await page.mouse.down();
    await page.mouse.move((ax + bx) / 2, (ay + by) / 2 + 10, { steps: 3 });
    await page.mouse.move(bx, by, { steps: 3 });
    await page.mouse.up();
}

async function byMouse(page, origin) {
    await page.goto(`${origin}/#workbench`);
    await page.getByRole("button", { name: "New" }).click();
    await page.getByLabel("name of the new workflow").fill("edges");
    await page.getByRole("button", { name: "Make" }).click();
    await page.locator(".saving.saved").waitFor();
    await shot(page, "empty");
    for (const [i, name] of ["region_a", "sobel", "display"].entries()) {
        await page.getByLabel("search tasks").fill(name);
        const task = page.locator(".palette li button", { hasText: new RegExp(`^${name}$`) });
        await task.dragTo(page.locator(".ground"), { targetPosition: { x: 150 + 250 * i, y: 200 } });
        await box(page, name).waitFor();
    }
    await page.getByRole("button", { name: "Tidy" }).click();
    await dragWire(page, "region_a", "sobel");
    await until(() => /in: region\.png/.test(flow("edges.yaml")), "mouse: a wire is dragged from the region to the detector");
    await dragWire(page, "sobel", "display");
    await judgeGraph("edges.yaml", "mouse: Figure 2, three boxes from the palette, wired");
    await page.getByRole("button", { name: "Tidy" }).click();
    await box(page, "sobel").click();
    await shot(page, "figure-2");
    await page.getByRole("button", { name: "Run …" }).click();
    await page.getByRole("button", { name: "▶ Run" }).click();
    await comes(page.locator(".counts .state.done"), "mouse: it runs");
    await comes(page.locator(".gantt canvas"), "mouse: and has a Gantt");
    await shot(page, "run");
    await page.getByRole("link", { name: "Workbench" }).click();
    await light(page, "display", "up to date", "mouse: every box is up to date");
    await box(page, "display").locator(".port.out text").click();
    await until(() => page.evaluate(() => document.querySelector("section.behind img")?.naturalWidth === 240), "mouse: the edges are behind the port");
    await shot(page, "port");
    await page.getByRole("button", { name: "Close" }).click();
    for (const [task, by] of [["region_a", "region_b"], ["sobel", "prewitt"], ["sobel", "canny"]]) {
        await box(page, task).click({ position: { x: 60, y: 12 } });
        await page.getByLabel(`substitute ${task} by a task of the library`, { exact: true }).selectOption(by);
        await page.getByRole("button", { name: `Add: substitute ${task} by a task of the library` }).click();
        await until(() => flow("edges-experiment.yaml").includes(`${by}:`), `mouse: ${task} is substituted by ${by}`);
    }
    await comes(page.getByText("⇄ sobel · prewitt · canny"), "mouse: Figure 3, the alternatives stand at the box");
    await accessible(page, "the Workbench with substitutions");
    await shot(page, "figure-3");
    await page.getByRole("button", { name: "⇄ 6 combinations" }).click();
    await page.getByRole("button", { name: /^Run \d+ of \d+ tasks$/ }).click();
    await judgeResults(page, "mouse: Figure 4");
    await accessible(page, "the Experiments view with results");
    await page.setViewportSize({ width: 1400, height: 1300 });
    await shot(page, "figure-4");
    await page.setViewportSize({ width: 1400, height: 900 });
    const row = page.locator("tbody tr", { hasText: "canny" }).filter({ hasText: "region_b" });
    await row.getByRole("button", { name: "To the workbench" }).click();
    await until(() => page.url().includes("edges-6.yaml"), "mouse: one is taken back to the workbench");
    await comes(page.locator("[data-box]").nth(2), "mouse: where its boxes stand");
    await until(() => /-canny/.test(flow("edges-6.yaml")), "mouse: with the detector of that row");
    const seen = () => page.locator(".port.out text").evaluateAll((all) => all.map((text) => text.lastChild.textContent).join());
    await until(async () => (await seen()) === "…/region.png,…/sobel.png,…/shown.png", "mouse: a long name of a file ends as the file does");
    await until(async () => ((await page.locator(".bar .sum").textContent()) ?? "").startsWith("3 of 3 up to date"), "mouse: and nothing has to be computed again");
    await shot(page, "taken-back");
}

/* ---- the same with the keyboard alone ---- */

/* Tab, until what has the focus is what is wanted. */
async function tabTo(page, wanted, text) {
    for (let i = 0; i < 400; i++) {
        if (await page.evaluate(wanted)) return;
        await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not come to ${text}`);
}
const label = (name) => `document.activeElement?.getAttribute("aria-label") === ${JSON.stringify(name)}`;
const button = (name) => `document.activeElement?.tagName === "BUTTON" && document.activeElement.textContent.trim().startsWith(${JSON.stringify(name)})`;
const atBox = (name) => `document.activeElement?.getAttribute("data-box") === ${JSON.stringify(name)}`;
async function press(page, ...keys) {
    for (const key of keys) await page.keyboard.press(key);
}
/* Letters choose in a list; Enter takes it. */
async function pick(page, name) {
    await page.keyboard.type(name);
    await press(page, "Enter");
}

async function byKeyboard(page, origin) {
    await page.goto(`${origin}/#workbench`);
    await page.locator(".palette li").first().waitFor({ state: "attached" });
    await tabTo(page, button("New"), "New");
    await press(page, "Enter");
    await tabTo(page, label("name of the new workflow"), "the new workflow's name");
    await page.keyboard.type("keys");
    await press(page, "Enter");
    await until(() => fs.existsSync(path.join(lab.work, "keys.yaml")) && page.url().includes("keys.yaml"), "keyboard: a new workflow");
    await tabTo(page, `document.activeElement?.closest(".palette")`, "the palette");
    await tabTo(page, label("search tasks"), "the search");
    for (const name of ["region_a", "sobel", "display"]) {
        await press(page, "Control+a");
        await page.keyboard.type(name);
        await press(page, "Enter");
        await box(page, name).waitFor();
    }
    for (const [from, to] of [["region_a", "sobel"], ["sobel", "display"]]) {
        await tabTo(page, atBox(from), from);
        await press(page, "w");
        await page.getByText("A wire with").waitFor();
        await tabTo(page, atBox(to), to);
        await press(page, "w");
        await until(() => page.evaluate(() => !/A wire with/.test(document.querySelector(".problems").innerText)), `keyboard: a wire from ${from} to ${to}`);
    }
    await judgeGraph("keys.yaml", "keyboard: Figure 2, three boxes, wired");
    for (const [task, by] of [["region_a", "region_b"], ["sobel", "prewitt"], ["sobel", "canny"]]) {
        await tabTo(page, atBox(task), task);
        await press(page, "Enter");
        await until(() => page.evaluate(() => document.activeElement?.closest(".inspector") !== null), `keyboard: the form of ${task}`);
        await tabTo(page, label(`substitute ${task} by a task of the library`), "substitute");
        await pick(page, by);
        await until(() => flow("keys-experiment.yaml").includes(`${by}:`), `keyboard: ${task} is substituted by ${by}`);
    }
    await tabTo(page, button("Run …"), "Run");
    await press(page, "Enter");
    await page.getByLabel("Workflow").waitFor();
    await tabTo(page, button("▶ Run"), "▶ Run");
    await press(page, "Enter");
    await comes(page.locator(".counts .state.done"), "keyboard: it runs");
    await press(page, "g", "w");
    await page.locator('[data-box="display"]').waitFor();
    await light(page, "display", "up to date", "keyboard: every box is up to date");
    await tabTo(page, button("⇄ 6 combinations"), "the experiment");
    await press(page, "Enter");
    await page.getByRole("button", { name: /^Run \d+ of \d+ tasks$/ }).waitFor();
    await tabTo(page, button("Run "), "Run of the experiment");
    await press(page, "Enter");
    await judgeResults(page, "keyboard: Figure 4");
    for (let i = 0; i < 3; i++) {
        await tabTo(page, button("To the workbench"), "To the workbench");
        if (i < 2) await press(page, "Tab");
    }
    await press(page, "Enter");
    await until(() => page.url().includes("keys-3.yaml"), "keyboard: the third row is taken back to the workbench");
    await comes(page.locator("[data-box]").nth(2), "keyboard: where its boxes stand");
}

await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await byMouse(page, origin);
    /* nothing of the first half: other files, so that all is computed anew */
    for (const name of fs.readdirSync(lab.work)) if (/\.(png|txt)$|^results$/.test(name)) fs.rmSync(path.join(lab.work, name), { recursive: true });
    await byKeyboard(page, origin);
    ok(fs.existsSync(path.join(lab.work, "keys-3.yaml")), "keyboard: the row is a workflow of its own");
});
