/* Small charts as SVG elements: lines, steps and points over two axes with round numbers. Everything that is drawn is also in a
 * table below it, for those who do not see it (`table`). */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { roundStep, timeStep } from "./canvas";
import { shorten, tick } from "./words";

export type Series = { name: string; points: [number, number][]; as: "line" | "step" | "points"; marks?: string[] };
export type ChartProps = {
    label: string;
    xTitle: string;
    yTitle: string;
    series: Series[];
    x?: (value: number) => string; /* how numbers are written; `tick`: they are times, in steps that clocks have */
    y?: (value: number) => string;
    limit?: number; /* a dashed line across */
    names?: string[]; /* the x axis is these instead of numbers */
    cursor?: number; /* a line upwards at this x */
    pick?: (series: number, point: number) => void;
    height?: number;
};

const usual = 560, least = 240, left = 64, right = 14, top = 10, bottom = 40;
const strokes = ["s0", "s1", "s2", "s3", "s4", "s5", "s6"];
/* Series differ by the shape of their points, too: a dot, a square, a triangle, a diamond. */
const signs = ["●", "■", "▲", "◆"];
const marks = [
    (x: number, y: number) => `M${x - 3.6} ${y}a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0Z`,
    (x: number, y: number) => `M${x - 3.3} ${y - 3.3}h6.6v6.6h-6.6Z`,
    (x: number, y: number) => `M${x} ${y - 4.2}l4.2 7.4h-8.4Z`,
    (x: number, y: number) => `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6Z`,
];

export function number(value: number): string {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) return value.toPrecision(3);
    return String(Number(value.toPrecision(4)));
}

function path(points: [number, number][], as: Series["as"], x: (v: number) => number, y: (v: number) => number): string {
    let d = "", open = false, last = 0;
    for (const [px, py] of points) {
        if (!Number.isFinite(px) || !Number.isFinite(py)) {
            open = false;
            continue;
        }
        if (!open) d += `M${x(px).toFixed(1)} ${y(py).toFixed(1)}`;
        else if (as === "step") d += `H${x(px).toFixed(1)}V${y(py).toFixed(1)}`;
        else d += `L${x(px).toFixed(1)} ${y(py).toFixed(1)}`;
        open = true;
        last = py;
    }
    return d + (as === "step" && open ? `V${y(last).toFixed(1)}` : "");
}

export function Chart(props: ChartProps) {
    const { label, series, xTitle, yTitle, limit, names, cursor, height = 220 } = props;
    /* as wide as it is shown, so that its words have the size of others */
    const box = useRef<SVGSVGElement>(null), wide = useSignal(usual), width = Math.max(least, wide.value);
    useEffect(() => {
        if (!box.current) return;
        const watcher = new ResizeObserver(([entry]) => entry.contentRect.width && (wide.value = Math.round(entry.contentRect.width)));
        watcher.observe(box.current);
        return () => watcher.disconnect();
    }, [series.length > 0]);
    const all = series.flatMap((s) => s.points).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
    if (!all.length) return <p class="soft">Nothing to draw.</p>;
    const xs = all.map(([a]) => a), ys = all.map(([, b]) => b);
    let x0 = Math.min(...xs), x1 = Math.max(...xs), y1 = Math.max(...ys, limit ?? -Infinity);
    let y0 = Math.min(0, ...ys);
    if (x1 === x0) (x0 = Math.min(0, 2 * x0)), (x1 = Math.max(2 * x1, x0 + 1e-9));
    /* points stand inside, not on the edge: half of one would be out of sight */
    const inside = series.some((s) => s.as === "points") ? (x1 - x0) / 30 : 0;
    if (names) (x0 = -0.5), (x1 = names.length - 0.5);
    else (x0 -= inside), (x1 += inside);
    if (y1 === y0) y1 = y0 + 1;
    const x = (v: number) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
    const y = (v: number) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
    const xStep = (props.x === tick ? timeStep : roundStep)(x1 - x0, Math.min(6, (width - left) / 80)), yStep = roundStep(y1 - y0, 4);
    const xTicks: number[] = [], yTicks: number[] = [];
    for (let v = Math.ceil(x0 / xStep) * xStep; v <= x1 * (1 + 1e-9) && xTicks.length < 30; v += xStep) xTicks.push(v);
    for (let v = Math.ceil(y0 / yStep) * yStep; v <= y1 * (1 + 1e-9) && yTicks.length < 30; v += yStep) yTicks.push(v);
    const every = names ? Math.ceil(names.length / Math.min(10, (width - left) / 50)) : 1;
    return (
        <figure class="chart">
            <svg ref={box} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
                {yTicks.map((v) => (
                    <>
                        <path class="grid" d={`M${left} ${y(v)}H${width - right}`} />
                        <text class="tick end" x={left - 6} y={y(v) + 4}>{(props.y ?? number)(v)}</text>
                    </>
                ))}
                {names
                    ? names.map((name, i) => (i % every ? null : <text class="tick middle" x={x(i)} y={height - bottom + 16}>{shorten(name, 14)}</text>))
                    : xTicks.map((v) => <text class="tick middle" x={x(v)} y={height - bottom + 16}>{(props.x ?? number)(v)}</text>)}
                <text class="tick middle" x={(left + width - right) / 2} y={height - 6}>{xTitle}</text>
                <text class="tick middle" transform={`translate(12 ${(top + height - bottom) / 2}) rotate(-90)`}>{yTitle}</text>
                {limit !== undefined && Number.isFinite(limit) ? <path class="limit" d={`M${left} ${y(limit)}H${width - right}`} /> : null}
                {series.map((s, i) => (
                    <g class={strokes[i % strokes.length]}>
                        {s.as === "points" ? null : <path class="line" d={path(s.points, s.as, x, y)} />}
                        {s.as === "step" ? null : s.points.map(([a, b], k) => (Number.isFinite(a) && Number.isFinite(b) ? (
                            <path class={`point ${props.pick ? "pick" : ""}`} d={marks[i % marks.length](x(a), y(b))} onClick={() => props.pick?.(i, k)}>
                                <title>{s.marks?.[k] ?? `${s.name}: ${(props.y ?? number)(b)}`}</title>
                            </path>
                        ) : null))}
                    </g>
                ))}
                {cursor !== undefined && cursor >= x0 && cursor <= x1 ? <path class="cursor" d={`M${x(cursor)} ${top}V${height - bottom}`} /> : null}
            </svg>
            {series.length > 1 ? (
                <figcaption>
                    {series.map((s, i) => (
                        <span class={strokes[i % strokes.length]}><i aria-hidden="true">{s.as === "step" ? "■" : signs[i % signs.length]}</i> {s.name} </span>
                    ))}
                </figcaption>
            ) : null}
        </figure>
    );
}
