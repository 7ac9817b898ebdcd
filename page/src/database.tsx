/* The Database view: every run on record, found by what is known of it, and one of them beside. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, go } from "./address";
import { type About, type Fact, type RunHead, ask, changes, tell } from "./server";
import { moment, seconds, signs } from "./words";

function Search() {
    const { where = "", workflow = "", failed = "" } = address.value.values;
    const submit = (event: Event) => {
        event.preventDefault();
        const form = new FormData(event.target as HTMLFormElement);
        go({ where: String(form.get("where")), workflow: String(form.get("workflow")), failed: form.get("failed") ? "1" : "" });
    };
    return (
        <form class="search" role="search" onSubmit={submit}>
            <label>
                Workflow <input name="workflow" key={workflow} defaultValue={workflow} placeholder="part of its name" />
            </label>
            <label class="wide">
                Where{" "}
                <input name="where" key={where} defaultValue={where} placeholder="sigma > 1 and f1 > 0.9" spellcheck={false} />
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
            <td>{head.workflow ?? "–"}</td>
            <td class={`state ${head.outcome}`}>
                {signs[head.outcome] ?? "?"} {head.outcome}
            </td>
            <td>{moment(head.started)}</td>
            <td class="number">{seconds(head.seconds)}</td>
            <td class="number">{head.tasks}</td>
            <td class="number">{head.ran}</td>
            <td class="number">{head.reused}</td>
            <td class="number">{head.failed}</td>
        </tr>
    );
}

function Runs() {
    const { where = "", workflow = "", failed = "", run = "" } = address.value.values;
    const runs = useSignal<RunHead[] | null>(null);
    const problem = useSignal("");
    const newest = changes.value;
    useEffect(() => {
        let current = true; /* an answer that comes after a newer question is not shown */
        ask<{ runs: RunHead[] }>("/api/runs", { where, workflow, failed }).then(
            (found) => current && ((runs.value = found.runs), (problem.value = "")),
            (error: Error) => current && ((runs.value = []), (problem.value = error.message)),
        );
        return () => void (current = false);
    }, [where, workflow, failed, newest]);
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

function Facts({ facts }: { facts: Fact[] }) {
    if (!facts.length) return null;
    return (
        <dl class="facts">
            {facts.map((fact, i) => (
                <div key={i} class={fact.sort}>
                    <dt>{fact.sort === "tag" || fact.sort === "note" || fact.sort === "name" ? fact.sort : fact.name}</dt>
                    <dd>
                        {fact.value ?? fact.name}
                        {fact.task ? <small> of {fact.task}</small> : null}
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
            <Facts facts={facts.value} />
            {about.read_only ? null : <Say run={run} said={() => again.value++} />}
            {problem.value ? null : <iframe title={`report of run ${run}`} src={`/api/run/${run}/page`} sandbox="" />}
        </section>
    );
}

export function Database({ about }: { about: About }) {
    const { run = "" } = address.value.values;
    return (
        <main tabIndex={-1} class={run ? "database beside" : "database"}>
            <section class="list" aria-label="runs">
                <Search />
                <Runs />
            </section>
            {run ? <Run key={run} run={run} about={about} /> : null}
        </main>
    );
}
