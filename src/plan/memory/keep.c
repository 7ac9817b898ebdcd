/* Slots and placing in a schedule that keeps to memory; keep.h says how it works, keep_state.h how it is
 * laid out, keep_move.c moves files out of the way. */
#include "plan/memory/keep_state.h"

/* ---- steps of memory ---- */

size_t keep_steps_until(const struct keep_line *line, double time)
{
    size_t low = 0, high = line->steps.n;
    /* nearly always near the end */
    if (high > 16 && line->steps.at[high - 16].time <= time)
        low = high - 16;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line->steps.at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The step at exactly this time, made if there is none: it goes on as the one before it. Bookings are mostly
 * made near the end, so that little is moved. */
static size_t keep_split(struct keep_line *line, double time)
{
    size_t i = keep_steps_until(line, time);
    if (i && line->steps.at[i - 1].time == time)
        return i - 1;
    double used = i ? line->steps.at[i - 1].used : 0;
    (void)array_add(&line->steps);
    memmove(&line->steps.at[i + 1], &line->steps.at[i],
            (line->steps.n - 1 - i) * sizeof *line->steps.at);
    line->steps.at[i] = (struct keep_step){time, used};
    return i;
}

void keep_add(struct keep_schedule *k, uint32_t node, double from, double to, double bytes)
{
    struct keep_line *line = &k->line[node];
    if (isinf(k->p->memory[node]) || bytes == 0 || !(to > from))
        return;
    size_t first = keep_split(line, from), last = isinf(to) ? line->steps.n : keep_split(line, to);
    for (size_t i = first; i < last; i++)
        line->steps.at[i].used += bytes;
}

/* O(log steps + steps in between). */
double keep_used_within(const struct keep_schedule *k, uint32_t node, double from, double to)
{
    const struct keep_line *line = &k->line[node];
    size_t i = keep_steps_until(line, from);
    double most = i ? line->steps.at[i - 1].used : 0;
    for (; i < line->steps.n && line->steps.at[i].time < to; i++)
        most = keep_max(most, line->steps.at[i].used);
    return most;
}

double keep_room(const struct keep_schedule *k, uint32_t node)
{
    const struct keep_line *line = &k->line[node];
    return k->p->memory[node] - (line->steps.n ? array_last(&line->steps).used : 0);
}

/* ---- life ---- */

struct keep_schedule *keep_new(const struct costs *costs)
{
    struct keep_schedule *k = mem_new_zero(struct keep_schedule, 1);
    const struct workflow *w = k->w = costs->workflow;
    k->bytes = platform_counts_files(costs->platform, w) ? w->size : NULL;
    const struct platform *p = k->p = costs->platform;
    k->costs = costs;
    k->task = mem_new(struct kept_task, w->ntasks);
    k->file = mem_new(struct kept_file, w->nobjects);
    k->line = mem_new_zero(struct keep_line, p->nnodes);
    k->core_off = mem_new(uint32_t, p->nnodes + 1u);
    k->core_off[0] = 0;
    for (uint32_t n = 0; n < p->nnodes; n++)
        k->core_off[n + 1] = k->core_off[n] + p->cores[n];
    k->core = mem_new(struct core_timeline, k->core_off[p->nnodes]);
    k->row = mem_new(struct keep_row, p->nnodes);
    k->soonest = mem_new(double, p->nnodes);
    k->needs = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        k->needs[t] = k->bytes ? keep_task_bytes(w, t) : w->memory[t];
    keep_reset(k);
    return k;
}

void keep_free(struct keep_schedule *k)
{
    if (!k)
        return;
    for (uint32_t n = 0; n < k->p->nnodes; n++)
        array_free(&k->line[n].steps);
    timeline_store_free(&k->store);
    array_free(&k->copies);
    array_free(&k->transfers);
    array_free(&k->waiting);
    free(k->task);
    free(k->file);
    free(k->line);
    free(k->core_off);
    free(k->core);
    free(k->row);
    free(k->soonest);
    free(k->needs);
    free(k);
}

void keep_reset(struct keep_schedule *k)
{
    for (uint32_t t = 0; t < k->w->ntasks; t++)
        k->task[t].node = NONE;
    for (uint32_t o = 0; o < k->w->nobjects; o++)
        k->file[o] = (struct kept_file){.owner = NONE, .copies = NONE};
    timeline_store_clear(&k->store);
    for (uint32_t n = 0; n < k->p->nnodes; n++) {
        k->line[n].steps.n = 0;
        for (uint32_t c = k->core_off[n]; c < k->core_off[n + 1]; c++)
            timeline_init(&k->core[c], 0);
    }
    k->copies.n = k->transfers.n = k->waiting.n = 0;
    k->makespan = k->now = 0;
    k->moves = 0;
    k->prepared = NONE;
}

void keep_from(struct keep_schedule *k, double now)
{
    k->now = now;
    k->prepared = NONE;
}

/* When a file can leave its owner. */
static double keep_leaves(const struct keep_schedule *k, const struct kept_file *f)
{
    return keep_max(f->ready, k->now);
}

/* ---- estimates ---- */

/* What one input means for a node: when it can be there, whether it must be brought, and for how long it travels. */
static void keep_row_input(const struct keep_schedule *k, struct keep_row *row, uint32_t node,
                           uint32_t object)
{
    const struct kept_file *f = &k->file[object];
    double bytes = keep_bytes(k, object);
    if (node == f->owner) {
        row->ready = keep_max(row->ready, f->ready);
        if (f->left == 1) {
            row->freed += bytes;
            row->freed_at = keep_max(row->freed_at, f->last);
        }
        return;
    }
    double seconds = platform_transfer(k->p, f->owner, node, k->w->size[object]);
    if (isnan(seconds))
        seconds = INFINITY;
    row->ready = keep_max(row->ready, keep_leaves(k, f) + seconds);
    row->brought += bytes;
    row->lead = keep_max(row->lead, seconds);
}

static struct keep_row keep_row_of(const struct keep_schedule *k, uint32_t task, uint32_t node)
{
    const struct workflow *w = k->w;
    struct keep_row row = {.ready = k->now};
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e];
        if (o == NONE)
            row.ready = keep_max(row.ready, k->task[w->pred_task[e]].finish);
        else
            keep_row_input(k, &row, node, o);
    }
    return row;
}

