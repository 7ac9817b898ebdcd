/* Runs that the page starts: a process of its own each, whose record is shown when it appears. */
import { goTo } from "./address";
import { type About, type RunHead, ask, tell } from "./server";

type Started = { started: number; flow: string; over: boolean; status: number; said: string | null };

/* The number of the newest run of this folder, whatever is begun elsewhere meanwhile; 0: there is none, and no history yet. */
async function newestRun(folder: string): Promise<number> {
    try {
        const { runs } = await ask<{ runs: RunHead[] }>("/api/runs", { limit: "30" });
        return runs.find((head) => head.folder === folder || head.folder?.startsWith(`${folder}/`))?.run ?? 0;
    } catch {
        return 0;
    }
}

/* Who follows a run that somebody else began goes on with its record, which has a number already. */
async function runningRun(folder: string): Promise<number> {
    const { runs } = await ask<{ runs: RunHead[] }>("/api/runs", { limit: "30" }).catch(() => ({ runs: [] as RunHead[] }));
    return runs.find((head) => head.outcome === "running" && (head.folder === folder || head.folder?.startsWith(`${folder}/`)))?.run ?? 0;
}

/* After a start: the run that appears is shown; a process that ended without one says why. Machines of a queue may come in hours: it is
 * waited for as long as the process is there and the user has not gone elsewhere. */
async function follow(folder: string, number: number, before: number, again: boolean, say: (text: string) => void): Promise<void> {
    const here = location.hash;
    for (let turn = 0; location.hash === here; turn++) {
        await new Promise((wake) => setTimeout(wake, turn < 10 ? 150 : turn < 600 ? 500 : 3000));
        const newest = await newestRun(folder);
        const going = again ? await runningRun(folder) : 0;
        if (going) return goTo("run", { run: String(going) });
        if (newest > before) return goTo("run", { run: String(newest) });
        const mine = (await ask<Started[]>("/api/started")).find((s) => s.started === number);
        if (!mine) return say("It was started so long ago that the page has lost sight of it. Look among the runs.");
        if (mine.said && !mine.over) say(`Starting … ${mine.said.trim().split("\n").pop()}`);
        if (mine.over) return say(mine.said?.trim() || (mine.status === 0 ? "Everything is up to date: nothing had to run." : `It ended with status ${mine.status}.`));
    }
}

export async function startRun(options: Record<string, unknown>, say: (text: string) => void): Promise<void> {
    try {
        const { folder } = await ask<About>("/api/about");
        const before = await newestRun(folder);
        const { started } = await tell<{ started: number }>("/api/start", options);
        say("Starting …");
        await follow(folder, started, before, options.attach !== undefined, say);
    } catch (error) {
        say((error as Error).message);
    }
}
