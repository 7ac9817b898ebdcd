/* A picture on a canvas: pan, zoom, what is under the pointer. The pictures' coordinates ("world") are theirs; this file knows
 * nothing but the part of them that is seen.
 *
 *     <Picture label="Gantt" world={{ x: 0, y: 0, width: 12.5, height: 8 }} axes="x" draw={draw} pick={pick} />
 *
 * draw() is called at most once a frame, after a change; it draws what lies within `pen.seen`. pick() says what is at a point of
 * the world, as a text for the hint and something to be done when it is clicked. Keys: arrows pan, + and - zoom, 0 shows all. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export type Box = { x: number; y: number; width: number; height: number };

/* What a picture draws with. Pixels are CSS pixels. */
export type Pen = {
    context: CanvasRenderingContext2D;
    width: number; /* of the canvas */
    height: number;
    seen: Box; /* the part of the world that is seen */
    sx: number; /* pixels a unit of the world */
    sy: number;
    x(world: number): number; /* to pixels */
    y(world: number): number;
};

/* `box`: outlined while it is under the pointer. */
export type Pick = { text: string; box?: Box; click?: () => void };

export type PictureProps = {
    label: string; /* for those who do not see it: say what it shows */
    world: Box; /* what "all" is */
    margin?: number; /* pixels at the left that are no part of the world: names of rows */
    axes?: "x" | "both"; /* what is zoomed and panned; "x": the height is always all */
    most?: number; /* greatest zoom beyond "all" [1e7] */
    largest?: number; /* pixels a unit at most when all is shown, so that two boxes do not fill the page */
    draw: (pen: Pen) => void;
    pick?: (x: number, y: number, pen: Pen) => Pick | null;
    /* Dragging something of one's own: true when the press at this point is taken; then move and drop are told. */
    grab?: (x: number, y: number, pen: Pen, event: PointerEvent) => boolean;
    move?: (x: number, y: number, pen: Pen) => void;
    drop?: (x: number, y: number, pen: Pen) => void;
    /* Of the keys that the picture does not know. True: taken. */
    key?: (event: KeyboardEvent, pen: Pen) => boolean;
    seen?: (seen: Box) => void; /* told after each change of what is seen */
    version?: unknown; /* draws again when it changes */
};

const drawing = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")]; /* what colours depend on */

class Surface {
    props!: PictureProps;
    private zoom = 1; /* beyond "all" */
    private left = 0; /* of what is seen, in the world */
    private top = 0;
    private frame = 0;
    private touched = false; /* the user has moved it: it does not follow the world any more */

    constructor(readonly canvas: HTMLCanvasElement) {}

    /* Pixels that show the world. */
    private room(): number {
        return Math.max(1, this.canvas.clientWidth - (this.props.margin ?? 0));
    }

    private scales(): { sx: number; sy: number } {
        const { world, axes, largest = Infinity } = this.props;
        const all = { x: this.room() / (world.width || 1), y: this.canvas.clientHeight / (world.height || 1) };
        if (axes === "x") return { sx: all.x * this.zoom, sy: all.y };
        const s = Math.min(all.x, all.y, largest) * this.zoom;
        return { sx: s, sy: s };
    }

    pen(): Pen {
        const { sx, sy } = this.scales();
        const width = this.canvas.clientWidth, height = this.canvas.clientHeight, margin = this.props.margin ?? 0;
        const seen = { x: this.left, y: this.top, width: this.room() / sx, height: height / sy };
        return { context: this.canvas.getContext("2d")!, width, height, seen, sx, sy, x: (v) => margin + (v - seen.x) * sx, y: (v) => (v - seen.y) * sy };
    }

    /* Show all, in the middle. */
    all(): void {
        this.zoom = 1;
        this.touched = false;
        const { world, axes } = this.props;
        const { sx, sy } = this.scales();
        this.left = world.x - (axes === "x" ? 0 : (this.room() / sx - world.width) / 2);
        this.top = world.y - (axes === "x" ? 0 : (this.canvas.clientHeight / sy - world.height) / 2);
        this.changed();
    }

    /* The world or the size of the canvas is another one. */
    follow(): void {
        if (this.touched) this.changed();
        else this.all();
    }

    pan(pixelsX: number, pixelsY: number): void {
        const { sx, sy } = this.scales();
        this.touched = true;
        this.left += pixelsX / sx;
        if (this.props.axes !== "x") this.top += pixelsY / sy;
        this.keepInside();
        this.changed();
    }

    /* What is at this pixel stays there. */
    zoomAt(factor: number, px: number, py: number): void {
        const before = this.scales();
        px -= this.props.margin ?? 0;
        this.touched = true;
        this.zoom = Math.min(Math.max(this.zoom * factor, this.props.axes === "x" ? 1 : 0.2), this.props.most ?? 1e7);
        const after = this.scales();
        this.left += px / before.sx - px / after.sx;
        if (this.props.axes !== "x") this.top += py / before.sy - py / after.sy;
        this.keepInside();
        this.changed();
    }

