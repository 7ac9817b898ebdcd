/* A Gantt of any size: the server tells boxes where they are few and columns where they are many (src/report/lanes_json.h); what is
 * seen is asked for again when it changes. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Box, type Pen, type Pick, Picture, fitting } from "./canvas";
import { failedFill, inkOnFill, kindFill, themeColour } from "./colours";
import { FAILED, paintStack, timeStep } from "./schedule";
import { ask } from "./server";
import { bytes, seconds } from "./words";

export type Lane = { node: number; core: number; cores: number };
type BoxRow = [lane: number, start: number, finish: number, colour: number, state: number, task: number, name: string];
type CellRow = [lane: number, from: number, to: number, colour: number, share: number];
export type Lanes = { end: number; from: number; to: number; seen: number; lanes: Lane[]; boxes?: BoxRow[]; cells?: CellRow[]; load: number[]; memory: number[]; stack?: [colour: number, ...values: number[]][] };

const left = 56; /* pixels for the lanes' names */
const states = ["done", "failed", "running", "cancelled"];

function laneName(lane: Lane, nodes: boolean): string {
    const core = lane.cores > 1 ? `${lane.core}…` : `${lane.core}`;
    return nodes ? `${lane.node}:${core}` : `core ${core}`;
}

/* Many attempts: how many cores each kind held stands above the lanes, on two fifths of the height. */
const lanesTop = (data: Lanes, height: number) => (data.stack?.length ? Math.round(height * 0.42) : 4);

function drawLanes(pen: Pen, data: Lanes, chosen: number): void {
    const { context, width, height } = pen;
    const top = lanesTop(data, height), bottom = 20, room = (height - top - bottom) / Math.max(1, data.lanes.length);
    const nodes = data.lanes.some((lane) => lane.node !== data.lanes[0].node);
    const y = (lane: number) => top + lane * room;
    const gap = room > 6 ? 1 : 0;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (data.stack?.length) {
        const x = pen.x(data.from), step = ((data.to - data.from) * pen.sx) / (data.stack[0].length - 1);
        paintStack(context, data.stack.map(([colour, ...values]) => [colour, values]), { x, step, top: 16, height: top - 22 });
        context.textBaseline = "middle";
    }
    for (const [lane, from, to, colour, share] of data.cells ?? []) {
        context.globalAlpha = 0.25 + 0.75 * share;
        context.fillStyle = colour === FAILED ? failedFill : kindFill(colour);
        context.fillRect(pen.x(from), y(lane), Math.max(0.5, (to - from) * pen.sx), room - gap);
    }
    context.globalAlpha = 1;
    for (const [lane, start, finish, colour, state, task, name] of data.boxes ?? []) {
        const x = pen.x(start), w = Math.max(0.7, (finish - start) * pen.sx);
        if (x > width || x + w < 0) continue;
        context.fillStyle = state === 1 ? failedFill : kindFill(colour);
        context.globalAlpha = state === 3 ? 0.4 : 1;
        context.fillRect(x, y(lane), w, room - gap);
        context.globalAlpha = 1;
        if (task === chosen) {
            context.strokeStyle = themeColour("ink");
            context.lineWidth = 2;
            context.strokeRect(x, y(lane), w, room - gap);
        }
        if (w > 30 && room > 11) {
            const from = Math.max(x, left) + 3, sign = state === 1 ? "✕ " : state === 2 ? "◐ " : "";
            const text = fitting(context, name, x + w - from - 2 - (sign ? 14 : 0));
            context.fillStyle = inkOnFill;
            if (text || sign) context.fillText(sign + text, from, y(lane) + room / 2);
        }
    }
    /* names and time, over the boxes */
    context.fillStyle = themeColour("card");
    context.fillRect(0, 0, left, height);
    context.fillRect(0, height - bottom, width, bottom);
    context.fillStyle = themeColour("soft");
    const every = Math.max(1, Math.ceil(13 / room));
    data.lanes.forEach((lane, i) => i % every === 0 && context.fillText(laneName(lane, nodes), 4, y(i) + Math.min(room, 13 * every) / 2));
    const step = timeStep(pen.seen.width, Math.max(2, width / 110));
    for (let t = Math.ceil(pen.seen.x / step) * step; t < pen.seen.x + pen.seen.width; t += step) {
        const x = pen.x(t);
        if (x < left) continue;
        context.fillRect(x, height - bottom, 1, 4);
        context.fillText(seconds(Math.abs(t) < step / 2 ? 0 : t), x + 3, height - bottom / 2 + 1);
    }
}

