/* Branch and bound for plans within memory; prove.h has the contract.
 *
 *     nodes of t0, t1, ... in topological order           pruned by paths and loads
 *        └── all given: which runs and transfers there are is settled
 *              └── at an instant: start one more of them, or let time pass to the next end
 *
 * Why starts at ends suffice: take any valid plan and let every run and transfer begin as early as it can
 * without passing an end (of a run, a transfer, a residence) that it came after. Of residences that overlap
 * now each pair overlapped before, and intervals that overlap in pairs have a point in common: there they
 * fitted. So some shortest plan starts everything at 0 or at an end. A transfer must be free to wait: it takes
 * memory of its receiver from its start on.
 *
 * Of starts at one instant only those in rising order of number are tried. States are copied, not undone: they
 * are small. */
#include "plan/memory/prove.h"
#include "base/clock.h"
#include "plan/memory/keep.h"
#include <math.h>
#include <string.h>

/* A run of a task, or a transfer of an object to a node. */
struct activity {
    uint32_t task, object; /* object NONE: the run of `task` */
    uint32_t node;
    double seconds, tail; /* `tail`: from its start to the end of the plan at least */
};

enum activity_state { WAITS, RUNS, ENDED };

struct prove_state {
    double now;
    uint8_t status[PROVE_ACTIVITIES];
    double end[PROVE_ACTIVITIES]; /* of what runs or has ended */
    uint8_t uses[PROVE_OBJECTS]
                [PROVE_NODES]; /* of a file on a node, to come: readers and transfers away */
    uint8_t readers[PROVE_OBJECTS][PROVE_NODES]; /* of an input of the workflow, running */
    double used[PROVE_NODES];
    uint32_t idle[PROVE_NODES]; /* cores */
    uint32_t left;              /* runs that have not started */
};

struct prove {
    const struct costs *costs;
    const struct workflow *w;
    const struct platform *p;
    const struct prove_limits *limits;
    double deadline, upper;
    uint64_t states;
    bool stopped, done;
    uint32_t node[PROVE_TASKS];
    double early[PROVE_TASKS]; /* while nodes are given: the earliest end */
    double least_tail[PROVE_TASKS];
    struct activity activity[PROVE_ACTIVITIES];
    uint32_t nactivities;
    uint32_t run_of[PROVE_TASKS], arrives_by[PROVE_OBJECTS][PROVE_NODES]; /* activities; NONE */
    bool roomy[PROVE_NODES]; /* all that could be there at once fits */
    /* the best */
    bool found;
    uint32_t best_node[PROVE_TASKS];
    struct activity best_activity[PROVE_ACTIVITIES];
    double best_end[PROVE_ACTIVITIES];
    uint32_t best_count;
};

bool prove_suits(const struct costs *costs)
{
    const struct workflow *w = costs->workflow;
    const struct platform *p = costs->platform;
    if (w->ntasks > PROVE_TASKS || w->nobjects > PROVE_OBJECTS || p->nnodes > PROVE_NODES ||
        w->asks || platform_limits_ports(p))
        return false;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (w->cores[t] != 1)
            return false;
    return w->nobjects * (p->nnodes - 1) + w->ntasks <= PROVE_ACTIVITIES;
}

static bool prove_over(struct prove *s)
{
    s->states++;
    if ((s->limits->states && s->states > s->limits->states) ||
        ((s->states & 255) == 0 && clock_seconds() > s->deadline))
        s->stopped = true;
    return s->stopped || s->done;
}

/* Not shorter than what is known, but for rounding. */
static bool prove_useless(const struct prove *s, double bound)
{
    return bound >= s->upper * (1 - 1e-9);
}

/* ---- runs and transfers in time ---- */

static void take(struct prove_state *x, uint32_t node, double bytes)
{
    x->used[node] += bytes;
}

/* One use of the file on the node is over. */
static void end_use(const struct prove *s, struct prove_state *x, uint32_t object, uint32_t node)
{
    if (--x->uses[object][node] == 0)
        take(x, node, -s->w->size[object]);
}

static double bytes_of_run(const struct prove *s, const struct prove_state *x, uint32_t task)
{
    const struct workflow *w = s->w;
    double bytes = w->memory[task];
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        bytes += w->size[o];
    for (uint32_t i = w->input_off ? w->input_off[task] : 0;
         w->input_off && i < w->input_off[task + 1]; i++)
        bytes += x->readers[w->input_object[i]][s->node[task]] ? 0 : w->size[w->input_object[i]];
    return bytes;
}

