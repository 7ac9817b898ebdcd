/* The Run view: start, watch, stop; what ran, runs and waits, and one task with its log. */
import { batch, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address, go, goTo, link } from "./address";
import { kindFill } from "./colours";
import { Failures } from "./failures";
import { Alone } from "./followed";
import { Gantt } from "./gantt";
import { Graph, stateNames } from "./graph";
import { type About, type Fact, type FolderFile, type RunHead, ask, changes, heard, tell } from "./server";
import { Name } from "./name";
import { startRun } from "./starting";
import { StreamFigures, useStream } from "./stream";
import { type TaskFiles, TaskData, folderBelow } from "./task_data";
import { bytes, count, moment, nodeName, plural, seconds, signs } from "./words";

type Family = { name: string; family: number; colour: number; tasks: number; waiting: number; running: number; done: number; failed: number; reused: number; skipped: number; seconds: number | null; predicted: number | null };
export type Task = { task: number; name: string; state: string; colour: number; family: number; attempt: number; start: number | null; finish: number | null; node: number; core: number; status: number; cpu: number | null; memory: number | null; predicted: number | null; low: number | null; high: number | null; reason: string | null };
type Live = { run: number; workflow: string | null; file: string | null; folder: string | null; /* parameters of the command line: "a=7; b=2" */ given: string | null; outcome: string; started: number; seconds: number; expected: number | null; predicted: number | null; tasks: number; waiting: number; running: number; done: number; failed: number; reused: number; skipped: number; untaken?: number; /* whose machines, as the form has them: "slurm" */ place?: string | null; cores: number; families: Family[]; now: Task[]; /* names of tasks that are being cancelled */ cancelled: string[]; /* bytes that are free where it works */ disk?: number | null; /* it runs, or ran, on agents */ away?: boolean; /* seconds until single tasks are told (src/ui/thrift.h); null: they are */ later: number | null };
type Dry = { tasks: number; to_run: number; done: number; seconds: number | null; memory: number | null; cores: number; needs: { name: string; reason: string | null; seconds: number | null }[] };

/* ---- starting ---- */

function DryRun({ dry }: { dry: Dry }) {
    return (
        <div class="dry">
            <p>
                <b>{dry.to_run} of {plural(dry.tasks, "task")} would run</b>
                {dry.seconds !== null && dry.to_run ? `, about ${seconds(dry.seconds)} on ${plural(dry.cores, "core")}` : null}
                {dry.memory !== null && dry.to_run ? `, ${bytes(dry.memory)} at once` : null}.
            </p>
            <ul>
                {dry.needs.map((need) => (
                    <li key={need.name}>
                        <b>{need.name}</b> {need.reason}
                        {need.seconds !== null ? <small> {seconds(need.seconds)}</small> : null}
                    </li>
                ))}
                {dry.to_run > dry.needs.length ? <li>and {dry.to_run - dry.needs.length} more</li> : null}
            </ul>
        </div>
    );
}

