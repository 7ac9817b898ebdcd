/* What is shown stands in the address, so that it can be sent to a colleague and gone back to:
 * #database?where=f1%3E0.9&run=17 */
import { signal } from "@preact/signals";

export type Address = { view: string; values: Record<string, string> };

/* An empty view is the first one (views.ts). */
function parse(hash: string): Address {
    const [view, query] = hash.replace(/^#/, "").split("?", 2);
    return { view, values: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const address = signal(parse(location.hash));
addEventListener("hashchange", () => (address.value = parse(location.hash)));
addEventListener("popstate", () => (address.value = parse(location.hash)));

/* The address of a view with these values; an empty one is left out. For links: href={link("run", { run: "17" })} */
export function link(view: string, values: Record<string, string> = {}): string {
    const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
    return `#${view}${query ? `?${query}` : ""}`;
}

function show(hash: string, replace: boolean): void {
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    address.value = parse(hash);
}

/* Change some values of the address. `replace`: without a step to go back to. */
export function go(values: Record<string, string>, replace = false): void {
    show(link(address.value.view, { ...address.value.values, ...values }), replace);
}

/* Another view, with these values alone. `replace`: without a step to go back to. */
export function goTo(view: string, values: Record<string, string> = {}, replace = false): void {
    show(link(view, values), replace);
}
