/* MOS: least latency at a required throughput on equal nodes. Vydyanathan, Catalyurek, Kurc,
 * Sadayappan, Saltz, OSU-CISRC-4/08-TR17, 2008 ("the report"): STH, PRH and LMH in turn (Algorithms
 * 1 to 3), the inverse (Algorithm 4), options and plans of all stream planners.
 *
 *    one cluster a task --STH--> rate met --PRH--> processors suffice --LMH--> latency short
 *                                                                             |
 *    list schedule of one item, not pipelined, if that is fast enough --------+--> the shorter
 *
 * Where a merge of PRH missed the throughput, PRH and LMH run a second time with replicas instead,
 * and the better counts. Any throughput up to Tmax is met when all tasks may be replicated: one
 * cluster of everything always does. */
#include "plan/stream/mos.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "model/stream_schedule.h"

/* ---- estimates that are made once ---- */

/* Where the state is known or has its place. At most half of the table is full. */
static struct mos_known *memo_place(struct mos_memo *memo, uint64_t state)
{
    if (memo->n * 2 >= (memo->at ? memo->mask + 1 : 0)) {
        struct mos_memo old = *memo;
        memo->mask = old.at ? old.mask * 2 + 1 : 255;
        memo->at = mem_new_zero(struct mos_known, memo->mask + 1);
        for (size_t i = 0; old.at && i <= old.mask; i++)
            if (old.at[i].state) {
                size_t k = old.at[i].state & memo->mask;
                while (memo->at[k].state)
                    k = (k + 1) & memo->mask;
                memo->at[k] = old.at[i];
            }
        free(old.at);
    }
    size_t i = state & memo->mask;
    while (memo->at[i].state && memo->at[i].state != state)
        i = (i + 1) & memo->mask;
    return &memo->at[i];
}

bool mos_estimate_trial(const struct stream_problem *q, struct mos_bench *x, double limit,
                        double rate)
{
    uint64_t state = state_fingerprint(&x->trial) | 1;
    struct mos_known *known = memo_place(&x->memo, state);
    bool fresh = !known->state;
    x->fresh = false;
    if (fresh || (isinf(known->latency) && known->beyond < limit)) {
        x->fresh = state_estimate_above(&x->trial, q, limit, rate, &x->now, x->look);
        x->memo.n += fresh;
        *known = (struct mos_known){state, x->trial.latency, x->trial.rate, limit};
    }
    bool within = known->latency <= limit;
    x->trial.latency = within ? known->latency : INFINITY;
    x->trial.rate = within ? known->rate : 0;
    return within;
}

/* ---- running ---- */

void mos_result_free(struct mos_result *r)
{
    state_free(&r->state);
}

/* The schedule without pipelining, as one cluster per processor that it uses. */
static double list_schedule(const struct stream_problem *q, struct stream_state *s)
{
    uint32_t n = q->g->ntasks, *processor = mem_new(uint32_t, n),
             *number = mem_new(uint32_t, q->processors);
    for (uint32_t t = 0; t < n; t++)
        processor[t] = NONE;
    for (uint32_t p = 0; p < q->processors; p++)
        number[p] = NONE;
    double latency = stream_item(q->work, q->processors, NULL, q->ports, processor);
    s->nclusters = 0;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t p = processor[t];
        if (number[p] == NONE) {
            s->extra[s->nclusters] = 0;
            number[p] = s->nclusters++;
        }
        s->off[t] = t;
        s->cluster[t] = s->home[t] = number[p];
    }
    s->off[n] = n;
    struct stream_problem idle = *q;
    idle.throughput = 0;
    state_refresh(s, &idle);
    free(processor);
    free(number);
    return latency;
}

