/* The Workbench's inspector: a form for what is chosen, made from the language's own table of keys; wires by name, for those who do not
 * drag; and the data behind a port. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { go } from "./address";
import { Choose } from "./choose";
import { Behind } from "./content";
import { ask, changes } from "./server";
import { FrameForm, FrameList, NoteForm } from "./workbench_around";
import { ParameterTrials, SubstituteForm } from "./workbench_trial";
import {
    type Key, type LibraryTask, type Task, type TaskKey, align, beside, chosen, copy, cutWire, edit, file, flow, group, inside, keyOf, port, readOnly, removeChosen, rename, tasks, text, wire,
} from "./workbench_state";
import { lightOf } from "./workbench_canvas";

/* A value that is set when the field is left, or on Enter (Ctrl+Enter where it may have lines). */
function Field({ label, value, yaml, lines, hint, set, remove }: {
    label: string;
    value: string;
    yaml?: boolean;
    lines?: boolean;
    hint?: string;
    set: (value: string) => void;
    remove?: () => void;
}) {
    const done = (event: Event) => {
        const next = (event.target as HTMLInputElement).value;
        if (next !== value) set(next);
    };
    const press = (event: KeyboardEvent) => {
        if (event.key === "Enter" && (!lines || event.ctrlKey)) (event.target as HTMLElement).blur();
        if (event.key === "Escape") {
            (event.target as HTMLInputElement).value = value;
            (event.target as HTMLElement).blur();
        }
    };
    const rest = { defaultValue: value, key: value, onBlur: done, onKeyDown: press, spellcheck: false, readOnly: readOnly.value, "aria-label": label, class: yaml ? "yaml" : "" };
    return (
        <div class="field" title={hint}>
            <span>{label}</span>
            {lines ? <textarea rows={Math.min(8, value.split("\n").length + 1)} {...rest} /> : <input {...rest} />}
            {remove && !readOnly.value ? <button type="button" aria-label={`remove ${label}`} onClick={remove}>✕</button> : null}
        </div>
    );
}

/* ---- one task ---- */

function Wiring({ task }: { task: Task }) {
    const outs = tasks.value.filter((t) => t.name !== task.name).flatMap((t) => t.ports.filter((p) => p.out).map((p) => ({ task: t.name, file: p.file })));
    const lay = (place: string[]) => (at: string) => {
        const from = outs[Number(at)];
        edit({ op: "connect", from: from.task, file: from.file, to: task.name, place });
    };
    const maker = (name: string) => {
        const all = tasks.value, me = all.findIndex((t) => t.name === task.name);
        const read = task.ports.findIndex((p) => !p.out && p.file === name);
        return (flow.value.wires ?? []).filter((w) => w.to === me && w.read === read).map((w) => all[w.from].name).join(", ");
    };
    const options = outs.map((o, i) => ({ value: String(i), text: `${o.file} of ${o.task}` }));
    return (
        <fieldset>
            <legend>Wires</legend>
            {task.ports.map((p) => (
                <div class="wiring">
                    <button type="button" class="data" onClick={() => (port.value = { task: task.name, file: p.file })}>{p.out ? "out" : "in"} {p.file}</button>
                    {p.out ? null : (
                        <>
                            <span>{maker(p.file) ? `from ${maker(p.file)}` : "from outside"}</span>
                            {readOnly.value ? null : <Choose label={`another file for ${p.file}`} first="another …" options={options} verb="Take" act={lay(p.place)} />}
                            {readOnly.value ? null : <button type="button" aria-label={`cut ${p.file}`} onClick={() => edit({ op: "disconnect", task: task.name, file: p.file })}>✕</button>}
                        </>
                    )}
                </div>
            ))}
            {readOnly.value ? null : <Choose label="one more input" first="one more input …" options={options} verb="Add" act={lay([])} />}
        </fieldset>
    );
}

