#include "plan/list/schedule.h"
#include "plan/list/ports.h"
#include "plan/list/profile.h"
#include "plan/list/timeline.h"
#include <string.h>

/* One copy of a task. The first copies stand at copies[task], further ones behind. */
struct schedule_copy {
    uint32_t node, core; /* node NONE: not placed */
    uint32_t task, more; /* next copy of the same task, NONE: none */
    double start, finish;
};

/* A booked transfer (port mode); `more` chains those of one object. */
struct schedule_delivery {
    uint32_t object, from, to, more;
    uint32_t source; /* index of the copy that sends */
    double start, finish;
};

/* An input that has to be sent (port mode). */
struct input_need {
    double finish; /* of the copy that sends */
    uint32_t object, source;
};

/* When the data of one task is where. On a uniform network without copies two numbers say it: every
 * node waits for `top`, but the node it comes from only for `second`; nobody starts before `floor`,
 * the last predecessor's end. */
struct arrival {
    uint32_t task;
    uint64_t version; /* of the schedule it was computed for; 0: nothing */
    double floor, top, second;
    uint32_t top_node;
    bool in_row; /* schedule->row holds it node by node */
};

struct undo_core {
    uint32_t line;
    struct timeline_booking done;
};

struct schedule {
    const struct costs *costs;
    const struct workflow *w;
    const struct platform *p;
    bool simple_network; /* uniform */

    /* nodes */
    uint32_t *core_off;          /* nnodes + 1: the node's timelines */
    struct core_timeline *lines; /* one a core */
    struct timeline_store store;
    double *least;           /* per node: the shortest time of any task */
    struct profile **memory; /* per node; NULL: memory cannot run short there */

    /* what is placed */
    ARRAY(struct schedule_copy) copies;
    double makespan;
    uint64_t version;
    struct arrival arrival;
    double *row;
    double *bound; /* per node, scratch of schedule_best() */

    /* port mode */
    bool limited;
    struct ports ports;
    ARRAY(struct schedule_delivery) deliveries;
    uint32_t *delivered; /* per object: its last delivery, NONE: none */
    ARRAY(struct input_need) needs;

    /* trying */
    bool trying;
    ARRAY(uint32_t) tried; /* indices of copies */
    ARRAY(struct undo_core) bookings;
    size_t deliveries_before, copies_before;
    double makespan_before;
};

/* The shortest time of any task on each node: shorter gaps are useless. Slightly less, for
 * rounding. */
static void fill_least(struct schedule *s)
{
    const struct workflow *w = s->w;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double least = INFINITY;
        if (s->costs->unrelated)
            for (uint32_t t = 0; t < w->ntasks; t++)
                least = fmin(least, costs_time(s->costs, t, n));
        s->least[n] = least;
    }
    if (!s->costs->unrelated) {
        double work = INFINITY;
        for (uint32_t t = 0; t < w->ntasks; t++)
            work = fmin(work, w->work[t]);
        for (uint32_t n = 0; n < s->p->nnodes && w->ntasks; n++)
            s->least[n] = work * s->costs->inverse_speed[n];
    }
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        s->least[n] *= 1 - 1e-9;
}

static void fill_memory(struct schedule *s)
{
    double most = 0;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        most = fmax(most, s->w->memory[t]);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        if (s->p->cores[n] > 1 && s->p->cores[n] * most > s->p->memory[n])
            s->memory[n] = mem_new_zero(struct profile, 1);
}

struct schedule *schedule_new(const struct costs *costs)
{
    struct schedule *s = mem_new_zero(struct schedule, 1);
    s->costs = costs;
    s->w = costs->workflow;
    s->p = costs->platform;
    s->simple_network = platform_is_uniform(s->p);
    uint32_t nnodes = s->p->nnodes;
    s->core_off = mem_new(uint32_t, nnodes + 1u);
    s->core_off[0] = 0;
    for (uint32_t n = 0; n < nnodes; n++)
        s->core_off[n + 1] = s->core_off[n] + s->p->cores[n];
    s->lines = mem_new(struct core_timeline, s->core_off[nnodes]);
    s->least = mem_new(double, nnodes);
    s->memory = mem_new_zero(struct profile *, nnodes);
    s->row = mem_new(double, nnodes);
    s->bound = mem_new(double, nnodes);
    fill_least(s);
    fill_memory(s);
    s->limited = platform_limits_ports(s->p);
    if (s->limited) {
        ports_init(&s->ports, s->p);
        s->delivered = mem_new(uint32_t, s->w->nobjects);
    }
    schedule_reset(s);
    return s;
}