/* Where all links are alike, a node that owns none of the inputs is like all others that own none: their row is made
 * once. O(nodes + inputs x owners), not inputs x nodes. */
static void keep_rows(struct keep_schedule *k, uint32_t task)
{
    const struct workflow *w = k->w;
    bool uniform = platform_is_uniform(k->p);
    struct keep_row elsewhere = {0};
    if (uniform)
        elsewhere = keep_row_of(k, task, NONE);
    for (uint32_t n = 0; n < k->p->nnodes; n++)
        k->row[n] = uniform ? elsewhere : keep_row_of(k, task, n);
    for (uint32_t e = w->pred_off[task]; uniform && e < w->pred_off[task + 1]; e++) {
        uint32_t owner = w->pred_object[e] == NONE ? NONE : k->file[w->pred_object[e]].owner;
        if (owner == NONE || k->row[owner].owns)
            continue;
        k->row[owner] = keep_row_of(k, task, owner);
        k->row[owner].owns = true;
    }
}

static void keep_prepare(struct keep_schedule *k, uint32_t task)
{
    const struct workflow *w = k->w;
    keep_rows(k, task);
    k->inside = w->memory[task];
    k->outputs = 0;
    for (uint32_t i = w->input_off ? w->input_off[task] : 0;
         w->input_off && i < w->input_off[task + 1]; i++)
        k->inside += keep_bytes(k, w->input_object[i]);
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        if (workflow_is_intermediate(w, o))
            k->outputs += keep_bytes(k, o);
        else
            k->inside += keep_bytes(k, o);
    }
    k->prepared = task;
}

/* What the task takes at a time, when it starts then: its inputs while they travel, all while it runs, then
 * its outputs, less the inputs that nobody needs any more. */
