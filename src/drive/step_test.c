/* A run in the hands of others: stepped in a plain poll loop, stopped from outside, two at once on
 * two threads. */
#include "base/clock.h"
#include "drive/testing.h"
#include "exec/child.h"
#include "tap.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

enum { WIDTH = 12 };

/* One task, WIDTH that read what it wrote, one that reads all of theirs; one that is tried again,
 * so that a timer is due. */
static struct workflow *fan_workflow(const char *command)
{
    struct builder *b = builder_new("flow.yaml", "native");
    char name[32], files[64], all[32 * WIDTH] = "";
    add_task(b, "first", "echo x > {out}", "> first.txt");
    for (int i = 0; i < WIDTH; i++) {
        snprintf(name, sizeof name, "t%d", i);
        snprintf(files, sizeof files, "first.txt > t%d.txt", i);
        add_task(b, name, command, files);
        snprintf(all + strlen(all), sizeof all - strlen(all), "t%d.txt ", i);
    }
    snprintf(all + strlen(all), sizeof all - strlen(all), "> last.txt");
    add_task(b, "last", "cat {in} > {out}", all);
    builder_retries(b, add_task(b, "again", "test $WEFT_ATTEMPT -ge 3", ""), 3, 0);
    return builder_finish(b, NULL);
}

static struct run_options options_in(const struct bench_folder *f, const struct workflow *w,
                                     char *state, size_t size)
{
    snprintf(state, size, "%s/.weft", f->path);
    return (struct run_options){.workflow = w,
                                .folder = f->path,
                                .state = state,
                                .label = "t",
                                .cores = 2,
                                .retry_first = 0.05};
}

static void test_poll_loop(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = fan_workflow("sleep 0.01; cat {in} > {out}");
    struct error err = {0};
    struct run_result result;
    char state[128];
    struct run_options o = options_in(&f, w, state, sizeof state);
    struct run *r = run_open(&o, &err);
    if (!ok(r != NULL, "a run is opened %s", err.text))
        return;
    double longest = 0;
    uint32_t steps = 0;
    bool in_time = true;
    for (bool more = true; more && in_time; steps++) {
        struct pollfd in = {.fd = run_fd(r), .events = POLLIN};
        in_time = poll(&in, 1, 5000) == 1;
        double before = clock_seconds();
        more = run_step(r, 0);
        double took = clock_seconds() - before;
        longest = took > longest ? took : longest;
    }
    ok(in_time, "its descriptor tells every time that there is something to do");
    ok(steps < 1000, "and only then: %u steps", steps);
    ok(longest < 2, "no step waits for a task (%.3f s)", longest);
    ok(!run_step(r, 0) && !run_step(r, -1), "once over, it stays over");
    ok(run_close(r, &result, &err), "it went well %s", err.text);
    is_int(result.done, WIDTH + 3, "all tasks were run");
    is_int(result.attempts, WIDTH + 5, "one of them three times");
    is_int((long long)strlen(folder_read(&f, "last.txt")), 2 * WIDTH, "with the right result");
    run_result_free(&result);
    workflow_free(w);
    tree_remove(f.path);
}

/* With a journal the store has a descriptor, but answers before it is durable. */
static void test_journal(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = fan_workflow("cat {in} > {out}");
    struct error err = {0};
    struct run_result result;
    char state[128], journal[128];
    snprintf(journal, sizeof journal, "%s/journal", f.path);
    struct run_options o = options_in(&f, w, state, sizeof state);
    o.journal = journal;
    o.journal_eager = true;
    ok(run_workflow(&o, &result, &err), "a run whose store has a journal %s", err.text);
    is_int(result.done, WIDTH + 3, "all tasks were run");
    run_result_free(&result);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_wait_some(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "t", "sleep 0.5", "");
    struct workflow *w = builder_finish(b, NULL);
    struct error err = {0};
    struct run_result result;
    char state[128];
    struct run_options o = options_in(&f, w, state, sizeof state);
    struct run *r = run_open(&o, &err);
    uint32_t steps = 0;
    double before = clock_seconds();
    while (run_step(r, 0.02))
        steps++;
    ok(steps >= 5 && clock_seconds() - before >= 0.5, "a step waits a little: %u steps", steps);
    ok(run_close(r, &result, &err), "to a good end %s", err.text);
    run_result_free(&result);
    workflow_free(w);
    tree_remove(f.path);
}

