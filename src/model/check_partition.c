/* Partitions of a tree: the parts, the least memory of each, and the makespan of equation (1) of
 * the HetPart paper, all from the partition and the mapping alone. */
#include "model/check_rules.h"
#include "model/tree.h"

#include <string.h>

/* The plan says so when its planner counted memory as the published programs do. */
static enum tree_count partition_memory_rule(const struct plan *plan)
{
    for (size_t i = 0; i < plan->options.n; i++)
        if (strcmp(plan->options.at[i].name, "memory") == 0 &&
            strcmp(plan->options.at[i].value, "lenient") == 0)
            return TREE_LENIENT;
    return TREE_STRICT;
}

/* Which part each number belongs to; says what is wrong. */
static bool assign_parts(struct check *c, const struct tree *t, uint32_t *part_of)
{
    size_t before = c->result->total;
    uint8_t *used = mem_new_zero(uint8_t, c->p->nnodes);
    for (uint32_t x = 0; x < t->n; x++)
        part_of[x] = NONE;
    for (uint32_t i = 0; i < c->plan->parts.n; i++) {
        const struct part *part = &c->plan->parts.at[i];
        const char *node = platform_node_name(c->p, part->node);
        if (used[part->node])
            check_say(c, VIOLATION_PARTITION, part->root, "'%s' has more than one part", node);
        used[part->node] = 1;
        if (!c->p->up[part->node])
            check_say(c, VIOLATION_NODE, part->root, "'%s' is down", node);
        for (uint32_t k = 0; k < part->count; k++) {
            uint32_t task = c->plan->tasks.at[part->tasks + k], x = t->number[task];
            if (part_of[x] != NONE)
                check_say(c, VIOLATION_PARTITION, task, "'%s' is in two parts",
                          workflow_task_name(c->w, task));
            part_of[x] = i;
        }
        if (part_of[t->number[part->root]] != i)
            check_say(c, VIOLATION_PARTITION, part->root, "part %u does not hold its root '%s'", i,
                      workflow_task_name(c->w, part->root));
    }
    for (uint32_t x = 0; x < t->n; x++) {
        const char *name = workflow_task_name(c->w, t->task[x]);
        if (part_of[x] == NONE) {
            check_say(c, VIOLATION_PARTITION, t->task[x], "'%s' is in no part", name);
            continue;
        }
        /* Every task but the part's root hangs on a task of its own part. */
        bool root = c->plan->parts.at[part_of[x]].root == t->task[x];
        if (!root && (t->parent[x] == NONE || part_of[t->parent[x]] != part_of[x]))
            check_say(c, VIOLATION_PARTITION, t->task[x], "'%s' hangs on no task of its part",
                      name);
    }
    free(used);
    return c->result->total == before;
}

/* A stated order must be a traversal of the part from its root down (or up to it, in an in-tree)
 * and must not need more memory than the part claims, or, without a claim, than the least. */
static void check_order_of_part(struct check *c, const struct tree *t, const struct part *part,
                                uint32_t i, double least, enum tree_count count)
{
    uint32_t *order = mem_new(uint32_t, part->count);
    for (uint32_t k = 0; k < part->count; k++) {
        uint32_t from = t->in ? part->count - 1 - k : k; /* the judge goes from the root down */
        order[k] = t->number[c->plan->tasks.at[part->order + from]];
    }
    double peak = tree_peak_of_order(t, order, part->count, count);
    if (isnan(peak) || order[0] != t->number[part->root])
        check_say(c, VIOLATION_PARTITION, part->root,
                  "the order of part %u is not a traversal of it", i);
    else if (peak > (isnan(part->memory) ? least : part->memory) * (1 + 1e-9))
        check_say(c, VIOLATION_PARTITION, part->root,
                  "the order of part %u needs %.10g bytes, more than its %.10g", i, peak, least);
    free(order);
}

/* Parts are cut below their roots, so one array of marks serves all of them: a part reaches down
 * to, but not into, the next root. A claim above the least is allowed, one below is impossible. */
