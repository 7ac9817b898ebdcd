/* The Experiments view: every combination of an experiment as a grid with its state, what they gave as a table and plots, pictures
 * side by side; the best is marked, a row goes to the workbench as a workflow of its own. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, go, goTo, link } from "./address";
import { Chart, number } from "./chart";
import { Result } from "./result";
import { type About, type FolderFile, ask, changes, heard, tell } from "./server";
import { views } from "./views";
import { plural, seconds } from "./words";

type Row = { label: string; choices: (string | null)[]; results: string[]; there: number; values?: Record<string, string> };
type Experiment = {
    name: string;
    workflow: string;
    substitutions: { name: string; target: string; what: string; alternatives: string[] }[];
    combinations: number;
    tasks: number;
    tasks_without_reuse: number;
    tasks_remaining: number;
    makespan: number | null;
    rows: Row[];
};

const last = (path: string) => path.slice(path.lastIndexOf("/") + 1);
const choice = (row: Row, i: number) => row.choices[i] ?? "–";
const state = (row: Row) => (row.there === row.results.length ? "done" : row.there ? "running" : "lost");
const stateWord = (row: Row) => (row.there === row.results.length ? "● there" : row.there ? `◐ ${row.there} of ${row.results.length}` : "○ not yet");

/* Files that results are called, the same in every row. */
function namesOf(x: Experiment): string[] {
    return [...new Set(x.rows.flatMap((row) => row.results.map(last)))].slice(0, 30);
}

/* Names of values of which some are numbers, and all others. */
function columnsOf(x: Experiment): { name: string; numeric: boolean }[] {
    const names = [...new Set(x.rows.flatMap((row) => Object.keys(row.values ?? {})))];
    return names.map((name) => ({ name, numeric: x.rows.some((row) => row.values?.[name] !== undefined && row.values[name].trim() !== "" && Number.isFinite(Number(row.values[name]))) }));
}

function valueOf(row: Row, name: string): number {
    const text = row.values?.[name];
    return text === undefined || text.trim() === "" ? NaN : Number(text);
}