void schedule_free(struct schedule *s)
{
    if (!s)
        return;
    free(s->core_off);
    free(s->lines);
    timeline_store_free(&s->store);
    free(s->least);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        if (s->memory[n]) {
            profile_free(s->memory[n]);
            free(s->memory[n]);
        }
    free(s->memory);
    free(s->row);
    free(s->bound);
    array_free(&s->copies);
    if (s->limited)
        ports_free(&s->ports);
    array_free(&s->deliveries);
    free(s->delivered);
    array_free(&s->needs);
    array_free(&s->tried);
    array_free(&s->bookings);
    free(s);
}

void schedule_reset(struct schedule *s)
{
    timeline_store_clear(&s->store);
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        for (uint32_t c = s->core_off[n]; c < s->core_off[n + 1]; c++)
            timeline_init(&s->lines[c], s->least[n]);
        if (s->memory[n])
            s->memory[n]->steps.n = 0;
    }
    array_reserve(&s->copies, s->w->ntasks);
    s->copies.n = s->w->ntasks;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        s->copies.at[t] = (struct schedule_copy){.node = NONE, .task = t, .more = NONE};
    s->makespan = 0;
    s->version++;
    s->trying = false;
    s->tried.n = s->bookings.n = 0;
    if (s->limited) {
        ports_clear(&s->ports);
        s->deliveries.n = 0;
        for (uint32_t o = 0; o < s->w->nobjects; o++)
            s->delivered[o] = NONE;
    }
}

/* ---- when is the data there ---- */

static double object_transfer_time(const struct schedule *s, uint32_t from, uint32_t to,
                                   uint32_t object)
{
    double seconds = platform_transfer(s->p, from, to, s->w->size[object]);
    return seconds == seconds ? seconds : INFINITY; /* 0 bytes over a link without bandwidth */
}

/* When `object` (NONE: only the end of `producer`) can be on `node`, without contention. */
static double object_arrival(const struct schedule *s, uint32_t producer, uint32_t object,
                             uint32_t node)
{
    double best = INFINITY;
    for (uint32_t c = producer; c != NONE; c = s->copies.at[c].more) {
        const struct schedule_copy *copy = &s->copies.at[c];
        double there = copy->finish;
        if (object != NONE && copy->node != node)
            there += object_transfer_time(s, copy->node, node, object);
        best = fmin(best, there);
    }
    return best;
}

/* Copies and pairs that differ need the arrivals node by node. */
static bool needs_row(const struct schedule *s)
{
    return !s->simple_network || s->copies.n > s->w->ntasks;
}

/* Fill s->arrival for a task: what holds without contention. */
static void compute_arrival(struct schedule *s, uint32_t task)
{
    struct arrival *a = &s->arrival;
    if (a->version == s->version && a->task == task)
        return;
    const struct workflow *w = s->w;
    *a = (struct arrival){.task = task, .version = s->version, .top_node = NONE};
    a->in_row = needs_row(s);
    if (a->in_row)
        memset(s->row, 0, s->p->nnodes * sizeof *s->row);
    double latency = s->p->latency, bandwidth = s->p->bandwidth;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        const struct schedule_copy *copy = &s->copies.at[from];
        if (copy->node == NONE)
            continue;
        if (a->in_row) {
            for (uint32_t n = 0; n < s->p->nnodes; n++)
                s->row[n] = fmax(s->row[n], object_arrival(s, from, object, n));
            continue;
        }
        if (copy->finish > a->floor)
            a->floor = copy->finish;
        if (object == NONE)
            continue;
        double seconds = latency + w->size[object] / bandwidth;
        double there = copy->finish + (seconds == seconds ? seconds : INFINITY);
        if (copy->node == a->top_node) {
            a->top = there > a->top ? there : a->top;
        } else if (there > a->top) {
            a->second = a->top;
            a->top = there;
            a->top_node = copy->node;
        } else if (there > a->second) {
            a->second = there;
        }
    }
}