function Start() {
    const flows = useSignal<string[] | null>(null);
    const said = useSignal("");
    const dry = useSignal<Dry | null>(null);
    useEffect(() => {
        /* other formats are run as well, from the command line; a list of every JSON file would be of no use */
        ask<FolderFile[]>("/api/files").then((found) => (flows.value = found.filter((f) => f.sort === "workflow" && /\.ya?ml$/.test(f.path)).map((f) => f.path)), () => (flows.value = []));
    }, []);
    const options = (form: HTMLFormElement) => {
        const values = new FormData(form);
        const words = (name: string) => String(values.get(name) ?? "").split(/\s+/).filter(Boolean);
        return { flow: values.get("flow"), on: values.get("on"), jobs: values.get("jobs"), force: values.get("force") !== null, keep_going: values.get("keep_going") !== null, targets: words("targets"), params: words("params") };
    };
    const submit = (event: Event) => {
        event.preventDefault();
        dry.value = null;
        startRun(options(event.target as HTMLFormElement), (text) => (said.value = text));
    };
    const look = (event: Event) => {
        const { flow, force, targets, params } = options((event.target as HTMLButtonElement).form!);
        said.value = "";
        ask<Dry>("/api/dry", { flow: String(flow), force: force ? "1" : "" }, [...targets.map((t): [string, string] => ["target", t]), ...params.map((p): [string, string] => ["param", p])]).then(
            (found) => (dry.value = found),
            (error: Error) => ((dry.value = null), (said.value = error.message)),
        );
    };
    if (!flows.value) return <p>Looking …</p>;
    /* a file that the list does not have is what was asked for all the same: another one in its place would be run unasked */
    const asked = address.value.values.flow ?? "", choices = asked && !flows.value.includes(asked) ? [asked, ...flows.value] : flows.value;
    if (!choices.length) return <p class="note">No workflow (*.yaml) stands in this folder. The workbench makes one.</p>;
    return (
        <form class="start" onSubmit={submit}>
            <label>
                Workflow{" "}
                <select name="flow">
                    {choices.map((flow) => (
                        <option key={flow} selected={flow === asked}>{flow}</option>
                    ))}
                </select>
            </label>
            <label>
                Where <input name="on" list="places" placeholder="here" size={14} defaultValue={address.value.values.on ?? ""} />
                <datalist id="places">
                    <option value="local:2" />
                    <option value="ssh:HOST,HOST" />
                    <option value="slurm" />
                    <option value="cluster" />
                </datalist>
            </label>
            <label>
                Cores <input name="jobs" inputMode="numeric" pattern="[0-9]*" size={4} placeholder="all" />
            </label>
            <label>
                Only <input name="targets" placeholder="tasks or files" size={16} />
            </label>
            <label>
                With <input name="params" placeholder="sigma=2 n=3" size={14} pattern="\s*([A-Za-z_][\w\-]*=\S*\s*)*" title="parameters and lists: name=value, with a blank between them" defaultValue={address.value.values.with ?? ""} />
            </label>
            <label>
                <input type="checkbox" name="force" /> again, done or not
            </label>
            <label>
                <input type="checkbox" name="keep_going" /> go on after failures
            </label>
            <span class="buttons">
                <button type="submit" class="main">▶ Run</button>
                <button type="button" onClick={look}>What would run?</button>
            </span>
            <p role="status" class="said">{said.value}</p>
            {dry.value ? <DryRun dry={dry.value} /> : null}
        </form>
    );
}

function Recent() {
    const runs = useSignal<RunHead[]>([]);
    const newest = changes.value;
    useEffect(() => {
        ask<{ runs: RunHead[] }>("/api/runs", { limit: "30" }).then((found) => (runs.value = found.runs), () => {});
    }, [newest]);
    if (!runs.value.length) return <p class="note">No run is on record yet.</p>;
    return (
        <>
        <ul class="recent">
            {runs.value.map((head) => (
                <li key={head.run}>
                    <a href={link("run", { run: String(head.run) })}>
                        <b>Run {head.run}</b> {head.workflow}
                    </a>
                    <span class={`state ${head.outcome}`}>
                        {signs[head.outcome]} {head.outcome}
                    </span>
                    <span class="note">
                        {moment(head.started)}, {plural(head.tasks, "task")}
                        {head.seconds !== null ? `, ${seconds(head.seconds)}` : ""}
                    </span>
                </li>
            ))}
        </ul>
        {runs.value.length === 30 ? <p class="note">These are the newest 30. The <a href={link("database")}>Database</a> has all.</p> : null}
        </>
    );
}

/* ---- one run ---- */

