/* The frame around the views: head, navigation, keys, and what is to be said when the server is away. */
import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { address, goTo, link } from "./address";
import { type About, ask, askEarly, connection, listen } from "./server";
import { views } from "./views";

/* Does somebody write there? Then letters are letters. */
function writing(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function Keys({ close }: { close: () => void }) {
    return (
        <aside class="keys card" aria-label="keys">
            <h2>Keys</h2>
            <dl>
                {views.map((view) => (
                    <>
                        <dt>
                            <kbd>g</kbd> <kbd>{view.letter}</kbd>
                        </dt>
                        <dd>{view.title}</dd>
                    </>
                ))}
                <dt>
                    <kbd>?</kbd>
                </dt>
                <dd>these keys</dd>
                <dt>arrows, <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></dt>
                <dd>move, zoom, show all of a picture</dd>
            </dl>
            <button type="button" onClick={close}>Close</button>
        </aside>
    );
}

/* g and a letter go to a view. A second apart at most: who typed g by mistake is not taken elsewhere. */
function useKeys(toggle: (shown?: boolean) => void): void {
    useEffect(() => {
        let leader = -Infinity;
        const press = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.metaKey || event.altKey || writing(event.target)) return;
            const view = views.find((v) => v.letter === event.key);
            if (event.key === "?") toggle();
            else if (event.key === "Escape") toggle(false);
            else if (view && event.timeStamp - leader < 1000) {
                goTo(view.name);
                event.preventDefault();
            }
            leader = event.key === "g" ? event.timeStamp : -Infinity;
        };
        addEventListener("keydown", press);
        return () => removeEventListener("keydown", press);
    }, []);
}

function Page() {
    const about = useSignal<About | null>(null);
    const problem = useSignal("");
    const keys = useSignal(false);
    useKeys((shown) => (keys.value = shown ?? !keys.value));
    useEffect(() => {
        ask<About>("/api/about").then(
            (found) => {
                about.value = found;
                listen();
            },
            (error: Error) => (problem.value = error.message),
        );
    }, []);
    const view = views.find((v) => v.name === address.value.view) ?? views[0];
    useEffect(() => void (document.title = `weft · ${view.title}`), [view]);
    const View = view.component;
    return (
        <>
            <header class="head">
                <a class="skip" href="#" onClick={(event) => (event.preventDefault(), document.querySelector("main")?.focus())}>to the content</a>
                <h1>weft</h1>
                <span class="folder">{about.value?.folder}</span>
                {about.value?.read_only ? <span class="mark">read only</span> : null}
                <nav aria-label="views">
                    {views.map((v) => (
                        <a key={v.name} href={link(v.name)} aria-current={v === view ? "page" : undefined}>{v.title}</a>
                    ))}
                </nav>
                <span class="version">{about.value?.version}</span>
            </header>
            {connection.value === "away" ? <p role="status" class="problem">The server does not answer. This page goes on when it does.</p> : null}
            {connection.value === "stranger" ? (
                <p role="alert" class="problem">The server was started again. Open the address that `weft ui` has printed.</p>
            ) : null}
            {problem.value && connection.value !== "stranger" ? <p role="alert" class="problem">{problem.value}</p> : null}
            {about.value ? <View about={about.value} /> : null}
            {keys.value ? <Keys close={() => (keys.value = false)} /> : null}
        </>
    );
}

const shown = address.value;
askEarly("/api/about", ...(shown.view === "run" && /^\d+$/.test(shown.values.run ?? "") ? [`/api/run/${shown.values.run}/live`] : []));
render(<Page />, document.getElementById("page")!);
