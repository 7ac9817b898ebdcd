/* Growing: see growing.h.
 *
 * I1. The session's workflow, needs, priorities and predictions are of the same length whenever
 *     control is outside of growing_append().
 * I2. A list is read when every task that decides is done: it need not run, or the run has said so.
 *     What a task read or left is on record then, so a run that is cut off finds the same list.
 * I3. Growing costs what joins costs: arrays are lengthened by half. */
#include "session/growing.h"

#include "base/mem.h"
#include "exec/sandbox.h"
#include "model/future.h"
#include "model/select.h"
#include "session/place.h"
#include "session/surroundings.h"

#include <math.h>
#include <string.h>

/* A list that is still to be read, and the tasks that decide. */
enum { DECIDER_DONE = 1, DECIDER_ENDED }; /* not taken, or failed and may */

struct growing_item {
    uint32_t first, count, left; /* left: of them, those that are not done */
    bool by_ended;               /* or have ended otherwise: see struct future_item */
};

struct growing {
    struct session *s;
    struct run_growth run;
    uint8_t *done;               /* by task: it is, in this run */
    uint32_t room, session_room; /* entries of `done`; of the session's arrays by task */
    ARRAY(struct growing_item) items;
    ARRAY(struct workflow *) joins; /* to be added: session_add() */
    ARRAY(struct strbuf) parts;     /* elsewhere: what joined before it was handed in */
};

static struct growing *growing_get(struct session *s)
{
    if (!s->growing) {
        s->growing = mem_new_zero(struct growing, 1);
        s->growing->s = s;
    }
    return s->growing;
}

void growing_free(struct session *s)
{
    struct growing *g = s->growing;
    if (!g)
        return;
    for (size_t i = 0; i < g->joins.n; i++)
        workflow_free(g->joins.at[i]);
    for (size_t i = 0; i < g->parts.n; i++)
        strbuf_free(&g->parts.at[i]);
    array_free(&g->parts);
    array_free(&g->joins);
    array_free(&g->items);
    free(g->done);
    free(g);
    s->growing = NULL;
}

/* ---- who decides ---- */

/* Where tasks run elsewhere, what they made may not be here to be read. */
static bool is_readable(const struct growing *g, uint32_t task)
{
    const struct session *s = g->s;
    bool here = true;
    for (uint32_t o = s->w->object_off[task]; s->o.elsewhere && o < s->w->object_end[task]; o++)
        here = here && s->needs.present[o];
    return here;
}

static bool is_decided(const struct growing *g, uint32_t task, bool by_ended)
{
    uint8_t ended = g->done && task < g->room ? g->done[task] : 0, need = g->s->needs.task[task];
    return (need == NEED_NOT && is_readable(g, task)) || (need == NEED_SKIPPED && by_ended) ||
           ended == DECIDER_DONE || (ended && by_ended);
}

/* After every change of what is pending. O(items and those who decide). */
static void growing_list_items(struct growing *g)
{
    struct future *f = g->s->w->future;
    size_t n = f ? f->ops->items(f) : 0;
    g->items.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct future_item item = f->ops->item(f, i);
        struct growing_item x = {item.first, item.count, 0, item.by_ended};
        for (uint32_t t = item.first; t < item.first + item.count; t++)
            x.left += !is_decided(g, t, x.by_ended);
        array_push(&g->items, x);
    }
}

static bool is_ready(const struct growing_item *x)
{
    return x->count && !x->left;
}

static bool growing_is_ready(const struct growing *g)
{
    for (size_t i = 0; i < g->items.n; i++)
        if (is_ready(&g->items.at[i]))
            return true;
    return false;
}

/* ---- what is kept by task ---- */

/* Longer arrays, and what is expected of the new tasks: as the file states it. */
static void growing_lengthen(struct growing *g, uint32_t first)
{
    struct session *s = g->s;
    uint32_t n = s->w->ntasks;
    if (g->room < n) {
        g->room = n + first / 2;
        bool fresh = !g->done;
        g->done = mem_resize(g->done, g->room);
        if (fresh)
            memset(g->done, 0, g->room);
    }
    if (g->session_room < n) {
        g->session_room = n + first / 2;
        if (s->priority)
            s->priority = mem_resize(s->priority, g->session_room);
        if (s->seconds) {
            s->seconds = mem_resize(s->seconds, g->session_room);
            s->task_memory = mem_resize(s->task_memory, g->session_room);
        }
        if (s->predicted)
            s->predicted = mem_resize(s->predicted, g->session_room);
    }
    for (uint32_t t = first; t < n; t++) {
        bool stated = s->w->flags[t] & TASK_HAS_WORK;
        g->done[t] = 0;
        if (s->seconds) {
            s->seconds[t] = stated ? s->w->work[t] : NAN;
            s->task_memory[t] = s->w->memory[t] > 0 ? s->w->memory[t] : NAN;
        }
        if (s->predicted)
            s->predicted[t] = (struct prediction){0};
    }
    s->record.predicted = s->predicted;
}

