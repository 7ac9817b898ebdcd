/* EXPERT (Guirado et al., Cluster 2005, as the report reconstructs it): maximal clusters that fit a
 * period of 1 / throughput, along the longest paths; and EXP-e, which shares the processors left
 * out among the clusters.
 *
 * 1. Of the tasks not yet in a cluster the one on the longest path: walk that path, filling
 * clusters up to the period. 2. Merge the pair of clusters with the heaviest traffic that fits the
 * period, while there is one. 3. While there are more clusters than processors, merge the two
 * lightest (the throughput may then be missed).
 *
 * O(paths x tasks + merges x edges). Ties: bottom level, then lowest cluster. */
#include "model/stream_schedule.h"
#include "plan/stream/baselines.h"

struct expert {
    const struct stream_problem *q;
    const struct stream_graph *g;
    double cap;
    uint32_t *cluster; /* per task; NONE: not assigned */
    double *weight;    /* per cluster */
    uint8_t *fixed;    /* per cluster: holds a task that may not be replicated; NULL: as if none */
    uint32_t nclusters;
    double *top;
    uint32_t *before, *after; /* neighbours on the longest path through a task */
};

/* Top levels, and each task's neighbours on the longest path through it. */
static void longest_paths(struct expert *s)
{
    const struct stream_graph *g = s->g;
    const struct workflow *w = g->w;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        s->top[t] = 0;
        s->before[t] = s->after[t] = NONE;
    }
    for (uint32_t k = 0; k < g->norder; k++) {
        uint32_t t = g->order[k];
        if (t >= g->ntasks)
            continue;
        double below = -1;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t j = w->succ_task[e];
            double here = s->top[t] + g->time[t] + g->transfer[e];
            if (here > s->top[j] || s->before[j] == NONE) {
                s->top[j] = here;
                s->before[j] = t;
            }
            if (g->transfer[e] + g->bottom[j] > below) {
                below = g->transfer[e] + g->bottom[j];
                s->after[t] = j;
            }
        }
    }
}

/* Along the longest path through the task: stay in the cluster in hand while the period allows it.
 */
static void walk_path(struct expert *s, uint32_t through)
{
    uint32_t current = NONE;
    ARRAY(uint32_t) path = {0};
    for (uint32_t u = through; u != NONE; u = s->before[u])
        array_push(&path, u);
    for (size_t i = 0; i < path.n / 2; i++) {
        uint32_t swap = path.at[i];
        path.at[i] = path.at[path.n - 1 - i];
        path.at[path.n - 1 - i] = swap;
    }
    for (uint32_t u = s->after[through]; u != NONE; u = s->after[u])
        array_push(&path, u);
    for (size_t i = 0; i < path.n; i++) {
        uint32_t u = path.at[i];
        if (s->cluster[u] != NONE) {
            current = s->cluster[u];
            continue;
        }
        if (current == NONE || s->weight[current] + s->g->time[u] > s->cap * (1 + 1e-7)) {
            current = s->nclusters++;
            s->weight[current] = 0;
        }
        s->cluster[u] = current;
        s->weight[current] += s->g->time[u];
    }
    array_free(&path);
}

/* The lower number stays; the last cluster takes the number that became free. */
static void merge_clusters(struct expert *s, uint32_t a, uint32_t b)
{
    uint32_t keep = a < b ? a : b, gone = a < b ? b : a;
    s->weight[keep] += s->weight[gone];
    s->weight[gone] = s->weight[--s->nclusters];
    if (s->fixed) {
        s->fixed[keep] |= s->fixed[gone];
        s->fixed[gone] = s->fixed[s->nclusters];
    }
    for (uint32_t t = 0; t < s->g->ntasks; t++) {
        if (s->cluster[t] == gone)
            s->cluster[t] = keep;
        if (s->cluster[t] == s->nclusters)
            s->cluster[t] = gone;
    }
}

/* Traffic by pair of clusters: open addressing, emptied by a new epoch. */
struct traffic {
    uint64_t *pair;
    double *sum;
    uint32_t *epoch, now;
    size_t mask;
};

/* At most one pair an edge: the table stays half empty. */
static void traffic_init(struct traffic *t, uint32_t nedges)
{
    *t = (struct traffic){.mask = 15};
    while (t->mask < 2 * (size_t)nedges)
        t->mask = 2 * t->mask + 1;
    t->pair = mem_new(uint64_t, t->mask + 1);
    t->sum = mem_new(double, t->mask + 1);
    t->epoch = mem_new_zero(uint32_t, t->mask + 1);
}

static void traffic_free(struct traffic *t)
{
    free(t->pair);
    free(t->sum);
    free(t->epoch);
}

