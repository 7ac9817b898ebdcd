/* An input that is not there: what the person may have meant. Only after the mistake, so that folders
 * may be listed and names compared. */
#include "memo/missing.h"

#include "base/suggest.h"
#include "base/tree.h"

#include <string.h>

/* What lies in the folder `below` of `folder` and is called `name`, or nearly: appended to `below`. */
static bool nearest_step(const char *folder, const char *name, struct strbuf *below)
{
    struct strbuf path = {0};
    folder_names names = {0};
    const char *near = NULL;
    if (folder_list(path_in(folder, below->n ? below->at : ".", &path), &names)) {
        for (size_t i = 0; i < names.n && !near; i++)
            near = strcmp(names.at[i], name) == 0 ? names.at[i] : NULL;
        if (!near)
            near = suggest_nearest(name, (const char *const *)names.at, names.n);
    }
    if (near)
        strbuf_add(below, near);
    folder_names_free(&names);
    strbuf_free(&path);
    return near != NULL;
}

/* The nearest of the files that are there, a slip allowed in each folder's name, too; its whole name is
 * in `out`. */
static bool nearest_file(const char *folder, const char *name, struct strbuf *out)
{
    struct strbuf step = {0};
    bool good = true;
    strbuf_clear(out);
    if (*name == '/')
        strbuf_add_char(out, *name++);
    while (*name && good) {
        size_t n = strcspn(name, "/");
        strbuf_clear(&step);
        strbuf_add_bytes(&step, name, n);
        strbuf_add(&step, "");
        good = nearest_step(folder, step.at, out);
        if (good && name[n])
            strbuf_add_char(out, '/');
        strbuf_add(out, "");
        name += n + (name[n] == '/');
    }
    strbuf_free(&step);
    return good && out->n;
}

/* The nearest of the files that tasks make, but for its own: none could wait for that. NULL: none is
 * near. */
static const char *nearest_output(const struct workflow *w, uint32_t task, const char *name)
{
    const char **names = mem_new(const char *, w->nobjects);
    size_t count = 0;
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->producer[o] != NONE && w->producer[o] != task && w->object_name[o])
            names[count++] = workflow_text(w, w->object_name[o]);
    const char *near = suggest_nearest(name, names, count);
    free(names);
    return near;
}

bool missing_input(const struct workflow *w, uint32_t task, uint32_t object, const char *folder,
                   struct error *err)
{
    char label[512];
    const char *name = workflow_object_label(w, object, label, sizeof label);
    const char *made = nearest_output(w, task, name);
    struct strbuf hint = {0}, there = {0};
    size_t literal = strcspn(name, "*?{"); /* what a shell or a list would have filled in */
    if (name[literal])
        strbuf_printf(&hint,
                      "; names are literal: a `%c` stands for itself; lists of files are made with "
                      "`lists:`",
                      name[literal]);
    else if (made)
        strbuf_printf(&hint, "; did you mean '%.200s', which '%.200s' makes?", made,
                      workflow_task_name(w, w->producer[workflow_find_object(w, made)]));
    else if (nearest_file(folder, name, &there))
        strbuf_printf(&hint, "; did you mean '%.200s'?", there.at);
    error_at(err, workflow_text(w, w->file), w->line ? w->line[task] : 0,
             "task '%.200s' reads '%.300s', which no task makes and which is not there; looked in "
             "%.300s%s",
             workflow_task_name(w, task), name, folder, strbuf_text(&hint));
    strbuf_free(&hint);
    strbuf_free(&there);
    return false;
}
