/* The cores of simulated nodes on which several runs go on. A run's scheduler believes that it has all of
 * a node, as on a real agent; what it starts waits here until the node has room for it and its run has its
 * turn (sched/share.h, which real agents ask, too).
 *
 *     scheduler ── start ──▶ waiting ── its run's turn, and room ──▶ data, then runs ── ended ──▶ room is free
 *     scheduler ── part  ──▶ parts   ── room, before all that waits ──▶ EVENT_ROOM ──▶ granted ── over ──▶ free
 *
 *   I1. Busy cores and memory of a room are those of the tasks and parts that have it.
 *   I2. Who is next is decided when the scheduler of what has ended knows that: it may have more to start,
 *       and must not lose its turn because it was asked too early.
 *   I3. While a part of a task that spans several nodes waits, nothing else begins there. Parts are asked
 *       for in the order of the nodes' numbers, so runs do not wait for each other in a circle. */
#include "sched/share.h"
#include "sim/schedulers_state.h"

#include <math.h>

struct room_part {
    struct sched_part part;
    bool has_room;
    double since;
};

/* A run on a node. */
struct room_place {
    struct run_share share;  /* first: the node knows it by this */
    ARRAY(uint32_t) waiting; /* what its scheduler has started, in order */
    size_t next;             /* the first of them that has no room yet */
    ARRAY(struct room_part) parts;
};

struct node_room {
    uint32_t cores, busy;
    double memory, busy_memory;
    struct node_shares shares;
};

struct schedulers_rooms {
    uint32_t nodes, nruns;
    struct schedulers *runs;
    struct node_room *room;
    struct room_place *places; /* of each node, one a run */
};

static struct room_place *room_place(const struct schedulers *c, uint32_t node)
{
    return &c->rooms->places[(size_t)node * c->rooms->nruns + c->number];
}

static bool room_waits(const struct run_share *share)
{
    const struct room_place *p = (const struct room_place *)share;
    return p->next < p->waiting.n;
}

struct schedulers_rooms *schedulers_rooms_new(const struct schedulers_config *k,
                                              struct schedulers *runs, const double *priority,
                                              uint32_t n)
{
    struct schedulers_rooms *r = mem_new(struct schedulers_rooms, 1);
    *r = (struct schedulers_rooms){.nodes = k->nodes, .nruns = n, .runs = runs};
    r->room = mem_new_zero(struct node_room, k->nodes);
    r->places = mem_new_zero(struct room_place, (size_t)k->nodes * n);
    for (uint32_t node = 0; node < k->nodes; node++) {
        struct node_room *room = &r->room[node];
        room->cores = schedulers_cores(k, node);
        room->memory = schedulers_memory(k, node);
        room->shares.waits = room_waits;
        for (uint32_t i = 0; i < n; i++)
            share_joins(&room->shares, &r->places[(size_t)node * n + i].share, priority[i]);
    }
    return r;
}

void schedulers_rooms_free(struct schedulers_rooms *r)
{
    if (!r)
        return;
    for (uint32_t node = 0; node < r->nodes; node++)
        array_free(&r->room[node].shares.runs);
    for (size_t i = 0; i < (size_t)r->nodes * r->nruns; i++) {
        array_free(&r->places[i].waiting);
        array_free(&r->places[i].parts);
    }
    free(r->room);
    free(r->places);
    free(r);
}

/* ---- room ---- */

static uint32_t room_cores(const struct schedulers *c, uint32_t task)
{
    return c->dag->workflow ? c->dag->workflow->cores[task] : 1;
}

static double room_memory(const struct schedulers *c, uint32_t task)
{
    return c->dag->workflow ? c->dag->workflow->memory[task] : 0;
}

static bool room_fits(const struct node_room *r, const struct schedulers *c, uint32_t task)
{
    return r->busy + room_cores(c, task) <= r->cores &&
           !(r->busy_memory + room_memory(c, task) > r->memory);
}

static void room_take(struct schedulers *c, uint32_t node, uint32_t task)
{
    struct node_room *r = &c->rooms->room[node];
    r->busy += room_cores(c, task);
    r->busy_memory += room_memory(c, task);
    share_takes(&room_place(c, node)->share, c->now, room_cores(c, task));
}

static void room_give(struct schedulers *c, uint32_t node, uint32_t task, double since)
{
    struct node_room *r = &c->rooms->room[node];
    r->busy -= room_cores(c, task);
    r->busy_memory = r->busy ? r->busy_memory - room_memory(c, task) : 0; /* no drift */
    share_gives(&room_place(c, node)->share, c->now, room_cores(c, task), c->now - since);
    c->used += room_cores(c, task) * (c->now - since);
}

