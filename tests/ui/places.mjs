/* A run that is started from the page elsewhere: WEFT_PLACE is what is typed into "Where" (018_start_ssh_test.sh, 018_start_slurm_test.sh).
 * Speaks TAP. */
import { accessible, comes, laboratory, ok, test, until } from "./support.mjs";

const place = process.env.WEFT_PLACE, lab = laboratory("places");
lab.write("flow.yaml", `weft: 1
lists: { i: [1, 2, 3] }
tasks:
  part: { each: i, run: "echo part {i}; echo {i} > {out}", out: "part-{i}.txt" }
  all: { run: "cat {in} > {out}", in: "part-{i}.txt", out: all.txt }
`);
await test(lab, async ({ context }) => {
    const { url, origin } = await lab.serve();
    const page = await context.newPage();
    await page.goto(url);
    await page.goto(`${origin}/#run`);
    await page.getByLabel("Where").fill(place);
    await page.getByRole("button", { name: "▶ Run" }).click();
    /* whatever goes wrong elsewhere, the page says it */
    const told = async () => console.log(`# the page says: ${(await page.locator("main").innerText()).slice(0, 2000).replace(/\n+/g, "\n# ")}`);
    if (!(await comes(page.getByRole("heading", { name: "Run 1 · flow" }), `a run on ${place} is started by the page, and shown`))) await told();
    if (!(await comes(page.locator(".counts .state.done"), "it ends well"))) await told();
    await until(() => /^1\s+2\s+3\s*$/.test(lab.read("all.txt")), "and its results are here");
    await page.getByRole("region", { name: "list of tasks" }).getByRole("button", { name: "part@i=2" }).click();
    await comes(page.getByRole("log").filter({ hasText: "part 2" }), "with what its tasks wrote there");
    if (place.startsWith("ssh")) await comes(page.getByRole("region", { name: "transfers" }), "and what went between machines");
    await accessible(page, `a run on ${place}`);
    await page.evaluate(() => localStorage.clear()); /* as another browser: the record says where it ran */
    await page.reload();
    await page.getByRole("button", { name: "Run again …" }).click();
    await comes(page.getByRole("button", { name: "▶ Run" }), "who runs it again says where");
    ok((await page.getByLabel("Workflow").inputValue()) === "flow.yaml" && (await page.getByLabel("Where").inputValue()) === place, "of the same file, at the same place if nothing else is said");
    await page.getByLabel("Where").fill("frob:1");
    await page.getByRole("button", { name: "▶ Run" }).click();
    await until(async () => /frob/.test(await page.locator(".said").innerText()), "a place that there is not is told");
});
