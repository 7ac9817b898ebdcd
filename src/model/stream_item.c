/* One item alone: list scheduling under the k-port rules, which is the report's schedule without
 * pipelining. */
#include "model/stream.h"
#include "model/stream_slots.h"

struct item_span {
    double start, finish;
};

struct delivery { /* an object on a processor */
    uint32_t processor, next;
    double time;
};

struct item_input {
    uint32_t object, from;
    double ready; /* the producer's end */
};

/* One item's schedule under way. A processor's tasks are kept by start; an object's deliveries
 * are a list through `next`, so that it travels once to a processor. */
struct item {
    struct stream_work *work;
    const struct stream_graph *g;
    const struct workflow *w;
    const uint32_t *nodes;
    uint32_t *processor;
    double *finish;
    struct {
        struct item_span *at;
        size_t n, cap;
    } * busy;        /* per processor, by start */
    uint32_t *first; /* per object: its deliveries */
    ARRAY(struct delivery) deliveries;
    ARRAY(struct item_input) inputs;
    struct stream_schedule *out; /* may be NULL */
};

/* Without named nodes the mean stands in, as in the report. */
static double task_time(const struct item *s, uint32_t task, uint32_t processor)
{
    return s->g->uniform || !s->nodes ? s->g->time[task]
                                      : costs_time(s->g->costs, task, s->nodes[processor]);
}

static double object_time(const struct item *s, uint32_t object, uint32_t from, uint32_t to)
{
    uint32_t edge = s->w->object_edge[object];
    if (s->g->uniform || !s->nodes)
        return s->g->transfer[edge];
    return platform_transfer(s->g->p, s->nodes[from], s->nodes[to], s->w->size[object]);
}

