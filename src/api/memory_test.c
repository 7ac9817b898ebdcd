/* Memory that runs out in calls that have more than blocks to give back: a history (SQLite's
 * statements) and a run (the folder's lock, threads, children). */
#include "api/testing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the history ---- */

static char api_folder[64]; /* of the test: runs, and a history.db */

static struct weft_workflow *api_flow; /* two tasks, read by every case */

static struct weft_workflow *api_two_tasks(void)
{
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("two");
    uint32_t first = weft_builder_task(b, "a"), second = weft_builder_task(b, "b");
    uint32_t file = weft_builder_object(b, "a.out");
    weft_builder_command(b, first, "echo hello >a.out");
    weft_builder_writes(b, first, file);
    weft_builder_command(b, second, "cat a.out >b.out");
    weft_builder_reads(b, second, file);
    weft_builder_writes(b, second, weft_builder_object(b, "b.out"));
    return weft_builder_finish(b, &error);
}

/* Every call on an open history. */
static bool api_ask_history(struct weft_history *h, struct weft_error *error)
{
    char file[128];
    snprintf(file, sizeof file, "%s/b.out", api_folder);
    struct weft_runs *runs = weft_history_runs(h, NULL, error);
    int64_t last = runs ? weft_history_find(h, "last", error) : -1;
    struct weft_record *record = last > 0 ? weft_history_run(h, last, error) : NULL;
    struct weft_changes *changes = record ? weft_history_compare(h, 1, last, error) : NULL;
    struct weft_story *story = changes ? weft_history_file(h, file, 0, error) : NULL;
    bool good = story != NULL;
    weft_story_free(story);
    weft_changes_free(changes);
    weft_record_free(record);
    weft_runs_free(runs);
    return good;
}

/* A history in which a call failed answers the next one. */
static bool api_case_history(struct weft_error *error)
{
    struct weft_history *h = weft_history_open(NULL, error);
    if (!h)
        return false;
    bool good = api_ask_history(h, error);
    struct weft_error later;
    if (!good && mem_test_fail(0) <= 0 && !api_ask_history(h, &later)) {
        *error = later;
        snprintf(error->text, sizeof error->text, "a history that is no longer usable");
    }
    weft_history_close(h);
    return good;
}

static bool api_case_predictions(struct weft_error *error)
{
    struct weft_predictions *f = weft_workflow_predictions(api_flow, error);
    weft_predictions_free(f);
    return f != NULL;
}

static void test_history(void)
{
    char text[128];
    struct weft_error error;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    snprintf(text, sizeof text, "%s/history.db", api_folder);
    setenv("WEFT_HISTORY", text, 1);
    o.folder = api_folder;
    o.force = true;
    o.cores = 1;
    for (int i = 0; i < 2; i++) {
        struct weft_run *run = weft_run_open_workflow(api_flow, &o, &error);
        ok(run && weft_run_start(run, &error) && weft_run_wait(run, &error), "a run on record");
        weft_run_close(run);
    }
    api_fail_each("history", api_case_history, 1000);
    api_fail_each("predictions", api_case_predictions, 1000);
}

/* ---- runs ---- */

enum api_run_end {
    API_RUN_WHOLE,    /* the failure was not reached */
    API_RUN_FAILED,   /* told as one of memory; or it went well all the same */
    API_RUN_ODD,      /* another status */
    API_RUN_LOCKED,   /* the folder is still taken after the close */
    API_RUN_CHILDREN, /* a child is left */
    API_RUN_DIED,     /* no end of its own: a signal, or exit() */
};

/* Open, look ahead, start, step and close with the nth allocation failing; then the folder is opened
 * again. In a process of its own, because what a broken run held is lost (api/run_handle.h). */
static enum api_run_end api_run_with_failure(long nth)
{
    struct weft_error error = {0}, later;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    struct weft_forecast ahead;
    o.folder = api_folder;
    o.force = true;
    o.cores = 1;
    mem_test_fail(nth);
    struct weft_run *run = weft_run_open_workflow(api_flow, &o, &error);
    bool good = run && weft_run_forecast(run, &ahead, &error) && weft_run_start(run, &error);
    while (good && weft_run_step(run, -1, &error))
        ;
    good = good && error.status == WEFT_DONE && weft_run_wait(run, &error);
    weft_run_close(run);
    bool happened = mem_test_fail(0) <= 0;
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
        return API_RUN_CHILDREN;
    if (!good && error.status != WEFT_NO_MEMORY) {
        printf("# allocation %ld: status %d, '%s'\n", nth, (int)error.status, error.text);
        return API_RUN_ODD;
    }
    run = weft_run_open_workflow(api_flow, &o, &later);
    if (!run) {
        printf("# allocation %ld: %s\n", nth, later.text);
        return API_RUN_LOCKED;
    }
    weft_run_close(run);
    return happened ? API_RUN_FAILED : API_RUN_WHOLE;
}

static enum api_run_end api_run_apart(long nth)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60); /* a run that waits for ever is killed, and reported */
        enum api_run_end end = api_run_with_failure(nth);
        fflush(stdout);
        _exit(10 + (int)end); /* 1 is how mem_fail() and sanitizers exit */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) < 10)
        return API_RUN_DIED;
    return (enum api_run_end)(WEXITSTATUS(status) - 10);
}

/* The first 120 allocations one by one, then every fourth. */
static void test_run(void)
{
    int ends[API_RUN_DIED + 1] = {0};
    enum api_run_end end;
    long n = 1;
    do {
        end = api_run_apart(n);
        if (end > API_RUN_FAILED)
            printf("# allocation %ld: end %d\n", n, (int)end);
        ends[end]++;
        n += n < 120 ? 1 : 4;
    } while (end != API_RUN_WHOLE && n < 1000000);
    ok(ends[API_RUN_WHOLE] == 1, "a run goes well after %d failures", ends[API_RUN_FAILED]);
    is_int(ends[API_RUN_ODD], 0, "each failure is told as one of memory");
    is_int(ends[API_RUN_LOCKED], 0, "a broken run that was closed leaves its folder to others");
    is_int(ends[API_RUN_CHILDREN], 0, "and no child");
    is_int(ends[API_RUN_DIED], 0, "and never ends the process");
}

int main(void)
{
    char text[128];
    snprintf(api_folder, sizeof api_folder, "/tmp/weft-api-XXXXXX");
    ok(mkdtemp(api_folder) != NULL, "a folder to run in");
    setenv("WEFT_HISTORY", "none", 1);
    api_flow = api_two_tasks();
    test_history();
    test_run(); /* recorded in the same history */
    weft_workflow_free(api_flow);
    snprintf(text, sizeof text, "rm -rf %s", api_folder);
    ok(system(text) == 0, "the folder is removed");
    return tap_done();
}
