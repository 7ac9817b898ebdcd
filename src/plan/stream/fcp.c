/* FCP, Filter Copy Pipeline (Spencer et al., SC 2002, as the report reconstructs it), and FCP-e,
 * the report's extension.
 *
 * Every task gets as many copies as its rate needs; copies are placed in order of bottom level,
 * each on the processor where it completes first. Items go round the copies of each task in turn,
 * which clusters cannot say: such plans are `rotating`. FCP-e runs again on the processors left for
 * the throughput that is missing.
 *
 * O(copies x processors x degree). Ties: lowest processor. The placing knows no ports, as in the
 * report; where there are limits, a plan's figures are those under them, and its throughput what a
 * replay reaches. It may be missed. */
#include "plan/stream/baselines.h"

/* Until a promise is confirmed; two suffice nearly always. */
enum { MOST_REPLAYS = 8 };
static const double worth_a_note = 1.01; /* among others by alone */

struct fcp {
    const struct stream_problem *q;
    const struct stream_graph *g;
    double rate;
    uint32_t nprocessors;
    double *load, *free_at; /* per processor: seconds placed on it; end of the last one */
    uint32_t *off, *processor;
    double *finish; /* per copy */
};

/* One copy: the processor without one of this task, on which it completes first. */
static uint32_t place_copy(struct fcp *s, uint32_t task, uint32_t copy)
{
    const struct workflow *w = s->g->w;
    bool fixed = w->flags[task] & TASK_NOT_REPLICABLE;
    uint32_t best = NONE;
    uint32_t at = s->off[task] + copy;
    double least = INFINITY, best_arrive = 0;
    bool best_fits = false;
    for (uint32_t p = 0; p < s->nprocessors; p++) {
        bool taken = false;
        for (uint32_t c = s->off[task]; c < at; c++)
            taken |= s->processor[c] == p;
        if (taken)
            continue;
        double arrive = 0;
        for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
            uint32_t i = w->pred_task[e], object = w->pred_object[e];
            uint32_t source = s->off[i] + copy % (s->off[i + 1] - s->off[i]);
            double wait = s->processor[source] == p || object == NONE
                              ? 0
                              : s->g->transfer[w->object_edge[object]];
            arrive = fmax(arrive, s->finish[source] + wait);
        }
        double end = arrive + s->load[p] + s->g->time[task];
        bool fits = !fixed || s->rate * (s->load[p] + s->g->time[task]) <= 1 + 1e-7;
        if (best == NONE || (fits && !best_fits) ||
            (fits == best_fits && end < least * (1 - STREAM_TOLERANCE))) {
            best = p;
            least = end;
            best_arrive = arrive;
            best_fits = fits;
        }
    }
    /* The load counts for the choice only; its data is there when tasks on the processor follow
     * each other in order. */
    s->free_at[best] = fmax(best_arrive, s->free_at[best]) + s->g->time[task];
    s->load[best] += s->g->time[task];
    s->processor[at] = best;
    s->finish[at] = s->free_at[best];
    return best;
}

/* One instance on `nprocessors` processors. Returns how many it uses; those are renumbered to come
 * first. */
static uint32_t run_instance(const struct stream_problem *q, double rate, uint32_t nprocessors,
                             struct stream_rotation *r)
{
    const struct stream_graph *g = q->g;
    struct fcp s = {.q = q, .g = g, .rate = rate, .nprocessors = nprocessors};
    s.off = mem_new_zero(uint32_t, (size_t)g->ntasks + 1);
    for (uint32_t t = 0; t < g->ntasks; t++) {
        bool fixed = g->w->flags[t] & TASK_NOT_REPLICABLE;
        double copies = fixed ? 1 : fmax(1, ceil(rate * g->time[t] - 1e-7));
        s.off[t + 1] = s.off[t] + (uint32_t)fmin(copies, nprocessors);
    }
    s.processor = mem_new(uint32_t, s.off[g->ntasks]);
    s.finish = mem_new_zero(double, s.off[g->ntasks]);
    s.load = mem_new_zero(double, nprocessors);
    s.free_at = mem_new_zero(double, nprocessors);
    /* processors are numbered as they come into use */
    uint32_t *number = mem_new(uint32_t, nprocessors), used = 0;
    for (uint32_t p = 0; p < nprocessors; p++)
        number[p] = NONE;
    for (uint32_t k = 0; k < g->norder; k++) {
        uint32_t t = g->order[k];
        if (t >= g->ntasks)
            continue;
        for (uint32_t copy = 0; copy < s.off[t + 1] - s.off[t]; copy++) {
            uint32_t p = place_copy(&s, t, copy);
            if (number[p] == NONE)
                number[p] = used++;
        }
    }
    for (uint32_t c = 0; c < s.off[g->ntasks]; c++)
        s.processor[c] = number[s.processor[c]];
    *r = (struct stream_rotation){s.off, s.processor, used};
    free(s.finish);
    free(s.load);
    free(s.free_at);
    free(number);
    return used;
}

