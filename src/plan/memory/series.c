/* Least memory of series-parallel graphs: Abdel-Wahab, Kameda, Scheduling to minimize maximum cumulative cost subject to
 * series-parallel precedence constraints, Operations Research 26(1), 1978; for files on edges Kayaaslan, Lambert,
 * Marchal, Ucar, Scheduling series-parallel task graphs to minimize peak memory, TCS 707, 2018.
 *
 * A run of tasks that is never interrupted has a hill (the most it takes above what was there when it began) and a rest
 * (what it leaves more than it found). Two things follow by exchanging neighbours:
 *
 *     of runs side by side   first those that leave less (rest < 0), the lowest hill first;
 *                            then the others, the highest hill - rest first: the same, seen from the end
 *     of runs in series      where the later one should come first by that rule nothing comes between them:
 *                            they are one run
 *
 * So a graph is a list of runs in the order of the rule. Graphs side by side: their lists are merged. Graphs in series:
 * one list behind the other, runs joined where they meet.
 *
 *       ┌─ b ─ c ─┐        the tasks in an order, producers first:  a │ b c d e │ f
 *     a ┤         ├ f      a cut goes between two of them when each last task before it has an edge to each first
 *       └─ d ─ e ─┘        task behind it; between the cuts, what is not connected is side by side
 *
 * O(edges) for each level at which graphs are in each other, and sorting. */
#include "plan/memory/series.h"
#include "base/array.h"
#include "plan/memory/keep.h"
#include <math.h>

/* Deeper ones are taken as the other order has them. */
enum { SERIES_DEPTH = 300 };

struct series_run {
    double hill, rest;
    uint32_t first, last; /* tasks, linked by next[] */
    uint32_t turn;        /* so that sorting keeps equal ones in their order */
};

struct series_list {
    struct series_run *at;
    size_t n, cap;
};

struct series_parts {
    const struct workflow *w;
    uint32_t *next;  /* per task: the next of its run */
    uint32_t *place; /* per task: in the other order */
    uint32_t *set;   /* per task: the set that is being looked at */
    uint32_t sets;
    uint32_t *group;   /* per task: union of those that are connected */
    uint32_t *missing; /* per task: producers within the set that are behind the cut */
    uint8_t *before;   /* the cut */
    uint8_t *is_last;  /* of those before the cut */
    uint32_t *seen, looks;
};

/* ---- runs ---- */

static bool run_comes_first(const struct series_run *a, const struct series_run *b)
{
    bool shrinks = a->rest < 0;
    if (shrinks != (b->rest < 0))
        return shrinks;
    return shrinks ? a->hill < b->hill : a->hill - a->rest > b->hill - b->rest;
}

static int compare_runs(const void *a, const void *b)
{
    const struct series_run *x = a, *y = b;
    if (run_comes_first(x, y))
        return -1;
    if (run_comes_first(y, x))
        return 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* Behind all others of the list, which it must follow. */
static void list_append(struct series_parts *s, struct series_list *list, struct series_run run)
{
    while (list->n && !run_comes_first(&list->at[list->n - 1], &run)) {
        struct series_run before = list->at[--list->n];
        s->next[before.last] = run.first;
        run = (struct series_run){.hill = fmax(before.hill, before.rest + run.hill),
                                  .rest = before.rest + run.rest,
                                  .first = before.first,
                                  .last = run.last};
    }
    array_push(list, run);
}

/* A file of several readers is freed by each in part: nobody knows who will be the last. */
static struct series_run run_of_task(const struct series_parts *s, uint32_t task)
{
    const struct workflow *w = s->w;
    double inputs = 0, kept = 0, freed = 0;
    uint32_t readers;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e];
        if (o == NONE)
            continue;
        workflow_consumers(w, o, &readers);
        inputs += w->size[o];
        freed += w->size[o] / readers;
    }
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        kept += workflow_is_intermediate(w, o) ? w->size[o] : 0;
    return (struct series_run){.hill = keep_task_bytes(w, task) - inputs,
                               .rest = kept - freed,
                               .first = task,
                               .last = task};
}

/* ---- cutting a set of tasks ---- */

static uint32_t group_of(struct series_parts *s, uint32_t task)
{
    while (s->group[task] != task)
        task = s->group[task] = s->group[s->group[task]];
    return task;
}

