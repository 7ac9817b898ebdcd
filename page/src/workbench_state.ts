/* What the Workbench holds: one text, what stands in it (asked of the server, which keeps nothing), what was before and after it
 * (undo without end), and what is chosen. Every change is a patch of the text, made by the library; it is on disk within a second.
 *
 *     a box is moved, wired, renamed ──▶ edit(steps) ──▶ server ──▶ new text + view ─┐
 *     somebody types in the YAML ──────▶ typed(text) ──▶ server ──▶ view ────────────┴──▶ save, then lights */
import { computed, effect, signal } from "@preact/signals";
import { address } from "./address";
import { ask, connection, tell } from "./server";

export type Key = { key: string; value: string; yaml: boolean; line: number };
export type Port = { out: boolean; file: string; place: string[] };
export type Task = {
    name: string;
    line: number;
    last: number;
    count: number;
    colour?: number; /* of its kind, as in runs and plans; none: the workflow cannot be read */
    x: number;
    y: number;
    width: number;
    height: number;
    keys: Key[];
    ports: Port[];
    include?: boolean; /* a workflow that this one includes; `alone`: its file's name is all that is said */
    alone?: boolean;
};
export type Frame = { name: string; tasks: string[] };
export type Note = { name: string; text: string; beside: string; alone: boolean };
export type Wire = { from: number; to: number; made: number; read: number };
export type Problem = { line: number; text: string };
export type Flow = {
    problems: Problem[];
    readable: boolean;
    tasks?: Task[];
    wires?: Wire[];
    parameters?: Key[];
    lists?: Key[];
    include?: Key[];
    assert?: Key[];
    frames?: Frame[];
    notes?: Note[];
};
/* The experiment that replaces things in the workflow; its digest is "" while it has no file. */
export type Substitution = { name: string; what?: "task" | "data" | "parameter"; target?: string; by: Key[]; listed: boolean };
export type Trial = { file: string; text: string; digest: string; substitutions: Substitution[] };
/* What undo goes back to: both texts. */
type Moment = { text: string; trial: string; moved: Record<string, { x: number; y: number }> };
export type Step = Record<string, unknown> & { op: string };
export type Light = { task: string; state: string; why: string | null };
export type Lights = { tasks: number; run: number; seconds: number | null; going: boolean; lights: Light[] };
export type LibraryTask = { name: string; group: string; about: string; needs: string; text: string; problem: string | null };
export type TaskKey = { name: string; type: string; standard: string; summary: string };

export const file = signal("");
export const text = signal("");
export const flow = signal<Flow>({ problems: [], readable: true });
export const chosen = signal<ReadonlySet<string>>(new Set());
export const port = signal<{ task: string; file: string } | null>(null); /* whose data is shown */
export const message = signal(""); /* why the last thing was refused */
export const saving = signal<"saved" | "waits" | "away" | "refused" | "conflict">("saved");
export const lights = signal<Lights | null>(null);
export const unlit = signal(""); /* why nothing is known of what a run would do */
export const trial = signal<Trial | null>(null);
export const past = signal<Moment[]>([]);
export const future = signal<Moment[]>([]);
/* Boxes that were moved by hand; the others stand where the layout puts them. */
export const moved = signal<Record<string, { x: number; y: number }>>({});
export const readOnly = signal(false);
export const folder = signal(""); /* of the server: two of them may have files of one name */

let digest = ""; /* of the file as we have read or written it */
let unanswered: string | null = null; /* what was sent to be saved, and nobody has said whether it was */
let clipboard = "";
let timer = 0, looking = 0, asked = 0, busy = false, lighting = 0;
let lookTook = 0, lookSaid = ""; /* milliseconds; what is shown, if a look said it */

export const tasks = computed<Task[]>(() => (flow.value.tasks ?? []).map((task) => ({ ...task, ...moved.value[task.name] })));
export const only = computed<Task | null>(() => (chosen.value.size === 1 ? (tasks.value.find((t) => chosen.value.has(t.name)) ?? null) : null));

