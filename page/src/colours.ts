/* Colours of kinds and states: those of weft's other pictures (src/report/svg.c), so that a kind has one colour everywhere. The
 * server says which number a kind has: the most frequent kinds come first, all others share the last. */
const fills = ["#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#BBCC33", "#99DDFF", "#AAAA00"];
export const otherFill = "#D4D4D4";
export const failedFill = "#F0525A";
/* Text that stands on any of them, on light and dark pages alike. */
export const inkOnFill = "#16191d";

export function kindFill(colour: number): string {
    return fills[colour] ?? otherFill;
}

/* A colour of the style sheet, as it is now: light or dark. */
export function themeColour(name: "page" | "card" | "ink" | "soft" | "line" | "accent" | "good" | "bad" | "warn" | "tint"): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/* A state's colour; its sign stands in words.ts, since colour alone says nothing to some. */
export function stateColour(state: string): string {
    if (state === "done" || state === "reused") return themeColour("good");
    if (state === "failed" || state === "lost" || state === "killed" || state === "timeout" || state === "memory") return themeColour("bad");
    if (state === "running" || state === "cancelled") return themeColour("warn");
    return themeColour("soft");
}
