/* Runs of this folder that go on on agents while nobody follows them: whoever began them was killed, or has left. Each has left a note in
 * the folder; how far it is its agents say. Somebody can follow it again, which brings its results and its record. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { link } from "./address";
import { type About, type RunHead, ask, changes, tell } from "./server";
import { startRun } from "./starting";
import { plural } from "./words";

type There = { run: number; workflow: string | null; state: string; tasks: number | null; done: number | null; failed: number | null };
type Unfollowed = { run: number; there: There | null; problem: string };

/* The server has one connection to a cluster at a time: a folder with more notes than that is somebody else's trouble. */
const atMost = 3, pause = 2000;

async function look(folder: string): Promise<Unfollowed[]> {
    const noted = await ask<number[]>("/api/cluster/noted");
    if (!noted.length) return [];
    /* one weft at a time works in a folder: while one does, it follows */
    const { runs } = await ask<{ runs: RunHead[] }>("/api/runs", { limit: "30" });
    if (runs.some((r) => r.outcome === "running" && r.folder === folder)) return [];
    const found: Unfollowed[] = [];
    for (const run of noted.sort((a, b) => b - a).slice(0, atMost)) {
        try {
            const { runs: theirs } = await ask<{ runs: There[] }>("/api/cluster", { run: String(run) });
            const there = theirs.find((t) => t.run === run) ?? null;
            found.push({ run, there, problem: there ? "" : "its agents know nothing of it" });
        } catch (error) {
            found.push({ run, there: null, problem: (error as Error).message });
        }
    }
    return found;
}

function useUnfollowed(folder: string): Unfollowed[] {
    const found = useSignal<Unfollowed[]>([]);
    const newest = changes.value;
    useEffect(() => {
        let current = true, timer = 0;
        const again = async () => {
            const seen = document.hidden ? found.value : await look(folder).catch(() => []);
            if (!current) return;
            found.value = seen;
            if (seen.length) timer = window.setTimeout(again, seen.some((u) => u.problem) ? 5 * pause : pause);
        };
        again();
        return () => ((current = false), clearTimeout(timer));
    }, [newest]);
    return found.value;
}

function One({ of, about }: { of: Unfollowed; about: About }) {
    const said = useSignal(""), sure = useSignal(false);
    const t = of.there, goes = t && (t.state === "running" || t.state === "stopping");
    const follow = () => startRun({ attach: of.run }, (text) => (said.value = text));
    const cancel = () => tell("/api/cluster/cancel", { run: of.run, of: of.run }).then(() => (said.value = "It is asked to end. Follow it to have what is done."), (error: Error) => (said.value = error.message));
    return (
        <li>
            {t ? (
                <>
                    <b>{t.workflow ?? "A run"}</b> {goes ? "goes on on its agents, and nobody follows it" : `is ${t.state} on its agents, and nobody has taken its results`}: {t.done ?? "?"} of {plural(t.tasks ?? 0, "task")} done
                    {t.failed ? <b class="bad">, ✕ {t.failed} failed</b> : null}.
                </>
            ) : (
                <>Run {of.run} of agents was begun in this folder, and nobody follows it: {of.problem}.</>
            )}{" "}
            <span class="buttons">
                {about.read_only ? null : <button type="button" class="main" onClick={follow}>Follow it</button>}
                {about.read_only || !goes ? null : sure.value ? <button type="button" onClick={cancel}>End it now?</button> : <button type="button" onClick={() => (sure.value = true)}>■ Cancel</button>}
                <a href={link("cluster", { of: String(of.run) })}>its agents</a>
            </span>{" "}
            <span class="note">In a terminal: <code>weft attach {of.run}</code></span>
            <p role="status" class="said">{said.value}</p>
        </li>
    );
}

/* `workflow`: of that name alone. Nothing where nothing is left alone. */
export function Alone({ about, workflow }: { about: About; workflow?: string | null }) {
    const found = useUnfollowed(about.folder).filter((u) => workflow === undefined || !u.there || u.there.workflow === workflow);
    if (!found.length) return null;
    return (
        <section class="alone" aria-label="runs that nobody follows">
            <ul>{found.map((u) => <One key={u.run} of={u} about={about} />)}</ul>
        </section>
    );
}
