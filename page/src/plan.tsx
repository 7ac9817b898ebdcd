/* The Plan view: planners side by side, their plans in time, memory by node, constraints and who keeps them, the front of streams,
 * orders by their eligible tasks, and virtual time as a film. Everything is asked of the server by what stands in the address. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, go } from "./address";
import { Chart, number, type Series } from "./chart";
import { kindFill } from "./colours";
import { type Part, Parts, type Placements, type PlanNode, Schedule, type Transfer } from "./schedule";
import { type FolderFile, ask } from "./server";
import { bytes, plural, seconds, tick } from "./words";

type Planner = { name: string; family: string; summary: string; paper: string | null; guarantee: string | null; stream: boolean };
type Row = { planner: string; makespan: number | null; speedup: number | null; efficiency: number | null; seconds: number; nodes_used: number; valid: boolean; failure: string | null };
type Shape = {
    kind: "static" | "partition" | "stream" | "order";
    planner: string | null;
    planning_seconds: number | null;
    workflow: string;
    tasks: number;
    objectives: { name: string; value: number | null }[];
    notes: string[];
    kinds: { name: string | null; tasks: number }[];
    nodes: PlanNode[];
    placements?: Placements;
    transfers?: Transfer[];
    memory?: { node: number; limit: number | null; bytes: number[] }[];
    parts?: Part[];
    clusters?: { tasks: string[]; duplicates: string[]; nodes: number[] }[];
    eligible?: number[];
    order?: string[];
    verdict?: string | null;
    proof?: string | null;
    left_out: number;
};
type Plan = Shape & {
    constraints?: { text: string; requirement: boolean; wish: boolean; held: boolean; measure: number | null }[];
    constraints_problem?: string;
    simulated?: Shape & { figures?: Record<string, number | null>; problem?: string };
};
type Front = { points: { throughput: number; latency: number; processors: number; pipelined: boolean }[] };

function endOf(plan: Shape): number {
    if (plan.placements) return plan.placements.finish.reduce((a, b) => Math.max(a, b), 0);
    return (plan.parts ?? []).reduce((a, part) => Math.max(a, part.finish), 0);
}

/* What was asked, and what came; a newer question forgets the older one's answer. */
function useAnswer<T>(path: string, values: Record<string, string>, wanted: boolean): { value: Signal<T | null>; problem: Signal<string>; busy: Signal<boolean> } {
    const value = useSignal<T | null>(null), problem = useSignal(""), busy = useSignal(false);
    useEffect(() => {
        value.value = null;
        problem.value = "";
        if (!wanted) return;
        let current = true;
        busy.value = true;
        ask<T>(path, values).then(
            (found) => current && ((value.value = found), (busy.value = false)),
            (error: Error) => current && ((problem.value = error.message), (busy.value = false)),
        );
        return () => void (current = false);
    }, [path, JSON.stringify(values), wanted]);
    return { value, problem, busy };
}

