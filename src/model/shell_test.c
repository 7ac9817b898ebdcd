/* Which shell a command gets. Shells themselves are the oracle of what makes no difference: a command
 * that shell_is_simple() lets through does the same under sh and under bash -e -o pipefail. */
#include "model/builder.h"
#include "model/shell.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct workflow *shell_task(const char *command, const char *shell)
{
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = builder_task(b, "t", 1, 7);
    builder_command(b, t, command, strlen(command));
    builder_shell(b, t, shell, strlen(shell), 7);
    builder_consumes(b, t, builder_object(b, "b c", 3), 0);
    builder_produces(b, t, builder_object(b, "o", 1), 0);
    return builder_finish(b, NULL);
}

/* Output and status of a command under a shell. */
static int under(const char *const *shell, const char *command, char *output, size_t size)
{
    int end[2], status = -1;
    if (pipe(end) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        const char *words[8] = {0};
        size_t n = 0;
        for (; shell[n]; n++)
            words[n] = shell[n];
        words[n] = command;
        dup2(end[1], 1);
        dup2(end[1], 2);
        close(end[0]);
        execvp(words[0], (char *const *)words);
        _exit(99);
    }
    close(end[1]);
    size_t at = 0;
    for (ssize_t n; at < size - 1 && (n = read(end[0], output + at, size - 1 - at)) > 0;)
        at += (size_t)n;
    output[at] = 0;
    close(end[0]);
    waitpid(pid, &status, 0);
    return status;
}

static void simple(const char *command)
{
    static const char *const sh[] = {"sh", "-c", NULL};
    char one[4096], two[4096];
    ok(shell_is_simple(NULL, command), "no difference: %s", command);
    int first = under(sh, command, one, sizeof one);
    int second = under(shell_of_this_machine()->words, command, two, sizeof two);
    ok(!first == !second, "the same success"); /* shells differ in how they count mistakes */
    if (first == 0)
        is_str(one, two, "the same output");
}

static void strict(const char *command)
{
    struct workflow *w = shell_task(command, "");
    is_int(shell_sort_of(w, 0, command), SHELL_STRICT, "strict: %.*s", (int)strcspn(command, "\n"),
           command);
    workflow_free(w);
}

static void test_simple(void)
{
    static const char *const commands[] = {
        "true",
        "false > /dev/null",
        "cat < /dev/null",
        "ls -d / 2>/dev/null",
        "ls -d / /no-such 2>&1 > /dev/null",
        "sort </dev/null>/dev/null",
        "cat /etc/hostname 'a b' 2> /dev/null",
        "echo x > /dev/null",
        "echo a 'b  c' >&2",
        "cat < /no/such/file",
        "no-such-program > /dev/null",
        "printf '%s' a\\b",
        "expr 1 + 2 >&1",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        simple(commands[i]);
    static const char *const others[] = {
        "false | true",
        "false; true",
        "false & true",
        "a && b",
        "echo $x",
        "echo \"$x\" > o",
        "echo `x`",
        "echo a\\\\nb > o",
        "echo -e x > o",
        "printf 'x\\n' > o",
        "test a == a > o",
        "cat *.txt",
        "cat <<END\nx\nEND",
        "cat <<< x",
        "cat <(true)",
        "true &> o",
        "true >& o",
        "true >| o",
        "> o sort x",
        "2> o sort x",
        "A=1 sort x > o",
        "cd / > o",
        "pwd > o",
        "kill -l > o",
        "sort x > ~/o",
        "sort x > {a,b}",
        "sort x > o # and y",
        "sort x\nsort y",
        "! true > o",
        "sort 'x > o",
        "cat < /dev/tcp/localhost/1",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        strict(others[i]);
    struct workflow *w = shell_task("cat {in} > {out}", "");
    is_int(shell_sort_of(w, 0, "cat {in} > {out}"), SHELL_SIMPLE, "files that are not filled in");
    is_int(shell_sort_of(w, 0, "cat 'b c' > o"), SHELL_SIMPLE, "the same, filled in");
    is_int(shell_sort_of(w, 0, "cat {x} > {out}"), SHELL_STRICT, "a brace that is none of ours");
    workflow_free(w);
}

/* The words of a `shell`, joined; with a mark for how the text follows. */
static void words(const char *stated, const char *expected)
{
    static const char *const how[] = {"TEXT", "TEXT", "TEXT", "FILE"};
    struct shell_words s;
    struct error err = {0};
    char joined[400] = "";
    ok(shell_parse(stated, &s, &err), "%s %s", stated, err.text);
    for (size_t i = 0; i < s.n; i++) {
        strcat(joined, s.at[i]);
        strcat(joined, " ");
    }
    strcat(joined, how[s.delivery]);
    is_str(joined, expected, "%s", stated);
}

static void test_words(void)
{
    words("sh", "sh -c TEXT");
    words("bash", "bash -c TEXT");
    words("bash -e", "bash -e -c TEXT");
    words("bash -euo pipefail", "bash -euo pipefail -c TEXT");
    words("bash -euo pipefail -c", "bash -euo pipefail -c TEXT");
    words("/opt/bin/zsh -fc", "/opt/bin/zsh -fc TEXT");
    words("python3", "python3 -c TEXT");
    words("python3 -u", "python3 -u -c TEXT");
    words("Rscript", "Rscript FILE");
    words("Rscript --vanilla", "Rscript --vanilla FILE");
    words("perl -e", "perl -e TEXT");
    words("awk -f", "awk -f FILE");
    words("env bash -e", "env bash -e -c TEXT");
    static const char *const bad[] = {"", " ", "a | b", "sh; x", "$SHELL", "'sh", "a\nb"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shell_words s;
        struct error err = {0};
        ok(!shell_parse(bad[i], &s, &err), "no shell: '%s'", bad[i]);
        has_str(err.text, "expected a program with its options", "and why");
    }
}

static void keys(const char *command, const char *shell, const char *expected)
{
    struct workflow *w = shell_task(command, shell);
    char buffer[SHELL_NAME];
    const char *in_key = shell_in_key(w, 0, command, "STRICT", buffer);
    is_str(in_key ? in_key : "none", expected, "the key of %s under '%s'", command, shell);
    workflow_free(w);
}

static void test_keys(void)
{
    keys("cp {in} {out}", "", "none");
    keys("sort {in} > {out}", "", "none");
    keys("a | b", "", "STRICT");
    keys("a | b", "sh", "none");
    keys("a | b", "/bin/sh -c", "none");
    keys("a | b", "bash", "bash -c ");
    keys("cp a b", "bash", "bash -c ");
    keys("a", "bash   -c", "bash -c ");
    keys("#!/bin/sh\nx", "", "#!");
    keys("#!/bin/sh\nx", "sh", "#!");
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = builder_task(b, "t", 1, 7);
    builder_shell(b, t, "sh |", 4, 7);
    struct error err = {0};
    ok(!builder_finish(b, &err), "a builder refuses what is no shell");
    has_str(err.text, "flow.yaml:7: task 't': shell is 'sh |'", "with its place");
}

int main(void)
{
    TAP_DO(test_simple());
    TAP_DO(test_words());
    TAP_DO(test_keys());
    return tap_done();
}