static double keep_demand(const struct keep_schedule *k, const struct keep_row *row, double time,
                          double start, double finish)
{
    if (time < start)
        return row->brought;
    if (time < finish)
        return row->brought + k->inside + k->outputs;
    return k->outputs - (time >= row->freed_at ? row->freed : 0);
}

/* The start, moved on until memory suffices from the first transfer on for good; INFINITY: never. From
 * the last step back: the last violation rules out every start before it. */
static double keep_find_memory(const struct keep_schedule *k, uint32_t node, double start,
                               double seconds)
{
    const struct keep_line *line = &k->line[node];
    const struct keep_row *row = &k->row[node];
    double limit = k->p->memory[node] * (1 + 1e-12);
    if (isinf(limit))
        return start;
    if (row->brought + k->inside + k->outputs > limit)
        return INFINITY;
    for (bool again = true; again;) {
        again = false;
        /* b + lead - lead may be a rounding less than b: that is no overlap */
        double from = keep_max(start - row->lead, 0) + 1e-12 * keep_max(1, start);
        size_t low = keep_steps_until(line, from);
        for (size_t i = line->steps.n; i-- > (low ? low - 1 : 0);) {
            /* within one step the demand differs by phase: it is asked at each that the step has */
            double a = keep_max(line->steps.at[i].time, from);
            double b = i + 1 < line->steps.n ? line->steps.at[i + 1].time : INFINITY;
            double finish = start + seconds, used = line->steps.at[i].used;
            double most = keep_demand(k, row, a, start, finish);
            if (start > a && start < b)
                most = keep_max(most, keep_demand(k, row, start, start, finish));
            if (finish > a && finish < b)
                most = keep_max(most, keep_demand(k, row, finish, start, finish));
            if (used + most <= limit)
                continue;
            if (isinf(b)) /* the tail is there for good */
                return INFINITY;
            /* a step before the start is in the way of the transfers only */
            start = a < start && used + row->brought > limit ? b + row->lead : b;
            again = true;
            break;
        }
    }
    return start;
}

/* False: what the prepared task leaves there never fits beside what waits for good. Most nodes of a schedule that
 * memory holds up answer here, before cores and steps are looked at. */
static bool keep_fits_tail(const struct keep_schedule *k, uint32_t node)
{
    const struct keep_row *row = &k->row[node];
    double limit = k->p->memory[node] * (1 + 1e-12), tail = k->p->memory[node] - keep_room(k, node);
    return isinf(limit) || (tail + k->outputs - row->freed <= limit &&
                            row->brought + k->inside + k->outputs <= limit);
}

/* Cores and memory may each push the start on; again until neither does. Neighbouring cores for a task of
 * several, the lowest first. */
struct keep_slot keep_earliest(struct keep_schedule *k, uint32_t task, uint32_t node)
{
    struct keep_slot none = {node, 0, INFINITY, INFINITY}, best = none;
    double seconds = costs_time(k->costs, task, node);
    if (k->prepared != task)
        keep_prepare(k, task);
    double ready = k->row[node].ready;
    if (!(ready + seconds < INFINITY))
        return none;
    if (!keep_fits_tail(k, node))
        return none;
    uint32_t wanted = k->w->cores[task], cores = k->p->cores[node];
    for (uint32_t c = 0; c + wanted <= cores; c++) {
        double start = ready;
        for (double before = -1; start > before && start < INFINITY;) {
            before = start;
            for (uint32_t i = c; i < c + wanted; i++)
                start = timeline_find(&k->store, &k->core[k->core_off[node] + i], start, seconds);
            start = keep_find_memory(k, node, start, seconds);
        }
        if (start < best.start)
            best = (struct keep_slot){node, c, start, start + seconds};
        if (start == ready)
            break;
    }
    return best;
}

/* The soonest end by data, and by the core where there is only one; INFINITY: it never fits. Cheap, and never later than
 * what keep_earliest() finds. */
