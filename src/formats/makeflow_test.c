#include "formats/registry.h"
#include "formats/index_rows.h"

static const char *command_of(const struct workflow *w, const char *task)
{
    uint32_t t = w ? workflow_find_task(w, task) : NONE;
    return t == NONE || !w->command ? NULL : workflow_text(w, w->command[t]);
}
static const char *kind_of(const struct workflow *w, const char *task)
{
    uint32_t t = w ? workflow_find_task(w, task) : NONE;
    return t == NONE ? NULL : workflow_text(w, w->kind[t]);
}

int main(void)
{
    const struct format *f = &format_makeflow;
    struct error err;
    const char *small = "a : b\n\tcat b > a\n";
    is_int(f->sniff("x.mf", small, strlen(small)), 3, "sniffs it by name and rule");
    is_int(f->sniff("x", small, strlen(small)), 1, "perhaps, without the name");
    is_int(f->sniff("x.yaml", "a: 1\nb: 2\n", 10), 0, "YAML is not Makeflow");

    struct workflow *w =
        read_text(f,
                  "# a comment: with a colon\n"
                  "TOOL=./bin/tool\nOPTS = \"-a -b\"\nOPTS+=-c\nexport PATH\nexport MODE=fast\n"
                  "CORES=4\n"
                  "MEMORY=2\n"
                  "one two : $(TOOL) in.txt \\\n   \"with blank\" # and a comment\n"
                  "\t$TOOL ${OPTS} $MODE $UNKNOWN $(date) '$TOOL' \\$TOOL < in.txt \\\n   > one\n"
                  "\n"
                  ".MAKEFLOW CATEGORY sorting\n"
                  ".SIZE one 12M\n"
                  "MEMORY=0\n"
                  "three->remote : one two\n"
                  "@BATCH_OPTIONS = -l x=1\n" /* generators write it at the margin, too */
                  "\t@CORES=1\n"
                  "\t# a comment\n"
                  "\tLOCAL sort one two > three\n"
                  "CATEGORY=\n"
                  " : three\n"
                  "\techo done; ls\n",
                  NULL, &err);
    ok(w, "rules read: %s", err.text);
    if (w) {
        is_int(w->ntasks, 3, "each rule is a task, named after its first target");
        is_int(w->npairs, 2, "joined by files");
        is_int(w->ninputs, 3, "files that no rule makes are inputs");
        ok(workflow_find_object(w, "with blank") != NONE, "a quoted file name");
        is_str(command_of(w, "one"),
               "./bin/tool -a -b -c fast $UNKNOWN $(date) '$TOOL' \\$TOOL < in.txt  > one",
               "variables are replaced, what is the shell's stays");
        is_str(kind_of(w, "one"), "tool", "kind: the program");
        is_str(kind_of(w, "three"), "sorting", "or the category");
        is_str(command_of(w, "three"), "sort one two > three", "LOCAL is taken off");
        is_str(kind_of(w, "rule3"), "echo", "a rule without targets");
        uint32_t one = workflow_find_task(w, "one"), three = workflow_find_task(w, "three");
        is_int(w->cores[one], 4, "CORES");
        is_dbl(w->memory[one], 2097152, 0, "MEMORY in MB");
        is_int(w->cores[three], 1, "a rule's own variable");
        is_int(w->cores[workflow_find_task(w, "rule3")], 4, "which ends with the rule");
        is_dbl(w->size[workflow_find_object(w, "one")], 12e6, 0, ".SIZE");
        ok(has_warning(w, "LOCAL") && has_warning(w, "no run times"), "remarks");
        workflow_free(w);
    }

    refuses(f, "", "no rule", "an empty file");
    refuses(f, "\n# x\nA=1\n", "no rule", "no rule");
    refuses(f, "a : b\n\nc : d\n\tx\n", "test-file:1: this rule has no command",
            "a rule without a command");
    refuses(f, "a : b\n", "test-file:1: this rule has no command", "at the end");
    refuses(f, "a : b\n\tx\n\ty\n", "test-file:3: a command without a rule", "two commands");
    refuses(f, "\tx\n", "test-file:1: a command without", "a command first");
    refuses(f, "a b\n\tx\n", "test-file:1: 'a b' is neither", "no colon");
    refuses(f, "a : b\n\tx\nc a : b\n\tx\n",
            "test-file:3: file 'a' is made by two rules, that of 'a'", "two producers");
    refuses(f, "a : b\n\tx\nb : a\n\tx\n", "cycle", "a cycle");
    refuses(f, "a : a\n\tx\n", "own output", "a rule that reads its target");
    refuses(f, ".SIZE a many\na :\n\tx\n", ".SIZE is 'many'", "a bad size");
    refuses(f, ".MAKEFLOW X\na :\n\tx\n", "unknown directive", "half a directive");
    refuses(f, " {\"rules\": []}", "JX", "JX is another format's, and it says so");
    refuses(f, "a : \xff\n\tx\n", "UTF-8", "not UTF-8");
    struct strbuf s = {0};
    strbuf_add(&s, "X=0123456789\n");
    for (int i = 0; i < 60; i++)
        strbuf_add(&s, "X=$X$X\n");
    strbuf_add(&s, "a :\n\techo $X\n");
    refuses(f, s.at, "grows past", "a variable that doubles 60 times");
    strbuf_free(&s);
    char rules[] = "a : b\n\tx\n";
    struct format_source jx = {.path = "flow.jx", .text = rules, .length = strlen(rules)};
    error_clear(&err);
    w = f->read_workflow(&jx, &err);
    ok(w != NULL, "rules are rules, whatever the file is called: %s", err.text);
    workflow_free(w);

    if (tap_shared())
        is_int(index_check(f, "makeflow/", ".mf"), 4, "files of makeflow/");
    else
        tap_skip("the Makeflow files of the shared data", "no shared folder");
    return tap_done();
}
