/* weft/run.h as a program uses it: open, look ahead, step by a descriptor, stop, results. */
#include "tap.h"
#include "weft/weft.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[2][64];

static void make_folders(void)
{
    for (int i = 0; i < 2; i++) {
        snprintf(folder[i], sizeof folder[i], "/tmp/weft-run-api-XXXXXX");
        if (!mkdtemp(folder[i]))
            tap_ok(false, __FILE__, __LINE__, "a folder to work in");
    }
}

static void remove_folders(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s %s", folder[0], folder[1]);
    ok(system(command) == 0, "the folders are removed");
}

/* a -> file -> b, and c beside them. */
static struct weft_workflow *small_graph(const char *c_command)
{
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("small");
    uint32_t first = weft_builder_task(b, "a"), second = weft_builder_task(b, "b");
    uint32_t file = weft_builder_object(b, "a.out");
    weft_builder_command(b, first, "echo hello >a.out");
    weft_builder_writes(b, first, file);
    weft_builder_command(b, second, "cat a.out >b.out");
    weft_builder_reads(b, second, file);
    weft_builder_writes(b, second, weft_builder_object(b, "b.out"));
    uint32_t third = weft_builder_task(b, "c");
    weft_builder_command(b, third, c_command);
    weft_builder_writes(b, third, weft_builder_object(b, "c.out"));
    return weft_builder_finish(b, &error);
}

struct counts {
    uint32_t started, begun, ended, reused, over, remarks;
    struct weft_run *stop; /* at the first begin; NULL: not */
};

static void count_event(void *context, const struct weft_event *e)
{
    struct counts *c = context;
    c->started += e->kind == WEFT_EVENT_STARTED;
    c->begun += e->kind == WEFT_EVENT_BEGUN;
    c->ended += e->kind == WEFT_EVENT_ENDED;
    c->reused += e->kind == WEFT_EVENT_REUSED;
    c->over += e->kind == WEFT_EVENT_OVER;
    c->remarks += e->kind == WEFT_EVENT_REMARK;
    if (e->kind == WEFT_EVENT_BEGUN && c->stop)
        weft_run_stop(c->stop);
}

static struct weft_run *open_in(const char *where, const char *c_command, struct counts *c)
{
    struct weft_error error;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    o.folder = where;
    o.cores = 2;
    o.no_history = true;
    o.event = count_event;
    o.context = c;
    struct weft_workflow *w = small_graph(c_command);
    struct weft_run *run = weft_run_open_workflow(w, &o, &error);
    if (!run)
        printf("# %s\n", error.text);
    weft_workflow_free(w);
    return run;
}

static void test_ahead(void)
{
    struct weft_error error;
    struct counts c = {0};
    struct weft_run *run = open_in(folder[0], "echo c >c.out", &c);
    struct weft_forecast f;
    struct weft_need need;
    ok(run && weft_run_forecast(run, &f, &error), "a forecast");
    is_int(f.tasks, 3, "of three tasks");
    is_int(f.to_run, 3, "which all must run");
    is_int(f.cores, 2, "on two cores");
    uint32_t b = weft_workflow_find_task(weft_run_workflow(run), "b");
    ok(weft_run_need(run, b, &need, &error) && need.runs && need.reason,
       "b must run, with a reason");
    ok(!weft_run_need(run, 99, &need, &error) && error.status == WEFT_BAD_INPUT, "no task 99");
    const char *why = weft_run_why(run, "a.out", &error);
    ok(why && strncmp(why, "a ", 2) == 0, "a file means its producer");
    ok(!weft_run_why(run, "bb", &error) && error.status == WEFT_BAD_INPUT, "no task bb");
    ok(weft_run_fd(run) == -1 && !weft_run_result(run), "nothing goes on yet");
    ok(!weft_run_wait(run, &error), "nor can it be waited for");
    weft_run_close(run);
}

