/* A schedule under construction: idle slots, placing, trying and undoing. See schedule.h for what
 * it promises, schedule_state.h for how it is laid out, arrival.c for when data is where.
 *
 * Every core is a timeline of idle gaps (timeline.h), a node whose memory can run short has a
 * profile of bytes over time (profile.h), and port mode has timelines of channels (ports.h). An
 * estimate asks these in turn until a start satisfies all of them; placing books it in each.
 * `version` counts the changes, so that cached arrivals are known to be stale. */
#include "plan/list/schedule_state.h"

/* The shortest time of any task on each node: shorter gaps are useless. Slightly less, for
 * rounding. Without times of their own all tasks scale alike, so the least work tells for every
 * node. */
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

/* Only nodes whose cores together could ask for more than they have need a profile. */
static void fill_memory(struct schedule *s)
{
    double most = 0;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        most = fmax(most, s->w->memory[t]);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        if (s->p->cores[n] > 1 && s->p->cores[n] * most > s->p->memory[n])
            s->memory[n] = mem_new_zero(struct memory_profile, 1);
}

/* The start, moved on until what the task asks for is there for so long. By amounts: whether parts of
 * things with ids can be handed out so is seen when the plan is made (registry.c). */
static double find_things(const struct schedule *s, uint32_t task, uint32_t node, double start,
                          double seconds)
{
    const uint32_t *demand = s->things ? workflow_demand(s->w, task) : NULL;
    for (uint32_t i = 0; demand && i < s->w->nresources; i++)
        if (demand[i])
            start = profile_find(&s->things[(size_t)node * THING_SORTS + i],
                                 s->costs->node[node].thing[i], start, seconds, demand[i]);
    return start;
}

/* `sign` -1 gives it back. */
static void hold_things(struct schedule *s, const struct schedule_copy *copy, int sign)
{
    const uint32_t *demand = s->things ? workflow_demand(s->w, copy->task) : NULL;
    for (uint32_t i = 0; demand && i < s->w->nresources; i++)
        if (demand[i])
            profile_add(&s->things[(size_t)copy->node * THING_SORTS + i], copy->start, copy->finish,
                        sign * (double)demand[i]);
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
    s->memory = mem_new_zero(struct memory_profile *, nnodes);
    s->row = mem_new(double, nnodes);
    s->bound = mem_new(double, nnodes);
    fill_least(s);
    fill_memory(s);
    if (s->w->asks)
        s->things = mem_new_zero(struct memory_profile, (size_t)nnodes * THING_SORTS);
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
    for (size_t i = 0; s->things && i < (size_t)s->p->nnodes * THING_SORTS; i++)
        profile_free(&s->things[i]);
    free(s->things);
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
    for (size_t i = 0; s->things && i < (size_t)s->p->nnodes * THING_SORTS; i++)
        s->things[i].steps.n = 0;
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

/* ---- slots ---- */

/* The earliest stretch of idle cores for the task on the node from `ready` on. A task of several
 * cores takes neighbours c .. c + wanted - 1; their timelines and the memory are asked in turn
 * until none moves the start. Ties: the lowest core. */
static struct schedule_slot find_cores(const struct schedule *s, uint32_t task, uint32_t node,
                                       double ready, double seconds, bool insertion)
{
    struct schedule_slot best = {.node = node, .finish = INFINITY, .start = INFINITY};
    if (!(ready + seconds < INFINITY))
        return best;
    uint32_t first = s->core_off[node], cores = s->core_off[node + 1] - first;
    uint32_t wanted = s->w->cores[task];
    const struct memory_profile *memory = s->memory[node];
    bool holds = s->things && workflow_demand(s->w, task);
    for (uint32_t c = 0; c + wanted <= cores; c++) {
        double start = ready;
        /* each core and the memory may push the start on; again until none does */
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
            if (holds)
                start = find_things(s, task, node, start, seconds);
            if (wanted == 1 && !memory && !holds)
                break;
        }
        /* the earliest window; at `ready` no other can be earlier */
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
        return arrival_book_inputs(s, task, node, false);
    bool known = s->arrival.version == s->version && s->arrival.task == task;
    if (known || !arrival_needs_row(s)) {
        arrival_prepare(s, task);
        return arrival_at(s, node);
    }
    double ready = 0; /* a whole row for one node would be a waste */
    const struct workflow *w = s->w;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        if (s->copies.at[w->pred_task[e]].node != NONE)
            ready = fmax(ready, arrival_of_object(s, w->pred_task[e], w->pred_object[e], node));
    return ready;
}

double schedule_arrival(const struct schedule *s, uint32_t producer, uint32_t object, uint32_t node)
{
    return arrival_of_object(s, producer, object, node);
}

/* One node's answer, with its inputs, from `least` on; INFINITY where the task cannot run. */
static struct schedule_slot estimate_slot(struct schedule *s, uint32_t task, uint32_t node,
                                          bool insertion, double least)
{
    double seconds = costs_time(s->costs, task, node);
    if (!(seconds < INFINITY))
        return (struct schedule_slot){.node = node, .start = INFINITY, .finish = INFINITY};
    double ready = fmax(least, schedule_ready(s, task, node));
    return find_cores(s, task, node, ready, seconds, insertion);
}

struct schedule_slot schedule_earliest(struct schedule *s, uint32_t task, uint32_t node)
{
    return estimate_slot(s, task, node, true, 0);
}

struct schedule_slot schedule_append(struct schedule *s, uint32_t task, uint32_t node)
{
    return estimate_slot(s, task, node, false, 0);
}

struct schedule_slot schedule_from(struct schedule *s, uint32_t task, uint32_t node, bool insertion,
                                   double least)
{
    return estimate_slot(s, task, node, insertion, least);
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

/* Nodes where even an idle core would end too late are passed over: most are, once a good one is
 * known. */
struct schedule_slot schedule_best(struct schedule *s, uint32_t task)
{
    struct schedule_slot best = {.finish = INFINITY, .start = INFINITY};
    arrival_prepare(s, task);
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

/* Book the slot for copies[index]: inputs (port mode), cores, memory; noted for undo while trying.
 * `copies` may move while inputs are booked, so the pointer is taken again. */
static void occupy_slot(struct schedule *s, uint32_t index, struct schedule_slot slot)
{
    struct schedule_copy *copy = &s->copies.at[index];
    uint32_t task = copy->task;
    if (s->limited)
        arrival_book_inputs(s, task, slot.node, true);
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
    hold_things(s, copy, 1);
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

/* In reverse order of booking, which timelines and ports require. */
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
        hold_things(s, copy, -1);
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