static inline double arrival_at(const struct schedule *s, uint32_t node)
{
    const struct arrival *a = &s->arrival;
    if (a->in_row)
        return s->row[node];
    double remote = node == a->top_node ? a->second : a->top;
    return remote > a->floor ? remote : a->floor;
}

static uint32_t find_delivery(const struct schedule *s, uint32_t object, uint32_t node)
{
    uint32_t d = s->delivered[object];
    while (d != NONE && s->deliveries.at[d].to != node)
        d = s->deliveries.at[d].more;
    return d;
}

static int compare_needs(const void *a, const void *b)
{
    const struct input_need *x = a, *y = b;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Port mode: book the transfers that bring the task's data to the node, those that can leave first
 * first (ties: lowest object); returns when all is there. Without `keep` nothing remains booked. */
static double book_inputs(struct schedule *s, uint32_t task, uint32_t node, bool keep)
{
    const struct workflow *w = s->w;
    double ready = 0;
    s->needs.n = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        if (s->copies.at[from].node == NONE)
            continue;
        if (object == NONE) {
            ready = fmax(ready, object_arrival(s, from, NONE, node));
            continue;
        }
        double here = INFINITY, soonest = INFINITY;
        uint32_t source = NONE;
        for (uint32_t c = from; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (copy->node == node)
                here = fmin(here, copy->finish);
            double there = copy->finish + object_transfer_time(s, copy->node, node, object);
            if (there < soonest) {
                soonest = there;
                source = c;
            }
        }
        uint32_t d = find_delivery(s, object, node);
        if (d != NONE)
            here = fmin(here, s->deliveries.at[d].finish);
        if (here < INFINITY)
            ready = fmax(ready, here);
        else if (source == NONE)
            return INFINITY;
        else
            array_push(&s->needs, (struct input_need){s->copies.at[source].finish, object, source});
    }
    if (s->needs.n > 1)
        qsort(s->needs.at, s->needs.n, sizeof *s->needs.at, compare_needs);
    bool journaling = s->ports.journaling;
    size_t mark = ports_mark(&s->ports);
    s->ports.journaling |= !keep;
    for (size_t i = 0; i < s->needs.n; i++) {
        const struct input_need *need = &s->needs.at[i];
        uint32_t from = s->copies.at[need->source].node;
        double seconds = object_transfer_time(s, from, node, need->object);
        struct ports_slot slot = ports_find(&s->ports, from, node, need->finish, seconds);
        ready = fmax(ready, slot.finish);
        ports_book(&s->ports, from, node, &slot);
        if (!keep)
            continue;
        array_push(&s->deliveries,
                   (struct schedule_delivery){need->object, from, node, s->delivered[need->object],
                                              need->source, slot.start, slot.finish});
        s->delivered[need->object] = (uint32_t)s->deliveries.n - 1;
    }
    if (!keep)
        ports_rollback(&s->ports, mark);
    s->ports.journaling = journaling;
    return ready;
}

/* ---- slots ---- */

/* The earliest stretch of idle cores for the task on the node from `ready` on. */
static struct schedule_slot find_cores(const struct schedule *s, uint32_t task, uint32_t node,
                                       double ready, double seconds, bool insertion)
{
    struct schedule_slot best = {.node = node, .finish = INFINITY, .start = INFINITY};
    if (!(ready + seconds < INFINITY))
        return best;
    uint32_t first = s->core_off[node], cores = s->core_off[node + 1] - first;
    uint32_t wanted = s->w->cores[task];
    const struct profile *memory = s->memory[node];
    for (uint32_t c = 0; c + wanted <= cores; c++) {
        double start = ready;
        for (double before = -1; start > before;) {
            before = start;
            for (uint32_t k = c; k < c + wanted; k++) {
                const struct core_timeline *line = &s->lines[first + k];
                if (insertion)
                    start = timeline_find(&s->store, line, start, seconds);
                else
                    start = start > line->tail ? start : line->tail;
            }
            if (memory)
                start =
                    profile_find(memory, s->p->memory[node], start, seconds, s->w->memory[task]);
            if (wanted == 1 && !memory)
                break;
        }
        if (start < best.start) {
            best.start = start;
            best.core = c;
            if (start == ready)
                break;
        }
    }
    best.finish = best.start + seconds;
    return best;
}

