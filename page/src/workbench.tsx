/* The Workbench: tasks from a palette, wired on a canvas, described in a form, and the YAML beside it; each of them changes the same
 * text (workbench_state.ts). */
import { computed, effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address, go, goTo } from "./address";
import { type About, ask, changes } from "./server";
import { views } from "./views";
import { seconds } from "./words";
import { Canvas, boxFill, kindsOf } from "./workbench_canvas";
import { DataPanel, Inspector } from "./workbench_inspector";
import { TrialButton } from "./workbench_trial";
import {
    type LibraryTask, type TaskKey, add, asField, chosen, copy, create, edit, file, flow, folder, future, light, lights, message, only, open, outer, past, paste, place, readOnly, redo, refresh,
    removeChosen, resolve, saving, tasks, text, tidy, typed, undo, unlit,
} from "./workbench_state";

/* ---- the palette ---- */

function Palette({ library, use }: { library: LibraryTask[]; use: (task: LibraryTask) => void }) {
    const wanted = useSignal("");
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = library.filter((t) => words.every((w) => `${t.name} ${t.group} ${t.about} ${t.needs}`.toLowerCase().includes(w)));
    const groups = [...new Set(found.map((t) => t.group))];
    /* Enter takes the one whose name fits best, not the first that mentions the words */
    const best = found.find((t) => t.name === wanted.value.trim()) ?? found.find((t) => words.every((w) => t.name.includes(w))) ?? found[0];
    return (
        <aside class="palette card" aria-label="tasks">
            <h2>Tasks</h2>
            <input type="search" placeholder="search" aria-label="search tasks" value={wanted.value}
                onInput={(event) => (wanted.value = (event.target as HTMLInputElement).value)}
                onKeyDown={(event) => {
                    if (event.key === "Enter" && best) use(best);
                }} />
            <div class="groups">
                {groups.map((g) => (
                    <details open={words.length > 0 || groups.length < 3 || g === "mine" || g === "images"}>
                        <summary>{g}</summary>
                        <ul>
                            {found.filter((t) => t.group === g).map((t) => (
                                <li>
                                    <button type="button" draggable={!readOnly.value} disabled={t.problem !== null || readOnly.value} title={t.problem ?? `${t.about}${t.needs ? ` Needs ${t.needs}.` : ""}`}
                                        onDragStart={(event) => event.dataTransfer?.setData("text/plain", t.name)} onClick={() => use(t)}>
                                        {t.name}
                                    </button>
                                </li>
                            ))}
                        </ul>
                    </details>
                ))}
                {found.length ? null : <p>No such task. Yours belong into tasks/ beside the workflow.</p>}
            </div>
        </aside>
    );
}

/* ---- the text ---- */

/* Numbers of lines, mistakes, and beside the lines of a task the colour of its kind, as on its box. Drawn again when one of these changes
 * and not with each letter: that would be too slow in a text of thousands of lines. */
const lineCount = computed(() => text.value.split("\n").length);
const lineLooks = computed(() => {
    const kinds = kindsOf(tasks.value), fills = new Map<number, string>();
    for (const t of tasks.value) for (let line = t.line; line <= t.last; line++) fills.set(line, boxFill(t, kinds));
    return { fills, wrong: new Map(flow.value.problems.map((p) => [p.line, p.text])) };
});
function Lines() {
    const { fills, wrong } = lineLooks.value, one = only.value;
    return (
        <>
            {Array.from({ length: lineCount.value }, (_, i) => (
                <span class={`${wrong.has(i + 1) ? "wrong" : ""} ${one && i + 1 >= one.line && i + 1 <= one.last ? "chosen" : ""}`} title={wrong.get(i + 1)} ref={(line) => void (line && (line.style.borderRightColor = fills.get(i + 1) ?? "transparent"))}>{wrong.has(i + 1) ? `✕${i + 1}` : i + 1}</span>
            ))}
        </>
    );
}

function Editor() {
    const area = useRef<HTMLTextAreaElement>(null), gutter = useRef<HTMLPreElement>(null);
    const one = only.value;
    useEffect(() => effect(() => {
        if (area.current && area.current.value !== asField(text.value)) area.current.value = text.value;
    }), []);
    /* the lines of the box that is chosen come into sight */
    useEffect(() => {
        if (one && area.current && document.activeElement !== area.current) area.current.scrollTop = Math.max(0, (one.line - 2) * 18);
    }, [one?.name]);
    return (
        <section class="text card" aria-label="YAML">
            <h2>{file.value}</h2>
            <div class="editor">
                <pre ref={gutter} aria-hidden="true">
                    <Lines />
                </pre>
                <textarea ref={area} spellcheck={false} readOnly={readOnly.value} aria-label={`text of ${file.value}`} wrap="off"
                    onInput={(event) => typed((event.target as HTMLTextAreaElement).value)}
                    onScroll={() => gutter.current && (gutter.current.scrollTop = area.current!.scrollTop)} />
            </div>
        </section>
    );
}