function Counts({ live, stream }: { live: Live; stream: boolean }) {
    const over = live.done + live.reused + live.failed + live.skipped;
    const untaken = live.outcome === "done" || live.outcome === "running" ? 0 : (live.untaken ?? 0); /* by a decision; the others because of failures or a stop */
    const left = live.expected !== null ? Math.max(0, live.expected - live.seconds) : null;
    return (
        <p class="counts">
            <span class={`state ${live.outcome}`}>
                {signs[live.outcome]} {live.outcome}
            </span>{" "}
            {stream ? `${plural(live.tasks, "filter")} · ${seconds(live.seconds)}` : null}
            {stream ? null : live.outcome === "running" ? `${live.running} at once, ${count(over)} of ${plural(live.tasks, "task")} over` : plural(live.tasks, "task")}
            {live.done ? `, ${count(live.done)} done` : ""}
            {live.reused ? `, ${count(live.reused)} reused` : ""}
            {live.failed ? <b class="bad">, {count(live.failed)} failed</b> : ""}
            {live.skipped - untaken > 0 && !stream ? `, ${count(live.skipped - untaken)} ${live.outcome === "done" ? "not taken" : live.outcome === "lost" ? "of which nothing is on record" : "not run"}${untaken ? `, ${count(untaken)} not taken` : ""}` : ""}
            {stream ? "" : ` · ${seconds(live.seconds)}`}
            {left !== null && !stream ? ` · about ${seconds(left)} left` : ""}
            {live.predicted !== null ? ` · predicted ${seconds(live.predicted)}` : ""}
            {live.given ? <span class="given"> · with {live.given}</span> : null}
            {live.cancelled.length ? (
                <b class="cancelled" role="status">
                    {" "}· ■ being cancelled, with what depends on {live.cancelled.length > 1 ? "them" : "it"}: {live.cancelled.slice(0, 3).join(", ")}
                    {live.cancelled.length > 3 ? ` and ${live.cancelled.length - 3} more` : ""}
                </b>
            ) : null}
        </p>
    );
}

function Bars({ live, chosen, choose }: { live: Live; chosen: string; choose: (family: string) => void }) {
    return (
        <ul class="bars" aria-label="families">
            {live.families.map((family) => (
                <li key={family.name}>
                    <button type="button" disabled={family.family < 0} aria-pressed={chosen === String(family.family)} onClick={() => choose(chosen === String(family.family) ? "" : String(family.family))}>
                        <i class="swatch" ref={(i) => void (i && (i.style.background = kindFill(family.colour)))} />
                        <span class="name"><Name of={family.name} /></span>
                        <span class="bar" aria-hidden="true">
                            {(["done", "reused", "running", "failed", "skipped"] as const).map((state) => (
                                <i key={state} class={state} ref={(i) => void (i && (i.style.width = `${(100 * family[state]) / family.tasks}%`))} />
                            ))}
                        </span>
                        <span class="number">
                            {family.failed ? `✕ ${family.failed} ` : ""}
                            {family.running ? `◐ ${family.running} ` : ""}
                            {count(family.done + family.reused)}/{count(family.tasks)}
                        </span>
                        <small title="in the mean, and as predicted">
                            {family.seconds !== null ? seconds(family.seconds) : ""}
                            {family.predicted !== null ? ` (${seconds(family.predicted)})` : ""}
                        </small>
                    </button>
                </li>
            ))}
        </ul>
    );
}

function TaskRow({ task, chosen, predicted, choose }: { task: Task; chosen: boolean; predicted: boolean; choose: () => void }) {
    return (
        <tr class={chosen ? "chosen" : ""}>
            <td class="name">
                <i class="swatch" ref={(i) => void (i && (i.style.background = kindFill(task.colour)))} />
                <button type="button" class="plain" aria-current={chosen ? "true" : undefined} onClick={choose}><Name of={task.name} /></button>
            </td>
            <td class={`state ${task.state}`}>
                {signs[task.state]} {task.state}
            </td>
            <td class="number">{task.start !== null ? seconds(task.start) : ""}</td>
            <td class="number">{task.start !== null && task.finish !== null ? seconds(task.finish - task.start) : ""}</td>
            {predicted ? <td class="number">{task.predicted !== null ? seconds(task.predicted) : ""}</td> : null}
            <td class="number">{task.memory ? bytes(task.memory) : ""}</td>
        </tr>
    );
}