/* The phases; *out owns its state. */
void mos_run(const struct stream_problem *q, struct mos_result *out)
{
    struct stream_state *s = &out->state, other;
    state_init(s, q->g->ntasks);
    state_init(&other, q->g->ntasks);
    mos_satisfy_throughput(q, s);
    bool twice = mos_reduce_processors(q, s, &other);
    if (state_meets(s, q))
        mos_minimise_latency(q, s);
    if (twice) {
        if (state_meets(&other, q))
            mos_minimise_latency(q, &other);
        if (state_meets(&other, q) &&
            (!state_meets(s, q) || other.latency < s->latency * (1 - STREAM_TOLERANCE)))
            state_copy(s, &other);
    }
    out->asked = q->throughput;
    out->pipelined = true;
    out->meets = state_meets(s, q);
    out->latency = s->latency;
    out->throughput = s->rate;
    double latency = list_schedule(q, &other);
    bool fast = latency <= 0 || 1 / latency >= q->throughput * (1 - STREAM_TOLERANCE);
    if (fast && (!out->meets || latency < out->latency * (1 - STREAM_TOLERANCE))) {
        state_copy(s, &other);
        out->pipelined = false;
        out->meets = true;
        out->latency = latency;
        out->throughput = latency > 0 ? 1 / latency : INFINITY;
    }
    state_free(&other);
}

/* ---- the inverse ---- */

/* A search for the most throughput within a latency. */
struct inverse {
    struct stream_problem *q;
    struct mos_result *best;
    bool found;
    double limit, most, least;
};

/* MOS at a throughput; true when its latency is within the limit. */
static bool try_at(struct inverse *x, double throughput, double *latency)
{
    struct mos_result r;
    x->q->throughput = throughput;
    mos_run(x->q, &r);
    if (latency)
        *latency = r.meets ? r.latency : INFINITY;
    if (r.meets)
        x->least = fmin(x->least, r.latency);
    bool within = r.meets && r.latency <= x->limit * (1 + STREAM_TOLERANCE);
    if (within && (!x->found || r.throughput > x->best->throughput * (1 + STREAM_TOLERANCE) ||
                   (r.throughput >= x->best->throughput * (1 - STREAM_TOLERANCE) &&
                    r.latency < x->best->latency))) {
        if (x->found)
            mos_result_free(x->best);
        *x->best = r;
        x->found = true;
    } else {
        mos_result_free(&r);
    }
    return within;
}

/* Bounded look-ahead: the highest of eight throughputs up to twice as much that stays within the
 * latency; NAN: none. */
static double inverse_look_ahead(struct inverse *x, double throughput)
{
    double top = fmin(2 * throughput, x->most);
    for (int k = 8; k >= 1; k--) {
        double at = throughput + k * (top - throughput) / 8;
        if (try_at(x, at, NULL))
            return at;
    }
    return NAN;
}

/* Algorithm 4: bisection over the throughput. Latency does not rise evenly with it, so a bounded
 * look-ahead follows every failure. */
bool mos_inverse(struct stream_problem *q, double limit, struct mos_result *out, double *least)
{
    struct inverse x = {
        .q = q, .best = out, .limit = limit, .most = stream_problem_most(q), .least = INFINITY};
    double low = x.most / 64, high = x.most, at_low;
    try_at(&x, 0, NULL);
    bool done = try_at(&x, x.most, NULL);
    if (!done && !try_at(&x, low, &at_low)) {
        inverse_look_ahead(&x, low);
        done = true;
    }
    for (int step = 0; step < 12 && !done; step++) {
        double middle = (low + high) / 2;
        if (try_at(&x, middle, NULL)) {
            low = middle;
            continue;
        }
        double ahead = inverse_look_ahead(&x, middle);
        if (isnan(ahead)) {
            high = middle;
        } else {
            low = ahead;
            if (ahead >= high)
                high = x.most;
        }
    }
    if (!done)
        inverse_look_ahead(&x, (low + high) / 2);
    *least = x.least;
    return x.found;
}

/* ---- options ---- */