/* When the object came to the processor; NAN: it has not. */
static double item_delivered_at(const struct item *s, uint32_t object, uint32_t processor)
{
    for (uint32_t i = s->first[object]; i != NONE; i = s->deliveries.at[i].next)
        if (s->deliveries.at[i].processor == processor)
            return s->deliveries.at[i].time;
    return NAN;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct item_input *x = a, *y = b;
    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

/* What the task needs that costs time, in order of its producers' ends. `free_ready`: the rest. */
static void gather_inputs(struct item *s, uint32_t task)
{
    const struct workflow *w = s->w;
    s->inputs.n = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        array_push(&s->inputs, (struct item_input){w->pred_object[e], s->processor[w->pred_task[e]],
                                                   s->finish[w->pred_task[e]]});
    if (s->inputs.n > 1)
        qsort(s->inputs.at, s->inputs.n, sizeof *s->inputs.at, compare_inputs);
}

/* Book the transfers to `processor` and return when all data is there. */
static double item_bring_inputs(struct item *s, uint32_t processor, bool keep)
{
    double ready = 0;
    for (size_t i = 0; i < s->inputs.n; i++) {
        const struct item_input *in = &s->inputs.at[i];
        double time = in->ready;
        if (in->from != processor && in->object != NONE) {
            double duration = object_time(s, in->object, in->from, processor), there;
            if (duration == INFINITY)
                return INFINITY;
            there = item_delivered_at(s, in->object, processor);
            if (!isnan(there)) {
                time = there;
            } else if (duration > 0) {
                struct stream_slot slot =
                    stream_slot_find(s->work, in->from, processor, in->ready, duration);
                stream_slot_book(s->work, in->from, processor, &slot, duration, 0);
                time = slot.start + duration;
                if (keep) {
                    array_push(&s->deliveries,
                               (struct delivery){processor, s->first[in->object], time});
                    s->first[in->object] = (uint32_t)s->deliveries.n - 1;
                    if (s->out)
                        array_push(&s->out->sends, (struct stream_send){in->object, in->from,
                                                                        processor, slot.start});
                }
            }
        }
        if (time > ready)
            ready = time;
    }
    return ready;
}

/* The first gap that is long enough, from `ready` on: tasks may be put between earlier ones. */
static double idle_start(const struct item *s, uint32_t processor, double ready, double duration)
{
    double start = ready;
    for (size_t i = 0; i < s->busy[processor].n; i++) {
        const struct item_span *b = &s->busy[processor].at[i];
        if (b->finish <= start)
            continue;
        if (start + duration <= b->start + 1e-12 * b->start)
            break;
        start = b->finish;
    }
    return start;
}

/* Insertion: new tasks mostly come last. */
static void item_occupy_node(struct item *s, uint32_t processor, double start, double finish)
{
    array_push(&s->busy[processor], (struct item_span){start, finish});
    struct item_span *at = s->busy[processor].at;
    for (size_t i = s->busy[processor].n - 1; i > 0 && at[i - 1].start > at[i].start; i--) {
        struct item_span swap = at[i];
        at[i] = at[i - 1];
        at[i - 1] = swap;
    }
}

/* Tried out and taken back: the transfers are booked while journaling and undone. */
static double completion_on(struct item *s, uint32_t task, uint32_t processor)
{
    double duration = task_time(s, task, processor);
    if (!isfinite(duration))
        return INFINITY;
    double ready = item_bring_inputs(s, processor, false);
    stream_slots_undo(s->work, 0);
    return ready == INFINITY ? INFINITY : idle_start(s, processor, ready, duration) + duration;
}

/* The least completion time. On equal nodes all empty processors are alike, so one of them is
 * tried. A billionth better is not better: the lowest number wins ties that rounding made. */
static uint32_t choose_processor(struct item *s, uint32_t task, uint32_t nprocessors)
{
    uint32_t best = 0;
    double least = INFINITY;
    bool empty_tried = false;
    s->work->journaling = true;
    for (uint32_t p = 0; p < nprocessors; p++) {
        bool empty = !s->busy[p].n && s->g->uniform;
        if (empty && empty_tried)
            continue;
        empty_tried |= empty;
        double finish = completion_on(s, task, p);
        if (finish < least * (1 - 1e-9) || (least == INFINITY && finish < INFINITY)) {
            least = finish;
            best = p;
        }
    }
    s->work->journaling = false;
    return best;
}

double stream_item(struct stream_work *work, uint32_t nprocessors, const uint32_t *nodes,
                   uint32_t ports, uint32_t *processor)
{
    return stream_item_schedule(work, nprocessors, nodes, ports, processor, NULL);
}

/* Tasks in the graph's order; transfers are booked as each task is placed. */
double stream_item_schedule(struct stream_work *work, uint32_t nprocessors, const uint32_t *nodes,
                            uint32_t ports, uint32_t *processor, struct stream_schedule *out)
{
    const struct stream_graph *g = work->g;
    struct item s = {
        .work = work, .g = g, .w = g->w, .nodes = nodes, .processor = processor, .out = out};
    double makespan = 0;
    stream_work_fit(work, nprocessors, 0);
    stream_slots_clear(work, nprocessors);
    uint32_t least = stream_ports(g, NULL, 0);
    for (uint32_t i = 0; i < nprocessors; i++)
        work->limit[i] = ports ? ports : nodes ? platform_ports(g->p, nodes[i]) : least;
    s.finish = mem_new_zero(double, g->ntasks);
    s.busy = mem_array_zero(nprocessors, sizeof *s.busy);
    s.first = mem_new(uint32_t, g->w->nobjects);
    for (uint32_t o = 0; o < g->w->nobjects; o++)
        s.first[o] = NONE;
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t t = g->order[i];
        if (t >= g->ntasks)
            continue;
        gather_inputs(&s, t);
        if (processor[t] == NONE)
            processor[t] = choose_processor(&s, t, nprocessors);
        double ready = item_bring_inputs(&s, processor[t], true),
               duration = task_time(&s, t, processor[t]);
        double start = idle_start(&s, processor[t], ready, duration);
        s.finish[t] = start + duration;
        item_occupy_node(&s, processor[t], start, s.finish[t]);
        if (out)
            array_push(&out->starts, (struct stream_start){t, processor[t], start});
        makespan = fmax(makespan, s.finish[t]);
        if (!isfinite(makespan))
            break;
    }
    for (uint32_t p = 0; p < nprocessors; p++)
        free(s.busy[p].at);
    free(s.busy);
    free(s.first);
    free(s.finish);
    array_free(&s.deliveries);
    array_free(&s.inputs);
    return makespan;
}
