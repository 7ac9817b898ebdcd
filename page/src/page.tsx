/* The frame around the views: head, navigation, keys, and what is to be said when the server is away. */
import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { address, goTo, link } from "./address";
import { type About, ask, askEarly, connection, listen } from "./server";
import { type View, views } from "./views";

/* Does somebody write there? Then letters are letters. */
function writing(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function Keys({ view, close }: { view: View; close: () => void }) {
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
            {view.keys ? (
                <>
                    <h2>{view.title}</h2>
                    <dl>
                        {view.keys.map(([keys, does]) => (
                            <>
                                <dt>{keys}</dt>
                                <dd>{does}</dd>
                            </>
                        ))}
                    </dl>
                </>
            ) : null}
            <button type="button" onClick={close}>Close</button>
        </aside>
    );
}

/* g and a letter go to a view, however long somebody, or a slow machine, takes between them: that g was pressed is told, and any other key
 * takes it back. Heard from the first picture on, so that no key is lost. */
function useKeys(toggle: (shown?: boolean) => void, lead: (begun: boolean) => void): void {
    useLayoutEffect(() => {
        let begun = false;
        const press = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Shift" || writing(event.target)) return;
            const view = begun && views.find((v) => v.letter === event.key);
            if (event.key === "?") toggle();
            else if (event.key === "Escape") toggle(false);
            else if (view) {
                goTo(view.name);
                event.preventDefault();
                event.stopImmediatePropagation(); /* a view may have the letter, too */
            }
            lead((begun = !view && event.key === "g"));
        };
        const click = () => lead((begun = false));
        addEventListener("keydown", press, { capture: true });
        addEventListener("pointerdown", click);
        return () => (removeEventListener("keydown", press, { capture: true }), removeEventListener("pointerdown", click));
    }, []);
}

function Page() {
    const about = useSignal<About | null>(null);
    const problem = useSignal("");
    const keys = useSignal(false);
    const leading = useSignal(false); /* g was pressed */
    useKeys((shown) => (keys.value = shown ?? !keys.value), (begun) => (leading.value = begun));
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
            {views.some((v) => v.name === address.value.view) || address.value.view === "" ? null : <p role="alert" class="problem">There is no view '{address.value.view}'; this is the {view.title}.</p>}
            {about.value ? <View about={about.value} /> : null}
            <p class={leading.value ? "keys card leading" : "unseen"} role="status">
                {leading.value ? views.map((v) => <span key={v.name}><kbd>{v.letter}</kbd> {v.title} </span>) : null}
            </p>
            {keys.value ? <Keys view={view} close={() => (keys.value = false)} /> : null}
        </>
    );
}

const shown = address.value;
askEarly("/api/about", ...(shown.view === "run" && /^\d+$/.test(shown.values.run ?? "") ? [`/api/run/${shown.values.run}/live`] : []));
render(<Page />, document.getElementById("page")!);