/* Both mappings as one. */
static void join_instances(uint32_t ntasks, struct stream_rotation *all,
                           const struct stream_rotation *more)
{
    uint32_t *off = mem_new_zero(uint32_t, (size_t)ntasks + 1);
    uint32_t *processor = mem_new(uint32_t, (size_t)all->off[ntasks] + more->off[ntasks]), at = 0;
    for (uint32_t t = 0; t < ntasks; t++) {
        off[t] = at;
        for (uint32_t c = all->off[t]; c < all->off[t + 1]; c++)
            processor[at++] = all->processor[c];
        for (uint32_t c = more->off[t]; c < more->off[t + 1]; c++)
            processor[at++] = all->nprocessors + more->processor[c];
    }
    off[ntasks] = at;
    free(all->off);
    free(all->processor);
    *all = (struct stream_rotation){off, processor, all->nprocessors + more->nprocessors};
}

void fcp_run(const struct stream_problem *q, bool extended, uint32_t ports, struct fcp_result *out)
{
    *out = (struct fcp_result){.latency = INFINITY};
    double missing = q->throughput;
    do {
        struct stream_rotation r;
        double throughput, latency;
        uint32_t used = run_instance(q, missing, q->processors - out->processors, &r);
        stream_rotate(q->g, &r, NULL, ports, &throughput, &latency);
        out->throughput += throughput;
        out->latency = fmin(out->latency, latency);
        out->processors += used;
        out->instances++;
        missing -= throughput;
        if (out->instances == 1) {
            out->mapping = r;
        } else {
            join_instances(q->g->ntasks, &out->mapping, &r);
            free(r.off);
            free(r.processor);
        }
    } while (extended && !q->g->any_fixed && missing > STREAM_TOLERANCE * q->throughput &&
             out->processors < q->processors);
}

void fcp_result_free(struct fcp_result *r)
{
    free(r->mapping.off);
    free(r->mapping.processor);
}

/* ---- the planners ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* One cluster a processor; the first copy of a task is its original, the others count as
 * duplicates. */
static struct plan *fcp_make_plan(const struct stream_problem *q, uint32_t ports,
                                  struct fcp_result *r)
{
    const struct stream_graph *g = q->g;
    const struct platform *p = g->p;
    struct stream_rotation *m = &r->mapping;
    struct plan *plan = plan_new(PLAN_STREAM);
    double throughput, latency;
    uint32_t node = 0;
    /* a plan knows its copies by cluster number */
    for (uint32_t t = 0; t < g->ntasks; t++)
        qsort(m->processor + m->off[t], m->off[t + 1] - m->off[t], sizeof *m->processor,
              compare_numbers);
    stream_rotate(g, m, NULL, ports, &throughput, &latency);
    plan->ports = ports;
    plan->pipelined = plan->rotating = true;
    for (uint32_t c = 0; c < m->nprocessors; c++) {
        struct cluster x = {.tasks = (uint32_t)plan->tasks.n,
                            .nodes = (uint32_t)plan->nodes.n,
                            .nnodes = 1,
                            .replicas = 1};
        for (int duplicates = 0; duplicates < 2; duplicates++) {
            if (duplicates)
                x.duplicates = (uint32_t)plan->tasks.n;
            for (uint32_t t = 0; t < g->ntasks; t++)
                for (uint32_t k = m->off[t]; k < m->off[t + 1]; k++)
                    if (m->processor[k] == c && (k > m->off[t]) == duplicates) {
                        array_push(&plan->tasks, t);
                        x.ntasks += !duplicates;
                        x.nduplicates += duplicates;
                    }
        }
        while (!p->up[node])
            node++;
        array_push(&plan->nodes, node++);
        array_push(&plan->clusters, x);
    }
    plan_set_objective(plan, "throughput", throughput);
    plan_set_objective(plan, "latency", latency);
    plan_set_objective(plan, "processors", m->nprocessors);
    if (!ports)
        plan_note(plan, "ports are not limited: the report estimates FCP without");
    if (r->instances > 1)
        plan_note(plan,
                  "%u instances; counted one by one they have throughput %.10g and latency %.10g",
                  r->instances, r->throughput, r->latency);
    return plan;
}

