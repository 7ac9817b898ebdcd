#include "cluster/agent/agent_state.h"

enum {
    EVICT_BATCH = 32,    /* objects looked at together */
    EVICT_READERS = 256, /* more tasks than this read it: it is needed */
};

/* Objects that could be dropped are asked about in the store: who else has them, and have those who
 * read them ended? Never the last copy of something needed: a copy goes only when somebody before
 * us in the order (its producer's agent, then by number) lives and has it, so of two agents that
 * look at each other one keeps it. */

static uint32_t count_readers(const struct workflow *w, uint32_t object)
{
    uint32_t first = w->object_edge[object], n = 0, end = w->succ_off[w->producer[object] + 1];
    while (first + n < end && w->succ_object[first + n] == object && n <= EVICT_READERS)
        n++;
    return n;
}

struct aged {
    double when;
    uint32_t object;
};

static int by_age(const void *a, const void *b)
{
    const struct aged *x = a, *y = b;
    return x->when != y->when ? (x->when > y->when) - (x->when < y->when)
                              : (x->object > y->object) - (x->object < y->object);
}

void evict_look(struct job *j)
{
    const struct workflow *w = j->w;
    struct aged oldest[EVICT_BATCH];
    uint32_t n = 0;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        if (!depot_has(j->depot, o) || j->used[o] ||
            (w->producer[o] != NONE && !workflow_is_intermediate(w, o)))
            continue;
        uint32_t at = n < EVICT_BATCH ? n++ : NONE;
        if (at == NONE) {
            for (uint32_t i = 0; i < n; i++)
                if (at == NONE || oldest[i].when > oldest[at].when)
                    at = i;
            if (oldest[at].when <= j->touched[o])
                continue;
        }
        oldest[at].when = j->touched[o];
        oldest[at].object = o;
    }
    qsort(oldest, n, sizeof *oldest, by_age);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = oldest[i].object, mark = EVICT_MARK + (uint32_t)j->evicts.n;
        struct evict x = {.object = o, .open = 1};
        supply_ask(j, META_WHERE, o, mark);
        /* an input cannot be computed again, should its readers have to be */
        uint32_t first = w->object_edge[o], readers = EVICT_READERS + 1;
        if (w->producer[o] != NONE)
            readers = count_readers(w, o);
        x.needed = readers > EVICT_READERS;
        for (uint32_t k = 0; !x.needed && k < readers; k++)
            supply_ask(j, META_READ, w->succ_task[first + k], mark);
        x.open += x.needed ? 0 : readers;
        array_push(&j->evicts, x);
    }
}

static void evict_decide(struct job *j, const struct evict *x)
{
    if (x->needed && !x->elsewhere) {
        j->touched[x->object] = driver_now(j->driver); /* others are looked at first next time */
        return;
    }
    if (j->used[x->object] || !depot_has(j->depot, x->object))
        return;
    depot_drop(j->depot, x->object);
    j->needs.present[x->object] = 0;
    j->dropped++;
    supply_ask(j, META_COPY, x->object, NONE); /* status 0: no longer */
}

void evict_answer(struct job *j, const struct meta_answer *answer, const struct meta_answers *all,
                  size_t record)
{
    uint32_t number = answer->slot - EVICT_MARK;
    if (number >= j->evicts.n)
        return;
    struct evict *x = &j->evicts.at[number];
    if (answer->kind == META_READ) {
        x->needed |= all->records[record].status < META_DONE;
    } else {
        uint32_t self = j->agent->node;
        for (uint32_t i = 0; i < answer->count; i++) {
            uint32_t node = all->nodes[answer->first + i];
            bool before = i == 0 ? node != self : node < self;
            if (i == 0 && node == self)
                break; /* it was made here: others drop theirs first */
            x->elsewhere |= before && agent_is_up(j->agent, node);
        }
    }
    x->open--;
    for (size_t i = 0; i < j->evicts.n; i++)
        if (j->evicts.at[i].open)
            return;
    /* all is known: the oldest go first, until it is enough */
    for (size_t i = 0; i < j->evicts.n; i++)
        if (depot_look(j->depot).bytes > j->agent->o->cache)
            evict_decide(j, &j->evicts.at[i]);
    j->evicts.n = 0;
}
