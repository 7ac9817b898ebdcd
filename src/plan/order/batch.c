/* Batched schedules: exact search by layers, a greedy rule, and the planner `batch`.
 *
 * Search. A task without children renders nothing eligible, so it is worth a place in a batch only
 * when tasks with children do not fill it: whoever gives a sink instead could give the other and
 * the sink later, and have at least as many eligible at every step. So what was done is known from
 * the set of nonsinks that are done and the number of batches: all states of a layer have handed
 * out equally many tasks, because all have the same eligible counts so far, the best ones.
 *
 *     layer k: every set of nonsinks that reaches the best E_1 .. E_k
 *     layer k + 1: of all batches from all of those, the sets with the largest E_{k+1} */
#include "plan/order/batch.h"
#include "base/array.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/plural.h"
#include "plan/order/orders.h"
#include "plan/planner.h"

#include <stdlib.h>
#include <string.h>

extern const struct planner planner_batch;

/* ---- an order cut into batches ---- */

/* Whose turn it is in the order, batch by batch: what the order is as a batched schedule. Fills
 * `out` with the tasks as they are handed out, and `eligible` after every batch; returns the number
 * of batches. */
static uint32_t batches_of(const struct workflow *w, uint32_t size, const uint32_t *order,
                           uint32_t *out, uint32_t *eligible)
{
    uint32_t n = w->ntasks, done = 0, batches = 0, ready = 0;
    uint32_t *missing = mem_new(uint32_t, n), *place = mem_new(uint32_t, n);
    struct heap waiting = {0};
    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i;
    for (uint32_t t = 0; t < n; t++) {
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!missing[t])
            heap_push(&waiting, place[t], t);
    }
    while (done < n) {
        uint32_t from = done;
        for (uint32_t k = 0; k < size && waiting.n; k++)
            out[done++] = (uint32_t)heap_pop(&waiting).value;
        for (uint32_t i = from; i < done; i++)
            for (uint32_t e = w->succ_off[out[i]]; e < w->succ_off[out[i] + 1]; e++)
                if (--missing[w->succ_task[e]] == 0)
                    heap_push(&waiting, place[w->succ_task[e]], w->succ_task[e]);
        ready = (uint32_t)waiting.n;
        eligible[batches++] = ready;
    }
    heap_free(&waiting);
    free(missing);
    free(place);
    return batches;
}

/* ---- greedy ---- */

struct batch_greedy {
    const struct workflow *w;
    uint32_t *missing; /* parents that are not done */
    uint32_t *mix;     /* those parents, xor-ed: the last one when one is missing */
    uint32_t *gain;    /* children that wait for this task alone */
    struct heap now;   /* eligible, by falling gain and then children; stale entries are skipped */
    bool *is_eligible;
};

/* Gains are exact up to the last digit of a double: children add less than one. */
static void greedy_offer(struct batch_greedy *g, uint32_t task)
{
    double children = g->w->succ_off[task + 1] - g->w->succ_off[task];
    heap_push(&g->now, -(g->gain[task] + children / (children + 1)), task);
}

static void greedy_start(struct batch_greedy *g, const struct workflow *w)
{
    uint32_t n = w->ntasks;
    *g = (struct batch_greedy){.w = w,
                               .missing = mem_new(uint32_t, n),
                               .mix = mem_new_zero(uint32_t, n),
                               .gain = mem_new_zero(uint32_t, n),
                               .is_eligible = mem_new_zero(bool, n)};
    for (uint32_t t = 0; t < n; t++) {
        g->missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            g->mix[t] ^= w->pred_task[e];
        if (g->missing[t] == 1)
            g->gain[g->mix[t]]++;
    }
    for (uint32_t t = 0; t < n; t++)
        if (!g->missing[t]) {
            g->is_eligible[t] = true;
            greedy_offer(g, t);
        }
}

/* The eligible task that renders most at once together with what is in this batch already. What
 * becomes eligible waits for the next batch, in `next`. */
