/* The Database view: every run on record, found by what is known of it, and one of them beside. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, go, goTo, link } from "./address";
import { Name } from "./name";
import { type About, type Fact, type RunHead, ask, changes, tell } from "./server";
import { views } from "./views";
import { bytes, count, moment, plural, seconds, signs } from "./words";

/* "2d", "3h" or a day, here: seconds since 1970, as the server wants them; "": any time. What is none of these is no condition less. */
function sinceOf(text: string): string {
    const ago = /^\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*$/.exec(text), day = /^\s*(\d{4})-(\d\d?)-(\d\d?)\s*$/.exec(text);
    if (ago) return String(Date.now() / 1000 - Number(ago[1]) * { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }[ago[2] as "s"]);
    if (day) return String(new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3])).getTime() / 1000);
    if (text.trim()) throw new Error(`Since is '${text}'; expected a time ago (2d, 12h) or a day (2026-11-15).`);
    return "";
}

/* The beginning of a digest, as people copy it, is asked for in the words of `weft history --where`, in which there is room for one
 * question. */
function contentOf(where: string, digest: string): { where: string; digest: string } {
    const hex = digest.trim();
    if (!hex) return { where, digest: "" };
    if (!/^[0-9a-fA-F]{1,64}$/.test(hex)) throw new Error(`Digest is '${hex}'; expected the hexadecimal digits of a file's content, or the first of them.`);
    if (hex.length === 64) return { where, digest: hex };
    if (where) throw new Error("Beside Where, a digest needs all of its 64 digits: a click on a file's digest in the record of its run has them.");
    return { where: `SELECT DISTINCT id >> 32 FROM files WHERE hex(digest) LIKE '${hex.toUpperCase()}%'`, digest: "" };
}

function Search() {
    const { where = "", words = "", workflow = "", since = "", digest = "", failed = "" } = address.value.values;
    const submit = (event: Event) => {
        event.preventDefault();
        const form = new FormData(event.target as HTMLFormElement);
        const text = (name: string) => String(form.get(name) ?? "").trim();
        go({ where: text("where"), words: text("words"), workflow: text("workflow"), since: text("since"), digest: text("digest"), failed: form.get("failed") ? "1" : "" });
    };
    return (
        <form class="search" role="search" onSubmit={submit}>
            <label class="wide">
                Words <input name="words" key={words} defaultValue={words} placeholder="in names, commands, files, notes, labels" />
            </label>
            <label class="wide">
                Where{" "}
                <input name="where" key={where} defaultValue={where} placeholder="sigma > 1 and f1 > 0.9" spellcheck={false} />
            </label>
            <label>
                Workflow <input name="workflow" key={workflow} defaultValue={workflow} placeholder="part of its name" />
            </label>
            <label>
                Since <input name="since" size={11} key={since} defaultValue={since} placeholder="2d, 2026-11-15" />
            </label>
            <label>
                Digest <input name="digest" size={12} key={digest} defaultValue={digest} placeholder="of a file's content" spellcheck={false} />
            </label>
            <label>
                <input type="checkbox" name="failed" key={failed} defaultChecked={failed !== ""} /> not ended well
            </label>
            <button type="submit">Find</button>
        </form>
    );
}

function Row({ head, chosen }: { head: RunHead; chosen: boolean }) {
    return (
        <tr class={chosen ? "chosen" : ""}>
            <td class="number">
                <a
                    href={`#database?run=${head.run}`}
                    aria-current={chosen ? "true" : undefined}
                    onClick={(event) => {
                        event.preventDefault();
                        go({ run: String(head.run) });
                    }}
                >
                    {head.run}
                </a>
            </td>
            <td class="workflow"><Name of={head.workflow ?? "–"} /></td>
            <td class={`state ${head.outcome}`}>
                {signs[head.outcome] ?? "?"} {head.outcome}
            </td>
            <td>{moment(head.started)}</td>
            <td class="number">{seconds(head.seconds)}</td>
            <td class="number">{count(head.tasks)}</td>
            <td class="number">{count(head.ran)}</td>
            <td class="number">{count(head.reused)}</td>
            <td class="number">{count(head.failed)}</td>
        </tr>
    );
}

