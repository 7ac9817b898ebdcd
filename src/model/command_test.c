#include "base/rng.h"
#include "model/builder.h"
#include "model/command.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct builder *one_builder(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_parameter(b, "sigma", "1.4");
    builder_parameter(b, "in dex", "x y");
    builder_parameter(b, "attempt", "own");
    uint32_t t = builder_task(b, "a task", 6, 7);
    builder_kind(b, t, "k", 1);
    builder_cores(b, t, 3, 0);
    builder_memory(b, t, 2e9, 0);
    builder_consumes(b, t, builder_object(b, "b c", 3), 0);
    builder_consumes(b, t, builder_object(b, "a's", 3), 0);
    builder_produces(b, t, builder_object(b, "dir/o", 5), 0);
    return b;
}

static struct workflow *one_task(const char *command)
{
    struct builder *b = one_builder();
    builder_command(b, 0, command, strlen(command));
    return builder_finish(b, NULL);
}

/* The error that builder_finish() has about a command on lines 20 and on. */
static void refused(const char *command, const char *text)
{
    struct builder *b = one_builder();
    struct error err = {0};
    builder_command(b, 0, command, strlen(command));
    builder_command_line(b, 0, 20);
    struct workflow *w = builder_finish(b, &err);
    ok(!w, "refused: %s", command);
    has_str(err.text, text, "says why");
    workflow_free(w);
}

static void remarked(const char *command, const char *text)
{
    struct builder *b = one_builder();
    builder_command(b, 0, command, strlen(command));
    struct workflow *w = builder_finish(b, NULL);
    if (*text && ok(w && w->nwarnings == 1, "a remark on: %s", command))
        has_str(w->warnings[0], text, "says why");
    else if (!*text && !ok(w && !w->nwarnings, "no remark on: %s", command) && w)
        printf("# %s\n", w->warnings[0]);
    workflow_free(w);
}

/* Random texts of braces, dollars and words: as literal commands each stands for itself. */
static void literals(void)
{
    static const char *const pieces[] = {"{",  "}",  "{{", "}}",    "$",      "in",      "out[1]",
                                         " ",  "x",  "[",  "]",     "{in}",   "${in}",   "{print}",
                                         "\n", "$$", "'",  "sigma", "{task}", "{in[7]}", "1"};
    struct rng r;
    rng_seed(&r, 14);
    uint32_t wrong = 0;
    for (int round = 0; round < 20000; round++) {
        struct strbuf text = {0}, back = {0};
        for (uint32_t n = 1 + (uint32_t)rng_below(&r, 8); n--;)
            strbuf_add(&text, pieces[rng_below(&r, sizeof pieces / sizeof *pieces)]);
        struct builder *b = one_builder();
        builder_literal_command(b, 0, text.at, text.n);
        struct error err = {0};
        struct workflow *w = builder_finish(b, &err);
        bool same = w && command_expand(w, 0, &back, &err) && strcmp(text.at, back.at) == 0 &&
                    command_is_literal(w, 0, &back);
        if (!same && !wrong++)
            printf("# %s\n# %s\n# %s\n", text.at, strbuf_text(&back), err.text);
        workflow_free(w);
        strbuf_free(&text);
        strbuf_free(&back);
    }
    is_int(wrong, 0, "20,000 literal commands stand for themselves");
}

static void built_in(void)
{
    struct workflow *w = one_task("x {task} {kind} {cores} {memory} {attempt} {{attempt}}");
    struct strbuf out = {0};
    struct error err = {0};
    command_expand_attempt(w, 0, &(struct command_attempt){.number = 2, .memory = 4e9}, &out, &err);
    is_str(out.at, "x 'a task' k 3 4000000000 own {attempt}", "the second attempt's command");
    strbuf_clear(&out);
    command_expand(w, 0, &out, &err);
    is_str(out.at, "x 'a task' k 3 2000000000 own {attempt}", "as stated");
    workflow_free(w);
    struct builder *b = builder_new("flow.yaml", "native");
    builder_task(b, "t", 1, 7);
    builder_command(b, 0, "x {attempt} {cores}", 19);
    w = builder_finish(b, &err);
    strbuf_clear(&out);
    command_template(w, 0, &out);
    is_str(out.at, "x {attempt} 1", "the attempt is no part of what a computation is");
    strbuf_clear(&out);
    command_expand_attempt(w, 0, &(struct command_attempt){.number = 3}, &out, &err);
    is_str(out.at, "x 3 1", "the third attempt's command");
    strbuf_free(&out);
    workflow_free(w);
    b = builder_new("flow.yaml", "native");
    builder_task(b, "t", 1, 7);
    builder_command(b, 0, "x {memory}", 10);
    ok(!builder_finish(b, &err) &&
           strstr(err.text, "flow.yaml:7: task 't': its command names {memory}"),
       "{memory} of a task that states none: %s", err.text);
}

static void expands(const char *command, const char *expected)
{
    struct workflow *w = one_task(command);
    struct strbuf out = {0};
    struct error err = {0};
    command_expand(w, 0, &out, &err);
    is_str(strbuf_text(&out), expected, "%s", command);
    strbuf_free(&out);
    workflow_free(w);
}

