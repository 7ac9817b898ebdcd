/* From a workflow and a plan's clusters to posts, duties, holdings and voyages. Once a stream;
 * O(copies + edges + objects x posts). */
#include "stream/lineup.h"

#include "model/stream_schedule.h"

#include <string.h>

struct lining {
    struct lineup *l;
    const struct workflow *w;
    struct stream_map map; /* of a plan */
    uint32_t nposts;
    uint32_t *holding;  /* (object, then task for its end) x post: its number + 1; 0: none */
    uint32_t *position; /* of a task in the topological order */
    uint32_t *last; /* per holding: the last duty that reads it, + 1; while one post is looked at */
};

/* Where the number of a holding stands: things are objects, then tasks, whose ends others may wait for. */
static uint32_t *lineup_cell(const struct lining *y, uint32_t thing, uint32_t post)
{
    return &y->holding[(size_t)thing * y->nposts + post];
}

/* The holding of a thing at a post; it gets its number when somebody first asks. */
static uint32_t lineup_hold(struct lining *y, uint32_t thing, uint32_t post)
{
    uint32_t *cell = lineup_cell(y, thing, post);
    if (!*cell)
        *cell = ++y->l->nholdings;
    return *cell - 1;
}

static enum duty_kind lineup_kind(const struct workflow *w, uint32_t task)
{
    if (!w->command || !w->command[task])
        return DUTY_WAITS;
    if (w->flags[task] & TASK_CALL)
        return DUTY_FUNCTION;
    return w->flags[task] & TASK_PER_ITEM ? DUTY_PROGRAM : DUTY_STAYS;
}

static void lineup_begin_span(struct span *s, size_t at)
{
    *s = (struct span){(uint32_t)at, 0};
}

/* What it reads, in the order of the file where that was kept. A graph without commands has no order,
 * and needs none. */
static void lineup_inputs_of(struct lining *y, struct duty *d)
{
    const struct workflow *w = y->w;
    struct lineup *l = y->l;
    lineup_begin_span(&d->in, l->ports.n);
    if (w->in_off)
        for (uint32_t i = w->in_off[d->task]; i < w->in_off[d->task + 1]; i++)
            array_push(&l->ports, lineup_hold(y, w->in_object[i], d->post));
    for (uint32_t i = w->pred_off[d->task]; !w->in_off && i < w->pred_off[d->task + 1]; i++)
        if (w->pred_object[i] != NONE)
            array_push(&l->ports, lineup_hold(y, w->pred_object[i], d->post));
    for (uint32_t i = w->input_off ? w->input_off[d->task] : 0;
         !w->in_off && w->input_off && i < w->input_off[d->task + 1]; i++)
        array_push(&l->ports, lineup_hold(y, w->input_object[i], d->post));
    d->in.n = (uint32_t)(l->ports.n - d->in.first);
    lineup_begin_span(&d->after, l->ports.n);
    for (uint32_t i = w->pred_off[d->task]; i < w->pred_off[d->task + 1]; i++)
        if (w->pred_object[i] == NONE)
            array_push(&l->ports, lineup_hold(y, w->nobjects + w->pred_task[i], d->post));
    d->after.n = (uint32_t)(l->ports.n - d->after.first);
}

/* What it makes, in the order of the file, and its end where an `after` names it. */
static void lineup_outputs_of(struct lining *y, struct duty *d)
{
    const struct workflow *w = y->w;
    struct lineup *l = y->l;
    lineup_begin_span(&d->out, l->ports.n);
    for (uint32_t i = w->object_off[d->task]; i < w->object_end[d->task]; i++)
        array_push(&l->ports, lineup_hold(y, w->out_object ? w->out_object[i] : i, d->post));
    d->out.n = (uint32_t)(l->ports.n - d->out.first);
    d->done = NONE;
    for (uint32_t e = w->succ_off[d->task]; e < w->succ_off[d->task + 1]; e++)
        if (w->succ_object[e] == NONE)
            d->done = lineup_hold(y, w->nobjects + d->task, d->post);
}

/* ---- posts ---- */

