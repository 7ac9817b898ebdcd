/* Orders to compare with: what a server does that knows little or nothing of the dag. FIFO, LIFO,
 * chance, most children, longest way to a sink. O(edges), with a heap O(edges + tasks log tasks).
 *
 * order_plan() makes the plan of any order: the eligible count after every step, and their sum, the
 * AREA. */
#include "plan/order/orders.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/graph.h"
#include <stdlib.h>

/* eligible[t] after t tasks of the order, t = 0 .. n. */
struct plan *order_plan(const struct workflow *w, const uint32_t *order)
{
    struct plan *plan = plan_new(PLAN_ORDER);
    uint32_t n = w->ntasks, eligible = 0;
    uint32_t *missing = mem_new(uint32_t, n);
    double area = 0;
    for (uint32_t t = 0; t < n; t++) {
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        eligible += !missing[t];
    }
    array_reserve(&plan->order, n);
    array_reserve(&plan->eligible, (size_t)n + 1);
    array_push(&plan->eligible, eligible);
    area += eligible;
    for (uint32_t i = 0; i < n; i++) {
        eligible--;
        for (uint32_t e = w->succ_off[order[i]]; e < w->succ_off[order[i] + 1]; e++)
            eligible += --missing[w->succ_task[e]] == 0;
        array_push(&plan->order, order[i]);
        array_push(&plan->eligible, eligible);
        area += eligible;
    }
    free(missing);
    plan_set_objective(plan, "area", area);
    return plan;
}

/* ---- serving eligible tasks by a rule ---- */

enum rule { FIRST_IN, LAST_IN, AT_RANDOM, BY_KEY };

/* Eligible tasks in the order they became so. */
struct orders_server {
    const struct workflow *w;
    uint32_t *missing, *queue; /* queue: eligible tasks from `from` to `end` */
    uint32_t from, end;
};

/* The next eligible task by rule; for BY_KEY the caller keeps a heap. */
static uint32_t server_next(struct orders_server *s, enum rule rule, struct rng *rng)
{
    if (rule == FIRST_IN)
        return s->queue[s->from++];
    if (rule == AT_RANDOM) {
        uint64_t i = s->from + rng_below(rng, s->end - s->from);
        uint32_t task = s->queue[i];
        s->queue[i] = s->queue[s->end - 1];
        s->queue[s->end - 1] = task;
    }
    return s->queue[--s->end];
}

static void server_start(struct orders_server *s, const struct workflow *w)
{
    *s = (struct orders_server){
        .w = w, .missing = mem_new(uint32_t, w->ntasks), .queue = mem_new(uint32_t, w->ntasks)};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        s->missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!s->missing[t])
            s->queue[s->end++] = t;
    }
}

static void server_end(struct orders_server *s)
{
    free(s->missing);
    free(s->queue);
}

/* Takes the order. */
static struct plan *plan_of_rule(const struct workflow *w, uint32_t *order)
{
    struct plan *plan = order_plan(w, order);
    plan->verdict = mem_copy_string("HEURISTIC");
    free(order);
    return plan;
}

/* Every task once, by the rule. */
static struct plan *serve_all(const struct plan_request *request, enum rule rule)
{
    const struct workflow *w = request->workflow;
    struct orders_server s;
    struct rng rng;
    rng_seed(&rng, request->seed);
    server_start(&s, w);
    uint32_t *order = mem_new(uint32_t, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        order[i] = server_next(&s, rule, &rng);
        for (uint32_t e = w->succ_off[order[i]]; e < w->succ_off[order[i] + 1]; e++)
            if (--s.missing[w->succ_task[e]] == 0)
                s.queue[s.end++] = w->succ_task[e];
    }
    server_end(&s);
    return plan_of_rule(w, order);
}

/* ---- by a key: the largest first, then the lowest task ---- */

struct orders_waiting {
    double key;
    uint32_t task;
};

static bool waiting_is_before(struct orders_waiting a, struct orders_waiting b)
{
    return a.key != b.key ? a.key > b.key : a.task < b.task;
}

