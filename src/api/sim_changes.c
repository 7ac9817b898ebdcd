/* Nodes that change while a plan is carried out. At each change what has not begun is planned again from the state of
 * that moment (plan/memory/rest.h), every way of it is replayed, and the shortest is followed from then on.
 *
 *     plan ── replay with the changes so far ──▶ what has begun by then ──▶ rest_plans() ──┐
 *      ▲                                                                                   │ replayed, the shortest
 *      └────────────────────────── the next change ◀───────────────────────────────────────┘
 *
 * C1. A replay is made anew from the start each time. What has begun before the change does so again at the same times:
 *     it is first on its cores, and under network `free` nobody's messages are in the way of another's. That is why
 *     changes are simulated under `free` alone.
 * C2. Nobody knows a change before it comes: tasks of a new plan wait until then, and so does every file that only the
 *     new plan wants on a node (holds).
 * C3. Placements keep their numbers: number i of every plan is the same task. */
#include "api/sim_changes.h"
#include "plan/memory/rest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef ARRAY(struct replay_hold) hold_list;

struct sim_changing {
    struct weft_sim *s;
    const struct workflow *w;
    const struct plan *given;
    const struct plan *now; /* the plan that is followed, static */
    struct plan *own;       /* it, when it is ours */
    hold_list holds;        /* of it */
    struct platform view;   /* the nodes as they are; its speeds and memories are ours */
    double *stretch;        /* per node: its first speed over the present one */
    size_t so_far;          /* changes that have come */
};

/* ---- what may be asked ---- */

static int changes_by_time(const void *a, const void *b)
{
    const struct node_change *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* False: they do not go with the other options, or with the plan. */
static bool changes_possible(const struct weft_sim *s, const struct plan *plan, struct error *err)
{
    const struct weft_sim_options *o = &s->options;
    const char *beside = o->nfaults || o->mtbf > 0 ? "failures"
                         : o->noise > 0            ? "noise"
                         : o->planned_times        ? "planned times"
                         : o->repeat > 1           ? "repeats"
                                                   : NULL;
    if (beside)
        return error_set(err, ERROR_INPUT, "changes of nodes are simulated without %s", beside);
    if (strcmp(s->network, "free") != 0)
        return error_set(err, ERROR_INPUT,
                         "changes of nodes are simulated under --network free (this is '%s')",
                         s->network);
    if (plan->evictions.n)
        return error_set(err, ERROR_INPUT,
                         "the plan writes files to disk: changes of nodes are not simulated with "
                         "that");
    return o->stay || rest_can(s->workflow->model, s->platform->model, plan, err);
}

/* In order of time, since the replay takes them in their order and each is planned for with those
 * before it known. */
static bool changes_take(struct weft_sim *s, struct error *err)
{
    const struct platform *p = s->platform->model;
    for (size_t i = 0; i < s->options.nchanges; i++) {
        const struct weft_node_change *c = &s->options.changes[i];
        if (c->node >= p->nnodes)
            return error_set(err, ERROR_INPUT, "change %zu is of node number %u of %u", i + 1,
                             c->node, p->nnodes);
        if (!isfinite(c->time) || c->time < 0 || c->speed <= 0 || isinf(c->speed) || c->memory < 0)
            return error_set(err, ERROR_INPUT,
                             "a change of node '%s' is at %g s to speed %g and memory %g: the time "
                             "must be 0 or more, the speed positive, the memory 0 or more",
                             platform_node_name(p, c->node), c->time, c->speed, c->memory);
        array_push(&s->changes, (struct node_change){c->node, c->time, c->speed, c->memory});
    }
    /* a few, and those of one moment stay in their order: insertion would do, too */
    for (size_t i = 1; i < s->changes.n; i++)
        for (size_t k = i; k && changes_by_time(&s->changes.at[k - 1], &s->changes.at[k]) > 0;
             k--) {
            struct node_change swap = s->changes.at[k];
            s->changes.at[k] = s->changes.at[k - 1];
            s->changes.at[k - 1] = swap;
        }
    return true;
}

/* ---- one replay ---- */

static bool changes_replay(const struct sim_changing *c, const struct plan *plan,
                           const hold_list *holds, struct replay_result *out, struct error *err)
{
    struct replay_options o;
    replay_options_init(&o);
    o.network = "free";
    o.changes = c->s->changes.at;
    o.nchanges = c->so_far;
    o.holds = holds->at;
    o.nholds = holds->n;
    return replay_run(c->w, c->s->platform->model, plan, &o, out, err);
}

/* A part that has not ended must still fit its node as a whole: replays of parts count no files. */
static bool changes_parts_fit(const struct sim_changing *c, const struct replay_result *r,
                              double time)
{
    if (c->given->kind != PLAN_PARTITION || c->own)
        return true;
    for (size_t i = 0; i < c->given->parts.n; i++) {
        const struct part *part = &c->given->parts.at[i];
        bool left = false;
        for (size_t k = 0; k < c->now->placements.n; k++)
            left |= c->now->placements.at[k].node == part->node && r->start[k] >= time;
        if (left && part->memory > c->view.memory[part->node] * (1 + 1e-9))
            return false;
    }
    return true;
}

/* ---- C2: what only the new plan wants somewhere ---- */

static int holds_by_place(const void *a, const void *b)
{
    const struct replay_hold *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Every file and node at which somebody reads it or passes it on, sorted, each once; time: `time`. */
static void holds_of_plan(const struct workflow *w, const struct plan *plan, double time,
                          hold_list *out)
{
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++)
            if (w->pred_object[e] != NONE)
                array_push(out, (struct replay_hold){w->pred_object[e], x->node, time});
    }
    for (size_t i = 0; i < plan->transfers.n; i++)
        array_push(out, (struct replay_hold){plan->transfers.at[i].object, plan->transfers.at[i].to,
                                             time});
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, holds_by_place);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!kept || holds_by_place(&out->at[kept - 1], &out->at[i]) != 0)
            out->at[kept++] = out->at[i];
    out->n = kept;
}

