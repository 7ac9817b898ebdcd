/* Mappings for nodes with disks: evict_plan.h says which are tried. A part that needs more than its node has is
 * carried out with the files that evict.c picks on the disk, and takes 2 x volume / bandwidth longer.
 *
 *     the whole tree on one node ────────────┐
 *     memories x 1.05 ──▶ hetpart2 ──▶ parts ┼──▶ evict.c for each part that ──▶ fewest bytes,
 *     memories x 1.10 ──▶ hetpart2 ──▶ parts ┤    its node's real memory         then shortest
 *     ...                                    ┘    cannot hold
 *
 * Taking memories for larger is how the volume is kept small without a search of its own: with 1.05 times the memory
 * a part exceeds its node by at most a twentieth, so that little has to go. Only nodes with a disk are raised, and
 * a task that its node's real memory cannot hold alone refuses the mapping, for no disk helps there.
 *
 * The makespan counts disk time as the checker does: all of it in the part's own length, since a task waits while its
 * files are written or read. The lower bound of bound.c does not hold here (it counts memory as a reason to cut), so
 * these plans claim none. */
#include "plan/tree/evict_plan.h"
#include "base/mem.h"
#include "plan/tree/evict.h"
#include "plan/tree/hetpart.h"
#include "plan/tree/partition.h"
#include <math.h>
#include <string.h>

/* How much larger memories are taken for, until a mapping is found; more would leave one part a node anyway. */
static const double RAISED[] = {1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 100};

/* A mapping by numbers and nodes of the platform. */
struct disk_mapping {
    uint32_t n, *root, *node;
    double volume, makespan;
    bool proven; /* of each part, as it is cut */
    struct evict_result *part;
};

static void mapping_free(struct disk_mapping *m)
{
    for (uint32_t i = 0; m->part && i < m->n; i++)
        evict_result_free(&m->part[i]);
    free(m->part);
    free(m->root);
    free(m->node);
    *m = (struct disk_mapping){.volume = INFINITY};
}

/* Equation (1) with the time at the disks. Parts are by rising root, so that parents come before. */
static double mapping_makespan(const struct tree_job *job, const struct disk_mapping *m,
                               const uint32_t *part_of)
{
    const struct tree *t = job->tree;
    const struct platform *p = job->request->platform;
    double *below = mem_new_zero(double, m->n), total = 0;
    for (uint32_t i = m->n; i-- > 0;) {
        uint32_t root = m->root[i], node = m->node[i];
        double work = 0, own = below[i];
        for (uint32_t k = 0; k < m->part[i].count; k++)
            work += t->work[m->part[i].order[k]];
        own += work / p->speed[node];
        own += m->part[i].volume > 0 ? 2 * m->part[i].volume / p->disk[node] : 0;
        if (root == 0) {
            total = own + job->setting->root_transfer;
            continue;
        }
        uint32_t above = part_of[t->parent[root]];
        own += platform_transfer(p, m->node[above], node, t->file[root]);
        below[above] = fmax(below[above], own);
    }
    free(below);
    return total;
}

