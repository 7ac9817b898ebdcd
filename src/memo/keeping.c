/* Keeping and restoring of results: see keeping.h. */
#include "memo/keeping.h"

#include "base/file.h"
#include "base/tree.h"
#include "memo/standing.h"

#include <sys/stat.h>

static uint32_t keeping_output(const struct workflow *w, uint32_t i)
{
    return w->out_object ? w->out_object[i] : i;
}

static const char *keeping_path(const struct needs *n, uint32_t object, struct strbuf *path)
{
    char label[512];
    return path_in(n->folder, workflow_object_label(n->w, object, label, sizeof label), path);
}

/* The first reason is told with the number of those that followed. */
static void keeping_note(struct keeping *k, const struct error *why)
{
    if (k->why.kind == ERROR_NONE)
        k->why = *why;
}

/* ---- keeping ---- */

bool keeping_wants(const struct needs *n, uint32_t task)
{
    return n->keeping && (n->keeping->all || n->w->flags[task] & TASK_KEEPS_RESULTS);
}

void keeping_keep(struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    struct keeping *k = n->keeping;
    struct strbuf path = {0};
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        struct error err = {0};
        double bytes = 0;
        if (workflow_is_temporary(w, o) || !n->present[o] || digest_is_zero(&n->content[o]))
            continue;
        bool good = objects_keep(k->objects, n->memo, keeping_path(n, o, &path), &n->content[o],
                                 k->most, &bytes, &err);
        k->kept += good && bytes > 0;
        k->bytes += bytes;
        k->unkept += !good;
        if (!good)
            keeping_note(k, &err);
    }
    strbuf_free(&path);
}

/* Whoever collects results from agents has their contents told, and the files here when all is over. */
void keeping_keep_all(struct needs *n)
{
    struct strbuf path = {0};
    for (uint32_t t = 0; t < n->w->ntasks; t++) {
        if (!keeping_wants(n, t))
            continue;
        for (uint32_t o = n->w->object_off[t]; n->elsewhere && o < n->w->object_end[t]; o++)
            n->present[o] = n->present[o] || file_exists(keeping_path(n, o, &path));
        keeping_keep(n, t);
    }
    strbuf_free(&path);
}

/* ---- restoring ---- */

/* Is it as the record says, or gone and may be? */
static bool output_stands(struct needs *n, uint32_t object, const struct digest *known)
{
    struct strbuf path = {0};
    struct digest now;
    double size = 0;
    struct error err = {0};
    bool there = memo_digest(n->memo, keeping_path(n, object, &path), false, &now, &size, &err);
    strbuf_free(&path);
    return there ? digest_equal(&now, known) : need_may_be_gone(n, object);
}

bool keeping_can_restore(struct needs *n, uint32_t task, const struct memo_task *t)
{
    const struct workflow *w = n->w;
    const struct keeping *k = n->keeping;
    const struct digest *known = memo_outputs(n->memo, t);
    uint32_t first = w->object_off[task], count = w->object_end[task] - first;
    if (!k || k->computes || count != t->noutputs || !objects_exist(k->objects))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!output_stands(n, keeping_output(w, first + i), &known[i]) &&
            !objects_has(k->objects, &known[i]))
            return false;
    for (uint32_t i = 0; i < count; i++)
        n->content[keeping_output(w, first + i)] = known[i];
    return true;
}

bool keeping_needs_record(const struct keeping *k, const struct memo *memo,
                          const struct memo_task *t)
{
    bool all = k->objects && t->noutputs && objects_exist(k->objects);
    for (uint32_t i = 0; all && i < t->noutputs; i++)
        all = objects_has(k->objects, &memo_outputs(memo, t)[i]);
    return all;
}

/* What weft did not make steps aside, as for a task that makes it. */
static bool keeping_clear_way(struct needs *n, uint32_t object, struct error *err)
{
    struct keeping *k = n->keeping;
    struct strbuf kept = {0};
    char label[512];
    if (k->overwrite || standing_at(n, object) < STANDING_CHANGED)
        return true;
    bool good = standing_keep(n, object, false, &kept, err);
    if (good)
        strbuf_printf(&k->aside, "%s is kept as %s\n",
                      workflow_object_label(n->w, object, label, sizeof label), kept.at);
    strbuf_free(&kept);
    return good;
}

static bool restore_output(struct needs *n, uint32_t object, const struct digest *d,
                           struct error *err)
{
    struct keeping *k = n->keeping;
    struct strbuf path = {0};
    struct stat s;
    bool damaged = false;
    bool good = keeping_clear_way(n, object, err) &&
                objects_restore(k->objects, d, keeping_path(n, object, &path), &damaged, err);
    k->damaged += damaged;
    k->computes |= !good && !damaged; /* a full disk is full for the next one, too */
    if (good && stat(path.at, &s) == 0) {
        bool folder = S_ISDIR(s.st_mode);
        (folder ? memo_learn_folder : memo_learn_digest)(n->memo, path.at, d);
        n->bytes[object] = folder ? tree_bytes(path.at) : (double)s.st_size;
        n->present[object] = NEED_RESTORED;
    }
    strbuf_free(&path);
    return good;
}

bool keeping_restore(struct needs *n, uint32_t task, const struct memo_task *t)
{
    const struct workflow *w = n->w;
    struct error err = {0};
    uint32_t first = w->object_off[task], count = w->object_end[task] - first;
    if (!keeping_can_restore(n, task, t))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t object = keeping_output(w, first + i);
        struct digest known = memo_outputs(n->memo, t)[i];
        if (!output_stands(n, object, &known) && !restore_output(n, object, &known, &err)) {
            keeping_note(n->keeping, &err);
            return false;
        }
    }
    n->keeping->restored++;
    return true;
}

/* Something that it reads will be computed after all, and may turn out to be another. */
static uint32_t parent_that_runs(const struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        if (w->pred_object[e] != NONE && need_runs(n, w->pred_task[e]) &&
            digest_is_zero(&n->content[w->pred_object[e]]))
            return w->pred_task[e];
    return NONE;
}

static void keeping_judge_again(struct needs *n, uint32_t task, enum need need, uint32_t because)
{
    n->task[task] = (uint8_t)need;
    n->because[task] = because;
    n->run++;
    for (uint32_t o = n->w->object_off[task]; o < n->w->object_end[task]; o++)
        n->content[o] = (struct digest){0};
}

void keeping_restore_all(struct needs *n, uint32_t first)
{
    const struct workflow *w = n->w;
    bool failed = false;
    for (uint32_t i = 0; n->keeping && i < w->ntasks; i++) {
        uint32_t task = w->topo[i];
        bool kept = n->task[task] == NEED_KEPT;
        if (task < first || (!kept && !(failed && n->task[task] == NEED_NOT)))
            continue;
        uint32_t parent = failed ? parent_that_runs(n, task) : NONE;
        const struct memo_task *t = kept ? need_find_record(n, task) : NULL;
        n->skip -= !kept && parent != NONE;
        n->kept -= kept;
        if (parent != NONE) {
            keeping_judge_again(n, task, NEED_PARENT, parent);
        } else if (kept && t && keeping_restore(n, task, t)) {
            n->task[task] = NEED_NOT;
            n->skip++;
        } else if (kept) {
            keeping_judge_again(n, task, NEED_OUTPUT, n->because[task]);
            failed = true;
        }
    }
    if (!failed)
        return;
    needs_restore(n, false); /* what runs now may read temporary files that are gone */
    n->run = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        n->run += need_runs(n, t);
}
