#include "formats/registry.h"
#include "formats/dot/dot.h"
#include "base/rng.h"
#include "formats/index_rows.h"

static const char *kind_of(const struct workflow *w, const char *task)
{
    uint32_t t = w ? workflow_find_task(w, task) : NONE;
    return t == NONE ? NULL : workflow_text(w, w->kind[t]);
}

static double work_of(const struct workflow *w, const char *task)
{
    uint32_t t = w ? workflow_find_task(w, task) : NONE;
    return t == NONE ? NAN : w->work[t];
}

/* The size on the first edge between two tasks, -1 for a pure ordering, -2 for none. */
static double edge_size(const struct workflow *w, const char *from, const char *to)
{
    uint32_t a = workflow_find_task(w, from), b = workflow_find_task(w, to);
    if (a == NONE || b == NONE)
        return -2;
    for (uint32_t e = w->succ_off[a]; e < w->succ_off[a + 1]; e++)
        if (w->succ_task[e] == b)
            return w->succ_object[e] == NONE ? -1 : w->size[w->succ_object[e]];
    return -2;
}

static void language(void)
{
    struct error err;
    struct workflow *w = read_text(
        &format_dot,
        "# a line\n/* comment\n over lines */ strict DiGraph \"the name\" { // end of line\n"
        "  node [shape=box work=7]; edge [size=3]\n"
        "  a:port:ne -> b -> \"c d\" [label=x, size=\"4\"; color=red]\n"
        "  {d e} -> {f; g}\n"
        "  subgraph cluster_1 { node [work=9] label=\"x\"; h; subgraph { i } } -> j\n"
        "  a [work=1]  late  -3.5 -> .25 [size=0]\n"
        "  \"qu\\\"ote\" <<b>html</b>> \"con\" + /* between */ \"cat\" \"fol\\\nded\";;\n"
        "  rankdir = LR\n"
        "}\n",
        NULL, &err);
    ok(w, "the language reads: %s", err.text);
    if (!w)
        return;
    is_str(workflow_text(w, w->name), "the name", "the graph's name");
    is_int(w->ntasks, 17, "every node once");
    ok(has_edge(w, "a", "b") && has_edge(w, "b", "c d"), "a chain");
    ok(has_edge(w, "d", "f") && has_edge(w, "d", "g") && has_edge(w, "e", "f") &&
           has_edge(w, "e", "g"),
       "sets on both sides: the product");
    ok(has_edge(w, "h", "j") && has_edge(w, "i", "j"), "a subgraph with a nested one");
    ok(has_edge(w, "-3.5", ".25"), "numbers as ids");
    is_int(w->npairs, 2 + 4 + 2 + 1, "no other edge");
    is_dbl(edge_size(w, "b", "c d"), 4, 0, "an edge's own size");
    is_dbl(edge_size(w, "d", "g"), 3, 0, "the default size");
    is_dbl(edge_size(w, "-3.5", ".25"), -1, 0, "size 0: ordering");
    is_dbl(work_of(w, "a"), 1, 0, "an attribute after the first mention");
    is_dbl(work_of(w, "b"), 7, 0, "the default");
    is_dbl(work_of(w, "h"), 9, 0, "the subgraph's default");
    is_dbl(work_of(w, "j"), 7, 0, "which ends with it");
    ok(workflow_find_task(w, "qu\"ote") != NONE, "an escaped quote");
    ok(workflow_find_task(w, "<<b>html</b>>") != NONE, "an HTML id");
    ok(workflow_find_task(w, "concat") != NONE, "a string in two pieces");
    ok(workflow_find_task(w, "folded") != NONE, "a string over two lines");
    workflow_free(w);

    w = read_text(&format_dot, "digraph{a->b a->b a->b[size=3]}", NULL, &err);
    is_int(w ? w->npairs : 99, 1, "repeated edges count once");
    ok(has_warning(w, "2 repeated edges"), "and are remarked");
    workflow_free(w);
    w = read_text(&format_dot, "strict digraph{a->b a->b}", NULL, &err);
    ok(w && !w->nwarnings, "but not in a strict graph");
    workflow_free(w);
    w = read_text(&format_dot, "digraph{a}\ndigraph{b}", NULL, &err);
    ok(w && w->ntasks == 1 && has_warning(w, "follows"), "only the first graph is read");
    workflow_free(w);
}

