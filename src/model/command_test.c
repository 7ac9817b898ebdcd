#include "model/builder.h"
#include "model/command.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct workflow *one_task(const char *command)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_parameter(b, "sigma", "1.4");
    builder_parameter(b, "in dex", "x y");
    uint32_t t = builder_task(b, "t", 1, 7);
    builder_command(b, t, command, strlen(command));
    builder_consumes(b, t, builder_object(b, "b c", 3), 0);
    builder_consumes(b, t, builder_object(b, "a's", 3), 0);
    builder_produces(b, t, builder_object(b, "dir/o", 5), 0);
    return builder_finish(b, NULL);
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
    TAP_DO(expands("awk '{print $1}' {sigma} {unknown} {{in}}",
                   "awk '{print $1}' 1.4 {unknown} {in}"));
    TAP_DO(expands("{", "{"));
    TAP_DO(expands("} {in", "} {in"));
    TAP_DO(expands("{in dex}{sigma}", "x y1.4"));
    TAP_DO(expands("{in[x]} {in[0]x}", "{in[x]} {in[0]x}"));

    struct workflow *w = one_task("f {sigma} {in} {out[0]} {{");
    struct strbuf out = {0};
    command_template(w, 0, &out);
    is_str(strbuf_text(&out), "f 1.4 {in} {out[0]} {{", "a template keeps its files open");
    strbuf_free(&out);
    workflow_free(w);
    struct error err = {0};
    w = one_task("f {in[2]}");
    ok(!command_expand(w, 0, &out, &err), "too few inputs");
    has_str(err.text, "flow.yaml:7: task 't': its command names {in[2]}, but it has 2 inputs",
            "says so");
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
