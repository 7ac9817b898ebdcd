/* Nodes that change while a plan is carried out: random graphs, nodes and changes, what happened judged from scratch by
 * an oracle that knows no planner and no replay. */
#include "api/testing.h"

#include "api/inside.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

enum { NODES = 3, MOST_TASKS = 16, MOST_CHANGES = 3 };

struct changes_case {
    struct weft_workflow *w;
    struct weft_platform *p;
    struct weft_plan *plan;
    struct weft_node_change change[MOST_CHANGES];
    size_t nchanges;
};

static double changes_draw(struct rng *r, double from, double to)
{
    return rng_uniform(r, from, to);
}

static void changes_make(struct changes_case *c, uint64_t seed)
{
    struct rng r;
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("random");
    static const char *const names[NODES] = {"a", "b", "c"};
    struct weft_node nodes[NODES];
    struct weft_network network = WEFT_NETWORK_INIT;
    rng_seed_stream(&r, seed, 7);
    uint32_t tasks = 3 + (uint32_t)(rng_uniform(&r, 0, 1) * (MOST_TASKS - 3));
    for (uint32_t t = 0; t < tasks; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", t);
        weft_builder_task(b, name);
        weft_builder_work(b, t, changes_draw(&r, 1, 10));
        weft_builder_memory(b, t, changes_draw(&r, 1, 10));
        for (uint32_t from = 0; from < t; from++)
            if (rng_uniform(&r, 0, 1) < 1.5 / t)
                weft_builder_data(b, from, t, changes_draw(&r, 1, 20));
    }
    c->w = weft_builder_finish(b, &error);
    network.bandwidth = changes_draw(&r, 2, 50);
    network.latency = rng_uniform(&r, 0, 1) < 0.5 ? 0.1 : 0;
    for (uint32_t n = 0; n < NODES; n++) {
        nodes[n] = (struct weft_node)WEFT_NODE_INIT(names[n]);
        nodes[n].speed = changes_draw(&r, 1, 4);
        nodes[n].cores = 1 + (rng_uniform(&r, 0, 1) < 0.3);
        nodes[n].memory = changes_draw(&r, 60, 200);
    }
    c->p = weft_platform_build("random", nodes, NODES, &network, &error);
    c->plan = weft_plan_make(c->w, c->p, seed % 2 ? "heft-mem" : "heft", NULL, &error);
    c->nchanges = 1 + (size_t)(rng_uniform(&r, 0, 1) * MOST_CHANGES);
    double time = 0;
    for (size_t i = 0; i < c->nchanges; i++) {
        time += changes_draw(&r, 0, 8);
        bool slower = rng_uniform(&r, 0, 1) < 0.7, smaller = rng_uniform(&r, 0, 1) < 0.5;
        c->change[i] = (struct weft_node_change){(uint32_t)(rng_uniform(&r, 0, 1) * NODES), time,
                                                 slower ? changes_draw(&r, 0.1, 4) : NAN,
                                                 smaller ? changes_draw(&r, 30, 200) : NAN};
    }
}

static void changes_drop(struct changes_case *c)
{
    weft_plan_free(c->plan);
    weft_platform_free(c->p);
    weft_workflow_free(c->w);
}

/* ---- the oracle ---- */

/* Speed or memory of a node at a time; a change counts from its moment on. */
static double changes_value(const struct changes_case *c, uint32_t node, double time, bool memory)
{
    const struct platform *p = inside_platform(c->p);
    double value = memory ? p->memory[node] : p->speed[node];
    for (size_t i = 0; i < c->nchanges; i++) {
        double then = memory ? c->change[i].memory : c->change[i].speed;
        if (c->change[i].node == node && c->change[i].time <= time && !isnan(then))
            value = then;
    }
    return value;
}