double schedule_ready(struct schedule *s, uint32_t task, uint32_t node)
{
    if (s->limited)
        return book_inputs(s, task, node, false);
    bool known = s->arrival.version == s->version && s->arrival.task == task;
    if (known || !needs_row(s)) {
        compute_arrival(s, task);
        return arrival_at(s, node);
    }
    double ready = 0; /* a whole row for one node would be a waste */
    const struct workflow *w = s->w;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        if (s->copies.at[w->pred_task[e]].node != NONE)
            ready = fmax(ready, object_arrival(s, w->pred_task[e], w->pred_object[e], node));
    return ready;
}

double schedule_arrival(const struct schedule *s, uint32_t producer, uint32_t object, uint32_t node)
{
    return object_arrival(s, producer, object, node);
}

static struct schedule_slot estimate_slot(struct schedule *s, uint32_t task, uint32_t node,
                                          bool insertion)
{
    double seconds = costs_time(s->costs, task, node);
    if (!(seconds < INFINITY))
        return (struct schedule_slot){.node = node, .start = INFINITY, .finish = INFINITY};
    return find_cores(s, task, node, schedule_ready(s, task, node), seconds, insertion);
}

struct schedule_slot schedule_earliest(struct schedule *s, uint32_t task, uint32_t node)
{
    return estimate_slot(s, task, node, true);
}

struct schedule_slot schedule_append(struct schedule *s, uint32_t task, uint32_t node)
{
    return estimate_slot(s, task, node, false);
}

/* schedule_best() with ports: booking all inputs to ask one node is dear, so the contention-free
 * end, which can only be exceeded, decides who is asked; the most promising node first. */
static struct schedule_slot best_limited(struct schedule *s, uint32_t task)
{
    struct schedule_slot best = {.finish = INFINITY, .start = INFINITY, .node = NONE};
    double least = INFINITY;
    uint32_t promising = NONE;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double seconds = costs_time(s->costs, task, n);
        s->bound[n] = find_cores(s, task, n, arrival_at(s, n), seconds, true).finish;
        if (s->bound[n] < least) {
            least = s->bound[n];
            promising = n;
        }
    }
    if (promising == NONE)
        return best;
    best = schedule_earliest(s, task, promising);
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        bool hopeless = s->bound[n] > best.finish || (s->bound[n] == best.finish && n > best.node);
        if (n == promising || hopeless || !(s->bound[n] < INFINITY))
            continue;
        struct schedule_slot slot = schedule_earliest(s, task, n);
        if (slot.finish < best.finish || (slot.finish == best.finish && n < best.node))
            best = slot;
    }
    return best;
}

struct schedule_slot schedule_best(struct schedule *s, uint32_t task)
{
    struct schedule_slot best = {.finish = INFINITY, .start = INFINITY};
    compute_arrival(s, task);
    if (s->limited)
        return best_limited(s, task);
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double seconds = costs_time(s->costs, task, n), ready = arrival_at(s, n);
        if (!(ready + seconds < best.finish))
            continue;
        struct schedule_slot slot = find_cores(s, task, n, ready, seconds, true);
        if (slot.finish < best.finish)
            best = slot;
    }
    return best;
}

/* ---- placing ---- */