/* "12", "0.5Tmax", "0.5 * Tmax", "Tmax"; a latency only without a throughput. */
bool stream_target_read(const struct plan_request *r, const struct planner *p,
                        struct stream_target *out, struct error *err)
{
    const char *text = request_text(r, p, "throughput"), *latency = request_text(r, p, "latency");
    size_t length = strlen(text);
    *out = (struct stream_target){NAN, NAN, NAN};
    if (length >= 4 && strcmp(text + length - 4, "Tmax") == 0) {
        length -= 4;
        while (length && (text[length - 1] == '*' || text[length - 1] == ' '))
            length--;
        out->fraction = 1;
        if (length && (!quantity_number(text, length, &out->fraction) || !(out->fraction >= 0)))
            return error_set(err, ERROR_INPUT,
                             "option 'throughput' of planner '%s': '%s' is no fraction of Tmax; "
                             "expected for instance 0.5Tmax",
                             p->name, text);
        if (out->fraction > 1 + 1e-9)
            return error_set(
                err, ERROR_INFEASIBLE,
                "a throughput of %s cannot be had: Tmax is what the processors can do at most",
                text);
    } else if (!quantity_number(text, length, &out->throughput) || !(out->throughput >= 0) ||
               !isfinite(out->throughput)) {
        return error_set(
            err, ERROR_INPUT,
            "option 'throughput' of planner '%s': '%s' is neither a number of items a second nor a "
            "fraction such as 0.5Tmax",
            p->name, text);
    }
    if (latency && *latency) {
        if (!quantity_seconds(latency, strlen(latency), &out->latency) || !(out->latency >= 0))
            return error_set(err, ERROR_INPUT, "option 'latency' of planner '%s': '%s' is no time",
                             p->name, latency);
        if (isfinite(out->fraction) ? out->fraction > 0 : out->throughput > 0)
            return error_set(err, ERROR_INPUT,
                             "planner '%s' takes a throughput (least latency at it) or a latency "
                             "(most throughput "
                             "within it), not both",
                             p->name);
    }
    return true;
}

/* Moves copy whole mappings: past this, planning would take hours. */
enum { MOST_TASKS = 20000 };

bool stream_problem_open(const struct plan_request *r, const struct planner *p,
                         struct stream_problem *q, struct stream_graph **graph,
                         struct stream_target *target, struct error *err)
{
    int64_t ports = request_integer(r, p, "ports");
    if (!stream_target_read(r, p, target, err))
        return false;
    if (r->workflow->ntasks == 0)
        return error_set(err, ERROR_INPUT, "the workflow has no tasks to stream items through");
    if (r->workflow->ntasks > MOST_TASKS)
        return error_set(err, ERROR_INPUT,
                         "planner '%s' takes at most %d tasks; the workflow has %u", p->name,
                         MOST_TASKS, r->workflow->ntasks);
    struct costs *costs = costs_new(r->workflow, r->platform, err);
    if (!costs)
        return false;
    costs_free(costs);
    struct stream_graph *g = stream_graph_new(r->workflow, r->platform);
    /* where nodes differ in their ports, each counts with its own */
    uint32_t own = r->platform->node_ports ? 0 : r->platform->ports;
    stream_problem_init(q, g, ports ? (uint32_t)ports : own);
    q->duplication = request_bool(r, p, "duplication");
    double most = stream_problem_most(q);
    q->throughput =
        isfinite(target->throughput) ? target->throughput : target->fraction * fmin(most, 1e300);
    if (isfinite(target->latency))
        q->latency = target->latency;
    *graph = g;
    return true;
}

/* ---- the plan ---- */

/* Clusters with originals before duplicates, and nodes in order of number: equal nodes, so any will
 * do. */