static bool greedy_take(struct batch_greedy *g, uint32_t *task, uint32_t *next, uint32_t *nnext)
{
    const struct workflow *w = g->w;
    do {
        if (!g->now.n)
            return false;
        *task = (uint32_t)heap_pop(&g->now).value;
    } while (!g->is_eligible[*task]);
    g->is_eligible[*task] = false;
    for (uint32_t e = w->succ_off[*task]; e < w->succ_off[*task + 1]; e++) {
        uint32_t child = w->succ_task[e], left = --g->missing[child];
        g->mix[child] ^= *task;
        if (left == 0) {
            next[(*nnext)++] = child;
        } else if (left == 1) {
            uint32_t last = g->mix[child];
            g->gain[last]++;
            if (g->is_eligible[last])
                greedy_offer(g, last);
        }
    }
    return true;
}

static void batch_greedy_order(const struct workflow *w, uint32_t size, uint32_t *order)
{
    struct batch_greedy g;
    uint32_t *next = mem_new(uint32_t, w->ntasks), done = 0;
    greedy_start(&g, w);
    while (done < w->ntasks) {
        uint32_t nnext = 0;
        for (uint32_t k = 0; k < size && greedy_take(&g, &order[done], next, &nnext); k++)
            done++;
        for (uint32_t i = 0; i < nnext; i++) {
            g.is_eligible[next[i]] = true;
            greedy_offer(&g, next[i]);
        }
    }
    free(next);
    free(g.missing);
    free(g.mix);
    free(g.gain);
    free(g.is_eligible);
    heap_free(&g.now);
}

/* ---- exact ---- */

struct batch_state {
    uint64_t done; /* nonsinks, by their number */
    uint32_t from; /* state of the layer before */
};
typedef ARRAY(struct batch_state) batch_states;

struct batch_search {
    const struct workflow *w;
    uint32_t size, nonsinks, sources;
    uint32_t number[64]; /* the task of a nonsink */
    uint64_t needs[64];  /* parents of a nonsink */
    uint64_t *wants;     /* parents of every task with some, as sets of nonsinks */
    uint32_t nwants, executed;
    uint64_t budget;
    uint32_t best;            /* eligible after this layer */
    batch_states layer, next; /* the one that is expanded, and what it gives */
    batch_states all;         /* layers behind each other */
    ARRAY(uint32_t) first;    /* of a layer in `all` */
    ARRAY(uint32_t) eligible; /* after each batch */
};

/* False: too many tasks with children. */
static bool search_prepare(struct batch_search *s, const struct workflow *w, uint32_t size,
                           uint64_t budget)
{
    uint32_t n = w->ntasks, *number_of = mem_new(uint32_t, n);
    *s = (struct batch_search){.w = w, .size = size, .budget = budget};
    bool fits = true;
    for (uint32_t t = 0; t < n && fits; t++) {
        number_of[t] = NONE;
        if (w->succ_off[t] == w->succ_off[t + 1])
            continue;
        fits = s->nonsinks < 64;
        if (fits) {
            s->number[s->nonsinks] = t;
            number_of[t] = s->nonsinks++;
        }
    }
    s->wants = fits ? mem_new_zero(uint64_t, n) : NULL;
    for (uint32_t t = 0; t < n && fits; t++) {
        uint64_t parents = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            parents |= (uint64_t)1 << number_of[w->pred_task[e]];
        if (parents)
            s->wants[s->nwants++] = parents;
        else
            s->sources++;
        if (number_of[t] != NONE)
            s->needs[number_of[t]] = parents;
    }
    free(number_of);
    return fits;
}

static void search_end(struct batch_search *s)
{
    free(s->wants);
    array_free(&s->layer);
    array_free(&s->next);
    array_free(&s->all);
    array_free(&s->first);
    array_free(&s->eligible);
}

static uint32_t search_rendered(const struct batch_search *s, uint64_t done)
{
    uint32_t count = s->sources;
    for (uint32_t i = 0; i < s->nwants; i++)
        count += (s->wants[i] & ~done) == 0;
    return count;
}

/* A batch leads to this set of nonsinks: keep it if no other renders more. */
static void search_reach(struct batch_search *s, uint64_t done, uint32_t executed, uint32_t from)
{
    uint32_t eligible = search_rendered(s, done) - executed;
    if (s->next.n && eligible < s->best)
        return;
    if (!s->next.n || eligible > s->best)
        s->next.n = 0;
    s->best = eligible;
    array_push(&s->next, (struct batch_state){done, from});
}

/* Nonsinks `choice` (a set) of which `k` are to be done: all subsets of that size, in rising order
 * (Gosper's walk over the positions). False: the budget is used up. */
