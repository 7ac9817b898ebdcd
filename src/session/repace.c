/* Agents that turn out otherwise than their plan has them: slower, since others use them or they throttle, or with another memory
 * than when the run began. What has not begun is planned again from the present state (plan/memory/rest.h).
 *
 *     tasks that ended on a node    took / planned                  ┐
 *     tasks that run there          so far / planned, if more       ├─▶ c, of the last few
 *                                                                   ┘
 *     how many times slower         c over the lower median of all nodes: times of a plan need not be seconds
 *
 * R1. One task more or less proves nothing: a node counts as changed when it is 1.5 times slower or quicker than it was taken
 *     for, and tasks move when the rest then takes at most 0.9 of what it would take.
 * R2. The order of the plan stays: its edges are in the run's workflow, and the store counts them. So what moves keeps its turn.
 * R3. What has begun stays. A task that begins while we plan runs where it runs (session/replan.c, A3). */
#include "session/replan.h"

#include "base/mem.h"
#include "model/costs.h"
#include "model/future.h"
#include "plan/memory/keep.h"
#include "plan/memory/rest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pace_changed = 1.5, pace_worth = 0.9; /* R1 */
enum { PACE_TASKS = 4 };                                  /* of each node, the last: R1 */

struct paces {
    double *slower;  /* by node: how many times, as it was last taken for */
    double *memory;  /* by node: what its agent told when the run began */
    double *limit;   /* by node: its memory, as it was last taken for */
    double *began;   /* by task: when it was first seen to run; NAN: it was not */
    uint32_t ntasks; /* entries of `began` */
    bool told_why;   /* that the plan cannot be made again */
};

struct repace {
    struct replan a;
    struct paces *p;
    struct platform view; /* the plan's, with speeds and memories as they are */
    double *slower;       /* by node, now; NAN: nothing is known */
    double unit;          /* seconds of the run that a second of the plan takes */
};

void paces_free(struct paces *p)
{
    if (!p)
        return;
    free(p->slower);
    free(p->memory);
    free(p->limit);
    free(p->began);
    free(p);
}

/* ---- what is seen ---- */

static double paces_memory_of(const struct following *f, const struct client *c, uint32_t node)
{
    const struct member *m = f->agent[node] != NONE ? replan_agent(c, f->agent[node]) : NULL;
    return m && m->memory > 0 ? m->memory : NAN;
}

void following_begin_paces(struct session *s, const struct client *c)
{
    struct following *f = s->following;
    if (!f->agent || f->follow != FOLLOW_STRICT)
        return;
    struct paces *p = mem_new_zero(struct paces, 1);
    p->ntasks = s->w->ntasks;
    p->slower = mem_new(double, (size_t)f->platform->nnodes + 1);
    p->memory = mem_new(double, (size_t)f->platform->nnodes + 1);
    p->limit = mem_new(double, (size_t)f->platform->nnodes + 1);
    p->began = mem_new(double, (size_t)p->ntasks + 1);
    for (uint32_t n = 0; n < f->platform->nnodes; n++) {
        p->slower[n] = 1;
        p->memory[n] = paces_memory_of(f, c, n);
        p->limit[n] = f->platform->memory[n];
    }
    for (uint32_t t = 0; t < p->ntasks; t++)
        p->began[t] = NAN;
    paces_free(f->paces);
    f->paces = p;
}

/* Since we first saw it: perhaps longer, never less. */
static double paces_so_far(const struct repace *r, uint32_t task)
{
    return r->a.now - r->p->began[task];
}

static int paces_by_end(const void *x, const void *y)
{
    const struct placement *a = x, *b = y;
    return (a->finish > b->finish) - (a->finish < b->finish);
}

/* Took over planned, of the last tasks of each node; tasks that run count when they have taken longer already. */
static void paces_measure(const struct repace *r, double *took)
{
    const struct replan *a = &r->a;
    const struct platform *p = a->f->platform;
    uint32_t n = a->s->w->ntasks;
    struct placement *seen = mem_new(struct placement, (size_t)n + 1);
    size_t count = 0;
    for (uint32_t t = 0; t < n; t++) {
        struct placement x = a->at[t];
        if (a->state[t] == REPLAN_RUNS && !isnan(r->p->began[t]))
            x = (struct placement){.task = t, .start = r->p->began[t], .finish = a->now};
        else if (a->state[t] != REPLAN_ENDED || x.task == NONE)
            continue;
        x.node = a->node[t];
        seen[count++] = x;
    }
    qsort(seen, count, sizeof *seen, paces_by_end);
    for (uint32_t node = 0; node < p->nnodes; node++) {
        double real = 0, planned = 0;
        uint32_t found = 0;
        for (size_t i = count; i-- > 0 && found < PACE_TASKS;) {
            double length = seen[i].finish - seen[i].start;
            double expected = a->stated[seen[i].task] / p->speed[node];
            bool runs = a->state[seen[i].task] == REPLAN_RUNS;
            if (seen[i].node != node || !(expected > 0) || !isfinite(expected) ||
                (runs && length < expected * r->unit * pace_changed))
                continue;
            real += length;
            planned += expected;
            found++;
        }
        took[node] = found ? real / planned : NAN;
    }
    free(seen);
}