/* The wire that is chosen, by names, which an edit elsewhere does not change: `read` is what the name is at its end; null: `after`, an order
 * without a file. Who chooses boxes lets it go. */
export const wire = signal<{ from: string; to: string; made: string | null; read: string | null } | null>(null);
effect(() => void (chosen.value.size && (wire.value = null)));

export function keyOf(task: Task, name: string): string {
    return task.keys.find((k) => k.key === name)?.value ?? "";
}

/* A file that the workflow names, as the folder has it. */
export const beside = (path: string) => file.value.replace(/[^/]*$/, "") + path;

/* A workflow that was opened by its box in another one: whose, and the box's name there ("qc", in a box of a box "qc/inner"). Its lights
 * are what the other one says of it, since alone it may lack files that it is given. It stands in the address. */
export const outer = computed(() => ({ of: address.value.values.of ?? "", box: address.value.values.box ?? "" }));
export const inside = (task: Task, path: string) => ({ file: beside(path), of: outer.value.of || file.value, box: outer.value.of ? `${outer.value.box}/${task.name}` : task.name });

const draftName = () => `weft-draft:${folder.value}/${file.value}`;
const movedName = () => `weft-boxes:${folder.value}/${file.value}`;

function remember(): void {
    localStorage.setItem(movedName(), JSON.stringify(moved.value));
}

/* Before boxes are moved by hand, once for a whole drag: undo puts them back. */
export function moving(): void {
    past.value = [...past.value, now()];
    future.value = [];
}

export function place(name: string, x: number, y: number): void {
    moved.value = { ...moved.value, [name]: { x, y } };
    remember();
}

/* Everything where the layout puts it. */
export function tidy(): void {
    if (!Object.keys(moved.value).length) return;
    moving();
    moved.value = {};
    remember();
}

export function align(how: "left" | "top"): void {
    const boxes = tasks.value.filter((t) => chosen.value.has(t.name));
    moving();
    const least = Math.min(...boxes.map((t) => (how === "left" ? t.x : t.y)));
    for (const t of boxes) place(t.name, how === "left" ? least : t.x, how === "left" ? t.y : least);
}

/* ---- opening ---- */

function show(found: Flow): void {
    lookSaid = "";
    flow.value = found.readable ? found : { ...flow.value, problems: found.problems, readable: false };
    const names = new Set(found.tasks?.map((t) => t.name));
    if (found.readable && [...chosen.value].some((name) => !names.has(name))) chosen.value = new Set([...chosen.value].filter((n) => names.has(n)));
}

export async function open(name: string): Promise<void> {
    if (saving.value === "waits" && file.value) await save(); /* what was typed a moment ago */
    const found = await ask<Flow & { text: string; digest: string }>("/api/workbench/flow", { file: name });
    file.value = name;
    digest = found.digest;
    unanswered = null;
    text.value = found.text;
    flow.value = { problems: [], readable: true }; /* boxes of another file are none of this one, whether it can be read or not */
    past.value = [];
    future.value = [];
    chosen.value = new Set();
    port.value = null;
    wire.value = null;
    message.value = "";
    lights.value = null;
    trial.value = null;
    saving.value = "saved";
    try {
        moved.value = JSON.parse(localStorage.getItem(movedName()) ?? "{}");
    } catch {
        moved.value = {};
    }
    show(found);
    restoreDraft();
    light();
    loadTrial();
}

/* Who comes back to this window sees the file as it is by now, unless he has something of his own to save; undo gives back what he saw. */
export async function refresh(): Promise<void> {
    const name = file.value, quiet = () => file.value === name && saving.value === "saved" && !busy;
    if (!name || document.hidden || !quiet()) return;
    const found = await ask<Flow & { text: string; digest: string }>("/api/workbench/flow", { file: name }).catch(() => null);
    if (!found || !quiet() || found.digest === digest) return;
    past.value = [...past.value, now()];
    future.value = [];
    digest = found.digest;
    text.value = found.text;
    message.value = "The file was changed by somebody else: this is how it is now.";
    show(found);
    light();
}