static bool search_choose(struct batch_search *s, uint64_t done, uint64_t choice, uint32_t k,
                          uint32_t executed, uint32_t from)
{
    uint32_t at[64] = {0}, pick[64] = {0}, n = 0;
    for (uint64_t rest = choice; rest; rest &= rest - 1)
        at[n++] = (uint32_t)__builtin_ctzll(rest);
    for (uint32_t i = 0; i < k; i++)
        pick[i] = i;
    for (;;) {
        uint64_t set = done;
        for (uint32_t i = 0; i < k; i++)
            set |= (uint64_t)1 << at[pick[i]];
        search_reach(s, set, executed, from);
        if (!s->budget--)
            return false;
        uint32_t i = k;
        while (i > 0 && pick[i - 1] == n - k + i - 1)
            i--;
        if (!i)
            return true;
        pick[i - 1]++;
        for (; i < k; i++)
            pick[i] = pick[i - 1] + 1;
    }
}

static int compare_states(const void *a, const void *b)
{
    const struct batch_state *x = a, *y = b;
    if (x->done != y->done)
        return x->done < y->done ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* One batch further. False: the budget is used up. */
static bool search_step(struct batch_search *s)
{
    uint32_t base = s->first.at[s->first.n - 1];
    uint32_t eligible = search_rendered(s, s->layer.at[0].done) - s->executed;
    uint32_t give = s->size < eligible ? s->size : eligible;
    s->executed += give;
    s->next.n = 0;
    for (size_t i = 0; i < s->layer.n; i++) {
        uint64_t done = s->layer.at[i].done, choice = 0;
        for (uint32_t k = 0; k < s->nonsinks; k++)
            if (!(done >> k & 1) && !(s->needs[k] & ~done))
                choice |= (uint64_t)1 << k;
        uint32_t there = (uint32_t)__builtin_popcountll(choice);
        if (!search_choose(s, done, choice, give < there ? give : there, s->executed,
                           base + (uint32_t)i))
            return false;
    }
    qsort(s->next.at, s->next.n, sizeof *s->next.at, compare_states);
    s->layer.n = 0;
    array_push(&s->first, (uint32_t)s->all.n);
    for (size_t i = 0; i < s->next.n; i++)
        if (!i || s->next.at[i].done != s->next.at[i - 1].done) {
            array_push(&s->layer, s->next.at[i]);
            array_push(&s->all, s->next.at[i]);
        }
    array_push(&s->eligible, s->best);
    return true;
}

/* From the last layer back: which nonsinks stand in which batch; sinks fill up, lowest first. */
static void search_write(const struct batch_search *s, struct batch_schedule *out)
{
    const struct workflow *w = s->w;
    uint32_t n = w->ntasks, batches = (uint32_t)s->eligible.n, at = 0;
    uint64_t *done = mem_new(uint64_t, batches + 1);
    uint32_t state = s->first.at[batches];
    for (uint32_t b = batches + 1; b-- > 0;) {
        done[b] = s->all.at[state].done;
        state = s->all.at[state].from;
    }
    uint32_t *missing = mem_new(uint32_t, n), *sinks = mem_new(uint32_t, n), to = 0, from = 0;
    for (uint32_t t = 0; t < n; t++) {
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!missing[t] && w->succ_off[t] == w->succ_off[t + 1])
            sinks[to++] = t;
    }
    for (uint32_t b = 0; b < batches; b++) {
        uint32_t start = at, there = to, eligible = b ? out->eligible[b - 1] : s->sources;
        uint32_t give = s->size < eligible ? s->size : eligible;
        for (uint64_t rest = done[b + 1] & ~done[b]; rest; rest &= rest - 1) {
            uint32_t task = s->number[__builtin_ctzll(rest)];
            out->order[at++] = task;
            for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
                uint32_t child = w->succ_task[e];
                if (--missing[child] == 0 && w->succ_off[child] == w->succ_off[child + 1])
                    sinks[to++] = child;
            }
        }
        while (at - start < give && from < there) /* not those that this batch renders */
            out->order[at++] = sinks[from++];
        out->eligible[b] = s->eligible.at[b];
    }
    out->nbatches = batches;
    free(done);
    free(missing);
    free(sinks);
}

