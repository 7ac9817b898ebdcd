/* A stream's figures in the Run view, while it goes on and afterwards: what it reached beside what was promised, its filters, nodes and
 * channels. They are facts of the run (docs/streams.md); a run that is no stream has none, and shows nothing. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { number } from "./chart";
import { type Fact, ask } from "./server";
import { plural, seconds } from "./words";

type Row = { of: string; values: Map<string, number> };

/* Rows of one label ("filter", "node", "channel"): facts of the same item belong together. */
function rowsOf(facts: Fact[], label: string): Row[] {
    const rows = new Map<number, Row>();
    for (const fact of facts) if (fact.sort === "label" && fact.name === label && fact.item) rows.set(fact.item, { of: fact.value ?? "", values: new Map() });
    for (const fact of facts) if (fact.sort === "value" && fact.name && fact.item) rows.get(fact.item)?.values.set(fact.name, Number(fact.value));
    return [...rows.values()];
}

function Table({ title, head, rows }: { title: string; head: string[]; rows: (string | number)[][] }) {
    if (!rows.length) return null;
    return (
        <table>
            <caption>{title}</caption>
            <thead>
                <tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
            </thead>
            <tbody>
                {rows.map((row) => (
                    <tr key={row[0]}>{row.map((cell, i) => <td key={i}>{cell}</td>)}</tr>
                ))}
            </tbody>
        </table>
    );
}

const share = (value: number | undefined) => `${Math.round(100 * (value ?? 0))} %`;

/* The facts of a stream, empty: it is none. Asked with every look at the run once it is known to be a stream; of others with the first looks, then with every fifth. */
export function useStream(run: string, version: number, running: boolean): Fact[] {
    const facts = useSignal<Fact[]>([]);
    useEffect(() => {
        let current = true;
        if (version && (facts.value.length || version < 5 || version % 5 === 0 || !running)) /* the first items may come late */
            ask<Fact[]>(`/api/run/${run}/facts`).then(
                (found) => void (current && (facts.value = found.some((fact) => fact.name === "stream.items") ? found : [])),
                () => undefined /* the run above says what is wrong */,
            );
        return () => void (current = false);
    }, [run, version]);
    return facts.value;
}

/* `order`: the filters as items go through them. */
export function StreamFigures({ facts, running, order }: { facts: Fact[]; running: boolean; order: string[] }) {
    const place = new Map(order.map((name, i) => [name, i]));
    const of = (name: string) => facts.find((fact) => fact.sort === "value" && fact.name === `stream.${name}`);
    const value = (name: string) => Number(of(name)?.value ?? NaN);
    const promised = (name: string, show: (x: number) => string) => (of(`promised_${name}`) ? `, promised ${show(value(`promised_${name}`))}` : "");
    return (
        <section class="card wide stream" aria-label="stream">
            <h3>Stream</h3>
            <p role="status">
                {plural(value("items"), "item")}
                {running ? `, ${value("taken") - value("items")} in work` : ""} · {number(value("throughput"))} items/s{promised("throughput", number)} · latency {seconds(value("latency"))}
                {promised("latency", seconds)}, 95 % {seconds(value("latency_95"))}, 99 % {seconds(value("latency_99"))}, the most {seconds(value("latency_max"))}
                {value("retried") ? ` · ${value("retried")} tried again` : ""}
                {value("given_up") ? <b class="bad"> · {value("given_up")} given up</b> : ""}
            </p>
            <Table
                title="Filters"
                head={["filter", "items", "mean", "waiting"]}
                rows={rowsOf(facts, "filter").sort((a, b) => (place.get(a.of) ?? 0) - (place.get(b.of) ?? 0)).map((row) => {
                    const items = row.values.get("filter.items") ?? 0;
                    return [row.of, items, items ? seconds((row.values.get("filter.seconds") ?? 0) / items) : "", row.values.get("filter.waiting") ?? 0];
                })}
            />
            <Table title="Nodes" head={["node", "busy"]} rows={rowsOf(facts, "node").map((row) => [row.of, share(row.values.get("node.busy"))])} />
            <Table
                title="Channels"
                head={["channel", "transfers", "busy"]}
                rows={rowsOf(facts, "channel").map((row) => [row.of, row.values.get("channel.transfers") ?? 0, share(row.values.get("channel.busy"))])}
            />
        </section>
    );
}
