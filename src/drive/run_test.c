#include "exec/child.h"
#include "exec/limit.h"
#include "drive/order.h"
#include "drive/testing.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* a -> b, c -> d, in a language of cat and cp. */
static struct workflow *diamond_workflow(const char *b_command)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "a", "cp {in} {out}", "start > a.txt");
    add_task(b, "b", b_command, "a.txt > sub/b.txt");
    add_task(b, "c", "cat {in} {in} > {out}", "a.txt > c.txt");
    add_task(b, "d", "cat {in} > {out}", "c.txt sub/b.txt > d.txt");
    return builder_finish(b, NULL);
}

static void check_counts(const struct run_result *r, uint32_t done, uint32_t reused,
                         uint32_t failed, uint32_t skipped, const char *what)
{
    ok(r->done == done && r->reused == reused && r->failed == failed && r->skipped == skipped,
       "%s: %u done, %u reused, %u failed, %u skipped", what, r->done, r->reused, r->failed,
       r->skipped);
}

static void check_run(const struct bench_folder *f, struct workflow *w, uint32_t done,
                      uint32_t reused, const char *what)
{
    struct run_result r;
    struct error err = {0};
    ok(run_here(f, w, (struct run_options){0}, &r, &err), "%s %s", what, err.text);
    check_counts(&r, done, reused, 0, 0, what);
    run_result_free(&r);
}

static void test_never_twice(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = diamond_workflow("sed s/x/y/ {in} > {out}");
    folder_write(&f, "start", "x\n");
    check_run(&f, w, 4, 0, "the first run");
    is_str(folder_read(&f, "d.txt"), "x\nx\ny\n", "inputs in the order of the file");
    is_str(folder_read(&f, "sub/b.txt"), "y\n", "an output in a folder of its own");
    check_run(&f, w, 0, 4, "again: nothing");

    unlink(folder_file(&f, "c.txt"));
    check_run(&f, w, 1, 3, "a lost output is made again, and what reads it is not");

    folder_write(&f, "sub/b.txt", "spoilt\n");
    check_run(&f, w, 1, 3, "so is one that somebody changed");
    is_str(folder_read(&f, "sub/b.txt"), "y\n", "to what it was");

    struct workflow *changed = diamond_workflow("sed s/x/z/ {in} > {out}");
    check_run(&f, changed, 2, 2, "another command: it and what depends on it");
    is_str(folder_read(&f, "d.txt"), "x\nx\nz\n", "with the new result");
    struct workflow *same = diamond_workflow("sed -e s/x/z/ {in} > {out}");
    check_run(&f, same, 1, 3, "another command with the same result goes no further");

    folder_write(&f, "start", "w\n");
    check_run(&f, same, 4, 0, "a changed input: all that reads it");
    /* x, 4 bytes later: the same size and perhaps the same tick of the clock */
    folder_write(&f, "start", "v\n");
    check_run(&f, same, 4, 0, "and at once again");
    is_str(folder_read(&f, "d.txt"), "v\nv\nv\n", "nothing is stale");
    workflow_free(w);
    workflow_free(changed);
    workflow_free(same);
    tree_remove(f.path);
}

static void test_why(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = diamond_workflow("cp {in} {out}");
    struct workflow *changed = diamond_workflow("cp -f {in} {out}");
    folder_write(&f, "start", "x\n");
    check_run(&f, w, 4, 0, "a run to ask about");
    struct error err = {0};
    struct memo *m = memo_open(folder_file(&f, ".weft/memo"), NULL, &err);
    struct needs n;
    struct strbuf why = {0};
    unlink(folder_file(&f, "d.txt"));
    needs_find(&n, w, f.path, m, &(struct need_options){0}, &err);
    is_int(n.run, 1, "one must run");
    need_explain(&n, 3, &why);
    is_str(why.at, "runs: its output 'd.txt' is gone", "and this is why");
    strbuf_clear(&why);
    need_explain(&n, 0, &why);
    has_str(why.at, "does not run", "another need not");
    needs_free(&n);
    needs_find(&n, changed, f.path, m, &(struct need_options){0}, &err);
    is_int(n.task[1], NEED_COMMAND, "a changed command is told as that");
    is_int(n.task[3], NEED_PARENT, "what depends on it may have to run");
    needs_free(&n);
    folder_write(&f, "start", "other\n");
    needs_find(&n, w, f.path, m, &(struct need_options){0}, &err);
    is_int(n.task[0], NEED_INPUT, "a changed input");
    strbuf_clear(&why);
    need_explain(&n, 0, &why);
    has_str(why.at, "its input 'start' changed", "is named");
    needs_free(&n);
    unlink(folder_file(&f, "start"));
    ok(!needs_find(&n, w, f.path, m, &(struct need_options){0}, &err), "a missing input");
    has_str(err.text, "task 'a' reads 'start', which no task makes and which is not there",
            "is an error that names both");
    memo_close(m, NULL);
    strbuf_free(&why);
    workflow_free(w);
    workflow_free(changed);
    tree_remove(f.path);
}