static void meanings(void)
{
    struct error err;
    struct workflow *w = read_text(
        &format_dot,
        "digraph snakemake_dag {\n"
        "0[label = \"map\\nsample: a,b\", color = \"0.1 0.6 0.85\", style=\"rounded,dashed\"];\n"
        "1[label = \"all\", style=\"rounded\"]; 0 -> 1\n"
        "2[label=<<b>bold</b><br/>more>] 3[shape=point,label=\"\",xlabel=\"Channel.empty\"]\n"
        "4[category=\"taskA\" size=5 alpha=0.1] 5[label=\"fastqc_00000012\"] 6[label=\"\\N\"]\n"
        "7[work_weight=\"5\";comm_weight=\"4\";mem_weight=\"3\";type=\"1\";]; 7 -> {8 9}; 7 -> "
        "10[comm_weight=1]\n"
        "11[Weight=12] 11 -> 12 [Weight=13, weight=99] 13[size=\"-1\"] 11 -> 13 [size=\"-1\"]\n"
        "14[memory=\"2Ki\" cores=4 priority=-2 retries=3]\n}",
        NULL, &err);
    ok(w, "dialects read: %s", err.text);
    if (!w)
        return;
    is_str(kind_of(w, "0"), "map", "kind: the first line of a label");
    ok(w->flags[0] & TASK_DONE && !(w->flags[1] & TASK_DONE), "dashed: already done");
    is_str(kind_of(w, "2"), "bold", "an HTML label");
    is_str(kind_of(w, "3"), "Channel.empty", "xlabel of a Nextflow channel");
    is_str(kind_of(w, "4"), "taskA", "SimGrid's category");
    is_str(kind_of(w, "5"), "fastqc", "WfGen's number is not part of the kind");
    is_str(kind_of(w, "6"), "6", "\\N is the name");
    is_dbl(work_of(w, "4"), 5, 0, "size is the work");
    is_dbl(work_of(w, "7"), 5, 0, "work_weight");
    uint32_t t7 = workflow_find_task(w, "7"), t14 = workflow_find_task(w, "14");
    is_dbl(w->memory[t7], 3, 0, "mem_weight");
    is_int(w->object_end[t7] - w->object_off[t7], 2,
           "comm_weight: one object for all but the stated edge");
    is_dbl(edge_size(w, "7", "9"), 4, 0, "of the node's size");
    is_dbl(edge_size(w, "7", "10"), 1, 0, "an edge's own comm_weight");
    is_dbl(work_of(w, "11"), 12, 0, "Weight of a node");
    is_dbl(edge_size(w, "11", "12"), 13, 0, "Weight of an edge, not the layout's weight");
    is_dbl(edge_size(w, "11", "13"), -1, 0, "size=-1 is an ordering");
    ok(has_warning(w, "size=-1 stands in 2"), "and is remarked");
    ok(has_warning(w, "alpha"), "alpha is remarked");
    is_dbl(w->memory[t14], 2048, 0, "memory with a unit");
    is_int(w->cores[t14], 4, "cores");
    is_dbl(w->priority[t14], -2, 0, "priority");
    is_int(w->retries[t14], 3, "retries");
    workflow_free(w);
}