function Question({ planners, files }: { planners: Planner[]; files: FolderFile[] }) {
    const { flow = "", on = "", with: chosen = "", simulate = "" } = address.value.values;
    const submit = (event: Event) => {
        event.preventDefault();
        const form = new FormData(event.target as HTMLFormElement);
        go({ flow: String(form.get("flow")), on: String(form.get("on")), with: form.getAll("with").map(String).filter(Boolean).join(","), simulate: form.get("simulate") ? "1" : "", front: "" });
    };
    const list = chosen.split(",").filter(Boolean);
    return (
        <form class="search card" onSubmit={submit}>
            <label>
                Workflow <input name="flow" required list="flows" size={28} key={flow} defaultValue={flow} placeholder="a file of the folder" />
            </label>
            <datalist id="flows">{files.filter((file) => file.sort === "workflow").map((file) => <option value={file.path} />)}</datalist>
            <label>
                on <input name="on" list="platforms" size={28} key={on} defaultValue={on} placeholder="this machine" />
            </label>
            <datalist id="platforms">
                <option value="this-machine" />
                <option value="4">4 nodes, 1 byte a second between them</option>
                <option value="homogeneous:n=4,bandwidth=100M">4 nodes, 100 MB a second between them</option>
                {files.filter((file) => file.sort === "platform").map((file) => <option value={file.path} />)}
            </datalist>
            {[0, 1].map((i) => (
                <label>
                    {i ? "beside" : "with"}{" "}
                    <select name="with" key={list[i] ?? ""} defaultValue={list[i] ?? ""}>
                        <option value="">{i ? "nobody" : "what suits"}</option>
                        {planners.map((planner) => (
                            <option value={planner.name} selected={list[i] === planner.name} title={planner.summary}>
                                {planner.name} ({planner.family})
                            </option>
                        ))}
                    </select>
                </label>
            ))}
            <label>
                <input type="checkbox" name="simulate" key={simulate} defaultChecked={simulate !== ""} /> in virtual time
            </label>
            <button type="submit">Plan</button>
            {/^\d+$/.test(on) ? <p class="note">A number alone is so many nodes with 1 byte a second between them, as in papers. With sizes in bytes say more: homogeneous:n={on},bandwidth=100M, or a platform's file.</p> : null}
        </form>
    );
}

function Side({ flow, on, chosen }: { flow: string; on: string; chosen: string[] }) {
    const wanted = useSignal(false);
    const { value: rows, problem, busy } = useAnswer<Row[]>("/api/plan/compare", { flow, on }, wanted.value && flow !== "");
    const best = rows.value?.find((row) => row.makespan !== null)?.makespan ?? null;
    const worst = rows.value?.reduce((most, row) => Math.max(most, row.makespan ?? 0), 0) ?? 0;
    return (
        <section class="card side" aria-label="planners side by side">
            <h2>Planners side by side</h2>
            {rows.value ? null : (
                <button type="button" disabled={busy.value} onClick={() => (wanted.value = true)}>
                    {busy.value ? "Planning …" : "Compare all that suit"}
                </button>
            )}
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
            {rows.value ? (
                <table>
                    <caption>{rows.value.length} planners, best first</caption>
                    <thead>
                        <tr><th>planner</th><th>makespan</th><th><span class="unseen">as a bar</span></th><th>nodes</th><th>planned in</th></tr>
                    </thead>
                    <tbody>
                        {rows.value.map((row) => (
                            <tr class={chosen.includes(row.planner) ? "chosen" : ""}>
                                <td>
                                    <a href={`#plan?flow=${encodeURIComponent(flow)}&on=${encodeURIComponent(on)}&with=${row.planner}`} onClick={(event) => { event.preventDefault(); go({ with: [...new Set([chosen[0] ?? row.planner, row.planner])].slice(0, 2).join(",") }); }}>{row.planner}</a>
                                    {row.makespan !== null && row.makespan === best ? <> <span class="mark good">best</span></> : null}
                                </td>
                                <td class="number">{row.failure ? <span class="soft" title={row.failure}>no plan</span> : seconds(row.makespan)}</td>
                                <td><svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={row.makespan && worst ? (100 * row.makespan) / worst : 0} height="10" /></svg></td>
                                <td class="number">{row.failure ? "" : row.nodes_used}</td>
                                <td class="number">{seconds(row.seconds)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            ) : null}
        </section>
    );
}

function Constraints({ plan }: { plan: Plan }) {
    if (plan.constraints_problem) return <p role="alert" class="problem">{plan.constraints_problem}</p>;
    if (!plan.constraints?.length) return null;
    return (
        <section aria-label={`constraints and ${plan.planner}`}>
            <h3>Constraints</h3>
            <ul class="constraints">
                {plan.constraints.map((one) => (
                    <li>
                        <span class={`state ${one.held ? "done" : one.requirement ? "failed" : "cancelled"}`}>
                            {one.held ? "● kept" : one.requirement ? "✕ broken" : one.wish ? "○ open" : "◐ measured"}
                        </span>{" "}
                        <small class="soft">{one.requirement ? "requirement" : "preference"}{one.measure === null ? "" : one.requirement || one.wish ? `, ${number(one.measure)} tests fail` : `, ${number(one.measure)}`}</small>
                        <code>{one.text.replace(/^\/\S*\//, "") /* the file by its name alone */}</code>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function Memory({ shape, end, cursor }: { shape: Shape; end: number; cursor?: number }) {
    const open = useSignal(false);
    if (!shape.memory?.length) return null;
    const shown = open.value ? shape.memory : shape.memory.slice(0, 4);
    return (
        <section aria-label={`memory by node, ${shape.planner ?? "simulated"}`}>
            <h3>Memory by node: what runs at the same time, added up</h3>
            <div class="two">
                {shown.map((row) => {
                    const points = row.bytes.map((value, i): [number, number] => [(end * i) / row.bytes.length, value]);
                    const most = Math.max(...row.bytes), near = row.limit !== null && row.limit < 5 * most;
                    return (
                        <div>
                            <h4>{shape.nodes[row.node].name}: at most {bytes(most)}{row.limit === null ? "" : ` of ${bytes(row.limit)}`}</h4>
                            <Chart label={`memory of ${shape.nodes[row.node].name} over time`} xTitle="time" yTitle="memory" x={tick} y={bytes} limit={near ? row.limit! : undefined} cursor={cursor} height={170} series={[{ name: "memory", as: "step", points }]} />
                        </div>
                    );
                })}
            </div>
            {shape.memory.length > 4 ? <button type="button" onClick={() => (open.value = !open.value)}>{open.value ? "Fewer" : `All ${shape.memory.length} nodes`}</button> : null}
        </section>
    );
}

/* The machines at one moment: a cell a core, filled while a task runs there; what travels; how far it is. */
function Moment({ shape, at }: { shape: Shape; at: number }) {
    const p = shape.placements!;
    const now = useMemo(() => {
        const cells = new Map<number, { name: string; colour: number }[]>();
        let done = 0, running = 0;
        for (let i = 0; i < p.start.length; i++) {
            if (p.finish[i] <= at) done++;
            else if (p.start[i] <= at) {
                running++;
                const list = cells.get(p.node[i]) ?? [];
                for (let c = 0; c < p.cores[i]; c++) list[p.core[i] + c] = { name: p.name[i], colour: p.colour[i] };
                cells.set(p.node[i], list);
            }
        }
        return { cells, done, running };
    }, [p, at]);
    const travelling = (shape.transfers ?? []).filter((t) => t.start <= at && at < t.finish);
    const used = shape.nodes.map((node, i) => ({ node, i })).filter(({ node }) => node.used), nodes = used.slice(0, 64);
    return (
        <div class="moment" aria-live="off">
            <p>
                at {seconds(at)}: {now.done} of {p.start.length} done, {now.running} running, {travelling.length} {travelling.length === 1 ? "transfer" : "transfers"}
            </p>
            <div class="machines">
                {nodes.map(({ node, i }) => (
                    <div class="machine">
                        <b>{node.name}</b>
                        <svg viewBox={`0 0 ${Math.min(node.cores, 16) * 20} ${Math.ceil(node.cores / 16) * 20}`} aria-hidden="true">
                            {Array.from({ length: node.cores }, (_, core) => {
                                const task = now.cells.get(i)?.[core];
                                return (
                                    <rect x={(core % 16) * 20 + 1} y={Math.floor(core / 16) * 20 + 1} width="18" height="18" rx="3" class={task ? "" : "idle"} fill={task ? kindFill(task.colour) : "none"}>
                                        <title>{task ? task.name : "idle"}</title>
                                    </rect>
                                );
                            })}
                        </svg>
                        <small>{now.cells.get(i)?.find(Boolean)?.name ?? "idle"}</small>
                    </div>
                ))}
            </div>
            {used.length > nodes.length ? <p class="soft">and {used.length - nodes.length} more nodes, which the pictures below show.</p> : null}
            {travelling.length ? (
                <p class="soft">
                    {travelling.slice(0, 6).map((t) => `${t.object} (${bytes(t.bytes)}): ${shape.nodes[t.from].name} → ${shape.nodes[t.to].name}`).join("; ")}
                    {travelling.length > 6 ? ` and ${travelling.length - 6} more` : ""}
                </p>
            ) : null}
        </div>
    );
}

function Film({ shape, end, at }: { shape: Shape; end: number; at: Signal<number> }) {
    const playing = useSignal(false);
    useEffect(() => {
        if (!playing.value) return;
        /* the whole of it in about twelve seconds; by steps where motion is not wanted */
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        const timer = setInterval(() => {
            const next = at.value + end / (still ? 12 : 240);
            at.value = Math.min(next, end);
            if (next >= end) playing.value = false;
        }, still ? 1000 : 50);
        return () => clearInterval(timer);
    }, [playing.value, end]);
    return (
        <section class="film" aria-label="virtual time as a film">
            <h2>Virtual time</h2>
            <div class="reel">
                <button type="button" onClick={() => { if (at.value >= end) at.value = 0; playing.value = !playing.value; }}>{playing.value ? "❚❚ Pause" : "▶ Play"}</button>
                <input type="range" min="0" max="1000" value={Math.round((1000 * at.value) / (end || 1))} aria-label="moment" aria-valuetext={seconds(at.value)} onInput={(event) => { playing.value = false; at.value = (Number((event.target as HTMLInputElement).value) / 1000) * end; }} />
                <span class="number">{seconds(at.value)}</span>
            </div>
            <Moment shape={shape} at={at.value} />
        </section>
    );
}

function Kinds({ shape }: { shape: Shape }) {
    const named = shape.kinds.map((kind, i) => ({ ...kind, i })).filter((kind) => kind.tasks > 0 && kind.name);
    if (named.length < 2) return null;
    return (
        <p class="kinds">
            {named.map((kind) => (
                <span>
                    <svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill={kindFill(kind.i)} /></svg> {kind.name} ({kind.tasks})
                </span>
            ))}
        </p>
    );
}

function Body({ shape, end, cursor }: { shape: Shape; end: number; cursor?: number }) {
    const who = shape.planner ?? "the plan";
    if (shape.placements)
        return <Schedule label={`Gantt chart by ${who}: ${shape.placements.start.length} tasks in ${seconds(endOf(shape))}`} nodes={shape.nodes} placements={shape.placements} transfers={shape.transfers} end={end} cursor={cursor} />;
    if (shape.parts) return (
        <>
            <Parts label={`parts of the tree by ${who}`} nodes={shape.nodes} parts={shape.parts} end={end} />
            <table>
                <caption>{shape.parts.length} {shape.parts.length === 1 ? "part" : "parts"}</caption>
                <thead><tr><th>root</th><th>node</th><th>tasks</th><th>memory</th><th>node has</th><th>from</th><th>to</th></tr></thead>
                <tbody>{shape.parts.slice(0, 50).map((part) => (
                    <tr><td>{part.root}</td><td>{shape.nodes[part.node]?.name}</td><td class="number">{part.tasks}</td><td class="number">{bytes(part.memory)}</td><td class="number">{bytes(shape.nodes[part.node]?.memory ?? null)}</td><td class="number">{seconds(part.arrived)}</td><td class="number">{seconds(part.finish)}</td></tr>
                ))}</tbody>
            </table>
            {shape.parts.length > 50 ? <p class="soft">and {shape.parts.length - 50} more; all are in the picture.</p> : null}
        </>
    );
    if (shape.clusters) return (
        <>
        <table>
            <caption>{shape.clusters.length} {shape.clusters.length === 1 ? "cluster" : "clusters"} of the stream</caption>
            <thead><tr><th>tasks</th><th>duplicates</th><th>nodes</th></tr></thead>
            <tbody>{shape.clusters.slice(0, 100).map((cluster) => (
                <tr><td class="names">{cluster.tasks.join(" ")}</td><td class="names">{cluster.duplicates.join(" ")}</td><td class="names">{cluster.nodes.map((n) => shape.nodes[n]?.name).join(" ")}</td></tr>
            ))}</tbody>
        </table>
        {shape.clusters.length > 100 ? <p class="soft">and {shape.clusters.length - 100} more: <code>weft plan --json</code> has all.</p> : null}
        </>
    );
    return null;
}

function One({ plan, at, most }: { plan: Plan; at: Signal<number>; most: number }) {
    const shape: Shape = plan.simulated?.placements ? plan.simulated : plan;
    const end = endOf(shape), promised = endOf(plan);
    return (
        <article class="card plan">
            <header>
                <h2>{plan.planner}</h2>
                <dl class="facts">
                    {plan.objectives.map((o) => <div><dt>{o.name.replaceAll("_", " ")}</dt><dd>{o.value === null ? "–" : o.name === "makespan" || o.name.includes("latency") || (o.name === "lower_bound" && plan.objectives.some((m) => m.name === "makespan")) ? seconds(o.value) : o.name === "written" ? bytes(o.value) : o.name === "throughput" ? `${number(o.value)} items/s` : number(o.value)}</dd></div>)}
                    <div><dt>planned in</dt><dd>{seconds(plan.planning_seconds)}</dd></div>
                    {plan.verdict ? <div><dt>order</dt><dd>{verdicts[plan.verdict] ?? plan.verdict}</dd></div> : null}
                </dl>
            </header>
            {plan.simulated?.problem ? <p role="alert" class="problem">{plan.simulated.problem}</p> : null}
            {plan.simulated?.figures ? <p>In virtual time: {plan.simulated.placements ? `${seconds(end)} (planned ${seconds(promised)})` : Object.entries(plan.simulated.figures).slice(0, 4).map(([name, value]) => `${name.replaceAll("_", " ")} ${value === null ? "–" : number(value)}`).join(", ")}</p> : null}
            <Kinds shape={shape} />
            <Body shape={shape} end={Math.max(end, most)} cursor={shape.placements && at.value > 0 ? at.value : undefined} />
            {plan.left_out ? <p class="soft">{plan.left_out} more are not shown.</p> : null}
            {plan.proof ? <p class="soft">{plan.proof}</p> : null}
            <Constraints plan={plan} />
            {plan.notes.length ? (
                <details open={plan.notes.length === 1}>
                    <summary>What the planner says ({plan.notes.length})</summary>
                    <ul class="soft">{plan.notes.map((note) => <li>{note}</li>)}</ul>
                </details>
            ) : null}
            <Memory shape={shape} end={end} cursor={at.value > 0 ? at.value : undefined} />
        </article>
    );
}

/* Orders are judged by how many tasks are eligible after each step: all on one chart. */
function Eligible({ plans }: { plans: Plan[] }) {
    const orders = plans.filter((plan) => plan.eligible);
    if (!orders.length) return null;
    return (
        <section class="card" aria-label="eligible tasks">
            <h2>Eligible tasks after each step</h2>
            <Chart label="eligible tasks by executed tasks" xTitle="tasks executed" yTitle="tasks eligible" height={280} series={orders.map((plan) => ({ name: plan.planner ?? "plan", as: "step", points: plan.eligible!.map((value, i): [number, number] => [i, value]) }))} />
        </section>
    );
}

/* What is known of an order, in words; in files and tables it has a name. */
const verdicts: Record<string, string> = { IC_PROVED: "as many eligible tasks as possible after each step, proved", IC_NONE: "no order has the most eligible tasks after each step", AREA_PROVED: "of the largest area, proved" };

/* Who is on the front of the two stands on a line; the others pay for fewer processors. */
function frontSeries(points: Front["points"]): Series[] {
    const beaten = (p: Front["points"][number]) => points.some((q) => q.throughput >= p.throughput && q.latency <= p.latency && (q.throughput > p.throughput || q.latency < p.latency));
    const series = (name: string, as: Series["as"], of: Front["points"]): Series => ({ name, as, points: of.map((p) => [p.throughput, p.latency]), marks: of.map((p) => `${number(p.throughput)} items a second, latency ${seconds(p.latency)}, ${plural(p.processors, "processor")}`) });
    const front = series("the front", "line", points.filter((p) => !beaten(p))), others = series("with fewer processors", "points", points.filter(beaten));
    return others.points.length ? [front, others] : [front];
}

function FrontOf({ flow, on, planner }: { flow: string; on: string; planner: string }) {
    const wanted = useSignal(false);
    const { value: front, problem, busy } = useAnswer<Front>("/api/plan/front", { flow, on, with: planner }, wanted.value);
    return (
        <section class="card" aria-label="front of throughput and latency">
            <h2>Throughput and latency</h2>
            {front.value ? (
                <Chart label="front of throughput and latency" xTitle="items a second" yTitle="latency" y={seconds} height={280} series={frontSeries(front.value.points)} />
            ) : (
                <button type="button" disabled={busy.value} onClick={() => (wanted.value = true)}>{busy.value ? "Planning …" : "Every trade-off of the two"}</button>
            )}
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
        </section>
    );
}

export function Plans() {
    const { flow = "", on = "", with: chosen = "", simulate = "" } = address.value.values;
    const planners = useAnswer<Planner[]>("/api/plan/planners", {}, true), files = useAnswer<FolderFile[]>("/api/files", {}, true);
    const names = chosen.split(",").filter(Boolean), at = useSignal(0);
    const first = useAnswer<Plan>("/api/plan", { flow, on, with: names[0] ?? "", simulate }, flow !== "");
    const second = useAnswer<Plan>("/api/plan", { flow, on, with: names[1] ?? "", simulate }, flow !== "" && names.length > 1);
    const plans = [first, second].map((answer) => answer.value.value).filter((plan) => plan !== null) as Plan[];
    const leading = plans.map((plan) => (plan.simulated?.placements ? plan.simulated : plan)).filter((shape) => shape.placements);
    const end = leading.reduce((most, shape) => Math.max(most, endOf(shape)), 0);
    const stream = plans.find((plan) => plan.kind === "stream");
    return (
        <main tabIndex={-1} class="sheet plans">
            <Question planners={planners.value.value ?? []} files={files.value.value ?? []} />
            {flow === "" ? <p class="soft">Choose a workflow of the folder and what to plan it for.</p> : null}
            {[first, second].map((answer) => answer.problem.value ? <p role="alert" class="problem">{answer.problem.value}</p> : answer.busy.value ? <p role="status">Planning …</p> : null)}
            {leading[0] ? <section class="card"><Film shape={leading[0]} end={end} at={at} /></section> : null}
            <div class={plans.length > 1 ? "beside" : ""}>{plans.map((plan) => <One key={plan.planner} plan={plan} at={at} most={end} />)}</div>
            <Eligible plans={plans} />
            {stream ? <FrontOf flow={flow} on={on} planner={stream.planner === "mos" ? "mos" : "stream"} /> : null}
            {flow ? <Side flow={flow} on={on} chosen={plans.map((plan) => plan.planner ?? "")} /> : null}
        </main>
    );
}