static int paces_by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The lower median: of two nodes the quicker one is as planned. */
static double paces_median(const double *took, uint32_t n)
{
    double *known = mem_new(double, (size_t)n + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(took[i]))
            known[count++] = took[i];
    qsort(known, count, sizeof *known, paces_by_value);
    double median = count ? known[(count - 1) / 2] : 1;
    free(known);
    return median;
}

/* Has some node changed (R1)? What is known of all of them goes into the view. */
static bool paces_compare(struct repace *r, const struct client *c)
{
    const struct following *f = r->a.f;
    const struct platform *p = f->platform;
    bool changed = false;
    double *took = mem_new(double, (size_t)p->nnodes + 1);
    paces_measure(r, took);
    r->unit = paces_median(took, p->nnodes);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        double slower = isnan(took[n]) ? r->p->slower[n] : took[n] / r->unit;
        double memory = paces_memory_of(f, c, n), ratio = slower / r->p->slower[n];
        r->slower[n] = slower;
        r->view.speed[n] = p->speed[n] / slower;
        r->view.memory[n] = p->memory[n];
        /* a plan may have been made for other figures from the start: what counts is a change */
        if (!isnan(memory) && !isnan(r->p->memory[n]) && memory != r->p->memory[n])
            r->view.memory[n] = fmin(p->memory[n], memory);
        changed |= ratio > pace_changed || ratio < 1 / pace_changed;
        changed |= r->view.memory[n] != r->p->limit[n];
    }
    free(took);
    return changed;
}

/* ---- what to do about it ---- */

/* The rest as it is planned, on nodes as they are; INFINITY: a task does not fit its node. In the plan's seconds. */
static double paces_stay(const struct repace *r, struct placement *begun, uint32_t *nbegun)
{
    const struct replan *a = &r->a;
    const struct workflow *w = a->s->w;
    struct costs *costs = costs_lenient(w, &r->view);
    double *finish = mem_new_zero(double, (size_t)w->ntasks + 1), last = 0;
    bool files = platform_counts_files(&r->view, w);
    *nbegun = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i], node = a->node[t];
        struct placement x = {.task = t, .node = node, .start = a->now / r->unit};
        double takes = costs_time(costs, t, node);
        double need = files ? keep_task_bytes(w, t) : w->memory[t];
        if (a->state[t] == REPLAN_ENDED && a->at[t].task != NONE) {
            x.start = a->at[t].start / r->unit;
            takes = (a->at[t].finish - a->at[t].start) / r->unit;
        } else if (a->state[t] == REPLAN_RUNS) {
            x.start = (isnan(r->p->began[t]) ? a->now : r->p->began[t]) / r->unit;
            takes = fmax(takes, paces_so_far(r, t) / r->unit);
        } else if (a->state[t] == REPLAN_WAITS) {
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
                uint32_t o = w->pred_object[e], from = a->node[w->pred_task[e]];
                double way = o == NONE || from == node
                                 ? 0
                                 : platform_transfer(&r->view, from, node, w->size[o]);
                x.start = fmax(x.start, finish[w->pred_task[e]] + way);
            }
            takes = need > r->view.memory[node] * (1 + 1e-9) ? INFINITY : takes;
        }
        finish[t] = x.finish = x.start + (isnan(takes) ? 0 : takes);
        last = fmax(last, finish[t]);
        if (a->state[t] != REPLAN_WAITS)
            begun[(*nbegun)++] = x;
    }
    free(finish);
    costs_free(costs);
    return last;
}

/* "'n2' takes 3.1 times as long as planned", of those that changed. */
static void paces_describe(const struct repace *r, struct strbuf *out)
{
    const struct platform *p = r->a.f->platform;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        double ratio = r->slower[n] / r->p->slower[n];
        const char *name = platform_node_name(p, n);
        if (ratio > pace_changed || ratio < 1 / pace_changed)
            strbuf_printf(out, "%s'%.100s' takes %.2g times as long as planned", out->n ? ", " : "",
                          name, r->slower[n]);
        if (r->view.memory[n] != r->p->limit[n])
            strbuf_printf(out, "%s'%.100s' has %.10g bytes of memory now", out->n ? ", " : "", name,
                          r->view.memory[n]);
    }
}

