/* Plans that are not times on nodes: parts of a tree, clusters of a stream, an order. */
#include "model/check_rules.h"
#include "model/graph.h"

#include <string.h>

/* ---- partition ---- */

/* The neighbour towards the root of the tree: the parent in an out-tree, the child in an in-tree. */
static uint32_t towards_root(const struct workflow *w, enum tree_shape shape, uint32_t task)
{
    if (shape == TREE_IN)
        return w->succ_off[task] < w->succ_off[task + 1] ? w->succ_task[w->succ_off[task]] : NONE;
    return w->pred_off[task] < w->pred_off[task + 1] ? w->pred_task[w->pred_off[task]] : NONE;
}

/* Bytes on the edges between a task and its neighbour towards the root; for the root, its own input. */
static double bytes_towards_root(const struct workflow *w, enum tree_shape shape, uint32_t task)
{
    double bytes = 0;
    uint32_t from = shape == TREE_IN ? w->succ_off[task] : w->pred_off[task];
    uint32_t to = shape == TREE_IN ? w->succ_off[task + 1] : w->pred_off[task + 1];
    const uint32_t *object = shape == TREE_IN ? w->succ_object : w->pred_object;
    for (uint32_t e = from; e < to; e++)
        bytes += object[e] == NONE ? 0 : w->size[object[e]];
    if (from == to && w->input_off)
        for (uint32_t i = w->input_off[task]; i < w->input_off[task + 1]; i++)
            bytes += w->size[w->input_object[i]];
    return bytes;
}

/* Equation (1) of the HetPart paper on the quotient tree: MS(i) = f_i / beta + W_i / s_i + max over children. */
static double partition_makespan(struct check *c, enum tree_shape shape, const uint32_t *part_of)
{
    size_t n = c->plan->parts.n;
    double *below = mem_new_zero(double, n), *work = mem_new_zero(double, n), total = 0;
    uint32_t *left = mem_new_zero(uint32_t, n), *ready = mem_new(uint32_t, n), nready = 0;
    uint32_t *parent = mem_new(uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        const struct part *x = &c->plan->parts.at[i];
        uint32_t up = towards_root(c->w, shape, x->root);
        parent[i] = up == NONE ? NONE : part_of[up];
        if (parent[i] != NONE)
            left[parent[i]]++;
        for (uint32_t k = 0; k < x->count; k++)
            work[i] += c->w->work[c->plan->tasks.at[x->tasks + k]];
    }
    for (uint32_t i = 0; i < n; i++)
        if (!left[i])
            ready[nready++] = i;
    for (uint32_t head = 0; head < nready; head++) {
        uint32_t i = ready[head];
        const struct part *x = &c->plan->parts.at[i];
        double bytes = bytes_towards_root(c->w, shape, x->root), transfer;
        if (parent[i] != NONE)
            transfer = platform_transfer(c->p, c->plan->parts.at[parent[i]].node, x->node, bytes);
        else
            transfer = bytes == 0 ? 0 : c->p->latency + bytes / c->p->bandwidth;
        double own = transfer + work[i] / c->p->speed[x->node] + below[i];
        if (parent[i] == NONE) {
            total = fmax(total, own);
        } else {
            below[parent[i]] = fmax(below[parent[i]], own);
            if (!--left[parent[i]])
                ready[nready++] = parent[i];
        }
    }
    free(below);
    free(work);
    free(left);
    free(ready);
    free(parent);
    return total;
}

void check_partition(struct check *c)
{
    enum tree_shape shape = graph_tree_shape(c->w);
    if (shape == TREE_NOT && c->w->ntasks) {
        check_say(c, VIOLATION_PARTITION, NONE, "the workflow is not a tree");
        return;
    }
    size_t before = c->result->total;
    uint32_t *part_of = mem_new(uint32_t, c->w->ntasks);
    uint8_t *used = mem_new_zero(uint8_t, c->p->nnodes);
    memset(part_of, 0xff, c->w->ntasks * sizeof *part_of);
    for (uint32_t i = 0; i < c->plan->parts.n; i++) {
        const struct part *x = &c->plan->parts.at[i];
        const char *node = platform_node_name(c->p, x->node);
        if (used[x->node])
            check_say(c, VIOLATION_PARTITION, x->root, "'%s' has more than one part", node);
        used[x->node] = 1;
        if (!c->p->up[x->node])
            check_say(c, VIOLATION_NODE, x->root, "'%s' is down", node);
        for (uint32_t k = 0; k < x->count; k++) {
            uint32_t t = c->plan->tasks.at[x->tasks + k];
            if (part_of[t] != NONE)
                check_say(c, VIOLATION_PARTITION, t, "'%s' is in two parts", workflow_task_name(c->w, t));
            part_of[t] = i;
        }
        if (x->root < c->w->ntasks && part_of[x->root] != i)
            check_say(c, VIOLATION_PARTITION, x->root, "part %u does not hold its root '%s'", i,
                      workflow_task_name(c->w, x->root));
    }
    for (uint32_t t = 0; t < c->w->ntasks; t++) {
        if (part_of[t] == NONE) {
            check_say(c, VIOLATION_PARTITION, t, "'%s' is in no part", workflow_task_name(c->w, t));
            continue;
        }
        /* Every task but the part's root hangs on a task of its own part. */
        uint32_t up = towards_root(c->w, shape, t);
        bool root = c->plan->parts.at[part_of[t]].root == t;
        if (!root && (up == NONE || part_of[up] != part_of[t]))
            check_say(c, VIOLATION_PARTITION, t, "'%s' hangs on no task of its part",
                      workflow_task_name(c->w, t));
    }
    if (c->result->total == before)
        check_objective(c, "makespan", partition_makespan(c, shape, part_of));
    free(part_of);
    free(used);
}