static void errors(void)
{
    const struct format *f = &format_dot;
    refuses(f, "", "nothing in it", "an empty file");
    refuses(f, " \n# x\n", "nothing in it", "only comments");
    refuses(f, "graph { a -- b }", "undirected", "an undirected graph, with the reason");
    refuses(f, "digraph {\n a -- b }", "test-file:2:", "an undirected edge");
    refuses(f, "digraph {\n a -> b\n", "begins on line 1", "a truncated file");
    refuses(f, "digraph {\n a [x=\"y ]\n}", "test-file:2: this quoted string", "an open string");
    refuses(f, "digraph {\n\n/* a }", "test-file:3: this comment", "an open comment");
    refuses(f, "digraph {\n a [label=<b>x< ]\n}", "HTML", "an open HTML string");
    refuses(f, "digraph {\n a [x=1\n", "attribute list", "an open attribute list");
    refuses(f, "digraph {\n a -> \n}", "test-file:3:", "an edge to nowhere");
    refuses(f, "digraph {\n 1a -> b\n}", "'1a'", "a bad name");
    refuses(f, "digraph {\n a @ b\n}", "'@'", "a bad character");
    refuses(f, "digraph { ]", "unexpected ']'", "a stray bracket");
    refuses(f, "digraph {\n a -> a\n}", "test-file:2: task 'a' depends on itself", "a self loop");
    refuses(f, "digraph { a->b->c->a }", "a -> b -> c", "a cycle is named");
    refuses(f, "digraph {\n a [size=-2] }", "test-file:2:", "a negative size");
    refuses(f, "digraph {\n a [work=much] }", "work is 'much'", "a word for a number");
    refuses(f, "digraph {\n a [work=\"1e999\"] }", "test-file:2:", "past the range of a double");
    refuses(f, "digraph {\n a->b [size=\"nan\"] }", "test-file:2:", "not a number");
    refuses(f, "digraph {\n \"\" }", "empty name", "an empty name");
    refuses(f, "digraph {\n a [inputs=\"x\"] }", "bytes name", "inputs without sizes");
    refuses(f, "digraph {\n a->b [object=x]\nc->b[object=x] }", "two tasks",
            "an object with two producers");
    refuses(f, "digraph { \xff }", "UTF-8", "not UTF-8");
    struct strbuf deep = {0};
    strbuf_add(&deep, "digraph ");
    for (int i = 0; i < 300000; i++)
        strbuf_add_char(&deep, '{');
    refuses(f, deep.at, "deep", "300,000 braces");
    strbuf_clear(&deep);
    strbuf_add(&deep, "digraph {{");
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&deep, "a%d ", i);
    strbuf_add(&deep, "} -> {");
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&deep, "b%d ", i);
    strbuf_add(&deep, "}}");
    refuses(f, deep.at, "edges", "a product of 400 million edges is refused before it is made");
    strbuf_free(&deep);
    struct error err;
    struct option_value bad[] = {{"contract", "maybe"}, {0}};
    ok(!read_text(f, "digraph{}", bad, &err), "an option's value is checked");
}

static void contraction(void)
{
    struct error err;
    struct option_value yes[] = {{"contract", "yes"}, {0}};
    struct workflow *w = read_text(&format_dot,
                                   "digraph { node [label=\"\"]; c1 [shape=circle]; c2 "
                                   "[shape=circle]; c3 [shape=point]; c4 [shape=point];\n"
                                   "A [label=A] B [label=B] C [label=C] D [label=D]\n"
                                   "c3 -> A -> c1 -> c2 -> {B C}; A -> c4; B -> D; c1 -> D }",
                                   yes, &err);
    ok(w, "contraction: %s", err.text);
    is_int(w ? w->ntasks : 0, 4, "only processes stay");
    is_int(w ? w->npairs : 0, 4, "joined through operators");
    ok(w && has_edge(w, "A", "B") && has_edge(w, "A", "C") && has_edge(w, "A", "D") &&
           has_edge(w, "B", "D"),
       "as the operators led");
    workflow_free(w);
    w = read_text(&format_dot,
                  "digraph { z[shape=point]; a[shape=point]; b[shape=point]; z->a->b->a; c }", yes,
                  &err);
    ok(!w && strstr(err.text, "cycle") && !strstr(err.text, "'z'"),
       "a cycle of operators is an error: %s", err.text);
    w = read_text(&format_dot, "digraph { a[label=x]; b[shape=point]; a->b->a }", yes, &err);
    ok(!w && strstr(err.text, "itself"), "a process that feeds itself through a channel: %s",
       err.text);
    /* a fan of many processes into one long chain of operators: quadratic walks would take for ever
     */
    struct strbuf s = {0};
    strbuf_add(&s, "digraph { end [label=end]; ");
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&s, "c%d[shape=point] c%d->%s%d p%d->c0 ", i, i, i < 19999 ? "c" : "x", i + 1,
                      i);
    strbuf_add(&s, "}");
    w = read_text(&format_dot, s.at, yes, &err);
    is_int(w ? w->npairs : 0, 20000, "20,000 processes through a chain of 20,000 operators");
    workflow_free(w);
    strbuf_free(&s);
}

static void optimum(void)
{
    char text[] = "digraph { graph [\"Number of processors\"=4, \"Total schedule length\"=17]; a "
                  "[Weight=17] }";
    struct format_source source = {.path = "test-file", .text = text, .length = strlen(text)};
    struct error err = {0};
    uint32_t processors = 0;
    double length = 0;
    ok(dot_read_optimum(&source, &processors, &length, &err), "the graph states its optimum");
    is_int(processors, 4, "processors");
    is_dbl(length, 17, 0, "length");
    char nodes[] = "digraph { a [Weight=5,\"Start time\"=0,Processor=9] b [Weight=3,\"Start "
                   "time\"=4,Processor=1]}";
    source.text = nodes;
    source.length = strlen(nodes);
    ok(dot_read_optimum(&source, &processors, &length, &err), "only the nodes do");
    is_int(processors, 2, "distinct processors");
    is_dbl(length, 7, 0, "largest start + weight");
    char none[] = "digraph { a [Weight=5] }";
    source.text = none;
    source.length = strlen(none);
    ok(!dot_read_optimum(&source, &processors, &length, &err) && strstr(err.text, "schedule"),
       "neither: %s", err.text);
}

