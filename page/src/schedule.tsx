/* A plan in time: a lane a core, a bar a task in the colour of its kind, transfers as lines. Where bars are too many to read,
 * above the lanes: how many cores each kind holds. Nodes without a task are folded into a line. */
import { useMemo } from "preact/hooks";
import { type Pen, Picture, fitting, roundStep } from "./canvas";
import { failedFill, inkOnFill, kindFill, themeColour } from "./colours";
import { bytes, seconds } from "./words";

export type Placements = { name: string[]; colour: number[]; node: number[]; core: number[]; cores: number[]; copy: number[]; start: number[]; finish: number[] };
export type Transfer = { object: string; bytes: number | null; from: number; to: number; start: number; finish: number };
export type PlanNode = { name: string; cores: number; speed: number; memory: number | null; used: boolean };
export type Part = { root: string; node: number; tasks: number; memory: number | null; start: number; arrived: number; finish: number };

type Lane = { node: number; core: number };
const stackFrom = 300; /* bars; fewer can be read */

function lanesOf(nodes: PlanNode[]): { lanes: Lane[]; first: number[]; idle: PlanNode[] } {
    const lanes: Lane[] = [], first: number[] = [], idle: PlanNode[] = [];
    nodes.forEach((node, n) => {
        first[n] = lanes.length;
        if (!node.used) idle.push(node);
        else for (let core = 0; core < node.cores; core++) lanes.push({ node: n, core });
    });
    return { lanes, first, idle };
}

function drawNames(pen: Pen, lanes: Lane[], nodes: PlanNode[], above: number): void {
    const { context } = pen;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    let last = -99;
    lanes.forEach((lane, i) => {
        if (lane.core) return;
        const y = pen.y(above + i);
        if (nodes[lane.node].cores * pen.sy > 6 || y - last > 14) {
            context.strokeStyle = themeColour("line");
            context.beginPath();
            context.moveTo(0, Math.round(y) + 0.5);
            context.lineTo(pen.width, Math.round(y) + 0.5);
            context.stroke();
        }
        if (y - last < 13) return;
        last = y;
        const text = nodes[lane.node].name, wide = context.measureText(text).width + 8;
        context.globalAlpha = 0.8;
        context.fillStyle = themeColour("card");
        context.fillRect(0, y + 1, wide, 14);
        context.globalAlpha = 1;
        context.fillStyle = themeColour("ink");
        context.fillText(text, 4, y + 8);
    });
}

/* Steps that clocks have: 15 s, 5 min, 6 h. */
export function timeStep(range: number, parts: number): number {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    const raw = range / parts;
    return raw <= 1 ? roundStep(range, parts) : (steps.find((step) => step >= raw) ?? Math.ceil(raw / 86400) * 86400);
}

export function drawAxis(pen: Pen, end: number): void {
    const { context } = pen, step = timeStep(pen.seen.width, Math.max(2, pen.width / 110));
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillStyle = themeColour("soft");
    context.strokeStyle = themeColour("line");
    for (let t = Math.max(0, Math.ceil(pen.seen.x / step) * step); t <= Math.min(end, pen.seen.x + pen.seen.width) * 1.000001; t += step) {
        const x = pen.x(t);
        context.beginPath();
        context.moveTo(Math.round(x) + 0.5, 0);
        context.lineTo(Math.round(x) + 0.5, pen.height);
        context.stroke();
        context.fillText(seconds(Number(t.toPrecision(6))), x + 3, pen.height - 4);
    }
}

export const FAILED = 9; /* the colour's number of what failed (CELL_KINDS - 1 in src/report/lanes_json.c) */

/* Cores in use by kind, one upon the other: rows of [colour, values], a column each `step` pixels from x on, with a line above. */
export function paintStack(context: CanvasRenderingContext2D, rows: [number, ArrayLike<number>][], at: { x: number; step: number; top: number; height: number }): void {
    const columns = rows[0]?.[1].length ?? 0, base = new Float64Array(columns), total = new Float64Array(columns);
    for (const [, values] of rows) for (let c = 0; c < columns; c++) total[c] += values[c];
    const most = Math.max(1e-9, ...total);
    for (const [colour, values] of rows) {
        context.fillStyle = colour === FAILED ? failedFill : kindFill(colour);
        for (let c = 0; c < columns; c++) {
            if (values[c] <= 0) continue;
            const y = at.top + at.height * (1 - (base[c] + values[c]) / most);
            context.fillRect(at.x + c * at.step, y, at.step + 0.3, (at.height * values[c]) / most + 0.5);
            base[c] += values[c];
        }
    }
    context.fillStyle = themeColour("soft");
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillText(`cores in use, by kind: at most ${Number(most.toPrecision(3))}`, Math.max(4, at.x), at.top - 3);
}

/* Cores by kind over what is seen, a column every two pixels. */
function drawStack(pen: Pen, p: Placements, high: number): void {
    const { context } = pen, columns = Math.ceil(pen.width / 2), colours = 10;
    const sum = new Float64Array(columns * colours);
    for (let i = 0; i < p.start.length; i++) {
        const from = Math.max(0, pen.x(p.start[i]) / 2), to = Math.min(columns, pen.x(p.finish[i]) / 2);
        for (let c = Math.floor(from); c < to; c++) {
            const share = Math.min(to, c + 1) - Math.max(from, c);
            sum[p.colour[i] * columns + c] += share * p.cores[i];
        }
    }
    paintStack(context, Array.from({ length: colours }, (_, colour) => [colour, sum.subarray(colour * columns, (colour + 1) * columns)]), { x: 0, step: 2, top: 14, height: pen.y(high) - 18 });
}

