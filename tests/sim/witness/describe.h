/* A static plan as the text that simgrid_replay reads. Derived from the plan and the workflow
 * alone, not from the simulator: one activity a task, an edge for every pair of neighbours on a
 * core, one transfer for every object and node that reads it. Plans with copies have no such form
 * (which copy feeds whom is decided while it runs). */
#pragma once
#include "model/costs.h"
#include "model/plan.h"
#include <stdio.h>
#include <stdlib.h>

/* The plan must be sorted (plan_sort) and hold one placement a task. False: it has copies, or a
 * task cannot run. */
__attribute__((unused)) static bool describe_plan(FILE *out, const struct workflow *w,
                                                  const struct platform *p, const struct plan *plan,
                                                  const char *network)
{
    struct error err = {0};
    if (plan->placements.n != w->ntasks)
        return false;
    struct costs *costs = costs_new(w, p, &err);
    if (!costs)
        return false;
    fprintf(out, "weft-witness 1\nnetwork %s %.17g %.17g\nnodes %u\n", network, p->bandwidth,
            p->latency, p->nnodes);
    /* an uplink is as fast as the fastest pair of its node */
    for (uint32_t a = 0; a < p->nnodes; a++) {
        double most = p->nlinks ? 0 : p->bandwidth;
        for (uint32_t b = 0; b < p->nnodes && p->nlinks; b++) {
            double bandwidth, latency;
            if (a == b)
                continue;
            platform_link(p, a, b, &bandwidth, &latency);
            most = bandwidth > most ? bandwidth : most;
        }
        fprintf(out, "%.17g\n", most);
    }
    fprintf(out, "links %zu\n", p->nlinks ? (size_t)p->nnodes * (p->nnodes - 1) : 0);
    for (uint32_t a = 0; a < p->nnodes && p->nlinks; a++)
        for (uint32_t b = 0; b < p->nnodes; b++) {
            double bandwidth, latency;
            if (a == b)
                continue;
            platform_link(p, a, b, &bandwidth, &latency);
            fprintf(out, "%u %u %.17g %.17g\n", a, b, bandwidth, latency);
        }
    fprintf(out, "tasks %u\n", w->ntasks);
    uint32_t *node = malloc(w->ntasks * sizeof *node);
    for (size_t i = 0; i < plan->placements.n; i++)
        node[plan->placements.at[i].task] = plan->placements.at[i].node;
    for (uint32_t t = 0; t < w->ntasks; t++)
        fprintf(out, "%u %.17g\n", node[t], costs_time(costs, t, node[t]));

    size_t *first_core = calloc((size_t)p->nnodes + 1, sizeof *first_core);
    for (uint32_t i = 0; i < p->nnodes; i++)
        first_core[i + 1] = first_core[i] + p->cores[i];
    uint32_t *last = malloc((first_core[p->nnodes] + 1) * sizeof *last);
    size_t edges = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            fprintf(out, "edges %zu\n", edges);
        for (size_t i = 0; i < first_core[p->nnodes]; i++)
            last[i] = NONE;
        for (size_t i = 0; i < plan->placements.n; i++) {
            const struct placement *x = &plan->placements.at[i];
            uint32_t before = NONE;
            for (uint32_t c = 0; c < w->cores[x->task]; c++) {
                size_t core = first_core[x->node] + x->core + c;
                if (last[core] != NONE && last[core] != before) {
                    edges += !pass;
                    if (pass)
                        fprintf(out, "%u %u\n", last[core], x->task);
                    before = last[core];
                }
                last[core] = x->task;
            }
        }
        for (uint32_t t = 0; t < w->ntasks; t++) {
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
                if (w->succ_object[e] == NONE || node[w->succ_task[e]] == node[t]) {
                    edges += !pass;
                    if (pass)
                        fprintf(out, "%u %u\n", t, w->succ_task[e]);
                }
        }
    }
    /* per object: its readers on other nodes, grouped by node */
    uint32_t *readers = calloc(p->nnodes, sizeof *readers);
    size_t transfers = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            fprintf(out, "transfers %zu\n", transfers);
        for (uint32_t o = 0; o < w->nobjects; o++) {
            uint32_t count = 0, t = w->producer[o];
            if (t == NONE)
                continue;
            const uint32_t *consumer = workflow_consumers(w, o, &count);
            for (uint32_t i = 0; i < count; i++)
                readers[node[consumer[i]]]++;
            readers[node[t]] = 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t to = node[consumer[i]];
                if (!readers[to])
                    continue;
                transfers += !pass;
                if (pass) {
                    fprintf(out, "%u %u %u %.17g %u", t, node[t], to, w->size[o], readers[to]);
                    for (uint32_t k = i; k < count; k++)
                        if (node[consumer[k]] == to)
                            fprintf(out, " %u", consumer[k]);
                    fprintf(out, "\n");
                }
                readers[to] = 0;
            }
        }
    }
    free(readers);
    free(last);
    free(first_core);
    free(node);
    costs_free(costs);
    return true;
}