/* What was typed while the server was away, if the file is still the one that it was typed for: as it was read, or as this page has sent
 * it to a server that was killed before it said so. */
type Draft = { digest: string; text: string; sent: string | null };
function keepDraft(): void {
    localStorage.setItem(draftName(), JSON.stringify({ digest, text: text.value, sent: unanswered } satisfies Draft));
}
function restoreDraft(): void {
    const kept = localStorage.getItem(draftName());
    if (!kept) return;
    const draft = JSON.parse(kept) as Draft;
    if (readOnly.value) return; /* it waits for a server that saves */
    if (draft.text === text.value) localStorage.removeItem(draftName());
    else if (draft.digest === digest || draft.sent === text.value) {
        typed(draft.text);
        message.value = "What was not saved when the server went away is here again.";
    } else {
        /* somebody has changed the file since: both texts are there, and the user says which one is to stay */
        digest = draft.digest;
        changed(draft.text);
        clearTimeout(timer);
        timer = 0;
        saving.value = "conflict";
        message.value = "What was typed here was not saved, and the file was changed by somebody else since. Whose is to stay?";
        look();
    }
}

/* A file that was not there. */
async function make(name: string, begin: string): Promise<void> {
    await tell("/api/workbench/save", { file: name, text: begin, digest: "" }).catch((error: Error) => {
        throw error.message.includes("changed by somebody else") ? new Error(`There is a file ${name} already.`) : error;
    });
}

export async function create(name: string): Promise<void> {
    const begin = `weft: 1\nname: ${name.replace(/\.ya?ml$/, "").replace(/.*\//, "")}\ntasks:\n`;
    await make(name, begin);
    await open(name);
}

/* ---- saving ---- */

export async function save(): Promise<void> {
    clearTimeout(timer);
    timer = 0;
    /* one at a time: a second one would be told that the first has changed the file */
    if (readOnly.value || saving.value === "conflict" || busy) return;
    const sent = text.value, name = file.value;
    busy = true;
    try {
        if (unanswered !== null) await wasMine(name);
        unanswered = sent;
        keepDraft();
        const answer = await tell<{ digest: string }>("/api/workbench/save", { file: name, text: sent, digest });
        if (file.value !== name) return;
        digest = answer.digest;
        unanswered = null;
        busy = false;
        if (text.value === sent) {
            saving.value = "saved";
            localStorage.removeItem(draftName());
        } else later();
        clearTimeout(lighting);
        lighting = window.setTimeout(light, 3 * lightTook); /* the next letters are saved before it, where it takes long */
    } catch (error) {
        const said = (error as Error).message;
        if (said.includes("changed by somebody else")) {
            /* two windows that have come to the same text have nothing to be asked about */
            const there = await ask<{ text: string; digest: string }>("/api/workbench/flow", { file: name }).catch(() => null);
            if (file.value !== name) return;
            saving.value = there?.text === text.value ? "saved" : "conflict";
            if (saving.value === "conflict" || !there) return;
            digest = there.digest;
            unanswered = null;
            localStorage.removeItem(draftName());
        } else {
            /* who answered has said why; who did not, cannot */
            saving.value = error instanceof TypeError || connection.value !== "listening" ? "away" : "refused";
            message.value = saving.value === "refused" ? said : "";
            timer = window.setTimeout(save, 2000);
        }
    } finally {
        busy = false;
    }
}

/* A server that was killed may have written what it was sent: then the file is ours, and nobody else's. */
async function wasMine(name: string): Promise<void> {
    const there = await ask<{ text: string; digest: string }>("/api/workbench/flow", { file: name }).catch((error: Error) => {
        if (error instanceof TypeError) throw error;
        return null; /* it is not there: saving finds that out, too */
    });
    if (there && file.value === name && there.text === unanswered) digest = there.digest;
}