static void test_step(void)
{
    struct weft_error error;
    struct counts c = {0};
    struct weft_run *run = open_in(folder[0], "echo c >c.out", &c);
    ok(weft_run_start(run, &error), "it starts");
    int fd = weft_run_fd(run), turns = 0;
    ok(fd >= 0, "and has a descriptor");
    do {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 10000);
    } while (weft_run_step(run, 0, &error) && ++turns < 10000);
    ok(error.status == WEFT_DONE, "no error");
    ok(weft_run_wait(run, &error), "all is done");
    ok(weft_run_wait(run, &error), "which may be asked again");
    const struct weft_result *r = weft_run_result(run);
    is_int(r->done, 3, "three tasks are done");
    is_int(r->failed + r->reused + r->skipped, 0, "and nothing else");
    is_int(c.started, 1, "the start is reported");
    is_int(c.begun, 3, "and three beginnings");
    is_int(c.ended, 3, "and three ends");
    is_int(c.over, 1, "and that it is over, once");
    ok(!weft_run_start(run, &error), "it does not start twice");
    weft_run_close(run);

    c = (struct counts){0};
    run = open_in(folder[0], "echo c >c.out", &c);
    ok(weft_run_start(run, &error) && weft_run_wait(run, &error), "again");
    is_int(weft_run_result(run)->reused, 3, "nothing had to run");
    is_int(c.begun, 0, "and nothing began");
    weft_run_close(run);
}

static void test_failure(void)
{
    struct weft_error error;
    struct counts c = {0};
    struct weft_run *run = open_in(folder[0], "echo sorry; exit 3", &c);
    ok(run && weft_run_start(run, &error), "a run with a task that fails");
    ok(!weft_run_wait(run, &error) && error.status == WEFT_FAILED, "fails");
    const struct weft_result *r = weft_run_result(run);
    is_int(r->nfailures, 1, "with one failure");
    ok(strcmp(r->failures[0].name, "c") == 0 && r->failures[0].status == 3,
       "whose status is known");
    char *tail = weft_log_tail(r->failures[0].log);
    ok(tail && strcmp(tail, "sorry") == 0, "and what it wrote");
    weft_text_free(tail);
    struct weft_cleaned cleaned;
    ok(weft_run_clean(run, false, true, &cleaned, &error) && cleaned.logs == 1,
       "a log can be removed");
    weft_run_close(run);
}

static void test_stop(void)
{
    struct weft_error error;
    struct counts c = {0};
    struct weft_run *run = open_in(folder[0], "sleep 0.1; echo c >c.out", &c);
    c.stop = run;
    ok(weft_run_start(run, &error), "a run that is stopped at its first task");
    ok(!weft_run_wait(run, &error), "does not end well");
    ok(weft_run_result(run)->stopped, "and says so");
    weft_run_close(run);

    c = (struct counts){0};
    run = open_in(folder[0], "sleep 20; echo c >c.out", &c);
    ok(weft_run_start(run, &error) && weft_run_step(run, 0.2, &error), "one that is left alone");
    weft_run_close(run);
    ok(true, "can be closed while it runs");
}

static void *run_in_thread(void *where)
{
    struct weft_error error;
    struct counts c = {0};
    struct weft_run *run = open_in(where, "echo c >c.out", &c);
    bool good = run && weft_run_start(run, &error) && weft_run_wait(run, &error);
    weft_run_close(run);
    return good ? where : NULL;
}

static void test_two_at_once(void)
{
    struct weft_error error;
    struct counts c[2] = {0};
    struct weft_run *run[2];
    for (int i = 0; i < 2; i++) {
        run[i] = open_in(folder[i], "echo again >c.out", &c[i]);
        ok(run[i] && weft_run_start(run[i], &error), "run %d starts", i);
    }
    ok(!open_in(folder[0], "true", &c[0]), "a folder has one run at a time");
    bool more[2] = {true, true};
    while (more[0] || more[1])
        for (int i = 0; i < 2; i++)
            more[i] = more[i] && weft_run_step(run[i], 0.01, &error);
    for (int i = 0; i < 2; i++) {
        ok(weft_run_wait(run[i], &error), "run %d is done", i);
        weft_run_close(run[i]);
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run_in_thread, folder[i]);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        ok(result != NULL, "a thread runs one, too");
    }
}