function Problems() {
    const found = flow.value.problems;
    const at = (line: number) => {
        const task = tasks.value.find((t) => line >= t.line && line <= t.last);
        if (task) chosen.value = new Set([task.name]);
        const area = document.querySelector<HTMLTextAreaElement>(".editor textarea");
        if (!area || !line) return;
        const lines = area.value.split("\n"), from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
        area.focus();
        area.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
    };
    return (
        <section class="problems card" aria-label="problems" aria-live="polite">
            <h2>Problems</h2>
            {message.value ? <p class="refused" role="status">{message.value}</p> : null}
            {/* whole here, and not in the bar: what is under a hand that drags must not move when it comes */}
            {unlit.value && tasks.value.length ? <p class="unlit" role="status">{outer.value.of ? `${outer.value.of} would not run` : "It would not run"}: {unlit.value.replaceAll(`${folder.value}/`, "")}</p> : null}
            {found.length ? (
                <ul>
                    {found.map((p) => (
                        <li>
                            <button type="button" onClick={() => at(p.line)}>{p.line ? `line ${p.line}: ` : ""}{p.text}</button>
                        </li>
                    ))}
                </ul>
            ) : (unlit.value && tasks.value.length) || message.value ? null : <p>none</p>}
        </section>
    );
}

/* ---- the bar above ---- */

const states = { saved: "● saved", waits: "◐ saving", away: "○ not saved: the server does not answer", refused: "✕ not saved", conflict: "✕ changed by somebody else" };

function Bar({ flows }: { flows: string[] }) {
    const name = useRef<HTMLInputElement>(null);
    const making = useSignal(false);
    const known = flows.includes(file.value) || !file.value ? flows : [...flows, file.value];
    const l = lights.value;
    return (
        <div class="bar" role="toolbar" aria-label="tools">
            <select aria-label="workflow" value={file.value} onChange={(event) => goTo("workbench", { file: (event.target as HTMLSelectElement).value })}>
                {file.value ? null : <option value="">choose a workflow</option>}
                {known.map((f) => <option value={f}>{f}</option>)}
            </select>
            {outer.value.of ? <button type="button" title="the workflow that this one is a part of" onClick={() => goTo("workbench", { file: outer.value.of })}>↑ {outer.value.of} · {outer.value.box}</button> : null}
            {readOnly.value ? null : making.value ? (
                <form onSubmit={(event) => {
                    event.preventDefault();
                    const given = name.current!.value, wanted = /\.ya?ml$/.test(given) ? given : `${given}.yaml`;
                    create(wanted).then(() => ((making.value = false), goTo("workbench", { file: wanted })), (error: Error) => (message.value = error.message));
                }}>
                    <input ref={name} required pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]*" title="letters, digits, and . _ -" placeholder="name" aria-label="name of the new workflow" />
                    <button type="submit">Make</button>
                </form>
            ) : <button type="button" onClick={() => (making.value = true)}>New</button>}
            {readOnly.value ? null : (
                <>
                    <button type="button" disabled={!past.value.length} onClick={undo} title="Ctrl+Z">Undo</button>
                    <button type="button" disabled={!future.value.length} onClick={redo} title="Ctrl+Shift+Z">Redo</button>
                    <button type="button" onClick={() => tidy()} title="t">Tidy</button>
                </>
            )}
            {file.value && views.some((v) => v.name === "run") ? <button type="button" class="main" onClick={() => goTo("run", { flow: outer.value.of || file.value })}>{outer.value.of ? `Run ${outer.value.of} …` : "Run …"}</button> : null}
            <TrialButton />
            {l ? <span class="sum">{l.tasks - l.run} of {l.tasks} up to date{l.run ? ` · would run ${l.run}` : ""}{l.run && l.seconds !== null ? ` · ${seconds(l.seconds)}` : ""}</span> : null}
            {!l && unlit.value && tasks.value.length ? <span class="sum unlit" title={unlit.value}>✕ it would not run</span> : null}
            {file.value ? <span class={`saving ${saving.value}`} role="status">{states[saving.value]}</span> : null}
            {saving.value === "conflict" ? (
                <>
                    <button type="button" onClick={() => resolve("theirs")}>Take theirs</button>
                    <button type="button" onClick={() => resolve("mine")}>Keep mine</button>
                </>
            ) : null}
        </div>
    );
}