/* What moved is where it is from now on, for the next look. */
static void paces_adopt(struct repace *r, struct client_follow *follow, const struct plan *plan,
                        double before)
{
    struct following *f = r->a.f;
    struct strbuf why = {0}, there = {0};
    bool *to = mem_new_zero(bool, (size_t)f->platform->nnodes + 1);
    size_t moved = replan_move(&r->a, follow, plan, to);
    for (size_t i = 0; i < plan->placements.n; i++)
        if (r->a.state[plan->placements.at[i].task] == REPLAN_WAITS)
            r->a.node[plan->placements.at[i].task] = plan->placements.at[i].node;
    for (size_t i = 0; i < f->plan->placements.n; i++)
        f->plan->placements.at[i].node = r->a.node[f->plan->placements.at[i].task];
    paces_describe(r, &why);
    replan_name_nodes(&r->a, to, &there);
    if (moved && isfinite(before))
        remark(&r->a.s->o.remarks, REMARK_WARNING,
               "%s: %zu task%s planned again, on %s; the run then ends at about %.3g s instead of "
               "%.3g s",
               strbuf_text(&why), moved, moved == 1 ? " was" : "s were", strbuf_text(&there),
               plan_makespan(plan) * r->unit, before * r->unit);
    else if (moved)
        remark(&r->a.s->o.remarks, REMARK_WARNING, "%s: %zu task%s planned again, on %s",
               strbuf_text(&why), moved, moved == 1 ? " was" : "s were", strbuf_text(&there));
    strbuf_free(&why);
    strbuf_free(&there);
    free(to);
}

/* The shortest of the ways, if it is worth it. */
static void paces_plan(struct repace *r, struct client_follow *follow)
{
    const struct workflow *w = r->a.s->w;
    struct plan *ways[REST_WAYS], *best = NULL;
    struct error why = {0};
    struct placement *begun = mem_new(struct placement, (size_t)w->ntasks + 1);
    struct rest rest = {.workflow = w,
                        .platform = &r->view,
                        .stretch = r->slower,
                        .plan = r->a.f->plan,
                        .now = r->a.now / r->unit,
                        .begun = begun};
    double stays = paces_stay(r, begun, &rest.nbegun), least = stays * pace_worth;
    size_t n = rest_plans(&rest, ways, &why);
    for (size_t i = 0; i < n; i++) {
        double takes = plan_makespan(ways[i]);
        if (takes < least || (!best && isinf(stays))) {
            plan_free(best);
            best = ways[i];
            least = takes;
        } else {
            plan_free(ways[i]);
        }
    }
    if (best)
        paces_adopt(r, follow, best, stays);
    else if (isinf(stays)) /* nothing else can be done: it waits for the memory */
        remark(&r->a.s->o.remarks, REMARK_WARNING, "%s; what is left waits for it", why.text);
    plan_free(best);
    free(begun);
}

/* False: nothing of this plan can be planned again here, which is said once if something has changed. */
static bool paces_can(struct repace *r)
{
    struct error why = {0};
    const struct replan *a = &r->a;
    if (!replan_has_constraints(a->s, a->f->plan) &&
        rest_can(a->s->w, a->f->platform, a->f->plan, &why))
        return true;
    struct strbuf text = {0};
    paces_describe(r, &text);
    if (!r->p->told_why)
        remark(&a->s->o.remarks, REMARK_INFO, "%s; %s", strbuf_text(&text),
               why.kind != ERROR_NONE ? why.text : "the plan is under constraints, and stays");
    r->p->told_why = true;
    strbuf_free(&text);
    return false;
}

static void paces_look(struct repace *r, const struct client *c, struct client_follow *follow)
{
    const struct platform *p = r->a.f->platform;
    bool waits = false;
    for (uint32_t t = 0; t < r->p->ntasks; t++) {
        waits |= r->a.state[t] == REPLAN_WAITS;
        if (r->a.state[t] == REPLAN_RUNS && isnan(r->p->began[t]))
            r->p->began[t] = r->a.now;
    }
    for (uint32_t n = 0; n < p->nnodes; n++)
        waits &= !r->a.gone[n] || r->a.f->agent[n] == NONE; /* that is replan.c's business */
    if (!waits)
        return;
    replan_dress_workflow(&r->a);
    if (paces_compare(r, c) && paces_can(r)) {
        paces_plan(r, follow);
        memcpy(r->p->slower, r->slower, p->nnodes * sizeof *r->slower);
        memcpy(r->p->limit, r->view.memory, p->nnodes * sizeof *r->p->limit);
    }
    replan_undress_workflow(&r->a);
}

/* The nodes as they are stand in a view of the platform with arrays of its own; all else of it is the plan's, and the view is never
 * freed as a platform. O(tasks log tasks) a look. */
void following_look_at_paces(struct session *s, const struct client *client,
                             struct client_follow *follow)
{
    struct following *f = s->following;
    if (!f || !f->begun || !f->paces || workflow_is_open(s->w))
        return;
    size_t nodes = (size_t)f->platform->nnodes + 1;
    struct repace r = {.a = {.s = s, .f = f}, .p = f->paces, .view = *f->platform, .unit = 1};
    r.view.speed = mem_new(double, nodes);
    r.view.memory = mem_new(double, nodes);
    r.slower = mem_new(double, nodes);
    replan_look(&r.a, client, follow);
    paces_look(&r, client, follow);
    replan_free(&r.a);
    free(r.view.speed);
    free(r.view.memory);
    free(r.slower);
}