/* Work that the node does from one time to another. */
static double changes_work(const struct changes_case *c, uint32_t node, double from, double to)
{
    double sum = 0, at = from;
    for (size_t i = 0; i < c->nchanges; i++) {
        double next = c->change[i].time;
        if (next > at && next < to) {
            sum += (next - at) * changes_value(c, node, at, false);
            at = next;
        }
    }
    return sum + (to - at) * changes_value(c, node, at, false);
}

static const struct placement *changes_at(const struct plan *plan, uint32_t task)
{
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].task == task)
            return &plan->placements.at[i];
    return NULL;
}

/* Cores, work done, data there in time. */
static bool changes_times_hold(const struct changes_case *c, const struct plan *h)
{
    const struct workflow *w = inside_workflow(c->w);
    bool good = h->placements.n == w->ntasks;
    for (size_t i = 0; i < h->placements.n && good; i++) {
        const struct placement *x = &h->placements.at[i];
        good = fabs(changes_work(c, x->node, x->start, x->finish) - w->work[x->task]) < 1e-6;
        for (size_t k = 0; k < i && good; k++) {
            const struct placement *y = &h->placements.at[k];
            good = x->node != y->node || x->core != y->core || x->start >= y->finish - 1e-9 ||
                   y->start >= x->finish - 1e-9;
        }
        for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1] && good; e++) {
            const struct placement *from = changes_at(h, w->pred_task[e]);
            bool there = from->node == x->node && from->finish <= x->start + 1e-9;
            for (size_t k = 0; k < h->transfers.n && !there; k++) {
                const struct transfer *t = &h->transfers.at[k];
                there = t->object == w->pred_object[e] && t->to == x->node &&
                        t->finish <= x->start + 1e-9 && t->start >= from->finish - 1e-9;
            }
            good = there;
        }
    }
    return good;
}

/* Nobody knew of the first change before it came: until then everything is as without it. */
static bool changes_not_foreseen(const struct changes_case *c, const struct plan *h,
                                 const struct plan *without)
{
    double time = c->change[0].time;
    for (size_t i = 0; i < h->placements.n; i++) {
        const struct placement *x = &h->placements.at[i], *y = changes_at(without, x->task);
        if ((x->start < time - 1e-9 || y->start < time - 1e-9) &&
            (x->node != y->node || fabs(x->start - y->start) > 1e-6))
            return false;
    }
    for (size_t i = 0; i < h->transfers.n; i++) {
        const struct transfer *x = &h->transfers.at[i];
        bool was = x->start >= time - 1e-9;
        for (size_t k = 0; k < without->transfers.n && !was; k++)
            was = without->transfers.at[k].object == x->object &&
                  without->transfers.at[k].to == x->to;
        if (!was)
            return false;
    }
    return true;
}

/* Bytes of one file on one node at a time: from the first to the last use. That it may be gone in between is left to
 * the planners: the oracle asks what certainly counts, tasks and files of tasks that run. */
static double changes_bytes(const struct changes_case *c, const struct plan *h, uint32_t node,
                            double time)
{
    const struct workflow *w = inside_workflow(c->w);
    double sum = 0;
    bool *counted = mem_new_zero(bool, (size_t)w->nobjects + 1);
    for (size_t i = 0; i < h->placements.n; i++) {
        const struct placement *x = &h->placements.at[i];
        if (x->node != node || x->start > time + 1e-9 || x->finish <= time + 1e-9)
            continue;
        sum += w->memory[x->task];
        for (uint32_t o = w->object_off[x->task]; o < w->object_end[x->task]; o++) {
            sum += counted[o] ? 0 : w->size[o];
            counted[o] = true;
        }
        for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++) {
            uint32_t o = w->pred_object[e];
            sum += o == NONE || counted[o] ? 0 : w->size[o];
            counted[o == NONE ? w->nobjects : o] = true;
        }
    }
    free(counted);
    return sum;
}

/* What starts from the first change on fits what its node has then. */
static bool changes_fit(const struct changes_case *c, const struct plan *h)
{
    for (size_t i = 0; i < h->placements.n; i++) {
        const struct placement *x = &h->placements.at[i];
        if (x->start >= c->change[0].time &&
            changes_bytes(c, h, x->node, x->start) >
                changes_value(c, x->node, x->start, true) * (1 + 1e-6))
            return false;
    }
    return true;
}