/* A plan without a schedule has no latency among others but that of its replay. */
static void fcp_note_latency(struct plan *plan, const struct replayed *seen)
{
    double alone = plan_objective(plan, "latency");
    if (seen->latency > alone * worth_a_note)
        plan_note(plan,
                  "an item that is alone takes %.10g; among others, in a replay at %.10g items a "
                  "second, it takes %.10g on average",
                  alone, plan_objective(plan, "throughput"), seen->latency);
}

/* What both the estimate and a replay reach; what is required and missed is said. At a slower pace
 * items meet in other ways, so what is promised is replayed again. Without a limit of ports the promise
 * is the report's. */
static void fcp_promise(const struct stream_problem *q, const struct plan_request *request,
                        const struct fcp_result *r, struct plan *plan)
{
    double estimated = plan_objective(plan, "throughput"), promised = estimated;
    const struct replayer *replayer = request->replayer;
    struct replayed seen = {0};
    for (int round = 0; replayer && isfinite(promised) && round < MOST_REPLAYS; round++) {
        if (!replayer->run(replayer->context, q->g->w, q->g->p, plan, &seen) || !plan->ports ||
            seen.throughput >= promised * (1 - 1e-6))
            break;
        promised = seen.throughput;
        plan_set_objective(plan, "throughput", promised);
    }
    fcp_note_latency(plan, &seen);
    if (promised < estimated * (1 - 1e-4))
        plan_note(plan, "ports allow %.10g items a second at most; a replay reaches %.10g",
                  estimated, promised);
    if ((plan->ports ? promised : fmax(estimated, r->throughput)) < q->throughput * (1 - 1e-6))
        plan_note(plan, "the required throughput of %.10g is not met", q->throughput);
}

extern const struct planner planner_fcp, planner_fcp_e;

static struct plan *run_fcp(const struct plan_request *request, bool extended, struct error *err)
{
    const struct planner *planner = extended ? &planner_fcp_e : &planner_fcp;
    struct stream_problem q = {0};
    struct stream_graph *g = NULL;
    struct stream_target target;
    struct fcp_result result;
    struct plan *plan = NULL;
    if (!stream_problem_open(request, planner, &q, &g, &target, err))
        return NULL;
    if (baseline_can(&q, planner, &target, err)) {
        uint32_t ports = q.ports ? q.ports : stream_ports(g, NULL, 0);
        fcp_run(&q, extended, ports, &result);
        plan = fcp_make_plan(&q, ports, &result);
        fcp_promise(&q, request, &result, plan);
        fcp_result_free(&result);
    }
    stream_problem_free(&q);
    stream_graph_free(g);
    return plan;
}

static struct plan *plan_fcp_plain(const struct plan_request *request, struct error *err)
{
    return run_fcp(request, false, err);
}

static struct plan *plan_fcp_extended(const struct plan_request *request, struct error *err)
{
    return run_fcp(request, true, err);
}

static const struct option fcp_options[] = {STREAM_OPTIONS, {0}};

const struct planner planner_fcp = {
    .name = "fcp",
    .family = "stream",
    .summary =
        "Filter Copy Pipeline: copies of each task by its rate, each where it completes first",
    .paper = "Spencer et al., SC 2002, as reconstructed from OSU-CISRC-4/08-TR17",
    .tie_rule = "lowest processor",
    .options = fcp_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = plan_fcp_plain,
};

const struct planner planner_fcp_e = {
    .name = "fcp-e",
    .family = "stream",
    .summary = "Filter Copy Pipeline, again on the processors left until the throughput is met",
    .paper = "OSU-CISRC-4/08-TR17, section 5",
    .tie_rule = "lowest processor",
    .options = fcp_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = plan_fcp_extended,
};
