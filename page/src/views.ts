/* The views, a row each; what stands here is in the head, has an address (#NAME?...) and a key: g, then the letter. */
import type { ComponentType } from "preact";
import { Cluster } from "./cluster";
import { Database } from "./database";
import { Plans } from "./plan";
import { Experiments } from "./experiments";
import { Run } from "./run";
import type { About } from "./server";
import { Workbench, workbenchKeys } from "./workbench";

export type View = { name: string; title: string; letter: string; /* more keys that only this view has: which, and what they do */ keys?: [string, string][]; component: ComponentType<{ about: About }> };

export const views: View[] = [
    { name: "workbench", title: "Workbench", letter: "w", keys: workbenchKeys, component: Workbench },
    { name: "run", title: "Run", letter: "r", component: Run },
    { name: "plan", title: "Plan", letter: "p", component: Plans },
    { name: "experiments", title: "Experiments", letter: "e", component: Experiments },
    { name: "database", title: "Database", letter: "d", component: Database },
    { name: "cluster", title: "Cluster", letter: "c", component: Cluster },
];