/* What it waits for has ended, a core is idle, and memory suffices at this instant: whoever starts later at the
 * same instant sees what this one takes. */
static bool is_startable(const struct prove *s, const struct prove_state *x, uint32_t a)
{
    const struct activity *v = &s->activity[a];
    const struct workflow *w = s->w;
    double bytes;
    if (x->status[a] != WAITS)
        return false;
    if (v->object == NONE) {
        if (!x->idle[v->node])
            return false;
        for (uint32_t e = w->pred_off[v->task]; e < w->pred_off[v->task + 1]; e++) {
            uint32_t o = w->pred_object[e], before = s->run_of[w->pred_task[e]];
            if (o != NONE && s->arrives_by[o][v->node] != NONE)
                before = s->arrives_by[o][v->node];
            if (x->status[before] != ENDED)
                return false;
        }
        bytes = bytes_of_run(s, x, v->task);
    } else {
        if (x->status[s->run_of[v->task]] != ENDED)
            return false;
        bytes = w->size[v->object];
    }
    return x->used[v->node] + bytes <= s->p->memory[v->node] * (1 + 1e-9);
}

static void start_activity(const struct prove *s, struct prove_state *x, uint32_t a)
{
    const struct activity *v = &s->activity[a];
    const struct workflow *w = s->w;
    x->status[a] = RUNS;
    x->end[a] = x->now + v->seconds;
    if (v->object != NONE) {
        take(x, v->node, w->size[v->object]);
        return;
    }
    take(x, v->node, bytes_of_run(s, x, v->task));
    for (uint32_t i = w->input_off ? w->input_off[v->task] : 0;
         w->input_off && i < w->input_off[v->task + 1]; i++)
        x->readers[w->input_object[i]][v->node]++;
    x->idle[v->node]--;
    x->left--;
}

/* Gives back what ends with it, and one use of each input. */
static void end_activity(const struct prove *s, struct prove_state *x, uint32_t a)
{
    const struct activity *v = &s->activity[a];
    const struct workflow *w = s->w;
    x->status[a] = ENDED;
    if (v->object != NONE) {
        end_use(s, x, v->object, s->node[v->task]);
        return;
    }
    x->idle[v->node]++;
    take(x, v->node, -w->memory[v->task]);
    for (uint32_t o = w->object_off[v->task]; o < w->object_end[v->task]; o++)
        if (!workflow_is_intermediate(w, o))
            take(x, v->node, -w->size[o]);
    for (uint32_t i = w->input_off ? w->input_off[v->task] : 0;
         w->input_off && i < w->input_off[v->task + 1]; i++)
        if (--x->readers[w->input_object[i]][v->node] == 0)
            take(x, v->node, -w->size[w->input_object[i]]);
    for (uint32_t e = w->pred_off[v->task]; e < w->pred_off[v->task + 1]; e++)
        if (w->pred_object[e] != NONE)
            end_use(s, x, w->pred_object[e], v->node);
}

/* Every run that has not started still has its tail before it, after what it waits for; and the cores of a
 * node have what is left for them. */
static double bound_of_state(const struct prove *s, const struct prove_state *x)
{
    const struct workflow *w = s->w;
    double bound = 0, early[PROVE_TASKS] = {0}, load[PROVE_NODES] = {0};
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i], a = s->run_of[t];
        if (x->status[a] != WAITS) {
            early[t] = x->end[a];
            bound = fmax(bound, x->end[a]);
            if (x->status[a] == RUNS)
                load[s->node[t]] += x->end[a] - x->now;
            continue;
        }
        double start = x->now;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t o = w->pred_object[e], u = w->pred_task[e];
            double there = early[u];
            uint32_t via = o == NONE ? NONE : s->arrives_by[o][s->node[t]];
            if (via != NONE)
                there = x->status[via] != WAITS ? x->end[via]
                                                : fmax(there, x->now) + s->activity[via].seconds;
            start = fmax(start, there);
        }
        early[t] = start + s->activity[a].seconds;
        bound = fmax(bound, start + s->activity[a].tail);
        load[s->node[t]] += s->activity[a].seconds;
    }
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        bound = fmax(bound, x->now + load[n] / s->p->cores[n]);
    return bound;
}