static void lineup_add_duty(struct lining *y, uint32_t task, uint32_t post)
{
    struct duty *d = array_add(&y->l->duties);
    d->task = task;
    d->post = post;
    d->kind = lineup_kind(y->w, task);
    d->serial = y->w->flags[task] & TASK_NOT_REPLICABLE;
}

/* Every worker does everything: which one has an item is decided while it runs. */
static void lineup_post_without_plan(struct lining *y, uint32_t workers)
{
    struct lineup *l = y->l;
    struct post *p = array_add(&l->posts);
    p->workers = l->nworkers = workers;
    for (uint32_t i = 0; i < y->w->ntasks; i++)
        lineup_add_duty(y, y->w->topo[i], 0);
    p->duties = (struct span){0, y->w->ntasks};
    for (uint32_t i = 0; i < workers; i++)
        array_push(&l->nodes, i);
    p->nodes = (struct span){0, workers};
}

/* In the order of the schedule; where the plan has none, in that of the graph. */
static void lineup_sort_duties(struct lining *y, struct post *p, uint32_t number)
{
    struct duty *first = y->l->duties.at + p->duties.first;
    const struct plan *plan = y->l->plan;
    for (size_t i = 0; i < plan->schedule.starts.n; i++)
        if (plan->schedule.starts.at[i].cluster == number)
            for (uint32_t k = 0; k < p->duties.n; k++)
                if (first[k].task == plan->schedule.starts.at[i].task)
                    first[k].start = plan->schedule.starts.at[i].start;
    /* insertion: posts are short, and qsort has no context */
    for (uint32_t i = 1; i < p->duties.n; i++)
        for (uint32_t k = i; k > 0; k--) {
            struct duty *a = &first[k - 1], *b = &first[k];
            bool after = a->start != b->start ? a->start > b->start
                                              : y->position[a->task] > y->position[b->task];
            if (!after)
                break;
            struct duty swap = *a;
            *a = *b;
            *b = swap;
        }
}

static void lineup_posts_of_plan(struct lining *y)
{
    struct lineup *l = y->l;
    const struct plan *plan = l->plan;
    for (uint32_t c = 0; c < plan->clusters.n; c++) {
        const struct cluster *from = &plan->clusters.at[c];
        struct post *p = array_add(&l->posts);
        p->duties.first = (uint32_t)l->duties.n;
        for (uint32_t i = 0; i < from->ntasks; i++)
            lineup_add_duty(y, plan->tasks.at[from->tasks + i], c);
        for (uint32_t i = 0; i < from->nduplicates; i++)
            lineup_add_duty(y, plan->tasks.at[from->duplicates + i], c);
        p->duties.n = (uint32_t)(l->duties.n - p->duties.first);
        lineup_sort_duties(y, p, c);
        p->nodes = (struct span){(uint32_t)l->nodes.n, from->nnodes};
        for (uint32_t i = 0; i < from->nnodes; i++)
            array_push(&l->nodes, plan->nodes.at[from->nodes + i]);
        p->first = l->nworkers;
        p->workers = from->nnodes;
        l->nworkers += from->nnodes;
    }
}

/* ---- voyages ---- */

/* Orders without data are no transfers, and have no start: they go at once. */
static double lineup_send_start(const struct plan *plan, uint32_t object, uint32_t from,
                                uint32_t to)
{
    for (size_t i = 0; i < plan->schedule.sends.n; i++) {
        const struct stream_send *s = &plan->schedule.sends.at[i];
        if (s->object == object && s->from == from && s->to == to)
            return s->start;
    }
    return 0;
}

