/* The Cluster view: agents with their queues, steals, transfers and caches, and the runs of all; let an agent leave, end a run.
 * Asked once a second while somebody looks. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, go, link } from "./address";
import { Curve } from "./gantt";
import { type About, ask, changes, tell } from "./server";
import { bytes, moment, plural, seconds } from "./words";

type Work = { run: number; policy: string; tt: number; held: number; waiting: number; local: number; shared: number; running: number; fetching: number; done: number; failed: number; lost: number; steals: number; failed_steals: number; stolen: number; given: number; pushed: number; recomputed: number; fetched: number; fetched_bytes: number; served: number; served_bytes: number; hits: number; misses: number; cache_bytes: number; busy: number; dropped: number };
type Agent = { node: number; life: number; state: string; aside?: string; age: number; host: string | null; address: string | null; version: string | null; cores: number; memory: number | null; pid: number; started: number; cache_limit: number | null; runs: Work[] };
type ClusterRun = { run: number; workflow: string | null; state: string; created: number; changed: number; host: string | null; folder: string | null; shared: boolean; tasks: number | null; before: number; done: number | null; failed: number | null; removed: number | null; proved: boolean; unproved: number | null };
type Status = { store: string; now: number; agents: Agent[]; runs: ClusterRun[]; kept: { node: number; runs: number; bytes: number; bytes_most: number; seconds: number }[]; paces: { node: number; speed: number | null; load: number }[]; store_trouble: string | null; waits: string[] };
type Totals = { running: number; ready: number; waiting: number; done: number; failed: number; stolen: number; given: number; fetched_bytes: number; served_bytes: number; hits: number; misses: number; cache_bytes: number };

const gone = new Set(["dead", "left"]);
const forgotten = 600; /* seconds after which one that is gone interests nobody */
const agentSigns: Record<string, string> = { up: "●", leaving: "◐", silent: "?", dead: "✕", left: "–", aside: "!" };
const runSigns: Record<string, string> = { running: "◐", stopping: "■", cancelled: "■", ended: "●", collected: "◉", forged: "✕", expired: "–" };

/* What an agent has now counts only while it lives; what it did stays. */
function totals(agent: Agent, run: string): Totals {
    const sum: Totals = { running: 0, ready: 0, waiting: 0, done: 0, failed: 0, stolen: 0, given: 0, fetched_bytes: 0, served_bytes: 0, hits: 0, misses: 0, cache_bytes: 0 };
    const lives = !gone.has(agent.state) && agent.state !== "silent";
    for (const work of agent.runs) {
        if (run && String(work.run) !== run) continue;
        if (lives) {
            sum.running += work.running;
            sum.ready += work.local + work.shared;
            sum.waiting += work.waiting;
        }
        for (const key of ["done", "failed", "stolen", "given", "fetched_bytes", "served_bytes", "hits", "misses", "cache_bytes"] as const) sum[key] += work[key];
    }
    return sum;
}

function percent(part: number, whole: number): string {
    return whole > 0 ? `${Math.round((100 * part) / whole)} %` : "–";
}

/* A button that asks once more, in its own place: what it does cannot be taken back. */
function Sure({ children, question, act }: { children: ComponentChildren; question: string; act: () => void }) {
    const asked = useSignal(false);
    return asked.value ? (
        <span class="sure">
            {question} <button type="button" class="danger" onClick={() => ((asked.value = false), act())}>Yes</button>{" "}
            <button type="button" onClick={() => (asked.value = false)}>No</button>
        </span>
    ) : (
        <button type="button" onClick={() => (asked.value = true)}>{children}</button>
    );
}

function Share({ part, whole, label }: { part: number; whole: number; label: string }) {
    const width = whole > 0 ? Math.min(100, (100 * part) / whole) : 0;
    return (
        <span class="share" role="img" aria-label={label}>
            <i ref={(i) => void (i && (i.style.width = `${width}%`))} />
        </span>
    );
}

