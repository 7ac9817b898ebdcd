/* Clusters of a stream: structure, then throughput, latency and cycle times recomputed from them.
 */
#include "model/check_rules.h"
#include "model/stream_schedule.h"
#include "base/plural.h"

/* Tasks, duplicates, replicas and nodes fit each other. */
static void check_structure(struct check *c)
{
    uint8_t *home = mem_new_zero(uint8_t, c->w->ntasks);
    uint8_t *used = mem_new_zero(uint8_t, c->p->nnodes);
    uint32_t *inside =
        mem_new_zero(uint32_t, c->w->ntasks); /* cluster + 1 that last listed the task */
    double processors = 0;
    for (uint32_t i = 0; i < c->plan->clusters.n; i++) {
        const struct cluster *x = &c->plan->clusters.at[i];
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates; k++) {
            bool duplicate = k >= x->ntasks;
            uint32_t t =
                c->plan->tasks.at[duplicate ? x->duplicates + k - x->ntasks : x->tasks + k];
            const char *name = workflow_task_name(c->w, t);
            if (inside[t] == i + 1)
                check_say(c, VIOLATION_STREAM, t, "'%s' is twice in cluster %u", name, i);
            inside[t] = i + 1;
            if (!duplicate && home[t]++)
                check_say(c, VIOLATION_STREAM, t,
                          "'%s' is in two clusters and a duplicate in neither", name);
            bool shared = c->plan->rotating ? duplicate : x->replicas > 1 + 1e-9;
            if (shared && c->w->flags[t] & TASK_NOT_REPLICABLE)
                check_say(c, VIOLATION_STREAM, t,
                          "'%s' may not be replicated; cluster %u has %g replicas", name, i,
                          x->replicas);
        }
        if (c->plan->rotating && x->replicas > 1 + 1e-9)
            check_say(c, VIOLATION_STREAM, NONE,
                      "cluster %u has replicas, and its copies already share the items", i);
        /* replicas may be fractional (a share of items); a ten-millionth above a whole number is
         * rounding */
        double needs = fmax(1, ceil(x->replicas - 1e-7));
        processors += needs;
        if (x->nnodes && x->nnodes != needs)
            check_say(c, VIOLATION_STREAM, NONE, "cluster %u has %g replicas on %u node%s", i,
                      x->replicas, x->nnodes, plural(x->nnodes));
        for (uint32_t k = 0; k < x->nnodes; k++) {
            uint32_t node = c->plan->nodes.at[x->nodes + k];
            if (used[node]++)
                check_say(c, VIOLATION_STREAM, NONE, "'%s' runs two clusters or replicas",
                          platform_node_name(c->p, node));
            if (!c->p->up[node])
                check_say(c, VIOLATION_NODE, NONE, "'%s' is down", platform_node_name(c->p, node));
        }
    }
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        if (!home[t])
            check_say(c, VIOLATION_STREAM, t, "'%s' is in no cluster", workflow_task_name(c->w, t));
    check_objective(c, "processors", processors);
    if (processors > c->p->nnodes)
        check_say(c, VIOLATION_STREAM, NONE, "needs %g processors; the platform has %u", processors,
                  c->p->nnodes);
    free(home);
    free(used);
    free(inside);
}

/* ---- estimates ---- */

/* Where nodes are named, each can run all tasks of its cluster. */
static void check_nodes_run(struct check *c, const struct stream_graph *g)
{
    for (size_t i = 0; i < c->plan->clusters.n; i++) {
        const struct cluster *x = &c->plan->clusters.at[i];
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates; k++) {
            uint32_t t =
                c->plan->tasks.at[k < x->ntasks ? x->tasks + k : x->duplicates + k - x->ntasks];
            for (uint32_t j = 0; j < x->nnodes; j++) {
                uint32_t node = c->plan->nodes.at[x->nodes + j];
                if (c->p->up[node] && !isfinite(costs_time(g->costs, t, node)))
                    check_say(c, VIOLATION_NODE, t, "'%s' cannot run on '%s'",
                              workflow_task_name(c->w, t), platform_node_name(c->p, node));
            }
        }
    }
}

