#include "formats/registry.h"
#include "base/rng.h"
#include "formats/dagman/dagman_submit.h"
#include "formats/index_rows.h"
#include <sys/stat.h>
#include <unistd.h>

/* ---- a folder of files for splices and submit files ---- */

static char folder[256];
static char written[64][320];
static int nwritten;

static void put(const char *name, const char *text)
{
    char *path = written[nwritten++];
    snprintf(path, sizeof written[0], "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static void clear_folder(void)
{
    for (int i = 0; i < nwritten; i++)
        unlink(written[i]);
    nwritten = 0;
}

static struct workflow *read_file(const char *name, const struct option_value *options,
                                  struct error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *err = (struct error){0};
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    struct format_source source = {
        .path = path, .text = text.at, .length = text.n, .options = options};
    struct workflow *w = format_dagman.read_workflow(&source, err);
    text_free(&text);
    return w;
}

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

static void statements(void)
{
    struct error err;
    struct workflow *w = read_text(
        &format_dagman,
        "# any order, any case, continued lines\r\n"
        "parent A B \\\n  child C \\\r\n D\n"
        "priority A 7\n"
        "Vars B JOBPRIORITY=\"56\" other = \"x\"\n"
        "RETRY ALL_NODES 2\n"
        "retry C 5 UNLESS-EXIT 3\n"
        "job A dir/a.sub\n"
        "JOB B {\n"
        "  # PARENT X CHILD Y\n"
        "  executable = /bin/echo\n"
        "  arguments = \"'two words' 'it''s' \"\"quoted\"\" $(other) $(JOB) $(RETRY) "
        "$(undefined:dflt)\"\n"
        "  request_memory = 2G\n"
        "  request_cpus = 4\n"
        "} DONE\n"
        "NODE C @=end\n executable = /bin/sh\n arguments = -c true\n@end NOOP\n"
        "JOB D common DIR sub\n"
        "SUBMIT-DESCRIPTION common {\n executable = run.sh\n arguments = old \\\"style\\\" "
        "$(JOB)\n}\n"
        "FINAL F f.sub\nSERVICE S s.sub\nPROVISIONER P p.sub\n"
        "SCRIPT DEFER 1 60 DEBUG f all PRE A x.sh\nSCRIPT POST ALL_NODES y.sh\nCATEGORY A "
        "c\nMAXJOBS c 3\n"
        "ABORT-DAG-ON A 2 RETURN 0\nPRE_SKIP A 1\nCONFIG c\nDOT d.dot\nNODE_STATUS_FILE "
        "s\nJOBSTATE_LOG j\n"
        "SET_JOB_ATTR a = 1\nENV SET a=b\nREJECT\nWEAK PARENT C CHILD D\nDONE D\nTOLERANCE A 1\n",
        NULL, &err);
    ok(w, "statements read: %s", err.text);
    if (!w)
        return;
    is_int(w->ntasks, 7, "tasks");
    is_int(w->npairs, 5, "edges: the product, and the weak one");
    ok(has_edge(w, "A", "C") && has_edge(w, "B", "D") && has_edge(w, "C", "D"), "the right ones");
    uint32_t a = workflow_find_task(w, "A"), b = workflow_find_task(w, "B"),
             c = workflow_find_task(w, "C"), d = workflow_find_task(w, "D");
    is_dbl(w->priority[a], 7, 0, "PRIORITY");
    is_dbl(w->priority[b], 56, 0, "JOBPRIORITY");
    is_int(w->retries[a], 2, "RETRY of all");
    is_int(w->retries[c], 5, "RETRY of one, later");
    is_str(kind_of(w, "A"), "a", "kind: the submit file's stem");
    ok(!*command_of(w, "A"), "no submit file, no command");
    is_str(command_of(w, "B"), "/bin/echo 'two words' 'it'\\''s' '\"quoted\"' x B 0 dflt",
           "new-style arguments, quoted for the shell, macros replaced");
    is_dbl(w->memory[b], 2.0 * 1073741824, 0, "request_memory");
    is_int(w->cores[b], 4, "request_cpus");
    is_str(command_of(w, "C"), "true", "a tagged description; sh -c is the text itself");
    is_str(command_of(w, "D"), "./run.sh old '\"style\"' D",
           "a named description, old-style arguments");
    ok(w->flags[b] & TASK_DONE && w->flags[d] & TASK_DONE && !(w->flags[a] & TASK_DONE), "DONE");
    ok(has_warning(w, "no run times"), "it says that there are no run times");
    ok(has_warning(w, "FINAL node 'F'"), "it says what FINAL means");
    ok(has_warning(w, "SERVICE node 'S'") && has_warning(w, "PROVISIONER node 'P'"),
       "and its like");
    ok(has_warning(w, "SCRIPT (2)") && has_warning(w, "DIR (1)") &&
           has_warning(w, "UNLESS-EXIT (1)"),
       "it says what is not carried over");
    is_str(kind_of(w, "D"), "common", "kind: the description's name");
    workflow_free(w);
}

/* What a description says of the program and of how it runs. */
static void descriptions(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        &format_dagman,
        "JOB A {\nexecutable = it\n}\nJOB B {\nexecutable = it\nTransfer_Executable = False\n}\n"
        "JOB C {\nexecutable = /bin/it\nENVIRONMENT = x=1\nrequest_gpus = 1\nqueue 10\n}\n"
        "JOB D {\nexecutable = it\nenvironment = y\nqueue x from list.txt\n} DIR d\n"
        "JOB E {\nexecutable = it\nrequest_memory = 5G\nqueue 1\n} NOOP\n"
        "JOB F {\nexecutable = it\narguments = \"an 'open group\"\n}\n"
        "JOB G {\nexecutable = my program\n}\nSUBDAG EXTERNAL H h.dag\n",
        NULL, &err);
    if (!ok(w, "descriptions read: %s", err.text))
        return;
    is_str(command_of(w, "A"), "./it", "a program stands in the submit directory");
    is_str(command_of(w, "B"), "it", "or is the executing machine's");
    is_str(command_of(w, "C"), "/bin/it", "or has a path");
    is_str(command_of(w, "G"), "'./my program'", "one with a blank in its name, too");
    is_str(command_of(w, "E"), "true", "a NOOP node does nothing");
    is_dbl(w->memory[workflow_find_task(w, "E")], 0, 0, "and needs nothing");
    ok(has_warning(w, "1 node is NOOP") && has_warning(w, "1 SUBDAG EXTERNAL is one task"),
       "which is told, as a sub-dag is");
    ok(!*command_of(w, "F") && has_warning(w, "a quote too many or too few (1)"),
       "arguments that are malformed are told");
    ok(has_warning(w, "DIR (1), ") && has_warning(w, "jobs that are queued (2)") &&
           has_warning(w, "environment (2), request_gpus (1)"),
       "commands that decide what runs are counted");
    workflow_free(w);

    w = read_text(&format_dagman, "JOB A {\nexecutable = /bin/true\nqueue\n}\n", NULL, &err);
    ok(w && !has_warning(w, "not carried over"), "what is carried is not told");
    workflow_free(w);
}

/* HTCondor seeks no program in PATH; the shell that it starts does. */
static void written_programs(void)
{
    struct error err = {0};
    struct workflow *w =
        read_text(&format_native,
                  "weft: 1\ntasks:\n  a: { run: sort -u }\n  b: { run: ./mine x }\n", NULL, &err);
    struct strbuf out = {0}, dropped = {0};
    ok(w && format_dagman.write_workflow(w, &out, &dropped, &err), "written %s", err.text);
    ok(out.n && strstr(out.at, "executable = /bin/sh\n  arguments = \"-c 'sort -u'\"") &&
           strstr(out.at, "executable = ./mine\n"),
       "a program of PATH is started by a shell, one of a folder by itself");
    struct workflow *again = read_text(&format_dagman, strbuf_text(&out), NULL, &err);
    is_str(command_of(again, "a"), "sort -u", "and read as it was");
    is_str(command_of(again, "b"), "./mine x", "and so is the other");
    workflow_free(again);
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

static void errors(void)
{
    const struct format *f = &format_dagman;
    refuses(f, "", "nothing in it", "an empty file");
    refuses(f, "JOB A a.sub\nJBO B b.sub\n",
            "test-file:2: 'JBO' is no DAGMan command; did you mean JOB", "a slip, with a hint");
    refuses(f, "JOB A\n", "test-file:1: JOB needs a name and a file", "a job without a file");
    refuses(f, "JOB A a\nJOB B b\nJOB A c\n",
            "test-file:3: node 'A' is defined twice; the first stands at test-file:1", "twice");
    refuses(f, "JOB A a\n\nPARENT A CHILD B\n", "test-file:3: PARENT names 'B'",
            "a dangling child");
    refuses(f, "JOB A a\nPARENT A B\n", "test-file:2: PARENT names 'B'", "a dangling parent");
    refuses(f, "JOB A a\nJOB B b\nPARENT A B\n", "expected PARENT a ... CHILD b", "no CHILD");
    refuses(f, "JOB A a\nPARENT CHILD A\n", "expected PARENT", "no parents");
    refuses(f, "JOB A a\nPARENT A CHILD A\n", "test-file:2: node 'A' is its own parent",
            "a self loop");
    refuses(f, "JOB A a\nJOB B b\nPARENT A CHILD B\nPARENT B CHILD A\n", "cycle: A -> B -> A",
            "a cycle, named");
    refuses(f, "JOB A {\nexecutable = x\n", "test-file:1: this inline submit description",
            "an open block");
    refuses(f, "JOB A @=x\n}\n", "expected @x", "an open tagged block");
    refuses(f, "JOB A a\nPRIORITY A high\n", "test-file:2: PRIORITY of 'A' is 'high'",
            "a bad priority");
    refuses(f, "JOB A a\nRETRY A -1\n", "0 or more", "a negative retry");
    refuses(f, "JOB A a\nRETRY B 1\n", "test-file:2: RETRY names 'B'", "an attribute of nobody");
    refuses(f, "JOB A a\nSCRIPT PRE B x\n", "SCRIPT names 'B'", "a script of nobody");
    refuses(f, "JOB A a\nSCRIPT A x\n", "expected SCRIPT PRE", "a script of no kind");
    refuses(f, "JOB A a\nVARS A x=y\n", "needs double quotes", "VARS without quotes");
    refuses(f, "JOB A a\nVARS A x=\"y\n", "does not end", "VARS without an end");
    refuses(f, "JOB A a\nVARS A\n", "sets nothing", "empty VARS");
    refuses(f, "JOB A a\nVARS A =\"y\"\n", "expected name=", "VARS without a name");
    refuses(f, "JOB A a WHAT\n", "unexpected 'WHAT'", "an unknown word behind a job");
    refuses(f, "JOB A a DIR\n", "DIR needs", "DIR of nothing");
    refuses(f, "JOB CHILD a\n", "reserved", "a reserved name");
    refuses(f, "SUBDAG A a\n", "EXTERNAL", "SUBDAG without EXTERNAL");
    refuses(f, "JOB A a\nSPLICE S no-such-file.dag\n",
            "test-file:2: there is no file 'no-such-file.dag'", "a missing splice");
    refuses(f, "JOB A a\nSPLICE S /dev/zero\n", "there is no file", "a device is no splice");
    refuses(f, "JOB A a\nCONNECT S T\n", "no such splice", "CONNECT of nobody");
    refuses(f, "JOB A a\nPIN_IN A 0\n", "expected 1 or more", "pin 0");
    refuses(f, "JOB A \xff\n", "UTF-8", "not UTF-8");
    struct error err;
    struct option_value bad[] = {{"subdags", "no"}, {0}};
    ok(!read_text(f, "JOB A a\n", bad, &err) && strstr(err.text, "subdags"),
       "an option's value is checked");
}

static void splices(void)
{
    struct error err;
    put("cross.dag",
        "JOB A x.sub\nJOB B x.sub\nJOB M x.sub\nJOB C x.sub\nPARENT A B CHILD M\nPARENT M CHILD C\n"
        "VARS ALL_NODES who=\"$(JOB)\"\n");
    put("x.sub", "# a comment\nexecutable = run\narguments = $(who) \\\n  two\nRequest_Memory = "
                 "64\nqueue 1\n");
    put("two.dag", "SPLICE L cross.dag\nSPLICE R cross.dag\nPARENT L CHILD R\n");
    put("top.dag",
        "JOB T t.sub\nPARENT T CHILD S\nPARENT S CHILD E\nSPLICE S two.dag\nJOB E e.sub\n");
    struct workflow *w = read_file("top.dag", NULL, &err);
    ok(w, "splices in splices: %s", err.text);
    is_int(w ? w->ntasks : 0, 10, "their tasks");
    is_int(w ? w->npairs : 0, 3 + 3 + 2 + 2 + 1, "their edges: sinks and sources");
    ok(w && has_edge(w, "T", "S+L+A") && has_edge(w, "T", "S+L+B") &&
           has_edge(w, "S+L+C", "S+R+A") && has_edge(w, "S+R+C", "E"),
       "named splice+node");
    is_str(command_of(w, "S+R+M"), "./run S+R+M two",
           "the submit file's command, VARS of all nodes, $(JOB) in full");
    is_dbl(w ? w->memory[workflow_find_task(w, "S+L+A")] : 0, 64.0 * 1048576, 0,
           "its memory, in MiB");
    workflow_free(w);

    put("outer.dag", "SPLICE S two.dag\nVARS S+R+M who=\"me\"\n");
    w = read_file("outer.dag", NULL, &err);
    ok(w, "VARS of a splice's node: %s", err.text);
    is_str(command_of(w, "S+R+M"), "./run me two", "override the splice's own");
    is_str(command_of(w, "S+L+M"), "./run S+L+M two", "of that node alone");
    workflow_free(w);
    put("outer.dag", "SPLICE S two.dag\nVARS S+R+Z who=\"me\"\n");
    ok(!read_file("outer.dag", NULL, &err) && strstr(err.text, "no such node"),
       "VARS of a node that the splice has not: %s", err.text);

    put("outer.dag", "JOB A nowhere.sub\nVARS A k=\"v\" request_cpus=\"2\" l=\"w\"\n"
                     "JOB B part.sub\nVARS B k=\"v\"\nJOB C odd.sub\n");
    put("part.sub", "executable = run\nrequest_cpus = 1.1\nqueue\n");
    put("odd.sub", "executable = run\nrequest_cpus = MY.Slots\nrequest_memory = 2 * 512\nqueue\n");
    w = read_file("outer.dag", NULL, &err);
    ok(w && has_warning(w, "VARS of nodes whose submit file is not there (2)"),
       "it says when nobody uses VARS");
    is_int(w ? w->cores[0] : 0, 2, "but for those that are requests");
    is_int(w ? w->cores[1] : 0, 2, "a part of a core is a whole one");
    ok(w && has_warning(w, "1 node asks for a part of a core"), "it says so");
    ok(w && has_warning(w, "request_cpus that is no number (2)"), "expressions are counted");
    workflow_free(w);

    put("self.dag", "JOB A a\nSPLICE S self.dag\n");
    ok(!read_file("self.dag", NULL, &err) && strstr(err.text, "self.dag:2:") &&
           strstr(err.text, "contains itself"),
       "a file that splices itself: %s", err.text);
    put("loop1.dag", "JOB A a\nSPLICE S loop2.dag\n");
    put("loop2.dag", "JOB A a\nINCLUDE loop1.dag\n");
    ok(!read_file("loop1.dag", NULL, &err) && strstr(err.text, "loop2.dag:2:"),
       "a cycle through an include: %s", err.text);
    put("broken.dag", "JOB A a\n\nPARENT A CHILD Z\n");
    put("uses.dag", "SPLICE S broken.dag\n");
    ok(!read_file("uses.dag", NULL, &err) && strstr(err.text, "broken.dag:3:"),
       "an error in a splice names its file: %s", err.text);
    put("about.dag", "SPLICE S cross.dag\nRETRY S 1\n");
    ok(!read_file("about.dag", NULL, &err) && strstr(err.text, "splice 'S'"),
       "an attribute of a splice: %s", err.text);
    put("clash.dag", "JOB S s\nSPLICE S cross.dag\n");
    ok(!read_file("clash.dag", NULL, &err) && strstr(err.text, "node already"),
       "a splice named like a node: %s", err.text);
    put("laughs0.dag", "JOB A a\n");
    for (int i = 1; i < 30; i++) {
        char name[32], text[128];
        snprintf(name, sizeof name, "laughs%d.dag", i);
        snprintf(text, sizeof text, "SPLICE A laughs%d.dag\nSPLICE B laughs%d.dag\n", i - 1, i - 1);
        put(name, text);
    }
    ok(!read_file("laughs29.dag", NULL, &err) && strstr(err.text, "more than"),
       "splices that double 29 times end: %s", err.text);
    clear_folder();

    char sub[300];
    snprintf(sub, sizeof sub, "%s/sub", folder);
    mkdir(sub, 0700);
    put("sub/in.dag", "JOB A a.sub\nSPLICE D deep.dag\n");
    put("sub/deep.dag", "JOB B b.sub\n");
    put("sub/b.sub", "executable = found\n");
    put("top.dag", "SPLICE S in.dag DIR sub\n");
    w = read_file("top.dag", NULL, &err);
    ok(w && w->ntasks == 2 && !has_warning(w, "beside"), "DIR: %s", err.text);
    is_str(command_of(w, "S+D+B"), "./found", "DIR goes down to nested splices and submit files");
    workflow_free(w);
    put("other.dag", "SPLICE S sub/in.dag\n");
    w = read_file("other.dag", NULL, &err);
    ok(w && has_warning(w, "beside"),
       "a splice that only stands beside the file that names it is found, with a remark: %s",
       err.text);
    workflow_free(w);
    clear_folder();
    rmdir(sub);

    put("lower.dag", "JOB X x\nJOB Y y\nPARENT X CHILD Y\n");
    put("upper.dag", "JOB A a\nSUBDAG EXTERNAL B lower.dag\nJOB C c\nRETRY B 3\nVARS B "
                     "v=\"1\"\nPARENT A CHILD B\nPARENT B CHILD C\n");
    w = read_file("upper.dag", NULL, &err);
    ok(w && w->ntasks == 3 && w->npairs == 2, "a sub-dag is one task: %s", err.text);
    workflow_free(w);
    struct option_value option[] = {{"subdags", "inline"}, {0}};
    w = read_file("upper.dag", option, &err);
    ok(w && w->ntasks == 4 && has_edge(w, "A", "B+X") && has_edge(w, "B+Y", "C"),
       "or is read like a splice: %s", err.text);
    workflow_free(w);

    put("one.dag", "JOB A a\nJOB B b\nPIN_OUT A 1\nPIN_OUT B 2\nPIN_IN A 1\n");
    put("pins.inc", "PIN_IN B 1\nPIN_IN B 2\nPIN_OUT A 2\n");
    put("two.dag", "JOB A a\nJOB B b\nINCLUDE pins.inc\n");
    put("connect.dag", "SPLICE S one.dag\nSPLICE T two.dag\nCONNECT S T\n");
    w = read_file("connect.dag", NULL, &err);
    ok(w && w->npairs == 2 && has_edge(w, "S+A", "T+B") && has_edge(w, "S+B", "T+B"),
       "CONNECT joins pins; INCLUDE: %s", err.text);
    workflow_free(w);
    put("wrong.dag", "SPLICE S one.dag\nSPLICE T one.dag\nCONNECT S T\n");
    ok(!read_file("wrong.dag", NULL, &err) && strstr(err.text, "wrong.dag:3:") &&
           strstr(err.text, "2 pins out"),
       "pins that do not match: %s", err.text);
    put("absent.dag", "JOB A a\nINCLUDE nowhere.inc\n");
    w = read_file("absent.dag", NULL, &err);
    ok(w && has_warning(w, "absent.dag:2: the included file 'nowhere.inc'"),
       "a missing include is remarked");
    workflow_free(w);
    clear_folder();
}

static void submit_values(void)
{
    double bytes;
    ok(dagman_memory("100", &bytes) && bytes == 104857600, "memory in MiB");
    ok(dagman_memory("1.5 GB", &bytes) && bytes == 1.5 * 1073741824, "memory with a unit");
    ok(dagman_memory("8K", &bytes) && bytes == 8192, "KiB");
    ok(!dagman_memory("ifThenElse(x,1,2)", &bytes) && !dagman_memory("-5", &bytes) &&
           !dagman_memory("", &bytes),
       "an expression is no number");
    /* a = $(b)$(b), b = $(c)$(c) ... must end */
    struct strbuf text = {0}, out = {0};
    for (char c = 'a'; c < 'z'; c++)
        strbuf_printf(&text, "%c = $(%c)$(%c)\n", c, c + 1, c + 1);
    strbuf_add(&text, "z = $(a)\n");
    struct dagman_description d;
    dagman_description_parse(&d, text.at, text.n);
    struct dagman_macros m = {.job = "J", .description = &d};
    ok(dagman_value(&m, "A", &out) && out.n < 2000000, "macros that double and return end");
    dagman_description_free(&d);
    const char *bad = "executable = x\narguments = \"open 'group\"\n";
    dagman_description_parse(&d, bad, strlen(bad));
    bool by_sh;
    ok(!dagman_command(&m, &out, &by_sh), "an open group in the arguments is no command");
    dagman_description_free(&d);
    strbuf_free(&text);
    strbuf_free(&out);
}

static struct workflow *random_workflow(uint64_t seed)
{
    static const char *const commands[] = {"true",
                                           "/bin/echo a b c",
                                           "echo 'single' \"double\" $HOME $(date) `x` \\ end\\",
                                           "  leading  blanks ",
                                           "VAR=1 prog",
                                           "/bin/sh -c x",
                                           "a | b > c & # d",
                                           "tab\there {{brace}}",
                                           "}",
                                           "''",
                                           "$$(x) $(JOB)"};
    static const char *const kinds[] = {"a",      "x.y",    "two words", "a/b", "\"q\"",
                                        "back\\", "$(JOB)", "{",         ".hid"};
    struct rng r;
    rng_seed(&r, seed);
    struct builder *b = builder_new("random", "test");
    uint32_t n = 1 + (uint32_t)rng_below(&r, 40);
    for (uint32_t t = 0; t < n; t++) {
        char name[32];
        int len = snprintf(name, sizeof name, "%s%u", rng_below(&r, 2) ? "n:" : "\xc3\xa9_", t);
        builder_task(b, name, (size_t)len, 0);
        if (rng_below(&r, 2)) {
            const char *c = commands[rng_below(&r, 11)];
            builder_command(b, t, c, strlen(c));
        }
        if (rng_below(&r, 2)) {
            const char *k = kinds[rng_below(&r, 9)];
            builder_kind(b, t, k, strlen(k));
        }
        if (rng_below(&r, 2))
            builder_memory(b, t, rng_below(&r, 2) ? 1048576.0 * 12 : rng_uniform(&r, 0, 1e10), 0);
        if (rng_below(&r, 2))
            builder_cores(b, t, (double)(1 + rng_below(&r, 16)), 0);
        if (rng_below(&r, 2))
            builder_priority(b, t, (double)rng_below(&r, 100) - 50, 0);
        if (rng_below(&r, 2))
            builder_retries(b, t, (double)rng_below(&r, 4), 0);
        if (rng_below(&r, 5) == 0)
            builder_flag(b, t, TASK_DONE);
    }
    for (uint32_t i = 0; i < 3 * n && n > 1; i++) {
        uint32_t from = (uint32_t)rng_below(&r, n - 1),
                 to = from + 1 + (uint32_t)rng_below(&r, n - from - 1);
        builder_edge(b, from, to, 0);
        if (rng_below(&r, 2)) /* many with the same successors */
            builder_edge(b, (uint32_t)rng_below(&r, from + 1), to, 0);
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

static void round_trips(void)
{
    int same = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct workflow *w = random_workflow(seed);
        struct strbuf out = {0}, dropped = {0};
        struct error err = {0}, why = {0};
        format_dagman.write_workflow(w, &out, &dropped, &err);
        struct workflow *back = read_text(&format_dagman, strbuf_text(&out), NULL, &err);
        bool good = back && workflow_equal(w, back, &why) && !dropped.n;
        for (uint32_t t = 0; good && t < w->ntasks; t++) {
            double p = w->priority ? w->priority[t] : 0, q = back->priority ? back->priority[t] : 0;
            uint32_t x = w->retries ? w->retries[t] : 0, y = back->retries ? back->retries[t] : 0;
            good = p == q && x == y && (w->flags[t] & TASK_DONE) == (back->flags[t] & TASK_DONE);
        }
        same += good;
        if (!good)
            printf("# seed %llu: %s %s %s\n%s\n", (unsigned long long)seed, err.text, why.text,
                   strbuf_text(&dropped), strbuf_text(&out));
        strbuf_free(&out);
        strbuf_free(&dropped);
        workflow_free(back);
        workflow_free(w);
        if (!good)
            break;
    }
    is_int(same, 300,
           "300 random workflows come back equal, with priorities, retries and commands");
}

/* A product of 1.2 million edges: a task in between, as DAGMan does it. */
static void dense(void)
{
    enum { PARENTS = 1200, CHILDREN = 1000 };
    struct strbuf text = {0};
    struct error err = {0};
    for (int i = 0; i < PARENTS + CHILDREN; i++)
        strbuf_printf(&text, "JOB n%d x.sub\n", i);
    strbuf_add(&text, "JOB _condor_join_node1 mine.sub\nPARENT");
    for (int i = 0; i < PARENTS + CHILDREN; i++)
        strbuf_printf(&text, "%s n%d", i == PARENTS ? " CHILD" : "", i);
    strbuf_add(&text, "\n");
    struct workflow *w = read_text(&format_dagman, text.at, NULL, &err);
    ok(w, "a dense statement: %s", err.text);
    is_int(w ? w->ntasks : 0, PARENTS + CHILDREN + 2, "one task joins them");
    is_int(w ? w->npairs : 0, PARENTS + CHILDREN, "an edge a task");
    ok(w && has_edge(w, "n0", "_condor_join_node2") && has_edge(w, "_condor_join_node2", "n2199"),
       "by a name that nobody has");
    ok(w && has_warning(w, "joins them"), "which is said");
    is_str(command_of(w, "_condor_join_node2"), "true", "it does nothing");
    struct strbuf out = {0}, dropped = {0};
    ok(format_dagman.write_workflow(w, &out, &dropped, &err) &&
           strstr(strbuf_text(&out), "JOB _condor_join_node2 {\n  executable = /bin/sh\n"
                                     "  arguments = \"-c 'true'\"\n} NOOP\n"),
       "and is written as such, without a submit file that nobody has");
    strbuf_free(&out);
    strbuf_free(&dropped);
    workflow_free(w);
    strbuf_free(&text);
}

/* Statements that are not dense by themselves: memory must not grow with the square of the text. */
static void many_dense(void)
{
    enum { SIDE = 1000, STATEMENTS = 6 };
    struct strbuf text = {0};
    struct error err = {0};
    for (int i = 0; i < SIDE * (STATEMENTS + 1); i++)
        strbuf_printf(&text, "JOB n%d x.sub\n", i);
    for (int k = 0; k < STATEMENTS; k++) {
        strbuf_add(&text, "PARENT");
        for (int i = k * SIDE; i < (k + 2) * SIDE; i++)
            strbuf_printf(&text, "%s n%d", i == (k + 1) * SIDE ? " CHILD" : "", i);
        strbuf_add(&text, "\n");
    }
    strbuf_add(&text, "PARENT n0 n1 CHILD n6998 n6999\n");
    struct workflow *w = read_text(&format_dagman, text.at, NULL, &err);
    is_int(w ? w->ntasks : 0, SIDE * (STATEMENTS + 1) + 2,
           "past four million edges dense statements are joined, and a small one is not");
    is_int(w ? w->npairs : 0, 4 * SIDE * SIDE + 2 * 2 * SIDE + 4, "an edge a task there");
    workflow_free(w);
    strbuf_free(&text);
}

static void writing(void)
{
    struct builder *b = builder_new("x", "test");
    static const char *const names[] = {"a.b",    "a_b", "a+b", "a b",  "child",
                                        "CHILD_", "#",   "\"",  "plain"};
    for (uint32_t t = 0; t < 9; t++) {
        builder_task(b, names[t], strlen(names[t]), 0);
        builder_work(b, t, 1.5, 0);
        builder_priority(b, t, t == 3 ? 2.5 : t == 4 ? -1 : 0, 0);
    }
    builder_data_edge(b, 0, 8, 100, 0);
    builder_data_edge(b, 1, 8, 100, 0);
    builder_edge(b, 2, 8, 0);
    builder_command(b, 8, "line\nbreak", 10);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct strbuf out = {0}, dropped = {0};
    ok(format_dagman.write_workflow(w, &out, &dropped, &err), "it writes");
    has_str(dropped.at, "names (written without the characters that DAGMan refuses) of 6 tasks",
            "says how many names changed");
    has_str(dropped.at, "work of 9 tasks", "and that work is lost");
    has_str(dropped.at, "of 2 data objects", "and sizes");
    has_str(dropped.at, "commands with a line break of 1 task", "and such commands");
    has_str(dropped.at, "ranks", "and fractions of priorities");
    struct workflow *back = read_text(&format_dagman, out.at, NULL, &err);
    ok(back, "and it reads back: %s", err.text);
    is_int(back ? back->ntasks : 0, 9, "all names differ");
    is_int(back ? back->npairs : 0, 3, "the edges stay");
    ok(back && workflow_find_task(back, "a_b") == 1 && workflow_find_task(back, "plain") == 8,
       "good names stay");
    ok(back && back->priority[3] > back->priority[0] && back->priority[0] > back->priority[4],
       "the order of priorities stays");
    has_str(out.at, "PARENT a_b_", "edges are grouped");
    int lines = 0;
    for (const char *p = out.at; (p = strstr(p, "PARENT")); p++)
        lines++;
    is_int(lines, 1, "three parents of one child take one line");
    workflow_free(back);
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/weft-dagman-XXXXXX", tmp ? tmp : P_tmpdir);
    ok(mkdtemp(folder) != NULL, "a folder for files");
    const char *dag = "# x\nJOB A a.sub\nPARENT A CHILD B\n", *cws = "TASK A x 1\nEDGE A B\n";
    is_int(format_dagman.sniff("x", dag, strlen(dag)), 3, "sniffs DAGMan");
    is_int(format_dagman.sniff("x.dag", cws, strlen(cws)), 0, "but not the other .dag");
    TAP_DO(statements());
    TAP_DO(descriptions());
    TAP_DO(written_programs());
    TAP_DO(errors());
    TAP_DO(splices());
    TAP_DO(submit_values());
    TAP_DO(round_trips());
    TAP_DO(writing());
    TAP_DO(dense());
    TAP_DO(many_dense());
    if (tap_shared()) {
        is_int(index_check(&format_dagman, "dagman/", ".dag"), 34, "files of dagman/");
    } else {
        tap_skip("the DAGMan files of the shared data", "no shared folder");
    }
    rmdir(folder);
    return tap_done();
}