function AgentRow({ agent, status, run, chosen }: { agent: Agent; status: Status; run: string; chosen: boolean }) {
    const sum = totals(agent, run), pace = status.paces.find((p) => p.node === agent.node);
    return (
        <tr class={`${chosen ? "chosen" : ""} ${gone.has(agent.state) ? "gone" : ""}`}>
            <td class="number">{agent.node}</td>
            <td>
                <button type="button" class="plain" aria-expanded={chosen} onClick={() => go({ node: chosen ? "" : String(agent.node) })}>{agent.host ?? "unknown"}</button>
            </td>
            <td class={`agent-state ${agent.state}`}>{agentSigns[agent.state] ?? "?"} {agent.state}</td>
            <td class="number">
                <Share part={sum.running} whole={agent.cores} label={`${sum.running} of ${agent.cores} cores`} /> {sum.running}/{agent.cores}
            </td>
            <td class="number">{sum.ready}</td>
            <td class="number">{sum.waiting}</td>
            <td class="number">{sum.done}</td>
            <td class={sum.failed ? "number bad" : "number"}>{sum.failed ? `✕ ${sum.failed}` : 0}</td>
            <td class="number">{sum.stolen} / {sum.given}</td>
            <td class="number">{bytes(sum.fetched_bytes)} / {bytes(sum.served_bytes)}</td>
            <td class="number">{percent(sum.hits, sum.hits + sum.misses)}</td>
            <td class="number">{bytes(sum.cache_bytes)}{agent.cache_limit !== null ? ` of ${bytes(agent.cache_limit)}` : ""}</td>
            <td class="number">{pace ? `${Math.round(100 * pace.load)} %` : "–"}</td>
            <td class="number">{pace?.speed != null ? pace.speed.toFixed(2) : "–"}</td>
            <td class="number">{seconds(Math.round(agent.age * 10) / 10)}</td>
        </tr>
    );
}

const columns: [string, string][] = [
    ["node", ""], ["host", ""], ["state", ""], ["cores", "tasks that run, of its cores"], ["ready", "tasks that could begin"], ["waiting", "tasks that wait for others"], ["done", ""], ["failed", ""],
    ["stolen / given", "tasks taken from others and given to them"], ["fetched / served", "data from and to others"], ["hits", "inputs that were there when a task wanted them"],
    ["data", "kept there"], ["load", "what others use of its machine"], ["speed", "of a core"], ["seen", "since it last said that it lives"],
];

function Agents({ status, run, node }: { status: Status; run: string; node: string }) {
    const shown = status.agents.filter((a) => !gone.has(a.state) || a.age < forgotten);
    const old = status.agents.length - shown.length;
    return (
        <section class="card agents" aria-label="agents">
            <h3>Agents</h3>
            {shown.length ? (
                <div class="scroll" tabIndex={0} role="region" aria-label="list of agents">
                    <table>
                        <thead>
                            <tr>{columns.map(([name, title]) => <th key={name} title={title || undefined}>{name}</th>)}</tr>
                        </thead>
                        <tbody>
                            {shown.map((agent) => <AgentRow key={`${agent.node}.${agent.life}`} agent={agent} status={status} run={run} chosen={node === String(agent.node)} />)}
                        </tbody>
                    </table>
                </div>
            ) : (
                <p class="note">No agent is there. `weft agent --store {status.store}` starts one, on each machine.</p>
            )}
            {old ? <p class="note">{plural(old, "agent")} that went long ago {old === 1 ? "is" : "are"} not shown.</p> : null}
        </section>
    );
}