/* A page of 200 at a time: the server finds, so that a million tasks are as quick as ten. */
function Tasks({ run, version, live }: { run: string; version: number; live: Live }) {
    const { family = "", state = "", words = "", task = "", from = "" } = address.value.values;
    const found = useSignal<{ tasks: Task[]; found: number } | null>(null);
    useEffect(() => {
        let current = true;
        ask<{ tasks: Task[]; found: number }>(`/api/run/${run}/tasks`, { family, state, words, from }).then((f) => current && (found.value = f), () => {});
        return () => void (current = false);
    }, [run, family, state, words, from, version]);
    const first = Number(from) || 0;
    const predicted = found.value?.tasks.some((t) => t.predicted !== null) ?? false; /* a column with nothing in it takes room */
    return (
        <section class="card tasks" aria-label="tasks">
            <form role="search" onSubmit={(event) => event.preventDefault()}>
                <label>
                    Tasks <input value={words} placeholder="part of a name" onInput={(event) => go({ words: (event.target as HTMLInputElement).value, from: "" }, true)} />
                </label>
                <label>
                    State{" "}
                    <select value={state} onChange={(event) => go({ state: (event.target as HTMLSelectElement).value, from: "" })}>
                        <option value="">any</option>
                        {stateNames.map((name) => (
                            <option key={name} value={name}>{name}</option>
                        ))}
                    </select>
                </label>
                {family !== "" ? (
                    <button type="button" onClick={() => go({ family: "", from: "" })}>
                        {live.families.find((f) => String(f.family) === family)?.name ?? "family"} ✕<span class="unseen"> show all families</span>
                    </button>
                ) : null}
                <span class="note">{found.value ? plural(found.value.found, "task") : ""}</span>
            </form>
            <div class="scroll" tabIndex={0} role="region" aria-label="list of tasks">
                <table>
                    <thead>
                        <tr>
                            <th>task</th>
                            <th>state</th>
                            <th>began at</th>
                            <th>took</th>
                            {predicted ? <th>predicted</th> : null}
                            <th>memory</th>
                        </tr>
                    </thead>
                    <tbody>
                        {found.value?.tasks.map((t) => (
                            <TaskRow key={t.task} task={t} predicted={predicted} chosen={task === String(t.task)} choose={() => go({ task: String(t.task) })} />
                        ))}
                    </tbody>
                </table>
            </div>
            {found.value && found.value.found > 200 ? (
                <p class="pages">
                    <button type="button" disabled={first === 0} onClick={() => go({ from: first > 200 ? String(first - 200) : "" })}>← before</button> {first + 1} to{" "}
                    {Math.min(found.value.found, first + 200)} of {found.value.found}{" "}
                    <button type="button" disabled={first + 200 >= found.value.found} onClick={() => go({ from: String(first + 200) })}>after →</button>
                </p>
            ) : null}
        </section>
    );
}

/* What a task writes, as it is written: only what is new is asked for. */
function Log({ run, task, version, attempt, state, nothing }: { run: string; task: string; version: number; attempt: number; state: string; nothing: string }) {
    const text = useSignal("");
    const masked = useSignal(false);
    const end = useRef(0);
    const box = useRef<HTMLPreElement>(null);
    useEffect(() => {
        text.value = "";
        end.current = 0;
    }, [run, task, attempt, state]); /* what an agent sent while it ran may be another part of it than what is kept */
    useEffect(() => {
        let current = true;
        const from = end.current;
        ask<{ text: string | null; end: number; masked?: boolean }>(`/api/run/${run}/log`, { task, from: String(from) }).then((found) => {
            if (current) masked.value = found.masked ?? false;
            if (!current || found.text === null || found.end === from) return;
            const bottom = box.current && box.current.scrollHeight - box.current.scrollTop - box.current.clientHeight < 30;
            text.value = ((found.end > from && from > 0 ? text.value : "") + found.text).slice(-400000);
            end.current = found.end;
            if (bottom) requestAnimationFrame(() => box.current && (box.current.scrollTop = box.current.scrollHeight));
        }, () => {});
        return () => void (current = false);
    }, [run, task, version, attempt, state]);
    return (
        <pre class="log" ref={box} tabIndex={0} role="log" aria-label="what the task wrote">
            {text.value || (masked.value ? "It is given secrets: what it writes is shown when it has ended, with them masked." : nothing)}
        </pre>
    );
}

