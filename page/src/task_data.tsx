/* What a task of a run reads and makes: each name leads to what the file holds now, and to where it comes from. */
import { address, go, link } from "./address";
import { Behind } from "./content";
import { Name } from "./name";
import type { About } from "./server";

export type TaskFiles = { reads?: string[]; reads_all?: number; makes?: string[]; makes_all?: number };

/* Where a run's folder is below the server's: "", "sub/"; null: it is elsewhere, and its files are not served. */
export function folderBelow(folder: string | null, about: About): string | null {
    if (!folder || (folder !== about.folder && !folder.startsWith(`${about.folder}/`))) return null;
    return `${folder.slice(about.folder.length + 1)}/`.replace(/^\//, "");
}

export function TaskData({ files, folder, about, version }: { files: TaskFiles; folder: string | null; about: About; version: number }) {
    const { data = "" } = address.value.values, below = folderBelow(folder, about);
    const lists: [string, string[], number][] = [["reads", files.reads ?? [], files.reads_all ?? 0], ["makes", files.makes ?? [], files.makes_all ?? 0]];
    const served = (name: string) => below !== null && !name.startsWith("/") && !name.includes("..");
    const lineage = (name: string) => link("database", { lineage: name.startsWith("/") ? name : `${folder}/${name}` });
    const shown = lists.some(([, names]) => names.includes(data)) ? data : "";
    if (!files.reads_all && !files.makes_all) return null;
    return (
        <>
            <dl class="facts files">
                {lists.map(([what, names, all]) => all ? (
                    <div key={what}>
                        <dt>{what}</dt>
                        <dd>
                            {names.map((name, i) => (
                                <>
                                    {i ? ", " : ""}
                                    {served(name)
                                        ? <button type="button" class="plain" aria-expanded={name === shown} onClick={() => go({ data: name === shown ? "" : name }, true)}><Name of={name} /></button>
                                        : <a href={lineage(name)}><Name of={name} /></a>}
                                </>
                            ))}
                            {all > names.length ? ` and ${all - names.length} more` : ""}
                        </dd>
                    </div>
                ) : null)}
            </dl>
            {shown && served(shown) ? (
                <Behind title={shown} path={below + shown} version={version} close={() => go({ data: "" }, true)}>
                    <p class="note">As it is in the folder now. <a href={lineage(shown)}>Where it comes from</a></p>
                </Behind>
            ) : null}
        </>
    );
}
