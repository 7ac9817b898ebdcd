/* The periodic schedule of a stream plan: is everything in it, does every task have its data, and
 * does one item every period go through without two things on one node, link or port at once?
 *
 * Written apart from the builder (stream_schedule.c): arcs on a circle are cut at its end, sorted
 * and swept, and the most that overlap is compared with what there is room for. */
#include "model/check_rules.h"
#include "model/stream_schedule.h"
#include "base/plural.h"

#include <stdint.h>

/* One end of an arc. Ends come before starts: what touches does not overlap. */
struct sweep_point {
    uint64_t owner;
    double time;
    int step; /* +1: starts, -1: ends */
};

typedef ARRAY(struct sweep_point) sweep_points;

struct schedule_check {
    struct check *c;
    const struct stream_graph *g;
    const struct stream_map *map;
    const struct stream_schedule *s;
    double *start;        /* per copy; NAN: not stated */
    uint32_t *first_send; /* per object: one of its sends; NONE */
    uint32_t *next_send;  /* per send: the next of the same object */
    double hair;          /* seconds that are rounding */
};

static void sweep_push(sweep_points *list, uint64_t owner, double start, double duration,
                       double length, double hair)
{
    double phase = start - floor(start / length) * length, end = phase + duration;
    if (duration <= 2 * hair)
        return; /* shorter than what rounding may move */
    array_push(list, (struct sweep_point){owner, phase + hair, 1});
    if (end > length + hair) {
        array_push(list, (struct sweep_point){owner, length, -1});
        array_push(list, (struct sweep_point){owner, 0, 1});
        end -= length;
    }
    array_push(list, (struct sweep_point){owner, end - hair, -1});
}

static int compare_sweep_points(const void *a, const void *b)
{
    const struct sweep_point *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->step - y->step;
}

/* The end of an owner's points, from `at` on; *most: how many arcs overlap there at once. */
static size_t sweep_owner(const sweep_points *list, size_t at, int *most)
{
    uint64_t owner = list->at[at].owner;
    int depth = 0;
    *most = 0;
    for (; at < list->n && list->at[at].owner == owner; at++) {
        depth += list->at[at].step;
        *most = depth > *most ? depth : *most;
    }
    return at;
}

static void sweep_sort(sweep_points *list)
{
    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, compare_sweep_points);
}

/* ---- what is stated ---- */

/* Each copy once; false: what follows would look at times that are not there. */
static bool check_starts(struct schedule_check *x)
{
    struct check *c = x->c;
    size_t before = c->result->total;
    for (size_t i = 0; i < x->s->starts.n; i++) {
        const struct stream_start *s = &x->s->starts.at[i];
        const char *name = workflow_task_name(c->w, s->task);
        uint32_t copy =
            s->cluster < x->map->nclusters ? stream_copy(x->map, s->task, s->cluster) : NONE;
        if (copy == NONE)
            check_say(c, VIOLATION_STREAM, s->task,
                      "the schedule starts '%s' in cluster %u, which does not have it", name,
                      s->cluster);
        else if (!isnan(x->start[copy]))
            check_say(c, VIOLATION_STREAM, s->task, "the schedule starts '%s' twice in cluster %u",
                      name, s->cluster);
        else if (!(s->start >= 0) || !isfinite(s->start))
            check_say(c, VIOLATION_STREAM, s->task, "the schedule starts '%s' at %g", name,
                      s->start);
        else
            x->start[copy] = s->start;
    }
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        for (uint32_t i = x->map->off[t]; i < x->map->off[t + 1]; i++)
            if (isnan(x->start[i]))
                check_say(c, VIOLATION_STREAM, t,
                          "the schedule does not say when '%s' starts in cluster %u",
                          workflow_task_name(c->w, t), x->map->cluster[i]);
    return c->result->total == before;
}

static uint32_t find_send(const struct schedule_check *x, uint32_t object, uint32_t to)
{
    for (uint32_t i = x->first_send[object]; i != NONE; i = x->next_send[i])
        if (x->s->sends.at[i].to == to)
            return i;
    return NONE;
}

static double send_time(const struct schedule_check *x, const struct stream_send *s)
{
    return stream_transfer(x->g, x->map, x->c->w->object_edge[s->object], s->from, s->to);
}