static const struct replay_hold *holds_find(const hold_list *list, const struct replay_hold *x)
{
    return list->n ? bsearch(x, list->at, list->n, sizeof *x, holds_by_place) : NULL;
}

/* What the plan so far wanted there too is held as it was, or not at all. */
static void holds_between(const struct sim_changing *c, const struct plan *plan, double time,
                          hold_list *out)
{
    hold_list before = {0}, all = {0};
    holds_of_plan(c->w, c->now, 0, &before);
    holds_of_plan(c->w, plan, time, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct replay_hold *held = holds_find(&c->holds, &all.at[i]);
        if (!holds_find(&before, &all.at[i]))
            array_push(out, all.at[i]);
        else if (held)
            array_push(out, *held);
    }
    array_free(&before);
    array_free(&all);
}

/* ---- one change ---- */

/* The tasks that have begun, producers first. */
static struct placement *changes_begun(const struct sim_changing *c, const struct replay_result *r,
                                       double time, uint32_t *n)
{
    const struct workflow *w = c->w;
    struct placement *begun = mem_new(struct placement, (size_t)w->ntasks + 1);
    uint32_t *at = mem_new(uint32_t, (size_t)w->ntasks + 1);
    for (uint32_t i = 0; i < c->now->placements.n; i++)
        at[c->now->placements.at[i].task] = i;
    *n = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        struct placement x = c->now->placements.at[at[w->topo[i]]];
        x.start = r->start[at[x.task]];
        x.finish = r->finish[at[x.task]];
        if (x.start < time)
            begun[(*n)++] = x;
    }
    free(at);
    return begun;
}

/* A way as a plan to follow: numbered as before (C3), and nothing new before its time (C2). */
static void changes_dress(const struct sim_changing *c, struct plan *way,
                          const struct placement *begun, uint32_t nbegun, double time)
{
    const struct workflow *w = c->w;
    struct placement *by_task = mem_new(struct placement, (size_t)w->ntasks + 1);
    bool *has_begun = mem_new_zero(bool, (size_t)w->ntasks + 1);
    for (size_t i = 0; i < way->placements.n; i++)
        by_task[way->placements.at[i].task] = way->placements.at[i];
    for (uint32_t i = 0; i < nbegun; i++)
        has_begun[begun[i].task] = true;
    for (size_t i = 0; i < way->placements.n; i++)
        way->placements.at[i] = by_task[c->now->placements.at[i].task];
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!has_begun[t])
            array_push(&way->waits, (struct plan_wait){t, NONE, time});
    free(by_task);
    free(has_begun);
}

/* Takes `way`: followed from now on, or freed. */
static void changes_try(struct sim_changing *c, struct plan *way, double time,
                        struct weft_changed *out, struct plan **best, hold_list *best_holds)
{
    hold_list holds = {0};
    struct replay_result r;
    struct error ignored = {0};
    holds_between(c, way, time, &holds);
    bool good = changes_replay(c, way, &holds, &r, &ignored) && !(r.exceeded_last >= time) &&
                r.makespan < out->makespan * (1 - 1e-9);
    if (good) {
        out->makespan = r.makespan;
        plan_free(*best);
        array_free(best_holds);
        *best = way;
        *best_holds = holds;
    } else {
        plan_free(way);
        array_free(&holds);
    }
    replay_result_free(&r);
}

