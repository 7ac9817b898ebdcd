/* The shapes that are evaluated without SQLite give SQLite's answer, on random states: while tasks
 * are scheduled, taken back and scheduled elsewhere. */
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "query/query.h"
#include "tap.h"

static const char *const constraints[] = {
    "assert value preference (minimize, 1, (select max(task-finish-time) from task), 0, 9)",
    "assert value preference (minimize, 1, (select min(task-start-time) from task where task-id > "
    "3), 0, 9)",
    "assert value preference (minimize, 1, (select sum(task-exec-time) from task), 0, 9)",
    "assert value preference (minimize, 1, (select avg(task-finish-time) from task where task-name "
    "<> 't2'), 0, 9)",
    "assert value preference (maximize, 1, (select count(*) from task where task-assigned-proc-id "
    "<> UNKNOWN), 0, 9)",
    "assert value preference (maximize, 1, (select count(task-start-time) from task), 0, 9)",
    "assert value preference (minimize, 1, (select count(*) from task where task-start-time > 5 "
    "and not task-finish-time >= 20 or task-id = 2), 0, 9)",
    "assert value preference (minimize, 1, (select max(proc-finish-time) from proc) - (select "
    "min(proc-finish-time) from proc), 0, 9)",
    "assert value preference (minimize, 1, absolute_value((select proc-total-running-time from "
    "proc where proc-name = 'n0') - 2 * (select proc-total-running-time from proc where proc-name "
    "= 'n1')), 0, 9)",
    "assert value preference (minimize, 1, (select sum(proc-task-count) from proc) / 2 + (select "
    "count(*) from dep) * -3, 0, 9)",
    "assert value preference (minimize, 1, (select sum(dep-comm-time) from dep where dep-size > "
    "10), 0, 9)",
    "assert value preference (minimize, 1, (select max(dep-comm-time / non-local-comm-time) from "
    "dep), 0, 9)",
    "assert value preference (minimize, 1, (select min(proc-task-count) from proc where "
    "proc-utilization <= 0.5), 0, 9)",
    "assert value preference (minimize, 1, (select task-start-time from task where "
    "task-schedule-order = (select max(task-schedule-order) from task)), 0, 9)",
    "assert value preference (minimize, 1, (select task-finish-time from task where "
    "task-assigned-proc-id = 2 and task-start-time > 1), 0, 9)",
    "assert value preference (minimize, 1, (select sum(task-assigned-proc-id = 1) from task), 0, "
    "9)",
    "assert value preference (minimize, 1, (select count(*) from task where task-start-time > "
    "(select avg(task-start-time) from task)), 0, 9)",
    "assert relationship requirement ((select task-finish-time from task where task-id = 1) < "
    "(select task-finish-time from task where task-id = 4))",
    "assert relationship requirement ((select task-assigned-proc-id from task where task-id >= 4) "
    "= (select proc-id from proc where proc-name = 'n1'))",
    "assert relationship preference ((select proc-task-list from proc where proc-utilization > "
    "0.3) = UNKNOWN)",
    "assert relationship preference ((select task-start-time from task where task-work > 5) <> "
    "UNKNOWN)",
    "assert relationship preference ((select task-start-time from task) * 2 + 1 >= (select "
    "task-finish-time from task where task-id < 5))",
    "assert relationship preference (12 > (select task-finish-time from task))",
    "assert relationship preference ((select dep-comm-time from dep) <= 3)",
    "assert relationship preference ((select proc-finish-time from proc) <= (select "
    "avg(proc-finish-time) from proc))",
    "assert relationship preference ((select task-name from task where task-start-time >= 0) <> "
    "(select task-name from task where task-id = 3))",
    "assert ordering preference ((select task-path-rank from task order by task-schedule-order "
    "nulls last, task-path-rank), <)",
    "assert ordering preference ((select task-path-length from task order by task-schedule-order "
    "nulls last, task-path-length desc), >=)",
    "assert ordering preference ((select task-work from task where task-assigned-proc-id <> "
    "UNKNOWN order by task-schedule-order), >=)",
    "assert ordering preference ((select task-id from task where task-assigned-proc-id <> UNKNOWN "
    "order by task-schedule-order), <)",
    "assert value requirement (function = (select max(task-finish-time) from task), min = 3, max "
    "= 40)",
};
enum { CONSTRAINTS = sizeof constraints / sizeof *constraints };

static struct workflow *random_workflow(struct rng *rng, uint32_t ntasks)
{
    struct error err = {0};
    struct builder *b = builder_new("<random>", "test");
    char name[16];
    for (uint32_t t = 0; t < ntasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, (double)(1 + rng_below(rng, 9)), 0); /* whole numbers: many ties */
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(rng, 4) == 0)
                builder_data_edge(b, u, task, (double)(1 + rng_below(rng, 30)), 0);
    }
    return builder_finish(b, &err);
}