/* From this copy, if it is its task's home, to every post that reads and has no copy of its own. */
static void lineup_voyages_of(struct lining *y, struct duty *d)
{
    const struct workflow *w = y->w;
    struct lineup *l = y->l;
    d->leaves = (struct span){(uint32_t)l->voyages.n, 0};
    if (!l->plan || y->map.home[d->task] != d->post)
        return;
    for (uint32_t i = 0; i <= d->out.n; i++) {
        bool order = i == d->out.n;
        if (order && d->done == NONE)
            continue;
        uint32_t object = order ? NONE : w->object_off[d->task] + i;
        uint32_t thing = order ? w->nobjects + d->task : object;
        for (uint32_t p = 0; p < y->nposts; p++) {
            uint32_t to = *lineup_cell(y, thing, p);
            if (p == d->post || !to || stream_copy(&y->map, d->task, p) != NONE)
                continue;
            array_push(&l->voyages, (struct voyage){
                                        .object = object,
                                        .from = *lineup_cell(y, thing, d->post) - 1,
                                        .to = to - 1,
                                        .from_post = d->post,
                                        .to_post = p,
                                        .start = lineup_send_start(l->plan, object, d->post, p),
                                        .waits = !order && d->kind == DUTY_WAITS,
                                    });
        }
    }
    d->leaves.n = (uint32_t)l->voyages.n - d->leaves.first;
}

/* ---- what the source gives, what the sink takes, what is let go of and when ---- */

/* Results are taken where their task is at home: a duplicate makes them once more, for nobody. */
static void lineup_landings(struct lining *y)
{
    const struct workflow *w = y->w;
    struct lineup *l = y->l;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        bool given = w->producer[o] == NONE;
        l->ninputs += given;
        for (uint32_t p = 0; p < y->nposts; p++) {
            uint32_t cell = *lineup_cell(y, o, p);
            if (cell && given)
                array_push(&l->inputs, (struct landing){cell - 1, o, p});
            else if (cell && w->object_edge[o] == NONE &&
                     (!l->plan || y->map.home[w->producer[o]] == p))
                array_push(&l->results, (struct landing){cell - 1, o, p});
        }
    }
}

/* What nobody reads afterwards, and this duty at one port alone, it may hand on as it is. */
static void lineup_last(struct lineup *l, struct duty *d)
{
    d->last = (uint32_t)l->last.n;
    for (uint32_t i = 0; i < d->in.n; i++) {
        uint32_t h = l->ports.at[d->in.first + i], dropped = 0, named = 0;
        for (uint32_t k = 0; k < d->drops.n; k++)
            dropped += l->drops.at[d->drops.first + k] == h;
        for (uint32_t k = 0; k < d->in.n; k++)
            named += l->ports.at[d->in.first + k] == h;
        array_push(&l->last, dropped && named == 1);
    }
}

/* Holdings are let go of by the last duty of their post that reads them. Voyages have taken their own
 * share of the data by then, so that nobody counts readers while it runs. */
static void lineup_drops(struct lining *y)
{
    struct lineup *l = y->l;
    y->last = mem_new_zero(uint32_t, l->nholdings + 1);
    for (uint32_t i = 0; i < l->duties.n; i++) {
        const struct duty *d = &l->duties.at[i];
        /* its own outputs too: where nobody reads them, they go at once */
        for (uint32_t k = 0; k < d->in.n; k++)
            y->last[l->ports.at[d->in.first + k]] = i + 1;
        for (uint32_t k = 0; k < d->out.n; k++)
            y->last[l->ports.at[d->out.first + k]] = i + 1;
    }
    for (size_t i = 0; i < l->results.n; i++)
        y->last[l->results.at[i].holding] = 0;
    for (uint32_t i = 0; i < l->duties.n; i++) {
        struct duty *d = &l->duties.at[i];
        d->drops = (struct span){(uint32_t)l->drops.n, 0};
        for (uint32_t k = 0; k < d->in.n + d->out.n; k++) {
            uint32_t h = k < d->in.n ? l->ports.at[d->in.first + k]
                                     : l->ports.at[d->out.first + k - d->in.n];
            if (y->last[h] != i + 1)
                continue;
            y->last[h] = 0; /* named twice, dropped once */
            array_push(&l->drops, h);
        }
        d->drops.n = (uint32_t)l->drops.n - d->drops.first;
        lineup_last(l, d);
    }
    free(y->last);
}

/* ---- all of it ---- */