type Detail = TaskFiles & { task: Task; command?: string; waits?: string[]; waits_for?: number };
function OneTask({ run, task, version, live, about }: { run: string; task: string; version: number; live: Live; about: About }) {
    const found = useSignal<Detail | null>(null);
    const said = useSignal("");
    useEffect(() => {
        let current = true;
        ask<Detail>(`/api/run/${run}/task`, { task }).then((f) => current && (found.value = f), (error: Error) => current && (said.value = error.message));
        return () => void (current = false);
    }, [run, task, version]);
    const detail = found.value;
    if (!detail) return <section class="card task"><p>{said.value || "Looking …"}</p></section>;
    const t = detail.task;
    const cancel = () => tell(`/api/run/${run}/cancel`, { task: t.task }).then(() => (said.value = "It is asked to end, with what depends on it; the rest goes on."), (error: Error) => (said.value = error.message));
    const again = (force: boolean) => startRun({ ...alike(live, about)!, targets: [t.name], force }, (text) => (said.value = text));
    return (
        <section class="card task" aria-label={`task ${t.name}`}>
            <header>
                <h3><Name of={t.name} /></h3>
                <span class={`state ${t.state}`}>
                    {signs[t.state]} {t.state}
                    {t.state === "failed" ? `, status ${t.status}` : ""}
                    {t.state === "skipped" && t.attempt ? ", ended before it was done" : ""}
                    {t.attempt > 1 ? `, attempt ${t.attempt}` : ""}
                </span>
                <button type="button" onClick={() => go({ task: "" })}>Close</button>
            </header>
            <dl class="facts">
                {t.reason ? <div><dt>why it ran</dt><dd>{t.reason}</dd></div> : null}
                {t.start !== null ? <div><dt>{t.finish !== null ? "took" : "runs for"}</dt><dd>{seconds((t.finish ?? live.seconds) - t.start)}</dd></div> : null}
                {t.predicted !== null ? (
                    <div>
                        <dt>predicted</dt>
                        <dd>
                            {seconds(t.predicted)}
                            {t.low !== null && t.high !== null ? ` (${seconds(t.low)} to ${seconds(t.high)})` : ""}
                        </dd>
                    </div>
                ) : null}
                {t.cpu !== null && t.finish !== null ? <div><dt>processor</dt><dd>{seconds(t.cpu)}</dd></div> : null}
                {t.memory ? <div><dt>memory</dt><dd>{bytes(t.memory)}</dd></div> : null}
                {t.attempt ? <div><dt>where</dt><dd>node {t.node}, core {t.core}</dd></div> : null}
                {t.state === "waiting" && detail.waits_for ? (
                    <div><dt>waits for</dt><dd>{detail.waits!.join(", ")}{detail.waits_for > detail.waits!.length ? ` and ${detail.waits_for - detail.waits!.length} more` : ""}</dd></div>
                ) : null}
                {t.state === "waiting" && detail.waits_for === 0 ? <div><dt>waits for</dt><dd>a free core</dd></div> : null}
            </dl>
            {detail.command ? <pre class="command">{detail.command}</pre> : null}
            {about.kept ? null : <TaskData files={detail} folder={live.folder} about={about} version={t.finish ?? 0} />}
            <Log run={run} task={task} version={version} attempt={t.attempt} state={t.state} nothing={about.kept ? "Its log is not in this file." : "It has written nothing."} />
            {!about.read_only && live.outcome === "running" && (t.state === "waiting" || t.state === "running") ? (
                <p>
                    <button type="button" onClick={cancel}>■ Cancel this task</button> <span role="status">{said.value}</span>
                </p>
            ) : null}
            {about.read_only || live.outcome === "running" || !alike(live, about) ? null : (
                <p>
                    <button type="button" onClick={() => again(false)}>⟳ Run this task</button> <button type="button" onClick={() => again(true)}>Run it again, done or not</button> <span role="status">{said.value}</span>
                </p>
            )}
        </section>
    );
}