static void remember_best(struct prove *s, const struct prove_state *x)
{
    double makespan = 0;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        makespan = fmax(makespan, x->end[s->run_of[t]]);
    if (prove_useless(s, makespan))
        return;
    s->upper = makespan;
    s->found = true;
    s->best_count = s->nactivities;
    memcpy(s->best_node, s->node, sizeof s->node);
    memcpy(s->best_activity, s->activity, sizeof s->activity);
    memcpy(s->best_end, x->end, sizeof x->end);
    s->done = makespan <= s->limits->bound * (1 + 1e-9);
}

/* `first`: what starts at this instant has at least this number. The depth is twice the activities. */
static void search_times(struct prove *s, const struct prove_state *x, uint32_t first)
{
    if (prove_over(s) || prove_useless(s, bound_of_state(s, x)))
        return;
    if (!x->left) {
        remember_best(s, x);
        return;
    }
    for (uint32_t a = first; a < s->nactivities; a++) {
        if (!is_startable(s, x, a))
            continue;
        struct prove_state next = *x;
        start_activity(s, &next, a);
        search_times(s, &next, a + 1);
        /* memory of its receiver is no matter: it can only do good to send it now */
        if (s->stopped || s->done ||
            (s->activity[a].object != NONE && s->roomy[s->activity[a].node]))
            return;
    }
    struct prove_state next = *x;
    next.now = INFINITY;
    for (uint32_t a = 0; a < s->nactivities; a++)
        if (x->status[a] == RUNS)
            next.now = fmin(next.now, x->end[a]);
    if (isinf(next.now))
        return;
    for (uint32_t a = 0; a < s->nactivities; a++)
        if (next.status[a] == RUNS && next.end[a] <= next.now * (1 + 1e-12))
            end_activity(s, &next, a);
    search_times(s, &next, 0);
}

/* ---- nodes ---- */

static int compare_activities(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;
    if (x->tail != y->tail)
        return x->tail > y->tail ? -1 : 1;
    return (x->object == NONE) - (y->object == NONE);
}

/* Runs and transfers of the nodes as given, the longest tails first. */
static void list_activities(struct prove *s)
{
    const struct workflow *w = s->w;
    double tail[PROVE_TASKS] = {0};
    s->nactivities = 0;
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t t = w->topo[i];
        double after = 0;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t u = w->succ_task[e], o = w->succ_object[e];
            double moves = o == NONE || s->node[u] == s->node[t]
                               ? 0
                               : platform_transfer(s->p, s->node[t], s->node[u], w->size[o]);
            after = fmax(after, moves + tail[u]);
            bool sent = o == NONE || s->node[u] == s->node[t];
            for (uint32_t a = 0; a < s->nactivities && !sent; a++)
                if (s->activity[a].object == o && s->activity[a].node == s->node[u]) {
                    sent = true;
                    s->activity[a].tail = fmax(s->activity[a].tail, moves + tail[u]);
                }
            if (!sent)
                s->activity[s->nactivities++] =
                    (struct activity){t, o, s->node[u], moves, moves + tail[u]};
        }
        double seconds = costs_time(s->costs, t, s->node[t]);
        tail[t] = seconds + after;
        s->activity[s->nactivities++] = (struct activity){t, NONE, s->node[t], seconds, tail[t]};
    }
    qsort(s->activity, s->nactivities, sizeof *s->activity, compare_activities);
    memset(s->arrives_by, 0xff, sizeof s->arrives_by);
    for (uint32_t a = 0; a < s->nactivities; a++)
        if (s->activity[a].object == NONE)
            s->run_of[s->activity[a].task] = a;
        else
            s->arrives_by[s->activity[a].object][s->activity[a].node] = a;
}

/* All nodes are given: count the uses of every file on every node, then look for times. */
static void search_with_nodes(struct prove *s)
{
    const struct workflow *w = s->w;
    struct prove_state x = {.left = w->ntasks};
    double all[PROVE_NODES] = {0};
    list_activities(s);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        x.idle[n] = s->p->cores[n];
    for (uint32_t t = 0; t < w->ntasks; t++)
        all[s->node[t]] += keep_task_bytes(w, t);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        s->roomy[n] = all[n] <= s->p->memory[n];
    for (uint32_t a = 0; a < s->nactivities; a++) {
        const struct activity *v = &s->activity[a];
        if (v->object != NONE) {
            x.uses[v->object][s->node[v->task]]++;
            continue;
        }
        for (uint32_t e = w->pred_off[v->task]; e < w->pred_off[v->task + 1]; e++)
            if (w->pred_object[e] != NONE)
                x.uses[w->pred_object[e]][v->node]++;
    }
    search_times(s, &x, 0);
}