static double traffic_add(struct traffic *t, uint32_t low, uint32_t high, double seconds)
{
    uint64_t key = (uint64_t)low << 32 | high;
    size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & t->mask;
    while (t->epoch[at] == t->now && t->pair[at] != key)
        at = (at + 1) & t->mask;
    if (t->epoch[at] != t->now) {
        t->epoch[at] = t->now;
        t->pair[at] = key;
        t->sum[at] = 0;
    }
    return t->sum[at] += seconds;
}

/* Together within the cap, and within one period where there is but one replica. */
static bool pair_fits(const struct expert *s, uint32_t x, uint32_t y)
{
    double weight = s->weight[x] + s->weight[y];
    bool one = s->fixed && (s->fixed[x] || s->fixed[y]);
    return weight <= s->cap * (1 + 1e-7) && !(one && weight * s->q->throughput > 1 + 1e-7);
}

/* Merge the joined pair that fits the cap and has the heaviest traffic; false: none fits. */
static bool merge_heaviest(struct expert *s, struct traffic *traffic)
{
    const struct stream_graph *g = s->g;
    uint32_t a = NONE, b = NONE;
    double most = -1;
    traffic->now++;
    for (uint32_t e = 0; e < g->nedges; e++) {
        uint32_t x = s->cluster[g->edge_from[e]], y = s->cluster[g->w->succ_task[e]];
        if (x == y || !pair_fits(s, x, y))
            continue;
        uint32_t low = x < y ? x : y, high = x < y ? y : x;
        double sum = traffic_add(traffic, low, high, g->transfer[e]);
        bool earlier = low < a || (low == a && high < b);
        if (sum > most || (sum == most && earlier)) {
            most = sum;
            a = low;
            b = high;
        }
    }
    if (a == NONE)
        return false;
    merge_clusters(s, a, b);
    return true;
}

static void merge_all_joined(struct expert *s)
{
    struct traffic traffic;
    traffic_init(&traffic, s->g->nedges);
    while (merge_heaviest(s, &traffic))
        continue;
    traffic_free(&traffic);
}

/* When processors do not suffice; the period is given up. */
static void merge_lightest(struct expert *s)
{
    uint32_t first = 0, second = 1;
    if (s->weight[1] < s->weight[0])
        first = 1, second = 0;
    for (uint32_t c = 2; c < s->nclusters; c++) {
        if (s->weight[c] < s->weight[first]) {
            second = first;
            first = c;
        } else if (s->weight[c] < s->weight[second]) {
            second = c;
        }
    }
    merge_clusters(s, first, second);
}

/* The processors left, in proportion to weight; remainders to the largest fractions. */
static void share_out(const struct expert *s, const struct stream_state *state, uint32_t left,
                      uint32_t *procs)
{
    double total = 0;
    uint32_t given = 0;
    bool *got = mem_new_zero(bool, s->nclusters);
    for (uint32_t c = 0; c < s->nclusters; c++)
        total += state->fixed[c] ? 0 : s->weight[c];
    if (total > 0) {
        for (uint32_t c = 0; c < s->nclusters; c++) {
            uint32_t whole =
                state->fixed[c] ? 0 : (uint32_t)floor(left * s->weight[c] / total + 1e-9);
            procs[c] += whole;
            given += whole;
        }
        while (given < left) {
            uint32_t best = NONE;
            double most = -1;
            for (uint32_t c = 0; c < s->nclusters; c++) {
                double exact = left * s->weight[c] / total, rest = exact - floor(exact + 1e-9);
                if (!state->fixed[c] && !got[c] && rest > most) {
                    most = rest;
                    best = c;
                }
            }
            if (best == NONE)
                break;
            got[best] = true;
            procs[best]++;
            given++;
        }
    }
    free(got);
}

/* Steps 1 to 3: every task in a cluster, no more clusters than processors. */
static void make_expert_clusters(struct expert *s)
{
    const struct stream_graph *g = s->g;
    uint32_t n = g->ntasks;
    longest_paths(s);
    for (;;) {
        uint32_t best = NONE;
        for (uint32_t k = 0; k < g->norder; k++) {
            uint32_t t = g->order[k];
            if (t < n && s->cluster[t] == NONE &&
                (best == NONE || s->top[t] + g->bottom[t] >
                                     (s->top[best] + g->bottom[best]) * (1 + STREAM_TOLERANCE)))
                best = t;
        }
        if (best == NONE)
            break;
        walk_path(s, best);
    }
    merge_all_joined(s);
    while (s->nclusters > s->q->processors)
        merge_lightest(s);
}

uint32_t expert_coarsen(const struct stream_problem *q, double cap, uint32_t *cluster,
                        uint32_t nclusters)
{
    struct expert s = {.q = q, .g = q->g, .cap = cap, .cluster = cluster, .nclusters = nclusters};
    s.weight = mem_new_zero(double, nclusters);
    s.fixed = mem_new_zero(uint8_t, nclusters);
    for (uint32_t t = 0; t < q->g->ntasks; t++) {
        s.weight[cluster[t]] += q->g->time[t];
        s.fixed[cluster[t]] |= (q->g->w->flags[t] & TASK_NOT_REPLICABLE) != 0;
    }
    merge_all_joined(&s);
    free(s.weight);
    free(s.fixed);
    return s.nclusters;
}

