/* Runs that the page starts: a process of its own each, whose record is shown when it appears. */
import { goTo } from "./address";
import { type RunHead, ask, tell } from "./server";

type Started = { started: number; flow: string; over: boolean; status: number; said: string | null };

/* The newest run's number; 0: there is none, and no history yet. */
async function newestRun(): Promise<number> {
    try {
        return (await ask<{ runs: RunHead[] }>("/api/runs", { limit: "1" })).runs[0]?.run ?? 0;
    } catch {
        return 0;
    }
}

/* After a start: the run that appears is shown; a process that ended without one says why. */
async function follow(number: number, before: number, say: (text: string) => void): Promise<void> {
    for (let turn = 0; turn < 600; turn++) {
        await new Promise((wake) => setTimeout(wake, turn < 10 ? 150 : 500));
        const newest = await newestRun();
        if (newest > before) return goTo("run", { run: String(newest) });
        const mine = (await ask<Started[]>("/api/started")).find((s) => s.started === number);
        if (mine?.over) return say(mine.said ?? (mine.status === 0 ? "Everything is up to date: nothing had to run." : `It ended with status ${mine.status}.`));
    }
}

export async function startRun(options: Record<string, unknown>, say: (text: string) => void): Promise<void> {
    try {
        const before = await newestRun();
        const { started } = await tell<{ started: number }>("/api/start", options);
        say("Starting …");
        await follow(started, before, say);
    } catch (error) {
        say((error as Error).message);
    }
}