/* Equal to a node before it that no task has yet: giving the task that one is the same. */
static bool is_repeated(const struct prove *s, uint32_t node, uint32_t given)
{
    const struct platform *p = s->p;
    if (!platform_is_uniform(p) || s->costs->own_row || s->costs->restricted)
        return false;
    for (uint32_t i = 0; i < given; i++)
        if (s->node[s->w->topo[i]] == node)
            return false;
    for (uint32_t m = 0; m < node; m++) {
        bool equal = p->speed[m] == p->speed[node] && p->memory[m] == p->memory[node] &&
                     p->cores[m] == p->cores[node] && p->up[m] == p->up[node];
        for (uint32_t i = 0; i < given && equal; i++)
            equal = s->node[s->w->topo[i]] != m;
        if (equal)
            return true;
    }
    return false;
}

/* Depth first over the nodes of the tasks, each with the earliest end that its predecessors allow. */
static void search_nodes(struct prove *s, uint32_t given)
{
    const struct workflow *w = s->w;
    if (given == w->ntasks) {
        search_with_nodes(s);
        return;
    }
    uint32_t t = w->topo[given];
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double seconds = costs_time(s->costs, t, n), start = 0, load = 0;
        if (!(seconds < INFINITY) || keep_task_bytes(w, t) > s->p->memory[n] * (1 + 1e-9) ||
            is_repeated(s, n, given))
            continue;
        if (prove_over(s))
            return;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t u = w->pred_task[e], o = w->pred_object[e];
            double moves = o == NONE || s->node[u] == n
                               ? 0
                               : platform_transfer(s->p, s->node[u], n, w->size[o]);
            start = fmax(start, s->early[u] + moves);
        }
        s->node[t] = n;
        s->early[t] = start + seconds;
        for (uint32_t i = 0; i <= given; i++)
            if (s->node[w->topo[i]] == n)
                load += costs_time(s->costs, w->topo[i], n);
        if (isfinite(start) && !prove_useless(s, start + seconds + s->least_tail[t]) &&
            !prove_useless(s, load / s->p->cores[n]))
            search_nodes(s, given + 1);
    }
}

/* Cores are handed out when all is known: the first that is idle. */
static struct plan *best_plan(const struct prove *s)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    for (uint32_t a = 0; a < s->best_count; a++) {
        const struct activity *v = &s->best_activity[a];
        double end = s->best_end[a], start = end - v->seconds;
        if (v->object == NONE)
            array_push(&plan->placements, (struct placement){v->task, 0, v->node, 0, start, end});
        else
            array_push(&plan->transfers,
                       (struct transfer){v->object, s->best_node[v->task], v->node, start, end});
    }
    plan->memory = MEMORY_FILES;
    plan_sort(plan);
    for (size_t i = 0; i < plan->placements.n; i++) {
        struct placement *x = &plan->placements.at[i];
        for (bool clash = true; clash; x->core += clash) {
            clash = false;
            for (size_t k = 0; k < i; k++) {
                const struct placement *y = &plan->placements.at[k];
                clash |= y->node == x->node && y->core == x->core &&
                         y->finish > x->start + 1e-12 * x->finish;
            }
        }
    }
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}

struct prove_result prove_shortest(const struct costs *costs, const struct prove_limits *limits)
{
    struct prove *s = mem_new_zero(struct prove, 1);
    const struct workflow *w = s->w = costs->workflow;
    s->costs = costs;
    s->p = costs->platform;
    s->limits = limits;
    s->deadline = isinf(limits->seconds) ? INFINITY : clock_seconds() + limits->seconds;
    s->upper = limits->upper;
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t u = w->succ_task[e];
            s->least_tail[t] =
                fmax(s->least_tail[t], s->least_tail[u] + costs_least(costs, u, NULL));
        }
    }
    search_nodes(s, 0);
    struct prove_result result = {s->found ? best_plan(s) : NULL, !s->stopped, s->states};
    free(s);
    return result;
}