/* True: this neighbour is of the set and was not met since `looks` was counted up. */
static bool series_meets(struct series_parts *s, uint32_t set, uint32_t task)
{
    if (s->set[task] != set || s->seen[task] == s->looks)
        return false;
    s->seen[task] = s->looks;
    return true;
}

/* Producers of a task that are last before the cut. */
static uint64_t last_producers(struct series_parts *s, uint32_t set, uint32_t task)
{
    const struct workflow *w = s->w;
    uint64_t count = 0;
    s->looks++;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        count += series_meets(s, set, w->pred_task[e]) && s->is_last[w->pred_task[e]];
    return count;
}

/* Readers of a task that are first behind the cut. */
static uint64_t first_readers(struct series_parts *s, uint32_t set, uint32_t task)
{
    const struct workflow *w = s->w;
    uint64_t count = 0;
    s->looks++;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t to = w->succ_task[e];
        count += series_meets(s, set, to) && !s->before[to] && !s->missing[to];
    }
    return count;
}

/* How many edges there are between the last before the cut and the first behind it, and how many of both. */
struct series_cut {
    uint64_t edges;
    uint64_t lasts, firsts;
};

/* The cut passes `task`, a first one behind it. Each edge of the set is looked at a few times in all. */
static void cut_passes(struct series_parts *s, uint32_t set, uint32_t task, struct series_cut *cut)
{
    const struct workflow *w = s->w;
    cut->edges -= last_producers(s, set, task);
    cut->firsts--;
    s->before[task] = 1;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e];
        if (s->set[from] != set || !s->is_last[from])
            continue;
        cut->edges -= first_readers(s, set, from);
        s->is_last[from] = 0;
        cut->lasts--;
    }
    s->is_last[task] = 1;
    cut->lasts++;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t to = w->succ_task[e];
        /* several files from one task to another are several edges: the last of them counts */
        if (s->set[to] != set || --s->missing[to])
            continue;
        cut->firsts++;
        cut->edges += last_producers(s, set, to);
    }
}

static void cut_begin(struct series_parts *s, uint32_t set, const uint32_t *task, uint32_t n,
                      struct series_cut *cut)
{
    const struct workflow *w = s->w;
    *cut = (struct series_cut){0};
    for (uint32_t i = 0; i < n; i++) {
        s->before[task[i]] = s->is_last[task[i]] = 0;
        s->missing[task[i]] = 0;
        for (uint32_t e = w->pred_off[task[i]]; e < w->pred_off[task[i] + 1]; e++)
            s->missing[task[i]] += s->set[w->pred_task[e]] == set;
        cut->firsts += !s->missing[task[i]];
    }
}

/* ---- the list of a set ---- */

static void series_decompose(struct series_parts *s, uint32_t *task, uint32_t n, uint32_t depth,
                             struct series_list *out);

static void append_all(struct series_parts *s, struct series_list *list, struct series_list *more)
{
    for (size_t i = 0; i < more->n; i++)
        list_append(s, list, more->at[i]);
    free(more->at);
}

/* Tasks of one group stand together, in their order. True: there are several. */
static bool series_group(struct series_parts *s, uint32_t set, uint32_t *task, uint32_t n)
{
    const struct workflow *w = s->w;
    for (uint32_t i = 0; i < n; i++)
        s->group[task[i]] = task[i];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = w->succ_off[task[i]]; e < w->succ_off[task[i] + 1]; e++)
            if (s->set[w->succ_task[e]] == set)
                s->group[group_of(s, w->succ_task[e])] = group_of(s, task[i]);
    /* counting sort by group: missing[] counts */
    uint32_t *sorted = mem_new(uint32_t, n), groups = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        s->missing[task[i]] = 0;
    for (uint32_t i = 0; i < n; i++)
        groups += s->missing[group_of(s, task[i])]++ == 0;
    for (uint32_t i = 0; i < n && groups > 1; i++) {
        uint32_t root = group_of(s, task[i]);
        if (!s->before[root]) { /* its place, once: counts become places */
            uint32_t count = s->missing[root];
            s->missing[root] = at;
            at += count;
            s->before[root] = 1;
        }
        sorted[s->missing[root]++] = task[i];
    }
    if (groups > 1)
        memcpy(task, sorted, n * sizeof *task);
    free(sorted);
    return groups > 1;
}