/* Within a second: a third of one after the last change, so that typing is not a write a letter. */
function later(): void {
    saving.value = "waits";
    keepDraft();
    if (!timer) timer = window.setTimeout(save, 350);
}

/* Theirs: what is on disk is taken. Mine: it is written over. */
export async function resolve(how: "theirs" | "mine"): Promise<void> {
    const name = file.value, mine = text.value;
    localStorage.removeItem(draftName());
    try {
        await open(name);
        if (how === "mine") typed(mine);
    } catch (error) {
        /* nothing is there to be taken; what one has oneself is a new file */
        message.value = (error as Error).message;
        if (how === "theirs") return keepDraft();
        digest = "";
        unanswered = null;
        later();
    }
}

/* ---- lights ---- */

/* While a run goes on they are asked again: after a second, or ten times as long as it took to answer. Lights that are as they were draw
 * nothing anew. */
let lightTook = 0;
function within(all: Lights, box: string): Lights {
    if (!box) return all;
    const path = box.split("/");
    /* each part of the path may be a member of a family: name@i=1 */
    const mine = all.lights.flatMap((l) => {
        const parts = l.task.split("/"), inner = parts.slice(path.length).join("/");
        return inner && path.every((name, i) => parts[i] === name || parts[i].startsWith(`${name}@`)) ? [{ ...l, task: inner }] : [];
    });
    return { ...all, tasks: mine.length, run: mine.filter((l) => l.state !== "fresh" && l.state !== "skipped").length, seconds: null, lights: mine };
}
export async function light(): Promise<void> {
    const name = file.value, began = performance.now();
    clearTimeout(lighting);
    try {
        const { of, box } = outer.value, found = within(await ask<Lights>("/api/workbench/lights", { file: of || name }), box);
        lightTook = performance.now() - began;
        if (file.value !== name) return;
        if (JSON.stringify(found) !== JSON.stringify(lights.value)) lights.value = found;
        unlit.value = "";
        if (found.going) lighting = window.setTimeout(light, Math.max(1000, 10 * lightTook));
    } catch (error) {
        if (file.value !== name) return;
        lights.value = null;
        unlit.value = flow.value.problems.length ? "" : (error as Error).message; /* a workflow that cannot be read has problems */
    }
}

/* ---- changing ---- */

const now = (): Moment => ({ text: text.value, trial: trial.value?.text ?? "", moved: moved.value });

function changed(next: string): void {
    if (next === text.value) return;
    past.value = [...past.value, now()];
    future.value = [];
    text.value = next;
    later();
}

type Edited = Flow & { text: string; names: string | null; copied: string | null; module: string | null };

/* Refused: the text is what it was, and a word says why. */
export async function edit(...steps: Step[]): Promise<Edited | null> {
    if (readOnly.value && steps.some((s) => s.op !== "copy")) return null;
    try {
        const before = text.value;
        const answer = await tell<Edited>("/api/workbench/edit", { file: file.value, text: before, steps });
        if (text.value !== before) {
            message.value = "The text was changed meanwhile; try again.";
            return null;
        }
        message.value = "";
        changed(answer.text);
        show(answer);
        return answer;
    } catch (error) {
        message.value = (error as Error).message.replace(`${file.value}: `, "");
        return null;
    }
}

/* What a change of the text means for the boxes. Who types in a comment changes none: then nothing is drawn again. In a large workflow a
 * look takes its time, on both sides, and is made less often, so that letters and saving do not wait for it. */
async function look(): Promise<void> {
    const number = ++asked, began = performance.now();
    try {
        const found = await tell<Flow>("/api/workbench/look", { file: file.value, text: text.value });
        const said = `${file.value} ${JSON.stringify(found)}`;
        if (number === asked && said !== lookSaid) {
            show(found);
            lookSaid = said;
        }
    } catch {
        /* away: it is asked again with the next change */
    }
    requestAnimationFrame(() => (lookTook = performance.now() - began)); /* with what it took to draw */
}