/* One task, its command, how it fails. */
static void check_failure(const char *command, const char *files, enum trace_outcome outcome,
                          int status, const char *text, const char *log, const char *what)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = add_task(b, "t", command, files);
    add_task(b, "after", "true", "");
    builder_edge(b, t, t + 1, 0);
    if (outcome == TRACE_TIMEOUT)
        builder_timeout(b, t, 0.2, 0);
    if (outcome == TRACE_MEMORY)
        builder_memory(b, t, 60e6, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    folder_write(&f, "there", "#!/bin/sh\n");
    ok(!run_here(&f, w, (struct run_options){.grace = 0.5}, &r, &err), "%s fails", what);
    is_int(err.kind, ERROR_FAILED, "with status 1");
    check_counts(&r, 0, 0, 1, 1, what);
    if (ok(r.failures.n == 1, "and is told")) {
        is_int(r.failures.at[0].outcome, outcome, "how");
        if (status >= 0)
            is_int(r.failures.at[0].status, status, "its status");
        has_str(r.failures.at[0].text ? r.failures.at[0].text : "", text, "why");
        if (outcome != TRACE_MEMORY) /* a shell may say there who was killed */
            ok(log[0] ? r.failures.at[0].log != NULL : r.failures.at[0].log == NULL, "its log");
        if (log[0] && r.failures.at[0].log) {
            FILE *in = fopen(r.failures.at[0].log, "re");
            char line[256] = "";
            ok(in && fgets(line, sizeof line, in), "can be read");
            has_str(line, log, "and holds what it wrote");
            if (in)
                fclose(in);
        }
    }
    ok(access(folder_file(&f, ".weft/sandbox/t-0"), F_OK) != 0, "no sandbox is left");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_failures(void)
{
    check_failure("false", "", TRACE_FAILED, 1, "", "", "an exit status");
    check_failure("sh -c 'echo out; echo err >&2; exit 7'", "", TRACE_FAILED, 7, "", "out",
                  "a log");
    check_failure("kill -SEGV $$", "", TRACE_KILLED, 128 + SIGSEGV, "", "", "a signal");
    check_failure("no-such-command-anywhere x", "", TRACE_NOT_STARTED, 127, "command not found", "",
                  "a command that is not there");
    check_failure("./there", "> out", TRACE_NOT_STARTED, 127, "add it to `in`", "",
                  "a command that is not declared");
    check_failure(
        "touch other", "> out.txt", TRACE_FAILED, 0,
        "output 'out.txt' is missing after the command ended well; it left undeclared: other", "",
        "an output that is not made");
    check_failure("sleep 100", "", TRACE_TIMEOUT, 128 + SIGTERM, "", "", "a task past its time");
    check_failure("trap '' TERM; while :; do sleep 1; done", "", TRACE_TIMEOUT, 128 + SIGKILL, "",
                  "", "a task past its time that will not end");
    check_failure("head -c 200000000 /dev/zero | tail -c 190000000 >/dev/null", "", TRACE_MEMORY,
                  -1, "", "", "a task past its memory");
}

static void test_memory_ladder(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t =
        add_task(b, "t", "head -c 90000000 /dev/zero | tail -c 80000000 | wc -c > {out}", "> out");
    builder_memory(b, t, 30e6, 0);
    builder_more_memory(b, t, 60e6, 0);
    builder_more_memory(b, t, 400e6, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    ok(run_here(&f, w, (struct run_options){.retry_first = 0.01}, &r, &err), "a ladder %s",
       err.text);
    is_int(r.attempts, 3, "two attempts die of memory, the third has enough");
    is_str(folder_read(&f, "out"), "80000000\n", "and gives the result");
    for (size_t i = 0; i < r.failures.n; i++)
        ok(r.failures.at[i].outcome == TRACE_MEMORY && !r.failures.at[i].last, "attempt %zu",
           i + 1);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_retries(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = add_task(b, "t", "test $WEFT_ATTEMPT -ge 4 && echo $WEFT_TASK > {out}", "> out");
    builder_retries(b, t, 5, 0);
    t = add_task(b, "u", "exit 3", "");
    builder_retries(b, t, 10000, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    struct run_options quick = {.retry_first = -1, .keep_going = true};
    quick.tick = NULL;
    /* 10,000 retries: many attempts, no hang, bounded memory for what they say */
    ok(!run_here(&f, w, quick, &r, &err), "ten thousand retries end");
    check_counts(&r, 1, 0, 1, 0, "ten thousand retries");
    is_int(r.attempts, 4 + 10001, "attempts");
    is_int((long long)r.failures.n, RUN_FAILURES, "of which not all are told");
    is_str(folder_read(&f, "out"), "t\n", "the other one succeeded in the fourth");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_keep_going(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "bad", "false", "> x");
    add_task(b, "child", "cp {in} {out}", "x > y");
    add_task(b, "grandchild", "cp {in} {out}", "y > z");
    add_task(b, "good", "sleep 0.3", "");
    uint32_t late = add_task(b, "late", "true", "");
    builder_edge(b, late - 1, late, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    ok(!run_here(&f, w, (struct run_options){.keep_going = true}, &r, &err), "keep going");
    check_counts(&r, 2, 0, 1, 2, "what does not depend on the failure");
    run_result_free(&r);
    tree_remove(f.path);
    f = folder_make();
    error_clear(&err);
    ok(!run_here(&f, w, (struct run_options){0}, &r, &err), "or not");
    check_counts(&r, 1, 0, 1, 3, "what runs may end");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_temporary(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "big", "head -c 1000 /dev/zero > {out}", "> big");
    add_task(b, "half", "head -c 500 {in} > {out}", "big > half");
    add_task(b, "end", "wc -c < {in} > {out}", "half > end");
    builder_temporary(b, builder_object(b, "big", 3));
    builder_temporary(b, builder_object(b, "half", 4));
    struct workflow *w = builder_finish(b, NULL);
    check_run(&f, w, 3, 0, "with temporary files");
    ok(access(folder_file(&f, "big"), F_OK) != 0 && access(folder_file(&f, "half"), F_OK) != 0,
       "which are gone at the end");
    check_run(&f, w, 0, 3, "nobody misses them");
    unlink(folder_file(&f, "end"));
    check_run(&f, w, 3, 0, "they are restored when something needs them again");
    is_str(folder_read(&f, "end"), "500\n", "with the same result");
    ok(access(folder_file(&f, "half"), F_OK) != 0, "and gone again");
    workflow_free(w);
    tree_remove(f.path);
}

/* Wide: 12 branches of a large temporary file each, and room for two of them. */
static void test_disk(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    char name[3][32], command[100], files[64];
    for (int i = 0; i < 12; i++) {
        snprintf(name[0], sizeof name[0], "make%d", i);
        snprintf(name[1], sizeof name[1], "eat%d", i);
        snprintf(name[2], sizeof name[2], "file%d", i);
        snprintf(command, sizeof command, "head -c 100000 /dev/zero > {out}");
        snprintf(files, sizeof files, "> %s", name[2]);
        add_task(b, name[0], command, files);
        uint32_t o = builder_object(b, name[2], strlen(name[2]));
        builder_size(b, o, 100000, 0);
        builder_temporary(b, o);
        snprintf(files, sizeof files, "%s > small%d", name[2], i);
        add_task(b, name[1], "wc -c < {in} > {out}", files);
    }
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    ok(run_here(&f, w, (struct run_options){.cores = 4, .disk = 210000}, &r, &err),
       "on a small disk %s", err.text);
    check_counts(&r, 24, 0, 0, 0, "all of it");
    ok(r.peak_disk <= 210000 && r.peak_disk >= 100000, "at most %.0f bytes were alive",
       r.peak_disk);
    run_result_free(&r);
    tree_remove(f.path);
    f = folder_make();
    ok(!run_here(&f, w, (struct run_options){.cores = 4, .disk = 90000}, &r, &err),
       "too small a disk");
    has_str(err.text, "no task fits on the disk any more", "is said");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_memory_packing(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    char name[32];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "t%d", i);
        uint32_t t = add_task(b, name,
                              "ls running > /dev/null 2>&1 && touch overlap; touch running; "
                              "sleep 0.03; rm running",
                              "");
        builder_memory(b, t, 60e6, 0);
    }
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    ok(run_here(&f, w, (struct run_options){.cores = 4, .memory = 100e6}, &r, &err),
       "tasks that do not fit together %s", err.text);
    ok(access(folder_file(&f, "overlap"), F_OK) != 0, "run one after the other");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_daemon(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "t", "setsid sleep 77 & sleep 0.2; echo $! > {out}", "> pid");
    uint32_t t = add_task(b, "u", "sleep 1.3", "");
    builder_edge(b, t - 1, t, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    ok(run_here(&f, w, (struct run_options){0}, &r, &err), "a task that leaves a daemon %s",
       err.text);
    is_int(r.orphans, 1, "which is found");
    pid_t pid = (pid_t)strtol(folder_read(&f, "pid"), NULL, 10);
    ok(pid > 0 && kill(pid, 0) != 0 && errno == ESRCH, "and ended");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_long_log(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "t", "echo begin; head -c 80000000 /dev/zero | tr '\\0' x >&2; echo; echo end", "");
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    struct stat s;
    ok(run_here(&f, w, (struct run_options){0}, &r, &err), "a task that writes 80 MB %s", err.text);
    ok(stat(folder_file(&f, ".weft/logs/t/t.log"), &s) == 0 && s.st_size < 17 << 20,
       "has a log of its beginning and end");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_order(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "a1", "true", "> x");
    add_task(b, "a2", "true", "> y");
    add_task(b, "b1", "true", "x > p");
    add_task(b, "b2", "true", "y > q");
    struct workflow *w = builder_finish(b, NULL);
    double p[4];
    order_depth_first(w, p);
    ok(p[0] > p[2] && p[2] > p[1] && p[1] > p[3], "a branch is finished before the next is opened");
    workflow_free(w);
}

static bool interrupt_on_tick(void *context, int stopping)
{
    int *ticks = context;
    return ++*ticks == 3 || (*ticks == 6 && stopping == 1);
}

static void test_interrupt(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = add_task(b, "long", "sleep 50 & sleep 50", "");
    add_task(b, "next", "true", "");
    builder_edge(b, t, t + 1, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct run_result r;
    struct error err = {0};
    int ticks = 0;
    double before = (double)time(NULL);
    ok(!run_here(&f, w, (struct run_options){.tick = interrupt_on_tick, .context = &ticks}, &r,
                 &err),
       "interrupted twice");
    ok(r.interrupted && (double)time(NULL) - before < 10, "it ends now");
    check_counts(&r, 0, 0, 0, 2, "what was ended is left, not failed");
    is_int(r.failures.n, 0, "and no failure is told");
    ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no child is left behind");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_in_place(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = add_task(b, "t", "cat helper > {out}", "> deep/er/out");
    builder_flag(b, t, TASK_IN_PLACE);
    add_task(b, "joint", NULL, "deep/er/out");
    struct workflow *w = builder_finish(b, NULL);
    folder_write(&f, "helper", "h\n");
    check_run(&f, w, 2, 0, "a task in the folder itself, and one without a command");
    is_str(folder_read(&f, "deep/er/out"), "h\n", "sees undeclared files");
    workflow_free(w);
    tree_remove(f.path);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_order),          TAP_CASE(test_never_twice),   TAP_CASE(test_why),
        TAP_CASE(test_failures),       TAP_CASE(test_memory_ladder), TAP_CASE(test_retries),
        TAP_CASE(test_keep_going),     TAP_CASE(test_temporary),     TAP_CASE(test_disk),
        TAP_CASE(test_memory_packing), TAP_CASE(test_daemon),        TAP_CASE(test_long_log),
        TAP_CASE(test_interrupt),      TAP_CASE(test_in_place),
    };
    children_adopt_orphans();
    return tap_run(cases, sizeof cases / sizeof *cases);
}