static struct workflow *random_workflow(uint64_t seed)
{
    static const char *const odd[] = {
        "a b",      "quote\"d",   "back\\slash", "ends\\", "new\nline", "\xc3\xa9t\xc3\xa9",
        "<html>",   "-1.5",       "digraph",     "x\\\"y", "a->b",      "#hash",
        "{brace}",  "semi;colon", "\\N",         "task3",  "",          "\\",
        "a\\nb\\\\"};
    struct rng r;
    rng_seed(&r, seed);
    struct builder *b = builder_new("random", "test");
    uint32_t n = 2 + (uint32_t)rng_below(&r, 30);
    builder_name(b, "random \"graph\"", 14);
    for (uint32_t t = 0; t < n; t++) {
        char name[64];
        if (t < 19 && *odd[t] && rng_below(&r, 2))
            snprintf(name, sizeof name, "%s", odd[t]);
        else
            snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, strlen(name), 0);
        if (rng_below(&r, 2))
            builder_work(b, t, rng_uniform(&r, 0, 1e12), 0);
        if (rng_below(&r, 2))
            builder_memory(b, t, (double)rng_below(&r, 1000000), 0);
        if (rng_below(&r, 2))
            builder_cores(b, t, (double)(1 + rng_below(&r, 8)), 0);
        if (rng_below(&r, 2)) {
            const char *kind = odd[rng_below(&r, 16)];
            builder_kind(b, t, kind, strlen(kind));
        }
        if (rng_below(&r, 2)) {
            const char *command = "sh -c \"echo '\\n' $HOME\"\n\techo \\\\ two";
            builder_command(b, t, command, strlen(command));
        }
        if (rng_below(&r, 4) == 0)
            builder_flag(b, t, TASK_NOT_REPLICABLE);
        if (rng_below(&r, 4) == 0)
            builder_flag(b, t, TASK_DONE);
        if (rng_below(&r, 4) == 0)
            builder_priority(b, t, rng_uniform(&r, -5, 5), 0);
    }
    for (uint32_t t = 0; t + 1 < n; t++) {
        uint32_t to = t + 1 + (uint32_t)rng_below(&r, n - t - 1);
        char name[64];
        int len = snprintf(name, sizeof name, "file \"%u\"\\", t);
        switch (rng_below(&r, 6)) {
        case 0:
            builder_edge(b, t, to, 0);
            break;
        case 1:
            builder_data_edge(b, t, to, rng_uniform(&r, 1, 1e9), 0);
            break;
        case 2: { /* shared, perhaps of unknown size */
            uint32_t o = builder_object(b, name, (size_t)len);
            if (rng_below(&r, 2))
                builder_size(b, o, 1e21, 0);
            builder_produces(b, t, o, 0);
            for (uint32_t k = t + 1; k < n; k += 3)
                builder_consumes(b, k, o, 0);
            break;
        }
        case 3: { /* made, read by nobody */
            uint32_t o = builder_object(b, name, (size_t)len);
            builder_size(b, o, 12, 0);
            builder_produces(b, t, o, 0);
            break;
        }
        case 4: { /* an input of the workflow */
            uint32_t o = builder_object(b, name, (size_t)len);
            builder_size(b, o, 1.5e30, 0);
            builder_consumes(b, t, o, 0);
            builder_consumes(b, to, o, 0);
            break;
        }
        default:
            break;
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

static void round_trips(void)
{
    int same = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct workflow *w = random_workflow(seed);
        struct strbuf out = {0}, dropped = {0};
        struct error err = {0}, why = {0};
        format_dot.write_workflow(w, &out, &dropped, &err);
        struct workflow *back = read_text(&format_dot, strbuf_text(&out), NULL, &err);
        bool good = back && workflow_equal(w, back, &why) && !dropped.n;
        for (uint32_t t = 0; good && t < w->ntasks; t++)
            good = w->flags[t] == back->flags[t] &&
                   (!w->priority || (back->priority && w->priority[t] == back->priority[t]) ||
                    w->priority[t] == 0);
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
    is_int(same, 300, "300 random workflows with nasty names come back equal");
}

static void large(void)
{
    struct strbuf s = {0};
    strbuf_add(&s, "digraph {\n");
    for (int i = 0; i < 50000; i++)
        strbuf_printf(&s, "n%d [size=\"%d\", label=\"node %d\"];\n", i, i, i);
    for (int i = 0; i < 200000; i++)
        strbuf_printf(&s, "n%d -> n%d [size=\"%d\"];\n", i / 5, 50000 - 1 - (i % 5) * 7, i + 1);
    strbuf_add(&s, "}\n");
    struct error err;
    struct workflow *w = read_text(&format_dot, s.at, NULL, &err);
    ok(w && w->ntasks == 50000, "200,000 edges read: %s", err.text);
    strbuf_free(&s);
    workflow_free(w);
}

static bool joined_by_kind(const struct workflow *w, const char *from, const char *to)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (strcmp(workflow_text(w, w->kind[t]), from) == 0 &&
                strcmp(workflow_text(w, w->kind[w->succ_task[e]]), to) == 0)
                return true;
    return false;
}

static void shared_data(void)
{
    if (!tap_shared()) {
        tap_skip("the DOT files of the shared data", "no shared folder");
        return;
    }
    is_int(index_check(&format_dot, "dot/", ".dot"), 19, "files of dot/");
    is_int(index_check(&format_dot, "daggen/", ".dot"), 3, "files of daggen/");
    is_int(index_check(&format_dot, "optimal/", ".dot"), 59, "files of optimal/");

    struct error err = {0};
    struct option_value yes[] = {{"contract", "yes"}, {0}};
    struct workflow *whole = index_read(&format_dot, "dot/bacass.dot", yes, &err);
    struct workflow *sparse = index_read(&format_dot, "dot/bacass_sparse.dot", NULL, &err);
    ok(whole && sparse, "bacass, contracted, and its published tasks-only form");
    if (whole && sparse) {
        is_int(whole->ntasks, sparse->ntasks, "the same number of processes");
        /* The published form leaves out three edges into GET_SOFTWARE_VERSIONS that the channels do
         * have. */
        is_int(whole->npairs, sparse->npairs + 3, "its edges and three more");
        int missing = 0;
        for (uint32_t t = 0; t < sparse->ntasks; t++)
            for (uint32_t e = sparse->succ_off[t]; e < sparse->succ_off[t + 1]; e++)
                missing +=
                    !joined_by_kind(whole, workflow_text(sparse, sparse->kind[t]),
                                    workflow_text(sparse, sparse->kind[sparse->succ_task[e]]));
        is_int(missing, 0, "none of its edges is missing");
    }
    workflow_free(whole);
    workflow_free(sparse);

    char path[4800];
    snprintf(path, sizeof path, "%s/data/INDEX.md", tap_shared());
    FILE *table = fopen(path, "r");
    struct index_row row;
    int good = 0, rows = 0;
    while (table && index_next(table, &row)) {
        if (strncmp(row.file, "optimal/", 8) != 0)
            continue;
        rows++;
        snprintf(path, sizeof path, "%s/data/%s", tap_shared(), row.file);
        struct text text;
        if (!file_read(path, &text, &err))
            continue;
        struct format_source source = {.path = path, .text = text.at, .length = text.n};
        uint32_t processors;
        double length;
        /* The file's name begins with the number of processors that were allowed; one was solved
         * with fewer. */
        if (dot_read_optimum(&source, &processors, &length, &err) &&
            processors <= (uint32_t)atoi(row.file + 8) && processors > 1 && length > 0)
            good++;
        else
            printf("# %s: %s\n", row.file, err.text);
        text_free(&text);
    }
    if (table)
        fclose(table);
    is_int(good, rows, "every file of optimal/ states its optimum");
}

int main(void)
{
    is_int(format_dot.sniff("x", "/* c */ strict digraph {", 24), 3, "sniffs DOT");
    is_int(format_dot.sniff("x", "digraphs are", 12), 0, "but no word that begins like it");
    TAP_DO(language());
    TAP_DO(meanings());
    TAP_DO(errors());
    TAP_DO(contraction());
    TAP_DO(optimum());
    TAP_DO(round_trips());
    TAP_DO(large());
    TAP_DO(shared_data());
    return tap_done();
}