/* A text field has lines of its own kind: "\n" ends them all. What was not typed keeps the ends that it has in the file, and what was gets
 * those that the file has. */
export const asField = (whole: string) => whole.replace(/\r\n?/g, "\n");
function asFile(before: string, next: string): string {
    if (!before.includes("\r")) return next;
    const ends = before.match(/\r\n?|\n/g)!, was = asField(before).split("\n"), now = next.split("\n");
    let first = 0, last = 0; /* lines that are the same, from the beginning and from the end */
    while (first < was.length && first < now.length && was[first] === now[first]) first++;
    while (last < was.length - first && last < now.length - first && was[was.length - 1 - last] === now[now.length - 1 - last]) last++;
    return now.map((line, i) => {
        if (i === now.length - 1) return line;
        return line + (i < first ? (ends[i] ?? ends[0]) : i >= now.length - last ? (ends[i - now.length + was.length] ?? ends[0]) : ends[0]);
    }).join("");
}

export function typed(field: string): void {
    const next = asFile(text.value, field);
    changed(next);
    clearTimeout(looking);
    looking = window.setTimeout(look, Math.max(200, 2 * lookTook));
}

function step(from: typeof past, to: typeof past): void {
    const next = from.value[from.value.length - 1];
    if (next === undefined || readOnly.value) return;
    to.value = [...to.value, now()];
    from.value = from.value.slice(0, -1);
    moved.value = next.moved;
    remember();
    if (trial.value && next.trial && next.trial !== trial.value.text) saveTrial(next.trial);
    if (next.text === text.value) return;
    text.value = next.text;
    later();
    look();
}
export const undo = () => step(past, future);
export const redo = () => step(future, past);

/* ---- what hands do ---- */

export async function add(description: string, own: boolean): Promise<void> {
    const answer = await edit({ op: "add", text: description, own });
    if (!answer?.names) return;
    const names = answer.names.trim().split("\n");
    chosen.value = new Set(names);
    /* who works on the canvas goes on with what came; who searches in the palette goes on there */
    if (document.activeElement === document.body || document.activeElement?.closest(".canvas"))
        requestAnimationFrame(() => document.querySelector<SVGElement>(`[data-box="${CSS.escape(names[0])}"]`)?.focus());
}

/* True: all that is chosen is on the clipboard. */
export async function copy(): Promise<boolean> {
    const all = tasks.value.filter((t) => chosen.value.has(t.name)), names = all.filter((t) => !t.include).map((t) => t.name);
    const answer = names.length ? await edit({ op: "copy", tasks: names }) : null;
    if (answer?.copied) {
        clipboard = answer.copied;
        await navigator.clipboard?.writeText(clipboard).catch(() => undefined);
    }
    if (names.length < all.length) message.value = "An included workflow is not copied: include its file once more, under another name.";
    return Boolean(answer?.copied) && names.length === all.length;
}

/* Also what another window, or an editor, has copied. */
export async function paste(given?: string): Promise<void> {
    const there = given ?? (await navigator.clipboard?.readText?.().catch(() => "")) ?? "";
    const source = /(^|\n)tasks:/.test(there) ? there : clipboard;
    if (source) await add(source, false);
}

/* A list of names as it stands in brackets; what JSON quotes is quoted the same in YAML. */
const listed = (names: string[]) => `[${names.map((n) => (/^[A-Za-z_][\w-]*$/.test(n) ? n : JSON.stringify(n))).join(", ")}]`;

export function frameSteps(name: string, members: string[]): Step[] {
    const place = ["canvas", "frames", name];
    return [members.length ? { op: "set", place, value: listed(members), yaml: true } : { op: "remove", place }];
}

/* Frames hold tasks by name: what is renamed (or, `to` null, removed) is so in them as well. */
function framesFollow(names: string[], to: string | null): Step[] {
    return (flow.value.frames ?? []).flatMap((f) => {
        const next = f.tasks.flatMap((t) => (names.includes(t) ? (to === null ? [] : [to]) : [t]));
        return next.join("\n") === f.tasks.join("\n") ? [] : frameSteps(f.name, [...new Set(next)]);
    });
}

