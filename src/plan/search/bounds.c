/* Lower bounds by kind; bounds.h says which. early.c has the heads and tails.
 *
 * Destructive improvement: suppose that a plan of length C exists. Then a task cannot run on a node
 * where its head, its time and its tail exceed C; without those nodes heads and tails grow, and when
 * a task has no node left, or too much work is left for an interval, there is no such plan. Halving
 * between the bound and a known makespan gives the least C that is not refuted. */
#include "plan/search/bounds.h"
#include "plan/search/early.h"
#include "base/clock.h"
#include <math.h>
#include <string.h>

enum {
    BOUNDS_REACH = 128,    /* ancestors beyond these have hardly raised a bound of the benchmarks */
    BOUNDS_LEAST = 12,     /* with fewer it is hardly better than the path alone */
    BOUNDS_CLASSES = 64,   /* more classes of nodes are taken for one, of the fastest of each */
    BOUNDS_INTERVALS = 64, /* moments at which an interval may begin */
    BOUNDS_TRIALS = 8,     /* lengths that are tried to be refuted */
};

const char *bound_kind_name(enum bound_kind kind)
{
    static const char *const names[] = {"path", "path with communication", "load", "interval",
                                        "exact search"};
    return names[kind];
}

static void raise_bound(struct lower_bound *b, double value, enum bound_kind kind)
{
    /* a hair more is rounding, and no reason to name another kind */
    if (value > b->value * (1 + 1e-9))
        *b = (struct lower_bound){value, kind};
}

/* ---- cheap ones ---- */

/* From a task's end to the end of all, everything on its fastest node and nothing sent. */
static double *plain_tails(const struct problem *p)
{
    double *tail = mem_new_zero(double, p->n);
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t t = p->topo[i];
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
            tail[p->pred[e]] = fmax(tail[p->pred[e]], p->least[t] + tail[t]);
    }
    return tail;
}

static double all_capacity(const struct problem *p)
{
    double capacity = 0;
    for (uint32_t v = 0; v < p->m; v++)
        capacity += p->speed[v] * (p->core_off[v + 1] - p->core_off[v]);
    return capacity;
}

/* Path and load, for all plans; the joins of problem_tails() for those with one copy. */
static struct bounds cheap_bounds(const struct problem *p, const double *tail, double capacity)
{
    struct bounds b = {.cut = true};
    double path = 0, load = 0;
    for (uint32_t t = 0; t < p->n; t++) {
        path = fmax(path, p->least[t] + tail[t]);
        load += p->load[t];
    }
    /* rounded here, so that the joins, which are, are not named for a fraction */
    double share = capacity > 0 ? load / capacity : 0;
    share = p->whole ? ceil(share - 1e-6) : share;
    raise_bound(&b.copies, path, BOUND_PATH);
    raise_bound(&b.copies, share, BOUND_LOAD);
    raise_bound(&b.single, path, BOUND_PATH);
    raise_bound(&b.single, share, BOUND_LOAD);
    raise_bound(&b.single, problem_bound(p), BOUND_COMMUNICATION);
    return b;
}

/* ---- intervals ---- */

struct bounds_task {
    double head, tail, load;
};

static int by_falling_tail(const void *a, const void *b)
{
    const struct bounds_task *x = a, *y = b;
    return x->tail > y->tail ? -1 : x->tail < y->tail;
}

static int by_rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* All work that cannot begin before r and must be done q before the end takes place in between: r +
 * work / capacity + q, for all q and some r. */
static double interval_bound(struct bounds_task *task, uint32_t n, double capacity)
{
    if (!n || !(capacity > 0))
        return 0;
    double *heads = mem_new(double, n), bound = 0;
    for (uint32_t i = 0; i < n; i++)
        heads[i] = task[i].head;
    qsort(heads, n, sizeof *heads, by_rising);
    qsort(task, n, sizeof *task, by_falling_tail);
    uint32_t stride = n / BOUNDS_INTERVALS + 1;
    for (uint32_t h = 0; h < n; h += stride) {
        double sum = 0;
        for (uint32_t i = 0; i < n; i++)
            if (task[i].head >= heads[h]) {
                sum += task[i].load;
                bound = fmax(bound, heads[h] + sum / capacity + task[i].tail);
            }
    }
    free(heads);
    return bound;
}