export function Gantt({ label, nodes, placements: p, transfers = [], end, cursor, high = 280 }: {
    label: string;
    nodes: PlanNode[];
    placements: Placements;
    transfers?: Transfer[];
    end: number;
    cursor?: number;
    high?: number;
}) {
    const { lanes, first, idle } = useMemo(() => lanesOf(nodes), [nodes]);
    const stacked = p.start.length > stackFrom, above = stacked ? Math.max(2, lanes.length * 0.45) : 0;
    /* room for the names of nodes before the beginning */
    const world = { x: -0.06 * (end || 1), y: 0, width: 1.07 * (end || 1), height: above + lanes.length + Math.max(0.4, lanes.length * 0.06) };
    const draw = (pen: Pen) => {
        const { context } = pen, lastPixel = new Float64Array(lanes.length).fill(-9);
        drawAxis(pen, end);
        for (let i = 0; i < p.start.length; i++) {
            const x = pen.x(p.start[i]), x2 = pen.x(p.finish[i]), lane = first[p.node[i]] + p.core[i];
            if (x2 < 0 || x > pen.width || x2 - lastPixel[lane] < 0.4) continue; /* not seen, or under what is drawn */
            lastPixel[lane] = x2;
            const y = pen.y(above + lane) + 1, height = Math.max(1, p.cores[i] * pen.sy - 2), width = Math.max(0.6, x2 - x - (x2 - x > 4 ? 0.7 : 0));
            context.globalAlpha = p.copy[i] ? 0.5 : 1;
            context.fillStyle = kindFill(p.colour[i]);
            context.fillRect(x, y, width, height);
            context.globalAlpha = 1;
            if (width > 24 && height > 9) {
                context.font = "11px system-ui, sans-serif";
                context.textBaseline = "middle";
                context.fillStyle = inkOnFill;
                const from = Math.max(x, 0), text = fitting(context, p.name[i], Math.min(x2, pen.width) - from - 6);
                if (text) context.fillText(text, from + 3, y + height / 2 + 0.5);
            }
        }
        if (transfers.length <= 400) {
            context.strokeStyle = themeColour("ink");
            context.globalAlpha = 0.35;
            for (const t of transfers) {
                if (t.finish < pen.seen.x || t.start > pen.seen.x + pen.seen.width || first[t.from] === undefined) continue;
                context.beginPath();
                context.moveTo(pen.x(t.start), pen.y(above + first[t.from] + 0.5));
                context.lineTo(pen.x(t.finish), pen.y(above + first[t.to] + 0.5));
                context.stroke();
            }
            context.globalAlpha = 1;
        }
        drawNames(pen, lanes, nodes, above);
        if (stacked) drawStack(pen, p, above);
        if (cursor !== undefined) {
            context.strokeStyle = themeColour("bad");
            context.lineWidth = 1.5;
            context.beginPath();
            context.moveTo(pen.x(cursor), 0);
            context.lineTo(pen.x(cursor), pen.height);
            context.stroke();
            context.lineWidth = 1;
        }
    };
    const pick = (x: number, y: number, pen: Pen) => {
        const lane = y - above;
        if (lane < 0) return null;
        const slack = 2 / pen.sx;
        for (let i = p.start.length - 1; i >= 0; i--) {
            const at = first[p.node[i]] + p.core[i];
            if (lane >= at && lane < at + p.cores[i] && x >= p.start[i] - slack && x <= p.finish[i] + slack)
                return {
                    text: `${p.name[i]}${p.copy[i] ? `, copy ${p.copy[i]}` : ""} on ${nodes[p.node[i]].name}${nodes[p.node[i]].cores > 1 ? ` core ${p.core[i]}` : ""}\n${seconds(p.start[i])} to ${seconds(p.finish[i])}, ${seconds(p.finish[i] - p.start[i])}`,
                };
        }
        const passing = transfers.find((t) => x >= t.start && x <= t.finish && (Math.floor(lane) === first[t.from] || Math.floor(lane) === first[t.to]));
        return passing ? { text: `${passing.object} (${bytes(passing.bytes)}) from ${nodes[passing.from].name} to ${nodes[passing.to].name}\n${seconds(passing.start)} to ${seconds(passing.finish)}` } : null;
    };
    return (
        <>
            <Picture label={label} class={high > 300 ? "tall" : "gantt"} world={world} axes="x" draw={draw} pick={pick} version={cursor} />
            {idle.length ? (
                <p class="soft">
                    {idle.length} {idle.length === 1 ? "node has" : "nodes have"} no task: {idle[0].name}
                    {idle.length > 2 ? ` … ${idle[idle.length - 1].name}` : idle.length === 2 ? `, ${idle[1].name}` : ""}.
                </p>
            ) : null}
        </>
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
    return <Gantt label={label} nodes={nodes.map((node) => ({ ...node, cores: 1 }))} placements={bars} end={end} />;
}