function Runs() {
    const { where = "", words = "", workflow = "", since = "", digest = "", failed = "", run = "" } = address.value.values;
    const runs = useSignal<RunHead[] | null>(null);
    const problem = useSignal("");
    const newest = changes.value;
    useEffect(() => {
        let current = true; /* an answer that comes after a newer question is not shown */
        const asked = async () => ask<{ runs: RunHead[] }>("/api/runs", { ...contentOf(where, digest), words, workflow, since: sinceOf(since), failed });
        asked().then(
            (found) => current && ((runs.value = found.runs), (problem.value = "")),
            (error: Error) => current && ((runs.value = []), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [where, words, workflow, since, digest, failed, newest]);
    if (problem.value) return <p role="alert" class="problem">{problem.value}</p>;
    if (!runs.value) return <p>Looking …</p>;
    if (!runs.value.length) return <p>No such run. `weft run FLOW` makes one.</p>;
    return (
        <table class="runs">
            <caption>{runs.value.length === 200 ? "the newest 200 runs" : `${runs.value.length} ${runs.value.length === 1 ? "run" : "runs"}`}</caption>
            <thead>
                <tr>
                    <th>run</th>
                    <th>workflow</th>
                    <th>state</th>
                    <th>started</th>
                    <th>took</th>
                    <th>tasks</th>
                    <th>ran</th>
                    <th>reused</th>
                    <th>failed</th>
                </tr>
            </thead>
            <tbody>
                {runs.value.map((head) => (
                    <Row key={head.run} head={head} chosen={run === String(head.run)} />
                ))}
            </tbody>
        </table>
    );
}

function Facts({ facts, unsay }: { facts: Fact[]; unsay: ((fact: Fact) => void) | null }) {
    if (!facts.length) return null;
    return (
        <dl class="facts">
            {facts.map((fact, i) => (
                <div key={i} class={fact.sort}>
                    <dt>{fact.sort === "tag" || fact.sort === "note" || fact.sort === "name" ? fact.sort : fact.name}</dt>
                    <dd>
                        {fact.value ?? fact.name}
                        {fact.task ? <small> of {fact.task}</small> : null}
                        {unsay && /^(tag|note|name)$/.test(fact.sort) ? <button type="button" class="plain" aria-label={`take ${fact.sort} ${fact.value ?? ""} back`} onClick={() => unsay(fact)}> ✕</button> : null}
                    </dd>
                </div>
            ))}
        </dl>
    );
}

function Say({ run, said }: { run: string; said: () => void }) {
    const problem = useSignal("");
    const submit = (event: Event) => {
        event.preventDefault();
        const form = event.target as HTMLFormElement;
        const values = new FormData(form);
        tell(`/api/run/${run}/say`, { sort: values.get("sort"), text: values.get("text") }).then(
            () => {
                problem.value = "";
                form.reset();
                said();
            },
            (error: Error) => (problem.value = error.message),
        );
    };
    return (
        <form class="say" onSubmit={submit}>
            <select name="sort" aria-label="what to say">
                <option value="note">note</option>
                <option value="tag">tag</option>
                <option value="name">name</option>
            </select>
            <input name="text" required aria-label="its text" placeholder="what you found" />
            <button type="submit">Say</button>
            {problem.value ? <span role="alert" class="problem">{problem.value}</span> : null}
        </form>
    );
}

/* What can be done with a run. */
function Doings({ run, about }: { run: string; about: About }) {
    const problem = useSignal(""), done = useSignal("");
    const open = () => void tell<{ flow: string }>(`/api/run/${run}/open`, {}).then(({ flow }) => (views.some((view) => view.name === "workbench") ? goTo("workbench", { file: flow }) : (done.value = `It is ${flow} now.`)), (error: Error) => (problem.value = error.message));
    const compare = (event: Event) => {
        event.preventDefault();
        const other = String(new FormData(event.target as HTMLFormElement).get("other") ?? "").trim();
        if (/^\d+$/.test(other)) go({ before: other, after: run, run: "" });
        else problem.value = "Say the number of the other run.";
    };
    return (
        <div class="say">
            {views.some((view) => view.name === "run") ? <a href={link("run", { run })}>Look at it as it ran</a> : null}
            {about.read_only ? null : <button type="button" onClick={open}>Its graph to the workbench</button>}
            <a href={`/api/run/${run}/export?format=csv`} download={`run-${run}.csv`}>CSV</a>
            <a href={`/api/run/${run}/export?format=wfformat`} download={`run-${run}.wfformat.json`}>WfFormat</a>
            <a href={`/api/run/${run}/export?format=crate`} download="ro-crate-metadata.json">RO-Crate</a>
            <a href={`/api/run/${run}`} download={`run-${run}.json`}>JSON</a>
            <form class="say" onSubmit={compare}>
                <label>beside run <input name="other" size={5} inputMode="numeric" /></label>
                <button type="submit">Compare</button>
            </form>
            <span role="status">{done.value}</span>
            {problem.value ? <span role="alert" class="problem">{problem.value}</span> : null}
        </div>
    );
}

/* What a list leaves out, and where all of it is. */
function Rest({ of, shown, where }: { of: number; shown: number; where: string }) {
    return of > shown ? <p class="soft">and {count(of - shown)} more: <code>{where}</code> has all.</p> : null;
}

type RunFiles = { folder: string | null; file: string | null; /* of which the first are told */ found: number; files: { path: string; maker: string | null; bytes: number | null; produced: boolean; digest: string }[] };

/* Files of a run; each leads to where it comes from, and its digest to who else has it. */
function Files({ run }: { run: string }) {
    const found = useSignal<RunFiles | null>(null);
    useEffect(() => {
        let current = true;
        ask<RunFiles>(`/api/run/${run}/files`).then((files) => current && (found.value = files), () => current && (found.value = null));
        return () => void (current = false);
    }, [run]);
    if (!found.value?.files.length) return null;
    const whole = (path: string) => (path.startsWith("/") || !found.value!.folder ? path : `${found.value!.folder}/${path}`);
    return (
        <details>
            <summary>{plural(found.value.found, "file")}</summary>
            <table>
                <thead><tr><th>file</th><th>made by</th><th>size</th><th>digest</th></tr></thead>
                <tbody>
                    {found.value.files.slice(0, 100).map((file) => (
                        <tr>
                            <td class="names"><a href={link("database", { lineage: whole(file.path) })}><Name of={file.path} /></a></td>
                            <td class="names">{file.maker ? <Name of={file.maker} /> : <span class="soft">an input</span>}</td>
                            <td class="number">{bytes(file.bytes)}</td>
                            <td>{file.digest ? <a href={link("database", { digest: file.digest })}><code>{file.digest.slice(0, 12)}</code></a> : "–"}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <Rest of={found.value.found} shown={100} where={`weft history ${run} --files --limit 0`} />
        </details>
    );
}

type Lineage = { lineage: string; whole: boolean; tasks: { side: "back" | "forward"; run: number; task: string; reads: string[]; makes: string[] }[] };

/* Where a file comes from and what came of it, over all runs, as a graph and as a list. */
function LineageOf({ path }: { path: string }) {
    const found = useSignal<Lineage | null>(null), problem = useSignal("");
    useEffect(() => {
        let current = true;
        ask<Lineage>("/api/lineage", { path }).then(
            (lineage) => current && ((found.value = lineage), (problem.value = "")),
            (error: Error) => current && ((found.value = null), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [path]);
    return (
        <section class="run" aria-label={`lineage of ${path}`}>
            <header>
                <h2>Where {path.slice(path.lastIndexOf("/") + 1)} comes from</h2>
                <button type="button" onClick={() => go({ lineage: "" })}>Close</button>
            </header>
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
            {found.value ? (
                <>
                    <img class="lineage" src={`/api/lineage?picture=1&path=${encodeURIComponent(path)}`} alt={`graph of ${found.value.tasks.length} tasks; the list below says the same`} />
                    <table>
                        <thead><tr><th>run</th><th>task</th><th>reads</th><th>makes</th></tr></thead>
                        <tbody>
                            {found.value.tasks.map((task) => (
                                <tr>
                                    <td><a href={link("database", { run: String(task.run) })}>{task.run}</a></td>
                                    <td>{task.side === "back" ? "" : "→ "}{task.task}</td>
                                    <td class="names">{task.reads.join(", ")}</td>
                                    <td class="names">{task.makes.join(", ")}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    {found.value.whole ? null : <p class="soft">There is more: this is the part that is nearest.</p>}
                </>
            ) : null}
        </section>
    );
}

type ChangeRow = { name?: string; task?: string; kind?: string; before: number | null; after: number | null; };
type Changes = { compare: RunHead[]; differences: { what: string; name: string; before: string | null; after: string | null }[]; kinds: ChangeRow[]; tasks: ChangeRow[] };

/* Two runs beside each other: what was given, what it gave, what took how long, which tasks only one has. */
function Compared({ before, after }: { before: string; after: string }) {
    const found = useSignal<Changes | null>(null), problem = useSignal("");
    useEffect(() => {
        let current = true;
        ask<Changes>("/api/compare", { before, after }).then(
            (changes) => current && ((found.value = changes), (problem.value = "")),
            (error: Error) => current && ((found.value = null), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [before, after]);
    const all = `weft history --compare ${before} ${after} --json`;
    const rows = (title: string, list: ChangeRow[]) => (
        <>
        <table>
            <caption>{title}</caption>
            <thead><tr><th>name</th><th>run {before}</th><th>run {after}</th><th>change</th></tr></thead>
            <tbody>
                {list.slice(0, 40).map((row) => (
                    <tr>
                        <td class="names"><Name of={row.name ?? row.task ?? row.kind ?? ""} /></td>
                        <td class="number">{row.before === null ? "did not run" : seconds(row.before)}</td>
                        <td class="number">{row.after === null ? "did not run" : seconds(row.after)}</td>
                        <td class="number">{row.before && row.after ? `${row.after >= row.before ? "+" : ""}${Math.round(100 * (row.after / row.before - 1))} %` : ""}</td>
                    </tr>
                ))}
            </tbody>
        </table>
        <Rest of={list.length} shown={40} where={all} />
        </>
    );
    return (
        <section class="run" aria-label={`runs ${before} and ${after}`}>
            <header>
                <h2>Run {before} and run {after}</h2>
                <button type="button" onClick={() => go({ before: "", after: "" })}>Close</button>
            </header>
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
            {found.value ? (
                <>
                    {rows("the runs", [{ name: "from start to end", before: found.value.compare[0]?.seconds ?? null, after: found.value.compare[1]?.seconds ?? null }])}
                    <table>
                        <caption>{found.value.differences.length ? "what differs: parameters, values, commands, contents" : "Parameters, values, commands and contents of files are the same."}</caption>
                        {found.value.differences.length ? <thead><tr><th>what</th><th>name</th><th>run {before}</th><th>run {after}</th></tr></thead> : null}
                        <tbody>
                            {found.value.differences.slice(0, 100).map((one) => (
                                <tr>
                                    <td>{one.what}</td>
                                    <td class="names"><Name of={one.name} /></td>
                                    <td class="names"><code>{(one.before ?? "–").slice(0, one.what === "file" ? 12 : 200)}</code></td>
                                    <td class="names"><code>{(one.after ?? "–").slice(0, one.what === "file" ? 12 : 200)}</code></td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    <Rest of={found.value.differences.length} shown={100} where={all} />
                    {rows("by kind, the mean of a task", found.value.kinds)}
                    {rows("by task, most changed first", found.value.tasks)}
                </>
            ) : null}
        </section>
    );
}

function Run({ run, about }: { run: string; about: About }) {
    const facts = useSignal<Fact[]>([]);
    const again = useSignal(0);
    const problem = useSignal("");
    useEffect(() => {
        let current = true;
        ask<Fact[]>(`/api/run/${run}/facts`).then(
            (found) => current && ((facts.value = found), (problem.value = "")),
            (error: Error) => current && ((facts.value = []), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [run, again.value]);
    return (
        <section class="run" aria-label={`run ${run}`}>
            <header>
                <h2>Run {run}</h2>
                <button type="button" onClick={() => go({ run: "" })}>Close</button>
            </header>
            {problem.value ? <p role="alert" class="problem">{problem.value}</p> : null}
            <Facts facts={facts.value} unsay={about.read_only ? null : (fact) => void tell(`/api/run/${run}/say`, { sort: fact.sort, text: fact.value ?? fact.name, unsay: true }).then(() => again.value++)} />
            {about.read_only ? null : <Say run={run} said={() => again.value++} />}
            {problem.value ? null : <Doings run={run} about={about} />}
            <Files run={run} />
            {problem.value ? null : <iframe title={`report of run ${run}`} src={`/api/run/${run}/page`} sandbox="" />}
        </section>
    );
}

export function Database({ about }: { about: About }) {
    const { run = "", lineage = "", before = "", after = "" } = address.value.values;
    const beside = run !== "" || lineage !== "" || (before !== "" && after !== "");
    return (
        <main tabIndex={-1} class={beside ? "database beside" : "database"}>
            <section class="list" aria-label="runs">
                <Search />
                <Runs />
            </section>
            {lineage ? <LineageOf path={lineage} /> : before && after ? <Compared before={before} after={after} /> : run ? <Run key={run} run={run} about={about} /> : null}
        </main>
    );
}
