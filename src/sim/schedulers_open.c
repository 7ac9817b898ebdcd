/* Simulated schedulers from the first to the last: what nodes have, whether every task fits somewhere,
 * tables and schedulers made and freed. schedulers.c says what happens in between. */
#include "sim/schedulers_state.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>

/* Also when it is negative or not a number. */
static void default_when_zero(double *field, double value)
{
    if (!(*field > 0))
        *field = value;
}

/* Fill in defaults. Node numbers share 28 bits of an event with a timer's kind (3): 24 are used. */
static bool check_config(struct schedulers_config *c, struct error *err)
{
    c->nodes = c->nodes ? c->nodes : 1;
    c->cores = c->cores ? c->cores : 2;
    c->servers = c->servers && c->servers < c->nodes ? c->servers : c->nodes;
    c->prefetch = c->prefetch == SCHEDULERS_NO_PREFETCH ? 0 : c->prefetch ? c->prefetch : 2;
    c->factor = c->factor ? c->factor : 4;
    default_when_zero(&c->memory, INFINITY);
    default_when_zero(&c->t, 0.5);
    default_when_zero(&c->tt, 10);
    default_when_zero(&c->steal_bound, 50);
    default_when_zero(&c->bandwidth, 125e6);
    default_when_zero(&c->latency, 100e-6);
    default_when_zero(&c->store_service, 10e-6);
    if (!(c->dispatch > 0))
        c->dispatch = 0;
    if (!(c->cache < 0))
        default_when_zero(&c->cache, 8e9);
    if (c->nodes > 1u << 24 || (uint64_t)c->nodes * c->cores > UINT32_MAX)
        return error_set(err, ERROR_INPUT, "%u scheduler%s of %u core%s; at most %u schedulers",
                         c->nodes, plural(c->nodes), c->cores, plural(c->cores), 1u << 24);
    return true;
}

/* Input files stand on their nodes before anything begins: as copies in the store's table. */
static void place_files(struct schedulers *c)
{
    const struct workload *d = c->dag;
    uint32_t first = d->workflow ? 0 : d->ntasks;
    if (d->workflow ? !d->workflow->input_off : d->nobjects == d->ntasks)
        return;
    for (uint32_t o = first; o < d->nobjects; o++)
        if (!d->workflow || d->workflow->producer[o] == NONE) {
            struct meta_op copy = {.kind = META_COPY,
                                   .status = 1,
                                   .task = o,
                                   .node = workload_file_node(d, o, c->config.nodes)};
            store_table_apply(&c->table, &copy, NULL);
        }
}

static uint32_t cores_factor(const struct schedulers_config *k, uint32_t node)
{
    return node < k->large ? k->factor : 1;
}

uint32_t schedulers_cores(const struct schedulers_config *k, uint32_t node)
{
    return k->platform ? k->platform->cores[schedulers_platform_node(k, node)]
                       : k->cores * cores_factor(k, node);
}

double schedulers_memory(const struct schedulers_config *k, uint32_t node)
{
    return k->platform ? k->platform->memory[schedulers_platform_node(k, node)]
                       : k->memory * cores_factor(k, node);
}

double schedulers_all_cores(const struct schedulers_config *k)
{
    double cores = 0;
    for (uint32_t n = 0; k->platform && n < k->nodes; n++)
        cores += schedulers_cores(k, n) * k->platform->speed[schedulers_platform_node(k, n)];
    uint32_t large = k->large < k->nodes ? k->large : k->nodes;
    return k->platform ? cores : ((double)k->nodes + (double)large * (k->factor - 1)) * k->cores;
}

/* What a node has of what tasks of this workflow may ask for. Without a platform attributes and things
 * are the same everywhere. */
static void node_capacity(const struct schedulers_config *k, uint32_t node, struct capacity *c)
{
    const struct workflow *w = k->dag->workflow;
    uint32_t there = schedulers_platform_node(k, node);
    memset(c, 0, sizeof *c);
    c->cores = schedulers_cores(k, node);
    c->memory = schedulers_memory(k, node);
    if (w && w->needs)
        c->has = workflow_attribute_mask(w, k->platform ? platform_has(k->platform, there)
                                            : k->has    ? k->has
                                                        : "");
    if (w && w->asks)
        capacity_set_things(c, w,
                            k->platform ? platform_resources(k->platform, there) : k->resources);
}