static void check_part_memory(struct check *c, const struct tree *t, double *written)
{
    enum tree_count count = partition_memory_rule(c->plan);
    struct tree_memory *memory = tree_memory_new(t);
    uint8_t *cut = mem_new_zero(uint8_t, t->n);
    for (size_t i = 0; i < c->plan->parts.n; i++)
        cut[t->number[c->plan->parts.at[i].root]] = 1;
    for (uint32_t i = 0; i < c->plan->parts.n; i++) {
        const struct part *part = &c->plan->parts.at[i];
        double least = tree_least_memory(memory, t->number[part->root], cut, count, NULL, NULL);
        if (check_part_evictions(c, t, i, count == TREE_STRICT, &written[i]))
            continue; /* with files on disk it was judged in the order that it states */
        if (least > c->p->memory[part->node] * (1 + 1e-9))
            check_say(c, VIOLATION_MEMORY, part->root, "part %u needs %.10g bytes; '%s' has %.10g",
                      i, least, platform_node_name(c->p, part->node), c->p->memory[part->node]);
        if (part->memory < least * (1 - 1e-9))
            check_say(c, VIOLATION_OBJECTIVE, part->root,
                      "part %u claims %.10g bytes; it needs %.10g", i, part->memory, least);
        if (part->order != NONE)
            check_order_of_part(c, t, part, i, least, count);
    }
    free(cut);
    tree_memory_free(memory);
}

/* MS(i) = f_i / beta + W_i / s_i + the time at the disk + the largest MS of a part below; numbers go from parents to
 * children, so one pass backwards does. */
static double makespan_of(struct check *c, const struct tree *t, const uint32_t *part_of,
                          const double *written)
{
    size_t n = c->plan->parts.n;
    double *work = mem_new_zero(double, n), *below = mem_new_zero(double, n), total = 0;
    for (uint32_t x = t->n; x--;) {
        uint32_t i = part_of[x];
        const struct part *part = &c->plan->parts.at[i];
        work[i] += t->work[x];
        if (part->root != t->task[x])
            continue;
        /* the root's file comes from outside (or goes there), over the network's own link */
        double transfer = 0, bytes = t->file[x];
        if (x == 0)
            transfer = bytes > 0 ? c->p->latency + bytes / c->p->bandwidth : 0;
        else
            transfer = platform_transfer(c->p, c->plan->parts.at[part_of[t->parent[x]]].node,
                                         part->node, bytes);
        double own = transfer + work[i] / c->p->speed[part->node] + below[i];
        own += written[i] > 0 ? 2 * written[i] / c->p->disk[part->node] : 0;
        if (x == 0)
            total = own;
        else
            below[part_of[t->parent[x]]] = fmax(below[part_of[t->parent[x]]], own);
    }
    free(work);
    free(below);
    return total;
}

/* Memory and makespan are judged only when the parts are parts: otherwise the figures mean
 * nothing. */
void check_partition(struct check *c)
{
    struct error why = {0};
    struct tree *t = tree_new(c->w, &why);
    if (!t) {
        check_say(c, VIOLATION_PARTITION, NONE, "%s", why.text);
        return;
    }
    uint32_t *part_of = mem_new(uint32_t, t->n);
    if (assign_parts(c, t, part_of)) {
        double *written = mem_new_zero(double, c->plan->parts.n + 1), all = 0;
        check_part_memory(c, t, written);
        double makespan = makespan_of(c, t, part_of, written);
        check_objective(c, "makespan", makespan);
        for (size_t i = 0; i < c->plan->parts.n; i++)
            all += written[i];
        if (all > 0)
            check_objective(c, "written", all);
        free(written);
        double bound = plan_objective(c->plan, "lower_bound");
        if (bound > makespan * (1 + 1e-9))
            check_say(c, VIOLATION_OBJECTIVE, NONE,
                      "claims a lower bound of %.10g on a makespan of %.10g", bound, makespan);
    }
    free(part_of);
    tree_free(t);
}