static void occupy_slot(struct schedule *s, uint32_t index, struct schedule_slot slot)
{
    struct schedule_copy *copy = &s->copies.at[index];
    uint32_t task = copy->task;
    if (s->limited)
        book_inputs(s, task, slot.node, true);
    copy = &s->copies.at[index];
    copy->node = slot.node;
    copy->core = slot.core;
    copy->start = slot.start;
    copy->finish = slot.finish;
    for (uint32_t k = 0; k < s->w->cores[task]; k++) {
        uint32_t line = s->core_off[slot.node] + slot.core + k;
        struct timeline_booking done =
            timeline_book(&s->store, &s->lines[line], slot.start, slot.finish);
        if (s->trying)
            array_push(&s->bookings, (struct undo_core){line, done});
    }
    if (s->memory[slot.node])
        profile_add(s->memory[slot.node], slot.start, slot.finish, s->w->memory[task]);
    if (s->trying)
        array_push(&s->tried, index);
    if (slot.finish > s->makespan)
        s->makespan = slot.finish;
    s->version++;
}

void schedule_place(struct schedule *s, uint32_t task, struct schedule_slot slot)
{
    occupy_slot(s, task, slot);
}

void schedule_duplicate(struct schedule *s, uint32_t task, struct schedule_slot slot)
{
    uint32_t index = (uint32_t)s->copies.n, last = task;
    while (s->copies.at[last].more != NONE)
        last = s->copies.at[last].more;
    array_push(&s->copies, (struct schedule_copy){.node = NONE, .task = task, .more = NONE});
    occupy_slot(s, index, slot); /* links it only now: it cannot feed itself */
    s->copies.at[last].more = index;
}

bool schedule_has_copy(const struct schedule *s, uint32_t task, uint32_t node)
{
    for (uint32_t c = task; c != NONE; c = s->copies.at[c].more)
        if (s->copies.at[c].node == node)
            return true;
    return false;
}

void schedule_try(struct schedule *s)
{
    s->trying = true;
    s->tried.n = s->bookings.n = 0;
    s->deliveries_before = s->deliveries.n;
    s->copies_before = s->copies.n;
    s->makespan_before = s->makespan;
    if (s->limited) {
        s->ports.journal.n = 0;
        s->ports.journaling = true;
    }
}

void schedule_undo(struct schedule *s)
{
    while (s->bookings.n) {
        struct undo_core last = array_pop(&s->bookings);
        timeline_unbook(&s->store, &s->lines[last.line], &last.done);
    }
    while (s->tried.n) {
        uint32_t index = array_pop(&s->tried);
        struct schedule_copy *copy = &s->copies.at[index];
        if (s->memory[copy->node])
            profile_add(s->memory[copy->node], copy->start, copy->finish,
                        -s->w->memory[copy->task]);
        copy->node = NONE;
        if (index < s->w->ntasks)
            continue;
        uint32_t last = copy->task;
        while (s->copies.at[last].more != index)
            last = s->copies.at[last].more;
        s->copies.at[last].more = copy->more;
    }
    s->copies.n = s->copies_before;
    while (s->limited && s->deliveries.n > s->deliveries_before) {
        struct schedule_delivery last = array_pop(&s->deliveries);
        s->delivered[last.object] = last.more;
    }
    if (s->limited) {
        ports_rollback(&s->ports, 0);
        s->ports.journaling = false;
    }
    s->makespan = s->makespan_before;
    s->trying = false;
    s->version++;
}

bool schedule_is_placed(const struct schedule *s, uint32_t task)
{
    return s->copies.at[task].node != NONE;
}

uint32_t schedule_node(const struct schedule *s, uint32_t task)
{
    return s->copies.at[task].node;
}

double schedule_start(const struct schedule *s, uint32_t task)
{
    return s->copies.at[task].start;
}

double schedule_finish(const struct schedule *s, uint32_t task)
{
    return s->copies.at[task].finish;
}

double schedule_available(const struct schedule *s, uint32_t node)
{
    double least = INFINITY;
    for (uint32_t c = s->core_off[node]; c < s->core_off[node + 1]; c++)
        least = fmin(least, s->lines[c].tail);
    return least;
}

double schedule_makespan(const struct schedule *s)
{
    return s->makespan;
}

/* ---- the plan ---- */

/* The copy of `producer` (of those in `used`; NULL: all) that serves a task that starts at `start`
 * on `node`: one on that node that ends in time, else the one whose object is there first; ties:
 * the lowest copy. */