/* What one agent has of each run, and what can be done with it. */
function OneAgent({ agent, status, about, of, said }: { agent: Agent; status: Status; about: About; of: string; said: (text: string) => void }) {
    const kept = status.kept.find((k) => k.node === agent.node), sum = totals(agent, "");
    const drain = (now: boolean) => tell<{ said: string }>("/api/cluster/drain", { node: agent.node, now, of: Number(of) || 0 }).then((answer) => said(`Node ${agent.node}: ${answer.said}.`), (error: Error) => said(error.message));
    return (
        <section class="card one" aria-label={`agent ${agent.node}`}>
            <header>
                <h3>Node {agent.node} · {agent.host ?? "unknown"}</h3>
                {about.read_only || gone.has(agent.state) ? null : (
                    <span class="buttons">
                        {agent.state === "leaving" ? null : <button type="button" onClick={() => drain(false)}>Drain</button>}
                        <Sure question={sum.running ? `End ${plural(sum.running, "task")} here? They begin again elsewhere.` : "It leaves at once."} act={() => drain(true)}>Remove</Sure>
                    </span>
                )}
                <button type="button" onClick={() => go({ node: "" })}>Close</button>
            </header>
            {agent.aside ? <p class="problem">Set aside: {agent.aside}</p> : null}
            <dl class="facts">
                <div><dt>address</dt><dd>{agent.address ?? "–"}</dd></div>
                <div><dt>process</dt><dd>{agent.pid}</dd></div>
                <div><dt>since</dt><dd>{agent.started ? moment(agent.started) : "–"}</dd></div>
                <div><dt>memory</dt><dd>{bytes(agent.memory)}</dd></div>
                <div><dt>weft</dt><dd>{agent.version ?? "–"}</dd></div>
                {kept?.runs ? <div><dt>results that wait</dt><dd>{plural(kept.runs, "run")}, {bytes(kept.bytes)} of at most {bytes(kept.bytes_most)}, for {seconds(kept.seconds)}</dd></div> : null}
            </dl>
            {agent.runs.length ? (
                <div class="scroll" tabIndex={0} role="region" aria-label={`runs of agent ${agent.node}`}>
                    <table>
                        <thead>
                            <tr>
                                {["run", "policy", "waits for data", "runs", "fetches", "local", "shared", "waits", "steals (in vain)", "pushed", "computed again", "fetched", "served", "hits", "dropped", "busy"].map((name) => <th key={name}>{name}</th>)}
                            </tr>
                        </thead>
                        <tbody>
                            {agent.runs.map((w) => (
                                <tr key={w.run}>
                                    <td class="number">{w.run}</td>
                                    <td>{w.policy}</td>
                                    <td class="number">{seconds(w.tt)}</td>
                                    <td class="number">{w.running}</td>
                                    <td class="number">{w.fetching}</td>
                                    <td class="number">{w.local}</td>
                                    <td class="number">{w.shared}</td>
                                    <td class="number">{w.waiting}</td>
                                    <td class="number">{w.steals} ({w.failed_steals})</td>
                                    <td class="number">{w.pushed}</td>
                                    <td class="number">{w.recomputed}</td>
                                    <td class="number">{w.fetched}, {bytes(w.fetched_bytes)}</td>
                                    <td class="number">{w.served}, {bytes(w.served_bytes)}</td>
                                    <td class="number">{percent(w.hits, w.hits + w.misses)}</td>
                                    <td class="number">{w.dropped}</td>
                                    <td class="number">{seconds(w.busy)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            ) : (
                <p class="note">It has a part in no run.</p>
            )}
        </section>
    );
}

/* How it ended, where that is known: that says more than that it did. */
function runWord(run: ClusterRun): string {
    if (run.state === "cancelled") return "cancelling";
    if (run.state !== "ended" || run.done === null || !run.proved) return run.state;
    if (run.failed && !run.removed) return "ended";
    return run.failed ? "failed" : run.done < (run.tasks ?? 0) ? "cancelled" : "done";
}

function Runs({ status, about, of, said }: { status: Status; about: About; of: string; said: (text: string) => void }) {
    const { only = "" } = address.value.values;
    const cancel = (run: number) => tell("/api/cluster/cancel", { run, of: Number(of) || 0 }).then(() => said(`Run ${run} is being ended. \`weft attach ${run}\` brings what it made so far.`), (error: Error) => said(error.message));
    const policies = (run: number) => [...new Set(status.agents.flatMap((a) => a.runs.filter((w) => w.run === run).map((w) => w.policy)))].join(", ");
    return (
        <section class="card runs" aria-label="runs of the cluster">
            <h3>Runs</h3>
            {status.runs.length ? (
                <div class="scroll" tabIndex={0} role="region" aria-label="list of the cluster's runs">
                    <table>
                        <thead>
                            <tr>{["run", "workflow", "state", "tasks", "failed", "policy", "begun", "from", ""].map((name) => <th key={name}>{name || <span class="unseen">what can be done</span>}</th>)}</tr>
                        </thead>
                        <tbody>
                            {status.runs.map((run) => {
                                const word = runWord(run), over = (run.done ?? 0) + (run.failed ?? 0);
                                return (
                                    <tr key={run.run} class={only === String(run.run) ? "chosen" : ""}>
                                        <td class="number">
                                            <button type="button" class="plain" aria-pressed={only === String(run.run)} title="only this run in the table of agents" onClick={() => go({ only: only === String(run.run) ? "" : String(run.run) })}>{run.run}</button>
                                        </td>
                                        <td>{run.workflow ?? "unknown"}</td>
                                        <td class={`run-state ${word}`}>{word === "failed" ? "✕" : runSigns[run.state] ?? "?"} {word}</td>
                                        <td class="number">
                                            {run.tasks !== null ? <Share part={over} whole={run.tasks} label={`${over} of ${run.tasks} tasks over`} /> : null} {run.done ?? "?"} of {run.tasks ?? "?"}
                                            {run.proved || run.done === null ? "" : " *"}
                                        </td>
                                        <td class={run.failed ? "number bad" : "number"}>{run.failed ? `✕ ${run.failed}` : run.failed ?? "?"}</td>
                                        <td>{policies(run.run)}</td>
                                        <td>{moment(run.created)}</td>
                                        <td>{run.host}{run.folder ? `:${run.folder}` : ""}</td>
                                        <td>{about.read_only || (run.state !== "running" && run.state !== "stopping") ? null : <Sure question="End it now?" act={() => cancel(run.run)}>Cancel</Sure>}</td>
                                    </tr>
                                );
                            })}
                        </tbody>
                    </table>
                </div>
            ) : (
                <p class="note">No run yet. `weft submit FLOW` hands one in, and so does the Run view with *cluster*.</p>
            )}
            {status.runs.some((run) => run.done !== null && !run.proved) ? <p class="note">* as the store says; `weft status RUN` verifies each end.</p> : null}
        </section>
    );
}

/* The last minutes, one look a second: kept by the page, so that looking costs the cluster nothing more. */
const minutes = 3 * 60;
type Moment = { at: number; running: number; ready: number; moved: number };
function useMoments(status: Status | null): Moment[] {
    const kept = useRef<{ store: string; list: Moment[] }>({ store: "", list: [] }).current;
    if (status && kept.store !== status.store) Object.assign(kept, { store: status.store, list: [] });
    if (status && kept.list[kept.list.length - 1]?.at !== status.now) {
        const sums = status.agents.map((a) => totals(a, ""));
        const add = (key: keyof Totals) => sums.reduce((sum, t) => sum + t[key], 0);
        kept.list = [...kept.list.slice(1 - minutes), { at: status.now, running: add("running"), ready: add("ready"), moved: add("fetched_bytes") }];
    }
    return kept.list;
}

function Curves({ list, cores }: { list: Moment[]; cores: number }) {
    if (list.length < 2) return null;
    const last = list[list.length - 1], span = seconds(Math.round(last.at - list[0].at));
    const rate = list.slice(1).map((m, i) => Math.max(0, m.moved - list[i].moved) / Math.max(1e-3, m.at - list[i].at));
    return (
        <div class="curves">
            <Curve label="cores at work" values={list.map((m) => m.running)} most={cores} end={0} seen={null} text={`${last.running} of ${cores}, last ${span}`} />
            <Curve label="tasks ready" values={list.map((m) => m.ready)} most={0} end={0} seen={null} text={`${last.ready}, at most ${Math.max(...list.map((m) => m.ready))}`} />
            <Curve label="data between agents" values={rate} most={0} end={0} seen={null} text={`${bytes(rate[rate.length - 1])}/s, at most ${bytes(Math.max(...rate))}/s`} />
        </div>
    );
}

function Headline({ status }: { status: Status }) {
    const lives = status.agents.filter((a) => !gone.has(a.state) && a.state !== "silent");
    const count = (state: string) => status.agents.filter((a) => a.state === state && (!gone.has(state) || a.age < forgotten)).length;
    const sums = lives.map((a) => totals(a, ""));
    const add = (key: keyof Totals) => sums.reduce((sum, t) => sum + t[key], 0);
    const cores = lives.reduce((sum, a) => sum + a.cores, 0);
    return (
        <p class="headline">
            {plural(count("up"), "agent")} up
            {["leaving", "aside", "silent", "dead", "left"].map((state) => (count(state) ? <span key={state} class={`agent-state ${state}`}>, {count(state)} {state}</span> : null))}
            {" · "}
            {plural(add("running"), "task")} on {plural(cores, "core")}, {add("ready")} ready, {add("waiting")} waiting
        </p>
    );
}

function useStatus(of: string): { status: Status | null; none: boolean; problem: string; again: () => void } {
    const none = useSignal(false); /* no cluster is named */
    const status = useSignal<Status | null>(null);
    const problem = useSignal("");
    const look = useRef(() => {});
    useEffect(() => {
        let current = true, timer = 0, asking = false;
        look.current = async () => {
            clearTimeout(timer);
            if (asking) return;
            asking = true;
            try {
                const found = await ask<Status | { none: true }>("/api/cluster", { run: of });
                if (current) (none.value = "none" in found), (status.value = "none" in found ? null : found), (problem.value = "");
            } catch (error) {
                if (current) (problem.value = (error as Error).message);
            }
            asking = false;
            if (current) timer = window.setTimeout(look.current, document.hidden ? 15000 : problem.value || none.value ? 3000 : 1000);
        };
        status.value = null;
        look.current();
        const seen = () => look.current();
        document.addEventListener("visibilitychange", seen);
        return () => {
            current = false;
            clearTimeout(timer);
            document.removeEventListener("visibilitychange", seen);
        };
    }, [of]);
    return { status: status.value, none: none.value, problem: problem.value, again: () => look.current() };
}

export function Cluster({ about }: { about: About }) {
    const { of = "", node = "", only = "" } = address.value.values;
    const { status, none, problem, again } = useStatus(of);
    const noted = useSignal<number[]>([]);
    const said = useSignal("");
    const list = useMoments(status);
    useEffect(() => void ask<number[]>("/api/cluster/noted").then((found) => (noted.value = found), () => {}), [changes.value]);
    const agent = status?.agents.find((a) => String(a.node) === node);
    const cores = status ? status.agents.filter((a) => !gone.has(a.state)).reduce((sum, a) => sum + a.cores, 0) : 0;
    const tellAndLook = (text: string) => ((said.value = text), again());
    return (
        <main tabIndex={-1} class="cluster-view">
            <section class="card top" aria-label="cluster">
                <header>
                    <h2>Cluster{status ? ` · ${status.store}` : ""}</h2>
                    {noted.value.length ? (
                        <label>
                            Which{" "}
                            <select value={of} onChange={(event) => go({ of: (event.target as HTMLSelectElement).value, node: "", only: "" })}>
                                <option value="">that of this machine</option>
                                {noted.value.map((run) => <option key={run} value={String(run)}>agents of run {run} of this folder</option>)}
                            </select>
                        </label>
                    ) : null}
                </header>
                {status ? <Headline status={status} /> : null}
                {problem ? (
                    <div class="problem" role="alert">
                        <p>{problem}</p>
                    </div>
                ) : null}
                {!status && problem ? <p class="note">This view shows the cluster of $WEFT_STORE and $WEFT_KEY, as `weft status` does in the terminal in which `weft ui` was started.</p> : null}
                {none ? (
                    <>
                        <p>No cluster is named here.</p>
                        {noted.value.map((run) => <p key={run}><a href={link("cluster", { of: String(run) })}>Agents of run {run} of this folder</a></p>)}
                        <p class="note">
                            A run with <code>local:2</code>, <code>ssh:a,b</code> or <code>slurm</code> as its place has agents of its own: choose it here while it goes on. For a cluster that stays, start agents (<code>weft agent</code>), and this page in a terminal with its $WEFT_STORE and $WEFT_KEY.
                        </p>
                    </>
                ) : null}
                {!status && !problem && !none ? <p role="status">Looking …</p> : null}
                {status?.store_trouble ? <p class="problem" role="alert">{status.store_trouble}</p> : null}
                {status?.waits.map((wait) => <p key={wait} class="waits">◐ {wait}</p>)}
                <p role="status" class="said">{said.value}</p>
                <Curves list={list} cores={cores} />
            </section>
            {status ? <Agents status={status} run={only} node={node} /> : null}
            {status && agent ? <OneAgent key={`${agent.node}.${agent.life}`} agent={agent} status={status} about={about} of={of} said={tellAndLook} /> : null}
            {status ? <Runs status={status} about={about} of={of} said={tellAndLook} /> : null}
        </main>
    );
}