/* ---- heads and tails ---- */

struct bounds_work {
    const struct problem *p;
    struct early_classes classes;
    uint32_t reach;
    double capacity;
    double *plain;                   /* plain_tails() */
    double *least_head, *least_tail; /* by task, on whichever node; NULL: not known yet */
    double *head, *tail;             /* n x classes, without a limit */
    double *head2, *tail2;           /* the same under a limit */
    struct bounds_task *tasks;
    double deadline;
    uint32_t trials; /* lengths that may be tried to be refuted */
    bool cut;
};

static double least_of(const double *row, uint32_t count)
{
    double least = INFINITY;
    for (uint32_t k = 0; k < count; k++)
        least = fmin(least, row[k]);
    return least;
}

/* Head + time + tail, on the best node of each task; `tail` NULL: plain tails. */
static double path_over(const struct bounds_work *w, const double *head, const double *tail)
{
    double longest = 0;
    for (uint32_t t = 0; t < w->p->n; t++) {
        double least = INFINITY;
        for (uint32_t k = 0; k < w->classes.count; k++) {
            size_t at = (size_t)t * w->classes.count + k;
            least = fmin(least, head[at] + w->classes.time[at] + (tail ? tail[at] : w->plain[t]));
        }
        longest = fmax(longest, least);
    }
    return longest;
}

static double interval_over(struct bounds_work *w, const double *head, const double *tail)
{
    uint32_t count = w->classes.count;
    for (uint32_t t = 0; t < w->p->n; t++)
        w->tasks[t] = (struct bounds_task){
            least_of(head + (size_t)t * count, count),
            tail ? least_of(tail + (size_t)t * count, count) : w->plain[t], w->p->load[t]};
    return interval_bound(w->tasks, w->p->n, w->capacity);
}

/* Is there no plan of this length with one copy of each task? Heads and tails sharpen each other. */
static bool is_refuted(struct bounds_work *w, double limit)
{
    struct early_options o = {
        .classes = &w->classes, .reach = w->reach, .limit = limit, .deadline = w->deadline};
    o.rest = w->tail;
    o.least = w->least_head;
    enum early_answer answer = early_starts(w->p, &o, w->head2, &w->cut);
    if (answer != EARLY_DONE)
        return answer == EARLY_NONE;
    o.rest = w->head2;
    o.least = w->least_tail;
    o.backwards = true;
    answer = early_starts(w->p, &o, w->tail2, &w->cut);
    if (answer != EARLY_DONE)
        return answer == EARLY_NONE;
    return path_over(w, w->head2, w->tail2) > limit * (1 + 1e-9) ||
           interval_over(w, w->head2, w->tail2) > limit * (1 + 1e-9);
}

/* Time that runs out refutes nothing, and ends the trials. */
static void improve_by_refuting(struct bounds_work *w, struct lower_bound *b, double makespan)
{
    double low = b->value, high = makespan;
    for (uint32_t i = 0; i < w->trials && high > low * (1 + 1e-3) && isfinite(high); i++) {
        double middle = low + (high - low) / 2;
        if (isfinite(w->deadline) && clock_seconds() > w->deadline) {
            w->cut = true;
            break;
        }
        if (is_refuted(w, middle))
            low = middle;
        else
            high = middle;
    }
    raise_bound(b, low, BOUND_COMMUNICATION);
}

/* Steps of one pass for each ancestor that is looked at: to find it, and for every class. */
static double steps_per_reach(const struct problem *p, uint32_t classes)
{
    return (40.0 + 18.0 * classes) * p->n;
}

/* How many ancestors the steps allow in two passes, heads and tails. */
static uint32_t affordable_reach(const struct problem *p, uint32_t classes, double steps)
{
    double reach = steps / (2 * steps_per_reach(p, classes));
    return reach < BOUNDS_REACH ? (uint32_t)reach : BOUNDS_REACH;
}

