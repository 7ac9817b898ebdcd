/* What past runs left behind: the newest runs, the slowest attempts of the last, where a file comes
 * from, and how long a workflow's tasks will take.
 *
 *     cc history.c $(pkg-config --cflags --libs weft) -o history
 *     ./history [FILE [FLOW]]        FILE: one that a run made; FLOW: to predict
 */
#include <stdio.h>
#include <weft/weft.h>

static void list_runs(const struct weft_runs *runs)
{
    struct weft_run_head run;
    for (size_t i = 0; weft_runs_get(runs, i, &run); i++)
        printf("run %lld: %s, %s, %u ran, %u reused\n", (long long)run.run,
               run.workflow ? run.workflow : "-", run.outcome, run.ran, run.reused);
}

static void slowest_attempt(const struct weft_record *record)
{
    struct weft_attempt a, slowest = {.name = NULL};
    for (size_t i = 0; weft_record_attempt(record, i, &a); i++)
        if (!slowest.name || a.finish - a.start > slowest.finish - slowest.start)
            slowest = a;
    if (slowest.name)
        printf("slowest: %s, %s\n", slowest.name, slowest.outcome);
}

static void tell_origin(const struct weft_story *story)
{
    struct weft_origin o;
    struct weft_origin_input in;
    for (size_t i = 0; weft_story_origin(story, i, &o); i++) {
        printf("made by %s in run %lld%s\n", o.maker ? o.maker : "(an input)", (long long)o.run,
               o.current ? ", and still as it left it" : "");
        for (size_t k = 0; weft_story_input(story, i, k, &in); k++)
            printf("  from %s\n", in.path);
    }
}

static bool predict(const char *path, struct weft_error *error)
{
    struct weft_workflow *w = weft_workflow_read(path, NULL, error);
    struct weft_predictions *f = w ? weft_workflow_predictions(w, error) : NULL;
    struct weft_prediction p;
    bool good = f != NULL;
    for (uint32_t t = 0; good && weft_predictions_task(f, t, &p); t++)
        printf("%s: %u samples, %s\n", weft_workflow_task_name(w, t), p.samples, p.method);
    weft_predictions_free(f);
    weft_workflow_free(w);
    return good;
}

int main(int argc, char **argv)
{
    struct weft_error error;
    struct weft_runs_filter newest = WEFT_RUNS_INIT;
    newest.limit = 5;
    struct weft_history *h = weft_history_open(NULL, &error); /* where the command keeps it */
    struct weft_runs *runs = h ? weft_history_runs(h, &newest, &error) : NULL;
    bool good = runs != NULL;
    if (good)
        list_runs(runs);
    weft_runs_free(runs);

    int64_t last = good ? weft_history_find(h, "last", &error) : -1;
    struct weft_record *record = last >= 0 ? weft_history_run(h, last, &error) : NULL;
    good = record != NULL;
    if (good)
        slowest_attempt(record);
    weft_record_free(record);

    if (good && argc > 1) {
        struct weft_story *story = weft_history_file(h, argv[1], 3, &error);
        good = story != NULL;
        if (good)
            tell_origin(story);
        weft_story_free(story);
    }
    if (good && argc > 2)
        good = predict(argv[2], &error);
    weft_history_close(h);
    if (good)
        return 0;
    fprintf(stderr, "%s\n", error.text);
    return error.status;
}
