/* Planner `order`: orders that know how long tasks take, and in which pattern clients come.
 *
 * Objective: the mean time at which the last task ends, over scenarios of the pattern that are drawn
 * from the seed, the same for every order (rehearsal.h). Eligible tasks are worth something only when
 * somebody comes to take them, and more when they are long or hold up long ones: the rehearsal weighs
 * both at once, where AREA counts tasks and a critical path counts seconds.
 *
 *     members ──▶ the best over many scenarios ──▶ up to 16 tasks: search of all orders, with bounds
 *                                                └▶ else: moves of single tasks, kept when the mean
 *                                                   over a few other scenarios falls; in the end the
 *                                                   many tell whether they are worth anything
 *
 * Members: critical path, ic, mixtures of their places, most work below a task, the same per second
 * of its own, a batched schedule, most children, first in first out. The best of them is never worse
 * than `ic` or critical path on the scenarios that were drawn.
 *
 * Cost is counted in steps (a task given, a batch that came), not in seconds: the result depends on
 * the seed and `effort` alone. Members take O(edges + tasks log tasks), each scenario the same. */
#include "base/mem.h"
#include "model/graph.h"
#include "plan/order/batch.h"
#include "plan/order/orders.h"
#include "plan/order/rehearsal.h"
#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct planner planner_order;

enum {
    MEMBERS = 11,
    LEAST_SCENARIOS = 3,
    SEARCH_SCENARIOS = 64, /* each order of a search meets them all */
    JUDGE_SCENARIOS = 512, /* each member does: differences of half a percent are seen */
    /* past this search of all orders is hopeless, and the recursion stays this deep */
    SEARCH_TASKS = 16,
    MOVES_TASKS = 5000, /* a move shifts the tasks between two places */
    MANY_TASKS = 200000 /* beyond: the three members that matter, so that a million takes seconds */
};

struct weigh_member {
    const char *name;
    uint32_t *order;
    double mean;
};

struct weighing {
    const struct plan_request *request;
    const struct workflow *w;
    struct clients clients;
    struct rehearsal *few, *many; /* to search, and to judge; drawn apart */
    uint32_t nfew, nmany;
    uint64_t effort;
    struct weigh_member members[MEMBERS];
    int nmembers, best;
};

/* ---- members ---- */

/* Takes the order. */
static void add_member(struct weighing *g, const char *name, uint32_t *order)
{
    g->members[g->nmembers++] = (struct weigh_member){.name = name, .order = order};
}

static bool add_planner(struct weighing *g, const char *name, struct error *err)
{
    struct plan_request ask = {.workflow = g->w,
                               .platform = g->request->platform,
                               .progress = g->request->progress,
                               .seed = g->request->seed};
    struct plan *plan = planner_run(planner_find(name), &ask, err);
    if (!plan)
        return false;
    uint32_t *order = mem_new(uint32_t, g->w->ntasks);
    if (g->w->ntasks)
        memcpy(order, plan->order.at, g->w->ntasks * sizeof *order);
    add_member(g, name, order);
    plan_free(plan);
    return true;
}

/* Places in the orders of the first two members, weighted. Both are topological, and so is the sum:
 * a child stands behind its parent in each. */
static void add_mixture(struct weighing *g, const char *name, double share)
{
    uint32_t n = g->w->ntasks;
    double *key = mem_new_zero(double, n);
    for (uint32_t i = 0; i < n; i++) {
        key[g->members[0].order[i]] -= (1 - share) * i;
        key[g->members[1].order[i]] -= share * i;
    }
    add_member(g, name, order_by_key(g->w, key));
    free(key);
}

/* Work below a task: its own, and of each child's a share by the child's number of parents, so that
 * no work is counted twice. */
static double *work_below(const struct workflow *w)
{
    double *below = mem_new(double, w->ntasks);
    bool has_work = clients_have_work(w);
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t t = w->topo[i];
        below[t] = clients_mean_time(w, t, has_work);
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++) {
            uint32_t child = w->succ_task[k];
            below[t] += below[child] / (w->pred_off[child + 1] - w->pred_off[child]);
        }
    }
    return below;
}

static void add_work_members(struct weighing *g)
{
    bool has_work = clients_have_work(g->w);
    double *key = work_below(g->w);
    add_member(g, "work below", order_by_key(g->w, key));
    for (uint32_t t = 0; t < g->w->ntasks; t++) {
        double own = clients_mean_time(g->w, t, has_work);
        key[t] = own > 0 ? key[t] / own : INFINITY;
    }
    add_member(g, "work below per second", order_by_key(g->w, key));
    free(key);
}

static void add_batched(struct weighing *g)
{
    struct batch_schedule s;
    double count = g->clients.count;
    uint32_t size = count < g->w->ntasks ? (uint32_t)count : g->w->ntasks;
    batch_solve(g->w, size ? size : 1, 100000, g->members[1].order, &s);
    add_member(g, "batched", s.order);
    free(s.eligible);
}

