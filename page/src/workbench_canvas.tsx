/* The canvas of the Workbench: boxes with ports, wires, a small map. SVG and not a bitmap: boxes can be reached with Tab, and screen
 * readers tell them. Graphs of this view are written by people; those with 10^5 tasks are looked at in Run.
 *
 * Mouse: drag a box; drag from an output to an input; a press on a wire chooses it; drag the ground to pan, with Shift to choose; the
 * wheel zooms.
 * Keys on a box: arrows go to the next box, Alt and arrows move it, Enter opens the inspector, w takes a wire from it and, on another
 * box, lays it there. */
import { computed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { go } from "./address";
import { kindFill, otherFill } from "./colours";
import { Frames, Notes, aroundBoxes } from "./workbench_around";
import { shorten, shortenPath } from "./words";
import { type Light, type Port, type Task, chosen, edit, file, flow, keyOf, inside, lights, message, moving, place, port, readOnly, tasks, wire } from "./workbench_state";
import { substitutionsOf } from "./workbench_trial";

export type Grip = { task: string; port: Port }; /* a wire that is being laid, from this output */
type View = { x: number; y: number; k: number };

export function portAt(task: Task, p: Port): { x: number; y: number } {
    const same = task.ports.filter((q) => q.out === p.out);
    const i = same.findIndex((q) => q.file === p.file && q.place.join("/") === p.place.join("/"));
    return { x: task.x + (p.out ? task.width : 0), y: task.y + 40 + 22 * i };
}

function wirePath(a: { x: number; y: number }, b: { x: number; y: number }): string {
    const bend = Math.max(40, Math.abs(b.x - a.x) / 2);
    return `M${a.x},${a.y} C${a.x + bend},${a.y} ${b.x - bend},${b.y} ${b.x},${b.y}`;
}

/* ---- lights ---- */

const words: Record<string, [string, string]> = {
    fresh: ["●", "up to date"],
    stale: ["○", "would run"],
    running: ["◐", "runs"],
    failed: ["✕", "failed"],
    waits: ["·", "waits"],
    skipped: ["–", "skipped"],
};

/* By the name of a box: a light is that of the task, of a member of the family (name@i=1) or of something inside (name/inner). Found once
 * for all boxes, since each box would look through all lights. */
const lightsByBox = computed(() => {
    const found = new Map<string, Light[]>();
    const add = (box: string, l: Light) => found.get(box)?.push(l) ?? found.set(box, [l]);
    for (const l of lights.value?.lights ?? []) {
        for (const { index } of l.task.matchAll(/[@/]/g)) add(l.task.slice(0, index), l);
        add(l.task, l);
    }
    return found;
});

export function lightOf(task: Task): { state: string; sign: string; text: string; why: string } {
    const mine = lightsByBox.value.get(task.name) ?? [];
    if (!mine.length) return { state: "unknown", sign: "·", text: "not known yet", why: "" };
    const state = ["failed", "running", "waits", "stale", "skipped", "fresh"].find((s) => mine.some((l) => l.state === s)) ?? "fresh";
    const of = mine.filter((l) => l.state === state);
    const [sign, word] = words[state];
    return { state, sign, text: mine.length > 1 ? `${of.length} of ${mine.length} ${word}` : word, why: of[0].why ?? "" };
}

/* ---- boxes ---- */

/* The server says which colour a kind has. While the text has a mistake it cannot, and kinds are told by names alone. */
const kindOf = (task: Task) => keyOf(task, "kind") || task.name.replace(/[\d_.:# -]+$/, "") || task.name;
export function boxFill(task: Task, kinds: string[]): string {
    const at = task.colour ?? kinds.indexOf(kindOf(task));
    return at >= 0 ? kindFill(at) : otherFill;
}
/* Those that have a colour of their own: the most frequent ones, then in the file's order. */
export function kindsOf(all: Task[]): string[] {
    const tasks = new Map<string, number>();
    for (const t of all) tasks.set(kindOf(t), (tasks.get(kindOf(t)) ?? 0) + t.count);
    return [...tasks].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([kind]) => kind);
}

function Ports({ task, grip, take }: { task: Task; grip: Grip | null; take: (p: Port, event: PointerEvent) => void }) {
    return (
        <>
            {task.ports.map((p) => {
                const at = portAt(task, p), alone = !task.ports.some((q) => q.out !== p.out && portAt(task, q).y === at.y);
                const name = p.place.length > 1 && !/^\d+$/.test(p.place[1]) && p.place[1] !== p.file ? `${p.place[1]}: ${p.file}` : p.file;
                return (
                    <g class={`port ${p.out ? "out" : "in"} ${port.value?.task === task.name && port.value.file === p.file ? "shown" : ""}`}
                        data-task={task.name} data-place={p.place.join("/")} data-out={p.out ? "1" : ""}>
                        <circle cx={at.x} cy={at.y} r={grip && !p.out ? 7 : 5} onPointerDown={(event) => take(p, event)}>
                            <title>{p.out ? "drag to an input" : "lay a wire here"}</title>
                        </circle>
                        <text x={at.x + (p.out ? -10 : 10)} y={at.y + 4} text-anchor={p.out ? "end" : "start"}
                            onClick={(event) => (event.stopPropagation(), (port.value = { task: task.name, file: p.file }))}>
                            <title>{`${name}: show the data`}</title>
                            {name === p.file ? shortenPath(name, alone ? 24 : 12) : shorten(name, alone ? 24 : 12)}
                        </text>
                    </g>
                );
            })}
        </>
    );
}

function Box({ task, fill, far, grip, take, grab, key_, reached }: {
    task: Task;
    fill: string;
    far: boolean; /* too small for words: its kind's colour is all that is seen of it */
    grip: Grip | null;
    take: (p: Port, event: PointerEvent) => void;
    grab: (event: PointerEvent) => void;
    key_: (event: KeyboardEvent) => void;
    reached: (event: FocusEvent) => void;
}) {
    const family = keyOf(task, "each"), sub = task.include ? keyOf(task, "file") : keyOf(task, "flow"), light = lightOf(task);
    const others = substitutionsOf(task).flatMap((s) => s.by.map((k) => k.key || k.value));
    const problem = flow.value.problems.find((p) => p.line >= task.line && p.line <= task.last);
    const { x, y, width, height } = task, when = keyOf(task, "when");
    const label = `${task.name}${chosen.value.has(task.name) ? ", chosen" : ""}${family ? `, a family of ${task.count}` : ""}${sub ? `, the ${task.include ? "included" : "sub-"}workflow ${sub}` : ""}${when ? `, only when ${when}` : ""}${others.length ? `, tried as ${others.join(", ")}` : ""}: ${problem ? problem.text : light.text}`;
    return (
        <g class={`box ${chosen.value.has(task.name) ? "chosen" : ""} ${problem ? "wrong" : ""}`} tabindex={0} role="group"
            aria-roledescription="task" aria-label={label} data-box={task.name} onPointerDown={grab} onKeyDown={key_} onFocus={reached} onDblClick={() => sub && go(inside(task, sub))}>
            <title>{task.name}</title>
            {family ? <rect class="behind" x={x + 8} y={y - 8} width={width} height={height} rx="7" /> : null}
            {family ? <rect class="behind" x={x + 4} y={y - 4} width={width} height={height} rx="7" /> : null}
            <rect class="card" x={x} y={y} width={width} height={height} rx="7" />
            {sub ? <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="5" /> : null}
            <rect x={x} y={y} width={far ? width : 7} height={height} rx="3" fill={fill} />
            <text class="name" x={x + 16} y={y + 20}>
                {shorten(task.name, 18)}
                {family ? <tspan class="count"> ×{task.count}</tspan> : null}
            </text>
            {when ? (
                <text class="when" x={x + width - 9} y={y + 20} text-anchor="end">
                    <title>{`only when ${when}`}</title>◇
                </text>
            ) : null}
            <text class={`light ${light.state}`} x={x + 16} y={y + height + 15}>
                <title>{light.why}</title>
                {problem ? "✕ mistake" : `${light.sign} ${light.text}`}
            </text>
            {others.length ? (
                <text class="tried" x={x + 16} y={y + height + 31}>
                    <title>{others.join(", ")}</title>
                    ⇄ {shorten(others.join(" · "), 28)}
                </text>
            ) : null}
            <Ports task={task} grip={grip} take={take} />
        </g>
    );
}

function Wires({ all }: { all: Task[] }) {
    return (
        <g class="wires">
            {(flow.value.wires ?? []).map((w) => {
                const from = all[w.from], to = all[w.to];
                if (!from || !to) return null;
                const made = from.ports[w.made], read = to.ports[w.read];
                const a = made ? portAt(from, made) : { x: from.x + from.width, y: from.y + 14 };
                const b = read ? portAt(to, read) : { x: to.x, y: to.y + 14 };
                const near = chosen.value.has(from.name) || chosen.value.has(to.name), d = wirePath(a, b), one = wire.value;
                const its = one !== null && one.from === from.name && one.to === to.name && one.read === (read?.file ?? null) && one.made === (made?.file ?? null);
                /* a broad one that is not seen below, for hands that do not hit two pixels */
                return (
                    <g class={its ? "chosen" : ""} data-wire={`${from.name} ${to.name}`}
                        onPointerDown={(event) => {
                            if (event.button) return;
                            event.stopPropagation();
                            chosen.value = new Set();
                            wire.value = { from: from.name, to: to.name, made: made?.file ?? null, read: read?.file ?? null };
                        }}>
                        <title>{made ? made.file : "order alone"}</title>
                        <path class="grip" d={d} />
                        <path class={`${made ? "wire" : "wire order"} ${near || its ? "near" : ""}`} d={d} />
                    </g>
                );
            })}
        </g>
    );
}

/* ---- the small map ---- */

function bounds(boxes: Task[]): { x: number; y: number; width: number; height: number } {
    const all = [...boxes, ...aroundBoxes(boxes)];
    if (!all.length) return { x: 0, y: 0, width: 400, height: 300 };
    const x = Math.min(...all.map((t) => t.x)) - 40, y = Math.min(...all.map((t) => t.y)) - 40;
    return { x, y, width: Math.max(...all.map((t) => t.x + t.width)) + 40 - x, height: Math.max(...all.map((t) => t.y + t.height)) + 50 - y };
}

/* Only where some of it is out of sight: elsewhere it would hide boxes, and say nothing. A click goes there, and so does dragging. */
function Minimap({ all, view, size, go }: { all: Task[]; view: View; size: { w: number; h: number }; go: (x: number, y: number) => void }) {
    const b = bounds(all), slack = 1 / view.k; /* a pixel: sums of fractions */
    if (view.x <= b.x + slack && view.y <= b.y + slack && view.x + size.w / view.k >= b.x + b.width - slack && view.y + size.h / view.k >= b.y + b.height - slack) return null;
    const to = (event: PointerEvent) => {
        const map = event.currentTarget as SVGElement, r = map.getBoundingClientRect();
        if (event.type === "pointerdown") map.setPointerCapture(event.pointerId);
        else if (!event.buttons) return;
        const k = Math.max(b.width / r.width, b.height / r.height);
        go(b.x + b.width / 2 + (event.clientX - r.left - r.width / 2) * k, b.y + b.height / 2 + (event.clientY - r.top - r.height / 2) * k);
    };
    return (
        <svg class="minimap" viewBox={`${b.x} ${b.y} ${b.width} ${b.height}`} role="img" aria-label="map of all boxes" onPointerDown={to} onPointerMove={to}>
            {all.map((t) => <rect class={chosen.value.has(t.name) ? "chosen" : ""} x={t.x} y={t.y} width={t.width} height={t.height} />)}
            <rect class="seen" x={view.x} y={view.y} width={size.w / view.k} height={size.h / view.k} />
        </svg>
    );
}

/* ---- the canvas ---- */

export async function connect(from: Grip, to: Task, at: Port | null): Promise<void> {
    /* what an included workflow calls a file is known in its own text alone */
    if (to.include || tasks.value.some((t) => t.name === from.task && t.include)) message.value = "Wires of an included workflow are names: say in its form, under `as`, what its files are called here.";
    else await edit({ op: "connect", from: from.task, file: from.port.file, to: to.name, place: at ? at.place : [] });
}

/* The box that is nearest in a direction: what lies ahead counts by its distance, what lies aside twice. */
function neighbour(all: Task[], from: Task, key: string): Task | null {
    const dx = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0, dy = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    let best: Task | null = null, least = Infinity;
    for (const t of all) {
        const ahead = (t.x - from.x) * dx + (t.y - from.y) * dy, aside = Math.abs((t.x - from.x) * dy) + Math.abs((t.y - from.y) * dx);
        if (t.name !== from.name && ahead > 1 && ahead + 2 * aside < least) {
            least = ahead + 2 * aside;
            best = t;
        }
    }
    return best;
}

export function Canvas({ dropped }: { dropped: (name: string, x: number, y: number) => void }) {
    const svg = useRef<SVGSVGElement>(null);
    const view = useSignal<View>({ x: -40, y: -40, k: 1 });
    const size = useSignal({ w: 800, h: 400 });
    const grip = useSignal<Grip | null>(null);
    const loose = useSignal<{ x: number; y: number } | null>(null); /* where the wire's other end is */
    const frame = useSignal<{ x: number; y: number; x2: number; y2: number } | null>(null);
    const all = tasks.value;
    const kinds = kindsOf(all);
    const parted = useRef(false); /* somebody has moved what is seen */
    const whole = (b = bounds(tasks.value)) => Math.min(size.value.w / b.width, size.value.h / b.height, 1.2);
    const showAll = () => {
        parted.current = false;
        const b = bounds(tasks.value), k = whole(b);
        view.value = { k, x: b.x - (size.value.w / k - b.width) / 2, y: b.y - (size.value.h / k - b.height) / 2 };
    };
    useEffect(() => {
        const watcher = new ResizeObserver(([entry]) => {
            size.value = { w: entry.contentRect.width, h: entry.contentRect.height };
            showAll();
        });
        watcher.observe(svg.current!);
        return () => watcher.disconnect();
    }, []);
    /* another layout is shown whole, unless somebody looks at a part of it */
    const b = bounds(flow.value.tasks ?? []);
    useEffect(() => void (parted.current || showAll()), [b.x, b.y, b.width, b.height, all.length]);
    const world = (event: { clientX: number; clientY: number }) => {
        const r = svg.current!.getBoundingClientRect();
        return { x: view.value.x + (event.clientX - r.left) / view.value.k, y: view.value.y + (event.clientY - r.top) / view.value.k };
    };
    const zoom = (factor: number, px: number, py: number) => {
        parted.current = true;
        const { x, y, k } = view.value, next = Math.min(Math.max(k * factor, Math.min(0.15, whole())), 3); /* as far as all is seen */
        view.value = { k: next, x: x + px / k - px / next, y: y + py / k - py / next };
    };
    /* follow the pointer until it is let go */
    const follow = (move: (event: PointerEvent) => void, end: (event: PointerEvent) => void) => {
        const stop = new AbortController();
        addEventListener("pointermove", move, { signal: stop.signal });
        addEventListener("pointerup", (event) => (stop.abort(), end(event)), { signal: stop.signal });
        addEventListener("pointercancel", () => stop.abort(), { signal: stop.signal });
    };
    const lay = (from: Grip, event: { clientX: number; clientY: number }) => {
        grip.value = null;
        loose.value = null;
        const under = document.elementFromPoint(event.clientX, event.clientY);
        const end = under?.closest<SVGElement>("[data-place]"), box = under?.closest<SVGElement>("[data-box]");
        const to = tasks.value.find((t) => t.name === (end?.dataset.task ?? box?.dataset.box));
        if (!to || to.name === from.task) return;
        if (end?.dataset.out) message.value = "A wire ends at an input; this is an output.";
        else connect(from, to, (end && to.ports.find((p) => !p.out && p.place.join("/") === end.dataset.place)) || null);
    };
    const take = (task: Task) => (p: Port, event: PointerEvent) => {
        event.stopPropagation();
        event.preventDefault();
        if (!p.out) return void (port.value = { task: task.name, file: p.file });
        if (readOnly.value) return;
        const from = { task: task.name, port: p };
        grip.value = from;
        loose.value = world(event);
        follow((e) => (loose.value = world(e)), (e) => lay(from, e));
    };
    const grab = (task: Task) => (event: PointerEvent) => {
        if (event.button) return;
        event.stopPropagation();
        const more = event.shiftKey || event.ctrlKey || event.metaKey;
        if (more) chosen.value = new Set(chosen.value.has(task.name) ? [...chosen.value].filter((n) => n !== task.name) : [...chosen.value, task.name]);
        else if (!chosen.value.has(task.name)) chosen.value = new Set([task.name]);
        const start = world(event), boxes = tasks.value.filter((t) => chosen.value.has(t.name));
        let far = false;
        follow(
            (e) => {
                const at = world(e);
                const began = far;
                far ||= Math.hypot(at.x - start.x, at.y - start.y) * view.value.k > 3;
                if (far && !began) moving();
                parted.current ||= far;
                if (far) for (const t of boxes) place(t.name, t.x + at.x - start.x, t.y + at.y - start.y);
            },
            () => !far && !more && (chosen.value = new Set([task.name])),
        );
    };
    const grabNote = (key: string, at: { x: number; y: number }, event: PointerEvent) => {
        if (event.button) return;
        event.stopPropagation();
        const start = world(event);
        let far = false;
        follow((e) => {
            const began = far, dx = world(e).x - start.x, dy = world(e).y - start.y;
            far ||= Math.hypot(dx, dy) * view.value.k > 3;
            if (far && !began) moving();
            if (far) place(key, at.x + dx, at.y + dy);
        }, () => undefined);
    };
    const ground = (event: PointerEvent) => {
        if (event.button) return;
        const start = world(event), from = { ...view.value }, px = event.clientX, py = event.clientY;
        if (event.shiftKey) frame.value = { ...start, x2: start.x, y2: start.y };
        let far = false;
        follow(
            (e) => {
                far ||= Math.hypot(e.clientX - px, e.clientY - py) > 3;
                if (frame.value) frame.value = { ...frame.value, x2: world(e).x, y2: world(e).y };
                else parted.current = far, view.value = { ...from, x: from.x - (e.clientX - px) / from.k, y: from.y - (e.clientY - py) / from.k };
            },
            () => {
                const f = frame.value;
                frame.value = null;
                if (f) chosen.value = new Set(tasks.value.filter((t) => t.x < Math.max(f.x, f.x2) && t.x + t.width > Math.min(f.x, f.x2) && t.y < Math.max(f.y, f.y2) && t.y + t.height > Math.min(f.y, f.y2)).map((t) => t.name));
                else if (!far) chosen.value = new Set(), wire.value = null;
            },
        );
    };
    /* A box that keys have come to is seen. */
    const reveal = (t: Task, event: FocusEvent) => {
        if (!(event.currentTarget as Element).matches(":focus-visible")) return;
        const { x, y, k } = view.value, w = size.value.w / k, h = size.value.h / k, gap = 16 / k;
        const into = (from: number, room: number, least: number, most: number) => (least < from ? least : most > from + room ? Math.min(least, most - room) : from);
        const next = { k, x: into(x, w, t.x - gap, t.x + t.width + gap), y: into(y, h, t.y - gap, t.y + t.height + 20 + gap) };
        if (next.x !== x || next.y !== y) parted.current = true, view.value = next;
    };
    const focusBox = (name: string) => svg.current!.querySelector<SVGElement>(`[data-box="${CSS.escape(name)}"]`)?.focus();
    const key_ = (task: Task) => (event: KeyboardEvent) => {
        const command = event.ctrlKey || event.metaKey;
        /* what is done to what is chosen is done to the box that one is at; workbench.tsx does it */
        if ((event.key === "Delete" || event.key === "Backspace" || (command && /^[cxd]$/i.test(event.key))) && !chosen.value.has(task.name)) chosen.value = new Set([task.name]);
        if (command) return;
        if (event.key.startsWith("Arrow")) {
            const dx = event.key === "ArrowRight" ? 10 : event.key === "ArrowLeft" ? -10 : 0, dy = event.key === "ArrowDown" ? 10 : event.key === "ArrowUp" ? -10 : 0;
            const next = neighbour(tasks.value, task, event.key);
            if (event.altKey) moving(), place(task.name, task.x + dx, task.y + dy);
            else if (next) focusBox(next.name);
        } else if (event.key === "Enter" || event.key === " ") {
            chosen.value = event.shiftKey ? new Set([...chosen.value, task.name]) : new Set([task.name]);
            if (event.key === "Enter" && !event.shiftKey) setTimeout(() => document.querySelector<HTMLElement>(".inspector input, .inspector textarea")?.focus());
        } else if (event.key === "w" && !readOnly.value) {
            const held = grip.value, outs = task.ports.filter((p) => p.out);
            if (held && held.task !== task.name) {
                grip.value = null;
                connect(held, task, task.ports.filter((p) => !p.out).length === 1 ? task.ports.find((p) => !p.out)! : null);
            } else if (outs.length) {
                const out = outs[(outs.findIndex((p) => held && p.file === held.port.file) + 1) % outs.length]; /* once more: the next one */
                grip.value = { task: task.name, port: out };
                message.value = `A wire with ${out.file}: go to a box with the arrows, and press w again.${outs.length > 1 ? " Here, w takes the next file." : ""} Escape lets it go.`;
            }
        } else if (event.key === "Escape" && grip.value) {
            grip.value = null;
            message.value = "";
        } else return;
        event.preventDefault();
    };
    const far = view.value.k < 0.4;
    const held = grip.value && all.find((t) => t.name === grip.value!.task);
    return (
        <div class="ground"
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
                event.preventDefault();
                const at = world(event);
                dropped(event.dataTransfer?.getData("text/plain") ?? "", at.x, at.y);
            }}>
            <svg ref={svg} class={`canvas ${far ? "far" : ""}`} role="group" aria-label="canvas: boxes are tasks, wires are files" onPointerDown={ground}
                onWheel={(event) => {
                    event.preventDefault();
                    const r = svg.current!.getBoundingClientRect();
                    zoom(Math.exp(-event.deltaY / 400), event.clientX - r.left, event.clientY - r.top);
                }}>
                <g transform={`scale(${view.value.k}) translate(${-view.value.x},${-view.value.y})`}>
                    <Frames all={all} />
                    <Wires all={all} />
                    {held && loose.value ? <path class="wire near" d={wirePath(portAt(held, grip.value!.port), loose.value)} /> : null}
                    {all.map((t) => <Box key={t.name} task={t} fill={boxFill(t, kinds)} far={far} grip={grip.value} take={take(t)} grab={grab(t)} key_={key_(t)} reached={(event) => reveal(t, event)} />)}
                    <Notes all={all} grab={grabNote} />
                    {frame.value ? <rect class="choosing" x={Math.min(frame.value.x, frame.value.x2)} y={Math.min(frame.value.y, frame.value.y2)} width={Math.abs(frame.value.x2 - frame.value.x)} height={Math.abs(frame.value.y2 - frame.value.y)} /> : null}
                </g>
            </svg>
            {all.length ? <Minimap all={all} view={view.value} size={size.value} go={(x, y) => (parted.current = true, view.value = { ...view.value, x: x - size.value.w / view.value.k / 2, y: y - size.value.h / view.value.k / 2 })} /> : <p class="empty">{file.value ? "Nothing here yet: take a task from the left." : "Choose a workflow above, or make a new one."}</p>}
            <div class="zoom">
                <button type="button" aria-label="zoom in" onClick={() => zoom(1.25, size.value.w / 2, size.value.h / 2)}>+</button>
                <button type="button" aria-label="zoom out" onClick={() => zoom(0.8, size.value.w / 2, size.value.h / 2)}>−</button>
                <button type="button" aria-label="show all" onClick={showAll}>⤢</button>
            </div>
        </div>
    );
}