function removal(task: Task): Step {
    if (!task.include) return { op: "remove-task", task: task.name };
    return { op: "remove", place: (flow.value.include ?? []).length > 1 ? ["include", task.name] : ["include"] };
}

/* A name that is read no more, or an order that holds no more. */
export async function cutWire(): Promise<void> {
    const w = wire.value, to = tasks.value.find((t) => t.name === w?.to);
    if (!w || !to) return;
    if (to.include || tasks.value.some((t) => t.name === w.from && t.include)) {
        message.value = "Wires of an included workflow are names: say in its form, under `as`, what its files are called here.";
        return;
    }
    const after = keyOf(to, "after"), names = after.replace(/^\s*\[|\]\s*$/g, "").split(/,|\n/).map((name) => name.trim().replace(/^- */, "").replace(/^(["'])(.*)\1$/, "$2")).filter(Boolean);
    const place = ["tasks", w.to, "after", ...(names.length > 1 ? [String(names.indexOf(w.from))] : [])];
    if (await edit(w.read === null ? { op: "remove", place } : { op: "disconnect", task: w.to, file: w.read })) wire.value = null;
}

export async function removeChosen(): Promise<void> {
    if (wire.value) return cutWire();
    const gone = tasks.value.filter((t) => chosen.value.has(t.name));
    if (gone.length) await edit(...gone.map(removal), ...framesFollow(gone.map((t) => t.name), null));
}

export async function group(name: string): Promise<void> {
    const path = `${name}.yaml`;
    const names = [...chosen.value];
    const answer = await edit({ op: "group", tasks: names, name, path }, ...framesFollow(names, name));
    if (!answer?.module) return;
    try {
        await make(beside(path), answer.module);
        await save();
        look();
        chosen.value = new Set([name]);
    } catch (error) {
        undo();
        message.value = (error as Error).message;
    }
}

export async function rename(from: string, to: string): Promise<void> {
    const at = moved.value[from];
    const notes = (flow.value.notes ?? []).filter((n) => n.beside === from).map((n) => ({ op: "set", place: ["canvas", "notes", n.name, "beside"], value: to }));
    if (!(await edit({ op: "rename-task", from, to }, ...framesFollow([from], to), ...notes))) return;
    if (at) place(to, at.x, at.y);
    chosen.value = new Set([to]);
    const replaced = (trial.value?.substitutions ?? []).filter((s) => s.what === "task" && s.target === from);
    if (replaced.length) await editTrial(false, ...replaced.map((s) => ({ op: "set", place: ["substitute", s.name, "task"], value: to })));
}

/* ---- the experiment ---- */

export async function loadTrial(): Promise<void> {
    const name = file.value;
    const found = await ask<Trial>("/api/workbench/trial", { file: name }).catch(() => null);
    if (file.value === name) trial.value = found;
}

async function saveTrial(next: string): Promise<void> {
    const t = trial.value;
    if (!t || readOnly.value) return;
    try {
        await tell("/api/workbench/save", { file: t.file, text: next, digest: t.digest });
    } catch (error) {
        message.value = `${t.file}: ${(error as Error).message}`;
    }
    await loadTrial(); /* as it is now, whoever wrote it */
}

/* `step`: undo goes back to before it. It is on disk at once: substitutions are not typed letter by letter. */
export async function editTrial(step: boolean, ...steps: Step[]): Promise<void> {
    const t = trial.value;
    if (!t || readOnly.value) return;
    try {
        const { text: next } = await tell<{ text: string }>("/api/workbench/edit", { file: t.file, text: t.text, steps });
        if (step) {
            past.value = [...past.value, now()];
            future.value = [];
        }
        message.value = "";
        await saveTrial(next);
    } catch (error) {
        message.value = (error as Error).message;
    }
}
