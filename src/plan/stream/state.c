/* The mapping of a stream while it changes: moves, replicas, estimate, hash. state.h says how it is
 * laid out.
 *
 * Copies are a compressed list: off[t] .. off[t+1] are the copies of task t, cluster[i] where copy
 * i is, home[t] the one that is the original. Every move ends with state_refresh(), O(copies), so
 * that times, replicas and processors always fit each other. */
#include "plan/stream/state.h"
#include "model/graph.h"

/* n^2 / 8 bytes of reachability: 2 MB */
enum { MOST_CLOSURE = 4096 };

void stream_problem_init(struct stream_problem *q, const struct stream_graph *g, uint32_t ports)
{
    *q = (struct stream_problem){.g = g,
                                 .processors = g->nodes_up,
                                 .ports = ports,
                                 .latency = INFINITY,
                                 .duplication = true};
    q->work = stream_work_new(g);
    if (g->ntasks <= MOST_CLOSURE) {
        q->closure = graph_closure(g->w);
        q->closure_words = ((size_t)g->ntasks + 63) / 64;
    }
}

void stream_problem_free(struct stream_problem *q)
{
    stream_work_free(q->work);
    free(q->closure);
}

double stream_problem_most(const struct stream_problem *q)
{
    double most = q->g->total > 0 ? q->processors / q->g->total : INFINITY;
    for (uint32_t t = 0; t < q->g->ntasks; t++)
        if (q->g->w->flags[t] & TASK_NOT_REPLICABLE && q->g->time[t] > 0)
            most = fmin(most, 1 / q->g->time[t]);
    return most;
}

/* ---- life ---- */

void state_init(struct stream_state *s, uint32_t ntasks)
{
    *s = (struct stream_state){.ntasks = ntasks, .cap = (size_t)ntasks * 2 + 8};
    s->off = mem_new_zero(uint32_t, (size_t)ntasks + 1);
    s->cluster = mem_new(uint32_t, s->cap);
    s->home = mem_new(uint32_t, ntasks);
    s->extra = mem_new_zero(double, ntasks);
    s->time = mem_new_zero(double, ntasks);
    s->procs = mem_new_zero(uint32_t, ntasks);
    s->size = mem_new_zero(uint32_t, ntasks);
    s->fixed = mem_new_zero(uint8_t, ntasks);
    s->latency = INFINITY;
}

void state_free(struct stream_state *s)
{
    free(s->off);
    free(s->cluster);
    free(s->home);
    free(s->extra);
    free(s->time);
    free(s->procs);
    free(s->size);
    free(s->fixed);
    *s = (struct stream_state){0};
}

void state_copy(struct stream_state *to, const struct stream_state *from)
{
    uint32_t n = from->ntasks, m = from->nclusters;
    if (to->cap < from->off[n]) {
        to->cap = from->cap;
        to->cluster = mem_resize(to->cluster, to->cap);
    }
    memcpy(to->off, from->off, ((size_t)n + 1) * sizeof *to->off);
    memcpy(to->cluster, from->cluster, from->off[n] * sizeof *to->cluster);
    memcpy(to->home, from->home, n * sizeof *to->home);
    memcpy(to->extra, from->extra, m * sizeof *to->extra);
    memcpy(to->time, from->time, m * sizeof *to->time);
    memcpy(to->procs, from->procs, m * sizeof *to->procs);
    memcpy(to->size, from->size, m * sizeof *to->size);
    memcpy(to->fixed, from->fixed, m);
    to->nclusters = m;
    to->latency = from->latency;
    to->rate = from->rate;
    to->need = from->need;
    to->processors = from->processors;
    to->clusters = from->clusters;
    to->possible = from->possible;
}

void state_single(struct stream_state *s, const struct stream_problem *q)
{
    s->nclusters = s->ntasks;
    for (uint32_t t = 0; t < s->ntasks; t++) {
        s->off[t] = s->cluster[t] = s->home[t] = t;
        s->extra[t] = 0;
    }
    s->off[s->ntasks] = s->ntasks;
    state_refresh(s, q);
}

/* At least 1. ceil() is a call where the processor need not have the instruction. */
static uint32_t state_round_up(double replicas)
{
    if (replicas <= 1)
        return 1;
    uint32_t whole = (uint32_t)replicas;
    return whole + (whole < replicas);
}

