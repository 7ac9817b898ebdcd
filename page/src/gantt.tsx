/* The Gantt of a run (lanes.tsx), of any size: the server tells boxes where they are few and columns where they are many
 * (src/report/lanes_json.h); what is seen is asked for again when it changes. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Box } from "./canvas";
import { type Cell, type Chart, type Line, Lanes } from "./lanes";
import { ask } from "./server";
import { bytes, nodeName, seconds } from "./words";

type Lane = { node: number; core: number; cores: number };
type BoxRow = [lane: number, start: number, finish: number, colour: number, state: number, task: number, name: string];
type TransferRow = [from: number, to: number, start: number, finish: number, bytes: number];
type Found = { end: number; from: number; to: number; seen: number; lanes: Lane[]; boxes?: BoxRow[]; cells?: Cell[]; load: number[]; memory: number[]; written: number[]; moved?: number[]; transfers?: TransferRow[]; stack?: [colour: number, ...values: number[]][] };

function laneName(lane: Lane, nodes: boolean): string {
    const core = lane.cores > 1 ? `${lane.core}…` : `${lane.core}`;
    return nodes ? `${lane.node}:${core}` : `core ${core}`;
}

function chartOf(found: Found): Chart {
    const nodes = found.lanes.some((lane) => lane.node !== found.lanes[0].node);
    const first = new Map<number, number>();
    found.lanes.forEach((lane, i) => first.has(lane.node) || first.set(lane.node, i));
    const lines = (found.transfers ?? []).map(([from, to, start, finish, size]): Line => ({
        from: first.get(from) ?? -1, to: first.get(to) ?? 0, start, finish, text: `${bytes(size)} from ${nodeName(from < 0 ? null : from)} to ${nodeName(to)}\n${seconds(start)} to ${seconds(finish)}`,
    }));
    return {
        lanes: found.lanes.map((lane, i) => ({ name: laneName(lane, nodes), begins: first.get(lane.node) === i })),
        bars: (found.boxes ?? []).map(([lane, start, finish, colour, state, task, name]) => ({ lane, span: 1, start, finish, colour, state, task, name })),
        cells: found.cells,
        lines,
        stack: found.stack?.length ? () => ({ from: found.from, to: found.to, rows: found.stack!.map(([colour, ...values]) => [colour, values]) }) : undefined,
        end: found.end,
    };
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
export function Gantt({ run, version, running, cores, room, chosen, choose }: { run: string; version: number; running: boolean; cores: number; /* bytes that are free; null: not known */ room: number | null; chosen: number; choose: (task: number) => void }) {
    const data = useSignal<Found | null>(null);
    const seen = useSignal<Box | null>(null);
    const asked = useRef(0);
    const load = () => {
        const number = ++asked.current;
        const part = seen.value, end = data.value?.end ?? 0;
        const all = !part || part.width >= end * 0.999;
        const margin = part ? part.width * 0.5 : 0; /* so that panning finds something already there */
        const values: Record<string, string> = { columns: String(Math.min(4000, innerWidth * 2)) };
        if (!all && part) Object.assign(values, { from: String(Math.max(0, part.x - margin)), to: String(part.x + part.width + margin) });
        ask<Found>(`/api/run/${run}/gantt`, values).then(
            (found) => {
                if (number === asked.current) data.value = found;
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
    const chart = useMemo(() => found && chartOf(found), [found]);
    if (!found) return <p>Looking …</p>;
    if (!found.lanes.length) return <p class="note">Nothing has run {running ? "yet" : "in this run"}.</p>;
    const peak = Math.max(0, ...found.memory), written = found.written[found.written.length - 1] ?? 0;
    const busy = found.load.reduce((a, b) => a + b, 0) / found.load.length;
    return (
        <>
            <Lanes
                label={`Gantt of run ${run}: ${found.seen} attempts on ${found.lanes.length} lanes in ${seconds(found.end)}`}
                chart={{ ...chart!, chosen }}
                choose={choose}
                seen={look}
                version={`${version} ${chosen}`}
            />
            <div class="curves">
                <Curve label="cores at work" values={found.load} most={cores} end={found.end} seen={seen.value} text={`${busy.toFixed(1)} of ${cores} in the mean`} />
                {peak > 0 ? <Curve label="memory of what ran at once" values={found.memory} most={0} end={found.end} seen={seen.value} text={`at most ${bytes(peak)}`} /> : null}
                {written > 0 ? <Curve label="written by tasks" values={found.written} most={0} end={found.end} seen={seen.value} text={`${bytes(written)}${room === null ? "" : `, ${bytes(room)} free here`}`} /> : null}
                {found.moved ? <Curve label="data between nodes" values={found.moved} most={0} end={found.end} seen={seen.value} text={`at most ${bytes(Math.max(...found.moved))}/s`} /> : null}
            </div>
        </>
    );
}