/* The clusters as a state with its estimate; one replica each, or the processors left shared out.
 */
static void fill_expert_state(const struct expert *s, bool extended, struct stream_state *state)
{
    const struct stream_problem *q = s->q;
    uint32_t n = s->g->ntasks;
    struct stream_problem idle = *q;
    struct stream_estimate e = {0};
    idle.throughput = 0;
    state_init(state, n);
    state->nclusters = s->nclusters;
    for (uint32_t t = 0; t < n; t++) {
        state->off[t] = t;
        state->cluster[t] = state->home[t] = s->cluster[t];
    }
    state->off[n] = n;
    state_refresh(state, &idle);
    if (extended && q->processors > s->nclusters)
        share_out(s, state, q->processors - s->nclusters, state->procs);
    state->processors = 0;
    for (uint32_t c = 0; c < s->nclusters; c++) {
        state->extra[c] = state->procs[c];
        state->processors += state->procs[c];
    }
    state_estimate(state, q, INFINITY, NULL, &e);
    stream_estimate_free(&e);
}

/* The clusters, then what they are worth. */
void expert_run(const struct stream_problem *q, bool extended, struct mos_result *out)
{
    const struct stream_graph *g = q->g;
    uint32_t n = g->ntasks;
    struct expert s = {.q = q, .g = g, .cap = q->throughput > 0 ? 1 / q->throughput : INFINITY};
    s.cluster = mem_new(uint32_t, n);
    s.weight = mem_new_zero(double, (size_t)n + 2);
    s.top = mem_new(double, n);
    s.before = mem_new(uint32_t, n);
    s.after = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++)
        s.cluster[t] = NONE;
    make_expert_clusters(&s);
    struct stream_state *state = &out->state;
    fill_expert_state(&s, extended, state);
    out->asked = 0;
    out->pipelined = true;
    out->latency = state->latency;
    out->throughput = state->rate;
    out->meets = state_meets(state, q);
    free(s.cluster);
    free(s.weight);
    free(s.top);
    free(s.before);
    free(s.after);
}

/* ---- the planners ---- */

bool baseline_can(const struct stream_problem *q, const struct planner *p,
                  const struct stream_target *target, struct error *err)
{
    if (!q->g->uniform)
        return error_set(
            err, ERROR_INPUT,
            "planner '%s' takes platforms of equal nodes and links; planner 'stream' takes any",
            p->name);
    if (isfinite(target->latency))
        return error_set(err, ERROR_INPUT,
                         "planner '%s' takes a throughput, not a latency; 'mos' and 'stream' do",
                         p->name);
    return true;
}

extern const struct planner planner_expert, planner_expert_e;

static struct plan *run_expert(const struct plan_request *request, bool extended, struct error *err)
{
    const struct planner *planner = extended ? &planner_expert_e : &planner_expert;
    struct stream_problem q = {0};
    struct stream_graph *g = NULL;
    struct stream_target target;
    struct mos_result result = {0};
    struct plan *plan = NULL;
    if (!stream_problem_open(request, planner, &q, &g, &target, err))
        return NULL;
    if (baseline_can(&q, planner, &target, err)) {
        expert_run(&q, extended, &result);
        plan = stream_plan(&q, &result);
        stream_plan_schedule(g, plan, q.throughput, INFINITY);
        if (!result.meets)
            plan_note(plan, "the required throughput of %.10g is not met", q.throughput);
        mos_result_free(&result);
    }
    stream_problem_free(&q);
    stream_graph_free(g);
    return plan;
}

static struct plan *plan_expert_plain(const struct plan_request *request, struct error *err)
{
    return run_expert(request, false, err);
}

static struct plan *plan_expert_extended(const struct plan_request *request, struct error *err)
{
    return run_expert(request, true, err);
}

static const struct option expert_options[] = {STREAM_OPTIONS, {0}};

const struct planner planner_expert = {
    .name = "expert",
    .family = "stream",
    .summary =
        "EXPERT: clusters along the longest paths, as large as the period allows; one replica each",
    .paper = "Guirado et al., Cluster 2005, as reconstructed from OSU-CISRC-4/08-TR17",
    .tie_rule = "longest path first, then bottom level; clusters by number",
    .options = expert_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = plan_expert_plain,
};

const struct planner planner_expert_e = {
    .name = "expert-e",
    .family = "stream",
    .summary = "EXPERT, the processors left shared out among the clusters by weight",
    .paper = "OSU-CISRC-4/08-TR17, section 5",
    .tie_rule = "longest path first, then bottom level; clusters by number",
    .options = expert_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_STREAM,
    .run = plan_expert_extended,
};