/* Is there a node for each task? Benchmarks ask for one core each. */
static bool check_fits(const struct schedulers_config *k, struct error *err)
{
    static const struct capacity_words words = {.where = "the nodes",
                                                .before = "simulate",
                                                .after = "",
                                                .cores = "--cores ",
                                                .memory = "--set memory=",
                                                .has = "--set has=",
                                                .nodes = "simulate more --schedulers",
                                                .things = "--set resources="};
    static const struct capacity_words words_of_platform = {.where = "the nodes of --on",
                                                            .before = "give a node",
                                                            .after = "",
                                                            .cores = "`cores`: ",
                                                            .memory = "`memory`: ",
                                                            .has = "`has`: ",
                                                            .nodes = "a platform with more nodes",
                                                            .things = "`resources`: "};
    const struct workflow *w = k->dag->workflow;
    if (!w)
        return true;
    /* a large and a small one are enough, unless tasks span several */
    uint32_t n = w->nodes || k->platform ? k->nodes : 2;
    struct capacity *there = mem_new(struct capacity, n);
    for (uint32_t i = 0; i < n; i++)
        node_capacity(k, i + 1 < n ? i : k->nodes - 1, &there[i]);
    struct capacity_misfits misfits = capacity_find_misfits(w, 0, NULL, there, n);
    bool good = !misfits.count || capacity_refuse(w, &misfits, there, n,
                                                  k->platform ? &words_of_platform : &words, err);
    free(there);
    return good;
}

bool schedulers_check(struct schedulers_config *k, struct error *err)
{
    return check_config(k, err) && check_fits(k, err);
}

/* Times of its tasks where nodes differ. What a scheduler does not know must not decide: a task that has
 * times of its own needs one for each node that it fits. */
static bool open_costs(struct schedulers *c, struct error *err)
{
    const struct schedulers_config *k = &c->config;
    if (!k->platform)
        return true;
    c->costs = costs_lenient(c->dag->workflow, k->platform);
    if (!c->costs->unrelated)
        return true;
    for (uint32_t n = 0; n < k->nodes; n++) {
        struct capacity there;
        node_capacity(k, n, &there);
        for (uint32_t t = 0; t < c->dag->ntasks; t++) {
            struct capacity asks = capacity_demand(c->dag->workflow, t);
            uint32_t node = schedulers_platform_node(k, n);
            if (capacity_fits(&there, &asks) && !isfinite(costs_time(c->costs, t, node)))
                return error_set(
                    err, ERROR_INPUT,
                    "task '%s' has no time on node '%s', which it fits: schedulers may "
                    "start it there; give it one",
                    workflow_task_name(c->dag->workflow, t), platform_node_name(k->platform, node));
        }
    }
    return true;
}

/* Is there more than one level below it? Then what it brings about is not work alone, but more tasks. */
static bool keeps_growing(const struct workload *d, uint32_t task)
{
    return workload_children(d, task) && workload_children(d, workload_child(d, task, 0));
}

/* Deepest first, as real runs do it: what a thief then gets from the far end of a queue is little data
 * with much work below it. Before all others what another node waits for: in a fan-in it would else come last, and
 * all of its data over one interface when nothing else is left to do. A fan-out's large branches come next, widest
 * first: one that is left for the end has two levels to go through when all others have nothing more to do, and each
 * of them sends its data over one interface again. */
static double depth_first(const void *schedulers, uint32_t task)
{
    const struct schedulers *c = schedulers;
    const struct workload *d = c->dag;
    double depth = workload_depth(d, task);
    double bytes = 0; /* among equals the one with more data, as in the paper */
    if (d->kind == WORKLOAD_FAN_OUT) {
        bytes = task ? workload_size(d, workload_parent(d, task, 0)) : 0;
        depth = keeps_growing(d, task) ? 2 * WORKLOAD_LEVELS - depth : depth;
    }
    return depth + bytes / (bytes + 1e6) +
           2 * WORKLOAD_LEVELS * (double)workload_urgency(d, &c->division, task);
}