struct plan *stream_plan(const struct stream_problem *q, const struct mos_result *r)
{
    struct plan *plan = plan_new(PLAN_STREAM);
    const struct stream_state *s = &r->state;
    const struct platform *p = q->g->p;
    uint32_t node = 0, copies = s->off[s->ntasks];
    /* copies of each cluster in task order */
    uint32_t *off = mem_new_zero(uint32_t, (size_t)s->nclusters + 2),
             *task = mem_new(uint32_t, copies);
    for (uint32_t i = 0; i < copies; i++)
        off[s->cluster[i] + 2]++;
    for (uint32_t c = 0; c < s->nclusters; c++)
        off[c + 2] += off[c + 1];
    for (uint32_t k = 0; k < q->g->norder; k++) {
        uint32_t t = q->g->order[k];
        for (uint32_t i = t < s->ntasks ? s->off[t] : 0; t < s->ntasks && i < s->off[t + 1]; i++)
            task[off[s->cluster[i] + 1]++] = t;
    }
    plan->pipelined = r->pipelined;
    plan->ports = q->ports;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        struct cluster x = {.tasks = (uint32_t)plan->tasks.n, .nodes = (uint32_t)plan->nodes.n};
        for (int duplicates = 0; duplicates < 2; duplicates++) {
            if (duplicates)
                x.duplicates = (uint32_t)plan->tasks.n;
            for (uint32_t k = off[c]; k < off[c + 1]; k++) {
                uint32_t t = task[k];
                if ((s->home[t] != c) != duplicates)
                    continue;
                array_push(&plan->tasks, t);
                x.ntasks += !duplicates;
                x.nduplicates += duplicates;
            }
        }
        x.replicas = s->fixed[c] || !r->pipelined ? 1 : r->asked * s->time[c] + s->extra[c];
        for (uint32_t k = 0; k < s->procs[c]; k++, x.nnodes++) {
            while (!p->up[node])
                node++;
            array_push(&plan->nodes, node);
            node++;
        }
        array_push(&plan->clusters, x);
    }
    free(off);
    free(task);
    plan_set_objective(plan, "throughput", r->throughput);
    plan_set_objective(plan, "latency", r->latency);
    plan_set_objective(plan, "processors", s->processors);
    return plan;
}

/* ---- the planner ---- */

static bool needs_equal_nodes(const struct stream_graph *g, struct error *err)
{
    if (g->uniform)
        return true;
    return error_set(err, ERROR_INPUT,
                     "planner 'mos' takes platforms of equal nodes and links, as the report does; "
                     "planner 'stream' "
                     "takes any");
}

static bool throughput_is_reachable(const struct stream_problem *q, struct error *err)
{
    double most = stream_problem_most(q);
    if (q->throughput <= most * (1 + STREAM_TOLERANCE))
        return true;
    return error_set(
        err, ERROR_INFEASIBLE,
        "a throughput of %g items a second cannot be had: the most that %u processor%s "
        "can do is %.10g",
        q->throughput, q->processors, plural(q->processors), most);
}

extern const struct planner planner_mos;

static struct plan *run_mos(const struct plan_request *request, struct error *err)
{
    struct stream_problem q = {0};
    struct stream_graph *g = NULL;
    struct stream_target target;
    struct mos_result result = {0};
    struct plan *plan = NULL;
    if (!stream_problem_open(request, &planner_mos, &q, &g, &target, err) || !g)
        return NULL;
    bool good = needs_equal_nodes(g, err);
    if (good && isfinite(target.latency)) {
        double least;
        good = mos_inverse(&q, target.latency, &result, &least);
        if (!good)
            error_set(err, ERROR_INFEASIBLE,
                      "no mapping was found with a latency of at most %g; the least is %.10g",
                      target.latency, least);
    } else if (good && (good = throughput_is_reachable(&q, err))) {
        mos_run(&q, &result);
        good = result.meets;
        if (!good)
            error_set(err, ERROR_INFEASIBLE,
                      "no mapping was found with a throughput of %g items a second: tasks that may "
                      "not be replicated "
                      "do not fit on %u processor%s at that rate (the best found has %.10g)",
                      q.throughput, q.processors, plural(q.processors), result.throughput);
    }
    if (good) {
        plan = stream_plan(&q, &result);
        stream_plan_schedule(g, plan, isfinite(q.latency) ? 0 : q.throughput, q.latency);
    }
    mos_result_free(&result);
    stream_problem_free(&q);
    stream_graph_free(g);
    return plan;
}

static const struct option options[] = {
    STREAM_OPTIONS,
    {0},
};

const struct planner planner_mos = {
    .name = "mos",
    .family = "stream",
    .summary =
        "least latency at a throughput on equal nodes (or, with latency=, the most throughput)",
    .paper = "Vydyanathan, Catalyurek, Kurc, Sadayappan, Saltz, OSU-CISRC-4/08-TR17, 2008",
    .guarantee = "any throughput up to Tmax = processors / sum of the times is met when tasks may "
                 "be replicated",
    .tie_rule = "latency, then processors, then copies; pairs and transfers by number",
    .options = options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = run_mos,
};