/* Replicas of a cluster: throughput x time as a real number (plus `extra`, what moves asked for on
 * top), rounded up; a fixed cluster has one, and the state is impossible when that is too slow. A
 * slack of 1e-7 keeps rounding from costing a whole node. */
static void state_count(struct stream_state *s, const struct stream_problem *q)
{
    s->clusters = 0;
    for (uint32_t c = 0; c < s->nclusters; c++)
        s->clusters += s->size[c] > 0;
    s->processors = 0;
    s->need = 0;
    s->possible = true;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        if (!s->size[c]) {
            s->procs[c] = 0;
            s->extra[c] = 0;
            continue;
        }
        if (s->clusters == 1 || s->fixed[c])
            s->extra[c] = 0;
        double replicas = q->throughput * s->time[c] + s->extra[c];
        if (s->fixed[c] && replicas > 1 + 1e-7)
            s->possible = false;
        s->procs[c] = s->fixed[c] ? 1 : state_round_up(replicas - 1e-7);
        s->processors += s->procs[c];
        s->need += replicas;
    }
}

void state_refresh(struct stream_state *s, const struct stream_problem *q)
{
    const struct stream_graph *g = q->g;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        s->time[c] = 0;
        s->size[c] = 0;
        s->fixed[c] = 0;
    }
    for (uint32_t t = 0; t < s->ntasks; t++)
        for (uint32_t i = s->off[t]; i < s->off[t + 1]; i++) {
            uint32_t c = s->cluster[i];
            s->time[c] += g->time[t];
            s->size[c]++;
            s->fixed[c] |= (g->w->flags[t] & TASK_NOT_REPLICABLE) != 0;
        }
    state_count(s, q);
}

/* ---- moves ---- */

/* O(copies): arrays are short, and a copy of them is made for every trial anyway. */
static void remove_copy(struct stream_state *s, uint32_t task, uint32_t at)
{
    uint32_t end = s->off[s->ntasks];
    memmove(s->cluster + at, s->cluster + at + 1, (end - at - 1) * sizeof *s->cluster);
    for (uint32_t t = task + 1; t <= s->ntasks; t++)
        s->off[t]--;
}

/* Copies of a task stay sorted by cluster: equal mappings look alike. */
static void insert_copy(struct stream_state *s, uint32_t task, uint32_t cluster)
{
    uint32_t end = s->off[s->ntasks], at = s->off[task];
    if (end == s->cap) {
        s->cap += s->cap / 2 + 8;
        s->cluster = mem_resize(s->cluster, s->cap);
    }
    while (at < s->off[task + 1] && s->cluster[at] < cluster)
        at++;
    memmove(s->cluster + at + 1, s->cluster + at, (end - at) * sizeof *s->cluster);
    s->cluster[at] = cluster;
    for (uint32_t t = task + 1; t <= s->ntasks; t++)
        s->off[t]++;
}

/* Does anyone take this copy's output? */
static bool is_read(const struct stream_state *s, const struct workflow *w, uint32_t task,
                    uint32_t cluster)
{
    bool home = s->home[task] == cluster;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t j = w->succ_task[e];
        if (state_has(s, j, cluster))
            return true;
        for (uint32_t i = s->off[j]; home && i < s->off[j + 1]; i++)
            if (!state_has(s, task, s->cluster[i]))
                return true;
    }
    return false;
}

void state_prune(struct stream_state *s, const struct stream_problem *q)
{
    const struct stream_graph *g = q->g;
    if (s->off[s->ntasks] == s->ntasks)
        return;
    /* consumers first: what only an unread copy read goes too */
    for (uint32_t k = s->ntasks; k-- > 0;) {
        uint32_t t = g->tasks[k];
        for (uint32_t i = s->off[t]; i < s->off[t + 1] && s->off[t + 1] - s->off[t] > 1;) {
            uint32_t c = s->cluster[i];
            bool exit = g->w->succ_off[t] == g->w->succ_off[t + 1];
            if (exit ? c == s->home[t] : is_read(s, g->w, t, c)) {
                i++;
                continue;
            }
            remove_copy(s, t, i);
            if (c == s->home[t])
                s->home[t] = s->cluster[s->off[t]];
        }
    }
}

/* Without duplicates: every task has one copy, of the other clusters nothing changes, and the sum of
 * the times is that of state_refresh(), in its order. */
