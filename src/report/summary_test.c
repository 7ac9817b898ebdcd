#include "report/figures.h"
#include "report/record_sample_test.h"
#include "report/summary.h"
#include "tap.h"

static void is_ending(int outcome, int status, double memory, double limit, const char *want)
{
    struct strbuf out = {0};
    struct trace_event e = {
        .kind = TRACE_TASK, .outcome = outcome, .status = status, .memory = memory, .finish = 3};
    report_ending(&e, limit, &out);
    is_str(strbuf_text(&out), want, "outcome %d, status %d", outcome, status);
    strbuf_free(&out);
}

static void test_endings(void)
{
    is_ending(TRACE_DONE, 0, 0, 0, "done");
    is_ending(TRACE_FAILED, 1, 0, 0, "exit status 1");
    is_ending(TRACE_FAILED, 126, 0, 0, "exit status 126: not executable");
    is_ending(TRACE_FAILED, 127, 0, 0, "exit status 127: command not found");
    is_ending(TRACE_FAILED, 139, 0, 0,
              "exit status 139: its command was killed by SIGSEGV: segmentation fault");
    is_ending(TRACE_FAILED, 255, 0, 0, "exit status 255");
    is_ending(TRACE_KILLED, 128 + 11, 0, 0, "killed by SIGSEGV: segmentation fault");
    is_ending(TRACE_KILLED, 128 + 9, 0, 0,
              "killed by SIGKILL: killed from outside, often by the kernel for want of memory");
    is_ending(TRACE_KILLED, 128 + 50, 0, 0, "killed by signal 50");
    is_ending(TRACE_TIMEOUT, 0, 0, 0, "over its time limit: ended after 3 s");
    is_ending(TRACE_MEMORY, 137, 2.3e9, 2e9,
              "over its memory limit: used 2.3 GB, 300 MB more than its 2 GB");
    is_ending(TRACE_MEMORY, 137, 1.9e9, 2e9, "over its memory limit of 2 GB");
    is_ending(TRACE_MEMORY, 137, 2.3e9, 0, "over its memory limit: used 2.3 GB");
    is_ending(TRACE_MEMORY, 137, 0, 0, "over its memory limit");
    is_ending(TRACE_NOT_STARTED, 127, 0, 0, "could not be started: command not found");
    is_ending(TRACE_CANCELLED, 0, 0, 0, "cancelled");
}

static void test_figures(void)
{
    struct run_record r;
    sample_record(&r, NULL);
    struct run_figures f;
    figures_of(&f, &r);
    is_int(f.attempts, 7, "attempts are counted, reused tasks not");
    is_dbl(f.busy, 2 + 6 + 5 + 5.5 + 2.5 + 1 + 2.5, 1e-9, "core-seconds");
    is_dbl(f.used, 24.5 / 40, 1e-9, "share of the cores");
    is_dbl(f.computed, 0.9 * 24.5 / 40, 1e-9, "share of processor time");
    is_int(f.kind.n, 4, "kinds that ran");
    is_str(intern_text(&f.kinds, f.kind.at[0].name), "filter", "the one with most time first");
    is_dbl(f.kind.at[0].total, 11, 1e-9, "its time");
    is_dbl(f.kind.at[0].median, 5.5, 1e-9, "its median");
    is_dbl(f.kind.at[0].expected, 4 + 5, 1e-9, "what was predicted for those that ran");
    is_int(f.failures.n, 1, "a task that failed twice is one failure");
    is_int(r.events.at[f.failures.at[0]].attempt, 2, "the last attempt is the one that counts");
    is_int(r.events.at[f.slowest.at[0]].id, 3, "the slowest attempt");
    is_int(f.npath, 4, "the path that really happened");
    const uint32_t path[] = {0, 2, 4, 5};
    ok(f.npath == 4 && memcmp(f.path, path, sizeof path) == 0, "read_a filter_a detect merge");
    is_dbl(f.path_running, 15, 1e-9, "time on it");
    is_dbl(f.path_waiting, 0.5, 1e-9, "and between");
    ok(f.reused[1] && !f.reused[0], "what was reused");
    figures_free(&f);
    record_free(&r);

    r = (struct run_record){.seconds = NAN, .peak_memory = NAN, .peak_disk = NAN};
    sample_attempt(&r, 3, 0, 0, 1, TRACE_DONE, 0, 1);
    sample_attempt(&r, 4000000000u, 0, 0, 1, TRACE_DONE, 0, 1);
    sample_attempt(&r, 2, 0, NAN, 1, TRACE_DONE, 0, 1);
    figures_of(&f, &r);
    is_int(f.ntasks, 4, "without a workflow: what the events mention, within reason");
    is_int(f.attempts, 1, "attempts without times are left out");
    char buffer[32];
    is_str(figures_task_name(&f, 3, buffer, sizeof buffer), "task 3", "a task without a name");
    figures_free(&f);
    record_free(&r);
}

