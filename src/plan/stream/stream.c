/* `stream`: least latency at a throughput on any nodes, links and ports; promises what a replay
 * confirms.
 *
 *    starts: MOS (on unequal nodes: as if all were as bad as the worst of the fastest k), EXPERT,
 *            FCP and list schedules (starts.c), everything in one cluster, each task alone
 *       |
 *    all mappings of up to 8 tasks, annealing, merges that cost no latency, one item at a time
 *       |
 *    replay of 1,000 items <-- behind what is required: ask for more, at most REPLANS times
 *
 * Never a longer latency than `mos` on equal nodes: MOS's own mapping is among the starts. */
#include "plan/stream/stream.h"
#include "model/stream_schedule.h"

enum { MOVES = 20000, REPLANS = 4 };
/* Of all mappings of a few tasks: seven tasks seldom have more, and a million take a second. */
enum { MAPPINGS = 2000000 };

void stream_solution_free(struct stream_solution *s)
{
    assignment_free(&s->assignment);
}

/* The throughput that is certain: everything in one cluster needs no network. */
double stream_most(const struct assignment_space *space)
{
    const struct stream_graph *g = space->q->g;
    if (g->uniform)
        return stream_problem_most(space->q);
    /* all tasks in one cluster, on the fastest nodes that run them all: item n goes to replica n
     * mod m */
    double most = 0, worst = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < space->nnodes; i++) {
        double time = 0;
        for (uint32_t t = 0; t < g->ntasks; t++)
            time += costs_time(g->costs, t, space->ranking[i]);
        if (!isfinite(time))
            continue;
        count++;
        worst = fmax(worst, time);
        if (worst > 0)
            most = fmax(most, (g->any_fixed ? 1 : count) / worst);
    }
    return worst > 0 ? most : INFINITY;
}

/* The better stays; the first on ties. */
static void offer_assignment(struct stream_solution *best, struct assignment *trial,
                             struct assignment_space *space)
{
    if (assignment_better(trial, &best->assignment))
        assignment_copy(&best->assignment, trial, space);
}

/* A result of MOS as an assignment; on unequal nodes the nodes are chosen anew. */
static void adopt_mos_result(struct stream_solution *best, struct assignment_space *space,
                             const struct mos_result *r)
{
    struct assignment trial;
    assignment_init(&trial, space);
    state_copy(&trial.state, &r->state);
    state_compact(&trial.state, NULL);
    state_refresh(&trial.state, space->q);
    assignment_assign(&trial, space, INFINITY);
    offer_assignment(best, &trial, space);
    if (space->q->g->uniform && r->pipelined && r->meets) {
        /* with MOS's own replicas: never worse than MOS */
        state_copy(&trial.state, &r->state);
        trial.latency = r->latency;
        trial.rate = r->throughput;
        trial.processors = r->state.processors;
        trial.meets = true;
        offer_assignment(best, &trial, space);
    }
    assignment_free(&trial);
}

/* Run MOS on a platform as bad as the worst of the `count` fastest nodes. */
static void start_from(struct stream_solution *best, struct assignment_space *space, uint32_t count,
                       bool duplication)
{
    struct stream_graph *worst =
        stream_graph_worst(space->q->g->w, space->q->g->p, space->ranking, count);
    struct stream_problem q;
    uint32_t ports = space->q->ports;
    for (uint32_t i = 0; !space->q->ports && i < count; i++) {
        uint32_t own = platform_ports(space->q->g->p, space->ranking[i]);
        if (own && (!ports || own < ports))
            ports = own;
    }
    stream_problem_init(&q, worst, ports ? ports : UINT32_MAX);
    q.throughput = space->q->throughput;
    q.duplication = duplication;
    if (isfinite(worst->total) &&
        q.throughput <= stream_problem_most(&q) * (1 + STREAM_TOLERANCE)) {
        struct mos_result r;
        mos_run(&q, &r);
        adopt_mos_result(best, space, &r);
        mos_result_free(&r);
    }
    stream_problem_free(&q);
    stream_graph_free(worst);
}