/* ---- stream ---- */

void check_stream(struct check *c)
{
    uint8_t *home = mem_new_zero(uint8_t, c->w->ntasks);
    uint8_t *used = mem_new_zero(uint8_t, c->p->nnodes);
    uint32_t *inside = mem_new_zero(uint32_t, c->w->ntasks); /* cluster + 1 that last listed the task */
    double processors = 0;
    for (uint32_t i = 0; i < c->plan->clusters.n; i++) {
        const struct cluster *x = &c->plan->clusters.at[i];
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates; k++) {
            bool duplicate = k >= x->ntasks;
            uint32_t t = c->plan->tasks.at[duplicate ? x->duplicates + k - x->ntasks : x->tasks + k];
            const char *name = workflow_task_name(c->w, t);
            if (inside[t] == i + 1)
                check_say(c, VIOLATION_STREAM, t, "'%s' is twice in cluster %u", name, i);
            inside[t] = i + 1;
            if (!duplicate && home[t]++)
                check_say(c, VIOLATION_STREAM, t, "'%s' is in two clusters and a duplicate in neither",
                          name);
            if (x->replicas > 1 + 1e-9 && c->w->flags[t] & TASK_NOT_REPLICABLE)
                check_say(c, VIOLATION_STREAM, t, "'%s' may not be replicated; cluster %u has %g replicas",
                          name, i, x->replicas);
        }
        double needs = fmax(1, ceil(x->replicas - 1e-7));
        processors += needs;
        if (x->nnodes && x->nnodes != needs)
            check_say(c, VIOLATION_STREAM, NONE, "cluster %u has %g replicas on %u nodes", i, x->replicas,
                      x->nnodes);
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

/* ---- order ---- */

void check_order(struct check *c)
{
    const struct plan *plan = c->plan;
    uint32_t n = c->w->ntasks, eligible = 0;
    uint32_t *left = mem_new(uint32_t, n);
    uint8_t *done = mem_new_zero(uint8_t, n);
    bool counts = plan->eligible.n == (size_t)n + 1, good = plan->order.n == n;
    double area = 0;
    for (uint32_t t = 0; t < n; t++) {
        left[t] = c->w->pred_off[t + 1] - c->w->pred_off[t];
        eligible += !left[t];
    }
    if (!good)
        check_say(c, VIOLATION_ORDER, NONE, "%zu tasks are ordered; the workflow has %u", plan->order.n, n);
    if (plan->eligible.n && !counts)
        check_say(c, VIOLATION_OBJECTIVE, NONE, "%zu eligible counts; expected %u", plan->eligible.n, n + 1);
    for (size_t i = 0; i <= plan->order.n && good; i++) {
        area += eligible;
        if (counts && plan->eligible.at[i] != eligible)
            check_say(c, VIOLATION_OBJECTIVE, NONE, "claims %u eligible tasks after %zu; there are %u",
                      plan->eligible.at[i], i, eligible);
        if (i == plan->order.n)
            break;
        uint32_t t = plan->order.at[i];
        const char *name = workflow_task_name(c->w, t);
        if (done[t] || left[t]) {
            if (done[t])
                check_say(c, VIOLATION_ORDER, t, "'%s' is ordered twice", name);
            else
                check_say(c, VIOLATION_ORDER, t, "'%s' comes before a task it depends on", name);
            good = false;
            break;
        }
        done[t] = 1;
        eligible--;
        for (uint32_t e = c->w->succ_off[t]; e < c->w->succ_off[t + 1]; e++)
            eligible += !--left[c->w->succ_task[e]];
    }
    if (good) {
        check_objective(c, "area", area);
        double bound = plan_objective(plan, "area_bound");
        if (bound < area - 1e-9 * area)
            check_say(c, VIOLATION_OBJECTIVE, NONE, "claims an area bound of %g below its area %g", bound,
                      area);
    }
    free(left);
    free(done);
}
