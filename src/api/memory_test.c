/* Memory that runs out in calls that have more than blocks to give back: a history (SQLite's
 * statements) and a run (the folder's lock, threads, children). */
#include "api/testing.h"

#include <stdlib.h>
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
    setenv("WEFT_HISTORY", "none", 1);
}

int main(void)
{
    char text[128];
    snprintf(api_folder, sizeof api_folder, "/tmp/weft-api-XXXXXX");
    ok(mkdtemp(api_folder) != NULL, "a folder to run in");
    setenv("WEFT_HISTORY", "none", 1);
    api_flow = api_two_tasks();
    test_history();
    weft_workflow_free(api_flow);
    snprintf(text, sizeof text, "rm -rf %s", api_folder);
    ok(system(text) == 0, "the folder is removed");
    return tap_done();
}