/* What joins comes after what was there, in the order of the file, unless the user says otherwise. */
static void growing_order(struct growing *g, uint32_t first)
{
    struct session *s = g->s;
    const struct workflow *w = s->w;
    for (uint32_t i = first; s->priority && i < w->ntasks; i++) {
        uint32_t task = w->topo[i];
        double user = w->priority ? w->priority[task] : 0;
        /* places in an order are above -2^32, so that a priority of the user's is past all of them */
        s->priority[task] = user * 4294967296.0 - (double)i;
    }
    g->run.priority = s->priority;
}

/* With --force NAME those of that name run again, also the new ones. */
static uint8_t *forced_tasks(const struct session *s)
{
    const char *const *target = s->o.targets;
    if (!s->o.force || !target || !*target)
        return NULL;
    uint8_t *marks = mem_new_zero(uint8_t, s->w->ntasks);
    struct error ignored = {0};
    for (; *target; target++)
        select_named(s->w, *target, marks, &ignored); /* what is not there may come */
    return marks;
}

/* The part joins the workflow and everything that is kept by task (I1). */
static bool growing_append(struct growing *g, const struct workflow *part,
                           const struct growth_link *links, size_t nlinks, struct error *err)
{
    struct session *s = g->s;
    uint32_t first = s->w->ntasks, object = s->w->nobjects;
    struct surroundings_request around = {
        .workflow = part, .folder = s->ws.folder, .fetch = !s->o.look};
    if (!s->o.no_sandbox && !sandbox_check_names(part, err))
        return false;
    if (!surroundings_find_contents(&around, &s->environment, err) ||
        (s->state == SESSION_RUNNING && !surroundings_find_values(&around, &s->environment, err)))
        return false;
    history_let_go(s->history);
    if (!workflow_append(s->w, part, links, nlinks, err))
        return false;
    s->grew |= s->state == SESSION_RUNNING;
    uint8_t *forced = forced_tasks(s);
    struct need_options need = {
        .all = s->o.force && !forced, .forced = forced, .elsewhere = s->o.elsewhere};
    bool away = s->o.elsewhere && s->state == SESSION_RUNNING, good = true;
    if (away) /* agents know what there is to read */
        needs_extend(&s->needs, first, object);
    else
        good = needs_grow(&s->needs, first, object, &need, err);
    free(forced);
    growing_lengthen(g, first);
    growing_order(g, first);
    s->record.tasks = s->w->ntasks;
    if (s->o.elsewhere)
        return good; /* what agents have room for is theirs to say */
    struct run_options o = session_run_options(s);
    return good && run_fits(&o, first, err);
}

/* Elsewhere others must be able to make the same of it. */
static bool growing_expand(struct growing *g, const bool *ready, struct future_part *part,
                           struct error *err)
{
    struct workflow *w = g->s->w;
    if (!g->s->o.elsewhere)
        return w->future->ops->expand(w->future, w, ready, NULL, part, err);
    array_push(&g->parts, (struct strbuf){0});
    struct strbuf *bytes = &g->parts.at[g->parts.n - 1];
    future_note_part(w, ready, NULL, bytes);
    return future_play_part(w, bytes->at, bytes->n, part, err);
}

void growing_put_source(struct session *s)
{
    const struct growing *g = growing_get(s);
    place_put_source(&s->source, g->parts.at, g->parts.n, &s->text);
}

/* A target that nobody makes when all is known was never one. */
static bool growing_check_targets(const struct growing *g, struct error *err)
{
    const struct session *s = g->s;
    const char *const *target = s->o.targets;
    if (workflow_is_open(s->w) || !target || !*target)
        return true;
    uint8_t *marks = mem_new_zero(uint8_t, s->w->ntasks);
    bool good = true;
    for (; *target && good; target++)
        good = select_named(s->w, *target, marks, err);
    free(marks);
    return good;
}

bool growing_take_part(struct session *s, const void *bytes, size_t n, struct error *err)
{
    struct future_part part;
    bool good = future_play_part(s->w, bytes, n, &part, err);
    if (good && part.workflow)
        good = growing_append(growing_get(s), part.workflow, part.links.at, part.links.n, err);
    future_part_free(&part);
    return good && growing_check_targets(growing_get(s), err);
}