/* The first core of one node is not the first core of another. */
static void test_nodes(void)
{
    struct run_record r = {.seconds = 9, .cores = 2};
    sample_attempt(&r, 0, 0, 0, 4.8, TRACE_DONE, 0, 1);
    sample_attempt(&r, 1, 0, 0, 4.9, TRACE_DONE, 0, 1);
    sample_attempt(&r, 2, 0, 4.9, 9, TRACE_DONE, 0, 1);
    r.events.at[0].node = r.events.at[2].node = 1;
    struct run_figures f;
    figures_of(&f, &r);
    ok(f.npath == 2 && f.path[0] == 0 && f.path[1] == 2, "a task waits for its own node's core");
    figures_free(&f);
    record_free(&r);
}

/* Causes as a run records them: groups by the record, what it does not know by the events. */
static void test_recorded_causes(struct run_record *r)
{
    struct strbuf out = {0};
    for (uint32_t t = 0; t < 20; t++)
        r->events.at[t].status = 2;
    for (uint32_t i = 0; i < 16; i++)
        array_push(&r->failures,
                   (struct record_failure){.task = i,
                                           .attempt = 1,
                                           .outcome = TRACE_FAILED,
                                           .status = 2,
                                           .cause = i % 2,
                                           .hint = i == 1 ? mem_copy_string("look there") : NULL,
                                           .reason = mem_copy_string(i % 2 ? "odd" : "even")});
    report_summary(r, NULL, &out);
    has_str(strbuf_text(&out), "20 tasks failed, for 3 causes:\n", "three causes");
    has_str(strbuf_text(&out), "  task 0, task 2, task 4 and 5 more: even\n", "one");
    has_str(strbuf_text(&out), "  task 1, task 3, task 5 and 5 more: odd\n    look there\n",
            "another, with its hint");
    has_str(strbuf_text(&out), "  task 16, task 17, task 18, task 19: exit status 2\n",
            "those of which nothing is recorded");
    strbuf_free(&out);
}

