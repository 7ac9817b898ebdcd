/* Filling a schedule that keeps to memory. A task that fits nowhere steps aside until memory comes free;
 * when nothing that is ready fits, files that wait are moved out of the way, and only when that does not
 * help the attempt has failed. */
#include "plan/memory/fill.h"
#include "base/heap.h"
#include "plan/list/list.h"
#include <math.h>

/* What a schedule of so many tasks costs is mostly asking: for each task that is ready, each node when it could
 * begin there. A task that fits nowhere is not asked again before memory came free somewhere; and a task that is
 * asked learns from the tail of a node alone, without looking at cores and steps, when it never fits (keep.c).
 *
 * Tasks that stepped aside and are asked again each time memory comes free: more would make a wide graph
 * quadratic. */
enum { ASIDE_ASKED = 32 };

/* One attempt. `open` has the ready tasks by key, `aside` those of them that fitted nowhere when asked. */
struct fill_state {
    struct keep_schedule *k;
    const struct fill *f;
    const struct workflow *w;
    const struct platform *p;
    struct ready ready;
    struct heap open, aside;
    uint32_t *by_memory; /* nodes, largest first */
    uint32_t turn;       /* FILL_IN_TURN: the place in by_memory */
    uint32_t *by_need;   /* FILL_RESERVE: tasks, the largest first */
    uint32_t largest;    /* the first of them that is not placed */
};

static int compare_by_need(const void *a, const void *b, void *context)
{
    const double *need = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (need[x] != need[y])
        return need[x] > need[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void filling_init(struct fill_state *s, struct keep_schedule *k, const struct workflow *w,
                         const struct platform *p, const struct fill *f)
{
    *s = (struct fill_state){.k = k, .f = f, .w = w, .p = p};
    ready_init(&s->ready, w);
    s->by_memory = mem_new(uint32_t, p->nnodes);
    for (uint32_t n = 0; n < p->nnodes; n++)
        s->by_memory[n] = n;
    platform_sort_by_memory(p, s->by_memory, p->nnodes);
    if (f && f->choice == FILL_RESERVE) {
        double *need = mem_new(double, w->ntasks);
        s->by_need = mem_new(uint32_t, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++) {
            s->by_need[t] = t;
            need[t] = keep_needs(k, t);
        }
        qsort_r(s->by_need, w->ntasks, sizeof *s->by_need, compare_by_need, need);
        free(need);
    }
}

static void filling_free(struct fill_state *s)
{
    ready_free(&s->ready);
    heap_free(&s->open);
    heap_free(&s->aside);
    free(s->by_memory);
    free(s->by_need);
}

/* ---- which node ---- */

/* Files spread over the nodes: the last resort before the sequence of DagHetMem. */
static struct keep_slot choose_roomiest(struct fill_state *s, uint32_t task)
{
    struct keep_slot best = {NONE, 0, INFINITY, INFINITY};
    double most = -1;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double room = keep_room(s->k, n);
        if (!(room > most))
            continue;
        struct keep_slot slot = keep_earliest(s->k, task, n);
        if (slot.finish < INFINITY) {
            best = slot;
            most = room;
        }
    }
    return best;
}

/* The largest task that is still to come would find room on some node, if this one went to `node`. */
static bool leaves_reserve(struct fill_state *s, uint32_t task, uint32_t node)
{
    while (s->largest < s->w->ntasks &&
           (keep_is_placed(s->k, s->by_need[s->largest]) || s->by_need[s->largest] == task))
        s->largest++;
    if (s->largest == s->w->ntasks)
        return true;
    double need = keep_needs(s->k, s->by_need[s->largest]), outputs = 0;
    for (uint32_t o = s->w->object_off[task]; o < s->w->object_end[task]; o++)
        outputs += workflow_is_intermediate(s->w, o) ? s->w->size[o] : 0;
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        if (s->p->up[n] && keep_room(s->k, n) - (n == node ? outputs : 0) >= need)
            return true;
    return false;
}

/* Where no node leaves the reserve the earliest end decides: it is a wish, not a rule. */
static struct keep_slot choose_with_reserve(struct fill_state *s, uint32_t task)
{
    struct keep_slot best = {NONE, 0, INFINITY, INFINITY}, any = best;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        if (!keep_can_beat(s->k, task, n, best.finish))
            continue; /* `any` never ends later */
        struct keep_slot slot = keep_earliest(s->k, task, n);
        if (slot.finish < any.finish)
            any = slot;
        if (slot.finish < best.finish && leaves_reserve(s, task, n))
            best = slot;
    }
    return best.node != NONE ? best : any;
}

/* DagHetMem: one node is filled until a task does not fit, then the next. */
static struct keep_slot choose_in_turn(struct fill_state *s, uint32_t task)
{
    struct keep_slot slot = {NONE, 0, INFINITY, INFINITY};
    for (; s->turn < s->p->nnodes; s->turn++) {
        /* one that this node cannot run at all is no reason to leave it */
        if (!(costs_time(keep_costs(s->k), task, s->by_memory[s->turn]) < INFINITY))
            return keep_best(s->k, task);
        slot = keep_earliest(s->k, task, s->by_memory[s->turn]);
        if (slot.finish < INFINITY)
            break;
    }
    return slot;
}