/* Each from its producer's home, after its producer. */
static bool check_sends(struct schedule_check *x)
{
    struct check *c = x->c;
    size_t before = c->result->total;
    char label[256];
    for (size_t i = 0; i < x->s->sends.n; i++) {
        const struct stream_send *s = &x->s->sends.at[i];
        uint32_t from = c->w->producer[s->object];
        const char *name = workflow_object_label(c->w, s->object, label, sizeof label);
        if (from == NONE || s->to >= x->map->nclusters || s->from != x->map->home[from] ||
            s->to == s->from || c->w->object_edge[s->object] == NONE) {
            check_say(c, VIOLATION_STREAM, NONE,
                      "the schedule sends '%s' from cluster %u to %u, which it does not do", name,
                      s->from, s->to);
            continue;
        }
        if (find_send(x, s->object, s->to) != NONE)
            check_say(c, VIOLATION_STREAM, NONE, "the schedule sends '%s' twice to cluster %u",
                      name, s->to);
        x->next_send[i] = x->first_send[s->object];
        x->first_send[s->object] = (uint32_t)i;
        uint32_t copy = stream_copy(x->map, from, s->from);
        double end = x->start[copy] + stream_time(x->g, x->map, from, s->from);
        if (!(s->start >= end - x->hair))
            check_say(c, VIOLATION_STREAM, from,
                      "the schedule sends '%s' at %.10g; '%s' makes it by %.10g", name, s->start,
                      workflow_task_name(c->w, from), end);
    }
    return c->result->total == before;
}

/* ---- data before tasks ---- */

/* When the data of one edge is there for a copy; NAN: nobody sends it. */
static double data_there(const struct schedule_check *x, uint32_t edge, uint32_t cluster)
{
    const struct workflow *w = x->c->w;
    uint32_t from = w->pred_task[edge], object = w->pred_object[edge];
    uint32_t source = stream_copy(x->map, from, cluster), home = cluster;
    if (source == NONE && (object == NONE || x->g->transfer[w->object_edge[object]] <= 0)) {
        home = x->map->home[from];
        source = stream_copy(x->map, from, home);
    }
    if (source != NONE)
        return x->start[source] + stream_time(x->g, x->map, from, home);
    uint32_t send = find_send(x, object, cluster);
    return send == NONE ? NAN : x->s->sends.at[send].start + send_time(x, &x->s->sends.at[send]);
}

static void check_data(struct schedule_check *x)
{
    const struct workflow *w = x->c->w;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t i = x->map->off[t]; i < x->map->off[t + 1]; i++)
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
                double there = data_there(x, e, x->map->cluster[i]);
                if (isnan(there))
                    check_say(x->c, VIOLATION_STREAM, t,
                              "the schedule starts '%s' in cluster %u; the data of '%s' is never "
                              "sent there",
                              workflow_task_name(w, t), x->map->cluster[i],
                              workflow_task_name(w, w->pred_task[e]));
                else if (!(x->start[i] >= there - x->hair))
                    check_say(x->c, VIOLATION_STREAM, t,
                              "the schedule starts '%s' in cluster %u at %.10g; the data of '%s' "
                              "is there at %.10g",
                              workflow_task_name(w, t), x->map->cluster[i], x->start[i],
                              workflow_task_name(w, w->pred_task[e]), there);
            }
}

/* ---- room ---- */

static void check_nodes_free(struct schedule_check *x)
{
    sweep_points list = {0};
    const struct stream_map *map = x->map;
    for (uint32_t t = 0; t < x->c->w->ntasks; t++)
        for (uint32_t i = map->off[t]; i < map->off[t + 1]; i++) {
            uint32_t cluster = map->cluster[i];
            double time = stream_time(x->g, map, t, cluster),
                   length = map->procs[cluster] * x->s->period;
            if (time > length + x->hair)
                check_say(x->c, VIOLATION_STREAM, t, "'%s' takes longer than its node has for it",
                          workflow_task_name(x->c->w, t));
            else
                sweep_push(&list, cluster, x->start[i], time, length, x->hair);
        }
    sweep_sort(&list);
    for (size_t at = 0; at < list.n;) {
        int most;
        uint64_t cluster = list.at[at].owner;
        at = sweep_owner(&list, at, &most);
        if (most > 1)
            check_say(x->c, VIOLATION_STREAM, NONE,
                      "the schedule has %d task%s at once on a node of cluster %u", most,
                      plural(most), (uint32_t)cluster);
    }
    array_free(&list);
}

