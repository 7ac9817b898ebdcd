/* Files that wait on a full node, moved to one with room: the way out when no task fits anywhere.
 *
 * A file may be moved once its producer has ended, and then waits on its new owner for the consumers that
 * are still to come. The task at hand picks the node that needs the fewest bytes moved. O(files that wait x nodes), and
 * only when nothing else is possible. */
#include "plan/memory/keep_state.h"

/* A schedule that lives on moves is given up: it would be a long one. */
enum { MOST_MOVES = 4000 };

/* Waiting on the node, with consumers to come, and no input of the task. */
static bool is_movable(const struct keep_schedule *k, uint32_t object, uint32_t node, uint32_t task)
{
    const struct workflow *w = k->w;
    const struct kept_file *f = &k->file[object];
    if (f->owner != node || keep_bytes(k, object) <= 0)
        return false;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        if (w->pred_object[e] == object)
            return false;
    return true;
}

/* The node with the most room behind its tail that can hold the file, other than the one that it is on and
 * the one that room is made on. */
static uint32_t shelter_of(const struct keep_schedule *k, uint32_t object, uint32_t node)
{
    uint32_t best = NONE;
    double most = k->w->size[object];
    for (uint32_t n = 0; n < k->p->nnodes; n++) {
        if (n == node || !k->p->up[n] ||
            !isfinite(platform_transfer(k->p, node, n, k->w->size[object])))
            continue;
        double room = keep_room(k, n);
        if (room >= most && (best == NONE || room > keep_room(k, best)))
            best = n;
    }
    return best;
}

/* From the first time on from which it stays within the receiver's memory. */
static void move_file(struct keep_schedule *k, uint32_t object, uint32_t to)
{
    struct kept_file *f = &k->file[object];
    double size = k->w->size[object], leaves = fmax(f->ready, k->now);
    const struct keep_line *line = &k->line[to];
    for (size_t i = line->steps.n; !isinf(k->p->memory[to]) && i-- > 0;)
        if (line->steps.at[i].used + size > k->p->memory[to] && i + 1 < line->steps.n) {
            leaves = fmax(leaves, line->steps.at[i + 1].time);
            break;
        }
    double arrives = leaves + platform_transfer(k->p, f->owner, to, size);
    array_push(&k->transfers, (struct transfer){object, f->owner, to, leaves, arrives});
    keep_add(k, to, leaves, INFINITY, size);
    keep_add(k, f->owner, fmax(f->last, arrives), INFINITY, -size);
    f->owner = to;
    f->ready = f->last = arrives;
    k->moves++;
    f->copies = NONE; /* who reads it from now on asks the new owner */
}

/* The bytes that must leave the node for the task to fit behind its tail; INFINITY: it never fits. */
static double missing_room(struct keep_schedule *k, uint32_t task, uint32_t node)
{
    if (!(costs_time(k->costs, task, node) < INFINITY))
        return INFINITY;
    const struct workflow *w = k->w;
    double need = keep_needs(k, task);
    if (need > k->p->memory[node])
        return INFINITY;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e];
        if (o != NONE && k->file[o].owner == node)
            need -= keep_bytes(k, o);
    }
    return need - keep_room(k, node);
}

/* Largest files first, of equal ones the lowest: the fewest moves. */
static bool make_room_on(struct keep_schedule *k, uint32_t task, uint32_t node)
{
    for (double missing = missing_room(k, task, node); missing > 0 && k->moves < MOST_MOVES;) {
        uint32_t largest = NONE, shelter = NONE;
        for (size_t i = 0; i < k->waiting.n; i++) {
            uint32_t o = k->waiting.at[i];
            double size = k->w->size[o], most = largest == NONE ? -1 : k->w->size[largest];
            bool larger = size > most || (size == most && o < largest);
            if (!larger || !is_movable(k, o, node, task))
                continue;
            uint32_t to = shelter_of(k, o, node);
            if (to != NONE) {
                largest = o;
                shelter = to;
            }
        }
        if (largest == NONE)
            return false;
        missing -= k->w->size[largest];
        move_file(k, largest, shelter);
    }
    return true;
}

bool keep_make_room(struct keep_schedule *k, uint32_t task)
{
    uint32_t nnodes = k->p->nnodes;
    double *missing = mem_new(double, nnodes);
    for (uint32_t n = 0; n < nnodes; n++)
        missing[n] = missing_room(k, task, n);
    bool made = false;
    /* the nodes in order of what is missing on them */
    for (uint32_t tried = 0; tried < nnodes && !made && k->moves < MOST_MOVES; tried++) {
        uint32_t best = 0;
        for (uint32_t n = 1; n < nnodes; n++)
            if (missing[n] < missing[best])
                best = n;
        if (isinf(missing[best]))
            break;
        made = make_room_on(k, task, best);
        missing[best] = INFINITY;
    }
    free(missing);
    k->prepared = NONE;
    return made;
}