/* Every list that can be read is, and what became known joins; again, while that decides others. */
static bool growing_advance(struct growing *g, struct error *err)
{
    struct future *f = g->s->w->future;
    bool good = true;
    if (!f)
        return true;
    growing_list_items(g);
    while (good && growing_is_ready(g)) {
        struct future_part part = {0};
        bool *ready = mem_new(bool, g->items.n);
        for (size_t i = 0; i < g->items.n; i++)
            ready[i] = is_ready(&g->items.at[i]);
        good = growing_expand(g, ready, &part, err);
        free(ready);
        if (good && part.workflow)
            good = growing_append(g, part.workflow, part.links.at, part.links.n, err);
        future_part_free(&part);
        growing_list_items(g);
    }
    return good && growing_check_targets(g, err);
}

bool growing_begin(struct session *s, struct error *err)
{
    if (!s->w->future)
        return true;
    struct growing *g = growing_get(s);
    uint32_t before = s->w->ntasks;
    growing_lengthen(g, before);
    if (!growing_advance(g, err))
        return false;
    bool open = workflow_is_open(s->w);
    if (open || s->w->ntasks > before)
        needs_restore(&s->needs, open);
    growing_list_items(g); /* a task that decides may have to run again after all */
    return true;
}

/* ---- while it runs ---- */

static bool growing_decides(void *context, uint32_t task, bool done)
{
    struct growing *g = context;
    bool due = false;
    if (g->done[task])
        return false;
    g->done[task] = done ? DECIDER_DONE : DECIDER_ENDED;
    for (size_t i = 0; i < g->items.n; i++) {
        struct growing_item *x = &g->items.at[i];
        bool counted = g->s->needs.task[task] == NEED_NOT ||
                       (g->s->needs.task[task] == NEED_SKIPPED && x->by_ended);
        if (task - x->first >= x->count || counted || !(done || x->by_ended))
            continue;
        x->left--;
        due |= is_ready(x);
    }
    return due;
}

/* What a program added. */
static bool growing_join(struct growing *g, struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < g->joins.n; i++) {
        if (good)
            good = growing_append(g, g->joins.at[i], NULL, 0, err);
        workflow_free(g->joins.at[i]);
    }
    g->joins.n = 0;
    return good;
}

static bool growing_grow(void *context, struct error *err)
{
    struct growing *g = context;
    return growing_join(g, err) && growing_advance(g, err);
}

static bool growing_is_open(void *context)
{
    const struct growing *g = context;
    return workflow_is_open(g->s->w);
}

bool session_add(struct session *s, struct workflow *more, struct error *err)
{
    bool goes_on = s->state == SESSION_RUNNING && (s->run || s->executor);
    bool whole = !more->nassertions;
    for (int h = 0; h < WORKFLOW_HOOKS; h++)
        whole = whole && !more->hook[h];
    if (goes_on && s->executor && whole && more->ntasks) {
        bool good = s->executor->add(s->executor_self, more, err);
        workflow_free(more);
        return good;
    }
    if (goes_on && whole && more->ntasks) {
        array_push(&growing_get(s)->joins, more);
        run_grow_soon(s->run);
        return true;
    }
    workflow_free(more);
    if (!goes_on)
        return error_set(err, ERROR_INPUT,
                         "the run is not going on: tasks are added between its start and its end");
    return whole ||
           error_set(err, ERROR_INPUT,
                     "hooks and constraints belong to the workflow that was opened; leave them out "
                     "of what is added");
}

const struct run_growth *growing_of(struct session *s)
{
    struct growing *g = growing_get(s);
    g->run.decides = s->w->future ? growing_decides : NULL;
    g->run.grow = growing_grow;
    g->run.is_open = growing_is_open;
    g->run.context = g;
    g->session_room = s->w->ntasks; /* they were made anew since, for as many */
    g->run.priority = s->priority;
    return &g->run;
}

void growing_conclude(const struct session *s)
{
    struct future *f = s->w->future;
    size_t items = f ? f->ops->items(f) : 0;
    for (size_t i = 0; i < items; i++) {
        struct strbuf names = {0};
        const char *name;
        size_t of = 0;
        for (size_t k = 0; (name = f->ops->unknown(f, k, &of)) != NULL; k++)
            if (of == i)
                strbuf_printf(&names, "%s'%.80s'", names.n ? ", " : "", name);
        if (names.n) /* none: a program could have added some */
            remark(&s->o.remarks, REMARK_WARNING,
                   "%s did not run: %s, and that task was not taken, or failed and may",
                   strbuf_text(&names), f->ops->item(f, i).name);
        strbuf_free(&names);
    }
}