/* ---- the cases ---- */

struct changes_tally {
    int cases, shorter, infeasible, wrong;
};

static void changes_judge(struct changes_case *c, uint64_t seed, struct changes_tally *n)
{
    struct weft_error error;
    struct weft_sim_options o = WEFT_SIM_INIT;
    o.keep = true;
    struct weft_sim *without = weft_sim_plan(c->plan, &o, &error);
    o.changes = c->change;
    o.nchanges = c->nchanges;
    struct weft_sim *with = weft_sim_plan(c->plan, &o, &error);
    n->cases++;
    n->infeasible += !with && error.status == WEFT_INFEASIBLE;
    const char *why = !without || (!with && error.status != WEFT_INFEASIBLE) ? error.text : NULL;
    if (with && without) {
        const struct plan *h = inside_plan(weft_sim_happened(with));
        struct weft_changed x;
        why = !changes_times_hold(c, h) ? "a task, a core or a file is in two places at once"
              : !changes_not_foreseen(c, h, inside_plan(weft_sim_happened(without)))
                  ? "a change was foreseen"
              : !changes_fit(c, h) ? "something does not fit"
                                   : NULL;
        for (size_t i = 0; weft_sim_change(with, i, &x); i++) {
            n->shorter += x.makespan < x.stays;
            if (x.makespan > x.stays)
                why = "longer than with the plan as it was";
        }
    }
    if (why && !n->wrong++)
        printf("# seed %u: %s\n", (unsigned)seed, why);
    weft_sim_free(with);
    weft_sim_free(without);
}

static void test_random(void)
{
    struct changes_tally n = {0};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct changes_case c = {0};
        changes_make(&c, seed);
        if (c.plan)
            changes_judge(&c, seed, &n);
        changes_drop(&c);
    }
    printf("# %d cases, %d changes made plans shorter or possible, %d left no plan\n", n.cases,
           n.shorter, n.infeasible);
    is_int(n.wrong, 0, "changes of nodes, judged from scratch");
    ok(n.cases > 300 && n.shorter > 100, "most are plans, and many are worth moving");
    ok(n.infeasible < n.cases / 4, "few leave no plan");
}

/* A hundred tasks on three nodes, one of which all but stops. */
static void test_worth_it(void)
{
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("bag");
    for (uint32_t t = 0; t < 99; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", t);
        weft_builder_task(b, name);
        weft_builder_work(b, t, 1);
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_platform *p = weft_platform_named("3", &error);
    struct weft_plan *plan = weft_plan_make(w, p, "heft", NULL, &error);
    struct weft_node_change change = {1, 10.5, 0.01, NAN};
    struct weft_sim_options o = WEFT_SIM_INIT;
    o.changes = &change;
    o.nchanges = 1;
    struct weft_sim *s = weft_sim_plan(plan, &o, &error);
    struct weft_changed x = {0};
    if (ok(s && weft_sim_change(s, 0, &x), "a node that all but stops: %s", s ? "" : error.text)) {
        ok(fabs(x.makespan - 60.5) < 1e-6, "its task ends at last (%g)", x.makespan);
        ok(x.moved >= 22 && x.moved <= 33, "the others go elsewhere (%u)", x.moved);
        ok(x.stays > 2000, "as planned it would take half an hour");
    }
    weft_sim_free(s);
    o.noise = 0.1;
    ok(!weft_sim_plan(plan, &o, &error) && error.status == WEFT_BAD_INPUT &&
           strstr(error.text, "noise"),
       "not with noise");
    weft_plan_free(plan);
    weft_platform_free(p);
    weft_workflow_free(w);
}

int main(void)
{
    setenv("WEFT_HISTORY", "none", 1);
    test_random();
    test_worth_it();
    return tap_done();
}