static void test_summary(void)
{
    struct run_record r;
    sample_record(&r, NULL);
    struct strbuf out = {0};
    array_push(&r.failures,
               (struct record_failure){
                   .task = 6,
                   .attempt = 2,
                   .outcome = TRACE_FAILED,
                   .status = 127,
                   .command = mem_copy_string("upload 'my file' \\\n  --to \033[2Jhost\n"),
                   .log = mem_copy_string(".weft/logs/publish.log"),
                   .tail = mem_copy_string("starting\nsh: 1: upload: not found\033[2J\n")});
    struct summary_options o = {.columns = 80, .logs = ".weft/logs", .flow = "my flow.yaml"};
    report_summary(&r, &o, &out);
    is_str(strbuf_text(&out),
           "edges: failed after 20 s: 5 tasks ran, 1 reused, 1 failed\n"
           "  time           20 s, predicted 16 s (+25 %)\n"
           "  cores          61.3 % of 2 held by tasks, 55.1 % computing\n"
           "  memory         1.1 GB at the peak of 4 GB, predicted 1 GB (+10 %)\n"
           "  disk           6 MB at the peak, predicted 5 MB (+20 %)\n"
           "  critical path  4 tasks: 15 s running, 500 ms between\n"
           "                 read_a 2 s > filter_a 5 s > detect 5.5 s > merge 2.5 s\n"
           "  results        /home/ada/edges\n"
           "  logs           .weft/logs\n"
           "  history        run 12: weft report 12 -o run.html\n"
           "\n"
           "  kind    ran  together   share  median  longest  predicted\n"
           "  ──────  ───  ────────  ──────  ──────  ───────  ─────────\n"
           "  filter    2      11 s  44.9 %   5.5 s      6 s        9 s\n"
           "  join      1       6 s  24.5 %   2.5 s    2.5 s        7 s\n"
           "  detect    1     5.5 s  22.4 %   5.5 s    5.5 s        6 s\n"
           "  read      1       2 s   8.2 %     2 s      2 s        2 s\n"
           "\n"
           "1 task failed:\n"
           "  publish: exit status 127: command not found, at attempt 2\n"
           "    $ upload 'my file' \\\n"
           "        --to ?[2Jhost\n"
           "    | starting\n"
           "    | sh: 1: upload: not found?[2J\n"
           "    is the program installed, and in PATH where weft was started?\n"
           "    log: .weft/logs/publish.log\n"
           "\n"
           "what to do:\n"
           "  weft run 'my flow.yaml'                again: what failed and what waits for it\n"
           "  weft run 'my flow.yaml' --why publish  why it would run, and with what\n",
           "a run with a failure");
    strbuf_clear(&out);

    o.columns = 50;
    report_summary(&r, &o, &out);
    has_str(strbuf_text(&out),
            "                 read_a 2 s > filter_a 5 s >\n"
            "                 detect 5.5 s > merge 2.5 s\n",
            "a path longer than the line goes on in the next");
    record_free(&r);
    static const char *const longer[] = {"read the first region of the map",
                                         "b",
                                         "c-c-c-c-c-c-c",
                                         "d",
                                         "e-e-e-e-e-e-e-e-e-e",
                                         "the end of the path",
                                         "f"};
    sample_record(&r, longer);
    strbuf_clear(&out);
    report_summary(&r, &o, &out);
    has_str(strbuf_text(&out), "… 2 more … >\n                 the end of the path 2.5 s\n",
            "a longer one is shortened in the middle");
    record_free(&r);

    r = (struct run_record){.name = mem_copy_string("edges"),
                            .outcome = RECORD_DONE,
                            .tasks = 1000,
                            .reused = 1000,
                            .seconds = 0.0123,
                            .cores = 2,
                            .predicted_seconds = NAN,
                            .predicted_memory = NAN,
                            .predicted_disk = NAN,
                            .peak_memory = NAN,
                            .peak_disk = NAN};
    strbuf_clear(&out);
    report_summary(&r, NULL, &out);
    is_str(strbuf_text(&out), "edges: done in 12.3 ms: nothing to do, 1,000 tasks are up to date\n",
           "nothing to do is one line");
    r.reused = 999;
    r.failed = r.excused = 1;
    strbuf_clear(&out);
    report_summary(&r, NULL, &out);
    has_str(strbuf_text(&out),
            "edges: done in 12.3 ms: 0 tasks ran, 999 reused, 1 failed (and may)\n",
            "a task that ran and failed, as it may, was something to do");
    record_free(&r);

    /* Twenty failures that ended alike: one cause. */
    sample_record(&r, NULL);
    struct workflow *w = r.workflow;
    r.workflow = NULL;
    r.events.n = 0;
    for (uint32_t t = 0; t < 20; t++)
        sample_attempt(&r, t, 0, t, t + 1, TRACE_FAILED, 1, 1);
    r.failed = 19;
    strbuf_clear(&out);
    report_summary(&r, NULL, &out);
    has_str(strbuf_text(&out),
            "20 tasks failed, all for one cause; the run ended before 1 of them was tried again:\n",
            "the head counts one of them as not run");
    r.failed = 20;
    strbuf_clear(&out);
    report_summary(&r, NULL, &out);
    has_str(strbuf_text(&out), "20 tasks failed, all for one cause:\n", "all are counted");
    has_str(strbuf_text(&out), "  task 0, task 1, task 2 and 17 more: exit status 1\n",
            "the first are named");
    /* As many causes as tasks: ten are told. */
    for (uint32_t t = 0; t < 20; t++)
        r.events.at[t].status = (int)t + 1;
    strbuf_clear(&out);
    report_summary(&r, NULL, &out);
    has_str(strbuf_text(&out), "20 tasks failed:\n", "different ones");
    has_str(strbuf_text(&out), "  and 10 more causes", "the first are told");
    test_recorded_causes(&r);
    r.workflow = w;
    record_free(&r);
    strbuf_free(&out);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_endings),
        TAP_CASE(test_figures),
        TAP_CASE(test_nodes),
        TAP_CASE(test_summary),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
