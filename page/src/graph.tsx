/* The graph by family: a box a kind with its counts, as the server has laid it out (src/report/family_graph.h). */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Pen, type Pick, Picture, fitting } from "./canvas";
import { inkOnFill, kindFill, stateColour, themeColour } from "./colours";
import { ask } from "./server";

export const stateNames = ["waiting", "running", "done", "failed", "reused", "skipped"] as const;
type FamilyBox = { name: string; tasks: number; first: number; colour: number; x: number; y: number; width: number; height: number; states: number[] };
type FamilyGraph = { families: number; width?: number; height?: number; boxes: FamilyBox[]; lines?: number[][] };

/* `plain`: boxes alone, without what became of their tasks. */
function drawGraph(pen: Pen, graph: FamilyGraph, plain: boolean): void {
    const { context } = pen;
    context.strokeStyle = themeColour("soft");
    context.lineWidth = 1;
    context.globalAlpha = 0.6;
    context.beginPath();
    for (const [x1, y1, x2, y2] of graph.lines ?? []) {
        const middle = (pen.y(y1) + pen.y(y2)) / 2;
        context.moveTo(pen.x(x1), pen.y(y1));
        context.bezierCurveTo(pen.x(x1), middle, pen.x(x2), middle, pen.x(x2), pen.y(y2));
    }
    context.stroke();
    context.globalAlpha = 1;
    const size = Math.min(13, 12 * pen.sx);
    context.font = `${size}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (const box of graph.boxes) {
        const x = pen.x(box.x - box.width / 2), y = pen.y(box.y - box.height / 2), w = box.width * pen.sx, h = box.height * pen.sy;
        if (x > pen.width || x + w < 0 || y > pen.height || y + h < 0) continue;
        if (box.tasks > 1) {
            /* a family is a stack */
            context.fillStyle = kindFill(box.colour);
            context.globalAlpha = 0.45;
            context.fillRect(x + 3 * pen.sx, y - 3 * pen.sy, w, h);
            context.globalAlpha = 1;
        }
        context.fillStyle = kindFill(box.colour);
        context.fillRect(x, y, w, h);
        let at = x;
        for (const state of [2, 4, 1, 3, 5, 0]) {
            const part = (box.states[state] / box.tasks) * w;
            context.fillStyle = state === 0 ? "#0003" : stateColour(stateNames[state]);
            if (part > 0 && !plain) context.fillRect(at, y + h - 5 * pen.sy, Math.max(part, 1), 5 * pen.sy);
            at += part;
        }
        if (size < 5) continue;
        context.fillStyle = inkOnFill;
        context.fillText(fitting(context, box.name, w - 8), x + 4, y + h * (plain ? 0.5 : 0.3));
        if (plain) continue;
        const done = box.states[2] + box.states[4];
        context.fillText(`${box.states[3] ? `✕ ${box.states[3]}  ` : ""}${done}/${box.tasks}${box.states[1] ? `  ◐ ${box.states[1]}` : ""}`, x + 4, y + h * 0.66);
    }
}

function describe(box: FamilyBox): string {
    return `${box.name}\n${stateNames.map((name, i) => (box.states[i] ? `${box.states[i]} ${name}` : "")).filter(Boolean).join(", ")}`;
}

export function Graph({ run, version, plain = false, choose }: { run: string; version: number; plain?: boolean; choose: (name: string) => void }) {
    const graph = useSignal<FamilyGraph | null>(null);
    useEffect(() => {
        let current = true;
        const look = () => void ask<FamilyGraph>(`/api/run/${run}/graph`).then((found) => current && (graph.value = found), () => {});
        /* at first the server reads the workflow's text for it: after what is seen sooner */
        const later = graph.value ? 0 : window.setTimeout(look, 300);
        if (!later) look();
        return () => ((current = false), clearTimeout(later));
    }, [run, version]);
    const found = graph.value;
    if (!found) return <p>Looking …</p>;
    if (!found.boxes.length) return <p class="note">{found.families} kinds of tasks are too many for a picture. The table below finds them.</p>;
    const pick = (x: number, y: number): Pick | null => {
        const box = found.boxes.find((b) => Math.abs(x - b.x) <= b.width / 2 && Math.abs(y - b.y) <= b.height / 2);
        return !box ? null : plain ? { text: box.name } : { text: describe(box), click: () => choose(box.name) };
    };
    return (
        <Picture
            class="families"
            label={`Graph by family: ${found.boxes.slice(0, 30).map((b) => `${b.name} ${b.states[2] + b.states[4]} of ${b.tasks}`).join(", ")}`}
            world={{ x: -10, y: -10, width: (found.width ?? 0) + 20, height: (found.height ?? 0) + 20 }}
            largest={1.2}
            draw={(pen) => drawGraph(pen, found, plain)}
            pick={pick}
            version={version}
        />
    );
}
