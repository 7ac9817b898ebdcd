/* Substitutions, picked on the graph: what a task does, a file that it reads or a value is replaced by others, and every combination is
 * tried. They stand in a file of their own, an experiment beside the workflow (docs/experiments.md); the Experiments view has the
 * combinations and what they gave. */
import { useRef } from "preact/hooks";
import { goTo } from "./address";
import { Choose } from "./choose";
import { tell } from "./server";
import { plural } from "./words";
import { type Flow, type Key, type LibraryTask, type Step, type Substitution, type Task, editTrial, flow, keyOf, message, readOnly, save, trial } from "./workbench_state";

export function substitutionOf(what: string, target: string): Substitution | null {
    return trial.value?.substitutions.find((s) => s.what === what && s.target === target) ?? null;
}

/* Of a task: its own, and those of the files that it reads. */
export function substitutionsOf(task: Task): Substitution[] {
    return (trial.value?.substitutions ?? []).filter((s) => (s.what === "task" && s.target === task.name) || (s.what === "data" && task.ports.some((p) => !p.out && p.file === s.target)));
}

export const combinations = () => (trial.value?.substitutions ?? []).reduce((n, s) => n * Math.max(1, s.by.length), trial.value?.substitutions.length ? 1 : 0);

const plain = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "") || "other";
const stem = (path: string) => plain(path.replace(/.*\//, "").replace(/\.[^.]*$/, ""));

/* A label that no alternative has yet. */
function freeLabel(wanted: string, by: Key[]): string {
    for (let i = 1; ; i++) {
        const label = i > 1 ? `${wanted}${i}` : wanted;
        if (!by.some((k) => k.key === label)) return label;
    }
}

/* One more alternative. The first of a substitution also says what it replaces, and that things as they are stay among them. */
async function addAlternative(what: "task" | "data", target: string, label: string, value: string, yaml = false): Promise<void> {
    const there = substitutionOf(what, target);
    const taken = new Set((trial.value?.substitutions ?? []).map((s) => s.name));
    let name = there?.name ?? (what === "task" ? plain(target) : stem(target));
    while (!there && taken.has(name)) name += "_";
    const at = ["substitute", name];
    const own: Key = { key: what === "task" ? plain(target) : stem(target), value: what === "task" ? "{}" : target, yaml: what === "task", line: 0 };
    const by = there ? there.by : [own];
    const first: Step[] = there ? [] : [
        { op: "set", place: [...at, what], value: target },
        { op: "set", place: [...at, "by", own.key], value: own.value, yaml: own.yaml },
    ];
    await save(); /* the experiment reads the workflow's file */
    await editTrial(true, ...first, { op: "set", place: [...at, "by", freeLabel(plain(label), by)], value, yaml });
}

/* With the last alternative but one the substitution goes: one choice is none. */
function removeAlternative(s: Substitution, label: string): void {
    if (s.by.length <= 2) editTrial(true, { op: "remove", place: ["substitute", s.name] });
    else editTrial(true, { op: "remove", place: ["substitute", s.name, "by", label] });
}

/* What a task of the library does, as a command of its own: its parameters are filled in, since the workflow does not have them. */
async function addFromLibrary(task: Task, from: LibraryTask): Promise<void> {
    try {
        const found = await tell<Flow>("/api/workbench/look", { file: "alternative.yaml", text: from.text });
        const one = found.tasks?.[0];
        if (!one || found.tasks!.length > 1) throw new Error(`${from.name} is more than one task; a substitution takes the place of one.`);
        const ports = (t: Task, out: boolean) => t.ports.filter((p) => p.out === out).length;
        if (ports(one, true) !== ports(task, true) || ports(one, false) !== ports(task, false)) throw new Error(`${from.name} reads or makes another number of files than ${task.name}.`);
        const fill = (text: string) => (found.parameters ?? []).reduce((all, p) => all.replaceAll(`{${p.key}}`, p.value), text);
        const call = keyOf(one, "call");
        await addAlternative("task", task.name, from.name, call ? `{call: ${JSON.stringify(call)}}` : fill(keyOf(one, "run")).trim(), call !== "");
    } catch (error) {
        message.value = (error as Error).message;
    }
}

function Alternatives({ s }: { s: Substitution }) {
    return (
        <ul class="alternatives">
            {s.by.map((k) => (
                <li key={k.key || k.value}>
                    <span title={k.value}>{k.key ? <><b>{k.key}</b> {k.value === "{}" ? "as it is" : k.value}</> : k.value}</span>
                    {readOnly.value || s.listed || k.value === "{}" ? null : <button type="button" aria-label={`do without ${k.key}`} onClick={() => removeAlternative(s, k.key)}>✕</button>}
                </li>
            ))}
        </ul>
    );
}

/* In the form of a task. */
export function SubstituteForm({ task, library }: { task: Task; library: LibraryTask[] }) {
    const label = useRef<HTMLInputElement>(null), command = useRef<HTMLInputElement>(null);
    const mine = substitutionOf("task", task.name);
    const files = [...new Set(task.ports.filter((p) => !p.out && !p.file.includes("{")).map((p) => p.file))];
    const outsiders = files.filter((f) => !(flow.value.tasks ?? []).some((t) => t.ports.some((p) => p.out && p.file === f)) || substitutionOf("data", f));
    if (readOnly.value && !substitutionsOf(task).length) return null;
    return (
        <fieldset class="substitute">
            <legend>Substitute by</legend>
            {mine ? <Alternatives s={mine} /> : null}
            {readOnly.value || task.include ? null : (
                <>
                    <Choose label={`substitute ${task.name} by a task of the library`} first="a task of the library …" options={library.filter((t) => !t.problem).map((t) => ({ value: t.name, text: t.name }))} verb="Add"
                        act={(name) => addFromLibrary(task, library.find((t) => t.name === name)!)} />
                    <form class="row" onSubmit={(event) => {
                        event.preventDefault();
                        addAlternative("task", task.name, label.current!.value, command.current!.value);
                        (event.target as HTMLFormElement).reset();
                    }}>
                        <input ref={label} required pattern="[A-Za-z0-9_\-]+" placeholder="label" aria-label="label of another command" size={7} />
                        <input ref={command} required placeholder="command {in} {out}" aria-label="another command" size={14} />
                        <button type="submit">Add</button>
                    </form>
                </>
            )}
            {outsiders.map((f) => <FileForm key={f} name={f} />)}
        </fieldset>
    );
}

function FileForm({ name }: { name: string }) {
    const other = useRef<HTMLInputElement>(null), mine = substitutionOf("data", name);
    return (
        <div>
            <p class="soft">{name} by other files</p>
            {mine ? <Alternatives s={mine} /> : null}
            {readOnly.value ? null : (
                <form class="row" onSubmit={(event) => {
                    event.preventDefault();
                    addAlternative("data", name, stem(other.current!.value), other.current!.value);
                    (event.target as HTMLFormElement).reset();
                }}>
                    <input ref={other} required placeholder="another file" aria-label={`another file for ${name}, as a substitution`} size={16} />
                    <button type="submit">Add</button>
                </form>
            )}
        </div>
    );
}

/* Values that a parameter is tried with. */
export function ParameterTrials() {
    const parameters = flow.value.parameters ?? [];
    if (!parameters.length) return null;
    const set = (name: string, value: string) => {
        const there = substitutionOf("parameter", name);
        if (!value.trim()) return there ? editTrial(true, { op: "remove", place: ["substitute", there.name] }) : undefined;
        const at = ["substitute", there?.name ?? plain(name)];
        const values = value.split(",").map((v) => v.trim()).filter(Boolean).map((v) => (/^[\w.+-]+$/.test(v) ? v : JSON.stringify(v)));
        return editTrial(true, ...(there ? [] : [{ op: "set", place: [...at, "parameter"], value: name }]), { op: "set", place: [...at, "by"], value: `[${values.join(", ")}]`, yaml: true });
    };
    return (
        <fieldset>
            <legend>Try with other values</legend>
            {parameters.map((p) => {
                const now = (substitutionOf("parameter", p.key)?.by ?? []).map((k) => (k.key ? `${k.key}: ${k.value}` : k.value)).join(", ");
                const labelled = substitutionOf("parameter", p.key)?.listed === false;
                return (
                    <div class="field" key={p.key}>
                        <span>{p.key}</span>
                        <input aria-label={`values to try for ${p.key}`} placeholder={`${p.value}, …`} readOnly={readOnly.value || labelled} defaultValue={now} key={now}
                            onBlur={(event) => {
                                const next = (event.target as HTMLInputElement).value;
                                if (next !== now && !labelled) set(p.key, next);
                            }}
                            onKeyDown={(event) => event.key === "Enter" && (event.target as HTMLElement).blur()} />
                    </div>
                );
            })}
        </fieldset>
    );
}

/* In the bar: how many there are, and the way to them. */
export function TrialButton() {
    const n = combinations();
    if (!trial.value || !n) return null;
    return <button type="button" onClick={async () => (await save(), goTo("experiments", { file: trial.value!.file }))}>⇄ {plural(n, "combination")} …</button>;
}

