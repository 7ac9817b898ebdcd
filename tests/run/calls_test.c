/* Tasks that are functions, through a real run. */
#include "base/clock.h"
#include "exec/calls.h"
#include "drive/testing.h"
#include "tap.h"

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

int main(void)
{
    TAP_DO(test_files());
    refuses("no-such-library.so:f", "cannot load the library");
    refuses(TEST_FUNCTIONS ":no_such_function", "the library has no function 'no_such_function'");
    TAP_DO(test_many("nothing", 100000, 0));
    TAP_DO(test_many("nothing", 100000, 4));
    TAP_DO(test_many("nothing", 20000, 1));
    TAP_DO(test_many("slow", 200, 1));
    return tap_done();
}