function OneTask({ task, keys, library }: { task: Task; keys: TaskKey[]; library: LibraryTask[] }) {
    const row = (k: string) => keys.find((r) => r.name === k);
    const free = keys.filter((r) => !task.keys.some((k) => k.key === r.name));
    const sub = keyOf(task, "flow"), light = lightOf(task);
    const lines = new Set(["run", "when"]);
    return (
        <>
            <Field label="name" value={task.name} set={(to) => rename(task.name, to)} />
            <p class={`light ${light.state}`}>{light.sign} {light.text}{light.why ? `: ${light.why}` : ""}</p>
            {sub ? <button type="button" onClick={() => go(inside(task, sub))}>Open {sub}</button> : null}
            {task.keys.map((k) => (
                <Field key={`${task.name}/${k.key}`} label={k.key} value={k.value} yaml={k.yaml} lines={lines.has(k.key)} hint={row(k.key) ? `${row(k.key)!.summary} (${row(k.key)!.type})` : ""}
                    set={(value) => edit({ op: "set", place: ["tasks", task.name, k.key], value, yaml: k.yaml || /^\s*[[{]/.test(value) && !/^\s*\{\w+\}/.test(value) })}
                    remove={() => edit({ op: "remove", place: ["tasks", task.name, k.key] })} />
            ))}
            {readOnly.value ? null : (
                <div class="field">
                    <span>more</span>
                    <Choose label="another key" first="another key …" options={free.map((r) => ({ value: r.name, text: `${r.name}: ${r.summary}` }))} verb="Add"
                        act={(name) => edit({ op: "set", place: ["tasks", task.name, name], value: row(name)?.type.includes("true") ? "true" : "", yaml: true })} />
                </div>
            )}
            <Wiring task={task} />
            <SubstituteForm task={task} library={library} />
            <NoteForm beside={task.name} />
        </>
    );
}

/* An included workflow. Written as a name alone until something else is said of it. */
function OneInclude({ task }: { task: Task }) {
    const light = lightOf(task), path = keyOf(task, "file");
    const set = (key: string, value: string, yaml: boolean) =>
        task.alone && key !== "file"
            ? edit({ op: "set", place: ["include", task.name], value: `{file: ${JSON.stringify(path)}, ${key}: ${value}}`, yaml: true })
            : edit({ op: "set", place: task.alone ? ["include", task.name] : ["include", task.name, key], value, yaml });
    return (
        <>
            <p class="soft">{task.count} tasks of another workflow join this one as {task.name}/…</p>
            <p class={`light ${light.state}`}>{light.sign} {light.text}{light.why ? `: ${light.why}` : ""}</p>
            <button type="button" onClick={() => go(inside(task, path))}>Open {path}</button>
            <Field label="file" value={path} set={(value) => set("file", value, false)} />
            <Field label="as" value={keyOf(task, "as")} yaml hint="what its files are called here: {raw.txt: all.bam}" set={(value) => set("as", value || "{}", true)} />
            <Field label="with" value={keyOf(task, "with")} yaml hint="its parameters and lists: {least: 1}" set={(value) => set("with", value || "{}", true)} />
            {readOnly.value ? null : <button type="button" onClick={() => removeChosen()}>Remove</button>}
            <NoteForm beside={task.name} />
        </>
    );
}

/* ---- several, or none ---- */

function Several() {
    const name = useRef<HTMLInputElement>(null);
    return (
        <>
            <p>{chosen.value.size} tasks are chosen.</p>
            <p class="row">
                <button type="button" onClick={() => copy()}>Copy</button>
                <button type="button" onClick={() => removeChosen()}>Remove</button>
                <button type="button" onClick={() => align("left")}>Align left</button>
                <button type="button" onClick={() => align("top")}>Align top</button>
            </p>
            <form class="row" onSubmit={(event) => (event.preventDefault(), group(name.current!.value))}>
                <input ref={name} required pattern="[A-Za-z0-9_\-]+" placeholder="name" aria-label="name of the sub-workflow" />
                <button type="submit">Group to a sub-workflow</button>
            </form>
            <FrameForm />
        </>
    );
}

function Section({ title, section, members, hint }: { title: string; section: string; members: Key[]; hint: string }) {
    const name = useRef<HTMLInputElement>(null), value = useRef<HTMLInputElement>(null);
    const put = (event: Event) => {
        event.preventDefault();
        const given = value.current!.value;
        edit({ op: "set", place: [section, name.current!.value], value: given, yaml: section === "lists" });
        (event.target as HTMLFormElement).reset();
    };
    return (
        <fieldset>
            <legend>{title}</legend>
            {members.map((m) => (
                <Field key={m.key} label={m.key} value={m.value} yaml={m.yaml} set={(next) => edit({ op: "set", place: [section, m.key], value: next, yaml: m.yaml })}
                    remove={() => edit({ op: "remove", place: [section, m.key] })} />
            ))}
            {readOnly.value ? null : (
                <form class="row" onSubmit={put}>
                    <input ref={name} required pattern="[A-Za-z_][A-Za-z0-9_\-]*" placeholder="name" aria-label={`name in ${section}`} size={8} />
                    <input ref={value} required placeholder={hint} aria-label={`value in ${section}`} size={12} />
                    <button type="submit">Add</button>
                </form>
            )}
        </fieldset>
    );
}

/* What people ask for most (docs/constraints.md), with names of this workflow; to be changed before it is added. */
function begun(): [string, string][] {
    const name = (i: number) => JSON.stringify(tasks.value[i]?.name ?? "name");
    const of = (what: string, i: number) => `(select ${what} from task where task-name = ${name(i)})`;
    return [
        ["all is over in 100 s", "assert value requirement (function = (select max(task-finish-time) from task), max = 100)"],
        ["a task runs on one processor", `assert relationship requirement (${of("task-assigned-proc-id", 0)} = (select proc-id from proc where proc-name = "n1"))`],
        ["two tasks run on the same one", `assert relationship requirement (${of("task-assigned-proc-id", 0)} = ${of("task-assigned-proc-id", 1)})`],
        ["a task is over before another", `assert relationship requirement (${of("task-finish-time", 0)} < ${of("task-finish-time", 1)})`],
    ];
}

/* Requirements on the schedule: each a text; the file has one, or a list of them. */
function Constraints() {
    const all = flow.value.assert ?? [], more = useRef<HTMLTextAreaElement>(null);
    const place = (i: number) => (all.length > 1 ? ["assert", String(i)] : ["assert"]);
    const put = (event: Event) => {
        event.preventDefault();
        const values = [...all.map((k) => k.value), more.current!.value];
        edit({ op: "set", place: ["assert"], value: values.length > 1 ? `[${values.map((v) => JSON.stringify(v)).join(", ")}]` : values[0], yaml: values.length > 1 });
        (event.target as HTMLFormElement).reset();
    };
    if (readOnly.value && !all.length) return null;
    return (
        <fieldset>
            <legend>Constraints</legend>
            {all.map((k, i) => <Field key={k.value} label={`constraint ${i + 1}`} value={k.value} lines set={(value) => edit({ op: "set", place: place(i), value })} remove={() => edit({ op: "remove", place: all.length > 1 ? place(i) : ["assert"] })} />)}
            {readOnly.value ? null : (
                <form onSubmit={put}>
                    <Choose label="a constraint to begin with" first="begin with …" options={begun().map(([text, value]) => ({ value, text }))} verb="Take"
                        act={(value) => ((more.current!.value = value), more.current!.focus())} />
                    <textarea ref={more} required rows={3} placeholder="assert …" aria-label="another constraint" />
                    <button type="submit">Add</button>
                </form>
            )}
        </fieldset>
    );
}

/* A wire by itself: what it carries, and its two ends. */
function OneWire() {
    const w = wire.value!;
    const choose = (name: string) => (chosen.value = new Set([name]));
    return (
        <>
            <p>{w.made === null ? "An order without a file" : w.read === w.made ? w.made : `${w.made}, read as ${w.read}`}</p>
            <p class="row">
                from <button type="button" onClick={() => choose(w.from)}>{w.from}</button> to <button type="button" onClick={() => choose(w.to)}>{w.to}</button>
            </p>
            <p class="row">
                {w.made === null ? null : <button type="button" onClick={() => (port.value = { task: w.from, file: w.made! })}>Its data</button>}
                {readOnly.value ? null : <button type="button" onClick={() => cutWire()}>Cut it</button>}
            </p>
        </>
    );
}

export function Inspector({ keys, library }: { keys: TaskKey[]; library: LibraryTask[] }) {
    const one = chosen.value.size === 1 ? tasks.value.find((t) => chosen.value.has(t.name)) : null;
    return (
        <aside class="inspector card" aria-label="inspector">
            <h2>{one ? one.name : chosen.value.size ? "Chosen" : wire.value ? "Wire" : "Workflow"}</h2>
            {one?.include ? <OneInclude key={one.name} task={one} /> : one ? <OneTask key={one.name} task={one} keys={keys} library={library} /> : chosen.value.size ? <Several /> : wire.value ? <OneWire /> : (
                <>
                    <Section title="Parameters" section="parameters" members={flow.value.parameters ?? []} hint="1.4" />
                    <ParameterTrials />
                    <Section title="Lists" section="lists" members={flow.value.lists ?? []} hint="[a, b]" />
                    <Section title="Included workflows" section="include" members={flow.value.include ?? []} hint="lib/qc.yaml" />
                    <Constraints />
                    <FrameList />
                    <NoteForm beside="" />
                </>
            )}
        </aside>
    );
}

/* ---- data behind a port ---- */

/* A port of a family has a file for each member: one is chosen. */
function Members({ pattern, one, choose }: { pattern: string; one: string; choose: (name: string) => void }) {
    const found = useSignal<{ files: string[]; found: number } | null>(null), words = useSignal("");
    useEffect(() => {
        let current = true;
        ask<{ files: string[]; found: number }>("/api/workbench/members", { file: file.value, pattern, words: words.value }).then(
            (f) => {
                if (!current) return;
                found.value = f;
                if (!f.files.includes(one)) choose(f.files[0] ?? "");
            },
            () => current && (found.value = { files: [], found: 0 }),
        );
        return () => void (current = false);
    }, [pattern, words.value, text.value]);
    const f = found.value;
    if (!f) return null;
    return (
        <p class="row">
            <span>{f.found} {f.found === 1 ? "file" : "files"}</span>
            <select aria-label="member of the family" value={one} onChange={(event) => choose((event.target as HTMLSelectElement).value)}>{f.files.map((name) => <option value={name} selected={name === one}>{name}</option>)}</select>
            {f.found > f.files.length || words.value ? <input type="search" aria-label="part of the file's name" placeholder="part of the name" size={10} value={words.value} onInput={(event) => (words.value = (event.target as HTMLInputElement).value)} /> : null}
        </p>
    );
}

export function DataPanel() {
    const at = port.value, member = useSignal("");
    if (!at) return null;
    const family = at.file.includes("{"), shown = family ? member.value : at.file;
    return (
        <Behind title={at.file} path={shown ? beside(shown) : ""} version={changes.value} close={() => (port.value = null)}>
            {family ? <Members pattern={at.file} one={member.value} choose={(one) => (member.value = one)} /> : null}
        </Behind>
    );
}
