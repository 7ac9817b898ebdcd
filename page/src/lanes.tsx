/* Lanes in time, of a run and of a plan alike: a lane a core, a bar a task in the colour of its kind, data between nodes as lines;
 * where bars are too many to be told one by one, columns; where they are too many to be read, above the lanes: how many cores each
 * kind holds. */
import type { ComponentChildren } from "preact";
import { type Box, type Pen, type Pick, Picture, fitting, timeStep } from "./canvas";
import { failedFill, inkOnFill, kindFill, themeColour } from "./colours";
import { seconds, tick } from "./words";

/* A core, or several of them (LANES_MOST in src/report/lanes_json.h). `begins`: it is the first of its node. */
export type LaneName = { name: string; begins: boolean };
export const DONE = 0, FAILED = 1, RUNNING = 2, PALE = 3;
export type Bar = { lane: number; span: number; start: number; finish: number; colour: number; state: number; name: string; task: number };
export type Cell = [lane: number, from: number, to: number, colour: number, share: number];
/* Between lanes; -1: from outside. */
export type Line = { from: number; to: number; start: number; finish: number; text: string };
/* [colour, cores in use in each column], columns from `from` to `to`. */
export type Stack = { from: number; to: number; rows: [number, ArrayLike<number>][] };
export type Chart = { lanes: LaneName[]; bars: Bar[]; cells?: Cell[]; lines?: Line[]; stack?: (pen: Pen) => Stack; end: number; cursor?: number; chosen?: number };

const left = 56; /* pixels for the lanes' names */
const axis = 32; /* for the time, and at its right end for the buttons, which would hide what ran last on the last core */
const buttons = 108;
const colourOfFailed = 9; /* the colour's number of what failed (CELL_KINDS - 1 in src/report/lanes_json.c) */
const linesMost = 400; /* more are a grey cloud */
const fill = (colour: number) => (colour === colourOfFailed ? failedFill : kindFill(colour));

/* Where lanes stand: below the stack, if there is one, and above the time. */
function rows(pen: Pen, chart: Chart): { top: number; room: number } {
    const top = chart.stack ? Math.round(pen.height * 0.42) : 4;
    return { top, room: (pen.height - top - axis) / Math.max(1, chart.lanes.length) };
}

function drawStack(pen: Pen, { from, to, rows }: Stack, top: number): void {
    const { context } = pen, columns = rows[0]?.[1].length ?? 0, base = new Float64Array(columns), total = new Float64Array(columns);
    if (!columns) return;
    const x = pen.x(from), step = ((to - from) * pen.sx) / columns, first = 16, high = top - 22;
    for (const [, values] of rows) for (let c = 0; c < columns; c++) total[c] += values[c];
    const most = Math.max(1e-9, ...total);
    for (const [colour, values] of rows) {
        context.fillStyle = fill(colour);
        for (let c = 0; c < columns; c++) {
            if (values[c] <= 0) continue;
            const y = first + high * (1 - (base[c] + values[c]) / most);
            context.fillRect(x + c * step, y, step + 0.3, (high * values[c]) / most + 0.5);
            base[c] += values[c];
        }
    }
    context.fillStyle = themeColour("soft");
    context.fillText(`cores in use, by kind: at most ${Number(most.toPrecision(3))}`, Math.max(left + 4, x), 7);
}

function drawCells(pen: Pen, cells: Cell[], top: number, room: number): void {
    const { context } = pen, gap = room > 6 ? 1 : 0;
    for (const [lane, from, to, colour, share] of cells) {
        context.globalAlpha = 0.25 + 0.75 * share;
        context.fillStyle = fill(colour);
        context.fillRect(pen.x(from), top + lane * room, Math.max(0.5, (to - from) * pen.sx), room - gap);
    }
    context.globalAlpha = 1;
}

/* What lies under a bar that is drawn already, in the same pixel, is left out. */
function drawBars(pen: Pen, chart: Chart, top: number, room: number): void {
    const { context, width } = pen, gap = room > 6 ? 1 : 0, drawn = new Float64Array(chart.lanes.length).fill(-9);
    for (const bar of chart.bars) {
        const x = pen.x(bar.start), right = pen.x(bar.finish), chosen = bar.task === chart.chosen;
        if (x > width || right < 0 || (right - drawn[bar.lane] < 0.3 && bar.state !== FAILED && !chosen)) continue;
        drawn[bar.lane] = Math.max(drawn[bar.lane], right);
        const y = top + bar.lane * room, high = Math.max(1, bar.span * room - gap), wide = Math.max(0.7, right - x - (right - x > 4 ? 0.7 : 0));
        context.fillStyle = bar.state === FAILED ? failedFill : kindFill(bar.colour);
        context.globalAlpha = bar.state === PALE ? 0.45 : 1;
        context.fillRect(x, y, wide, high);
        context.globalAlpha = 1;
        if (chosen) {
            context.strokeStyle = themeColour("ink");
            context.lineWidth = 2;
            context.strokeRect(x, y, wide, high);
        }
        if (wide > 24 && high > 10) {
            const from = Math.max(x, left) + 3, sign = bar.state === FAILED ? "✕ " : bar.state === RUNNING ? "◐ " : "";
            const text = fitting(context, bar.name, Math.min(x + wide, width) - from - 2 - (sign ? 14 : 0));
            context.fillStyle = bar.state === PALE ? themeColour("ink") : inkOnFill;
            if (text || sign) context.fillText(sign + text, from, y + high / 2 + 0.5);
        }
    }
}

