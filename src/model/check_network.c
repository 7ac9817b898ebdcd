/* Static plans: is every task's data there in time, and could the network have brought it? */
#include "model/check_rules.h"
#include "base/plural.h"

/* Who has an object where and when: producer copies and transfers, grouped. */
struct checked_network {
    uint32_t *copy_off, *copy;         /* placements by task */
    uint32_t *transfer_off, *transfer; /* transfers by object */
};

/* Counting sort of the plan's items by group_of(): *item[*off[g] .. *off[g + 1]) are those of
 * group g, in the order of the plan. The caller frees both. */
static void network_group_items(uint32_t **off, uint32_t **item, uint32_t groups, size_t n,
                                uint32_t (*group_of)(const struct plan *, size_t),
                                const struct plan *plan)
{
    *off = mem_new_zero(uint32_t, (size_t)groups + 2);
    *item = mem_new(uint32_t, n);
    for (size_t i = 0; i < n; i++)
        (*off)[group_of(plan, i) + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        (*off)[g + 2] += (*off)[g + 1];
    for (size_t i = 0; i < n; i++)
        (*item)[(*off)[group_of(plan, i) + 1]++] = (uint32_t)i;
}

/* The two things that are grouped: placements by task, transfers by object. */
static uint32_t task_of(const struct plan *plan, size_t i)
{
    return plan->placements.at[i].task;
}

static uint32_t object_of(const struct plan *plan, size_t i)
{
    return plan->transfers.at[i].object;
}

/* When a copy of `task` first ends on `node` (NONE: on any). */
static double copy_ends(const struct check *c, const struct checked_network *net, uint32_t task,
                        uint32_t node)
{
    double first = INFINITY;
    for (uint32_t i = net->copy_off[task]; i < net->copy_off[task + 1]; i++) {
        const struct placement *x = &c->plan->placements.at[net->copy[i]];
        if ((node == NONE || x->node == node) && x->finish < first)
            first = x->finish;
    }
    return first;
}

/* qsort_r's order of an object's transfers: by destination, the first to arrive in front. */
static int by_destination(const void *a, const void *b, void *context)
{
    const struct plan *plan = context;
    const struct transfer *x = &plan->transfers.at[*(const uint32_t *)a];
    const struct transfer *y = &plan->transfers.at[*(const uint32_t *)b];
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->finish < y->finish ? -1 : x->finish > y->finish;
}

/* When a transfer first brings `object` to `node`. An object's transfers are sorted by destination:
 * one read by a hundred thousand tasks on a thousand nodes must not cost their product. */
static double network_arrival(const struct check *c, const struct checked_network *net,
                              uint32_t object, uint32_t node)
{
    uint32_t lo = net->transfer_off[object], end = net->transfer_off[object + 1], hi = end;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->plan->transfers.at[net->transfer[mid]].to < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct transfer *x = lo < end ? &c->plan->transfers.at[net->transfer[lo]] : NULL;
    return x && x->to == node ? x->finish : INFINITY;
}

/* Every copy of a task must find every input on its node when it starts: made there, or brought
 * there in time. An ordering edge is satisfied by the first copy of the predecessor anywhere. */
static void check_precedence(struct check *c, const struct checked_network *net)
{
    char buffer[512];
    for (size_t i = 0; i < c->plan->placements.n; i++) {
        const struct placement *x = &c->plan->placements.at[i];
        const char *name = workflow_task_name(c->w, x->task);
        if (isnan(x->start))
            continue; /* said already: no time at all */
        for (uint32_t e = c->w->pred_off[x->task]; e < c->w->pred_off[x->task + 1]; e++) {
            uint32_t before = c->w->pred_task[e], object = c->w->pred_object[e];
            const char *before_name = workflow_task_name(c->w, before);
            if (net->copy_off[before] == net->copy_off[before + 1])
                continue; /* said already: missing */
            if (object == NONE) {
                double end = copy_ends(c, net, before, NONE);
                if (end > x->start + c->tolerance)
                    check_say(c, VIOLATION_PRECEDENCE, x->task,
                              "'%s' starts at %.10g, before '%s' ends at %.10g", name, x->start,
                              before_name, end);
                continue;
            }
            /* data: it is here because a copy ran here, or because a transfer arrived */
            double here = copy_ends(c, net, before, x->node);
            if (here <= x->start + c->tolerance)
                continue;
            double arrival = network_arrival(c, net, object, x->node);
            if (arrival <= x->start + c->tolerance)
                continue;
            const char *label = workflow_object_label(c->w, object, buffer, sizeof buffer);
            double there = fmin(here, arrival);
            if (isfinite(there))
                check_say(c, VIOLATION_PRECEDENCE, x->task,
                          "'%s' starts at %.10g on '%s', before '%s' of '%s' is there at %.10g",
                          name, x->start, platform_node_name(c->p, x->node), label, before_name,
                          there);
            else
                check_say(c, VIOLATION_TRANSFER, x->task,
                          "no transfer brings '%s' of '%s' to '%s', where '%s' needs it", label,
                          before_name, platform_node_name(c->p, x->node), name);
        }
    }
}

/* A transfer must leave from where the object is (made there or received there before), last as
 * long as the network needs, and go somewhere else. A billionth of its own time is allowed
 * beside the tolerance: long transfers are rounded more. */
static void check_transfers(struct check *c, const struct checked_network *net)
{
    char buffer[512];
    for (size_t i = 0; i < c->plan->transfers.n; i++) {
        const struct transfer *x = &c->plan->transfers.at[i];
        const char *label = workflow_object_label(c->w, x->object, buffer, sizeof buffer);
        const char *from = platform_node_name(c->p, x->from), *to = platform_node_name(c->p, x->to);
        uint32_t producer = c->w->producer[x->object];
        if (!isfinite(x->start) || !isfinite(x->finish) || x->start < -c->tolerance ||
            x->finish < x->start - c->tolerance) {
            check_say(c, VIOLATION_TIME, producer, "'%s' travels from %g to %g", label, x->start,
                      x->finish);
            continue;
        }
        if (x->from == x->to) {
            check_say(c, VIOLATION_TRANSFER, producer, "'%s' is sent from '%s' to itself", label,
                      from);
            continue;
        }
        double needs = platform_transfer(c->p, x->from, x->to, c->w->size[x->object]);
        if (x->finish - x->start < needs - c->tolerance - 1e-9 * needs)
            check_say(c, VIOLATION_TRANSFER_SHORT, producer,
                      "'%s' takes %.10g from '%s' to '%s'; the network needs %.10g", label,
                      x->finish - x->start, from, to, needs);
        if (producer == NONE)
            continue; /* inputs of the workflow are everywhere from the start */
        double made = copy_ends(c, net, producer, x->from);
        double came = network_arrival(c, net, x->object, x->from);
        double there = fmin(made, came);
        if (isinf(there))
            check_say(c, VIOLATION_TRANSFER, producer, "'%s' is sent from '%s', which never has it",
                      label, from);
        else if (there > x->start + c->tolerance)
            check_say(c, VIOLATION_TRANSFER_EARLY, producer,
                      "'%s' leaves '%s' at %.10g; it is there only at %.10g", label, from, x->start,
                      there);
    }
}

/* ---- ports ---- */

/* A transfer as seen by its pair of nodes, whatever its direction. */
struct message {
    uint32_t a, b; /* a < b for pairs; node and NONE for counting */
    double start, finish;
    uint32_t object;
};

static int compare_messages(const void *x, const void *y)
{
    const struct message *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* A transfer begins or ends at a node: `by` is +1 or -1. */
struct change {
    uint32_t node, object;
    double time;
    int by;
};

/* At one instant ends come before starts, so that a transfer may begin when another ends. */
static int compare_changes(const void *x, const void *y)
{
    const struct change *a = x, *b = y;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->by - b->by;
}

/* The k-port rules: two nodes exchange one message at a time, and a node takes part in at most as
 * many transfers at once as it has ports. Sorting costs O(transfers log transfers). */
static void check_ports(struct check *c)
{
    /* transfers without duration hold no port, and those of the tolerance's length no longer than
     * rounding */
    ARRAY(struct message) messages = {0};
    ARRAY(struct change) changes = {0};
    char buffer[512];
    for (size_t i = 0; i < c->plan->transfers.n; i++) {
        const struct transfer *x = &c->plan->transfers.at[i];
        if (!(x->finish - x->start > 2 * c->tolerance))
            continue;
        uint32_t low = x->from < x->to ? x->from : x->to, high = x->from < x->to ? x->to : x->from;
        array_push(&messages, (struct message){low, high, x->start, x->finish, x->object});
        uint32_t ends[2] = {x->from, x->to};
        for (int k = 0; k < 2; k++) {
            array_push(&changes, (struct change){ends[k], x->object, x->start + c->tolerance, 1});
            array_push(&changes, (struct change){ends[k], x->object, x->finish - c->tolerance, -1});
        }
    }
    if (messages.n)
        qsort(messages.at, messages.n, sizeof *messages.at, compare_messages);
    for (size_t i = 1; i < messages.n; i++) {
        const struct message *before = &messages.at[i - 1], *x = &messages.at[i];
        if (before->a == x->a && before->b == x->b && x->start < before->finish - c->tolerance)
            check_say(
                c, VIOLATION_PORTS, NONE,
                "'%s' starts at %.10g between '%s' and '%s' while another message is under way",
                workflow_object_label(c->w, x->object, buffer, sizeof buffer), x->start,
                platform_node_name(c->p, x->a), platform_node_name(c->p, x->b));
    }
    if (changes.n)
        qsort(changes.at, changes.n, sizeof *changes.at, compare_changes);
    int64_t busy = 0;
    for (size_t i = 0; i < changes.n; i++) {
        const struct change *x = &changes.at[i];
        if (i && changes.at[i - 1].node != x->node)
            busy = 0;
        busy += x->by;
        uint32_t ports = platform_ports(c->p, x->node);
        if (x->by > 0 && ports && busy > ports)
            check_say(
                c, VIOLATION_PORTS, NONE,
                "'%s' has %lld transfer%s at once when '%s' starts at %.10g; its ports are %u",
                platform_node_name(c->p, x->node), (long long)busy, plural((long long)busy),
                workflow_object_label(c->w, x->object, buffer, sizeof buffer), x->time, ports);
    }
    array_free(&messages);
    array_free(&changes);
}

/* Copies by task and transfers by object, the latter sorted by destination for binary search. */
void check_network(struct check *c)
{
    struct checked_network net;
    network_group_items(&net.copy_off, &net.copy, c->w->ntasks, c->plan->placements.n, task_of,
                        c->plan);
    network_group_items(&net.transfer_off, &net.transfer, c->w->nobjects, c->plan->transfers.n,
                        object_of, c->plan);
    for (uint32_t o = 0; o < c->w->nobjects; o++) {
        uint32_t from = net.transfer_off[o], count = net.transfer_off[o + 1] - from;
        if (count > 1)
            qsort_r(net.transfer + from, count, sizeof *net.transfer, by_destination,
                    (void *)(uintptr_t)c->plan);
    }
    check_precedence(c, &net);
    check_transfers(c, &net);
    if (platform_limits_ports(c->p))
        check_ports(c);
    free(net.copy_off);
    free(net.copy);
    free(net.transfer_off);
    free(net.transfer);
}