static struct platform *random_platform(struct rng *rng, uint32_t nnodes)
{
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("<random>");
    char name[16];
    platform_builder_network(b, 4, 0.5, NAN, 0);
    for (uint32_t n = 0; n < nnodes; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        platform_builder_speed(b, node, (double)(1 + rng_below(rng, 3)), 0);
        platform_builder_utilization(b, node, rng_unit(rng), 0);
    }
    return platform_builder_finish(b, &err);
}

static bool agrees(double a, double b)
{
    return a == b || (a != a && b != b) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void make_queries(struct relations *r[2], struct query *q[2])
{
    struct error err = {0};
    for (int k = 0; k < 2; k++) {
        q[k] = query_new(r[k], &err);
        for (int i = 0; i < CONSTRAINTS; i++)
            query_read(q[k], "test", constraints[i], &err);
        if (k)
            query_sqlite_only(q[k]);
        query_begin(q[k], &err);
    }
    if (err.kind)
        ok(false, "constraints are read: %s", err.text);
}

/* Walk about at random in the tree of states; both queries see the same. */
static void walk(struct rng *rng, int *differ, int *states)
{
    uint32_t ntasks = 5 + (uint32_t)rng_below(rng, 9), nnodes = 2 + (uint32_t)rng_below(rng, 3);
    struct workflow *w = random_workflow(rng, ntasks);
    struct platform *p = random_platform(rng, nnodes);
    struct error err = {0};
    struct costs *costs = costs_new(w, p, &err);
    double *path = mem_new(double, ntasks);
    uint32_t *order = mem_new(uint32_t, ntasks);
    for (uint32_t t = 0; t < ntasks; t++) {
        path[t] = (double)(ntasks / 2 - t / 2);
        order[t] = t;
    }
    struct relations *r[2] = {relations_new(costs, path, order), relations_new(costs, path, order)};
    struct query *q[2];
    make_queries(r, q);
    for (int step = 0; step < 60; step++) {
        uint32_t depth = r[0]->depth;
        if (depth && (depth == ntasks || rng_below(rng, 3) == 0)) {
            query_pop(q[0]);
            query_pop(q[1]);
        } else {
            uint32_t task;
            do
                task = (uint32_t)rng_below(rng, ntasks);
            while (r[0]->proc[task] != NONE);
            bool ready = true;
            for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
                ready &= r[0]->proc[w->pred_task[e]] != NONE;
            if (!ready)
                continue;
            uint32_t node = (uint32_t)rng_below(rng, nnodes);
            double start = (double)rng_below(rng, 20), finish = start + (double)rng_below(rng, 9);
            query_push(q[0], task, node, start, finish);
            query_push(q[1], task, node, start, finish);
        }
        ++*states;
        for (int i = 0; i < CONSTRAINTS; i++) {
            double a = query_measure(q[0], (size_t)i), b = query_measure(q[1], (size_t)i);
            bool same = agrees(a, b);
            if (query_info(q[0], (size_t)i).requirement)
                same &= query_holds(q[0], (size_t)i) == query_holds(q[1], (size_t)i);
            if (!same && differ[i]++ == 0)
                printf("# %g without SQLite, %g with: %s\n", a, b, constraints[i]);
        }
    }
    query_free(q[0]);
    query_free(q[1]);
    relations_free(r[0]);
    relations_free(r[1]);
    free(path);
    free(order);
    costs_free(costs);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    struct rng rng;
    int differ[CONSTRAINTS] = {0}, states = 0;
    rng_seed(&rng, 1997);
    for (int i = 0; i < 40; i++)
        TAP_DO(walk(&rng, differ, &states));
    ok(states > 1000, "%d states were visited", states);

    struct workflow *w = random_workflow(&rng, 6);
    struct platform *p = random_platform(&rng, 2);
    struct error err = {0};
    struct costs *costs = costs_new(w, p, &err);
    double path[6] = {0};
    uint32_t order[6] = {0, 1, 2, 3, 4, 5};
    struct relations *r = relations_new(costs, path, order);
    struct query *q = query_new(r, &err);
    for (int i = 0; i < CONSTRAINTS; i++)
        query_read(q, "test", constraints[i], &err);
    query_begin(q, &err);
    for (int i = 0; i < CONSTRAINTS; i++) {
        ok(query_info(q, (size_t)i).native, "is recognised: %s", constraints[i]);
        is_int(differ[i], 0, "and gives SQLite's answer");
    }
    query_free(q);
    relations_free(r);
    costs_free(costs);
    platform_free(p);
    workflow_free(w);
    return tap_done();
}