    /* Some of the world is always seen. */
    private keepInside(): void {
        const { world, axes } = this.props;
        const { sx, sy } = this.scales();
        const w = this.room() / sx, h = this.canvas.clientHeight / sy;
        if (axes === "x") {
            this.left = Math.min(Math.max(this.left, world.x), world.x + world.width - w);
        } else {
            this.left = Math.min(Math.max(this.left, world.x - w * 0.9), world.x + world.width - w * 0.1);
            this.top = Math.min(Math.max(this.top, world.y - h * 0.9), world.y + world.height - h * 0.1);
        }
    }

    changed(): void {
        this.props.seen?.(this.pen().seen);
        this.redraw();
    }

    redraw(): void {
        if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
    }

    private paint(): void {
        this.frame = 0;
        const ratio = devicePixelRatio || 1;
        const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
        if (!width || !height) return;
        if (this.canvas.width !== width || this.canvas.height !== height) {
            this.canvas.width = width;
            this.canvas.height = height;
        }
        const pen = this.pen();
        pen.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.context.clearRect(0, 0, pen.width, pen.height);
        this.props.draw(pen);
    }

    world(event: PointerEvent | MouseEvent): { x: number; y: number; px: number; py: number; pen: Pen } {
        const rectangle = this.canvas.getBoundingClientRect();
        const px = event.clientX - rectangle.left, py = event.clientY - rectangle.top;
        const pen = this.pen();
        return { x: pen.seen.x + (px - (this.props.margin ?? 0)) / pen.sx, y: pen.seen.y + py / pen.sy, px, py, pen };
    }

    end(): void {
        cancelAnimationFrame(this.frame);
    }
}

/* Pointers, wheel and keys of a surface; gives back how to stop. */
function attend(s: Surface, hint: (at: { x: number; y: number; text: string } | null) => void): () => void {
    const canvas = s.canvas;
    const down = new Map<number, PointerEvent>();
    let moved = 0, grabbed = false, hovered = 0;
    const pointerDown = (event: PointerEvent) => {
        canvas.focus({ preventScroll: true });
        try {
            canvas.setPointerCapture(event.pointerId);
        } catch {
            /* a pointer that is gone already */
        }
        down.set(event.pointerId, event);
        moved = 0;
        hint(null);
        const at = s.world(event);
        grabbed = down.size === 1 && (s.props.grab?.(at.x, at.y, at.pen, event) ?? false);
    };
    const pointerMove = (event: PointerEvent) => {
        const last = down.get(event.pointerId);
        if (!last) {
            cancelAnimationFrame(hovered);
            hovered = requestAnimationFrame(() => hover(event));
            return;
        }
        down.set(event.pointerId, event);
        const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
        moved += Math.abs(dx) + Math.abs(dy);
        const at = s.world(event);
        if (grabbed) s.props.move?.(at.x, at.y, at.pen);
        else if (down.size === 2) pinch(event, last);
        else s.pan(-dx, -dy);
    };
    const pinch = (event: PointerEvent, last: PointerEvent) => {
        const other = [...down.values()].find((p) => p.pointerId !== event.pointerId)!;
        const apart = (p: PointerEvent) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY) || 1;
        const rectangle = canvas.getBoundingClientRect();
        s.zoomAt(apart(event) / apart(last), (event.clientX + other.clientX) / 2 - rectangle.left, (event.clientY + other.clientY) / 2 - rectangle.top);
    };
    const pointerUp = (event: PointerEvent) => {
        if (!down.delete(event.pointerId)) return;
        const at = s.world(event);
        if (grabbed) s.props.drop?.(at.x, at.y, at.pen);
        else if (moved < 4 && event.type === "pointerup") s.props.pick?.(at.x, at.y, at.pen)?.click?.();
        grabbed = false;
    };
    const hover = (event: PointerEvent) => {
        const at = s.world(event);
        const found = s.props.pick?.(at.x, at.y, at.pen);
        canvas.style.cursor = found?.click ? "pointer" : "";
        hint(found ? { x: at.px, y: at.py, text: found.text } : null);
    };
    const leave = () => {
        cancelAnimationFrame(hovered);
        hint(null);
    };
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        const at = s.world(event);
        if (event.shiftKey) s.pan(event.deltaY + event.deltaX, 0);
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) s.pan(event.deltaX, 0);
        else s.zoomAt(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), at.px, at.py);
    };
    const key = (event: KeyboardEvent) => {
        const step = 60, middle = [canvas.clientWidth / 2, canvas.clientHeight / 2] as const;
        if (event.ctrlKey || event.metaKey || event.altKey || s.props.key?.(event, s.pen())) return;
        if (event.key === "ArrowLeft") s.pan(-step, 0);
        else if (event.key === "ArrowRight") s.pan(step, 0);
        else if (event.key === "ArrowUp") s.pan(0, -step);
        else if (event.key === "ArrowDown") s.pan(0, step);
        else if (event.key === "+" || event.key === "=") s.zoomAt(1.5, ...middle);
        else if (event.key === "-") s.zoomAt(1 / 1.5, ...middle);
        else if (event.key === "0") s.all();
        else return;
        event.preventDefault();
    };
    const theme = () => s.redraw();
    const watcher = new ResizeObserver(() => s.follow());
    watcher.observe(canvas);
    const stop = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(kind: K, act: (event: HTMLElementEventMap[K]) => void) =>
        canvas.addEventListener(kind, act, { signal: stop.signal, passive: kind !== "wheel" && kind !== "keydown" });
    on("pointerdown", pointerDown);
    on("pointermove", pointerMove);
    on("pointerup", pointerUp);
    on("pointercancel", pointerUp);
    on("pointerleave", leave);
    on("wheel", wheel);
    on("keydown", key);
    for (const one of drawing) one.addEventListener("change", theme, { signal: stop.signal });
    return () => {
        stop.abort();
        watcher.disconnect();
        cancelAnimationFrame(hovered);
        s.end();
    };
}