/* A plan may promise less than the estimate: the replay is not always as good. */
static void check_promise(struct check *c, double throughput)
{
    double claimed = plan_objective(c->plan, "throughput");
    plan_set_objective(c->result->recomputed, "throughput", throughput);
    if (!isnan(claimed) && !(claimed <= throughput * (1 + 1e-6)))
        check_say(c, VIOLATION_OBJECTIVE, NONE, "claims throughput %.10g; it is %.10g", claimed,
                  throughput);
}

/* One item after the other. Duplicates are no part of the list schedule: with them, the schedule
 * DAG stands for it. */
static double item_after_item(struct check *c, const struct stream_tables *s,
                              struct stream_work *work, uint32_t ports, double pipelined)
{
    uint32_t m = (uint32_t)c->plan->clusters.n;
    if (s->off[c->w->ntasks] > c->w->ntasks)
        return pipelined;
    uint32_t *nodes = mem_new(uint32_t, m), *processor = mem_new(uint32_t, c->w->ntasks);
    bool placed = true;
    for (uint32_t i = 0; i < m; i++) {
        placed &= s->node_off[i] < s->node_off[i + 1];
        nodes[i] = placed ? s->nodes[s->node_off[i]] : 0;
    }
    memcpy(processor, s->home, c->w->ntasks * sizeof *processor);
    double latency = stream_item(work, m, placed ? nodes : NULL, ports, processor);
    free(nodes);
    free(processor);
    return latency;
}

/* The estimate of the planners' own model, from the clusters alone: throughput, latency, cycle
 * times. */
static void check_recompute_stream(struct check *c, const struct stream_graph *g)
{
    struct stream_tables s = {0};
    struct stream_estimate e = {0};
    struct stream_work *work = stream_work_new(g);
    uint32_t ports = c->plan->ports;
    stream_tables_fill(&s, c->plan, c->w->ntasks);
    struct stream_map map = stream_tables_map(&s, c->plan);
    if (c->plan->rotating) {
        double throughput, latency;
        struct stream_rotation r = {s.off, s.cluster, map.nclusters};
        bool placed = s.node_off[map.nclusters] == map.nclusters;
        stream_rotate(g, &r, placed ? s.nodes : NULL, ports, &throughput, &latency);
        check_promise(c, throughput);
        check_objective(c, "latency", latency);
        if (c->plan->schedule.period > 0)
            check_say(c, VIOLATION_STREAM, NONE,
                      "rotates, and its schedule says when clusters do what: one of the two");
    } else {
        bool finite = stream_estimate(work, &map, ports, INFINITY, NULL, &e);
        double latency = finite ? e.latency : INFINITY, throughput = finite ? e.throughput : 0;
        if (!finite)
            check_say(c, VIOLATION_STREAM, NONE,
                      "clusters that exchange data are on nodes that cannot talk");
        if (!c->plan->pipelined) {
            latency = item_after_item(c, &s, work, ports, latency);
            throughput = latency > 0 ? 1 / latency : INFINITY;
        }
        check_promise(c, throughput);
        check_objective(c, "latency", latency);
        check_objective(c, "min_cycle_time", e.cycle);
        for (size_t i = 0; i < e.ports.n; i++)
            array_push(&c->result->cycle_times,
                       (struct cycle_time){e.ports.at[i].cluster, e.ports.at[i].channel,
                                           e.ports.at[i].cycle});
        if (finite && c->plan->schedule.period > 0)
            check_stream_schedule(c, g, &map);
    }
    stream_estimate_free(&e);
    stream_work_free(work);
    stream_tables_free(&s);
}

/* Estimates only of what is sound: a broken structure would index out of range. */
void check_stream(struct check *c)
{
    size_t before = c->result->total;
    check_structure(c);
    struct stream_graph *g = stream_graph_new(c->w, c->p);
    check_nodes_run(c, g);
    if (c->result->total == before)
        check_recompute_stream(c, g);
    stream_graph_free(g);
}