/* ---- keys ---- */

function writing(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/* As docs/page.md has them. */
export const workbenchKeys: [string, string][] = [
    ["Tab, arrows", "from box to box"],
    ["Enter", "into the form of the box"],
    ["w", "take a wire from this box; on another one, lay it there"],
    ["Space, Shift+Space", "choose this box, or this one as well"],
    ["Alt+arrows", "move the box"],
    ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
    ["Ctrl+C, X, V, D, A", "copy, cut, paste, double, choose all"],
    ["Delete", "remove what is chosen: boxes, or a wire"],
    ["t", "tidy"],
    ["/", "search the palette"],
];

function useWorkbenchKeys(): void {
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            if (writing(event.target)) return;
            const command = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
            if (command && key === "z") event.shiftKey ? redo() : undo();
            else if (command && key === "y") redo();
            else if (command && key === "c" && !getSelection()?.toString()) copy();
            else if (command && key === "x") copy().then((whole) => (whole ? removeChosen() : undefined));
            else if (command && key === "d") copy().then((whole) => (whole ? paste() : undefined));
            else if (command && key === "a") chosen.value = new Set(tasks.value.map((t) => t.name));
            else if (!command && (event.key === "Delete" || event.key === "Backspace")) removeChosen();
            else if (!command && key === "t") tidy();
            else if (!command && key === "/") {
                const search = document.querySelector<HTMLInputElement>(".palette input");
                search?.focus();
                search?.select();
            }
            else return;
            event.preventDefault();
        };
        const pasted = (event: ClipboardEvent) => {
            if (!writing(event.target)) paste(event.clipboardData?.getData("text/plain") ?? "");
        };
        addEventListener("keydown", press);
        addEventListener("paste", pasted);
        return () => (removeEventListener("keydown", press), removeEventListener("paste", pasted));
    }, []);
}

export function Workbench({ about }: { about: About }) {
    const library = useSignal<LibraryTask[]>([]), keys = useSignal<TaskKey[]>([]), flows = useSignal<string[]>([]);
    const wanted = address.value.values.file ?? "";
    useWorkbenchKeys();
    useEffect(() => {
        readOnly.value = about.read_only;
        folder.value = about.folder;
        ask<LibraryTask[]>("/api/workbench/library").then((found) => (library.value = found), (error: Error) => (message.value = error.message));
        ask<TaskKey[]>("/api/workbench/keys").then((found) => (keys.value = found), () => undefined);
    }, []);
    useEffect(() => {
        ask<string[]>("/api/workbench/flows").then((found) => {
            flows.value = found;
            /* as the address is now: the user may have gone elsewhere meanwhile */
            if (!address.value.values.file && /^(workbench)?$/.test(address.value.view) && found.length) goTo("workbench", { file: found.includes(file.value) ? file.value : found[0] }, true);
        }, () => undefined);
    }, [file.value]);
    useEffect(() => {
        if (wanted && wanted !== file.value) open(wanted).catch((error: Error) => (message.value = error.message));
    }, [wanted]);
    useEffect(() => {
        const back = () => void refresh();
        addEventListener("focus", back);
        document.addEventListener("visibilitychange", back);
        return () => (removeEventListener("focus", back), document.removeEventListener("visibilitychange", back));
    }, []);
    const { of, box } = outer.value;
    useEffect(() => void (file.value && light()), [changes.value, of, box]);
    const use = async (task: LibraryTask, at?: { x: number; y: number }) => {
        await add(task.text, true);
        const names = [...chosen.value];
        if (at && names.length) names.forEach((name, i) => place(name, at.x - 90, at.y - 20 + 110 * i));
    };
    return (
        <main class="workbench" tabIndex={-1}>
            <Bar flows={flows.value} />
            <Palette library={library.value} use={(t) => use(t)} />
            <div class="middle">
                <Canvas dropped={(name, x, y) => {
                    const task = library.value.find((t) => t.name === name);
                    if (task) use(task, { x, y });
                }} />
                <DataPanel />
            </div>
            <Inspector keys={keys.value} library={library.value} />
            <Editor />
            <Problems />
        </main>
    );
}