/* ---- parts of tasks that span several nodes ---- */

static bool room_is_wide(const struct schedulers *c, uint32_t task)
{
    return c->dag->workflow && workflow_span(c->dag->workflow, task) > 1;
}

static void part_remove(struct schedulers *c, uint32_t node, size_t at)
{
    struct room_place *p = room_place(c, node);
    if (p->parts.at[at].has_room)
        room_give(c, node, p->parts.at[at].part.task, p->parts.at[at].since);
    memmove(&p->parts.at[at], &p->parts.at[at + 1], (p->parts.n - at - 1) * sizeof *p->parts.at);
    p->parts.n--;
}

void schedulers_room_part(struct schedulers *c, uint32_t node, const struct sched_part *part)
{
    struct room_place *p = room_place(c, node);
    if (part->begins) {
        array_push(&p->parts, (struct room_part){.part = *part});
    } else {
        for (size_t i = p->parts.n; i--;) {
            const struct sched_part *x = &p->parts.at[i].part;
            if (x->task == part->task && x->owner == part->owner && x->epoch == part->epoch &&
                x->round == part->round)
                part_remove(c, node, i);
        }
    }
    schedulers_room_advance(c, node);
}

/* The first part that has no room gets it, if there is. True: none waits any more. */
static bool parts_advance(struct schedulers_rooms *r, uint32_t node, double now)
{
    for (uint32_t i = 0; i < r->nruns; i++) {
        struct schedulers *c = &r->runs[i];
        struct room_place *p = room_place(c, node);
        for (size_t k = 0; k < p->parts.n; k++) {
            struct room_part *x = &p->parts.at[k];
            if (x->has_room)
                continue;
            if (!room_fits(&r->room[node], c, x->part.task))
                return false;
            c->now = now;
            room_take(c, node, x->part.task);
            x->has_room = true;
            x->since = now;
            array_push(&c->told, x->part);
            schedulers_later(c, now, EVENT_ROOM, (uint32_t)c->told.n - 1, node);
        }
    }
    return true;
}

/* ---- tasks ---- */

static void task_begin(struct schedulers *c, uint32_t run, double now)
{
    c->now = now;
    c->runs.all.at[run].started = now;
    c->first = fmin(c->first, now);
    schedulers_data_need(c, run);
}

void schedulers_room_wait(struct schedulers *c, uint32_t run)
{
    const struct schedulers_running *r = &c->runs.all.at[run];
    uint32_t node = r->node;
    struct room_place *p = room_place(c, node);
    if (room_is_wide(c, r->task)) { /* its part here has room for it */
        task_begin(c, run, c->now);
        return;
    }
    if (p->next == p->waiting.n)
        p->next = p->waiting.n = 0;
    share_competes(&c->rooms->room[node].shares, &p->share, c->now);
    array_push(&p->waiting, run);
    schedulers_room_advance(c, node);
}

void schedulers_room_leave(struct schedulers *c, const struct schedulers_running *r)
{
    struct room_place *p = room_place(c, r->node);
    if (!room_is_wide(c, r->task)) {
        room_give(c, r->node, r->task, r->started);
        return;
    }
    for (size_t i = p->parts.n; i--;)
        if (p->parts.at[i].part.task == r->task && p->parts.at[i].part.owner == r->node)
            part_remove(c, r->node, i);
}

void schedulers_room_advance(struct schedulers *c, uint32_t node)
{
    struct schedulers_rooms *r = c->rooms;
    double now = c->now;
    while (parts_advance(r, node, now)) {
        struct room_place *p = (struct room_place *)share_next(&r->room[node].shares, now);
        if (!p)
            break;
        struct schedulers *next = &r->runs[(size_t)(p - r->places) % r->nruns];
        uint32_t run = p->waiting.at[p->next];
        if (!room_fits(&r->room[node], next, next->runs.all.at[run].task))
            break;
        p->next++;
        next->now = now;
        room_take(next, node, next->runs.all.at[run].task);
        task_begin(next, run, now);
    }
    struct run_share *own = &room_place(c, node)->share;
    own->competes = own->busy || room_waits(own);
}

/* Who gave parts to its tasks has not yet heard that they are not needed any more, and will not. */
void schedulers_room_over(struct schedulers *c)
{
    for (uint32_t node = 0; node < c->rooms->nodes; node++) {
        struct room_place *p = room_place(c, node);
        if (!p->parts.n)
            continue;
        while (p->parts.n)
            part_remove(c, node, p->parts.n - 1);
        schedulers_room_advance(c, node);
    }
}