/* Everything in one cluster: no communication, so the throughput is certain. */
static void start_whole(struct stream_solution *best, struct assignment_space *space)
{
    struct assignment trial;
    assignment_init(&trial, space);
    struct stream_state *s = &trial.state;
    s->nclusters = 1;
    for (uint32_t t = 0; t < s->ntasks; t++) {
        s->off[t] = t;
        s->cluster[t] = s->home[t] = 0;
    }
    s->off[s->ntasks] = s->ntasks;
    s->extra[0] = 0;
    state_refresh(s, space->q);
    assignment_assign(&trial, space, INFINITY);
    offer_assignment(best, &trial, space);
    assignment_free(&trial);
}

/* Each task on a node that can run it, the best first: a start where no node runs everything. */
static void start_single(struct stream_solution *best, struct assignment_space *space)
{
    struct assignment trial;
    assignment_init(&trial, space);
    state_single(&trial.state, space->q);
    if (trial.state.ntasks <= space->nnodes) {
        assignment_assign(&trial, space, INFINITY);
        offer_assignment(best, &trial, space);
    }
    assignment_free(&trial);
}

/* One item at a time, when that is fast enough and better. */
static void try_single_items(struct stream_solution *best, struct assignment_space *space)
{
    const struct stream_problem *q = space->q;
    uint32_t n = q->g->ntasks, *processor = mem_new(uint32_t, n),
             *number = mem_new(uint32_t, space->nnodes);
    for (uint32_t t = 0; t < n; t++)
        processor[t] = NONE;
    for (uint32_t i = 0; i < space->nnodes; i++)
        number[i] = NONE;
    double latency = stream_item(q->work, space->nnodes, q->g->uniform ? NULL : space->ranking,
                                 q->ports, processor);
    bool fast = isfinite(latency) && latency * q->throughput <= 1 + STREAM_TOLERANCE;
    struct assignment trial;
    assignment_init(&trial, space);
    struct stream_state *s = &trial.state;
    for (uint32_t t = 0; t < n && isfinite(latency); t++) {
        uint32_t p = processor[t];
        if (number[p] == NONE) {
            s->extra[s->nclusters] = 0;
            trial.nodes[s->nclusters] = space->ranking[p];
            number[p] = s->nclusters++;
        }
        s->off[t] = t;
        s->cluster[t] = s->home[t] = number[p];
    }
    if (isfinite(latency)) {
        s->off[n] = n;
        state_refresh(s, q);
        /* the same clusters, pipelined */
        struct assignment piped;
        assignment_init(&piped, space);
        assignment_copy(&piped, &trial, space);
        assignment_assign(&piped, space, INFINITY);
        offer_assignment(best, &piped, space);
        assignment_free(&piped);
        if (fast && (!best->assignment.meets ||
                     latency < best->assignment.latency * (1 - STREAM_TOLERANCE))) {
            s->processors = s->nclusters;
            for (uint32_t c = 0; c < s->nclusters; c++) {
                s->procs[c] = 1;
                trial.node_off[c] = c;
            }
            trial.node_off[s->nclusters] = s->nclusters;
            trial.latency = latency;
            trial.rate = latency > 0 ? 1 / latency : INFINITY;
            trial.processors = s->nclusters;
            trial.meets = true;
            assignment_copy(&best->assignment, &trial, space);
            best->pipelined = false;
        }
    }
    assignment_free(&trial);
    free(processor);
    free(number);
}

