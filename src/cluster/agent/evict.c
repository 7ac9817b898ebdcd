/* Objects that could be dropped are asked about in the store: who else has them, and have those who
 * read them ended? Never the last copy of something needed: a copy goes only when somebody before
 * us in the order (its producer's agent, then by number) lives and has it, so of two agents that
 * look at each other one keeps it.
 *
 * I1. One batch of candidates at a time; it is decided when all its questions are answered.
 * I2. What a task here reads, or waits to read (`used`), stays. So does what is a result.
 * I3. What was computed again stays where it was: whoever needs it reads it in order to compute
 *     something again, too, and of that the store knows nothing (its readers are done). Dropped, it
 *     would be computed once more for the next of them, and perhaps for ever. */
#include "cluster/agent/agent_state.h"

#include "base/tree.h"
#include "model/future.h"

enum {
    EVICT_BATCH = 32,    /* objects looked at together */
    EVICT_READERS = 256, /* more tasks than this read it: it is needed, and not asked about */
    EVICT_OF_TEMPORARY =
        65536, /* the same of a temporary file, which is big, or nobody would say so */
};

/* I3. */
static bool was_restored(const struct job *j, uint32_t object)
{
    const struct eviction *v = &j->eviction;
    return object < v->restored_room && v->restored[object / 64] >> object % 64 & 1;
}

/* Rare, so there are no bits before the first; a run that grows gets more of them. */
void evict_never(struct job *j, uint32_t object)
{
    struct eviction *v = &j->eviction;
    if (object >= v->restored_room) {
        size_t before = v->restored_room / 64, words = (size_t)j->w->nobjects / 64 + 1;
        v->restored = mem_resize(v->restored, words);
        memset(v->restored + before, 0, (words - before) * sizeof *v->restored);
        v->restored_room = (uint32_t)(words * 64);
    }
    v->restored[object / 64] |= UINT64_C(1) << object % 64;
}

void evict_free(struct job *j)
{
    array_free(&j->eviction.candidates);
    free(j->eviction.restored);
}

/* Tasks that read it, at most one more than `most`. */
static uint32_t count_readers(const struct workflow *w, uint32_t object, uint32_t most)
{
    uint32_t first = w->object_edge[object], n = 0, end = w->succ_off[w->producer[object] + 1];
    while (first + n < end && w->succ_object[first + n] == object && n <= most)
        n++;
    return n;
}

/* Of them, those that joined after who makes it. */
static uint32_t count_later(const struct workflow *w, uint32_t object)
{
    const struct later_edge *e;
    uint32_t n = 0;
    if (w->producer[object] == NONE)
        return 0;
    growth_each_later(w, w->producer[object], e) n += e->object == object;
    return n;
}

struct aged_object {
    double when;
    uint32_t object;
};

/* Equal ages in the order of numbers: the same choice every time. */
static int by_age(const void *a, const void *b)
{
    const struct aged_object *x = a, *y = b;
    return x->when != y->when ? (x->when > y->when) - (x->when < y->when)
                              : (x->object > y->object) - (x->object < y->object);
}

/* The objects that were read longest ago, in order. O(objects x EVICT_BATCH), once in a while. */
static uint32_t oldest_objects(const struct job *j, struct aged_object oldest[EVICT_BATCH])
{
    const struct workflow *w = j->w;
    uint32_t n = 0;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        if (!depot_has(j->depot, o) || j->supply.used[o] || was_restored(j, o) ||
            (w->producer[o] != NONE && !workflow_is_intermediate(w, o)))
            continue;
        uint32_t at = n < EVICT_BATCH ? n++ : NONE;
        if (at == NONE) { /* in place of the youngest of them, if that is younger */
            for (uint32_t i = 0; i < n; i++)
                if (at == NONE || oldest[i].when > oldest[at].when)
                    at = i;
            if (oldest[at].when <= j->supply.touched[o])
                continue;
        }
        oldest[at].when = j->supply.touched[o];
        oldest[at].object = o;
    }
    qsort(oldest, n, sizeof *oldest, by_age);
    return n;
}

/* A question where it stands, and one for each task that reads it, all with the
 * candidate's slot. */
void evict_begin(struct job *j)
{
    const struct workflow *w = j->w;
    struct aged_object oldest[EVICT_BATCH];
    uint32_t n = oldest_objects(j, oldest);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = oldest[i].object;
        uint32_t slot = SLOT_EVICTION | (uint32_t)j->eviction.candidates.n;
        struct candidate x = {.object = o, .open = 1};
        job_ask(j, META_WHERE, o, slot);
        /* an input cannot be computed again, should its readers have to be */
        uint32_t first = w->object_edge[o], readers = EVICT_READERS + 1;
        if (w->producer[o] != NONE)
            readers = count_readers(w, o, EVICT_READERS);
        /* who may come, and who joined after it was made, keep it: they are few */
        x.needed = readers > EVICT_READERS || count_later(w, o) || future_may_read(w, o);
        for (uint32_t k = 0; !x.needed && k < readers; k++)
            job_ask(j, META_READ, w->succ_task[first + k], slot);
        x.open += x.needed ? 0 : readers;
        array_push(&j->eviction.candidates, x);
    }
}

