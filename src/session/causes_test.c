/* Failures that are one, and hints: which, and silence where nothing is certain. */
#include "session/causes.h"

#include "base/mem.h"
#include "model/builder.h"
#include "session/hints.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tasks t0, t1, ... that make out0, out1, ... with the command given. */
static struct workflow *sample_tasks(uint32_t n, const char *command)
{
    struct builder *b = builder_new("test", "test");
    for (uint32_t i = 0; i < n; i++) {
        char name[32], out[32];
        snprintf(name, sizeof name, "t%u", i);
        snprintf(out, sizeof out, "out%u.txt", i);
        uint32_t t = builder_task(b, name, strlen(name), 0);
        builder_command(b, t, command, strlen(command));
        builder_produces(b, t, builder_object(b, out, strlen(out)), 0);
    }
    return builder_finish(b, NULL);
}

static void add_failure(struct run_record *r, uint32_t task, int status, const char *reason,
                        const char *tail)
{
    array_push(&r->failures,
               (struct record_failure){.task = task,
                                       .outcome = TRACE_FAILED,
                                       .status = status,
                                       .command = mem_copy_string("tool x"),
                                       .reason = reason ? mem_copy_string(reason) : NULL,
                                       .tail = tail ? mem_copy_string(tail) : NULL});
}

static void test_groups(void)
{
    struct run_record r = {.workflow = sample_tasks(8, "tool x")};
    add_failure(&r, 0, 1, NULL, "line 1\nread 17 rows of out0.txt: bad");
    add_failure(&r, 1, 1, NULL, "line 2\nread 4 rows of out1.txt: bad");
    add_failure(&r, 2, 1, NULL, "read 4 rows of out2.txt: worse");
    add_failure(&r, 3, 2, NULL, "read 4 rows of out3.txt: bad");
    add_failure(&r, 4, 1, "output 'out4.txt' is missing", NULL);
    add_failure(&r, 5, 1, "output 'out5.txt' is missing", NULL);
    add_failure(&r, 6, 1, NULL, NULL);
    add_failure(&r, 7, 1, NULL, "t7: read 9 rows of out7.txt: bad");
    causes_group(&r);
    const uint32_t want[] = {0, 0, 2, 3, 4, 4, 6, 7};
    for (uint32_t i = 0; i < 8; i++)
        is_int(r.failures.at[i].cause, want[i], "failure %u", i);
    ok(r.failures.at[0].tail && !r.failures.at[1].tail,
       "the first of a cause keeps its last lines");
    record_free(&r);
    causes_group(&r);
    ok(r.failures.n == 0, "none are none");
}

static void is_hint(const char *folder, const char *command, int status, const char *tail,
                    bool sandboxed, const char *want)
{
    struct workflow *w = sample_tasks(1, command);
    struct record_failure f = {.outcome = TRACE_FAILED,
                               .status = status,
                               .command = (char *)command,
                               .tail = (char *)tail};
    char *hint = hint_for(w, &f, folder, sandboxed);
    if (want)
        is_str(hint ? hint : "(none)", want, "%s", command);
    else
        ok(!hint, "nothing is certain: %s", command);
    free(hint);
    workflow_free(w);
}

static void put_file(const char *folder, const char *name, mode_t mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
    chmod(path, mode);
}

static void test_hints(void)
{
    char folder[] = "/tmp/weft-hints-XXXXXX", bin[4200], path[4300];
    if (!mkdtemp(folder)) {
        ok(false, "a folder");
        return;
    }
    put_file(folder, "tool.sh", 0755);
    put_file(folder, "plain.sh", 0644);
    put_file(folder, "out0.txt", 0644);
    snprintf(bin, sizeof bin, "%s/bin", folder);
    mkdir(bin, 0777);
    put_file(bin, "samtools", 0755);
    setenv("PATH", bin, 1);
    static const char here[] = "'tool.sh' is here, but not in the task's `in`";
    is_hint(folder, "./tool.sh 1", 127, "sh: 1: ./tool.sh: not found", true, here);
    is_hint(folder, "sh ./tool.sh 1", 2, "sh: 0: cannot open tool.sh: No such file", true, here);
    is_hint(folder, "python3 x", 1, "No such file or directory: 'tool.sh'", true, here);
    is_hint(folder, "python3 x", 1, "No such file or directory: 'tool.sh'", false, NULL);
    is_hint(folder, "wc out0.txt", 2, "out0.txt: No such file or directory", true, NULL);
    is_hint(folder, "grep tool.sh", 1, "nothing like that", true, NULL);
    is_hint(folder, "./plain.sh", 126, "sh: 1: ./plain.sh: Permission denied", false,
            "'plain.sh' is not executable: chmod +x plain.sh, or name its interpreter (sh "
            "plain.sh)");
    is_hint(folder, "cat x | samtols y", 127, "sh: 1: samtols: not found", true,
            "there is no program 'samtols' in PATH where weft was started; did you mean "
            "'samtools'?");
    is_hint(folder, "frobnicate y", 127, "bash: line 1: frobnicate: command not found", true,
            "there is no program 'frobnicate' in PATH where weft was started: is it installed, or "
            "loaded (module, conda)?");
    is_hint(folder, "false", 1, NULL, true, NULL);
    is_hint(folder, "", 127, "", true, NULL);
    static const char *const names[] = {"tool.sh", "plain.sh", "out0.txt", "bin/samtools"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(bin);
    rmdir(folder);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_groups),
        TAP_CASE(test_hints),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