void stream_solve(struct assignment_space *space, double effort, uint64_t seed,
                  struct stream_solution *out)
{
    struct stream_problem *q = space->q;
    struct rng rng;
    *out = (struct stream_solution){.pipelined = true, .asked = q->throughput};
    assignment_init(&out->assignment, space);
    rng_seed(&rng, seed);
    start_whole(out, space);
    if (q->g->uniform) {
        struct mos_result r;
        mos_run(q, &r);
        adopt_mos_result(out, space, &r);
        mos_result_free(&r);
        if (q->duplication) {
            q->duplication = false;
            mos_run(q, &r);
            adopt_mos_result(out, space, &r);
            mos_result_free(&r);
            q->duplication = true;
        }
        stream_start_others(out, space);
    } else {
        start_single(out, space);
        for (uint32_t k = 0; k < 6; k++) {
            uint32_t count = space->nnodes - (uint32_t)((uint64_t)space->nnodes * k / 6);
            start_from(out, space, count, q->duplication);
        }
    }
    assignment_enumerate(&out->assignment, space, (uint64_t)(effort * MAPPINGS));
    if (out->assignment.meets) {
        /* an estimate takes time in proportion to the tasks */
        double moves = effort * MOVES * fmin(1, 100.0 / q->g->ntasks);
        assignment_anneal(&out->assignment, space, (uint64_t)moves, &rng);
        assignment_thin(&out->assignment, space, (uint64_t)(moves / 4));
    }
    try_single_items(out, space);
    out->latency = out->assignment.latency;
    out->throughput = out->assignment.rate;
    out->meets = out->assignment.meets;
}

/* ---- the plan ---- */

/* As MOS's plans, but with the nodes that were chosen. */
static struct plan *solution_plan(const struct assignment_space *space,
                                  const struct stream_solution *x)
{
    const struct stream_problem *q = space->q;
    struct mos_result r = {.state = x->assignment.state,
                           .pipelined = x->pipelined,
                           .meets = x->meets,
                           .latency = x->latency,
                           .throughput = x->throughput,
                           .asked = q->g->uniform ? x->asked : 0};
    if (!q->g->uniform || !x->pipelined)
        for (uint32_t c = 0; c < r.state.nclusters; c++)
            r.state.extra[c] = r.state.procs[c];
    struct plan *plan = stream_plan(q, &r);
    if (!q->g->uniform) {
        plan->nodes.n = 0;
        for (uint32_t c = 0; c < r.state.nclusters; c++) {
            struct cluster *k = &plan->clusters.at[c];
            k->nodes = (uint32_t)plan->nodes.n;
            k->nnodes = x->assignment.node_off[c + 1] - x->assignment.node_off[c];
            for (uint32_t i = x->assignment.node_off[c]; i < x->assignment.node_off[c + 1]; i++)
                array_push(&plan->nodes, x->assignment.nodes[i]);
        }
    }
    stream_plan_schedule(q->g, plan, isfinite(q->latency) ? 0 : q->throughput, q->latency);
    return plan;
}

/* Solve, replay, and ask for more as long as the replay stays behind what is required. The promise
 * is what both reach. */
static struct plan *solve_confirmed(struct assignment_space *space,
                                    const struct plan_request *request, double effort,
                                    struct stream_solution *x)
{
    struct stream_problem *q = space->q;
    const struct replayer *replayer = request->replayer;
    double required = q->throughput, most = stream_most(space), best_rate = -1;
    struct plan *best = NULL;
    for (int round = 0; round <= REPLANS; round++) {
        struct stream_solution y;
        stream_solve(space, effort, request->seed, &y);
        if (!y.meets) {
            stream_solution_free(&y);
            break;
        }
        struct plan *plan = solution_plan(space, &y);
        double estimated = plan_objective(plan, "throughput");
        struct replayed reached;
        if (replayer && replayer->run(replayer->context, q->g->w, q->g->p, plan, &reached) &&
            reached.throughput < estimated * (1 - 1e-6))
            plan_set_objective(plan, "throughput", reached.throughput);
        double promised = plan_objective(plan, "throughput");
        stream_solution_free(&y);
        bool enough = promised >= required * (1 - 1e-6);
        if (enough || promised > best_rate) {
            plan_free(best);
            best = plan;
            best_rate = promised;
        } else {
            plan_free(plan);
        }
        if (enough || q->throughput >= most * (1 - 1e-9))
            break;
        q->throughput = round + 1 == REPLANS
                            ? most
                            : fmin(most, q->throughput * fmax(1.002, required / promised * 1.001));
    }
    q->throughput = required;
    x->meets = best != NULL;
    if (best && best_rate < required * (1 - 1e-6))
        plan_note(best,
                  "estimated to reach the required throughput of %.10g, but a replay reaches %.10g",
                  required, best_rate);
    return best;
}