static void changes_adopt(struct sim_changing *c, struct plan *best, hold_list holds,
                          struct weft_changed *out)
{
    for (size_t i = 0; i < best->placements.n; i++)
        out->moved += best->placements.at[i].node != c->now->placements.at[i].node;
    plan_free(c->own);
    array_free(&c->holds);
    c->own = best;
    c->now = best;
    c->holds = holds;
}

/* What has not begun at `time` is planned again, unless it is well as it is. */
static bool changes_plan_again(struct sim_changing *c, const struct replay_result *r, double time,
                               struct weft_changed *out, struct error *err)
{
    struct plan *ways[REST_WAYS], *best = NULL;
    hold_list holds = {0};
    uint32_t nbegun;
    struct placement *begun = changes_begun(c, r, time, &nbegun);
    out->left = c->w->ntasks - nbegun;
    struct error why = {0};
    struct rest rest = {.workflow = c->w,
                        .platform = &c->view,
                        .stretch = c->stretch,
                        .plan = c->now,
                        .now = time,
                        .begun = begun,
                        .nbegun = nbegun};
    size_t n = out->left && !c->s->options.stay ? rest_plans(&rest, ways, &why) : 0;
    for (size_t i = 0; i < n; i++) {
        changes_dress(c, ways[i], begun, nbegun, time);
        changes_try(c, ways[i], time, out, &best, &holds);
    }
    free(begun);
    if (best)
        changes_adopt(c, best, holds, out);
    if (c->s->options.stay) /* the replay shows who exceeds what */
        out->makespan = r->makespan;
    if (isfinite(out->makespan))
        return true;
    return error_set(err, ERROR_INFEASIBLE,
                     "from %g s on the %u task%s left fit the nodes no more: %s", time, out->left,
                     out->left == 1 ? " that is" : "s that are",
                     why.text[0] ? why.text : "no plan within their memory was found");
}

/* All changes of one moment. */
static bool changes_step(struct sim_changing *c, struct error *err)
{
    struct weft_sim *s = c->s;
    double time = s->changes.at[c->so_far].time;
    for (; c->so_far < s->changes.n && s->changes.at[c->so_far].time == time; c->so_far++) {
        const struct node_change *x = &s->changes.at[c->so_far];
        if (!isnan(x->memory))
            c->view.memory[x->node] = x->memory;
        if (!isnan(x->speed)) {
            c->view.speed[x->node] = x->speed;
            c->stretch[x->node] = s->platform->model->speed[x->node] / x->speed;
        }
    }
    struct replay_result r;
    struct weft_changed out = {.time = time};
    bool good = changes_replay(c, c->now, &c->holds, &r, err);
    if (good) {
        bool fits = !(r.exceeded_last >= time) && changes_parts_fit(c, &r, time);
        out.stays = out.makespan = fits ? r.makespan : INFINITY;
        good = changes_plan_again(c, &r, time, &out, err);
        array_push(&s->changed, out);
    }
    replay_result_free(&r);
    return good;
}

/* The nodes as they are stand in a view of the platform with speeds and memories of its own; all
 * else of it is the caller's, and the view is never freed as a platform. */
bool sim_changes_follow(struct weft_sim *s, const struct plan *given, const struct plan **plan,
                        struct error *err)
{
    if (!s->options.nchanges)
        return true;
    const struct platform *p = s->platform->model;
    if (!changes_possible(s, *plan, err) || !changes_take(s, err))
        return false;
    struct sim_changing c = {
        .s = s, .w = s->workflow->model, .given = given, .now = *plan, .view = *p};
    size_t nodes = (size_t)p->nnodes + 1;
    c.view.speed = mem_new(double, nodes);
    c.view.memory = mem_new(double, nodes);
    c.stretch = mem_new(double, nodes);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        c.view.speed[n] = p->speed[n];
        c.view.memory[n] = p->memory[n];
        c.stretch[n] = 1;
    }
    bool good = true;
    while (good && c.so_far < s->changes.n)
        good = changes_step(&c, err);
    free(c.view.speed);
    free(c.view.memory);
    free(c.stretch);
    double claim = plan_objective(given, "makespan");
    if (good && c.own) {
        plan_set_objective(c.own, "makespan", isnan(claim) ? plan_makespan(given) : claim);
        plan_free(s->sequences);
        s->sequences = c.own;
        *plan = c.own;
    } else {
        plan_free(c.own);
    }
    for (size_t i = 0; i < c.holds.n; i++)
        array_push(&s->holds, c.holds.at[i]);
    array_free(&c.holds);
    return good;
}