static bool batch_search(const struct workflow *w, uint32_t size, uint64_t budget,
                         struct batch_schedule *out)
{
    struct batch_search s;
    bool good = search_prepare(&s, w, size, budget);
    if (good) {
        array_push(&s.layer, (struct batch_state){0, 0});
        array_push(&s.all, (struct batch_state){0, 0});
        array_push(&s.first, 0);
    }
    while (good && s.executed < w->ntasks)
        good = search_step(&s);
    if (good)
        search_write(&s, out);
    search_end(&s);
    return good;
}

/* ---- both ---- */

void batch_solve(const struct workflow *w, uint32_t size, uint64_t budget, const uint32_t *other,
                 struct batch_schedule *out)
{
    uint32_t n = w->ntasks, *eligible = mem_new(uint32_t, n), *cut = mem_new(uint32_t, n);
    uint32_t *greedy = mem_new(uint32_t, n);
    *out = (struct batch_schedule){.order = mem_new(uint32_t, n), .eligible = mem_new(uint32_t, n)};
    out->is_optimal = batch_search(w, size, budget, out);
    if (!out->is_optimal) {
        batch_greedy_order(w, size, greedy);
        out->nbatches = batches_of(w, size, greedy, out->order, out->eligible);
    }
    if (!out->is_optimal && other) {
        uint32_t batches = batches_of(w, size, other, cut, eligible), i = 0;
        while (i < batches && i < out->nbatches && eligible[i] == out->eligible[i])
            i++;
        if (i < batches && i < out->nbatches && eligible[i] > out->eligible[i]) {
            memcpy(out->order, cut, n * sizeof *cut);
            memcpy(out->eligible, eligible, n * sizeof *eligible);
            out->nbatches = batches;
        }
    }
    free(eligible);
    free(cut);
    free(greedy);
}

void batch_schedule_free(struct batch_schedule *s)
{
    free(s->order);
    free(s->eligible);
    *s = (struct batch_schedule){0};
}

/* ---- the planner ---- */

static const struct option batch_options[] = {
    {.name = "size",
     .type = OPTION_INTEGER,
     .standard = "16",
     .least = 1,
     .most = 1000000000,
     .help = "tasks that are handed out at once"},
    {.name = "choices",
     .type = OPTION_INTEGER,
     .standard = "1000000",
     .least = 0,
     .most = 1e12,
     .help = "exact search gives up after so many choices of a batch"},
    {0},
};

static struct plan *run_batch(const struct plan_request *request, struct error *err)
{
    struct plan_request ask = {
        .workflow = request->workflow, .platform = request->platform, .seed = request->seed};
    struct plan *ic = planner_run(planner_find("ic"), &ask, err);
    if (!ic)
        return NULL;
    struct batch_schedule s;
    uint32_t size = (uint32_t)request_integer(request, &planner_batch, "size");
    batch_solve(request->workflow, size,
                (uint64_t)request_integer(request, &planner_batch, "choices"), ic->order.at, &s);
    plan_free(ic);
    struct plan *plan = order_plan(request->workflow, s.order);
    plan_set_objective(plan, "batches", s.nbatches);
    plan->verdict = mem_copy_string(s.is_optimal ? "BATCH_PROVED" : "HEURISTIC");
    plan->proof = mem_copy_string(s.is_optimal ? "all batches from all best sets were tried"
                                               : "too many choices; the better of greedy and ic");
    for (uint32_t b = 0, at = 0; request->explain && b < s.nbatches; b++) {
        uint32_t there = b ? s.eligible[b - 1] : plan->eligible.at[0];
        uint32_t give = size < there ? size : there;
        plan_note(plan, "batch %u: %u task%s from '%s', then %u eligible", b + 1, give,
                  plural(give), workflow_task_name(request->workflow, s.order[at]), s.eligible[b]);
        at += give;
    }
    batch_schedule_free(&s);
    return plan;
}

const struct planner planner_batch = {
    .name = "batch",
    .family = "order",
    .summary = "batched schedule: the most tasks eligible after every batch of a fixed size",
    .paper = "Malewicz, Rosenberg: On batch-scheduling dags for Internet-based computing, Euro-Par "
             "2005",
    .guarantee = "BATCH_PROVED: after the first batch as many are eligible as can be, after the "
                 "second as many as can be then, and so on",
    .tie_rule = "the lowest set of tasks of those that are equally good",
    .options = batch_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_batch,
};