/* Most throughput within a latency: bisection, as latency mostly rises with throughput. */
static struct plan *solve_inverse(struct assignment_space *space,
                                  const struct plan_request *request, double effort, double limit,
                                  struct error *err)
{
    struct stream_problem *q = space->q;
    double most = fmin(stream_most(space), 1e300), least = INFINITY;
    struct plan *best = NULL;
    double low = 0, high = most;
    if (q->g->uniform) { /* never worse than MOS's inverse: start where it ends */
        struct mos_result r;
        double mos_least;
        if (mos_inverse(q, limit, &r, &mos_least)) {
            low = fmin(r.throughput, most);
            mos_result_free(&r);
        }
    }
    double at[16], tried;
    for (int k = 0; k < 16; k++) {
        at[k] = k == 0 ? high : k == 1 ? low : k == 2 ? 0 : (low + high) / 2;
        if (k == 2 && best)
            continue;
        tried = q->throughput = at[k];
        struct stream_solution x;
        struct plan *plan = solve_confirmed(space, request, effort / 4, &x);
        double latency = plan ? plan_objective(plan, "latency") : INFINITY;
        least = fmin(least, latency);
        bool within = latency <= limit * (1 + STREAM_TOLERANCE);
        if (within &&
            (!best || plan_objective(plan, "throughput") > plan_objective(best, "throughput"))) {
            plan_free(best);
            best = plan;
        } else {
            plan_free(plan);
        }
        if (within && k == 0)
            break;
        if (within)
            low = fmax(low, tried);
        else if (k > 2)
            high = tried;
        if (high - low < 1e-3 * most)
            break;
    }
    if (!best)
        error_set(err, ERROR_INFEASIBLE,
                  "no mapping was found with a latency of at most %g; the least is %.10g", limit,
                  least);
    return best;
}

extern const struct planner planner_stream;

static struct plan *run_stream_planner(const struct plan_request *request, struct error *err)
{
    struct stream_problem q = {0};
    struct stream_graph *g = NULL;
    struct stream_target target;
    struct assignment_space space;
    struct plan *plan = NULL;
    if (!stream_problem_open(request, &planner_stream, &q, &g, &target, err))
        return NULL;
    assignment_space_init(&space, &q);
    double effort = request_number(request, &planner_stream, "effort"), most = stream_most(&space);
    if (isfinite(target.fraction))
        q.throughput = target.fraction * fmin(most, 1e300);
    if (isfinite(target.latency)) {
        plan = solve_inverse(&space, request, effort, target.latency, err);
    } else {
        struct stream_solution x;
        plan = solve_confirmed(&space, request, effort, &x);
        if (!plan)
            error_set(err, ERROR_INFEASIBLE,
                      "no mapping was found with a throughput of %g items a second; %.10g is the "
                      "most that is certain",
                      q.throughput, most);
    }
    assignment_space_free(&space);
    stream_problem_free(&q);
    stream_graph_free(g);
    return plan;
}

static const struct option stream_options[] = {
    STREAM_OPTIONS,
    {"effort", OPTION_NUMBER, "1", NULL, 0, 1000,
     "how long to search: 1 is about 20,000 estimates"},
    {0},
};

const struct planner planner_stream = {
    .name = "stream",
    .family = "stream",
    .summary = "least latency at a throughput on any nodes; promises what a replay confirms",
    .paper = "beyond OSU-CISRC-4/08-TR17: all mappings of small graphs, annealing on MOS's mapping",
    .guarantee = "never a longer latency than mos at the same throughput; the least of all "
                 "mappings up to 8 tasks, with duplicates where there are at most 2 million",
    .tie_rule = "latency, then processors; the seed decides the order of the search",
    .options = stream_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = run_stream_planner,
};
