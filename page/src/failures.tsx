/* Failures of a run by their cause: 31 tasks that failed alike are one row, with the command and the last lines of the first. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Name } from "./name";
import { ask } from "./server";

type Cause = { what: string; command: string | null; hint: string | null; last_lines: string | null; count: number; tasks: string[] };

/* `failed`: how many there are now; asked again when there are more. `find` shows a task by its name. */
export function Failures({ run, failed, find }: { run: string; failed: number; find: (name: string) => void }) {
    const causes = useSignal<Cause[]>([]);
    useEffect(() => {
        let current = true;
        ask<{ causes?: Cause[] }>(`/api/run/${run}`).then((found) => current && (causes.value = found.causes ?? []), () => {});
        return () => void (current = false);
    }, [run, failed]);
    if (!causes.value.length) return null;
    return (
        <section class="failures" aria-label="failures">
            <h3>{failed === 1 ? "One task failed" : causes.value.length === 1 ? `${failed} tasks failed, all for one cause` : `${failed} tasks failed, for ${causes.value.length} causes`}</h3>
            <ul>
                {causes.value.slice(0, 20).map((cause) => (
                    <li key={cause.tasks[0]}>
                        <p>
                            <b class="bad">✕ {cause.count > 1 ? `${cause.count} × ` : ""}{cause.what}</b>:{" "}
                            {cause.tasks.slice(0, 3).map((name, i) => (
                                <>
                                    {i ? <span class="comma">, </span> : ""}
                                    <button type="button" class="plain" onClick={() => find(name)}><Name of={name} /></button>
                                </>
                            ))}
                            {cause.count > 3 ? ` and ${cause.count - 3} more` : ""}
                        </p>
                        {cause.command ? <pre>$ {cause.command}</pre> : null}
                        {cause.last_lines ? <pre>{cause.last_lines}</pre> : null}
                        {cause.hint ? <p class="note">{cause.hint}</p> : null}
                    </li>
                ))}
            </ul>
            {causes.value.length > 20 ? <p class="note">and {causes.value.length - 20} more causes: <code>weft report {run}</code> has all.</p> : null}
        </section>
    );
}