/* Links: one transfer at a time between two replicas. Ports: so many at once at each. */
static void check_network_free(struct schedule_check *x)
{
    sweep_points links = {0}, sides = {0};
    const struct stream_map *map = x->map;
    for (size_t i = 0; i < x->s->sends.n; i++) {
        const struct stream_send *s = &x->s->sends.at[i];
        double time = send_time(x, s), period = x->s->period;
        uint32_t low = s->from < s->to ? s->from : s->to, high = s->from < s->to ? s->to : s->from;
        uint32_t fewest = map->procs[low] < map->procs[high] ? map->procs[low] : map->procs[high];
        if (time > fewest * period + x->hair) {
            check_say(x->c, VIOLATION_STREAM, NONE,
                      "a transfer from cluster %u to %u takes longer than there is until the next",
                      s->from, s->to);
            continue;
        }
        sweep_push(&links, (uint64_t)low << 32 | high, s->start, time,
                   stream_meeting(map->procs[low], map->procs[high]) * period, x->hair);
        sweep_push(&sides, s->from, s->start, time, map->procs[s->from] * period, x->hair);
        sweep_push(&sides, s->to, s->start, time, map->procs[s->to] * period, x->hair);
    }
    sweep_sort(&links);
    sweep_sort(&sides);
    int most;
    for (size_t at = 0; at < links.n;) {
        uint64_t pair = links.at[at].owner;
        at = sweep_owner(&links, at, &most);
        if (most > 1)
            check_say(x->c, VIOLATION_STREAM, NONE,
                      "the schedule has %d transfer%s at once between a node of cluster %u and one "
                      "of %u",
                      most, plural(most), (uint32_t)(pair >> 32), (uint32_t)pair);
    }
    for (size_t at = 0; at < sides.n;) {
        uint32_t cluster = (uint32_t)sides.at[at].owner;
        at = sweep_owner(&sides, at, &most);
        uint32_t ports = x->c->plan->ports ? x->c->plan->ports : stream_ports(x->g, map, cluster);
        if (ports && (uint32_t)most > ports)
            check_say(
                x->c, VIOLATION_STREAM, NONE,
                "the schedule has %d transfer%s at once on a node of cluster %u, which has %u "
                "ports",
                most, plural(most), cluster, ports);
    }
    array_free(&links);
    array_free(&sides);
}

/* A plan that is not pipelined: the item before has left when the next one comes, and an item takes what is claimed. */
static void check_one_at_a_time(struct schedule_check *x)
{
    double claimed = plan_objective(x->c->plan, "latency");
    double takes = stream_schedule_latency(x->g, x->c->plan, x->s);
    if (!isnan(claimed) && takes > claimed + x->hair)
        check_say(x->c, VIOLATION_OBJECTIVE, NONE,
                  "claims latency %.10g; by its schedule an item takes %.10g", claimed, takes);
    if (takes > x->s->period + x->hair)
        check_say(
            x->c, VIOLATION_STREAM, NONE,
            "is not pipelined, and its schedule begins an item every %.10g seconds, which takes "
            "%.10g",
            x->s->period, takes);
}

void check_stream_schedule(struct check *c, const struct stream_graph *g,
                           const struct stream_map *map)
{
    const struct stream_schedule *s = &c->plan->schedule;
    struct schedule_check x = {.c = c, .g = g, .map = map, .s = s, .hair = 1e-7 * s->period};
    double claimed = plan_objective(c->plan, "throughput");
    if (!isfinite(s->period) || (!isnan(claimed) && !(claimed * s->period <= 1 + 1e-6))) {
        check_say(c, VIOLATION_OBJECTIVE, NONE,
                  "claims throughput %.10g; its schedule takes an item every %.10g seconds",
                  claimed, s->period);
        return;
    }
    uint32_t copies = map->off[c->w->ntasks];
    x.start = mem_new(double, copies);
    for (uint32_t i = 0; i < copies; i++)
        x.start[i] = NAN;
    x.first_send = mem_new(uint32_t, c->w->nobjects);
    for (uint32_t i = 0; i < c->w->nobjects; i++)
        x.first_send[i] = NONE;
    x.next_send = mem_new(uint32_t, s->sends.n);
    if (check_starts(&x) && check_sends(&x)) {
        check_data(&x);
        check_nodes_free(&x);
        check_network_free(&x);
        if (c->plan->pipelined)
            check_objective(c, "steady_latency", stream_schedule_latency(g, c->plan, s));
        else
            check_one_at_a_time(&x);
    }
    free(x.start);
    free(x.first_send);
    free(x.next_send);
}
