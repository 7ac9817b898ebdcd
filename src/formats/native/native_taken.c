/* Which tasks with `when` a simulation takes. A run asks their conditions when they could start, of files
 * that are made by then; here they are asked of the files that stand there from the last run. What cannot
 * be answered is taken, and a remark says so. --assume NAME=yes or no decides by hand.
 *
 * Who needs what a task makes that is not taken is not taken either, unless it can do without it, as in a
 * run (sched/decide.h). */
#include "base/file.h"
#include "base/tree.h"
#include "base/plural.h"
#include "formats/native/native_reading.h"
#include "model/condition.h"

#include <string.h>

bool native_assume_taken(struct native_reading *r, uint32_t task)
{
    const char *name = yaml_text(&r->file.y, r->key, NULL), *text = native_assumed(r, name);
    bool yes = text && strcmp(text, "yes") == 0;
    if (!text)
        return true;
    if (!yes && strcmp(text, "no") != 0)
        return native_error(&r->file, r->key,
                            "--assume %.80s=%.80s: '%.80s' has `when`; expected yes or no", name,
                            text, name);
    array_push(&r->shared->decided, (struct native_decided){task, yes});
    return true;
}

/* ---- conditions, of the files as they stand ---- */

struct taken_world {
    const struct workflow *w;
    const char *folder;
    uint32_t task;
    struct strbuf path;
};

static struct condition_file standing_file(void *context, bool out, uint32_t place)
{
    struct taken_world *world = context;
    const struct workflow *w = world->w;
    uint32_t object = out ? NONE : w->in_object[w->in_off[world->task] + place];
    const char *name = object == NONE ? "" : workflow_text(w, w->object_name[object]);
    path_in(world->folder, name, &world->path);
    return (struct condition_file){name, file_exists(world->path.at) ? world->path.at : NULL};
}

/* False: nobody can tell. */
static bool standing_answer(struct taken_world *world, uint32_t task, bool *holds)
{
    const struct workflow *w = world->w;
    struct error ignored = {0};
    struct condition_scope scope = {.key = "when",
                                    .in = w->in_off ? w->in_off[task + 1] - w->in_off[task] : 0};
    struct condition *c = condition_parse(workflow_text(w, w->when[task]), &scope, &ignored);
    world->task = task;
    bool known =
        c && condition_holds(c, &(struct condition_world){world, standing_file}, holds, &ignored);
    condition_free(c);
    return known;
}

/* ---- what is skipped ---- */

static bool is_needed(const struct workflow *w, uint32_t task, uint32_t object)
{
    for (uint32_t i = w->in_optional ? w->in_off[task] : 0;
         w->in_optional && i < w->in_off[task + 1]; i++)
        if (w->in_object[i] == object && w->in_optional[i])
            return false;
    return true;
}

/* O(edges): tasks in topological order. */
static void drop_dependents(const struct workflow *w, uint8_t *taken)
{
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1] && taken[t]; e++)
            if (w->pred_object[e] != NONE && !taken[w->pred_task[e]] &&
                is_needed(w, t, w->pred_object[e]))
                taken[t] = 0;
    }
}

/* Decided, and over at once: it holds nothing, takes no time and makes nothing. It stays, since who can do
 * without what it makes goes on when that is decided. */
static void skip_task(struct workflow *w, uint32_t t)
{
    w->work[t] = 0;
    w->memory[t] = 0;
    w->cores[t] = 1;
    w->flags[t] |= TASK_HAS_WORK; /* and is not predicted */
    for (uint32_t i = w->time_off ? w->time_off[t] : 0; w->time_off && i < w->time_off[t + 1]; i++)
        w->time[i].seconds = 0;
    if (w->nodes)
        w->nodes[t] = 1;
    if (w->asks)
        w->asks[t] = 0;
    for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
        w->size[o] = 0;
}

struct taken_counts {
    uint32_t untaken, unknown; /* by their own conditions */
    uint32_t first;            /* of those that nobody can tell */
};

static void decide_tasks(const struct native_reading *r, const struct workflow *w, uint8_t *taken,
                         struct taken_counts *n)
{
    struct taken_world world = {.w = w, .folder = r->folder};
    uint8_t *decided = mem_new_zero(uint8_t, w->ntasks);
    bool simulates = native_simulates(r);
    for (size_t i = 0; i < r->shared->decided.n; i++)
        decided[r->shared->decided.at[i].task] = r->shared->decided.at[i].taken ? 2 : 1;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool holds = true;
        if (!w->when[t])
            continue;
        if (decided[t])
            holds = decided[t] == 2;
        else if (simulates && !standing_answer(&world, t, &holds)) {
            n->first = n->unknown++ ? n->first : t;
            holds = true;
        }
        taken[t] = holds;
        n->untaken += !holds;
    }
    free(decided);
    strbuf_free(&world.path);
}

/* For people, in the words of the file. */
static void tell_taken(struct workflow *w, const struct taken_counts *n, const char *example,
                       uint32_t skipped)
{
    struct strbuf text = {0};
    const char *file = workflow_text(w, w->file);
    if (n->unknown) {
        strbuf_printf(&text,
                      "%s: whether %u task%s with `when` ('%.80s'%s) %s taken is not known before "
                      "the workflow has run: %s taken here; --assume NAME=no skips",
                      file, n->unknown, plural(n->unknown), example, n->unknown == 1 ? "" : " ...",
                      n->unknown == 1 ? "is" : "are", n->unknown == 1 ? "it is" : "they are");
        builder_add_warning(w, text.at);
        strbuf_clear(&text);
    }
    if (n->untaken) {
        strbuf_printf(&text,
                      "%s: %u task%s with `when` %s not taken, as things stand or as assumed: %u "
                      "task%s skipped here, with what needs them",
                      file, n->untaken, plural(n->untaken), n->untaken == 1 ? "is" : "are", skipped,
                      skipped == 1 ? " is" : "s are");
        builder_add_warning(w, text.at);
    }
    strbuf_free(&text);
}

void native_take(const struct native_reading *r, struct workflow *w)
{
    struct taken_counts n = {0};
    uint32_t skipped = 0;
    if (!w->when)
        return;
    uint8_t *taken = mem_new(uint8_t, w->ntasks);
    memset(taken, 1, w->ntasks);
    decide_tasks(r, w, taken, &n);
    drop_dependents(w, taken);
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!taken[t]) {
            skip_task(w, t);
            skipped++;
        }
    w->outside = true; /* files were looked at */
    tell_taken(w, &n, n.unknown ? workflow_task_name(w, n.first) : "", skipped);
    free(taken);
}
