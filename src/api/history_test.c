/* Programs can ask the history what `weft history` can: two runs that differ in a parameter are found, told,
 * compared, followed, kept, restored, exported, taken over and run again through the library. What the answers
 * mean is judged by tests/issues/017_*_test.sh. */
#include "tap.h"
#include "weft/weft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[128], flow[160], result[160], store[160];
static struct weft_error error;

static void write_flow(int sigma)
{
    FILE *f = fopen(flow, "w");
    fprintf(f,
            "weft: 1\nname: study\nparameters: { sigma: %d }\ntasks:\n"
            "  data: { run: \"seq 20 > {out}\", out: n.txt }\n"
            "  score: { run: \"echo f1 0.9{sigma} > {out}\", in: n.txt, out: score.txt }\n",
            sigma);
    fclose(f);
}

static bool run_it(struct weft_run *run)
{
    bool good = run && weft_run_start(run, &error) && weft_run_wait(run, &error);
    weft_run_close(run);
    return good;
}

static char *text_of(const char *path)
{
    static char text[256];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

/* The number of the newest run of the list, which has `n`; -1: an error or another number. */
static int64_t only(struct weft_history *h, struct weft_runs_filter filter, size_t n,
                    struct weft_fact *fact)
{
    struct weft_runs *runs = weft_history_runs(h, &filter, &error);
    struct weft_run_head head;
    int64_t run = runs && weft_runs_get(runs, 0, &head) ? head.run : -1;
    size_t count = 0;
    while (runs && weft_runs_get(runs, count, &head))
        count++;
    static char value[32];
    if (fact && runs && weft_runs_fact(runs, 0, 0, fact)) {
        snprintf(value, sizeof value, "%s", fact->value);
        fact->value = value;
    }
    weft_runs_free(runs);
    return count == n ? run : -1;
}

#define FILTER(...)                                                                                \
    (struct weft_runs_filter)                                                                      \
    {                                                                                              \
        .size = sizeof(struct weft_runs_filter), __VA_ARGS__                                       \
    }

static void test_runs_are_found(struct weft_history *h)
{
    struct weft_fact fact = {0};
    is_int(only(h, FILTER(.where = "sigma > 1 and f1 > 0.915"), 1, &fact), 2,
           "by parameter and value");
    ok(fact.sort && strcmp(fact.sort, "parameter") == 0 && strcmp(fact.value, "2") == 0,
       "with the facts that were asked for");
    is_int(only(h, FILTER(.words = "seq study"), 2, NULL), 2, "by words");
    is_int(only(h, FILTER(.digest = result), 1, NULL), 2, "by a content");
    is_int(only(h, FILTER(.since = 4e9), 0, NULL), -1, "by time");
    is_int(only(h, FILTER(.failed = true), 0, NULL), -1, "by how they ended");
    ok(weft_history_say(h, 1, "name", "first", false, &error) &&
           weft_history_say(h, 1, "tag", "good", false, &error) &&
           weft_history_say(h, 1, "note", "seen", false, &error),
       "names, tags and notes are given");
    is_int(weft_history_find(h, "first", &error), 1, "a run by its name");
    is_int(only(h, FILTER(.where = "tag = 'good' and note = 'seen'"), 1, NULL), 1,
           "by what was said");
    is_int(only(h, FILTER(.where = "date('now') > 1"), 1, NULL), -1, "clocks are refused");
}

static void test_tasks_and_files(struct weft_history *h)
{
    struct weft_search s = WEFT_SEARCH_INIT;
    struct weft_found_task task = WEFT_FOUND_TASK_INIT;
    struct weft_found_file file = WEFT_FOUND_FILE_INIT;
    s.where = "f1 > 0.915";
    struct weft_findings *f = weft_history_search_tasks(h, &s, &error);
    ok(f && weft_findings_task(f, 0, &task) && strcmp(task.name, "score") == 0 &&
           !weft_findings_task(f, 1, &task) && weft_findings_whole(f, NULL),
       "a task by what it states");
    weft_findings_free(f);
    s.where = "path like 'sc%'";
    f = weft_history_search_files(h, &s, &error);
    ok(f && weft_findings_file(f, 1, &file) && file.run == 1 && !weft_findings_file(f, 2, &file),
       "files by their path");
    weft_findings_free(f);
}

static void test_one_run(struct weft_history *h)
{
    struct weft_record *r = weft_history_run(h, 1, &error);
    struct weft_run_about about = WEFT_RUN_ABOUT_INIT;
    struct weft_attempt attempt;
    struct weft_fact fact;
    struct weft_record_file file;
    size_t attempts = 0, facts = 0, files = 0;
    if (!ok(r != NULL, "a run: %s", r ? "" : error.text))
        return;
    weft_record_about(r, &about);
    ok(about.version && about.system && !about.given, "with its weft and its system");
    while (weft_record_attempt(r, attempts, &attempt))
        attempts++;
    is_int(attempts, 2, "its attempts");
    is_str(attempt.name, "score", "in the order of time");
    while (weft_record_fact(r, facts, &fact))
        facts++;
    is_int(facts, 5, "parameter, value, name, tag and note");
    while (weft_record_file(r, files, &file))
        files++;
    is_int(files, 2, "its files");
    weft_record_free(r);
}

static void test_picture(const struct weft_lineage *l)
{
    char path[160], text[20000] = "";
    snprintf(path, sizeof path, "%s/lineage.svg", folder);
    ok(l && weft_lineage_picture(l, path, &error), "and drawn");
    FILE *f = fopen(path, "r");
    if (f) {
        size_t n = fread(text, 1, sizeof text - 1, f);
        text[n] = 0;
        fclose(f);
    }
    ok(strncmp(text, "<svg", 4) == 0 && strstr(text, "score (run 2)") && strstr(text, "</svg>"),
       "as a picture that names its tasks");
    snprintf(path, sizeof path, "%s/nowhere/lineage.svg", folder);
    ok(l && !weft_lineage_picture(l, path, &error) && strstr(error.text, "nowhere/lineage.svg"),
       "where it cannot be written, the error names the file: %s", error.text);
}

static void test_relations(struct weft_history *h)
{
    struct weft_changes *c = weft_history_compare(h, 1, 2, &error);
    struct weft_difference d;
    size_t n = 0;
    while (c && weft_changes_difference(c, n, &d))
        n++;
    is_int(n, 4, "two runs differ in a parameter, a value, a file and a command");
    weft_changes_free(c);
    struct weft_lineage *l = weft_history_lineage(h, result, &error);
    int64_t run;
    bool before;
    int64_t made[2] = {0};
    for (uint32_t i = 0; l && i < 2 && weft_lineage_task(l, i, &run, &before); i++)
        made[i] = before ? run : 0;
    ok(l && weft_lineage_whole(l) && made[0] + made[1] == 3,
       "a file is followed back over two runs (%d, %d)", (int)made[0], (int)made[1]);
    test_picture(l);
    weft_lineage_free(l);
    char data[160];
    snprintf(data, sizeof data, "%s/n.txt", folder);
    l = weft_history_lineage(h, data, &error);
    n = 0;
    while (l && weft_lineage_task(l, (uint32_t)n, &run, &before))
        n++;
    is_int(n, 3, "and forward, over both runs");
    weft_lineage_free(l);
}

static void test_kept_and_run_again(struct weft_history *h)
{
    struct weft_kept *k = weft_history_keep(h, "2", &error);
    ok(k != NULL, "what a run left is kept");
    weft_kept_free(k);
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    ok(run_it(weft_run_open_recorded("first", &o, &error)), "an old graph runs again");
    is_str(text_of(result), "f1 0.91\n", "with the parameter of that day");
    k = weft_history_restore(h, 2, "score.txt", NULL, &error);
    ok(k != NULL, "a result is restored");
    weft_kept_free(k);
    is_str(text_of(result), "f1 0.92\n", "as it was");
}

static void test_handed_on(struct weft_history *h)
{
    static const char *const names[] = {"attempts.csv", "graph.yaml", "crate/"};
    char path[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        ok(weft_history_export(h, 2, path, NULL, NULL, &error), "exported: %s", names[i]);
    }
    snprintf(path, sizeof path, "%s/run.json", folder);
    ok(weft_history_export(h, 2, path, "wfformat", NULL, &error), "and as WfFormat");
    struct weft_workflow *w = weft_history_workflow(h, 1, &error);
    is_int(w ? weft_workflow_tasks(w) : 0, 2, "the graph as it was");
    weft_workflow_free(w);
    snprintf(path, sizeof path, "%s/other.db", folder);
    setenv("WEFT_HISTORY", path, 1);
    struct weft_merged merged;
    ok(weft_history_merge(store, &merged, &error) && merged.runs == 3,
       "another machine's history is taken");
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/weft-api-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return 1;
    snprintf(flow, sizeof flow, "%s/flow.yaml", folder);
    snprintf(result, sizeof result, "%s/score.txt", folder);
    snprintf(store, sizeof store, "%s/history.db", folder);
    setenv("WEFT_HISTORY", store, 1);
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    for (int sigma = 1; sigma <= 2; sigma++) {
        write_flow(sigma);
        ok(run_it(weft_run_open(flow, &o, &error)), "run %d", sigma);
    }
    struct weft_history *h = weft_history_open(NULL, &error);
    if (ok(h != NULL, "a history")) {
        test_runs_are_found(h);
        test_tasks_and_files(h);
        test_one_run(h);
        test_relations(h);
        test_kept_and_run_again(h);
        test_handed_on(h);
    }
    weft_history_close(h);
    char remove[200];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return tap_done() || system(remove) != 0;
}