export function Picture(props: PictureProps & { class?: string; tools?: boolean }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const surface = useRef<Surface | null>(null);
    const hint = useSignal<{ x: number; y: number; text: string } | null>(null);
    useEffect(() => {
        const s = new Surface(canvas.current!);
        s.props = props;
        surface.current = s;
        s.all();
        return attend(s, (at) => (hint.value = at));
    }, []);
    const { world } = props;
    useEffect(() => {
        if (surface.current) surface.current.props = props;
    });
    useEffect(() => surface.current?.follow(), [world.x, world.y, world.width, world.height]);
    useEffect(() => surface.current?.redraw(), [props.version, props.draw]);
    const at = hint.value;
    const middle = () => [canvas.current!.clientWidth / 2, canvas.current!.clientHeight / 2] as const;
    return (
        <div class={`picture ${props.axes === "x" ? "with-axis" : ""} ${props.class ?? ""}`}>
            <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${props.label}. Arrows move, plus and minus zoom, 0 shows all.`} />
            {at ? (
                <div
                    class="hint"
                    ref={(box) => {
                        /* the policy allows no style in the markup; this is none */
                        if (!box) return;
                        const room = canvas.current!;
                        box.style.left = `${Math.max(0, Math.min(at.x + 12, room.clientWidth - box.offsetWidth - 4))}px`;
                        box.style.top = `${at.y + 16 + box.offsetHeight > room.clientHeight ? Math.max(0, at.y - box.offsetHeight - 8) : at.y + 16}px`;
                    }}
                >
                    {at.text}
                </div>
            ) : null}
            {props.tools === false ? null : (
                <div class="tools">
                    <button type="button" aria-label="zoom in" onClick={() => surface.current?.zoomAt(1.5, ...middle())}>+</button>
                    <button type="button" aria-label="zoom out" onClick={() => surface.current?.zoomAt(1 / 1.5, ...middle())}>−</button>
                    <button type="button" aria-label="show all" onClick={() => surface.current?.all()}>⤢</button>
                </div>
            )}
        </div>
    );
}

/* Round steps for an axis: 1, 2 or 5 times a power of ten, about `parts` of them (as svg_step() has them). */
export function roundStep(range: number, parts: number): number {
    if (!(range > 0) || !Number.isFinite(range)) return 1;
    const raw = range / parts, power = 10 ** Math.floor(Math.log10(raw)), digit = raw / power;
    return (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
}

/* Steps that clocks have: 15 s, 5 min, 6 h. */
export function timeStep(range: number, parts: number): number {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    const raw = range / parts;
    return raw <= 1 ? roundStep(range, parts) : (steps.find((step) => step >= raw) ?? Math.ceil(raw / 86400) * 86400);
}

/* As much of a name as there is room for, cut after a whole word; "": not even one. */
export function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
    if (context.measureText(text).width <= room) return text;
    const words = text.split(/(?<=[_\-./@=,: ])/);
    for (let n = words.length - 1; n > 0; n--) {
        const cut = `${words.slice(0, n).join("").replace(/[_\-./@=,: ]+$/, "")}…`;
        if (context.measureText(cut).width <= room) return cut;
    }
    /* a name that is one long word is better cut than not there, where there is room for a good part of it */
    for (let n = words[0].length > 20 && room > 70 ? Math.floor((text.length * room) / context.measureText(text).width) : 0; n > 7; n--)
        if (context.measureText(`${text.slice(0, n)}…`).width <= room) return `${text.slice(0, n)}…`;
    return "";
}
