/* All mappings of a few tasks. assignment.h has the contract.
 *
 * Every task is at home in one cluster: partitions come as restricted growth strings, 4,140 for 8
 * tasks. A cluster may also hold duplicates: of tasks that those at home in it depend on, and only
 * such that some task in it reads, since others change nothing but its load. A cluster without a
 * task at home would feed nobody. So the lists below, one a cluster, hold all that can be of use:
 *
 *     at home {d}, reads b and c, which read a:   {d} {b d} {c d} {b c d} {a b d} {a c d} {a b c d}
 *
 * and an odometer over the lists goes through all mappings of a partition. */
#include "plan/stream/assignment.h"

enum { ENUMERATED = 8, SUBSETS = 1 << (ENUMERATED - 1) };

/* Task sets are bits of a byte. */
struct enumeration {
    struct assignment_space *space;
    struct assignment *best, trial;
    uint32_t ntasks, nclusters, code[ENUMERATED]; /* the cluster of each task */
    uint8_t after[ENUMERATED], above[ENUMERATED]; /* per task: who reads it; its ancestors */
    uint8_t list[ENUMERATED][SUBSETS];            /* per cluster: the sets it may hold */
    uint32_t count[ENUMERATED], turn[ENUMERATED];
    uint64_t left; /* mappings with duplicates that may still be tried */
};

static void fill_relations(struct enumeration *x)
{
    const struct workflow *w = x->space->q->g->w;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t from = w->pred_task[e];
            x->after[from] |= (uint8_t)(1 << t);
            x->above[t] |= (uint8_t)(x->above[from] | 1 << from);
        }
    }
}

/* Does some task of the set read each of these? */
static bool all_are_read(const struct enumeration *x, uint8_t duplicates, uint8_t set)
{
    for (uint32_t t = 0; t < x->ntasks; t++)
        if (duplicates >> t & 1 && !(x->after[t] & set))
            return false;
    return true;
}

/* The sets that a cluster may hold, that without duplicates first. */
static void list_sets(struct enumeration *x, uint32_t cluster, bool duplication)
{
    uint8_t home = 0, above = 0;
    for (uint32_t t = 0; t < x->ntasks; t++)
        if (x->code[t] == cluster) {
            home |= (uint8_t)(1 << t);
            above |= x->above[t];
        }
    above &= (uint8_t)~home;
    x->count[cluster] = 0;
    /* all subsets of `above`, counted up within its bits */
    uint8_t some = 0;
    do {
        if (all_are_read(x, some, home | some))
            x->list[cluster][x->count[cluster]++] = home | some;
        some = (uint8_t)((some - above) & above);
    } while (some && duplication);
}

/* The mapping that the odometer shows. */
static void judge_mapping(struct enumeration *x)
{
    struct stream_state *s = &x->trial.state;
    uint32_t copies = 0;
    s->nclusters = x->nclusters;
    for (uint32_t t = 0; t < x->ntasks; t++) {
        s->off[t] = copies;
        s->home[t] = x->code[t];
        for (uint32_t c = 0; c < x->nclusters; c++)
            if (x->list[c][x->turn[c]] >> t & 1)
                s->cluster[copies++] = c;
    }
    s->off[x->ntasks] = copies;
    for (uint32_t c = 0; c < x->nclusters; c++)
        s->extra[c] = 0;
    state_refresh(s, x->space->q);
    struct assignment *best = x->best;
    assignment_assign(&x->trial, x->space,
                      best->meets ? best->latency * (1 + 2 * STREAM_TOLERANCE) : INFINITY);
    if (x->trial.meets && assignment_better(&x->trial, best))
        assignment_copy(best, &x->trial, x->space);
}

/* All mappings of one partition. False: there are more with duplicates than may be tried. */
static bool judge_partition(struct enumeration *x)
{
    uint64_t mappings = 1;
    bool duplication = x->space->q->duplication;
    for (uint32_t c = 0; c < x->nclusters; c++) {
        list_sets(x, c, duplication);
        mappings *= x->count[c];
        x->turn[c] = 0;
    }
    bool all = mappings <= x->left;
    if (all)
        x->left -= mappings;
    for (;;) {
        judge_mapping(x);
        uint32_t c = 0;
        while (all && c < x->nclusters && ++x->turn[c] == x->count[c])
            x->turn[c++] = 0;
        if (!all || c == x->nclusters)
            return all;
    }
}

/* The next restricted growth string: each number at most one above all before it. */
static bool next_partition(uint32_t *code, uint32_t n)
{
    uint32_t i = n;
    while (--i > 0) {
        uint32_t most = 0;
        for (uint32_t k = 0; k < i; k++)
            most = code[k] > most ? code[k] : most;
        if (code[i] <= most)
            break;
    }
    if (i == 0)
        return false;
    code[i]++;
    for (uint32_t k = i + 1; k < n; k++)
        code[k] = 0;
    return true;
}

bool assignment_enumerate(struct assignment *best, struct assignment_space *space, uint64_t most)
{
    uint32_t n = space->q->g->ntasks;
    if (n > ENUMERATED)
        return false;
    struct enumeration x = {.space = space, .best = best, .ntasks = n, .left = most};
    struct stream_state *s = &x.trial.state;
    bool all = true;
    assignment_init(&x.trial, space);
    s->cap = ENUMERATED * ENUMERATED; /* every task in every cluster */
    s->cluster = mem_resize(s->cluster, s->cap);
    fill_relations(&x);
    do {
        x.nclusters = 0;
        for (uint32_t t = 0; t < n; t++)
            x.nclusters = x.code[t] + 1 > x.nclusters ? x.code[t] + 1 : x.nclusters;
        all &= judge_partition(&x);
    } while (next_partition(x.code, n));
    assignment_free(&x.trial);
    return all;
}