static uint32_t serving_copy(const struct schedule *s, const bool *used, uint32_t producer,
                             uint32_t object, uint32_t node, double start)
{
    double best = INFINITY;
    uint32_t serving = NONE;
    for (uint32_t c = producer; c != NONE; c = s->copies.at[c].more) {
        const struct schedule_copy *copy = &s->copies.at[c];
        if (used && !used[c])
            continue;
        if (copy->node == node && copy->finish <= start)
            return c;
        double there = copy->finish;
        if (object != NONE)
            there += object_transfer_time(s, copy->node, node, object);
        if (there < best) {
            best = there;
            serving = c;
        }
    }
    return serving;
}

/* Copies and deliveries that somebody needs: a copy of every last task, and backwards what feeds
 * them. */
static void mark_used(const struct schedule *s, bool *used, bool *used_delivery)
{
    const struct workflow *w = s->w;
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t task = w->topo[i];
        if (w->succ_off[task] == w->succ_off[task + 1])
            used[task] = true;
        for (uint32_t c = task; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (!used[c] || copy->node == NONE)
                continue;
            for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
                uint32_t object = w->pred_object[e];
                uint32_t serving =
                    serving_copy(s, NULL, w->pred_task[e], object, copy->node, copy->start);
                if (s->limited && object != NONE && s->copies.at[serving].node != copy->node) {
                    uint32_t d = find_delivery(s, object, copy->node);
                    used_delivery[d] = true;
                    serving = s->deliveries.at[d].source;
                }
                used[serving] = true;
            }
        }
    }
}

/* Contention-free: every object goes to every node that reads it, as soon as it is made. */
static void add_transfers(const struct schedule *s, const bool *used, struct plan *plan)
{
    const struct workflow *w = s->w;
    uint32_t *sent = mem_new_zero(uint32_t, s->p->nnodes); /* object + 1 that was last sent there */
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t producer = w->producer[o], count;
        if (producer == NONE || s->copies.at[producer].node == NONE)
            continue;
        const uint32_t *consumer = workflow_consumers(w, o, &count);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = consumer[i]; c != NONE; c = s->copies.at[c].more) {
                const struct schedule_copy *copy = &s->copies.at[c];
                if (copy->node == NONE || sent[copy->node] == o + 1 || (used && !used[c]))
                    continue;
                const struct schedule_copy *from = &s->copies.at[producer];
                if (used)
                    from =
                        &s->copies.at[serving_copy(s, used, producer, o, copy->node, copy->start)];
                if (from->node == copy->node)
                    continue;
                sent[copy->node] = o + 1;
                double seconds = object_transfer_time(s, from->node, copy->node, o);
                array_push(&plan->transfers,
                           (struct transfer){o, from->node, copy->node, from->finish,
                                             from->finish + seconds});
            }
    }
    free(sent);
}

struct plan *schedule_plan(struct schedule *s)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    bool *used = NULL, *used_delivery = NULL;
    if (s->copies.n > s->w->ntasks) {
        used = mem_new_zero(bool, s->copies.n);
        used_delivery = mem_new_zero(bool, s->deliveries.n + 1);
        mark_used(s, used, used_delivery);
    }
    array_reserve(&plan->placements, s->copies.n);
    for (uint32_t t = 0; t < s->w->ntasks; t++) {
        uint32_t number = 0;
        for (uint32_t c = t; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (copy->node == NONE || (used && !used[c]))
                continue;
            array_push(&plan->placements, (struct placement){t, number++, copy->node, copy->core,
                                                             copy->start, copy->finish});
        }
    }
    if (s->limited) {
        for (size_t i = 0; i < s->deliveries.n; i++) {
            const struct schedule_delivery *d = &s->deliveries.at[i];
            if (!used_delivery || used_delivery[i])
                array_push(&plan->transfers,
                           (struct transfer){d->object, d->from, d->to, d->start, d->finish});
        }
    } else {
        add_transfers(s, used, plan);
    }
    free(used);
    free(used_delivery);
    plan_sort(plan);
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}
