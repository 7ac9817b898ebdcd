import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { Database } from "./database";
import { type About, ask, connection, listen } from "./server";

function Page() {
    const about = useSignal<About | null>(null);
    const problem = useSignal("");
    useEffect(() => {
        ask<About>("/api/about").then(
            (found) => {
                about.value = found;
                listen();
            },
            (error: Error) => (problem.value = error.message),
        );
    }, []);
    return (
        <>
            <header class="head">
                <h1>weft</h1>
                <span class="folder">{about.value?.folder}</span>
                {about.value?.read_only ? <span class="mark">read only</span> : null}
                <span class="version">{about.value?.version}</span>
            </header>
            {connection.value === "away" ? <p role="status" class="problem">The server does not answer. This page goes on when it does.</p> : null}
            {connection.value === "stranger" ? (
                <p role="alert" class="problem">The server was started again. Open the address that `weft ui` has printed.</p>
            ) : null}
            {problem.value && connection.value !== "stranger" ? <p role="alert" class="problem">{problem.value}</p> : null}
            {about.value ? <Database about={about.value} /> : null}
        </>
    );
}

render(<Page />, document.getElementById("page")!);