static double keep_soonest(const struct keep_schedule *k, uint32_t task, uint32_t node)
{
    double start = k->row[node].ready, seconds = costs_time(k->costs, task, node);
    if (!(start + seconds < INFINITY) || !keep_fits_tail(k, node))
        return INFINITY;
    if (k->p->cores[node] == 1)
        start = timeline_find(&k->store, &k->core[k->core_off[node]], start, seconds);
    return start + seconds;
}

bool keep_can_beat(struct keep_schedule *k, uint32_t task, uint32_t node, double finish)
{
    if (k->prepared != task)
        keep_prepare(k, task);
    return keep_soonest(k, task, node) < finish;
}

/* Memory is what takes time to look at. So the node that would be best without it comes first, and of the others only
 * those that could beat what was found. */
struct keep_slot keep_best(struct keep_schedule *k, uint32_t task)
{
    struct keep_slot best = {NONE, 0, INFINITY, INFINITY};
    uint32_t first = 0;
    keep_prepare(k, task);
    for (uint32_t n = 0; n < k->p->nnodes; n++) {
        k->soonest[n] = keep_soonest(k, task, n);
        if (k->soonest[n] < k->soonest[first])
            first = n;
    }
    if (k->soonest[first] < INFINITY)
        best = keep_earliest(k, task, first);
    if (!(best.finish < INFINITY))
        best.node = NONE;
    for (uint32_t n = 0; n < k->p->nnodes; n++) {
        /* of equal ends the lowest node's counts */
        bool lower = n < best.node && best.node != NONE;
        if (n == first || k->soonest[n] > best.finish || (k->soonest[n] == best.finish && !lower))
            continue;
        struct keep_slot slot = keep_earliest(k, task, n);
        if (slot.finish < best.finish || (slot.finish == best.finish && lower))
            best = slot;
    }
    return best;
}

/* ---- placing ---- */

/* When the transfer of an input leaves: so that it arrives when the task starts, or at once where the
 * receiver has the larger share of its memory free. */
static double keep_departure(const struct keep_schedule *k, const struct kept_file *f,
                             uint32_t node, double seconds, double start, double size)
{
    double early = keep_leaves(k, f), late = keep_max(start - seconds, early);
    double limit = k->p->memory[node], sender = k->p->memory[f->owner];
    if (!(late > early) || isinf(sender))
        return late;
    if (isinf(limit))
        return early;
    /* a sender that is not even half full needs no relief; looking at all steps of a long wait costs */
    if (keep_room(k, f->owner) > sender / 2)
        return late;
    double used = keep_used_within(k, node, early, late);
    bool roomier = (limit - used - size) / limit > keep_room(k, f->owner) / sender;
    return used + size <= limit && roomier ? early : late;
}

/* Lengthen the copy that is there, or bring the file again, whichever memory allows. */
static void keep_bring(struct keep_schedule *k, uint32_t object, struct keep_slot slot)
{
    struct kept_file *f = &k->file[object];
    double size = keep_bytes(k, object);
    double seconds = platform_transfer(k->p, f->owner, slot.node, k->w->size[object]);
    for (uint32_t c = f->copies; c != NONE; c = k->copies.at[c].more) {
        struct kept_copy *copy = &k->copies.at[c];
        if (copy->node != slot.node)
            continue;
        if (copy->ready > slot.start)
            break; /* for a task that starts later: this one must have it sooner */
        if (copy->until >= slot.finish)
            return;
        double late = keep_max(slot.start - seconds, keep_leaves(k, f));
        bool room =
            copy->until >= late ||
            keep_used_within(k, slot.node, copy->until, late) + size <= k->p->memory[slot.node];
        if (room) {
            keep_add(k, slot.node, copy->until, slot.finish, size);
            copy->until = slot.finish;
            return;
        }
        break; /* an older one is longer gone */
    }
    double leaves = keep_departure(k, f, slot.node, seconds, slot.start, size);
    array_push(&k->transfers,
               (struct transfer){object, f->owner, slot.node, leaves, leaves + seconds});
    keep_add(k, slot.node, leaves, slot.finish, size);
    array_push(&k->copies, (struct kept_copy){slot.node, f->copies, leaves + seconds, slot.finish});
    f->copies = (uint32_t)k->copies.n - 1;
    f->last = keep_max(f->last, leaves + seconds);
}