/* ---- stopping ---- */

static struct run *alarmed;

static void on_alarm(int number)
{
    (void)number;
    run_stop(alarmed);
}

static void *stop_later(void *run)
{
    for (int i = 0; i < 2; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
        run_stop(run);
    }
    return NULL;
}

static void check_stop(bool by_signal, bool closed_early)
{
    struct bench_folder f = folder_make();
    struct workflow *w = fan_workflow("sleep 60");
    struct error err = {0};
    struct run_result result;
    char state[128];
    struct run_options o = options_in(&f, w, state, sizeof state);
    struct run *r = run_open(&o, &err);
    pthread_t thread;
    double before = clock_seconds();
    if (by_signal) {
        alarmed = r;
        signal(SIGALRM, on_alarm);
        ualarm(150000, 150000);
    } else if (!closed_early) {
        pthread_create(&thread, NULL, stop_later, r);
    }
    for (int i = 0; closed_early ? i < 50 : run_step(r, -1); i++)
        if (closed_early)
            run_step(r, 0.01);
    if (by_signal)
        ualarm(0, 0);
    else if (!closed_early)
        pthread_join(thread, NULL);
    ok(!run_close(r, &result, &err) && result.interrupted, "stopped: %s", err.text);
    ok(clock_seconds() - before < 20, "at once");
    ok(result.done >= 1, "what ran before counts");
    run_result_free(&result);
    workflow_free(w);
    tree_remove(f.path);
}

/* ---- two at once ---- */

struct thread_run {
    struct bench_folder folder;
    struct workflow *w;
    struct run_result result;
    struct error err;
    bool good;
};

static void *run_on_thread(void *context)
{
    struct thread_run *x = context;
    char state[128];
    struct run_options o = options_in(&x->folder, x->w, state, sizeof state);
    x->good = run_workflow(&o, &x->result, &x->err);
    return NULL;
}

static void test_two_threads(void)
{
    struct thread_run x[2] = {0};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        x[i].folder = folder_make();
        x[i].w = fan_workflow(i ? "setsid sleep 70 & cat {in} {in} > {out}" : "cat {in} > {out}");
        pthread_create(&thread[i], NULL, run_on_thread, &x[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        struct bench_folder f = x[i].folder;
        ok(x[i].good, "run %d of two at once %s", i, x[i].err.text);
        is_int(x[i].result.done, WIDTH + 3, "is whole");
        is_int((long long)strlen(folder_read(&f, "last.txt")), (i + 1) * 2 * WIDTH, "and its own");
        /* one that has not left its task's group yet dies with it, and is no orphan */
        ok(i ? x[i].result.orphans > 0 : x[i].result.orphans == 0,
           "neither takes the other's processes for its own");
        run_result_free(&x[i].result);
        workflow_free(x[i].w);
        tree_remove(x[i].folder.path);
    }
}

static void test_stop_by_thread(void)
{
    check_stop(false, false);
}

static void test_stop_by_signal(void)
{
    check_stop(true, false);
}

static void test_close_early(void)
{
    check_stop(false, true);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_poll_loop),      TAP_CASE(test_journal),        TAP_CASE(test_wait_some),
        TAP_CASE(test_stop_by_thread), TAP_CASE(test_stop_by_signal), TAP_CASE(test_close_early),
        TAP_CASE(test_two_threads),
    };
    children_adopt_orphans();
    return tap_run(cases, sizeof cases / sizeof *cases);
}
