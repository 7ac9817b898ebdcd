/* Tasks that are functions, through a real run. */
#include "base/clock.h"
#include "exec/calls.h"
#include "drive/testing.h"
#include "tap.h"
#include "weft/weft.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_call(struct builder *b, const char *name, const char *function,
                         const char *files)
{
    char command[600];
    snprintf(command, sizeof command, "%s:%s", TEST_FUNCTIONS, function);
    uint32_t t = add_task(b, name, command, files);
    builder_flag(b, t, TASK_CALL);
    return t;
}

static void test_files(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_call(b, "a", "copy", "start > x sub/y");
    add_call(b, "b", "copy", "sub/y x > z");
    uint32_t t = add_call(b, "c", "fails_twice", "z");
    builder_retries(b, t, 2, 0);
    add_task(b, "d", "cat {in} > {out}", "z > end");
    struct workflow *w = builder_finish(b, NULL);
    folder_write(&f, "start", "s");
    struct run_result r;
    struct error err = {0};
    ok(run_here(&f, w, (struct run_options){.retry_first = 0.01}, &r, &err),
       "calls and commands together %s", err.text);
    is_int(r.done, 4, "all done");
    is_int(r.attempts, 6, "one of them in its third attempt");
    is_str(folder_read(&f, "end"), "b:a:sa:s", "files in order");
    run_result_free(&r);
    ok(run_here(&f, w, (struct run_options){0}, &r, &err) && r.reused == 4, "and never twice");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void refuses(const char *command, const char *text)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_flag(b, add_task(b, "t", command, ""), TASK_CALL);
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct run_result r;
    struct error err = {0};
    ok(!run_here(&f, w, (struct run_options){0}, &r, &err), "%s fails", command);
    has_str(r.failures.n ? r.failures.at[0].text : "", text, "and says why");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

/* Counts what the sink sees: every task once, parents before children. */
struct seen {
    const struct workflow *w;
    uint8_t *done;
    uint32_t tasks, early;
};

static void see(void *context, const struct trace_event *e)
{
    struct seen *s = context;
    if (e->kind != TRACE_TASK)
        return;
    s->tasks++;
    s->done[e->id]++;
    for (uint32_t i = s->w->pred_off[e->id]; i < s->w->pred_off[e->id + 1]; i++)
        s->early += !s->done[s->w->pred_task[i]];
}

static void test_many(const char *function, uint32_t n, uint32_t degree)
{
    struct builder *b = builder_new("flow.yaml", "native");
    char name[32];
    uint64_t x = 88172645463325252u;
    for (uint32_t t = 0; t < n; t++) {
        snprintf(name, sizeof name, "t%u", t);
        add_call(b, name, function, "");
        for (uint32_t k = 0; k < degree && t; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            builder_edge(b, (uint32_t)(x % t), t, 0);
        }
    }
    struct workflow *w = builder_finish(b, NULL);
    struct seen seen = {.w = w, .done = calloc(n, 1)};
    struct trace_sink sink = {.event = see, .context = &seen};
    const struct trace_sink *list[] = {&sink};
    struct run_result r;
    struct error err = {0};
    double start = clock_seconds();
    ok(run_workflow(&(struct run_options){.workflow = w, .cores = 2, .sinks = list, .nsinks = 1},
                    &r, &err),
       "%u calls of %s, degree %u %s", n, function, degree, err.text);
    printf("# %.0f a second\n", n / (clock_seconds() - start));
    ok(r.done == n && seen.tasks == n && !seen.early, "each once, after its parents");
    run_result_free(&r);
    free(seen.done);
    workflow_free(w);
}

/* The same graph with and without a command in it: the first is the scheduler's, the second a crew's.
 * A task in the middle fails, and with `keep_going` all goes on that does not depend on it. */
static void run_failing(bool command, bool keep_going, struct run_result *r)
{
    struct builder *b = builder_new("flow.yaml", "native");
    char name[32];
    for (uint32_t t = 0; t < 60; t++) {
        snprintf(name, sizeof name, "t%u", t);
        add_call(b, name, t == 20 ? "fails" : "nothing", "");
        if (t >= 3)
            builder_edge(b, t - 3, t, 0);
    }
    if (command)
        add_task(b, "c", "true", "");
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct error err = {0};
    ok(!run_here(&f, w, (struct run_options){.keep_going = keep_going}, r, &err),
       "a call fails, and so the run: %s", err.text);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_crew_failure(void)
{
    struct run_result crew, usual;
    run_failing(false, true, &crew);
    run_failing(true, true, &usual);
    ok(crew.done == 46 && crew.done + 1 == usual.done && crew.failed == 1 && usual.failed == 1 &&
           crew.skipped == usual.skipped && crew.attempts + 1 == usual.attempts,
       "the same is done, failed and left: %u, %u, %u", crew.done, crew.failed, crew.skipped);
    ok(crew.failures.n == 1 && crew.failures.at[0].status == 3 && crew.failures.at[0].last,
       "with the failure");
    run_result_free(&crew);
    run_result_free(&usual);
    run_failing(false, false, &crew);
    ok(crew.failed == 1 && crew.done + crew.skipped == 59 && crew.skipped >= 13,
       "else nothing more begins: %u done, %u left", crew.done, crew.skipped);
    run_result_free(&crew);
}

/* What is on record is not called again; joints neither. */
static void test_crew_reuse(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t first = add_call(b, "a", "nothing", ""), last = add_call(b, "b", "nothing", "");
    uint32_t joint = builder_task(b, "j", 1, 0);
    builder_edge(b, first, joint, 0);
    builder_edge(b, joint, last, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct run_result r;
    struct error err = {0};
    bool good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.done == 3 && r.attempts == 2, "two calls and a joint: %u done, %u attempts",
       r.done, r.attempts);
    run_result_free(&r);
    good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.reused >= 2 && !r.attempts, "and again: %u reused, %u done", r.reused, r.done);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

/* A run of calls without objects to which a command joins, and calls that hand one to each other. */
struct joining {
    struct weft_run *run;
    uint32_t ended, grown;
    bool added;
};

static void join_event(void *context, const struct weft_event *e)
{
    struct joining *j = context;
    struct weft_error error;
    j->grown += e->kind == WEFT_EVENT_GROWN;
    j->ended += e->kind == WEFT_EVENT_ENDED;
    if (e->kind != WEFT_EVENT_ENDED || j->added)
        return;
    struct weft_builder *b = weft_builder_new("more");
    weft_builder_command(b, weft_builder_task(b, "command"), "true");
    uint32_t make = weft_builder_task(b, "make"), sum = weft_builder_task(b, "sum");
    uint32_t numbers = weft_builder_object(b, "numbers");
    weft_builder_call(b, make, TEST_FUNCTIONS ":make_numbers");
    weft_builder_call(b, sum, TEST_FUNCTIONS ":sum_to_folder");
    weft_builder_in_memory(b, numbers);
    weft_builder_writes(b, make, numbers);
    weft_builder_reads(b, sum, numbers);
    struct weft_workflow *more = weft_builder_finish(b, &error);
    j->added = weft_run_add(j->run, more, &error);
    weft_workflow_free(more);
}

static void test_crew_grows(void)
{
    enum { N = 200 };
    struct bench_folder f = folder_make();
    struct weft_builder *b = weft_builder_new("calls");
    struct weft_error error;
    char name[32];
    for (uint32_t t = 0; t < N; t++) {
        snprintf(name, sizeof name, "t%u", t);
        weft_builder_task(b, name);
        weft_builder_call(b, t, TEST_FUNCTIONS ":slow");
        if (t > 1)
            weft_builder_order(b, t / 2, t);
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    struct joining j = {0};
    o.folder = f.path;
    o.cores = 2;
    o.no_history = true;
    o.event = join_event;
    o.context = &j;
    j.run = weft_run_open_workflow(w, &o, &error);
    ok(j.run && weft_run_start(j.run, &error) && weft_run_wait(j.run, &error), "tasks join %s",
       error.text);
    const struct weft_result *r = weft_run_result(j.run);
    ok(j.added && j.grown == 1 && j.ended == N + 3 && r->done == N + 3 && r->tasks == N + 3,
       "each ended once: %u of %u, %u counted", j.ended, N + 3, r->done);
    is_str(folder_read(&f, "sum.sum"), "499500", "what functions that joined made is right");
    weft_run_close(j.run);
    weft_workflow_free(w);
    tree_remove(f.path);
}

int main(void)
{
    TAP_DO(test_crew_failure());
    TAP_DO(test_crew_reuse());
    TAP_DO(test_crew_grows());
    TAP_DO(test_files());
    refuses("no-such-library.so:f", "cannot load the library");
    refuses(TEST_FUNCTIONS ":no_such_function", "the library has no function 'no_such_function'");
    TAP_DO(test_many("nothing", 100000, 0));
    TAP_DO(test_many("nothing", 100000, 4));
    TAP_DO(test_many("nothing", 20000, 1));
    TAP_DO(test_many("slow", 200, 1));
    return tap_done();
}