/* Either nobody will read it, or somebody else keeps it. */
static void evict_decide(struct job *j, const struct candidate *x)
{
    if (x->needed && !x->elsewhere) {
        j->supply.touched[x->object] = job_now(j); /* others are looked at first next time */
        return;
    }
    if (j->supply.used[x->object] || !depot_has(j->depot, x->object))
        return; /* it is read again, or gone, since it was asked about */
    depot_drop(j->depot, x->object);
    j->needs.present[x->object] = 0;
    j->eviction.dropped++;
    job_ask(j, META_COPY, x->object, NONE); /* status 0: no longer */
}

/* ---- temporary files ---- */

/* Of a shared folder only what was made here: each file has one agent that removes it. */
static bool temporary_is_here(const struct job *j, uint32_t object)
{
    if (!workflow_is_temporary(j->w, object) || !workflow_is_intermediate(j->w, object) ||
        was_restored(j, object))
        return false;
    return j->depot ? depot_has(j->depot, object) && !j->supply.used[object]
                    : j->needs.present && j->needs.present[object];
}

/* In turn, from where the last look ended: O(objects) a second, in runs that have such files. */
void evict_temporaries(struct job *j)
{
    const struct workflow *w = j->w;
    struct eviction *v = &j->eviction;
    if (!w->object_flags || v->candidates.n)
        return;
    for (uint32_t looked = 0; looked < w->nobjects && v->candidates.n < EVICT_BATCH; looked++) {
        uint32_t o = v->next;
        v->next = o + 1 < w->nobjects ? o + 1 : 0;
        if (!temporary_is_here(j, o))
            continue;
        uint32_t readers = count_readers(w, o, EVICT_OF_TEMPORARY), later = count_later(w, o);
        if (readers > EVICT_OF_TEMPORARY || !(readers + later) || future_may_read(w, o))
            continue; /* nobody reads it yet, or who may is not known */
        uint32_t slot = SLOT_EVICTION | (uint32_t)v->candidates.n;
        const struct later_edge *e;
        for (uint32_t i = 0; i < readers; i++)
            job_ask(j, META_READ, w->succ_task[w->object_edge[o] + i], slot);
        growth_each_later(w, w->producer[o], e) if (e->object == o)
            job_ask(j, META_READ, e->task, slot);
        array_push(&v->candidates,
                   ((struct candidate){.object = o, .open = readers + later, .temporary = true}));
    }
}

/* A reader that failed keeps it, as on one machine: the next run may go on from there. */
static void evict_temporary(struct job *j, const struct candidate *x)
{
    if (x->needed || !temporary_is_here(j, x->object))
        return;
    if (j->depot) {
        /* What it was stays known: should we leave before a client has heard of it, its maker and all
         * that read it could not be put on record. */
        want_tell_copy(j, x->object, META_NOBODY);
        depot_drop(j->depot, x->object);
        job_ask(j, META_COPY, x->object, NONE); /* status 0: no longer */
    } else {
        struct strbuf path = {0};
        char label[512];
        const char *name = workflow_object_label(j->w, x->object, label, sizeof label);
        tree_remove(path_in(j->options.folder, name, &path));
        strbuf_free(&path);
    }
    j->needs.present[x->object] = 0;
    j->eviction.dropped++;
}

/* ---- answers ---- */

/* Of all who have it, does one live that goes before us? */
static bool stands_elsewhere(const struct job *j, const uint32_t *nodes, uint32_t n)
{
    uint32_t self = j->agent->node;
    if (n && nodes[0] == self)
        return false; /* it was produced here: others drop theirs first */
    for (uint32_t i = 0; i < n; i++)
        if ((i == 0 || nodes[i] < self) && peer_is_up(j->agent, nodes[i]))
            return true;
    return false;
}

void evict_answer(struct job *j, const struct meta_answer *answer, const struct meta_answers *all,
                  size_t record)
{
    struct eviction *v = &j->eviction;
    uint32_t number = answer->slot & SLOT_NUMBER;
    if (number >= v->candidates.n)
        return;
    struct candidate *x = &v->candidates.at[number];
    if (answer->kind == META_READ && x->temporary)
        x->needed |=
            all->records[record].status != META_DONE && all->records[record].status != META_SKIPPED;
    else if (answer->kind == META_READ)
        x->needed |= all->records[record].status < META_DONE;
    else
        x->elsewhere =
            answer->count && stands_elsewhere(j, all->nodes + answer->first, answer->count);
    x->open--;
    for (size_t i = 0; i < v->candidates.n; i++)
        if (v->candidates.at[i].open)
            return;
    /* all is known: the oldest go first, until it is enough */
    for (size_t i = 0; i < v->candidates.n; i++)
        if (v->candidates.at[i].temporary)
            evict_temporary(j, &v->candidates.at[i]);
        else if (depot_counts(j->depot).bytes > j->agent->o->cache)
            evict_decide(j, &v->candidates.at[i]);
    v->candidates.n = 0;
}