/* Critical path and ic come first: mixtures are of these two. */
static bool make_members(struct weighing *g, struct error *err)
{
    if (!add_planner(g, "criticalpath", err) || !add_planner(g, "ic", err))
        return false;
    add_mixture(g, "half critical path, half ic", 0.5);
    if (g->w->ntasks > MANY_TASKS)
        return true;
    add_mixture(g, "critical path, a quarter ic", 0.25);
    add_mixture(g, "ic, a quarter critical path", 0.75);
    add_work_members(g);
    add_batched(g);
    return add_planner(g, "outdegree", err) && add_planner(g, "fifo", err);
}

/* Steps that one order takes in one scenario: its tasks, and the batches that come meanwhile. */
static double steps_of_one(const struct weighing *g)
{
    double steps = g->w->ntasks + 1;
    if (g->clients.kind != CLIENTS_WORKERS) {
        double chain = clients_have_work(g->w) ? graph_critical_path(g->w, NULL, NULL, NULL) : 1;
        steps += chain / g->clients.interval + g->w->ntasks / g->clients.count;
    }
    return steps;
}

/* An eighth of the effort for choosing among members, the rest for the search. */
static void weigh_members(struct weighing *g)
{
    double n = floor((double)g->effort / 8 / (steps_of_one(g) * g->nmembers));
    struct rng rng;
    g->nmany = (uint32_t)fmax(LEAST_SCENARIOS, fmin(JUDGE_SCENARIOS, n));
    g->nfew = g->nmany < SEARCH_SCENARIOS ? g->nmany : SEARCH_SCENARIOS;
    rng_seed_stream(&rng, g->request->seed, 0x6f72646572); /* apart from the seeds of simulations */
    g->few = rehearsal_new(g->w, &g->clients, rng_next(&rng), g->nfew);
    g->many = rehearsal_new(g->w, &g->clients, rng_next(&rng), g->nmany);
    for (int i = 0; i < g->nmembers; i++) {
        g->members[i].mean = rehearsal_mean(g->many, g->members[i].order, NULL);
        if (g->members[i].mean < g->members[g->best].mean)
            g->best = i;
    }
}

/* ---- all orders ---- */

struct weigh_search {
    struct weighing *g;
    uint32_t order[SEARCH_TASKS], best[SEARCH_TASKS], missing[SEARCH_TASKS];
    double mean; /* of the best so far */
    bool complete;
};

/* Every eligible task in the next place, the most promising (smallest bound) not first but lowest
 * number: bounds are dear, and the best member prunes well enough. */
static void search_place(struct weigh_search *s, uint32_t at)
{
    struct weighing *g = s->g;
    const struct workflow *w = g->w;
    if (at == w->ntasks) {
        double mean = rehearsal_mean(g->few, s->order, NULL);
        if (mean < s->mean) {
            s->mean = mean;
            memcpy(s->best, s->order, at * sizeof *s->best);
        }
        return;
    }
    for (uint32_t t = 0; t < w->ntasks && s->complete; t++) {
        if (s->missing[t])
            continue;
        s->order[at] = t;
        if (at + 1 < w->ntasks && rehearsal_bound(g->few, s->order, at + 1) >= s->mean)
            continue;
        s->missing[t] = NONE;
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
            s->missing[w->succ_task[k]]--;
        search_place(s, at + 1);
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
            s->missing[w->succ_task[k]]++;
        s->missing[t] = 0;
        if (rehearsal_steps(g->few) > g->effort)
            s->complete = false;
    }
}

/* True: `order` is the best there is. */
static bool search_all_orders(struct weighing *g, uint32_t *order, double *mean)
{
    if (g->w->ntasks > SEARCH_TASKS)
        return false;
    struct weigh_search s = {.g = g, .mean = *mean, .complete = true};
    if (g->w->ntasks)
        memcpy(s.best, order, g->w->ntasks * sizeof *order);
    for (uint32_t t = 0; t < g->w->ntasks; t++)
        s.missing[t] = g->w->pred_off[t + 1] - g->w->pred_off[t];
    search_place(&s, 0);
    if (g->w->ntasks)
        memcpy(order, s.best, g->w->ntasks * sizeof *order);
    *mean = s.mean;
    return s.complete;
}

/* ---- moves ---- */

/* A task to another place between its last parent and its first child. False: it has no other. */
static bool draw_move(const struct weighing *g, const uint32_t *order, const uint32_t *place,
                      struct rng *rng, uint32_t *from, uint32_t *to)
{
    const struct workflow *w = g->w;
    uint32_t n = w->ntasks, low = 0, high = n - 1;
    *from = (uint32_t)rng_below(rng, n);
    uint32_t task = order[*from];
    for (uint32_t k = w->pred_off[task]; k < w->pred_off[task + 1]; k++)
        if (place[w->pred_task[k]] + 1 > low)
            low = place[w->pred_task[k]] + 1;
    for (uint32_t k = w->succ_off[task]; k < w->succ_off[task + 1]; k++)
        if (place[w->succ_task[k]] - 1 < high)
            high = place[w->succ_task[k]] - 1;
    if (low == high)
        return false;
    *to = low + (uint32_t)rng_below(rng, high - low);
    *to += *to >= *from;
    return true;
}

