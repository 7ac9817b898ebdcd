/* A plan in time (lanes.tsx). Nodes without a task are folded into a line. */
import { useMemo } from "preact/hooks";
import type { Pen } from "./canvas";
import { type Bar, DONE, type LaneName, Lanes, type Line, PALE, type Stack } from "./lanes";
import { bytes, seconds } from "./words";

export type Placements = { name: string[]; colour: number[]; node: number[]; core: number[]; cores: number[]; copy: number[]; start: number[]; finish: number[] };
export type Transfer = { object: string; bytes: number | null; from: number; to: number; start: number; finish: number };
export type PlanNode = { name: string; cores: number; speed: number; memory: number | null; used: boolean };
export type Part = { root: string; node: number; tasks: number; memory: number | null; start: number; arrived: number; finish: number };

const stackFrom = 300; /* bars; fewer can be read */

function lanesOf(nodes: PlanNode[]): { lanes: LaneName[]; first: number[]; idle: PlanNode[] } {
    const lanes: LaneName[] = [], first: number[] = [], idle: PlanNode[] = [];
    nodes.forEach((node, n) => {
        first[n] = lanes.length;
        if (!node.used) idle.push(node);
        else for (let core = 0; core < node.cores; core++) lanes.push({ name: core ? "" : node.name, begins: core === 0 });
    });
    return { lanes, first, idle };
}

/* Cores by kind over what is seen, a column every two pixels. */
function stackOf(pen: Pen, p: Placements): Stack {
    const columns = Math.ceil((pen.seen.width * pen.sx) / 2), colours = 10, sum = new Float64Array(columns * colours);
    const place = (time: number) => ((time - pen.seen.x) * pen.sx) / 2;
    for (let i = 0; i < p.start.length; i++) {
        const from = Math.max(0, place(p.start[i])), to = Math.min(columns, place(p.finish[i]));
        for (let c = Math.floor(from); c < to; c++) sum[p.colour[i] * columns + c] += (Math.min(to, c + 1) - Math.max(from, c)) * p.cores[i];
    }
    const rows = Array.from({ length: colours }, (_, colour): [number, Float64Array] => [colour, sum.subarray(colour * columns, (colour + 1) * columns)]);
    return { from: pen.seen.x, to: pen.seen.x + (columns * 2) / pen.sx, rows };
}

export function Schedule({ label, nodes, placements: p, transfers = [], end, cursor }: {
    label: string;
    nodes: PlanNode[];
    placements: Placements;
    transfers?: Transfer[];
    end: number;
    cursor?: number;
}) {
    const { lanes, first, idle } = useMemo(() => lanesOf(nodes), [nodes]);
    const bars = useMemo(() => p.start.map((start, i): Bar => ({
        lane: first[p.node[i]] + p.core[i], span: p.cores[i], start, finish: p.finish[i], colour: p.colour[i], state: p.copy[i] ? PALE : DONE, task: i,
        name: `${p.name[i]}${p.copy[i] ? `, copy ${p.copy[i]}` : ""}`,
    })), [p, first]);
    const lines = useMemo(() => transfers.map((t): Line => ({
        from: first[t.from], to: first[t.to], start: t.start, finish: t.finish,
        text: `${t.object} (${bytes(t.bytes)}) from ${nodes[t.from].name} to ${nodes[t.to].name}\n${seconds(t.start)} to ${seconds(t.finish)}`,
    })), [transfers, first]);
    const chart = { lanes, bars, lines, end, cursor, stack: p.start.length > stackFrom ? (pen: Pen) => stackOf(pen, p) : undefined };
    return (
        <Lanes label={label} chart={chart} version={cursor}>
            {idle.length ? (
                <p class="soft">
                    {idle.length} {idle.length === 1 ? "node has" : "nodes have"} no task: {idle[0].name}
                    {idle.length > 2 ? ` … ${idle[idle.length - 1].name}` : idle.length === 2 ? `, ${idle[1].name}` : ""}.
                </p>
            ) : null}
        </Lanes>
    );
}

/* Parts of a tree as bars, their inputs pale before them. */
export function Parts({ label, nodes, parts, end }: { label: string; nodes: PlanNode[]; parts: Part[]; end: number }) {
    const bars: Placements = { name: [], colour: [], node: [], core: [], cores: [], copy: [], start: [], finish: [] };
    parts.forEach((part, i) => {
        const add = (name: string, copy: number, start: number, finish: number) => {
            bars.name.push(name);
            bars.copy.push(copy);
            bars.colour.push(i % 8);
            bars.node.push(part.node);
            bars.core.push(0);
            bars.cores.push(1);
            bars.start.push(start);
            bars.finish.push(finish);
        };
        if (part.arrived > part.start) add(`input of ${part.root}`, 1, part.start, part.arrived);
        add(`${part.root} (${part.tasks} tasks${part.memory === null ? "" : `, ${bytes(part.memory)}`})`, 0, part.arrived, part.finish);
    });
    return <Schedule label={label} nodes={nodes.map((node) => ({ ...node, cores: 1 }))} placements={bars} end={end} />;
}
