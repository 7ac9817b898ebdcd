/* A way to the end that fits: see sequel.h.
 *
 * By place in the order stands what is in use when that task runs in the sequel: its own room, and files that are there then. A
 * tree over the places keeps the most of each stretch, so that "this file is there earlier" is an addition to a stretch, and
 * "does all fit" a look at its most. Tasks that are not left count -infinity.
 *
 * To start a task out of its turn moves it to the front: until its old place what it leaves is there earlier, and what it alone
 * still read is gone earlier. From its old place on nothing changes. */
#include "drive/sequel.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum sequel_state { LEFT, STARTED, WAITS, OVER }; /* of a task */
enum sequel_file { GOES, STAYS, NEVER }; /* after its last reader, till the end; not made */

struct sequel {
    const struct workflow *w;
    const struct needs *needs;
    double *room; /* by task */
    double limit;
    double reserved;              /* room of tasks that wait for another attempt */
    uint32_t width;               /* places, a power of two */
    double *most;                 /* 2 * width: of a stretch, what is added to all of it counted */
    double *added;                /* 2 * width: to all of a stretch */
    uint32_t *place;              /* by task; NONE: it does not run */
    uint8_t *state;               /* by task */
    uint32_t *read_off, *read_at; /* by object: places of its readers, rising */
    uint32_t *unread;             /* by object: readers that have not started */
    uint8_t *file;                /* by object */
};

/* ---- the tree ---- */

static void sequel_pull(struct sequel *q, uint32_t node)
{
    q->most[node] = fmax(q->most[2 * node], q->most[2 * node + 1]) + q->added[node];
}

/* To the places [from, to). */
static void sequel_add_below(struct sequel *q, uint32_t node, uint32_t first, uint32_t size,
                             uint32_t from, uint32_t to, double bytes)
{
    if (from >= first + size || to <= first)
        return;
    if (from <= first && first + size <= to) {
        q->most[node] += bytes;
        q->added[node] += bytes;
        return;
    }
    sequel_add_below(q, 2 * node, first, size / 2, from, to, bytes);
    sequel_add_below(q, 2 * node + 1, first + size / 2, size / 2, from, to, bytes);
    sequel_pull(q, node);
}

static void sequel_add(struct sequel *q, uint32_t from, uint32_t to, double bytes)
{
    if (from < to && bytes != 0)
        sequel_add_below(q, 1, 0, q->width, from, to, bytes);
}

/* Of the places in front of `to`. */
static double sequel_most(const struct sequel *q, uint32_t to)
{
    double most = -INFINITY;
    uint32_t node = 1, first = 0, size = q->width;
    double above = 0; /* added to stretches that hold the node */
    if (to >= q->width)
        return q->most[1];
    while (size > 1) {
        above += q->added[node];
        size /= 2;
        node *= 2;
        if (to < first + size)
            continue;
        most = fmax(most, q->most[node] + above);
        first += size;
        node++;
    }
    return most;
}

static void sequel_take_out(struct sequel *q, uint32_t place)
{
    uint32_t node = q->width + place;
    q->most[node] = -INFINITY;
    while (node /= 2)
        sequel_pull(q, node);
}

/* ---- files ---- */

static double sequel_size(const struct sequel *q, uint32_t object)
{
    if (!workflow_is_intermediate(q->w, object) || q->file[object] == NEVER)
        return 0;
    return q->needs && q->needs->present[object] ? q->needs->bytes[object] : q->w->size[object];
}

/* As the workflow states it: what a task that runs is expected to make. */
static double sequel_stated(const struct sequel *q, uint32_t object)
{
    return workflow_is_intermediate(q->w, object) ? q->w->size[object] : 0;
}

/* One place behind the last that reads it and has not started, but `without`; 0: none does. A file that stays is read past the
 * end. */
static uint32_t sequel_read_until(const struct sequel *q, uint32_t object, uint32_t without)
{
    if (q->file[object] == STAYS)
        return q->width;
    if (!q->unread[object])
        return 0;
    for (uint32_t i = q->read_off[object + 1]; i-- > q->read_off[object];) {
        uint32_t place = q->read_at[i];
        if (place != without && q->most[q->width + place] > -INFINITY)
            return place + 1;
    }
    return 0;
}

/* Moves a task to the front, or (`back`) to its place again. Readers are not counted here: `without` leaves it out. */
static void sequel_shift(struct sequel *q, uint32_t task, bool back)
{
    const struct workflow *w = q->w;
    uint32_t place = q->place[task];
    double sign = back ? -1 : 1, makes = 0;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        makes += sequel_stated(q, o);
    sequel_add(q, 0, place, sign * makes);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (q->file[o] != GOES ||
            sequel_read_until(q, o, NONE) != place + 1) /* another reads it later */
            continue;
        uint32_t until = q->unread[o] == 1 ? 0 : sequel_read_until(q, o, place);
        sequel_add(q, until, place, -sign * sequel_size(q, o));
    }
}

/* ---- the life of a task ---- */

bool sequel_lets(struct sequel *q, uint32_t task, double left)
{
    uint32_t place = q->place[task];
    if (place == NONE || q->state[task] == WAITS)
        return true;
    if (left < q->reserved)
        return false;
    if (q->state[task] != LEFT || sequel_most(q, place) == -INFINITY)
        return true; /* its turn */
    sequel_shift(q, task, false);
    bool good = sequel_most(q, place) <= q->limit;
    sequel_shift(q, task, true);
    return good;
}