/* What heads alone say of all plans; with tails, of those with one copy. False: time is over. */
static bool bounds_with_communication(struct bounds *b, struct bounds_work *w, double makespan)
{
    struct early_options o = {.classes = &w->classes,
                              .reach = w->reach,
                              .copies = true,
                              .least = w->least_head,
                              .limit = INFINITY,
                              .deadline = w->deadline};
    if (early_starts(w->p, &o, w->head, &w->cut) == EARLY_LATE)
        return false;
    raise_bound(&b->copies, path_over(w, w->head, NULL), BOUND_COMMUNICATION);
    raise_bound(&b->copies, interval_over(w, w->head, NULL), BOUND_INTERVAL);
    raise_bound(&b->single, b->copies.value, b->copies.kind);
    o.copies = false;
    o.backwards = true;
    o.least = w->least_tail;
    if (early_starts(w->p, &o, w->tail, &w->cut) == EARLY_LATE)
        return false;
    raise_bound(&b->single, path_over(w, w->head, w->tail), BOUND_COMMUNICATION);
    raise_bound(&b->single, interval_over(w, w->head, w->tail), BOUND_INTERVAL);
    improve_by_refuting(w, &b->single, makespan);
    return true;
}

/* Heads and tails with so many classes of nodes, 1 for all as one, and trials with the rest of the
 * steps. False: they or the time were too few. */
static bool bounds_by_class(struct bounds *b, struct bounds_work *w, uint32_t classes, double steps,
                            double makespan)
{
    const struct problem *p = w->p;
    w->reach = affordable_reach(p, classes, steps);
    if (w->reach < BOUNDS_LEAST && w->reach < p->n)
        return false;
    double passes = 2 * steps_per_reach(p, classes) * fmin(w->reach, p->n);
    w->trials = (uint32_t)fmin(BOUNDS_TRIALS, fmax(0, steps / passes - 1));
    w->classes = early_classes_new(p, classes == 1);
    size_t cells = (size_t)p->n * w->classes.count;
    w->head = mem_new(double, cells);
    w->tail = mem_new(double, cells);
    w->head2 = mem_new(double, cells);
    w->tail2 = mem_new(double, cells);
    bool done = bounds_with_communication(b, w, makespan);
    free(w->head2);
    free(w->tail2);
    early_classes_free(&w->classes);
    return done;
}

/* First all nodes as one, which looks far for little; then each by itself, with what is left. */
static void bounds_in_steps(struct bounds *b, struct bounds_work *w, double steps, double makespan)
{
    const struct problem *p = w->p;
    uint32_t classes = p->time && p->m <= BOUNDS_CLASSES ? p->m : 1;
    uint32_t reach = affordable_reach(p, classes, steps / 2);
    if (reach < BOUNDS_LEAST && reach < p->n)
        classes = 1;
    bool done = true;
    w->tasks = mem_new(struct bounds_task, p->n);
    if (classes > 1) {
        double share = fmin(steps / 2, 2 * steps_per_reach(p, 1) * fmin(BOUNDS_REACH, p->n));
        if (bounds_by_class(b, w, 1, share, INFINITY)) {
            steps -= share;
            w->least_head = w->head;
            w->least_tail = w->tail;
        } else {
            done = false;
            free(w->head);
            free(w->tail);
        }
        w->head = w->tail = NULL;
    }
    if (done)
        done = bounds_by_class(b, w, classes, steps, makespan);
    b->cut = !done || w->cut || w->trials < BOUNDS_TRIALS;
    free(w->head);
    free(w->tail);
    free(w->least_head);
    free(w->least_tail);
    free(w->tasks);
}

struct bounds bounds_find(const struct problem *p, uint64_t steps, double deadline, double makespan)
{
    struct bounds_work w = {
        .p = p, .capacity = all_capacity(p), .plain = plain_tails(p), .deadline = deadline};
    struct bounds b = cheap_bounds(p, w.plain, w.capacity);
    if (p->n)
        bounds_in_steps(&b, &w, (double)steps, makespan);
    free(w.plain);
    if (p->whole) {
        b.single.value = ceil(b.single.value - 1e-6);
        b.copies.value = ceil(b.copies.value - 1e-6);
    }
    return b;
}