static void write_text(const char *where, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *f = fopen(path, "we");
    ok(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s is written", name);
}

/* Two words in two cases: the words are made once each. */
static void test_experiment(void)
{
    struct weft_error error;
    struct counts c = {0};
    char path[128];
    write_text(folder[1], "flow.yaml",
               "weft: 1\ntasks:\n"
               "  say: { run: 'echo one > {out}', out: word.txt }\n"
               "  cast: { run: 'cat {in} > {out}', in: word.txt, out: cast.txt }\n");
    write_text(folder[1], "exp.yaml",
               "weft: 1\nexperiment: words\nworkflow: flow.yaml\nsubstitute:\n"
               "  word:\n    task: say\n    by:\n      one: {}\n      two: 'echo two > {out}'\n"
               "  case:\n    task: cast\n    by:\n      low: {}\n"
               "      high: 'tr a-z A-Z < {in} > {out}'\n");
    snprintf(path, sizeof path, "%s/exp.yaml", folder[1]);
    struct weft_experiment_options xo = WEFT_EXPERIMENT_OPTIONS_INIT;
    xo.no_history = true;
    struct weft_experiment *x = weft_experiment_open(path, &xo, &error);
    ok(x != NULL, "an experiment opens");
    is_int(weft_experiment_combinations(x), 4, "with four combinations");
    ok(weft_experiment_label(x, 0) && !weft_experiment_label(x, 4), "each has a label");
    const char *const *paths;
    is_int(weft_experiment_results(x, 3, &paths), 1, "and gives one file");
    struct weft_experiment_figures figures;
    ok(weft_experiment_predict(x, &figures, &error), "figures");
    is_int(figures.tasks, 6, "six tasks");
    is_int((int)figures.tasks_without_reuse, 8, "eight without reuse");
    is_int(figures.remaining, 6, "none of which was computed");
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    o.no_history = true;
    o.event = count_event;
    o.context = &c;
    struct weft_run *run = weft_experiment_run(x, true, &o, &error);
    ok(run && weft_run_start(run, &error) && weft_run_wait(run, &error), "it runs, by a plan");
    is_int(weft_run_result(run)->done, 6, "all of it");
    char result[300];
    snprintf(result, sizeof result, "%s/%s", folder[1],
             weft_experiment_results(x, 0, &paths) ? paths[0] : "?");
    ok(access(result, R_OK) == 0, "and the result is there");
    ok(!weft_experiment_run(x, false, &o, &error), "but not twice");
    weft_run_close(run);
    ok(!weft_experiment_predict(x, &figures, &error), "nor can more be asked of it");
    weft_experiment_close(x);
}

static void test_mistakes(void)
{
    struct weft_error error;
    struct weft_run_options o = {0}; /* without its size */
    ok(!weft_run_open("nowhere.yaml", NULL, &error) && error.status != WEFT_DONE, "no such file");
    ok(!weft_run_open("nowhere.yaml", &o, &error) && error.status == WEFT_BAD_INPUT,
       "options without a size");
    o = (struct weft_run_options)WEFT_RUN_OPTIONS_INIT;
    o.on = "mars";
    ok(!weft_run_open("nowhere.yaml", &o, &error) && strstr(error.text, "mars"), "no such place");
    ok(!weft_experiment_open("nowhere.yaml", NULL, &error), "no such experiment");
    ok(!weft_key_make("/dev/null/key", &error), "no place for a key");
    weft_run_close(NULL);
    weft_cluster_close(NULL);
    weft_experiment_close(NULL);
    weft_agent_close(NULL);
}

/* ---- tasks that join ---- */

enum { LINKS = 40 };
struct chain {
    struct weft_run *run;
    uint32_t added, grown, refused;
    const char *twice; /* a name that is there already; NULL: none */
};

/* The next link reads what the one before made; every other comes with one that reads nothing. */
static struct weft_workflow *next_link(uint32_t i, const char *twice)
{
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("more");
    char name[32], in[32], command[80];
    snprintf(name, sizeof name, "link%u", i);
    snprintf(in, sizeof in, "link%u.out", i - 1);
    snprintf(command, sizeof command, "(cat link%u.out; echo %u) > link%u.out", i - 1, i, i);
    uint32_t t = weft_builder_task(b, twice ? twice : name);
    weft_builder_command(b, t, command);
    weft_builder_reads(b, t, weft_builder_object(b, in));
    snprintf(in, sizeof in, "link%u.out", i);
    weft_builder_writes(b, t, weft_builder_object(b, in));
    if (i % 2) {
        snprintf(name, sizeof name, "beside%u", i);
        weft_builder_command(b, weft_builder_task(b, name), "true");
    }
    return weft_builder_finish(b, &error);
}

static void chain_event(void *context, const struct weft_event *e)
{
    struct chain *c = context;
    struct weft_error error;
    c->grown += e->kind == WEFT_EVENT_GROWN;
    if (!c->run || (e->kind != WEFT_EVENT_ENDED && e->kind != WEFT_EVENT_REUSED) ||
        strncmp(e->name, "link", 4) != 0 || c->added >= LINKS)
        return;
    c->added++;
    struct weft_workflow *more = next_link(c->added, c->added == 3 ? c->twice : NULL);
    c->refused += !weft_run_add(c->run, more, &error);
    weft_workflow_free(more);
}

static bool run_chain(const char *where, struct chain *c, struct weft_error *error,
                      struct weft_result *result)
{
    struct weft_builder *b = weft_builder_new("chain");
    uint32_t t = weft_builder_task(b, "link0");
    weft_builder_command(b, t, "echo 0 > link0.out");
    weft_builder_writes(b, t, weft_builder_object(b, "link0.out"));
    struct weft_workflow *w = weft_builder_finish(b, error);
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    o.folder = where;
    o.cores = 2;
    o.no_history = true;
    o.force = true;
    o.event = chain_event;
    o.context = c;
    struct weft_run *run = weft_run_open_workflow(w, &o, error);
    c->run = run;
    bool good = run && weft_run_start(run, error) && weft_run_wait(run, error);
    if (run)
        *result = *weft_run_result(run);
    struct weft_error late;
    if (run)
        c->refused += weft_run_add(run, w, &late) || !strstr(late.text, "not going on");
    weft_run_close(run);
    weft_workflow_free(w);
    return good;
}

static void test_add(void)
{
    struct weft_error error;
    struct chain c = {0}, d = {.twice = "link0"};
    struct weft_result result = {0};
    char path[120], text[400] = "";
    bool good = run_chain(folder[0], &c, &error, &result);
    snprintf(path, sizeof path, "%s/link%d.out", folder[0], LINKS);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    ok(good && c.grown == LINKS && !c.refused, "each task that ends adds another");
    ok(result.tasks == 1 + LINKS + LINKS / 2 && result.done == result.tasks,
       "all of them are counted: %u tasks", result.tasks);
    ok(n > 3 && strcmp(text + n - 3, "40\n") == 0, "each read what the one before made");
    good = run_chain(folder[1], &d, &error, &result);
    ok(!good && error.status == WEFT_BAD_INPUT && strstr(error.text, "in the run already"),
       "a name twice ends the run: %s", error.text);
}

int main(void)
{
    make_folders();
    test_ahead();
    test_step();
    test_failure();
    test_stop();
    test_two_at_once();
    test_experiment();
    test_add();
    test_mistakes();
    remove_folders();
    return tap_done();
}