static void merge_plain(struct stream_state *s, const struct stream_problem *q, uint32_t keep,
                        uint32_t gone)
{
    double time = 0;
    uint32_t size = 0;
    for (uint32_t t = 0; t < s->ntasks; t++) {
        uint32_t c = s->cluster[t];
        if (c != keep && c != gone)
            continue;
        s->cluster[t] = s->home[t] = keep;
        time += q->g->time[t];
        size++;
    }
    s->time[keep] = time;
    s->size[keep] = size;
    s->fixed[keep] |= s->fixed[gone];
    s->time[gone] = 0;
    s->size[gone] = s->fixed[gone] = 0;
    s->extra[keep] += s->extra[gone];
    s->extra[gone] = 0;
    state_count(s, q);
}

/* The lower number stays; a task that both had keeps one copy. One pass over all copies. */
void state_merge(struct stream_state *s, const struct stream_problem *q, uint32_t a, uint32_t b)
{
    uint32_t keep = a < b ? a : b, gone = a < b ? b : a;
    uint32_t write = 0;
    if (s->off[s->ntasks] == s->ntasks && keep != gone) {
        merge_plain(s, q, keep, gone);
        return;
    }
    for (uint32_t t = 0; t < s->ntasks; t++) {
        uint32_t from = s->off[t], to = s->off[t + 1], first = write;
        bool had = false;
        for (uint32_t i = from; i < to; i++)
            had |= s->cluster[i] == keep;
        for (uint32_t i = from; i < to; i++) {
            uint32_t c = s->cluster[i];
            if (c == gone && had)
                continue;
            s->cluster[write++] = c == gone ? keep : c;
            for (uint32_t k = write - 1; c == gone && k > first && s->cluster[k - 1] > keep; k--) {
                s->cluster[k] = s->cluster[k - 1];
                s->cluster[k - 1] = keep;
            }
        }
        if (s->home[t] == gone)
            s->home[t] = keep;
        s->off[t] = first;
    }
    s->off[s->ntasks] = write;
    s->extra[keep] += s->extra[gone];
    s->extra[gone] = 0;
    state_prune(s, q);
    state_refresh(s, q);
}

void state_add(struct stream_state *s, const struct stream_problem *q, uint32_t task,
               uint32_t cluster)
{
    if (!state_has(s, task, cluster))
        insert_copy(s, task, cluster);
    state_prune(s, q);
    state_refresh(s, q);
}

/* The copy in `from` goes to `to`, which may be a new cluster. */
void state_move(struct stream_state *s, const struct stream_problem *q, uint32_t task,
                uint32_t from, uint32_t to)
{
    for (uint32_t i = s->off[task]; i < s->off[task + 1]; i++)
        if (s->cluster[i] == from) {
            remove_copy(s, task, i);
            break;
        }
    if (to >= s->nclusters) {
        s->nclusters = to + 1;
        s->extra[to] = 0;
    }
    if (!state_has(s, task, to))
        insert_copy(s, task, to);
    if (s->home[task] == from)
        s->home[task] = to;
    state_prune(s, q);
    state_refresh(s, q);
}

void state_ask(struct stream_state *s, const struct stream_problem *q, uint32_t cluster,
               uint32_t replicas)
{
    if (s->procs[cluster] < replicas)
        s->extra[cluster] = replicas - q->throughput * s->time[cluster];
}

/* Clusters keep their order, empty ones go. */
void state_compact(struct stream_state *s, struct stream_estimate *e)
{
    uint32_t next = 0;
    uint32_t *number = mem_new(uint32_t, s->nclusters);
    for (uint32_t c = 0; c < s->nclusters; c++) {
        number[c] = s->size[c] ? next : NONE;
        if (!s->size[c])
            continue;
        s->extra[next] = s->extra[c];
        s->time[next] = s->time[c];
        s->procs[next] = s->procs[c];
        s->size[next] = s->size[c];
        s->fixed[next] = s->fixed[c];
        next++;
    }
    for (uint32_t i = 0; i < s->off[s->ntasks]; i++)
        s->cluster[i] = number[s->cluster[i]];
    for (uint32_t t = 0; t < s->ntasks; t++)
        s->home[t] = number[s->home[t]];
    if (e && next < s->nclusters)
        stream_estimate_renumber(e, number);
    s->nclusters = next;
    free(number);
}

