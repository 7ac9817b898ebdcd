/* Frames and notes of the canvas. A frame goes around the tasks that it names, wherever they are; a note stands above all, with a line to
 * its task. Both are in the file (`canvas:`), so that a colleague sees them. */
import { useRef } from "preact/hooks";
import { type Frame, type Note, type Task, chosen, edit, flow, frameSteps, moved, readOnly, tasks } from "./workbench_state";

type Box = { x: number; y: number; width: number; height: number };

/* Whole words, about as many letters in a line as a note is wide; six lines, since more belongs into a text. */
function noteLines(text: string): string[] {
    const lines: string[] = [""];
    for (const word of text.split(/\s+/).filter(Boolean)) {
        const line = lines[lines.length - 1];
        if (line && line.length + word.length > 27) lines.push(word);
        else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines.length > 6 ? [...lines.slice(0, 5), `${lines[5]} …`] : lines;
}

const noteKey = (note: Note) => `note ${note.name}`; /* among the places of boxes; no task's name has a blank */

export function noteBoxes(all: Task[]): { note: Note; box: Box; lines: string[]; task: Task | null }[] {
    const top = Math.min(0, ...all.map((t) => t.y)) - 30 - ((flow.value.frames ?? []).length ? 30 : 0);
    const used = new Map<number, number>(); /* notes of one column stand on each other */
    let free = Math.min(0, ...all.map((t) => t.x));
    return (flow.value.notes ?? []).map((note) => {
        const task = all.find((t) => t.name === note.beside) ?? null, lines = noteLines(note.text);
        const height = 14 + 16 * lines.length, x = task ? task.x : free;
        if (!task) free += 210;
        const below = used.get(x) ?? top;
        used.set(x, below - height - 10);
        const at = moved.value[noteKey(note)] ?? { x, y: below - height };
        return { note, lines, task, box: { ...at, width: 196, height } };
    });
}

function frameBox(frame: Frame, all: Task[]): Box | null {
    const inside = all.filter((t) => frame.tasks.includes(t.name));
    if (!inside.length) return null;
    const x = Math.min(...inside.map((t) => t.x)) - 18, y = Math.min(...inside.map((t) => t.y)) - 34;
    return { x, y, width: Math.max(...inside.map((t) => t.x + t.width)) + 18 - x, height: Math.max(...inside.map((t) => t.y + t.height)) + 28 - y };
}

/* What is seen of them counts when all is shown. */
export function aroundBoxes(all: Task[]): Box[] {
    return [...noteBoxes(all).map((n) => n.box), ...(flow.value.frames ?? []).flatMap((f) => frameBox(f, all) ?? [])];
}

export function Frames({ all }: { all: Task[] }) {
    return (
        <>
            {(flow.value.frames ?? []).map((f) => {
                const b = frameBox(f, all);
                const choose = () => (chosen.value = new Set(f.tasks.filter((name) => all.some((t) => t.name === name))));
                return b ? (
                    <g class="frame" key={f.name}>
                        <rect x={b.x} y={b.y} width={b.width} height={b.height} rx="10" />
                        <text x={b.x + 12} y={b.y + 17} tabindex={0} role="button" aria-label={`frame ${f.name}: choose its ${f.tasks.length} tasks`}
                            onPointerDown={(event) => event.stopPropagation()} onClick={choose} onKeyDown={(event) => event.key === "Enter" && choose()}>{f.name}</text>
                    </g>
                ) : null;
            })}
        </>
    );
}

export function Notes({ all, grab }: { all: Task[]; grab: (key: string, at: Box, event: PointerEvent) => void }) {
    return (
        <>
            {noteBoxes(all).map(({ note, box, lines, task }) => (
                <g class="note-box" key={note.name} onPointerDown={(event) => grab(noteKey(note), box, event)}>
                    {task ? <path d={`M${box.x + 20},${box.y + box.height} L${task.x + 20},${task.y}`} /> : null}
                    <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="3" />
                    <text>
                        <title>{note.text}</title>
                        {lines.map((line, i) => <tspan x={box.x + 9} y={box.y + 19 + 16 * i}>{line}</tspan>)}
                    </text>
                </g>
            ))}
        </>
    );
}

/* ---- forms ---- */

/* A name that no note has yet. */
function freeName(wanted: string): string {
    const taken = new Set((flow.value.notes ?? []).map((n) => n.name));
    for (let i = 1; ; i++) {
        const name = i > 1 ? `${wanted}${i}` : wanted;
        if (!taken.has(name)) return name;
    }
}

function setNote(note: Note, text: string): void {
    if (!text.trim()) edit({ op: "remove", place: ["canvas", "notes", note.name] });
    else edit({ op: "set", place: note.alone ? ["canvas", "notes", note.name] : ["canvas", "notes", note.name, "text"], value: text });
}

/* The notes of a task (`beside`), or those that stand alone, and one more. */
export function NoteForm({ beside }: { beside: string }) {
    const mine = (flow.value.notes ?? []).filter((n) => n.beside === beside || (!beside && !tasks.value.some((t) => t.name === n.beside)));
    const more = useRef<HTMLTextAreaElement>(null);
    const add = () => {
        const text = more.current!.value.trim();
        if (!text) return;
        const name = freeName(beside || "note");
        const steps = beside ? [{ op: "set", place: ["canvas", "notes", name, "text"], value: text }, { op: "set", place: ["canvas", "notes", name, "beside"], value: beside }] : [{ op: "set", place: ["canvas", "notes", name], value: text }];
        edit(...steps);
        more.current!.value = "";
    };
    if (readOnly.value && !mine.length) return null;
    return (
        <fieldset>
            <legend>{beside ? "Note" : "Notes"}</legend>
            {mine.map((n) => (
                <div class="field wide" key={n.name}>
                    <textarea aria-label={`note ${n.name}`} rows={3} readOnly={readOnly.value} defaultValue={n.text} key={n.text} onBlur={(event) => {
                        const next = (event.target as HTMLTextAreaElement).value;
                        if (next !== n.text) setNote(n, next);
                    }} />
                    {readOnly.value ? null : <button type="button" aria-label={`remove note ${n.name}`} onClick={() => setNote(n, "")}>✕</button>}
                </div>
            ))}
            {readOnly.value ? null : (
                <div class="row">
                    <textarea ref={more} rows={2} aria-label="a new note" placeholder="what others should know" />
                    <button type="button" onClick={add}>Add the note</button>
                </div>
            )}
        </fieldset>
    );
}

/* Around what is chosen. */
export function FrameForm() {
    const title = useRef<HTMLInputElement>(null);
    return (
        <form class="row" onSubmit={(event) => {
            event.preventDefault();
            edit(...frameSteps(title.current!.value, [...chosen.value]));
        }}>
            <input ref={title} required pattern="[^:#{}\[\]]+" placeholder="title" aria-label="title of the frame" />
            <button type="submit">Frame them</button>
        </form>
    );
}

export function FrameList() {
    const frames = flow.value.frames ?? [];
    if (!frames.length) return null;
    return (
        <fieldset>
            <legend>Frames</legend>
            {frames.map((f) => (
                <div class="wiring" key={f.name}>
                    <span>{f.name}: {f.tasks.join(", ")}</span>
                    {readOnly.value ? null : <button type="button" aria-label={`remove frame ${f.name}`} onClick={() => edit(...frameSteps(f.name, []))}>✕</button>}
                </div>
            ))}
        </fieldset>
    );
}