/* What this node's scheduler knows of itself and of the tasks. */
static struct sched_config node_config(const struct schedulers *c, uint32_t node,
                                       const struct capacity *capacity, double mean)
{
    const struct schedulers_config *k = &c->config;
    const struct workflow *w = c->dag->workflow;
    struct sched_config s = {.node = node,
                             .nodes = k->nodes,
                             .seed = k->seed,
                             .cores = schedulers_cores(k, node),
                             .memory = schedulers_memory(k, node),
                             .capacity = capacity,
                             .policy = k->policy,
                             .t = k->t,
                             .tt = k->tt,
                             .bandwidth = k->bandwidth,
                             .default_length = mean,
                             .share_local = !k->rigid_steal,
                             .adapt_policy = k->adapt,
                             .adapt_tt = k->adapt,
                             .steal_bound = k->steal_bound,
                             /* a reply takes two latencies here: never reached */
                             .reply_timeout = 5,
                             .wait_poll = -1}; /* no word is lost here */
    if (!w && !k->rigid_steal) {
        s.priority_of = depth_first;
        s.priority_context = c;
    }
    if (w) {
        struct capacity there;
        node_capacity(k, node, &there);
        s.has = there.has;
        s.things = there.things;
        memcpy(s.thing, there.thing, sizeof s.thing);
        s.task_cores = w->cores;
        s.task_nodes = w->nodes;
        s.parts_wait = w->nodes && c->rooms;
        s.task_asks = w->asks;
        s.amount = w->amount;
        s.task_needs = w->needs;
        s.task_memory = k->platform || isfinite(k->memory) ? w->memory : NULL;
    }
    return s;
}

/* Tables, files, one scheduler a node. */
bool schedulers_open(struct schedulers *c, struct error *err)
{
    const struct schedulers_config *k = &c->config;
    double mean = workload_mean_length(c->dag);
    c->now = c->at;
    c->first = INFINITY;
    *c->result = (struct schedulers_result){
        .tasks = c->dag->ntasks, .bin_width = 1e-3, .work = mean * c->dag->ntasks};
    c->has_data = workload_has_data(c->dag);
    if (!open_costs(c, err))
        return false;
    schedulers_growth_open(c);
    c->division = workload_divide(c->dag, k->submit, k->nodes);
    c->nodes = mem_new_zero(struct schedulers_node, k->nodes);
    if (c->dag->workflow)
        store_table_init(&c->table, c->dag->workflow);
    else
        store_table_init_graph(&c->table, &c->dag->graph);
    place_files(c);
    struct capacity *capacity = k->large || k->platform ? mem_new(struct capacity, k->nodes) : NULL;
    for (uint32_t n = 0; capacity && n < k->nodes; n++)
        node_capacity(k, n, &capacity[n]);
    for (uint32_t n = 0; n < k->nodes; n++) {
        struct sched_config s = node_config(c, n, capacity, mean);
        c->nodes[n].sched = sched_new(&s);
        schedulers_later(c, c->at, EVENT_SUBMIT, n, 0);
    }
    free(capacity);
    return true;
}

void schedulers_grow(struct schedulers *c)
{
    for (uint32_t n = 0; n < c->config.nodes; n++) {
        struct sched_config s = node_config(c, n, NULL, 0);
        sched_grow(c->nodes[n].sched, &s);
    }
}

/* Collect what the schedulers counted, then free everything. */
void schedulers_close(struct schedulers *c)
{
    struct schedulers_result *r = c->result;
    r->memory = store_table_bytes(&c->table) + c->queue.cap * sizeof *c->queue.at;
    for (uint32_t n = 0; c->nodes && n < c->config.nodes; n++) {
        struct sched_counts counts;
        sched_snapshot(c->nodes[n].sched, &counts);
        r->steals += counts.steals;
        r->failed_steals += counts.failed_steals;
        r->stolen += counts.stolen;
        r->pushed += counts.pushed;
        r->relaxed += counts.relaxed;
        r->policies[counts.policy]++;
        r->memory += sched_bytes(c->nodes[n].sched) + sizeof *c->nodes;
        sched_free(c->nodes[n].sched);
        schedulers_cache_free(&c->nodes[n].cache);
    }
    free(c->nodes);
    workload_division_free(&c->division);
    schedulers_growth_close(c);
    costs_free(c->costs);
    array_free(&c->told);
    store_table_free(&c->table);
    answers_free(&c->answers);
    queue_free(&c->queue);
    sched_actions_free(&c->out);
    array_free(&c->sends);
    array_free(&c->sent_items);
    for (size_t i = 0; i < c->parcels.all.n; i++)
        free(c->parcels.all.at[i]);
    array_free(&c->parcels.all);
    array_free(&c->parcels.unused);
    array_free(&c->runs.all);
    array_free(&c->runs.unused);
    array_free(&c->fetches.all);
    array_free(&c->fetches.unused);
    array_free(&c->waiters.all);
    array_free(&c->waiters.unused);
    free(c->copies);
    free(c->flying);
}