void sequel_started(struct sequel *q, uint32_t task)
{
    const struct workflow *w = q->w;
    if (q->place[task] == NONE)
        return;
    if (q->state[task] == WAITS)
        q->reserved -= q->room[task];
    if (q->state[task] == LEFT) {
        sequel_shift(q, task, false);
        sequel_take_out(q, q->place[task]);
        for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
            q->unread[w->in_object[i]]--;
    }
    q->state[task] = STARTED;
}

void sequel_waits(struct sequel *q, uint32_t task)
{
    if (q->place[task] == NONE || q->state[task] != STARTED)
        return;
    q->state[task] = WAITS;
    q->reserved += q->room[task];
}

/* What it makes takes other bytes than stated, for as long as somebody reads it. */
static void sequel_made(struct sequel *q, uint32_t task, bool produced)
{
    const struct workflow *w = q->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        double bytes = produced ? sequel_size(q, o) : 0;
        sequel_add(q, 0, sequel_read_until(q, o, NONE), bytes - sequel_stated(q, o));
        q->file[o] = produced ? q->file[o] : NEVER;
    }
}

/* Whatever it waited for, it does no more. False: it is over already. */
static bool sequel_over(struct sequel *q, uint32_t task)
{
    if (q->place[task] == NONE || q->state[task] == OVER)
        return false;
    sequel_started(q, task);
    q->state[task] = OVER;
    return true;
}

void sequel_ended(struct sequel *q, uint32_t task, bool produced)
{
    if (sequel_over(q, task))
        sequel_made(q, task, produced);
}

void sequel_lost(struct sequel *q, uint32_t task)
{
    const struct workflow *w = q->w;
    if (!sequel_over(q, task))
        return;
    sequel_made(q, task, false);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        sequel_add(q, sequel_read_until(q, o, NONE), q->width, sequel_size(q, o));
        q->file[o] = q->file[o] == NEVER ? NEVER : STAYS;
    }
}

/* ---- the beginning ---- */

/* Readers by place; which files go. */
static void sequel_list_readers(struct sequel *q, const uint32_t *order)
{
    const struct workflow *w = q->w;
    for (uint32_t k = 0; k < w->ntasks; k++)
        for (uint32_t i = w->in_off[order[k]];
             q->place[order[k]] != NONE && i < w->in_off[order[k] + 1]; i++)
            q->unread[w->in_object[i]]++;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        q->read_off[o + 1] = q->read_off[o] + q->unread[o];
        q->file[o] = workflow_is_temporary(w, o) && workflow_is_intermediate(w, o) ? GOES : STAYS;
        q->unread[o] = 0;
    }
    q->read_at = mem_new(uint32_t, (size_t)q->read_off[w->nobjects] + 1);
    for (uint32_t k = 0; k < w->ntasks; k++)
        for (uint32_t i = w->in_off[order[k]];
             q->place[order[k]] != NONE && i < w->in_off[order[k] + 1]; i++) {
            uint32_t o = w->in_object[i];
            q->read_at[q->read_off[o] + q->unread[o]++] = k;
        }
}

/* What is in use at each place, one task after the other. */
static void sequel_fill(struct sequel *q, const uint32_t *order, double used)
{
    const struct workflow *w = q->w;
    for (uint32_t k = 0; k < w->ntasks; k++) {
        uint32_t task = order[k];
        if (q->place[task] == NONE)
            continue;
        q->most[q->width + k] = used + q->room[task];
        for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
            used += sequel_stated(q, o);
        for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
            uint32_t o = w->in_object[i];
            if (q->file[o] == GOES && q->read_at[q->read_off[o + 1] - 1] == k)
                used -= sequel_size(q, o);
        }
    }
    for (uint32_t node = q->width; --node;)
        sequel_pull(q, node);
}

struct sequel *sequel_new(const struct workflow *w, const struct needs *needs,
                          const uint32_t *order, const double *room, double used, double limit)
{
    struct sequel *q = mem_new_zero(struct sequel, 1);
    *q = (struct sequel){.w = w, .needs = needs, .limit = limit, .width = 1};
    q->room = mem_new(double, (size_t)w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++)
        q->room[t] = room[t];
    while (q->width < w->ntasks)
        q->width *= 2;
    q->most = mem_new(double, 2 * (size_t)q->width);
    q->added = mem_new_zero(double, 2 * (size_t)q->width);
    for (size_t i = 0; i < 2 * (size_t)q->width; i++)
        q->most[i] = -INFINITY;
    q->place = mem_new(uint32_t, (size_t)w->ntasks + 1);
    q->state = mem_new_zero(uint8_t, (size_t)w->ntasks + 1);
    for (uint32_t k = 0; k < w->ntasks; k++)
        q->place[order[k]] = needs && !need_runs(needs, order[k]) ? NONE : k;
    q->read_off = mem_new_zero(uint32_t, (size_t)w->nobjects + 1);
    q->unread = mem_new_zero(uint32_t, (size_t)w->nobjects + 1);
    q->file = mem_new_zero(uint8_t, (size_t)w->nobjects + 1);
    sequel_list_readers(q, order);
    sequel_fill(q, order, used);
    return q;
}

void sequel_free(struct sequel *q)
{
    if (!q)
        return;
    free(q->room);
    free(q->most);
    free(q->added);
    free(q->place);
    free(q->state);
    free(q->read_off);
    free(q->read_at);
    free(q->unread);
    free(q->file);
    free(q);
}