/* A wanted node first; what the choice says only if the task may go elsewhere. */
static struct keep_slot choose_slot(struct fill_state *s, uint32_t task)
{
    uint32_t wanted = s->f->node ? s->f->node[task] : NONE;
    if (wanted != NONE) {
        struct keep_slot slot = keep_earliest(s->k, task, wanted);
        if (s->f->sticky) {
            struct keep_slot best = keep_best(s->k, task);
            return best.finish < slot.finish ? best : slot;
        }
        if (slot.finish < INFINITY || !s->f->prefer)
            return slot;
    }
    switch (s->f->choice) {
    case FILL_EARLIEST:
        return keep_best(s->k, task);
    case FILL_RESERVE:
        return choose_with_reserve(s, task);
    case FILL_ROOMIEST:
        return choose_roomiest(s, task);
    case FILL_IN_TURN:
        return choose_in_turn(s, task);
    }
    return keep_best(s->k, task);
}

/* ---- which task ---- */

/* Nothing that is ready fits: make room for one of those that stepped aside. */
static bool rescue(struct fill_state *s, uint32_t *stuck)
{
    *stuck = s->aside.n ? (uint32_t)heap_peek(&s->aside)->value : NONE;
    bool bound =
        s->f && ((s->f->node && !s->f->prefer && !s->f->sticky) || s->f->choice == FILL_IN_TURN);
    uint32_t asked = 0;
    while (!bound && s->aside.n && asked++ < ASIDE_ASKED) {
        struct heap_item first = heap_pop(&s->aside);
        uint32_t task = (uint32_t)first.value;
        if (keep_make_room(s->k, task)) {
            struct keep_slot slot = keep_best(s->k, task);
            if (slot.finish < INFINITY) {
                keep_place(s->k, task, slot);
                ready_done(&s->ready, task);
                return true;
            }
        }
    }
    return false;
}

/* Memory came free: some of those that stepped aside may fit now. */
static void ask_again(struct fill_state *s)
{
    for (uint32_t i = 0; i < ASIDE_ASKED && s->aside.n; i++) {
        struct heap_item back = heap_pop(&s->aside);
        heap_push(&s->open, back.key, back.value);
    }
}

/* Tasks that have begun are placed as they are, whatever memory says: nobody can change that. */
static void fill_begun(struct fill_state *s)
{
    const struct fill *f = s->f;
    size_t kept = 0;
    for (uint32_t i = 0; i < f->nbegun; i++) {
        const struct placement *x = &f->begun[i];
        keep_place(s->k, x->task, (struct keep_slot){x->node, x->core, x->start, x->finish});
        ready_done(&s->ready, x->task);
    }
    for (size_t i = 0; i < s->ready.fresh.n; i++)
        if (!keep_is_placed(s->k, s->ready.fresh.at[i]))
            s->ready.fresh.at[kept++] = s->ready.fresh.at[i];
    s->ready.fresh.n = kept;
    keep_from(s->k, f->now);
}

bool fill_schedule(struct keep_schedule *k, const struct fill *f, uint32_t *stuck)
{
    struct fill_state s;
    filling_init(&s, k, keep_workflow(k), keep_platform(k), f);
    bool good = true;
    uint32_t left = s.w->ntasks - f->nbegun;
    *stuck = NONE;
    fill_begun(&s);
    while (left && good) {
        ready_push(&s.ready, &s.open, f->key, 1);
        if (!s.open.n) {
            good = rescue(&s, stuck);
            left -= good;
            ask_again(&s);
            continue;
        }
        struct heap_item first = heap_pop(&s.open);
        struct keep_slot slot = choose_slot(&s, (uint32_t)first.value);
        if (slot.finish < INFINITY) {
            bool freed = keep_place(k, (uint32_t)first.value, slot);
            ready_done(&s.ready, (uint32_t)first.value);
            left--;
            good = !(f->longest && keep_makespan(k) > f->longest);
            if (freed)
                ask_again(&s);
            continue;
        }
        heap_push(&s.aside, first.key, first.value);
        if (f->strict) {
            good = rescue(&s, stuck);
            left -= good;
        }
    }
    filling_free(&s);
    return good;
}

/* `open` has the ready tasks by the end that they had when asked (0: never asked). Ends grow while the schedule fills, so that the
 * first is asked again, and goes back if it is the first no more; those whose end memory that came free brought
 * forward are asked when their turn comes. O(tasks log ready) but for those that are asked again. */
bool fill_smallest_end(struct keep_schedule *k, uint32_t *stuck)
{
    struct fill_state s;
    filling_init(&s, k, keep_workflow(k), keep_platform(k), NULL);
    bool good = true;
    uint32_t left = s.w->ntasks;
    *stuck = NONE;
    while (left && good) {
        for (size_t i = 0; i < s.ready.fresh.n; i++)
            heap_push(&s.open, 0, s.ready.fresh.at[i]);
        s.ready.fresh.n = 0;
        if (!s.open.n) {
            good = rescue(&s, stuck);
            left -= good;
            ask_again(&s);
            continue;
        }
        struct heap_item first = heap_pop(&s.open);
        struct keep_slot slot = keep_best(k, (uint32_t)first.value);
        if (!(slot.finish < INFINITY)) {
            heap_push(&s.aside, 0, first.value); /* 0: asked before all others when it is back */
        } else if (s.open.n && slot.finish > heap_peek(&s.open)->key) {
            heap_push(&s.open, slot.finish, first.value);
        } else {
            bool freed = keep_place(k, (uint32_t)first.value, slot);
            ready_done(&s.ready, (uint32_t)first.value);
            left--;
            if (freed)
                ask_again(&s);
        }
    }
    filling_free(&s);
    return good;
}
