/* The Run view in a report: one file, no server (src/ui/kept.c). The answers that the view asks for stand in the file; the view has
 * a shadow root, so that its style and the report's leave each other alone. Where this does not run, the report is read as it is. */
import { render } from "preact";
import { OneRun, type Task } from "./run";
import { keep } from "./server";

type Kept = {
    run: number;
    live: unknown;
    gantt: unknown;
    graph: unknown;
    transfers: unknown;
    tasks: { fields: (keyof Task)[]; rows: unknown[][] };
    commands: Record<string, string>;
    logs: Record<string, string>;
};

const data = JSON.parse(document.getElementById("weft-run")!.textContent!) as Kept;
const tasks = data.tasks.rows.map((row) => Object.fromEntries(data.tasks.fields.map((field, i) => [field, row[i]])) as unknown as Task);
const every = (data.live as { tasks: number }).tasks;

/* What the server would answer (src/ui/run.c), of what was kept. */
keep((path, values) => {
    switch (path.split("/").pop()) {
        case "live": return data.live;
        case "gantt": return data.gantt;
        case "graph": return data.graph;
        case "transfers": return data.transfers;
        case "tasks": {
            const { family = "", state = "", words = "" } = values, from = Number(values.from) || 0;
            const found = tasks.filter((t) => (!state || t.state === state) && (family === "" || String(t.family) === family) && (!words || t.name.includes(words)));
            return { tasks: found.slice(from, from + 200), found: found.length };
        }
        case "task": {
            const task = tasks.find((t) => String(t.task) === values.task);
            if (!task) throw new Error("This file has not kept that task.");
            return { task, command: data.commands[values.task] };
        }
        case "log": {
            const text = data.logs[values.task] ?? null;
            return { text, end: text?.length ?? 0 };
        }
        default: throw new Error("This file has no answer to that.");
    }
});

const place = document.getElementById("run-view")!;
const root = place.attachShadow({ mode: "open" });
const style = document.createElement("style");
style.textContent = document.getElementById("weft-style")!.textContent!.replaceAll(":root", ":host");
const view = document.createElement("div");
view.id = "page";
root.append(style, view);
render(
    <>
        {tasks.length < every ? <p class="note">This file has {tasks.length} of {every} tasks, those that failed first; counts and pictures are of all.</p> : null}
        <div class="run-view kept">
            <OneRun run={String(data.run)} about={{ version: "", folder: "", read_only: true, kept: true }} />
        </div>
    </>,
    view,
);
place.hidden = false;
/* the view shows these two, and more of them */
for (const id of ["timeline", "graph"]) {
    document.getElementById(id)?.setAttribute("hidden", "");
    document.querySelector(`nav a[href="#${id}"]`)?.setAttribute("hidden", "");
}