/* Volume and makespan of a mapping with its files picked; false: it cannot be carried out. */
static bool mapping_weigh(const struct tree_job *job, struct disk_mapping *m)
{
    const struct tree *t = job->tree;
    const struct platform *p = job->request->platform;
    struct tree_memory *room = tree_memory_new(t);
    uint8_t *cut = mem_new_zero(uint8_t, t->n);
    uint32_t *part_of = mem_new(uint32_t, t->n);
    bool good = true;
    m->volume = 0;
    m->proven = true;
    m->part = mem_new_zero(struct evict_result, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        cut[m->root[i]] = 1;
    for (uint32_t i = 0; i < m->n && good; i++) {
        struct evict_part part = {t, m->root[i], cut, job->setting->counting,
                                  p->memory[m->node[i]]};
        evict_part(&part, room, &m->part[i]);
        for (uint32_t k = 0; k < m->part[i].count; k++)
            part_of[m->part[i].order[k]] = i;
        m->volume += m->part[i].volume;
        m->proven &= m->part[i].proven;
        good = m->part[i].volume == 0 || (isfinite(m->part[i].volume) && p->disk[m->node[i]] > 0);
    }
    m->makespan = good ? mapping_makespan(job, m, part_of) : INFINITY;
    free(part_of);
    free(cut);
    tree_memory_free(room);
    return good && isfinite(m->makespan);
}

/* Takes `m`; the better of the two stays in `best`. */
static void mapping_offer(const struct tree_job *job, struct disk_mapping *best,
                          struct disk_mapping *m)
{
    if (mapping_weigh(job, m) &&
        (m->volume < best->volume || (m->volume == best->volume && m->makespan < best->makespan))) {
        struct disk_mapping old = *best;
        *best = *m;
        *m = old;
    }
    mapping_free(m);
}

/* The whole tree on each node with a disk; nodes stand by falling memory, so that equal ones are neighbours. */
static void offer_single_nodes(const struct tree_job *job, struct disk_mapping *best)
{
    const struct platform *p = job->request->platform;
    double memory = -1, speed = 0, disk = 0;
    for (uint32_t q = 0; q < job->setting->nprocs; q++) {
        uint32_t node = job->setting->node[q];
        bool as_before =
            p->memory[node] == memory && p->speed[node] == speed && p->disk[node] == disk;
        memory = p->memory[node];
        speed = p->speed[node];
        disk = p->disk[node];
        if (as_before || !(disk > 0))
            continue;
        struct disk_mapping m = {.n = 1};
        m.root = mem_new_zero(uint32_t, 1);
        m.node = mem_new(uint32_t, 1);
        m.node[0] = node;
        mapping_offer(job, best, &m);
    }
}

/* Memories of nodes with disks, `factor` times as large, and all again by falling memory. */
static void raise_memories(struct tree_setting *s, double factor)
{
    for (uint32_t q = 0; q < s->nprocs; q++) {
        uint32_t node = s->node[q], at = q;
        double memory = s->memory[q] * (s->platform->disk[node] > 0 ? factor : 1),
               speed = s->speed[q];
        for (; at > 0 && s->memory[at - 1] < memory; at--) {
            s->memory[at] = s->memory[at - 1];
            s->speed[at] = s->speed[at - 1];
            s->node[at] = s->node[at - 1];
        }
        s->memory[at] = memory;
        s->speed[at] = speed;
        s->node[at] = node;
    }
}

struct root_node {
    uint32_t root, node;
};

static int compare_roots(const void *a, const void *b)
{
    const struct root_node *x = a, *y = b;
    return x->root < y->root ? -1 : x->root > y->root;
}

static struct disk_mapping mapping_of(const struct snapshot *found, const struct tree_setting *s)
{
    struct disk_mapping m = {.n = found->n};
    struct root_node *pairs = mem_new(struct root_node, found->n);
    m.root = mem_new(uint32_t, m.n);
    m.node = mem_new(uint32_t, m.n);
    for (uint32_t i = 0; i < m.n; i++) {
        pairs[i] = (struct root_node){found->root[i], s->node[found->proc[i]]};
    }
    qsort(pairs, m.n, sizeof *pairs, compare_roots);
    for (uint32_t i = 0; i < m.n; i++) {
        m.root[i] = pairs[i].root;
        m.node[i] = pairs[i].node;
    }
    free(pairs);
    return m;
}

/* The less memories are raised, the less is written: the first mappings that exist are looked at, and a few more
 * steps, since one with fewer parts may write less. */
static void offer_cut_mappings(const struct tree_job *job, struct disk_mapping *best)
{
    for (size_t i = 0, found = 0; i < sizeof RAISED / sizeof *RAISED && found < 4; i++) {
        struct tree_setting *s =
            setting_new(job->tree, job->request->platform, job->setting->counting, NULL);
        struct snapshot start[2] = {0}, every = {0};
        raise_memories(s, RAISED[i]);
        struct partition *p = partition_new(s, true);
        hetpart_best(p, STEP1_BEST, FIT_FIRST, PHASES_AB, start, 2, &every);
        if (every.n && isfinite(every.makespan)) {
            struct disk_mapping m = mapping_of(&every, s);
            mapping_offer(job, best, &m);
            found++;
        }
        snapshot_free(&every);
        snapshot_free(&start[0]);
        snapshot_free(&start[1]);
        partition_free(p);
        setting_free(s);
    }
}

/* Files are written as soon as they are made: a later moment would spare nothing. */
static void add_evictions(struct plan *plan, const struct tree *t, const struct evict_result *r)
{
    for (uint32_t i = 0; i + 1 < r->count; i++) {
        uint32_t x = r->order[i], from = t->in ? x : t->child_off[x];
        uint32_t to = t->in ? x + 1 : t->child_off[x + 1];
        for (uint32_t file = from; file < to; file++) {
            if (!r->out[file] || t->file[file] == 0)
                continue;
            uint32_t child = t->task[file], parent = t->task[t->parent[file]];
            array_push(&plan->evictions,
                       (struct plan_eviction){.from = t->in ? child : parent,
                                              .to = t->in ? parent : child,
                                              .before = t->task[r->order[i + 1]]});
        }
    }
}

/* Each part with its order; least memories are not stated, since with files on disk the node's is what counts. */
static struct plan *mapping_plan(const struct tree_job *job, const struct disk_mapping *m)
{
    const struct tree *t = job->tree;
    struct plan *plan = plan_new(PLAN_PARTITION);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct evict_result *r = &m->part[i];
        uint32_t first = (uint32_t)plan->tasks.n;
        for (uint32_t k = 0; k < r->count; k++)
            array_push(&plan->tasks, t->task[r->order[k]]);
        array_push(&plan->parts, (struct part){.root = t->task[m->root[i]],
                                               .node = m->node[i],
                                               .tasks = first,
                                               .order = first,
                                               .count = r->count,
                                               .memory = NAN});
        add_evictions(plan, t, r);
        if (r->volume > 0)
            plan_note(plan, "'%s' writes %.10g bytes to its disk and reads them again (%s)",
                      platform_node_name(job->request->platform, m->node[i]), r->volume, r->rule);
    }
    plan_set_objective(plan, "makespan", m->makespan);
    plan_set_objective(plan, "parts", m->n);
    plan_set_objective(plan, "written", m->volume);
    plan_note(plan, "no mapping was found that fits into memory: %zu file%s written to disk%s",
              plan->evictions.n, plan->evictions.n == 1 ? " is" : "s are",
              m->proven ? ", as few bytes as these parts allow" : "");
    return plan;
}

struct plan *evict_plan(const struct tree_job *job)
{
    struct disk_mapping best = {.volume = INFINITY};
    const struct platform *p = job->request->platform;
    bool any = false;
    for (uint32_t n = 0; n < p->nnodes; n++)
        any |= p->up[n] && p->disk[n] > 0;
    if (!any)
        return NULL;
    offer_single_nodes(job, &best);
    offer_cut_mappings(job, &best);
    struct plan *plan = isfinite(best.volume) ? mapping_plan(job, &best) : NULL;
    mapping_free(&best);
    return plan;
}