static void series_side_by_side(struct series_parts *s, uint32_t *task, uint32_t n, uint32_t depth,
                                struct series_list *out)
{
    /* groups are read before the parts change them */
    ARRAY(uint32_t) ends = {0};
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || group_of(s, task[i]) != group_of(s, task[i + 1]))
            array_push(&ends, i + 1);
    for (size_t k = 0; k < ends.n; k++) {
        uint32_t from = k ? ends.at[k - 1] : 0;
        struct series_list part = {0};
        series_decompose(s, task + from, ends.at[k] - from, depth, &part);
        for (size_t i = 0; i < part.n; i++) {
            part.at[i].turn = (uint32_t)out->n;
            array_push(out, part.at[i]);
        }
        free(part.at);
    }
    array_free(&ends);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, compare_runs);
}

static int compare_places(const void *a, const void *b, void *context)
{
    const uint32_t *place = context, x = place[*(const uint32_t *)a],
                   y = place[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Tasks that are connected: one part behind the other. */
static void series_in_turn(struct series_parts *s, uint32_t set, uint32_t *task, uint32_t n,
                           uint32_t depth, struct series_list *out)
{
    struct series_cut cut;
    ARRAY(uint32_t) ends = {0};
    cut_begin(s, set, task, n, &cut);
    for (uint32_t i = 0; i < n; i++) {
        cut_passes(s, set, task[i], &cut);
        if (i + 1 == n || cut.edges == cut.lasts * cut.firsts)
            array_push(&ends, i + 1);
    }
    if (ends.n == 1) { /* neither in series nor side by side */
        qsort_r(task, n, sizeof *task, compare_places, s->place);
        for (uint32_t i = 0; i < n; i++)
            list_append(s, out, run_of_task(s, task[i]));
    }
    for (size_t k = 0; ends.n > 1 && k < ends.n; k++) {
        uint32_t from = k ? ends.at[k - 1] : 0;
        struct series_list part = {0};
        series_decompose(s, task + from, ends.at[k] - from, depth, &part);
        append_all(s, out, &part);
    }
    array_free(&ends);
}

/* task[n] has producers before consumers. */
static void series_decompose(struct series_parts *s, uint32_t *task, uint32_t n, uint32_t depth,
                             struct series_list *out)
{
    if (n == 1) {
        list_append(s, out, run_of_task(s, task[0]));
        return;
    }
    uint32_t set = ++s->sets;
    for (uint32_t i = 0; i < n; i++) {
        s->set[task[i]] = set;
        s->before[task[i]] = 0;
    }
    if (depth == SERIES_DEPTH) {
        qsort_r(task, n, sizeof *task, compare_places, s->place);
        for (uint32_t i = 0; i < n; i++)
            list_append(s, out, run_of_task(s, task[i]));
    } else if (series_group(s, set, task, n)) {
        series_side_by_side(s, task, n, depth + 1, out);
    } else {
        series_in_turn(s, set, task, n, depth + 1, out);
    }
}

uint32_t *series_order(const struct workflow *w, const uint32_t *other)
{
    struct series_parts s = {.w = w};
    uint32_t n = w->ntasks, *task = mem_new(uint32_t, n), *order = mem_new(uint32_t, n), at = 0;
    struct series_list list = {0};
    s.next = mem_new(uint32_t, n);
    s.place = mem_new(uint32_t, n);
    s.set = mem_new_zero(uint32_t, n);
    s.group = mem_new(uint32_t, n);
    s.missing = mem_new_zero(uint32_t, n);
    s.seen = mem_new_zero(uint32_t, n);
    s.before = mem_new_zero(uint8_t, n);
    s.is_last = mem_new_zero(uint8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        task[i] = w->topo[i];
        s.place[other[i]] = i;
    }
    if (n)
        series_decompose(&s, task, n, 0, &list);
    for (size_t i = 0; i < list.n; i++)
        for (uint32_t t = list.at[i].first;; t = s.next[t]) {
            order[at++] = t;
            if (t == list.at[i].last)
                break;
        }
    free(list.at);
    free(task);
    free(s.next);
    free(s.place);
    free(s.set);
    free(s.group);
    free(s.missing);
    free(s.seen);
    free(s.before);
    free(s.is_last);
    return order;
}