function useExperiment(file: string, values: string, again: number) {
    const found = useSignal<Experiment | null>(null), problem = useSignal("");
    const shown = useSignal("");
    useEffect(() => {
        if (shown.value !== file) found.value = null; /* another's rows are not this one's */
        shown.value = file;
        if (!file) return;
        let current = true;
        ask<Experiment>("/api/experiment", { file, values }).then(
            async (x) => {
                /* nobody has said which result has the figures: the first that has some */
                for (const name of values ? [] : namesOf(x).filter((n) => !/\.(png|jpe?g|gif|webp|svg|pgm|ppm|pnm|pbm|pdf|gz|zip)$/i.test(n)).slice(0, 6)) {
                    const tried = await ask<Experiment>("/api/experiment", { file, values: name }).catch(() => null);
                    if (tried && columnsOf(tried).some((column) => column.numeric && column.name !== name) && columnsOf(tried).length < 40) {
                        x = tried;
                        break;
                    }
                }
                if (current) (found.value = x), (problem.value = "");
            },
            (error: Error) => current && ((found.value = null), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [file, values, again]);
    return { found, problem };
}

/* One or two factors as a grid; further ones repeat it. */
function Grid({ x, best, pick }: { x: Experiment; best: number; pick: (row: number) => void }) {
    const [down, across] = x.substitutions.length > 1 ? [0, 1] : [0, -1];
    const columns = across < 0 ? [""] : [...new Set(x.rows.map((row) => choice(row, across)))];
    const groups = new Map<string, Map<string, number[]>>();
    x.rows.forEach((row, i) => {
        const rest = row.choices.slice(2).map((text, k) => `${x.substitutions[k + 2].name} ${text ?? "–"}`).join(", ");
        const lines = groups.get(rest) ?? new Map<string, number[]>();
        const cells = lines.get(choice(row, down)) ?? [];
        cells[across < 0 ? 0 : columns.indexOf(choice(row, across))] = i;
        lines.set(choice(row, down), cells);
        groups.set(rest, lines);
    });
    return (
        <div class="grids">
            {[...groups].slice(0, 24).map(([rest, lines]) => (
                <table class="grid">
                    {rest ? <caption>{rest}</caption> : null}
                    <thead>
                        <tr>
                            <th>{x.substitutions[down].name}{across < 0 ? "" : ` \\ ${x.substitutions[across].name}`}</th>
                            {columns.map((column) => <th>{column}</th>)}
                        </tr>
                    </thead>
                    <tbody>
                        {[...lines].map(([name, cells]) => (
                            <tr>
                                <th scope="row">{name}</th>
                                {columns.map((_, k) => cells[k] === undefined ? <td /> : (
                                    <td class={cells[k] === best ? "best" : ""}>
                                        <button type="button" class={`state ${state(x.rows[cells[k]])}`} title={x.rows[cells[k]].label} onClick={() => pick(cells[k])}>{stateWord(x.rows[cells[k]])}{cells[k] === best ? " ★" : ""}</button>
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            ))}
            {groups.size > 24 ? <p class="soft">and {groups.size - 24} more tables like these; the table of values has every combination.</p> : null}
        </div>
    );
}

function Values({ x, order, best, send, readOnly }: { x: Experiment; order: number[]; best: number; send: (row: number) => void; readOnly: boolean }) {
    const { sort = "", descending = "" } = address.value.values;
    const columns = columnsOf(x);
    const head = (name: string, label = name) => (
        <th aria-sort={sort === name ? (descending ? "descending" : "ascending") : "none"}>
            <button type="button" class="plain" onClick={() => go({ sort: name, descending: sort === name && !descending ? "1" : "" }, true)}>
                {label} {sort === name ? (descending ? "▼" : "▲") : ""}
            </button>
        </th>
    );
    return (
        <div class="wide">
            <table>
                <caption>{x.rows.length} combinations</caption>
                <thead>
                    <tr>
                        {x.substitutions.map((s, i) => head(`#${i}`, s.name))}
                        {columns.map((column) => head(column.name))}
                        <th>results</th>
                        <th><span class="unseen">actions</span></th>
                    </tr>
                </thead>
                <tbody>
                    {order.slice(0, 500).map((i) => (
                        <tr class={i === best ? "chosen" : ""} key={i} id={`row-${i}`}>
                            {x.rows[i].choices.map((text) => <td>{text ?? "–"}</td>)}
                            {columns.map((column) => <td class={column.numeric ? "number" : ""}>{x.rows[i].values?.[column.name] ?? "–"}</td>)}
                            <td class={`state ${state(x.rows[i])}`}>{stateWord(x.rows[i])}{i === best ? " ★ best" : ""}</td>
                            <td>{readOnly ? null : <button type="button" onClick={() => send(i)}>To the workbench</button>}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {order.length > 500 ? <p class="soft">and {order.length - 500} more</p> : null}
        </div>
    );
}

/* A value over one factor, a line for each choice of another; where further factors differ, the mean. */
function Plot({ x, pick }: { x: Experiment; pick: (row: number) => void }) {
    const numeric = columnsOf(x).filter((column) => column.numeric);
    const { value = numeric.find((c) => /^(f1|score|accuracy|merit|peak|value|mean)$/i.test(c.name))?.name ?? numeric[0]?.name ?? "", over = "", by = "" } = address.value.values;
    const factors = x.substitutions.map((s) => s.name);
    const most = factors.reduce((a, _, i) => (x.substitutions[i].alternatives.length > x.substitutions[a].alternatives.length ? i : a), 0);
    const overAt = Math.max(0, over ? factors.indexOf(over) : most), byAt = by === "-" ? -1 : by ? factors.indexOf(by) : factors.findIndex((_, i) => i !== overAt);
    const chart = useMemo(() => {
        const xs = [...new Set(x.rows.map((row) => choice(row, overAt)))];
        const numbers = xs.every((text) => text.trim() !== "" && Number.isFinite(Number(text)));
        const lines = new Map<string, Map<string, number[]>>();
        x.rows.forEach((row, i) => {
            if (!Number.isFinite(valueOf(row, value))) return;
            const name = byAt < 0 ? value : choice(row, byAt), line = lines.get(name) ?? new Map<string, number[]>();
            line.set(choice(row, overAt), [...(line.get(choice(row, overAt)) ?? []), i]);
            lines.set(name, line);
        });
        const rowsAt: number[][] = [];
        const series = [...lines].slice(0, 7).map(([name, line]) => {
            const points: [number, number][] = [], marks: string[] = [], rows: number[] = [];
            xs.forEach((text, k) => {
                const found = line.get(text);
                if (!found) return;
                const mean = found.reduce((sum, i) => sum + valueOf(x.rows[i], value), 0) / found.length;
                points.push([numbers ? Number(text) : k, mean]);
                marks.push(`${factors[overAt]} ${text}, ${name}: ${number(mean)}${found.length > 1 ? ` (mean of ${found.length})` : ""}`);
                rows.push(found[0]);
            });
            rowsAt.push(rows);
            return { name, points, marks, as: numbers ? ("line" as const) : ("points" as const) };
        });
        return { series, rowsAt, names: numbers ? undefined : xs };
    }, [x, value, overAt, byAt]);
    if (!numeric.length) return null;
    const select = (label: string, current: string, all: string[], set: (to: string) => void) => (
        <label>
            {label} <select value={current} onChange={(event) => set((event.target as HTMLSelectElement).value)}>{all.map((name) => <option value={name} selected={name === current}>{name === "-" ? "nothing" : name}</option>)}</select>
        </label>
    );
    return (
        <section class="card" aria-label="plot">
            <h2>Plot</h2>
            <div class="search">
                {select("of", value, numeric.map((c) => c.name), (to) => go({ value: to }, true))}
                {select("over", factors[overAt], factors, (to) => go({ over: to }, true))}
                {factors.length > 1 ? select("a line for each", byAt < 0 ? "-" : factors[byAt], ["-", ...factors.filter((_, i) => i !== overAt)], (to) => go({ by: to }, true)) : null}
            </div>
            <Chart label={`${value} over ${factors[overAt]}`} xTitle={factors[overAt]} yTitle={value} series={chart.series} names={chart.names} height={280} pick={(s, k) => pick(chart.rowsAt[s][k])} />
        </section>
    );
}

/* The same result of every combination, side by side. */
function Multiples({ x, folder, best, order }: { x: Experiment; folder: string; best: number; order: number[] }) {
    const names = namesOf(x);
    const { picture = names.find((name) => /\.(png|jpe?g|gif|webp|svg|pgm|ppm|pnm|pbm)$/i.test(name)) ?? names[0] ?? "" } = address.value.values;
    if (!names.length) return null;
    return (
        <section class="card" aria-label="results side by side">
            <h2>Side by side</h2>
            <label>
                result <select value={picture} onChange={(event) => go({ picture: (event.target as HTMLSelectElement).value }, true)}>{names.map((name) => <option value={name} selected={name === picture}>{name}</option>)}</select>
            </label>
            {names.includes(picture) ? null : <p role="alert" class="problem">There is no result '{picture}'.</p>}
            <div class="multiples">
                {order.slice(0, 60).map((i) => {
                    const row = x.rows[i], path = row.results.find((name) => last(name) === picture);
                    return path ? (
                        <figure class={i === best ? "best" : ""} key={`${row.label}${row.there}`}>
                            <Result path={folder + path} label={`${picture} of ${row.label}`} />
                            <figcaption>{row.choices.map((text) => text ?? "–").join(" · ")}{i === best ? " ★" : ""}</figcaption>
                        </figure>
                    ) : null;
                })}
            </div>
            {order.length > 60 ? <p class="soft">and {order.length - 60} more</p> : null}
        </section>
    );
}

export function Experiments({ about }: { about: About }) {
    const { file = "", values = "", sort = "", descending = "", value = "", least = "" } = address.value.values;
    const files = useSignal<FolderFile[]>([]), again = useSignal(0), said = useSignal("");
    useEffect(() => {
        ask<FolderFile[]>("/api/files").then((found) => {
            files.value = found.filter((one) => one.sort === "experiment");
            if (!file && files.value.length) go({ file: files.value[0].path }, true);
        });
        return heard("experiment", (data: { status: number }) => {
            again.value++;
            said.value = data.status === 0 ? "All of it is done." : `It ended with status ${data.status}; the Database tells why.`;
        });
    }, []);
    const { found, problem } = useExperiment(file, values, again.value + changes.value);
    const x = found.value;
    const goal = value || (x ? (columnsOf(x).find((c) => c.numeric && /^(f1|score|accuracy|merit|peak|value|mean)$/i.test(c.name)) ?? columnsOf(x).find((c) => c.numeric))?.name ?? "" : "");
    const best = useMemo(() => {
        if (!x || !goal) return -1;
        let at = -1;
        x.rows.forEach((row, i) => {
            const v = valueOf(row, goal);
            if (Number.isFinite(v) && (at < 0 || (least ? v < valueOf(x.rows[at], goal) : v > valueOf(x.rows[at], goal)))) at = i;
        });
        return at;
    }, [x, goal, least]);
    const order = useMemo(() => {
        const rows = x ? x.rows.map((_, i) => i) : [];
        if (!x || !sort) return rows;
        const text = (i: number) => (sort.startsWith("#") ? choice(x.rows[i], Number(sort.slice(1))) : (x.rows[i].values?.[sort] ?? ""));
        rows.sort((a, b) => {
            const p = Number(text(a)), q = Number(text(b));
            const order = Number.isFinite(p) && Number.isFinite(q) && text(a) !== "" && text(b) !== "" ? p - q : text(a).localeCompare(text(b));
            return descending ? -order : order;
        });
        return rows;
    }, [x, sort, descending]);
    const send = (row: number) =>
        void tell<{ flow: string }>("/api/experiment/open", { file, row }).then(({ flow }) => (views.some((view) => view.name === "workbench") ? goTo("workbench", { file: flow }) : (said.value = `It is ${flow} now.`)), (error: Error) => (said.value = error.message));
    const run = () =>
        void tell("/api/experiment/run", { file }).then(() => (said.value = "It runs; results appear as they come."), (error: Error) => (said.value = error.message));
    const show = (row: number) => document.getElementById(`row-${row}`)?.scrollIntoView({ block: "center" });
    return (
        <main tabIndex={-1} class="sheet experiments">
            <div class="search card">
                <label>
                    Experiment <select value={file} onChange={(event) => goTo("experiments", { file: (event.target as HTMLSelectElement).value })}>{files.value.some((one) => one.path === file) ? null : <option value="" selected>choose one</option>}{files.value.map((one) => <option value={one.path} selected={one.path === file}>{one.path}</option>)}</select>
                </label>
                {x ? (
                    <>
                        <label>
                            figures in <select value={values} onChange={(event) => go({ values: (event.target as HTMLSelectElement).value, value: "", sort: "" })}><option value="">what has some</option>{namesOf(x).map((name) => <option value={name} selected={name === values}>{name}</option>)}</select>
                        </label>
                        <label>
                            best is <select value={least} onChange={(event) => go({ least: (event.target as HTMLSelectElement).value }, true)}><option value="" selected={!least}>the most</option><option value="1" selected={least !== ""}>the least</option></select> {goal || "–"}
                        </label>
                        {about.read_only ? null : <button type="button" disabled={!x.tasks_remaining} onClick={run}>{x.tasks_remaining ? `Run ${x.tasks_remaining} of ${x.tasks} tasks` : "Everything is computed"}</button>}
                    </>
                ) : null}
                <span role="status">{said.value}</span>
            </div>
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
            {!files.value.length && !file ? <p class="soft">No experiment is in this folder. One is a file with `workflow:` and `substitute:` (docs/experiments.md).</p> : null}
            {x ? (
                <>
                    <section class="card" aria-label="combinations">
                        <h2>{x.name}</h2>
                        <p class="soft">
                            {plural(x.combinations, "combination")} of {x.substitutions.map((s) => `${s.name} (${s.target} ${s.what}: ${s.alternatives.length})`).join(", ")} in{" "}
                            <a href={link("plan", { flow: folderOf(file) + last(x.workflow) })}>{last(x.workflow)}</a>. {plural(x.tasks, "task")}{x.tasks === x.tasks_without_reuse ? "" : ` instead of ${x.tasks_without_reuse}`}
                            {x.makespan === null ? "" : `, about ${seconds(x.makespan)}`}.
                        </p>
                        <Grid x={x} best={best} pick={show} />
                    </section>
                    <section class="card" aria-label="values"><h2>Values</h2><Values x={x} order={order} best={best} send={send} readOnly={about.read_only} /></section>
                    <Plot x={x} pick={show} />
                    <Multiples x={x} folder={folderOf(file)} best={best} order={order} />
                </>
            ) : null}
        </main>
    );
}

function folderOf(path: string): string {
    return path.slice(0, path.lastIndexOf("/") + 1);
}