/* The last one takes its place. */
static void keep_waits_no_more(struct keep_schedule *k, const struct kept_file *f)
{
    uint32_t last = array_pop(&k->waiting);
    if (f->place == k->waiting.n)
        return;
    k->waiting.at[f->place] = last;
    k->file[last].place = f->place;
}

/* Outputs are booked for good and inputs end with their last use: who comes later only ever finds less room at
 * the tail than is really there, never more. */
bool keep_place(struct keep_schedule *k, uint32_t task, struct keep_slot slot)
{
    const struct workflow *w = k->w;
    bool freed = false;
    if (k->prepared != task)
        keep_prepare(k, task);
    keep_add(k, slot.node, slot.start, slot.finish, k->inside);
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        uint32_t readers = 0;
        workflow_consumers(w, o, &readers);
        if (!workflow_is_intermediate(w, o))
            continue;
        k->file[o] = (struct kept_file){.owner = slot.node,
                                        .left = readers,
                                        .copies = NONE,
                                        .place = (uint32_t)k->waiting.n,
                                        .ready = slot.finish,
                                        .last = slot.finish};
        array_push(&k->waiting, o);
        keep_add(k, slot.node, slot.start, INFINITY, keep_bytes(k, o));
    }
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e];
        if (o == NONE)
            continue;
        struct kept_file *f = &k->file[o];
        if (f->owner == slot.node)
            f->last = keep_max(f->last, slot.finish);
        else
            keep_bring(k, o, slot);
        if (--f->left == 0) {
            keep_waits_no_more(k, f);
            keep_add(k, f->owner, f->last, INFINITY, -keep_bytes(k, o));
            freed |= w->size[o] > 0;
        }
    }
    for (uint32_t i = 0; i < w->cores[task]; i++)
        timeline_book(&k->store, &k->core[k->core_off[slot.node] + slot.core + i], slot.start,
                      slot.finish);
    k->task[task] = (struct kept_task){slot.node, slot.core, slot.start, slot.finish};
    k->makespan = keep_max(k->makespan, slot.finish);
    k->prepared = NONE;
    return freed;
}

/* ---- what is known ---- */

const struct costs *keep_costs(const struct keep_schedule *k)
{
    return k->costs;
}

const struct workflow *keep_workflow(const struct keep_schedule *k)
{
    return k->w;
}

const struct platform *keep_platform(const struct keep_schedule *k)
{
    return k->p;
}

bool keep_is_placed(const struct keep_schedule *k, uint32_t task)
{
    return k->task[task].node != NONE;
}

uint32_t keep_node(const struct keep_schedule *k, uint32_t task)
{
    return k->task[task].node;
}

double keep_makespan(const struct keep_schedule *k)
{
    return k->makespan;
}

double keep_needs(const struct keep_schedule *k, uint32_t task)
{
    return k->needs[task];
}

double keep_task_bytes(const struct workflow *w, uint32_t task)
{
    double bytes = w->memory[task];
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        bytes += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
    for (uint32_t i = w->input_off ? w->input_off[task] : 0;
         w->input_off && i < w->input_off[task + 1]; i++)
        bytes += w->size[w->input_object[i]];
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        bytes += w->size[o];
    return bytes;
}

struct plan *keep_plan(const struct keep_schedule *k)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    array_reserve(&plan->placements, k->w->ntasks);
    for (uint32_t t = 0; t < k->w->ntasks; t++) {
        const struct kept_task *x = &k->task[t];
        array_push(&plan->placements,
                   (struct placement){t, 0, x->node, x->core, x->start, x->finish});
    }
    array_reserve(&plan->transfers, k->transfers.n);
    for (size_t i = 0; i < k->transfers.n; i++)
        array_push(&plan->transfers, k->transfers.at[i]);
    plan->memory = k->bytes ? MEMORY_FILES : MEMORY_TASKS;
    plan_sort(plan);
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}
