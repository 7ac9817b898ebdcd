/* Heads and tails of tasks on nodes; early.h says what they are and why they hold.
 *
 * A task's window is its nearest ancestors in the order of the graph, at most `reach` of them, found
 * once for all classes. For each class and start T the window is walked from the task v upwards. What
 * is known of every ancestor u: if v starts at T or before, a copy of u ends near(u) before T on v's
 * node, or far(u) before T on another.
 *
 *    near(u) = max over w after u of min(t(w here) + near(w), comm + t(w elsewhere) + far(w))
 *    far(u)  = max over w after u of min(comm + t(w here) + near(w), t(w elsewhere) + far(w))
 *
 * A w that cannot end here in time is elsewhere, and the first of each min is left out; one that
 * cannot end elsewhere in time is here, forced, and the second is left out. One that can do neither
 * refutes T, as do forced ones that do not fit onto the node together. What is left out of the window
 * only makes near and far smaller, so that the bound holds. */
#include "plan/search/early.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/heap.h"
#include <math.h>
#include <string.h>

/* How close the least start is found, and the first step to find a later one: parts of it. */
#define EARLY_PRECISION 1e-3
#define EARLY_STEP 0.02

/* ---- classes ---- */

static bool same_column(const struct problem *p, uint32_t a, uint32_t b)
{
    if (p->core_off[a + 1] - p->core_off[a] != p->core_off[b + 1] - p->core_off[b])
        return false;
    for (uint32_t t = 0; t < p->n; t++)
        if (p->time[(size_t)t * p->m + a] != p->time[(size_t)t * p->m + b])
            return false;
    return true;
}

/* The class of every node; alike nodes are found by the sum of their times first, so that most pairs
 * cost one comparison. */
static uint32_t group_nodes(const struct problem *p, uint32_t *first)
{
    double *sum = mem_new_zero(double, p->m);
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t v = 0; v < p->m; v++)
            sum[v] += p->time[(size_t)t * p->m + v];
    uint32_t count = 0;
    for (uint32_t v = 0; v < p->m; v++) {
        uint32_t c = 0;
        while (c < count && !(sum[first[c]] == sum[v] && same_column(p, first[c], v)))
            c++;
        if (c == count)
            first[count++] = v;
    }
    free(sum);
    return count;
}

static void fill_merged(struct early_classes *c, const struct problem *p)
{
    for (uint32_t v = 0; v < p->m; v++) {
        uint32_t cores = p->core_off[v + 1] - p->core_off[v];
        c->members[0] += cores > 0;
        c->cores[0] = fmax(c->cores[0], cores);
    }
    for (uint32_t t = 0; t < p->n; t++)
        c->time[t] = p->least[t];
}

static void fill_classes(struct early_classes *c, const struct problem *p, const uint32_t *first)
{
    for (uint32_t k = 0; k < c->count; k++) {
        c->cores[k] = p->core_off[first[k] + 1] - p->core_off[first[k]];
        for (uint32_t v = first[k]; v < p->m; v++)
            c->members[k] += v == first[k] || same_column(p, first[k], v);
        for (uint32_t t = 0; t < p->n; t++)
            c->time[(size_t)t * c->count + k] = p->time[(size_t)t * p->m + first[k]];
    }
}

struct early_classes early_classes_new(const struct problem *p, bool merged)
{
    struct early_classes c = {.count = 1};
    uint32_t *first = mem_new(uint32_t, (size_t)p->m + 1);
    if (!merged)
        c.count = group_nodes(p, first);
    c.time = mem_new(double, (size_t)p->n *c.count);
    c.else_least = mem_new(double, (size_t)p->n *c.count);
    c.members = mem_new_zero(uint32_t, c.count);
    c.cores = mem_new_zero(double, c.count);
    if (merged)
        fill_merged(&c, p);
    else
        fill_classes(&c, p, first);
    free(first);
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t k = 0; k < c.count; k++) {
            double least = INFINITY;
            for (uint32_t j = 0; j < c.count; j++)
                if (j != k || c.members[j] > 1)
                    least = fmin(least, c.time[(size_t)t * c.count + j]);
            c.else_least[(size_t)t * c.count + k] = least;
        }
    return c;
}

void early_classes_free(struct early_classes *c)
{
    free(c->time);
    free(c->else_least);
    free(c->members);
    free(c->cores);
    *c = (struct early_classes){0};
}

/* ---- one pass over the graph ---- */

/* An ancestor that may have to run on the task's own node. */
struct early_need {
    double head, time, near; /* not before, here, from its end to the task's start */
};

struct early_edge {
    uint32_t to; /* a place in the window */
    double comm;
};