static void waiting_push(struct orders_waiting *heap, uint32_t *n, struct orders_waiting x)
{
    uint32_t i = (*n)++;
    for (; i > 0 && waiting_is_before(x, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static uint32_t waiting_pop(struct orders_waiting *heap, uint32_t *n)
{
    uint32_t task = heap[0].task, i = 0;
    struct orders_waiting x = heap[--*n];
    while (2 * i + 1 < *n) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < *n && waiting_is_before(heap[child + 1], heap[child]))
            child++;
        if (!waiting_is_before(heap[child], x))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = x;
    return task;
}

uint32_t *order_by_key(const struct workflow *w, const double *key)
{
    struct orders_server s;
    server_start(&s, w);
    struct orders_waiting *heap = mem_new(struct orders_waiting, (size_t)w->ntasks + 1);
    uint32_t *order = mem_new(uint32_t, w->ntasks), n = 0;
    for (uint32_t i = 0; i < s.end; i++)
        waiting_push(heap, &n, (struct orders_waiting){key[s.queue[i]], s.queue[i]});
    for (uint32_t i = 0; i < w->ntasks; i++) {
        order[i] = waiting_pop(heap, &n);
        for (uint32_t e = w->succ_off[order[i]]; e < w->succ_off[order[i] + 1]; e++)
            if (--s.missing[w->succ_task[e]] == 0)
                waiting_push(heap, &n,
                             (struct orders_waiting){key[w->succ_task[e]], w->succ_task[e]});
    }
    free(heap);
    server_end(&s);
    return order;
}

static struct plan *serve_by(const struct workflow *w, const double *key)
{
    return plan_of_rule(w, order_by_key(w, key));
}

/* ---- the planners ---- */

static struct plan *run_fifo(const struct plan_request *request, struct error *err)
{
    (void)err;
    return serve_all(request, FIRST_IN);
}

static struct plan *run_lifo(const struct plan_request *request, struct error *err)
{
    (void)err;
    return serve_all(request, LAST_IN);
}

static struct plan *run_random_order(const struct plan_request *request, struct error *err)
{
    (void)err;
    return serve_all(request, AT_RANDOM);
}

static struct plan *run_outdegree(const struct plan_request *request, struct error *err)
{
    (void)err;
    const struct workflow *w = request->workflow;
    double *key = mem_new(double, w->ntasks);
    uint32_t *seen = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        seen[t] = NONE;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        key[t] = 0;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            key[t] += seen[w->succ_task[e]] != t;
            seen[w->succ_task[e]] = t;
        }
    }
    struct plan *plan = serve_by(w, key);
    free(key);
    free(seen);
    return plan;
}

static struct plan *run_criticalpath(const struct plan_request *request, struct error *err)
{
    (void)err;
    const struct workflow *w = request->workflow;
    double *key = mem_new(double, w->ntasks);
    graph_bottom_levels(w, NULL, 0, 0, key);
    /* graphs without times: count tasks on the way instead */
    double *one = NULL;
    bool has_work = false;
    for (uint32_t t = 0; t < w->ntasks; t++)
        has_work |= w->work[t] > 0;
    if (!has_work && w->ntasks) {
        one = mem_new(double, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++)
            one[t] = 1;
        graph_bottom_levels(w, one, 0, 0, key);
    }
    struct plan *plan = serve_by(w, key);
    free(key);
    free(one);
    return plan;
}

const struct planner planner_fifo = {
    .name = "fifo",
    .family = "order",
    .summary = "tasks in the order in which they become eligible, sources as in the file",
    .paper = "what DAGMan does without priorities; the yardstick of Malewicz et al. 2007",
    .tie_rule =
        "tasks that become eligible together: as the edges of the task that freed them stand",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_fifo,
};

const struct planner planner_lifo = {
    .name = "lifo",
    .family = "order",
    .summary = "the task that became eligible last comes first (depth first)",
    .paper = "a yardstick of Hall, Rosenberg, Venkataramani 2007",
    .tie_rule = "of tasks that become eligible together, the last edge's first",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_lifo,
};

const struct planner planner_random_order = {
    .name = "random-order",
    .family = "order",
    .summary = "a random eligible task, from --seed",
    .paper = "a yardstick: what chance achieves",
    .tie_rule = "the seed decides",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_random_order,
};

const struct planner planner_outdegree = {
    .name = "outdegree",
    .family = "order",
    .summary = "the eligible task with the most children first",
    .paper = "a yardstick of Hall, Rosenberg, Venkataramani 2007",
    .tie_rule = "equal numbers of children: lowest task",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_outdegree,
};

const struct planner planner_criticalpath = {
    .name = "criticalpath",
    .family = "order",
    .summary =
        "the eligible task with the most work on a way to a sink first (tasks, when none has work)",
    .paper = "list scheduling by level; a yardstick of Hall, Rosenberg, Venkataramani 2007",
    .tie_rule = "equal levels: lowest task",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_criticalpath,
};
