/* The server, as the page sees it: questions with an answer or an error that people can read, and events.
 * Nothing that comes from there is ever HTML. */
import { signal } from "@preact/signals";

/* `kept`: the page is a file, without a server (report.tsx) */
export type About = { version: string; folder: string; read_only: boolean; kept?: boolean };
export type RunHead = {
    run: number;
    workflow: string | null;
    folder: string | null;
    host: string | null;
    outcome: string;
    started: number;
    seconds: number | null;
    tasks: number;
    ran: number;
    reused: number;
    failed: number;
    skipped: number;
};
/* A file of the folder, by a look at its beginning: "workflow", "platform", "experiment" or "". */
export type FolderFile = { path: string; sort: string };
export type Fact = { sort: string; name: string | null; value: string | null; task: string | null; item: number };

/* "listening", "away": the server does not answer, and is asked again; "stranger": it does not know us */
export const connection = signal<"listening" | "away" | "stranger">("listening");
/* Counts on whenever runs appeared or ended: who shows some asks again. */
export const changes = signal(0);

async function answer<T>(response: Response): Promise<T> {
    if (response.status === 401) connection.value = "stranger";
    const body = await response.json();
    if (!response.ok) throw new Error(body.error ?? response.statusText);
    return body as T;
}

/* Who answers instead of a server: a report has its answers with it. */
let keeper: ((path: string, values: Record<string, string>) => unknown) | null = null;
export function keep(answers: (path: string, values: Record<string, string>) => unknown): void {
    keeper = answers;
}

/* What the address will need is asked for before the page is built, so that a large run is read meanwhile. */
const early = new Map<string, Promise<Response>>();
export function askEarly(...paths: string[]): void {
    for (const path of paths) {
        const response = fetch(path);
        response.catch(() => undefined); /* whoever asks hears of it */
        early.set(path, response);
    }
}

/* `more`: values whose name may come several times. */
export async function ask<T>(path: string, values: Record<string, string> = {}, more: [string, string][] = []): Promise<T> {
    if (keeper) return keeper(path, values) as T;
    const query = new URLSearchParams([...Object.entries(values), ...more].filter(([, value]) => value !== ""));
    const whole = query.size ? `${path}?${query}` : path, begun = early.get(whole);
    early.delete(whole); /* once: the next question is a new one */
    return answer<T>(await (begun ?? fetch(whole)));
}

/* Something that changes something; gives back what the server answers. */
export async function tell<T = unknown>(path: string, body: unknown): Promise<T> {
    return answer<T>(await fetch(path, { method: "POST", body: JSON.stringify(body) }));
}

/* Who wants to be told of events of a kind that the server sends ("run", "file", ...): heard("run", act) gives back how to stop.
 * "afresh": more was missed than the server keeps, or it was away; everybody asks again. */
const ears = new Map<string, Set<(data: any) => void>>();
let source: EventSource | null = null;
function attach(kind: string): void {
    source?.addEventListener(kind, (event) => ears.get(kind)?.forEach((act) => act(JSON.parse((event as MessageEvent).data))));
}
export function heard<T>(kind: string, act: (data: T) => void): () => void {
    if (!ears.has(kind)) {
        ears.set(kind, new Set());
        attach(kind);
    }
    ears.get(kind)!.add(act);
    return () => void ears.get(kind)!.delete(act);
}
heard("runs", () => changes.value++);
heard("afresh", () => changes.value++);

export function listen(): void {
    const events = new EventSource("/api/events");
    source = events;
    for (const kind of ears.keys()) attach(kind);
    events.onopen = () => {
        if (connection.value !== "listening") ears.get("afresh")!.forEach((act) => act({}));
        connection.value = "listening";
    };
    events.onerror = () => {
        if (connection.value === "listening") connection.value = "away";
        /* a browser gives up when the answer is an error: then we ask why, and go on */
        if (events.readyState === EventSource.CLOSED)
            setTimeout(() => ask<About>("/api/about").then(listen, () => connection.value === "away" && listen()), 2000);
    };
}