struct early_pass {
    const struct problem *p;
    const struct early_options *o;
    const uint32_t *off, *before; /* edges into each task, in the direction of the pass */
    const double *comm;
    double *early;        /* n x classes */
    double *else_end;     /* n x classes: the earliest end on any node but this one */
    uint32_t *window;     /* the task and its ancestors, nearest first */
    uint32_t count;       /* of them */
    uint32_t *slot;       /* by task: its place in the window, NONE */
    uint32_t *window_off; /* by place in the window: its edges to others in it */
    ARRAY(struct early_edge) edge;
    double *near, *far;   /* by place in the window */
    struct heap frontier; /* by falling place in the order */
    struct heap running;  /* by falling tail: of the preemptive schedule */
    struct early_need *need;
    uint32_t nneeds;
};

static double place_of(const struct early_pass *s, uint32_t task)
{
    double rank = s->p->rank[task];
    return s->o->backwards ? -rank : rank;
}

/* The task and its nearest ancestors; a task enters when the first that it feeds does, and leaves the
 * frontier after all of them. */
static void open_window(struct early_pass *s, uint32_t task, bool *cut)
{
    s->count = 0;
    heap_clear(&s->frontier);
    heap_push(&s->frontier, -place_of(s, task), task);
    s->slot[task] = 0;
    while (s->frontier.n && s->count <= s->o->reach) {
        uint32_t t = (uint32_t)heap_pop(&s->frontier).value;
        s->slot[t] = s->count;
        s->window[s->count++] = t;
        for (uint32_t e = s->off[t]; e < s->off[t + 1]; e++) {
            uint32_t u = s->before[e];
            if (s->slot[u] != NONE)
                continue;
            s->slot[u] = 0; /* waits in the frontier */
            heap_push(&s->frontier, -place_of(s, u), u);
        }
    }
    *cut |= s->frontier.n > 0;
    while (s->frontier.n)
        s->slot[heap_pop(&s->frontier).value] = NONE;
    s->edge.n = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t t = s->window[i];
        s->window_off[i] = (uint32_t)s->edge.n;
        for (uint32_t e = s->off[t]; e < s->off[t + 1]; e++)
            if (s->slot[s->before[e]] != NONE)
                array_push(&s->edge, (struct early_edge){s->slot[s->before[e]], s->comm[e]});
    }
    s->window_off[s->count] = (uint32_t)s->edge.n;
}

static void close_window(struct early_pass *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->slot[s->window[i]] = NONE;
}

static int by_head(const void *a, const void *b)
{
    const struct early_need *x = a, *y = b;
    return x->head < y->head ? -1 : x->head > y->head;
}

/* How early the task can start when all its needs run on its own node before it: Jackson's preemptive
 * schedule, which no true one beats. Several cores are one that is faster. */
static double run_together(struct early_pass *s)
{
    qsort(s->need, s->nneeds, sizeof *s->need, by_head);
    double now = 0, latest = 0;
    uint32_t i = 0;
    heap_clear(&s->running);
    while (s->running.n || i < s->nneeds) {
        if (!s->running.n)
            now = fmax(now, s->need[i].head);
        for (; i < s->nneeds && s->need[i].head <= now; i++)
            heap_push(&s->running, -s->need[i].near, i);
        double next = i < s->nneeds ? s->need[i].head : INFINITY;
        struct early_need *top = &s->need[s->running.at->value]; /* one runs, or has just begun */
        if (now + top->time <= next) {
            now += top->time;
            heap_pop(&s->running);
            latest = fmax(latest, now + top->near);
        } else {
            top->time -= next - now;
            now = next;
        }
        if (isinf(now))
            return INFINITY;
    }
    return latest;
}

/* What is said of one in the window: a copy of it ends `near` before the start on this node, or `far`
 * before it on another; INFINITY: that one does not. Its own predecessors follow. */
static void pass_on(struct early_pass *s, uint32_t i, double here, double away)
{
    for (uint32_t e = s->window_off[i]; e < s->window_off[i + 1]; e++) {
        uint32_t u = s->edge.at[e].to;
        double comm = s->edge.at[e].comm;
        double near = fmin(here, comm + away), far = fmin(comm + here, away);
        /* with copies another way may begin at another copy: only the way that decides counts */
        if (!s->o->copies || far == s->far[u])
            s->near[u] = fmax(s->near[u], near);
        else if (far > s->far[u])
            s->near[u] = near;
        s->far[u] = fmax(s->far[u], far);
    }
}

/* Can the window's first task start at T, or before, on a node of class k? If not, *next is when
 * something is decided otherwise, later than T. */