/* From the middle of one lane to that of another; what comes from outside, from above. */
function drawLines(pen: Pen, lines: Line[], top: number, room: number): void {
    const { context } = pen;
    if (lines.length > linesMost) return;
    context.strokeStyle = themeColour("ink");
    context.lineWidth = 1;
    context.globalAlpha = 0.4;
    for (const line of lines) {
        if (line.finish < pen.seen.x || line.start > pen.seen.x + pen.seen.width) continue;
        context.beginPath();
        context.moveTo(pen.x(line.start), line.from < 0 ? top - 4 : top + (line.from + 0.5) * room);
        context.lineTo(pen.x(line.finish), top + (line.to + 0.5) * room);
        context.stroke();
    }
    context.globalAlpha = 1;
}

/* Names of lanes and the time, over the bars. */
function drawEdges(pen: Pen, chart: Chart, top: number, room: number): void {
    const { context, width, height } = pen;
    context.fillStyle = themeColour("card");
    context.fillRect(0, 0, left, height);
    context.fillRect(0, height - axis, width, axis);
    context.strokeStyle = themeColour("line");
    context.lineWidth = 1;
    let last = -99;
    chart.lanes.forEach((lane, i) => {
        const y = top + i * room;
        if (lane.begins && i && (room > 6 || y - last > 14)) {
            context.beginPath();
            context.moveTo(0, Math.round(y) - 0.5);
            context.lineTo(width, Math.round(y) - 0.5);
            context.stroke();
        }
        if (y - last < 13) return;
        last = y;
        context.fillStyle = themeColour("soft");
        context.fillText(fitting(context, lane.name, left - 6), 4, y + Math.min(room, 13) / 2 + 1);
    });
    const step = timeStep(pen.seen.width, Math.max(2, width / 110));
    context.fillStyle = themeColour("soft");
    for (let t = Math.max(0, Math.ceil(pen.seen.x / step) * step); t <= Math.min(chart.end, pen.seen.x + pen.seen.width) * 1.000001; t += step) {
        const x = pen.x(t);
        if (x < left) continue;
        context.fillRect(x, height - axis, 1, 4);
        const text = tick(Number(t.toPrecision(6)));
        if (x + 3 + context.measureText(text).width < width - buttons) context.fillText(text, x + 3, height - axis + 13); /* whole, or the stroke alone */
    }
}

function draw(pen: Pen, chart: Chart): void {
    const { context } = pen, { top, room } = rows(pen, chart);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (chart.stack) drawStack(pen, chart.stack(pen), top);
    drawCells(pen, chart.cells ?? [], top, room);
    drawBars(pen, chart, top, room);
    drawLines(pen, chart.lines ?? [], top, room);
    drawEdges(pen, chart, top, room);
    if (chart.cursor === undefined) return;
    context.strokeStyle = themeColour("bad");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(pen.x(chart.cursor), 0);
    context.lineTo(pen.x(chart.cursor), pen.height - axis);
    context.stroke();
}

const stateWords = ["", "failed, ", "running, ", ""];

function pick(pen: Pen, chart: Chart, x: number, py: number, choose?: (task: number) => void): Pick | null {
    const { top, room } = rows(pen, chart), lane = Math.floor((py - top) / room), slack = 2 / pen.sx;
    if (py < top) return chart.stack ? { text: "cores in use, by kind" } : null;
    for (let i = chart.bars.length - 1; i >= 0; i--) {
        const bar = chart.bars[i];
        if (lane >= bar.lane && lane < bar.lane + bar.span && x >= bar.start - slack && x <= bar.finish + slack)
            return { text: `${bar.name}\n${stateWords[bar.state]}${seconds(bar.start)} to ${seconds(bar.finish)}, ${seconds(bar.finish - bar.start)}`, click: choose && (() => choose(bar.task)) };
    }
    for (const [at, from, to, , share] of chart.cells ?? [])
        if (at === lane && from <= x && x < to) return { text: `busy ${Math.round(share * 100)} % here\nzoom in to see single tasks` };
    const passing = (chart.lines ?? []).find((line) => x >= line.start - slack && x <= line.finish + slack && (lane === line.from || lane === line.to));
    return passing ? { text: passing.text } : null;
}

export function Lanes({ label, chart, choose, seen, version, class: name = "gantt", children }: { label: string; chart: Chart; choose?: (task: number) => void; seen?: (box: Box) => void; version: unknown; class?: string; children?: ComponentChildren }) {
    return (
        <>
            <Picture
                class={name}
                label={label}
                world={{ x: 0, y: 0, width: (chart.end || 1) * 1.01, height: 1 }}
                axes="x"
                margin={left}
                draw={(pen) => draw(pen, chart)}
                pick={(x, y, pen) => pick(pen, chart, x, (y - pen.seen.y) * pen.sy, choose)}
                seen={seen}
                version={version}
            />
            {children}
        </>
    );
}