/* The file and the parameters of a run, to run it again; null: it is not of this folder, or was given what words cannot say. */
function alike(live: Live, about: About): { flow: string; params: string[] } | null {
    const params = live.given ? live.given.split("; ") : [];
    const below = folderBelow(live.folder, about);
    if (!live.file || below === null || params.some((p) => !/^[A-Za-z_][\w-]*=[^\n]*$/.test(p))) return null;
    /* the file is as it was called in the terminal; the folder is where it stands */
    return { flow: below + live.file.replace(/.*\//, ""), params };
}

function Buttons({ live, about }: { live: Live; about: About }) {
    const said = useSignal("");
    const stop = () => tell(`/api/run/${live.run}/stop`, {}).then(() => (said.value = "Nothing new starts. Once more: everything is ended now."), (error: Error) => (said.value = error.message));
    const same = alike(live, about), place = live.place ?? "", away = live.away || place !== "", word = live.outcome === "done" ? "Run again" : "Retry";
    const again = () => startRun(same!, (text) => (said.value = text));
    useEffect(() => void (said.value = ""), [live.outcome]); /* what a second press would do is over with the run */
    return (
        <span class="buttons">
            {live.outcome === "running" ? <button type="button" onClick={stop}>■ Stop</button> : null}
            {/* the form has the place that is on record: who wants another one says so */}
            {live.outcome !== "running" && same && away ? <button type="button" onClick={() => goTo("run", { flow: same.flow, on: place, with: same.params.join(" ") })}>⟳ {word} …</button> : null}
            {live.outcome !== "running" && same && !away ? <button type="button" onClick={again}>⟳ {word}</button> : null}
            <span role="status">{said.value}</span>
        </span>
    );
}

/* Counts by kind have no numbers of families: those that are known by name have theirs. */
function numbered(found: Live, before: Live | null): Live {
    if (found.later === null || !before) return found;
    const known = new Map(before.families.map((f) => [f.name, f]));
    return { ...found, now: before.now, families: found.families.map((f) => ({ ...f, family: known.get(f.name)?.family ?? -1, predicted: known.get(f.name)?.predicted ?? null })) };
}

/* Asked once a second while the run goes on and somebody looks; afterwards when the server tells of changes. `version` counts on
 * when there is something new of single tasks, 0: nothing is known of them; `insist`: whatever it costs the run. */
function useLive(run: string, kept: boolean): { live: Live | null; version: number; problem: string; insist: () => void } {
    const live = useSignal<Live | null>(null);
    const version = useSignal(0);
    const problem = useSignal("");
    const insist = useRef(() => {});
    useEffect(() => {
        let current = true, timer = 0, under = false;
        const look = async (all = "") => {
            clearTimeout(timer);
            if (under) return; /* one question at a time: the answer to this one will do */
            under = true;
            try {
                const found = await ask<Live>(`/api/run/${run}/live`, { all });
                if (!current) return;
                batch(() => {
                    problem.value = "";
                    live.value = numbered(found, live.value);
                    if (found.later === null) version.value++;
                });
            } catch (error) {
                if (current) problem.value = (error as Error).message;
            } finally {
                under = false;
            }
            /* a run whose names are not written yet, and a server that is away, are asked again */
            if (current && !kept && (live.value === null || live.value.outcome === "running")) timer = window.setTimeout(again, document.hidden ? 10000 : 1000);
        };
        const again = () => void look();
        live.value = null;
        insist.current = () => void look("1");
        look();
        const stop = [heard("runs", again), heard("afresh", again)];
        document.addEventListener("visibilitychange", again);
        return () => {
            current = false;
            clearTimeout(timer);
            stop.forEach((end) => end());
            document.removeEventListener("visibilitychange", again);
        };
    }, [run]);
    return { live: live.value, version: version.value, problem: problem.value, insist: () => insist.current() };
}

/* Above what is not shown, or not as new as the counts. */
function Later({ live, version, insist }: { live: Live; version: number; insist: () => void }) {
    if (live.later === null) return null;
    return (
        <p class="note later">
            {version ? "Graph, Gantt and tasks are some seconds old" : "Graph, Gantt and single tasks are not shown yet"}: reading {plural(live.tasks, "task")} would slow the run down. They come in about {seconds(live.later)}, or when it is over.{" "}
            <button type="button" onClick={insist}>Show them now</button>
        </p>
    );
}

function OneNow({ task, seconds: now }: { task: Task; seconds: number }) {
    return (
        <li>
            <button type="button" class="plain" onClick={() => go({ task: String(task.task) })}><Name of={task.name} /></button>{" "}
            <span class="note">
                {task.state === "running" ? seconds(now - (task.start ?? now)) : ""}
                {task.predicted !== null ? `${task.state === "running" ? " of " : ""}about ${seconds(task.predicted)}` : ""}
            </span>
        </li>
    );
}

/* What waits for a core, and how many wait for others. */
function Next({ run, version, waiting }: { run: string; version: number; waiting: number }) {
    const found = useSignal<{ ready: number; next: Task[] } | null>(null);
    useEffect(() => {
        let current = true;
        ask<{ ready: number; next: Task[] }>(`/api/run/${run}/next`).then((f) => current && (found.value = f), () => {});
        return () => void (current = false);
    }, [run, version]);
    if (!found.value) return null;
    const { ready, next } = found.value;
    return (
        <>
            <h3>Next</h3>
            <p class="note">
                {ready} {ready === 1 ? "waits" : "wait"} for a core, {Math.max(0, waiting - ready)} for others.
            </p>
            {next.length ? <ul class="now">{next.map((t) => <OneNow key={t.task} task={t} seconds={0} />)}</ul> : null}
            {ready > next.length ? <p class="note">and {ready - next.length} more</p> : null}
        </>
    );
}

/* A stream has filters, through which items go; its tasks neither begin nor end. */
function StreamDetails({ run, version, live, facts }: { run: string; version: number; live: Live; facts: Fact[] }) {
    return (
        <>
            <section class="card" aria-label="graph by family">
                <Graph run={run} version={version} plain choose={() => {}} />
            </section>
            <StreamFigures facts={facts} running={live.outcome === "running"} order={live.families.map((f) => f.name)} />
        </>
    );
}

/* Data that went between nodes: from whom to whom, and the newest. Sums first: a large run has too many to be read. */
type Moved = { from: number | null; to: number; bytes: number };
type MovedData = { count: number; bytes: number; pairs: (Moved & { count: number; seconds: number })[]; last: (Moved & { object: string | null; start: number; finish: number })[] };
function Transfers({ run, version }: { run: string; version: number }) {
    const found = useSignal<MovedData | null>(null);
    useEffect(() => {
        let current = true;
        ask<MovedData>(`/api/run/${run}/transfers`).then((f) => current && (found.value = f), () => {});
        return () => void (current = false);
    }, [run, version]);
    if (!found.value) return null;
    const { count, bytes: sum, pairs, last } = found.value;
    return (
        <section class="card transfers" aria-label="transfers">
            <h3>Transfers</h3>
            <p class="note">{count ? `${plural(count, "file")}, ${bytes(sum)} between nodes` : "Nothing had to go from one node to another."}</p>
            {count ? (
                <div class="scroll" tabIndex={0} role="region" aria-label="data between nodes">
                    <table>
                        <thead>
                            <tr><th>from</th><th>to</th><th>files</th><th>data</th><th>speed</th></tr>
                        </thead>
                        <tbody>
                            {pairs.map((pair) => (
                                <tr key={`${pair.from} ${pair.to}`}>
                                    <td>{nodeName(pair.from)}</td>
                                    <td>{nodeName(pair.to)}</td>
                                    <td class="number">{pair.count}</td>
                                    <td class="number">{bytes(pair.bytes)}</td>
                                    <td class="number">{pair.seconds > 0 ? `${bytes(pair.bytes / pair.seconds)}/s` : ""}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    <table>
                        <thead>
                            <tr><th>the newest</th><th>from</th><th>to</th><th>data</th><th>at</th><th>took</th></tr>
                        </thead>
                        <tbody>
                            {last.map((one, i) => (
                                <tr key={i}>
                                    <td>{one.object ?? "a file"}</td>
                                    <td>{nodeName(one.from)}</td>
                                    <td>{nodeName(one.to)}</td>
                                    <td class="number">{bytes(one.bytes)}</td>
                                    <td class="number">{seconds(one.start)}</td>
                                    <td class="number">{seconds(one.finish - one.start)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            ) : null}
        </section>
    );
}

/* All that is told of single tasks. */
function Details({ run, version, live, about }: { run: string; version: number; live: Live; about: About }) {
    const { task = "" } = address.value.values;
    const byName = (name: string) => go({ family: String(live.families.find((f) => f.name === name)?.family ?? ""), from: "" });
    return (
        <>
            <section class="card" aria-label="graph by family">
                <Graph run={run} version={version} choose={byName} />
            </section>
            <section class="card wide" aria-label="Gantt">
                <Gantt run={run} version={version} running={live.outcome === "running"} cores={live.cores} room={live.disk ?? null} chosen={Number(task || -1)} choose={(t) => go({ task: String(t) })} />
            </section>
            <Tasks run={run} version={version} live={live} />
            {task !== "" ? (
                <OneTask key={task} run={run} task={task} version={version} live={live} about={about} />
            ) : (
                <section class="card task" aria-label="now">
                    <h3>{live.outcome === "running" ? "Running now" : "A task"}</h3>
                    {live.now.length ? (
                        <ul class="now">{live.now.slice(0, 50).map((t) => <OneNow key={t.task} task={t} seconds={live.seconds} />)}</ul>
                    ) : (
                        <p class="note">{live.outcome === "running" ? "Nothing at this moment." : "Choose one in the table or in the Gantt: its command, its log, its data and why it ran stand here."}</p>
                    )}
                    {live.outcome === "running" && !about.kept ? <Next run={run} version={version} waiting={live.waiting} /> : null}
                </section>
            )}
            {live.away ? <Transfers run={run} version={version} /> : null}
        </>
    );
}

/* The table shows what has this name, and beside it stands the task itself: others may have it as a part of theirs. */
async function find(run: string, name: string): Promise<void> {
    go({ words: name, family: "", state: "", from: "" });
    const { tasks } = await ask<{ tasks: Task[] }>(`/api/run/${run}/tasks`, { words: name, state: "failed" }).catch(() => ({ tasks: [] as Task[] }));
    const one = tasks.find((t) => t.name === name);
    if (one && address.value.values.words === name) go({ task: String(one.task) }, true);
}

export function OneRun({ run, about }: { run: string; about: About }) {
    const { live, version, problem, insist } = useLive(run, about.kept ?? false);
    const { family = "" } = address.value.values;
    const failed = useRef(0);
    const stream = useStream(run, version, live?.outcome === "running");
    if (live && live.later === null) failed.current = live.failed; /* their causes are read with single tasks */
    if (!live) return <p role={problem ? "alert" : "status"} class={problem ? "problem" : "note"}>{problem || "Looking …"}</p>;
    const chooseFamily = (value: string) => go({ family: value, from: "" });
    return (
        <>
            <section class="card top" aria-label="run">
                <header>
                    <h2>
                        Run {live.run} · {live.workflow}
                    </h2>
                    {about.read_only || (stream.length && live.outcome !== "running") /* `weft run` would not run it as a stream */ ? null : <Buttons live={live} about={about} />}
                    {about.kept ? null : <a href={link("database", { run })}>report, notes</a>}
                    {about.kept ? null : <a href={link("run")}>all runs</a>}
                </header>
                <Counts live={live} stream={stream.length > 0} />
                {problem ? <p role="alert" class="problem">{problem}</p> : null}
                {!about.kept && (live.outcome === "lost" || live.outcome === "cancelled") && live.folder === about.folder ? <Alone about={about} workflow={live.workflow} /> : null}
                {stream.length ? null : <Bars live={live} chosen={family} choose={chooseFamily} />}
                <Later live={live} version={version} insist={insist} />
                {failed.current ? <Failures run={run} failed={failed.current} find={(name) => void find(run, name)} /> : null}
            </section>
            {!version ? null : stream.length ? <StreamDetails run={run} version={version} live={live} facts={stream} /> : <Details run={run} version={version} live={live} about={about} />}
        </>
    );
}

export function Run({ about }: { about: About }) {
    const { run = "" } = address.value.values;
    if (run && !/^\d+$/.test(run)) return <main tabIndex={-1} class="run-view none"><p role="alert" class="problem">There is no run '{run}'; expected its number. <a href={link("run")}>All runs</a></p></main>;
    return (
        <main tabIndex={-1} class={run ? "run-view" : "run-view none"}>
            {run ? (
                <OneRun key={run} run={run} about={about} />
            ) : (
                <>
                    {about.read_only ? null : (
                        <section class="card" aria-label="start a run">
                            <h2>Start</h2>
                            <Start />
                        </section>
                    )}
                    <section class="card" aria-label="runs">
                        <h2>Runs</h2>
                        <Alone about={about} />
                        <Recent />
                    </section>
                </>
            )}
        </main>
    );
}
