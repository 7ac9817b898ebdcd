/* Numbers with their units, as the command line shows them. */
export function seconds(value: number | null): string {
    if (value === null) return "–";
    if (value === 0) return "0 s";
    if (value < 1e-3) return `${(value * 1e6).toPrecision(3)} µs`;
    if (value < 1) return `${(value * 1e3).toPrecision(3)} ms`;
    if (value < 120) return `${Number(value.toPrecision(3))} s`;
    const minutes = Math.floor(value / 60);
    if (minutes < 60) return `${minutes} min ${String(Math.floor(value % 60)).padStart(2, "0")} s`;
    return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/* The same at an axis, whose steps are round: 50 ms, 2 min, 1 h. */
export function tick(value: number): string {
    if (value > 0 && value < 1) return value < 1e-3 ? `${Number((value * 1e6).toPrecision(4))} µs` : `${Number((value * 1e3).toPrecision(4))} ms`;
    if (value >= 60 && value % 60 === 0) return [value >= 3600 ? `${Math.floor(value / 3600)} h` : "", value % 3600 ? `${(value % 3600) / 60} min` : ""].filter(Boolean).join(" ");
    return seconds(value);
}

export function bytes(value: number | null): string {
    if (value === null || !Number.isFinite(value)) return "–";
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let unit = 0;
    while (Math.abs(value) >= 1000 && unit < units.length - 1) (value /= 1000), unit++;
    return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

/* Digits in groups where there are many. */
export function count(n: number): string {
    return n >= 10000 ? n.toLocaleString("en") : String(n);
}

export function plural(n: number, noun: string): string {
    return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function moment(since1970: number): string {
    const date = new Date(since1970 * 1000);
    const two = (n: number) => String(n).padStart(2, "0");
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/* A state by sign and word: colour alone says nothing to some. */
export const signs: Record<string, string> = {
    done: "●",
    running: "◐",
    failed: "✕",
    cancelled: "■",
    lost: "○",
    waiting: "·",
    reused: "◉",
    skipped: "–",
};

/* A node of a run on agents; null: who submitted it. */
export function nodeName(node: number | null): string {
    return node === null ? "who submitted it" : `node ${node}`;
}

/* At most so many letters: a longer name ends after a whole word, with an ellipsis (svg_shorten() in src/report/svg.c does the same). */
export function shorten(name: string, most: number): string {
    if (name.length <= most) return name;
    for (let at = most - 1; at > most / 3; at--) {
        const last = name[at - 1], next = name[at];
        if (/[ _\-./@=,:;+]/.test(next) ? !/[ _\-./@=,:;+]/.test(last) : /[a-z]/.test(last) && /[A-Z]/.test(next)) return `${name.slice(0, at)}…`;
    }
    return `${name.slice(0, most - 1)}…`;
}

/* Where a long name may go on in the next line: after a member's sign and never inside a word; a word that no line has room for, after so
 * many letters. */
export function lineParts(name: string): string[] {
    return name.split(/(?<=[@,/])/).flatMap((part) => (part.length <= 24 ? [part] : part.split(/(?<=[_.:=-])/))).flatMap((part) => part.match(/.{1,24}/gsu) ?? [part]);
}

/* Files of one folder differ by their last part: that is what stays of a long one. */
export function shortenPath(path: string, most: number): string {
    const last = path.lastIndexOf("/") + 1;
    return path.length <= most || !last ? shorten(path, most) : `…/${shorten(path.slice(last), most - 2)}`;
}