function pickLane(data: Lanes, x: number, py: number, height: number, choose: (task: number) => void): Pick | null {
    const top = lanesTop(data, height), room = (height - top - 20) / Math.max(1, data.lanes.length);
    const lane = Math.floor((py - top) / room);
    if (py < top) return data.stack?.length ? { text: "cores in use, by kind" } : null;
    for (const [at, start, finish, , state, task, name] of data.boxes ?? [])
        if (at === lane && start <= x && x <= finish)
            return { text: `${name}\n${states[state]}, ${seconds(finish - start)} from ${seconds(start)} on`, click: () => choose(task) };
    for (const [at, from, to, , share] of data.cells ?? [])
        if (at === lane && from <= x && x < to) return { text: `busy ${Math.round(share * 100)} % here\nzoom in to see single tasks` };
    return null;
}

/* Cores at work and memory over the whole time, with the part that the Gantt shows. */
export function Curve({ label, values, most, end, seen, text }: { label: string; values: number[]; most: number; end: number; seen: Box | null; text: string }) {
    const height = 36;
    /* made once for what came: while somebody pans, only the part that is seen changes */
    const points = useMemo(() => {
        const top = Math.max(most, ...values, 1e-9);
        const wide = values.length > 1 ? values.length / (values.length - 1) : 1; /* the last value stands at the right end */
        return values.map((v, i) => `${i * wide},${height - (v / top) * (height - 2)}`).join(" ");
    }, [values, most]);
    const from = seen && end > 0 ? (seen.x / end) * values.length : 0;
    const width = seen && end > 0 ? Math.min(1, seen.width / end) * values.length : values.length;
    return (
        <figure class="curve">
            <figcaption>
                {label} <b>{text}</b>
            </figcaption>
            <svg viewBox={`0 0 ${values.length} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${text}`}>
                <polygon points={`0,${height} ${points} ${values.length},${height}`} />
                {width < values.length * 0.999 ? <rect class="seen" x={from} y={0} width={width} height={height} /> : null}
            </svg>
        </figure>
    );
}

/* `version` counts on when there is something new. */
export function Gantt({ run, version, running, cores, chosen, choose }: { run: string; version: number; running: boolean; cores: number; chosen: number; choose: (task: number) => void }) {
    const data = useSignal<Lanes | null>(null);
    const seen = useSignal<Box | null>(null);
    const world = useRef(signal<Box>({ x: 0, y: 0, width: 1, height: 1 })).current;
    const asked = useRef(0);
    const load = () => {
        const number = ++asked.current;
        const part = seen.value, end = data.value?.end ?? 0;
        const all = !part || part.width >= end * 0.999;
        const margin = part ? part.width * 0.5 : 0; /* so that panning finds something already there */
        const values: Record<string, string> = { columns: String(Math.min(4000, innerWidth * 2)) };
        if (!all && part) Object.assign(values, { from: String(Math.max(0, part.x - margin)), to: String(part.x + part.width + margin) });
        ask<Lanes>(`/api/run/${run}/gantt`, values).then(
            (found) => {
                if (number !== asked.current) return;
                data.value = found;
                const width = (found.end || 1) * 1.01;
                if (world.value.width !== width) world.value = { x: 0, y: 0, width, height: 1 };
            },
            () => {},
        );
    };
    useEffect(load, [run, version]);
    const later = useRef(0);
    const look = (box: Box) => {
        seen.value = box;
        clearTimeout(later.current);
        const found = data.value;
        const enough = found && ((found.boxes && found.from <= Math.max(0, box.x) && found.to >= Math.min(found.end, box.x + box.width)) || false);
        if (!enough) later.current = window.setTimeout(load, 120);
    };
    const found = data.value;
    if (!found) return <p>Looking …</p>;
    if (!found.lanes.length) return <p class="note">Nothing has run {running ? "yet" : "in this run"}.</p>;
    const peak = Math.max(0, ...found.memory);
    const busy = found.load.reduce((a, b) => a + b, 0) / found.load.length;
    return (
        <>
            <Picture
                class="gantt"
                label={`Gantt of run ${run}: ${found.seen} attempts on ${found.lanes.length} lanes in ${seconds(found.end)}`}
                world={world.value}
                axes="x"
                margin={left}
                draw={(pen) => drawLanes(pen, found, chosen)}
                pick={(x, y, pen) => pickLane(found, x, (y - pen.seen.y) * pen.sy, pen.height, choose)}
                seen={look}
                version={`${version} ${chosen}`}
            />
            <div class="curves">
                <Curve label="cores at work" values={found.load} most={cores} end={found.end} seen={seen.value} text={`${busy.toFixed(1)} of ${cores} in the mean`} />
                {peak > 0 ? <Curve label="memory of what ran at once" values={found.memory} most={0} end={found.end} seen={seen.value} text={`at most ${bytes(peak)}`} /> : null}
            </div>
        </>
    );
}
