#include "run/cluster/agent_state.h"

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
    uint32_t first = w->object_edge[object], n = 0;
    if (first == NONE)
        return 0;
    if (w->producer[object] != NONE) {
        uint32_t end = w->succ_off[w->producer[object] + 1];
        while (first + n < end && w->succ_object[first + n] == object && n <= EVICT_READERS)
            n++;
        return n;
    }
    /* consumers of inputs are grouped by object: those of this one end where the next begins */
    uint32_t end = w->input_off[w->ntasks];
    for (uint32_t o = object + 1; o < w->nobjects; o++)
        if (w->object_edge[o] != NONE && w->object_edge[o] > first && w->object_edge[o] < end)
            end = w->object_edge[o];
    return end - first;
}

void evict_look(struct job *j)
{
    const struct workflow *w = j->w;
    struct {
        double when;
        uint32_t object;
    } oldest[EVICT_BATCH];
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
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = oldest[i].object, mark = EVICT_MARK + (uint32_t)j->evicts.n;
        struct evict x = {.object = o, .open = 1};
        supply_ask(j, META_WHERE, o, mark);
        uint32_t first = w->object_edge[o], readers = count_readers(w, o);
        const uint32_t *reader = w->producer[o] == NONE ? w->input_task : w->succ_task;
        x.needed = readers > EVICT_READERS;
        for (uint32_t k = 0; !x.needed && k < readers; k++)
            supply_ask(j, META_READ, reader[first + k], mark);
        x.open += x.needed ? 0 : readers;
        array_push(&j->evicts, x);
    }
}

static void evict_decide(struct job *j, const struct evict *x)
{
    if (x->needed && !x->elsewhere)
        return;
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
    if (--x->open)
        return;
    evict_decide(j, x);
    for (size_t i = 0; i < j->evicts.n; i++)
        if (j->evicts.at[i].open)
            return;
    j->evicts.n = 0;
}