/* The shell itself is the oracle: both must see the same words. */
static void splits(const char *command)
{
    char *copy = strdup(command), *words[32], script[600], line[600] = "", mine[600] = "";
    size_t n = command_words(copy, words, 32);
    for (size_t i = 0; i < n; i++)
        snprintf(mine + strlen(mine), sizeof mine - strlen(mine), "<%s>", words[i]);
    snprintf(script, sizeof script, "printf '<%%s>' %s", command);
    FILE *f = popen(script, "r");
    if (fgets(line, sizeof line, f) == NULL)
        line[0] = 0;
    pclose(f);
    ok(n > 0, "no shell for: %s", command);
    is_str(mine, line, "the words of: %s", command);
    free(copy);
}

static void shell(const char *command)
{
    char *copy = strdup(command), *words[8];
    is_int(command_words(copy, words, 8), 0, "a shell for: %.*s", (int)strcspn(command, "\n"),
           command);
    is_str(copy, command, "and the text stays");
    free(copy);
}

int main(void)
{
    TAP_DO(expands("cp {in} {out}", "cp 'b c' 'a'\\''s' dir/o"));
    TAP_DO(expands("x {in[1]} {in[0]} {out[0]}", "x 'a'\\''s' 'b c' dir/o"));
    TAP_DO(expands("awk '{print $1}' {sigma} {{unknown}} {{in}}",
                   "awk '{print $1}' 1.4 {unknown} {in}"));
    TAP_DO(expands("x{a,b} {1..3} a{3} find {} ${HOME} $${sigma} ${sigma:-x} {n[$2]+=$1}",
                   "x{a,b} {1..3} a{3} find {} ${HOME} $$1.4 ${sigma:-x} {n[$2]+=$1}"));
    TAP_DO(refused("x\ny {sigmma}",
                   "flow.yaml:21: task 'a task': its command names {sigmma}, which is "
                   "neither a parameter nor built in; did you mean {sigma}?"));
    TAP_DO(refused("awk '{print}'", "write {{print}}"));
    TAP_DO(refused("x {input}", "did you mean {in}?"));
    TAP_DO(refused("x {input[1]}", "did you mean {in[1]}?"));
    TAP_DO(refused("x {in[2]}", "names {in[2]}, but it has 2 inputs, {in[0]} to {in[1]}"));
    TAP_DO(refused("x {out[1]}", "names {out[1]}, but it has 1 output, {out[0]}"));
    TAP_DO(refused("x {in[-1]}", "expected {in}, or one of them"));
    TAP_DO(refused("x {in.reads}", "expected {in}, or one of them"));
    TAP_DO(remarked("x { in }", "{ in } stands for itself, because of its blanks; {in} is weft's"));
    TAP_DO(refused("x {in[99999999999]}", "{in[99999999999]}"));
    TAP_DO(remarked("x ${in}", "${in} is a variable of the shell"));
    TAP_DO(remarked("for in in a b; do echo ${in}; done", ""));
    TAP_DO(remarked("sigma=2; echo ${sigma}", ""));
    TAP_DO(remarked("cat \"{in[0]}\"", "names are quoted already"));
    TAP_DO(remarked("cat '{in}'", "names are quoted already"));
    TAP_DO(remarked("cat \"{out}\"", ""));
    TAP_DO(built_in());
    TAP_DO(literals());
    TAP_DO(expands("{", "{"));
    TAP_DO(expands("} {in", "} {in"));
    TAP_DO(expands("{in dex}{sigma}", "x y1.4"));
    TAP_DO(expands("{in[0]x}", "{in[0]x}"));

    struct workflow *w = one_task("f {sigma} {in} {out[0]} {{");
    struct strbuf out = {0};
    command_template(w, 0, &out);
    is_str(strbuf_text(&out), "f 1.4 {in} {out[0]} {{", "a template keeps its files open");
    strbuf_free(&out);
    workflow_free(w);
    TAP_DO(splits("true"));
    TAP_DO(splits("  echo a  b "));
    TAP_DO(splits("echo 'a  b' \"c d\" e\\ f ''"));
    TAP_DO(splits("x-y a'b'c\"d\" '$HOME' '*' \\\\"));
    TAP_DO(splits("/bin/echo --a=b 1.5e3 a,b:c"));
    TAP_DO(shell("echo a > b"));
    TAP_DO(shell("a | b"));
    shell("a; b");
    TAP_DO(shell("a && b"));
    TAP_DO(shell("echo $HOME"));
    TAP_DO(shell("echo \"$HOME\""));
    TAP_DO(shell("ls *.c"));
    TAP_DO(shell("ls a?"));
    TAP_DO(shell("A=1 b"));
    TAP_DO(shell("cd x"));
    TAP_DO(shell("exit 3"));
    TAP_DO(shell(": a"));
    TAP_DO(shell("echo 'open"));
    TAP_DO(shell("a\nb"));
    TAP_DO(shell("echo # comment"));
    TAP_DO(shell("ls ~"));
    TAP_DO(shell(""));
    TAP_DO(shell("  "));
    TAP_DO(shell("a b c d e f g h i"));
    return tap_done();
}
