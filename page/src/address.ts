/* What is shown stands in the address, so that it can be sent to a colleague and gone back to:
 * #database?where=f1%3E0.9&run=17 */
import { signal } from "@preact/signals";

export type Address = { view: string; values: Record<string, string> };

function parse(hash: string): Address {
    const [view, query] = hash.replace(/^#/, "").split("?", 2);
    return { view: view || "database", values: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const address = signal(parse(location.hash));
addEventListener("hashchange", () => (address.value = parse(location.hash)));

/* Change some values of the address; an empty one is left out. `replace`: without a step to go back to. */
export function go(values: Record<string, string>, replace = false): void {
    const all = Object.entries({ ...address.value.values, ...values }).filter(([, value]) => value !== "");
    const query = new URLSearchParams(all).toString();
    const hash = `#${address.value.view}${query ? `?${query}` : ""}`;
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    address.value = parse(hash);
}
addEventListener("popstate", () => (address.value = parse(location.hash)));
