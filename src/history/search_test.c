/* Searches of tasks and files: how far they look, and what goes with a run. What questions mean is judged by
 * tests/issues/017_search_test.sh. */
#include "history/database.h"
#include "history/testing.h"

enum { RUNS = 4, TASKS = 100 };

/* Run i: tasks take i + 1 seconds and a little; the first of run 2 fails. */
static void record_runs(struct history *h, const struct workflow *w)
{
    struct error err = {0};
    for (int i = 0; i < RUNS; i++) {
        struct run_record head = testing_head(w);
        ok(history_begin(h, &head, NULL, 0, &err) == i + 1, "run %d: %s", i + 1, err.text);
        struct trace_sink sink = history_sink(h);
        for (uint32_t t = 0; t < TASKS; t++) {
            struct trace_event e = testing_attempt(t, t, i + 1 + 1e-3 * t);
            e.outcome = i == 1 && !t ? TRACE_FAILED : TRACE_DONE;
            sink.event(sink.context, &e);
        }
        struct run_record totals = {.outcome = RECORD_DONE, .seconds = 200, .tasks = TASKS};
        ok(history_end(h, &totals, &err), "ends: %s", err.text);
    }
}

/* The number of findings; -1: an error. */
static long findings(struct history *h, struct history_search ask, bool *whole, int64_t *from)
{
    struct error err = {0};
    history_findings found;
    *whole = false;
    *from = 0;
    if (!history_search_tasks(h, &ask, &found, &err))
        return -1;
    long n = (long)found.list.n;
    *whole = found.whole;
    *from = found.from;
    history_findings_free(&found);
    return n;
}

static void test_bounds(struct history *h)
{
    bool whole;
    int64_t from;
    is_int(findings(h, (struct history_search){.where = "cpu * 2 > seconds * 3"}, &whole, &from), 0,
           "what no attempt has");
    ok(whole && from == 1, "and all were looked at");
    is_int(findings(h, (struct history_search){.where = "cpu * 2 > seconds * 3", .look = 150},
                    &whole, &from),
           0, "with a bound");
    ok(!whole && from == 3, "an answer that is not whole says so, and how far it looked");
    is_int(
        findings(h, (struct history_search){.where = "task like 't%'", .look = 150}, &whole, &from),
        150, "as many as were looked at, also of a part of a run");
    is_int(
        findings(h, (struct history_search){.where = "seconds < 1.5", .look = 150}, &whole, &from),
        TASKS, "runs that cannot have it cost nothing");
    ok(whole && from == 1, "so that the answer is whole");
    is_int(findings(h, (struct history_search){.where = "seconds = 2.001", .look = 150}, &whole,
                    &from),
           1, "a time as it was written is found");
    is_int(findings(h, (struct history_search){.failed = true, .look = 150}, &whole, &from), 1,
           "likewise those that failed");
    ok(whole, "whole");
    is_int(
        findings(h, (struct history_search){.words = "t20 flow", .look = 2 * TASKS}, &whole, &from),
        1, "words cost what is looked at");
    ok(!whole, "and are bounded, too");
    is_int(findings(h, (struct history_search){.words = "t20 flow"}, &whole, &from), RUNS,
           "in every run without a bound");
    is_int(findings(h, (struct history_search){.where = "nobody > 1"}, &whole, &from), -1,
           "a name that nobody has is an error");
}

/* What stands beside a run goes with it. */
static void test_pruned(struct history *h)
{
    struct error err = {0};
    int64_t n = 0;
    ok(database_integer(h, "SELECT count(*) FROM spans", &n, &err) && n == RUNS, "a span a run");
    ok(database_integer(h, "SELECT count(*) FROM commands", &n, &err) && n == 1,
       "one command for all tasks that have it");
    struct workflow *other = testing_workflow(1, 1);
    for (int i = 0; i < 20; i++) { /* the newest twenty stay, whatever their age */
        struct run_record head = testing_head(other);
        history_begin(h, &head, NULL, 0, &err);
        history_end(h, &(struct run_record){.outcome = RECORD_DONE}, &err);
    }
    struct history_pruning p = {.age = 1, .size = INFINITY};
    ok(history_prune(h, &p, &err) && p.runs == RUNS, "older runs go: %s", err.text);
    ok(database_integer(h, "SELECT count(*) FROM spans WHERE run <= 4", &n, &err) && n == 0,
       "with their spans");
    ok(database_integer(h, "SELECT count(*) FROM commands", &n, &err) && n == 1,
       "and their commands");
    workflow_free(other);
}

int main(void)
{
    struct error err = {0};
    testing_start();
    struct history *h = history_open(testing_path("search.db"), &err);
    struct workflow *w = testing_workflow(TASKS, 2);
    record_runs(h, w);
    TAP_DO(test_bounds(h));
    TAP_DO(test_pruned(h));
    history_close(h);
    workflow_free(w);
    return tap_done();
}