/* What a plan may say and threads of one process cannot do. The checker has judged the rest. */
static bool lineup_plan_fits(const struct workflow *w, const struct plan *plan, struct error *err)
{
    if (plan->kind != PLAN_STREAM)
        return error_set(
            err, ERROR_INPUT,
            "a plan of kind '%s' is not one of a stream; make one with `weft plan FLOW "
            "--with stream --set throughput=T`",
            plan_kind_name(plan->kind));
    if (plan->rotating)
        return error_set(err, ERROR_INPUT,
                         "the plan of '%s' deals items out task by task (rotating), which is not "
                         "executed; mos, stream and expert make plans that are",
                         plan->planner ? plan->planner : "an unknown planner");
    for (uint32_t c = 0; c < plan->clusters.n; c++)
        for (uint32_t i = 0; i < plan->clusters.at[c].nduplicates; i++) {
            uint32_t task = plan->tasks.at[plan->clusters.at[c].duplicates + i];
            if (w->flags[task] & TASK_NOT_REPLICABLE && lineup_kind(w, task) == DUTY_FUNCTION)
                return error_set(err, ERROR_INPUT,
                                 "the plan duplicates '%s', a function that keeps state, and a "
                                 "process has one state for all copies; plan again with --set "
                                 "duplication=false",
                                 workflow_task_name(w, task));
        }
    for (uint32_t c = 0; c < plan->clusters.n; c++)
        for (uint32_t i = 0; i < plan->clusters.at[c].ntasks; i++)
            if (plan->clusters.at[c].nnodes > 1 &&
                w->flags[plan->tasks.at[plan->clusters.at[c].tasks + i]] & TASK_NOT_REPLICABLE)
                return error_set(
                    err, ERROR_INPUT,
                    "the plan gives '%s' %u replicas, and it is not replicable; `weft "
                    "check` says more",
                    workflow_task_name(w, plan->tasks.at[plan->clusters.at[c].tasks + i]),
                    plan->clusters.at[c].nnodes);
    return true;
}

static void lineup_fill(struct lining *y, uint32_t workers)
{
    struct lineup *l = y->l;
    if (l->plan)
        lineup_posts_of_plan(y);
    else
        lineup_post_without_plan(y, workers);
    for (size_t i = 0; i < l->duties.n; i++) {
        struct duty *d = &l->duties.at[i];
        lineup_inputs_of(y, d);
        lineup_outputs_of(y, d);
        uint32_t most = d->in.n > d->out.n ? d->in.n : d->out.n;
        l->most_ports = most > l->most_ports ? most : l->most_ports;
    }
    for (size_t i = 0; i < l->duties.n; i++)
        lineup_voyages_of(y, &l->duties.at[i]);
    lineup_landings(y);
    lineup_drops(y);
}

bool lineup_make(struct lineup *l, const struct workflow *w, const struct plan *plan,
                 uint32_t workers, struct error *err)
{
    *l = (struct lineup){.w = w, .plan = plan};
    if (plan && !lineup_plan_fits(w, plan, err))
        return false;
    struct stream_tables tables = {0};
    struct lining y = {.l = l, .w = w, .nposts = plan ? (uint32_t)plan->clusters.n : 1};
    if (plan) {
        stream_tables_fill(&tables, plan, w->ntasks);
        y.map = stream_tables_map(&tables, plan);
        l->period = plan->schedule.period;
    }
    y.holding = mem_new_zero(uint32_t, ((size_t)w->nobjects + w->ntasks) * y.nposts + 1);
    y.position = mem_new(uint32_t, w->ntasks + 1);
    for (uint32_t i = 0; i < w->ntasks; i++)
        y.position[w->topo[i]] = i;
    lineup_fill(&y, workers);
    free(y.holding);
    free(y.position);
    if (plan)
        stream_tables_free(&tables);
    return true;
}

void lineup_free(struct lineup *l)
{
    array_free(&l->duties);
    array_free(&l->posts);
    array_free(&l->voyages);
    array_free(&l->ports);
    array_free(&l->drops);
    array_free(&l->last);
    array_free(&l->nodes);
    array_free(&l->inputs);
    array_free(&l->results);
}
