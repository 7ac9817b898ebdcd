/* What a file of the folder holds now, behind a port of the Workbench or under a task of a run: its size and digest, and its first lines, a
 * table or a picture. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Netpbm } from "./result";
import { ask } from "./server";
import { bytes } from "./words";

type Data = { sort: string; why?: string; bytes?: number; digest?: string; lines?: string[]; more?: boolean; entries?: number };

const largest = 24 * 1024 * 1024; /* of a picture (DATA_PICTURE in src/ui/workbench_data.c) */

function Content({ name, data, version }: { name: string; data: Data; version: number }) {
    const src = `/api/workbench/picture?file=${encodeURIComponent(name)}&v=${version}`;
    if (data.sort === "picture" && (data.bytes ?? 0) > largest) return <p class="soft">It is too large to be shown.</p>;
    if (data.sort === "picture") return /\.p[bgpn]m$/i.test(name) ? <Netpbm key={src} src={src} label={name} /> : <img src={src} alt={name} />;
    if (data.sort === "table") {
        const cut = /\.csv$/i.test(name) ? "," : "\t";
        const rows = (data.lines ?? []).slice(0, 30).map((l) => l.split(cut));
        return (
            <>
                <table>
                    <tbody>{rows.map((r, i) => <tr>{r.map((c) => (i ? <td>{c}</td> : <th scope="col">{c}</th>))}</tr>)}</tbody>
                </table>
                {data.more || (data.lines ?? []).length > 30 ? <p class="soft">There are more rows.</p> : null}
            </>
        );
    }
    if (data.lines) return <pre tabIndex={0}>{data.lines.join("\n")}{data.more ? "\n…" : ""}</pre>;
    return null;
}

/* `path`: below the server's folder; "": none is chosen yet. `version` counts on when it may be another one. */
export function Behind({ title, path, version, close, children }: { title: string; path: string; version: number; close: () => void; children?: ComponentChildren }) {
    const data = useSignal<Data | null>(null), d = data.value;
    useEffect(() => {
        let current = true;
        data.value = null;
        if (path) ask<Data>("/api/workbench/data", { file: path }).then((found) => current && (data.value = found), (error: Error) => current && (data.value = { sort: "none", why: error.message }));
        return () => void (current = false);
    }, [path, version]);
    return (
        <section class="behind card" aria-label={`data of ${title}`}>
            <header>
                <h3>{title}</h3>
                <span>{d?.bytes !== undefined ? bytes(d.bytes) : ""}{d?.digest ? ` · ${d.digest.slice(0, 12)}` : ""}</span>
                <button type="button" onClick={close}>Close</button>
            </header>
            {children}
            {d?.sort === "none" ? <p>{d.why ?? "It is not there."}</p> : null}
            {d?.sort === "folder" ? <p>a folder, {d.entries} {d.entries === 1 ? "entry" : "entries"}</p> : null}
            {d ? <Content name={path} data={d} version={version} /> : null}
        </section>
    );
}