static void make_move(uint32_t *order, uint32_t *place, uint32_t from, uint32_t to)
{
    uint32_t task = order[from];
    for (uint32_t i = from; i != to; i += from < to ? 1 : -1u) {
        order[i] = order[from < to ? i + 1 : i - 1];
        place[order[i]] = i;
    }
    order[to] = task;
    place[task] = to;
}

/* Moves that shorten the mean, until the effort is used up. */
static void improve_by_moves(struct weighing *g, uint32_t *order, double *mean)
{
    uint32_t n = g->w->ntasks, *place = mem_new(uint32_t, n), from, to;
    struct rng rng;
    rng_seed_stream(&rng, g->request->seed, 0x6d6f766573);
    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i;
    /* a chain has no move: so many draws in vain, and there are none worth waiting for */
    for (uint32_t vain = 0; rehearsal_steps(g->few) < g->effort && vain < 10 * n;) {
        if (!draw_move(g, order, place, &rng, &from, &to)) {
            vain++;
            continue;
        }
        vain = 0;
        make_move(order, place, from, to);
        double now = rehearsal_mean(g->few, order, NULL);
        if (now < *mean)
            *mean = now;
        else
            make_move(order, place, to, from);
    }
    free(place);
}

/* Scenarios that chose the moves flatter them; others tell. Better by two standard errors of the
 * paired difference: what only seems better is left alone. */
static bool moves_hold(struct weighing *g, const uint32_t *before, const uint32_t *after,
                       double *mean)
{
    uint32_t n = g->nmany;
    double *x = mem_new(double, n), *y = mem_new(double, n), square = 0;
    double gain = rehearsal_mean(g->many, before, x);
    *mean = rehearsal_mean(g->many, after, y);
    gain -= *mean;
    for (uint32_t i = 0; i < n; i++)
        square += (x[i] - y[i] - gain) * (x[i] - y[i] - gain);
    free(x);
    free(y);
    return gain > 2 * sqrt(square / (n - 1) / n);
}

/* ---- the planner ---- */

static const struct option order_planner_options[] = {
    {.name = "clients",
     .type = OPTION_TEXT,
     .standard = "poisson",
     .help = "in which pattern clients come: workers:N, single[/T], batches[:N][/T] or "
             "poisson[:N][/T]; N and T by the workflow when left out"},
    {.name = "effort",
     .type = OPTION_INTEGER,
     .standard = "5",
     .least = 0,
     .most = 1000000,
     .help = "millions of tasks given to clients in rehearsals"},
    {0},
};

static struct plan *weighed_plan(struct weighing *g)
{
    struct weigh_member *best = &g->members[g->best];
    uint32_t n = g->w->ntasks, *order = mem_new(uint32_t, n);
    const char *how = "the best of the members";
    if (n)
        memcpy(order, best->order, n * sizeof *order);
    double mean = rehearsal_mean(g->few, order, NULL);
    bool proved = search_all_orders(g, order, &mean);
    if (proved) {
        how = "every order was tried or bounded";
    } else if (n > 1 && n <= MOVES_TASKS) {
        improve_by_moves(g, order, &mean);
        if (moves_hold(g, best->order, order, &mean))
            how = "moves of single tasks";
        else
            memcpy(order, best->order, n * sizeof *order);
    }
    if (!proved)
        mean = rehearsal_mean(g->many, order, NULL);
    struct plan *plan = order_plan(g->w, order);
    struct strbuf text = {0};
    plan_set_objective(plan, "completion", mean);
    plan->verdict = mem_copy_string(proved ? "TIME_PROVED" : "HEURISTIC");
    clients_describe(&g->clients, &text);
    strbuf_printf(&text, "; %u scenarios; from %s, %s", proved ? g->nfew : g->nmany, best->name,
                  how);
    plan->proof = mem_copy_string(strbuf_text(&text));
    for (int i = 0; g->request->explain && i < g->nmembers; i++)
        plan_note(plan, "%s: %.6g s", g->members[i].name, g->members[i].mean);
    strbuf_free(&text);
    free(order);
    return plan;
}

static struct plan *run_order(const struct plan_request *request, struct error *err)
{
    struct weighing g = {.request = request, .w = request->workflow};
    struct plan *plan = NULL;
    g.effort = (uint64_t)request_integer(request, &planner_order, "effort") * 1000000;
    if (clients_parse(request_text(request, &planner_order, "clients"), g.w, &g.clients, err) &&
        make_members(&g, err)) {
        weigh_members(&g);
        plan = weighed_plan(&g);
    }
    for (int i = 0; i < g.nmembers; i++)
        free(g.members[i].order);
    rehearsal_free(g.few);
    rehearsal_free(g.many);
    return plan;
}

const struct planner planner_order = {
    .name = "order",
    .family = "order",
    .summary = "the order that ends soonest with clients of a pattern, by the tasks' own times",
    .paper = "ours: eligibility weighed by times and clients; sample average approximation",
    .guarantee = "TIME_PROVED: no order has a smaller mean completion over the scenarios drawn; "
                 "never worse than ic or criticalpath on them",
    .tie_rule = "members in their order, then the first move that shortens the mean",
    .options = order_planner_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER | ACCEPTS_META,
    .run = run_order,
};