static bool can_start(struct early_pass *s, uint32_t k, double T, double *next)
{
    const struct early_classes *c = s->o->classes;
    memset(s->near, 0, s->count * sizeof *s->near);
    memset(s->far, 0, s->count * sizeof *s->far);
    pass_on(s, 0, 0, INFINITY);
    s->nneeds = 0;
    *next = INFINITY;
    for (uint32_t i = 1; i < s->count; i++) {
        uint32_t u = s->window[i];
        size_t at = (size_t)u * c->count + k;
        double near = s->near[i], here = s->early[at] + c->time[at] + near,
               away = s->else_end[at] + s->far[i];
        bool is_here = here <= T, is_away = away <= T;
        if (!is_here)
            *next = fmin(*next, here);
        if (!is_away)
            *next = fmin(*next, away);
        if (!is_here && !is_away)
            return false;
        if (!is_away)
            s->need[s->nneeds++] =
                (struct early_need){s->early[at], c->time[at] * s->p->cores[u] / c->cores[k], near};
        pass_on(s, i, is_here ? c->time[at] + near : INFINITY,
                is_away ? c->else_least[at] + s->far[i] : INFINITY);
    }
    double together = s->nneeds ? run_together(s) : 0;
    *next = fmin(*next, together);
    return together <= T;
}

/* The head of the window's first task on a node of class k: the least start that is not refuted,
 * found by halving, since every refuted one refutes those before it. What halving leaves open is
 * given away. */
static double start_on(struct early_pass *s, uint32_t k)
{
    const struct early_classes *c = s->o->classes;
    uint32_t task = s->window[0];
    if (isinf(c->time[(size_t)task * c->count + k]))
        return INFINITY;
    double low = s->o->least ? s->o->least[task] : 0, high = INFINITY, step = 0, next;
    for (uint32_t e = s->off[task]; e < s->off[task + 1]; e++) {
        size_t at = (size_t)s->before[e] * c->count + k;
        low = fmax(low, fmin(s->else_end[at] + s->comm[e], s->early[at] + c->time[at]));
    }
    while (isfinite(low) && high - low > EARLY_PRECISION * low) {
        double T = isinf(high) ? low + step : low + (high - low) / 2;
        if (can_start(s, k, T, &next)) {
            high = T;
            if (step == 0)
                return T;
        } else {
            low = fmin(high, next);
            step = step > 0 ? 2 * step : EARLY_STEP * low;
        }
    }
    return low;
}

/* All classes of one task; what breaks the limit is no place for it. False: none is left. */
static bool place_task(struct early_pass *s, uint32_t task)
{
    const struct early_classes *c = s->o->classes;
    size_t row = (size_t)task * c->count;
    bool possible = false;
    for (uint32_t k = 0; k < c->count; k++) {
        double start = start_on(s, k), end = start + c->time[row + k];
        if (s->o->rest && end + s->o->rest[row + k] > s->o->limit * (1 + 1e-9))
            start = INFINITY;
        s->early[row + k] = start;
        possible |= isfinite(start);
    }
    for (uint32_t k = 0; k < c->count; k++) {
        double least = INFINITY;
        for (uint32_t j = 0; j < c->count; j++)
            if (j != k || c->members[j] > 1)
                least = fmin(least, s->early[row + j] + c->time[row + j]);
        s->else_end[row + k] = least;
    }
    return possible;
}

enum early_answer early_starts(const struct problem *p, const struct early_options *o,
                               double *early, bool *cut)
{
    struct early_pass s = {.p = p, .o = o, .early = early};
    s.off = o->backwards ? p->succ_off : p->pred_off;
    s.before = o->backwards ? p->succ : p->pred;
    s.comm = o->backwards ? p->succ_comm : p->pred_comm;
    size_t most = (size_t)o->reach + 2;
    s.else_end = mem_new(double, (size_t)p->n * o->classes->count);
    s.window = mem_new(uint32_t, most);
    s.slot = mem_new(uint32_t, p->n);
    s.near = mem_new(double, most);
    s.far = mem_new(double, most);
    s.window_off = mem_new(uint32_t, most);
    s.need = mem_new(struct early_need, most);
    for (uint32_t t = 0; t < p->n; t++)
        s.slot[t] = NONE;
    enum early_answer answer = EARLY_DONE;
    for (uint32_t i = 0; i < p->n && answer == EARLY_DONE; i++) {
        uint32_t task = p->topo[o->backwards ? p->n - 1 - i : i];
        open_window(&s, task, cut);
        answer = place_task(&s, task) ? EARLY_DONE : EARLY_NONE;
        close_window(&s);
        if (i % 16 == 15 && isfinite(o->deadline) && clock_seconds() > o->deadline)
            answer = EARLY_LATE;
    }
    heap_free(&s.frontier);
    heap_free(&s.running);
    free(s.else_end);
    free(s.window);
    free(s.slot);
    free(s.near);
    free(s.far);
    free(s.window_off);
    array_free(&s.edge);
    free(s.need);
    return answer;
}
