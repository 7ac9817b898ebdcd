/* The server, as the page sees it: questions with an answer or an error that people can read, and events.
 * Nothing that comes from there is ever HTML. */
import { signal } from "@preact/signals";

export type About = { version: string; folder: string; read_only: boolean };
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
export type Fact = { sort: string; name: string | null; value: string | null; task: string | null };

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

export async function ask<T>(path: string, values: Record<string, string> = {}): Promise<T> {
    const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
    return answer<T>(await fetch(query.size ? `${path}?${query}` : path));
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