/* ---- judging ---- */

static bool state_judged(struct stream_state *s, const struct stream_estimate *e, bool within)
{
    s->latency = within ? e->latency : INFINITY;
    s->rate = within ? e->throughput : 0;
    return within;
}

bool state_estimate_above(struct stream_state *s, const struct stream_problem *q, double limit,
                          double rate, const struct stream_estimate *base,
                          struct stream_estimate *out)
{
    struct stream_map map = state_map(s);
    return state_judged(s, out,
                        stream_estimate_above(q->work, &map, q->ports, limit,
                                              rate * (1 - STREAM_TOLERANCE), base, out));
}

bool state_estimate_past(struct stream_state *s, const struct stream_problem *q, double limit,
                         const uint32_t *tasks, size_t ntasks, const struct stream_estimate *base,
                         struct stream_estimate *out)
{
    struct stream_map map = state_map(s);
    return state_judged(
        s, out, stream_estimate_past(q->work, &map, q->ports, limit, tasks, ntasks, base, out));
}

bool state_estimate(struct stream_state *s, const struct stream_problem *q, double limit,
                    const struct stream_estimate *base, struct stream_estimate *out)
{
    return state_estimate_above(s, q, limit, 0, base, out);
}

void state_perform(struct stream_state *s, const struct stream_problem *q,
                   struct stream_estimate *now, struct stream_estimate *spare, bool judged)
{
    if (!judged)
        state_estimate(s, q, INFINITY, now, spare);
    struct stream_estimate before = *now;
    *now = *spare;
    *spare = before;
    state_compact(s, now);
}

bool state_misses(const struct stream_state *s, const struct stream_problem *q, double rate)
{
    struct stream_map map = state_map(s);
    return stream_rate_below(q->work, &map, q->ports, rate * (1 - STREAM_TOLERANCE));
}

bool state_meets(const struct stream_state *s, const struct stream_problem *q)
{
    return s->possible && s->processors <= q->processors &&
           s->rate >= q->throughput * (1 - STREAM_TOLERANCE);
}

/* splitmix64's finaliser: sums over clusters do not depend on their numbers. */
static uint64_t state_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t state_hash(const struct stream_state *s)
{
    uint64_t *sum = mem_new_zero(uint64_t, s->nclusters), all = 0;
    for (uint32_t t = 0; t < s->ntasks; t++)
        for (uint32_t i = s->off[t]; i < s->off[t + 1]; i++)
            sum[s->cluster[i]] += state_mix(2 * (uint64_t)t + (s->cluster[i] == s->home[t]) + 1);
    for (uint32_t c = 0; c < s->nclusters; c++)
        if (s->size[c])
            all += state_mix(sum[c] + s->procs[c]);
    free(sum);
    return all;
}

/* Numbers of clusters count by their order alone: they decide which of two messages of an edge goes
 * first. */
uint64_t state_fingerprint(const struct stream_state *s)
{
    uint32_t *number = mem_new(uint32_t, s->nclusters), next = 0;
    uint64_t all = 1;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        number[c] = next;
        next += s->size[c] > 0;
        if (s->size[c])
            all = state_mix(all + s->procs[c]);
    }
    for (uint32_t t = 0; t < s->ntasks; t++) {
        for (uint32_t i = s->off[t]; i < s->off[t + 1]; i++)
            all = state_mix(all * 3 + number[s->cluster[i]]);
        all = state_mix(all * 3 + number[s->home[t]] + ((uint64_t)1 << 32));
    }
    free(number);
    return all;
}

void state_close(struct stream_state *s, const struct stream_problem *q,
                 const struct stream_estimate *e)
{
    double rate = INFINITY;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        if (!s->size[c] || s->fixed[c])
            continue;
        double compute = q->throughput * s->time[c],
               talk = ceil(q->throughput * e->component.at[c] - 1e-7);
        s->extra[c] = talk > fmax(1, ceil(compute - 1e-7)) ? talk - compute : 0;
    }
    state_refresh(s, q);
    for (uint32_t c = 0; c < s->nclusters; c++) {
        if (!s->size[c])
            continue;
        if (s->time[c] > 0)
            rate = fmin(rate, s->procs[c] / s->time[c]);
        if (e->component.at[c] > 0)
            rate = fmin(rate, s->procs[c] / e->component.at[c]);
    }
    s->rate = rate;
}
