#include "formats/registry.h"
#include "formats/wfformat/wfformat.h"
#include "base/mem.h"
#include "formats/index_rows.h"

static const struct format *const wf = &format_wfformat;

static struct platform *platform_text(const char *text, struct error *err)
{
    *err = (struct error){0};
    size_t n = strlen(text);
    char *copy = mem_copy_bytes(text, n);
    struct format_source source = {.path = "test-file", .text = copy, .length = n};
    struct platform *p = wf->read_platform(&source, err);
    free(copy);
    return p;
}

/* Written as 1.5 and read again, it is the same workflow. */
static bool survives(const struct workflow *w, struct error *why)
{
    struct strbuf out = {0}, dropped = {0};
    struct error err = {0};
    bool same = false;
    if (wf->write_workflow(w, &out, &dropped, &err)) {
        struct workflow *again = read_text(wf, strbuf_text(&out), NULL, why);
        same = again && workflow_equal(w, again, why);
        workflow_free(again);
    }
    strbuf_free(&out);
    strbuf_free(&dropped);
    return same;
}

static void test_shared_files(void)
{
    if (!tap_shared()) {
        tap_skip("shared WfFormat files", "no shared data");
        return;
    }
    is_int(index_check(wf, "wfformat/", ".json"), 20, "all files of 1.5");
    is_int(index_check(wf, "wfformat-old/", ".json"), 8, "all files of older versions");

    char path[4800];
    snprintf(path, sizeof path, "%s/data/INDEX.md", tap_shared());
    FILE *table = fopen(path, "r");
    struct index_row row;
    while (table && index_next(table, &row)) {
        if (strncmp(row.file, "wfformat", 8) != 0)
            continue;
        struct error err = {0};
        struct workflow *w = index_read(wf, row.file, NULL, &err);
        if (!w)
            continue;
        char version[32];
        snprintf(version, sizeof version, "wfformat-%.8s", row.format + strlen("WfFormat "));
        is_str(workflow_text(w, w->format), version, "%s: version", row.file);
        is_int(w->nwarnings, 0, "%s: nothing to remark", row.file);
        ok(survives(w, &err), "%s: survives writing (%s)", row.file, err.text);
        uint32_t working = 0;
        for (uint32_t t = 0; t < w->ntasks; t++)
            working += (w->flags[t] & TASK_HAS_WORK) != 0;
        is_int(working, w->ntasks, "%s: every task has a work", row.file);
        workflow_free(w);
    }
    if (table)
        fclose(table);
}

/* The same workflow recorded in several versions. */
static void test_versions_agree(void)
{
    if (!tap_shared())
        return;
    static const char *const blast[] = {"wfformat/blast-chameleon-small-001.json",
                                        "wfformat-old/blast-chameleon-small-001-v1.2.json",
                                        "wfformat-old/blast-chameleon-small-001-v1.3.json",
                                        "wfformat-old/blast-chameleon-small-001-v1.4.json"};
    struct error err = {0};
    struct workflow *first = index_read(wf, blast[0], NULL, &err);
    for (int i = 1; i < 4; i++) {
        struct workflow *other = index_read(wf, blast[i], NULL, &err);
        ok(first && other && workflow_equal(first, other, &err), "%s is the 1.5 file (%s)",
           blast[i], err.text);
        workflow_free(other);
    }
    uint32_t split = workflow_find_task(first, "split_fasta_ID000001");
    is_int(first->memory[split], 3000000, "memory in bytes, not kB");
    is_str(workflow_text(first, first->kind[split]), "split_fasta", "its kind");
    workflow_free(first);
}

static void test_execution(void)
{
    if (!tap_shared())
        return;
    static const char *const files[] = {"wfformat/seismology-chameleon-100p-001.json",
                                        "wfformat-old/seismology-chameleon-100p-001-v1.3.json"};
    for (int i = 0; i < 2; i++) {
        char path[4800];
        snprintf(path, sizeof path, "%s/data/%s", tap_shared(), files[i]);
        struct error err = {0};
        struct text text;
        struct workflow *w = index_read(wf, files[i], NULL, &err);
        file_read(path, &text, &err);
        struct format_source source = {.path = path, .text = text.at, .length = text.n};
        struct platform *p = wf->read_platform(&source, &err);
        text_free(&text);
        if (!ok(w && p, "%s: workflow and platform %s", files[i], err.text))
            return;
        is_int(p->nnodes, 3, "three machines");
        is_int(p->cores[0], 48, "of 48 cores");
        is_dbl(p->memory[0], 131795984000.0, 0, "memory in bytes");
        uint32_t node = 0;
        double largest = 0;
        for (uint32_t k = 0; k < p->nnodes; k++)
            largest = fmax(largest, p->speed[k]);
        is_dbl(largest, 1, 0, "the fastest has speed 1");
        is_dbl(p->speed[node], 1575.0 / 1825, 1e-12, "the others relative to it");
        file_read(path, &text, &err);
        source = (struct format_source){.path = path, .text = text.at, .length = text.n};
        struct wfformat_execution x;
        ok(wfformat_read_execution(&source, w, p, &x, &err), "its execution %s", err.text);
        ok(x.makespan > 0, "a makespan, %g", x.makespan);
        uint32_t placed = 0, timed = 0;
        for (uint32_t t = 0; t < x.ntasks; t++) {
            placed += x.machine_of_task[t] < p->nnodes;
            timed += x.runtime[t] == w->work[t];
        }
        is_int(placed, 101, "every task on a machine");
        is_int(timed, 101, "every task with its runtime");
        wfformat_execution_free(&x);
        text_free(&text);
        platform_free(p);
        workflow_free(w);
    }
}

#define HEAD                                                                                       \
    "{\"name\":\"x\",\"schemaVersion\":\"1.5\",\"workflow\":{\"specification\":{\n\"tasks\":["
#define TASK(id, parents, children, in, out)                                                       \
    "{\"name\":\"n\",\"id\":\"" id "\",\"parents\":[" parents "],\"children\":[" children          \
    "],\"inputFiles\":[" in "],\"outputFiles\":[" out "]}"

static void test_edges(void)
{
    struct error err;
    /* a writes f for b; a before c without a file; d reads f without a stated edge; e and a both
     * write g */
    struct workflow *w = read_text(
        wf,
        HEAD TASK("a", "", "\"b\",\"c\"", "\"in\"", "\"f\",\"g\"") "," TASK(
            "b", "\"a\"", "\"e\"", "\"f\"",
            "") "," TASK("c", "", "", "",
                         "") "," TASK("d", "", "", "\"f\"",
                                      "") "," TASK("e", "\"b\"", "\"z\"", "\"g\"",
                                                   "\"g\"") "," TASK("z", "", "", "\"g\",\"g\"",
                                                                     "") "],"
                                                                         "\"files\":[{\"id\":\"f\","
                                                                         "\"sizeInBytes\":10},{"
                                                                         "\"id\":\"g\","
                                                                         "\"sizeInBytes\":7}]}}}",
        NULL, &err);
    if (!ok(w, "edges by lists and files %s", err.text))
        return;
    is_int(w->npairs, 4, "only stated edges: a-b, a-c, b-e, e-z");
    ok(!has_edge(w, "a", "d"), "a shared file alone makes no edge");
    ok(has_warning(w, "'d' reads 'f'"), "but a remark");
    ok(has_warning(w, "'g' is made by 'a' and by 'e'"), "several producers are remarked");
    ok(has_warning(w, "'in' is not in the list"), "a file that is not listed is remarked");
    uint32_t second = workflow_find_object(w, "g (by e)"), n;
    ok(second != NONE && w->size[second] == 7, "the second producer's object");
    workflow_consumers(w, second, &n);
    is_int(n, 1, "goes to z");
    is_int(w->ninputs, 1, "one input");
    ok(survives(w, &err), "and all that survives writing (%s)", err.text);
    workflow_free(w);

    w = read_text(
        wf,
        "{\"workflow\":{\"jobs\":[{\"name\":\"p_1\",\"files\":[{\"name\":\"f\",\"size\":3,\"link\":"
        "\"output\"}]},"
        "{\"name\":\"q-2\",\"memory\":5,\"cores\":2,\"arguments\":[\"-a\",\"two words\",\"it's\"],"
        "\"files\":[{\"name\":\"f\",\"size\":3,\"link\":\"input\"}]}]}}",
        NULL, &err);
    if (!ok(w, "no stated edges at all %s", err.text))
        return;
    is_int(w->npairs, 1, "then files make them");
    is_int(w->memory[1], 5000, "memory in kB");
    is_int(w->cores[1], 2, "cores");
    is_str(workflow_text(w, w->kind[0]), "p", "kind: the stem");
    is_str(workflow_text(w, w->command[1]), "q -a 'two words' 'it'\\''s'", "arguments are quoted");
    ok(has_warning(w, "schemaVersion is missing"), "a missing version is remarked");
    ok(survives(w, &err), "survives writing (%s)", err.text);
    workflow_free(w);

    w = read_text(
        wf,
        "{\"schemaVersion\":\"1.6\",\"workflow\":{\"specification\":{\"tasks\":[{\"id\":\"a\"}],"
        "\"files\":[{\"id\":\"f\",\"sizeInBytes\":3}],\"metrics\":{\"numberOfTasks\":1,"
        "\"numberOfFiles\":1,\"sumOfFileSizesInBytes\":4}},\"execution\":{\"tasks\":[{\"id\":\"a\","
        "\"runtimeInSeconds\":2,\"coreCount\":1.5}],\"metrics\":{\"sumTaskRuntimesInSeconds\":2,"
        "\"totalNumBytesRead\":0}}}}",
        NULL, &err);
    if (!ok(w, "version 1.6 %s", err.text))
        return;
    is_str(workflow_text(w, w->format), "wfformat-1.6", "is known");
    is_int(w->cores[0], 2, "a part of a core is a whole one");
    ok(has_warning(w, "sumOfFileSizesInBytes of the metrics is 4, but the file has 3") &&
           !has_warning(w, "numberOf") && !has_warning(w, "sumTask") && !has_warning(w, "Bytes\""),
       "a metric that states another number is remarked, and no other");
    workflow_free(w);

    w = read_text(
        wf,
        HEAD TASK("a", "", "", "",
                  "") "]},\"execution\":{\"makespanInSeconds\":1,\"tasks\":[{\"id\":\"a\","
                      "\"runtimeInSeconds\":2.5,\"memoryInBytes\":9,\"coreCount\":4,\"priority\":3,"
                      "\"command\":{\"program\":\"/usr/bin/"
                      "cat\",\"arguments\":[\"*.x\",\">\",\"out\"]}}]}}}",
        NULL, &err);
    if (!ok(w, "an execution %s", err.text))
        return;
    is_dbl(w->work[0], 2.5, 0, "runtime");
    is_int(w->memory[0], 9, "memory in bytes");
    is_int(w->cores[0], 4, "cores");
    is_dbl(w->priority[0], 3, 0, "priority");
    is_str(workflow_text(w, w->command[0]), "/usr/bin/cat *.x > out",
           "a split shell line stays one");
    is_str(workflow_text(w, w->kind[0]), "cat", "kind: the program");
    ok(survives(w, &err), "survives writing (%s)", err.text);
    workflow_free(w);
}

/* Levels of a chain of two beside one alone: 2, the second of one task, the first of two. */
static void test_levels(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        wf,
        HEAD TASK("a", "", "\"b\"", "", "") "," TASK("b", "\"a\"", "", "", "") "," TASK(
            "c", "", "", "", "") "],\"metrics\":{\"numberOfTasks\":3,\n\"numberOfLevels\":3,\n"
                                 "\"minimumWidth\":1,\"maximumWidth\":\"2\"}}}}",
        NULL, &err);
    if (!ok(w, "levels in the metrics %s", err.text))
        return;
    ok(has_warning(w, "test-file:3: numberOfLevels of the metrics is 3, but the file has 2"),
       "another number of levels is remarked");
    ok(!has_warning(w, "minimumWidth") && has_warning(w, "maximumWidth of the metrics is nan"),
       "a width that is right is not, one that is no number is");
    workflow_free(w);
}

static void test_unknown_members(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        wf,
        "{\"name\":\"n\",\"schemaVersion\":\"1.6\",\"author\":{\"x\":1},\"workflow\":{\"repo\":"
        "\"r\",\n"
        "\"specification\":{\"tasks\":[{\"id\":\"a\",\"runtimeInSeconds\":7,\"weft\":{\"x\":1}},\n"
        "{\"id\":\"b\",\"runtimeInSeconds\":7}]},\"execution\":{\"tasks\":[\n"
        "{\"id\":\"a\",\"RuntimeInSeconds\":2,\"energyInKWh\":1,\"command\":{\"programm\":\"x\"},"
        "\"category\":\"k\",\"launchDir\":\"/\"}],"
        "\n"
        "\"machines\":[{\"nodeName\":\"m\",\"cpu\":{\"coreCount\":1,\"GHz\":3}}]}}}",
        NULL, &err);
    if (!ok(w, "members that WfFormat does not have %s", err.text))
        return;
    is_int(w->nwarnings, 4, "one remark for each kind, none for what the schema knows");
    ok(has_warning(w, "test-file:2: 'runtimeInSeconds' of 2 tasks of the specification is passed"),
       "what stands in the wrong half, with its first line");
    ok(has_warning(w, "test-file:4: 'RuntimeInSeconds' of 1 task of the execution is passed over: "
                      "WfFormat has no such member there; did you mean 'runtimeInSeconds'?"),
       "another spelling, with the right one");
    ok(has_warning(w, "'programm' of 1 command is") && has_warning(w, "'GHz' of 1 cpu is"),
       "also deep inside");
    is_str(workflow_text(w, w->kind[0]), "k", "a category counts in the execution, too");
    workflow_free(w);

    w = read_text(wf, HEAD "{\"id\":\"a\",\"runtimeInSeconds\":7,\"files\":[]}]}}}", NULL, &err);
    ok(w && w->work[0] == 7 && !has_warning(w, "runtimeInSeconds") &&
           has_warning(w, "'files' of 1 task"),
       "without an execution the specification has the record");
    workflow_free(w);

    w = read_text(
        wf,
        "{\"workflow\":{\"jobs\":[{\"name\":\"a\",\"inputFiles\":[],\"a\":1,\"b\":1,\"c\":1,"
        "\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1}]}}",
        NULL, &err);
    ok(has_warning(w, "'inputFiles' of 1 task is") && has_warning(w, "'g' of 1 task is") &&
           !has_warning(w, "'h' of 1") && has_warning(w, "2 more members are passed over"),
       "what is new is unknown to old versions; of many kinds the first");
    workflow_free(w);
}

/* Ids that a validator refuses are told; those that we make up are none. */
static void test_written_ids(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        &format_dot, "digraph { \"a b\" -> c [size=5]; c -> \"d/1_2.x:#-\" [size=1] }", NULL, &err);
    struct strbuf out = {0}, dropped = {0};
    ok(w && wf->write_workflow(w, &out, &dropped, &err), "odd names are written %s", err.text);
    has_str(strbuf_text(&dropped), "letters, digits and _.#:/- only) of 1 task\n", "and told");
    ok(!strstr(strbuf_text(&dropped), "file") &&
           strstr(strbuf_text(&out), "\"id\": \"c--d/1_2.x:#-\""),
       "files without a name get one that the schema allows, but for a task's");
    strbuf_free(&out);
    strbuf_free(&dropped);
    workflow_free(w);
}

static void test_bad_input(void)
{
    refuses(wf, "", "empty", "an empty text");
    refuses(wf, "[]", "the document is an array", "no object");
    refuses(wf, "{\"a\":1}", "no \"workflow\"", "no workflow");
    refuses(wf, "{\"workflow\":{}}", "no list of tasks", "no tasks");
    refuses(wf, "{\"workflow\":{\"tasks\":3}}", "is a number; expected an array", "tasks no array");
    refuses(wf, HEAD "3]}}}", "test-file:2: a task is a number", "a task is no object");
    refuses(wf, HEAD "{\"name\":\"a\"}]}}}", "no id", "a task without id");
    refuses(wf, HEAD "{\"id\":\"\"}]}}}", "empty name", "an empty id");
    refuses(wf, HEAD TASK("a", "", "", "", "") ",\n" TASK("a", "", "", "", "") "]}}}",
            "test-file:3: task 'a' is defined twice", "a duplicate id");
    refuses(wf, HEAD TASK("a", "\"b\"", "", "", "") "]}}}",
            "test-file:2: task 'a': parents names 'b', which is no task", "a dangling parent");
    refuses(wf, HEAD TASK("a", "", "\"b\"", "", "") "]}}}", "children names 'b'",
            "a dangling child");
    refuses(wf, HEAD TASK("a", "\"a\"", "", "", "") "]}}}", "its own parents", "a self loop");
    refuses(wf, HEAD TASK("a", "7", "", "", "") "]}}}", "a parent is a number",
            "a parent that is no string");
    refuses(wf, HEAD TASK("a", "\"b\"", "", "", "") "," TASK("b", "\"a\"", "", "", "") "]}}}",
            "cycle", "a cycle");
    refuses(
        wf,
        HEAD TASK("a", "", "", "\"f\"", "") "],\"files\":[{\"id\":\"f\",\"sizeInBytes\":-1}]}}}",
        "file 'f': its size", "a negative size");
    refuses(wf, HEAD TASK("a", "", "", "", "") "],\"files\":[{\"id\":\"f\"},{\"id\":\"f\"}]}}}",
            "listed twice", "a file twice");
    refuses(wf, HEAD TASK("a", "", "", "", "") "],\"files\":[7]}}}", "a file needs",
            "a file that is a number");
#define EXEC(entry) HEAD TASK("a", "", "", "", "") "]},\"execution\":{\"tasks\":[" entry "]}}}"
    refuses(wf, EXEC("{\"id\":\"a\",\n\"runtimeInSeconds\":-2}"),
            "test-file:3: task 'a': the runtime is -2", "a negative runtime");
    refuses(wf, EXEC("{\"id\":\"a\",\"runtimeInSeconds\":1e999}"), "beyond the range",
            "an infinite runtime");
    refuses(wf, EXEC("{\"id\":\"a\",\"runtimeInSeconds\":\"3\"}"), "is a string; expected a number",
            "a runtime in quotes");
    refuses(wf, EXEC("{\"id\":\"b\"}"), "'b', which is not specified", "an unknown execution");
    refuses(wf, EXEC("{\"id\":\"a\"},{\"id\":\"a\"}"), "second execution entry",
            "a second execution");
    refuses(wf, EXEC("{\"id\":\"a\",\"coreCount\":-1.5}"), "0 or more", "less than no core");
    refuses(wf, EXEC("{\"id\":\"a\",\"command\":{\"program\":1}}"), "program is a number",
            "a wrong program");
    refuses(wf, EXEC("{\"id\":\"a\",\"command\":{\"program\":\"p\",\"arguments\":[[]]}}"),
            "an argument is an array", "a wrong argument");
    refuses(wf,
            "{\"workflow\":{\"tasks\":[{\"name\":\"a\",\"files\":[{\"name\":\"f\",\"link\":"
            "\"both\"}]}]}}",
            "must be \"input\" or \"output\"", "a wrong link");
    struct error err;
    struct platform *p = platform_text(HEAD "]}}}", &err);
    ok(!p && strstr(err.text, "no machines"), "no machines: %s", err.text);
    p = platform_text(
        "{\"workflow\":{\"tasks\":[],\"machines\":[{\"nodeName\":\"m\",\"cpu\":{\"count\":-3}}]}}",
        &err);
    ok(!p && strstr(err.text, "core count"), "a negative core count: %s", err.text);
    p = platform_text(
        "{\"workflow\":{\"tasks\":[],\"machines\":[{\"nodeName\":\"m\"},{\"nodeName\":\"m\"}]}}",
        &err);
    ok(!p && strstr(err.text, "'m'"), "a machine twice: %s", err.text);
    p = platform_text("{\"workflow\":{\"tasks\":[],\"machines\":[{}]}}", &err);
    ok(!p && strstr(err.text, "nodeName"), "a machine without a name: %s", err.text);
}

static void test_starts(void)
{
    struct error err;
    const char *text = "{\"workflow\":{\"tasks\":["
                       "{\"name\":\"a\",\"executedAt\":\"2020-12-25T20:10:08+00:00\"},"
                       "{\"name\":\"b\",\"executedAt\":\"20201225T211018+0100\"},"
                       "{\"name\":\"c\",\"executedAt\":\"12-26-20T20:10:08Z\"},"
                       "{\"name\":\"d\",\"executedAt\":\"2020-12-25T20:10:08.25\"},"
                       "{\"name\":\"e\",\"executedAt\":\"yesterday\"},{\"name\":\"f\"}],"
                       "\"machines\":[{\"nodeName\":\"m\"}]}}";
    struct workflow *w = read_text(wf, text, NULL, &err);
    struct platform *p = platform_text(text, &err);
    char *copy = mem_copy_string(text);
    struct format_source source = {.path = "test-file", .text = copy, .length = strlen(text)};
    struct wfformat_execution x;
    if (ok(w && p && wfformat_read_execution(&source, w, p, &x, &err), "starts %s", err.text)) {
        is_dbl(x.start[0], 0, 0, "the first");
        is_dbl(x.start[1], 10, 1e-6, "without dashes, in another zone");
        is_dbl(x.start[2], 86400, 1e-6, "month first");
        is_dbl(x.start[3], 0.25, 1e-6, "a fraction");
        ok(isnan(x.start[4]) && isnan(x.start[5]) && isnan(x.makespan), "not stated");
        is_int(x.machine_of_task[0], NONE, "no machine stated");
    }
    wfformat_execution_free(&x);
    free(copy);
    workflow_free(w);
    platform_free(p);
}

static void test_names(void)
{
    static const char *const pairs[][2] = {{"mProject_ID0000001", "mProject"},
                                           {"FASTQC_2", "FASTQC"},
                                           {"t12", "t"},
                                           {"12", "12"},
                                           {"plain", "plain"},
                                           {"_ID7", "_ID7"},
                                           {"a.b.3", "a.b"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char stem[64];
        snprintf(stem, sizeof stem, "%.*s", (int)wfformat_stem(pairs[i][0], strlen(pairs[i][0])),
                 pairs[i][0]);
        is_str(stem, pairs[i][1], "stem of %s", pairs[i][0]);
    }
    const char *some = "{ \"schemaVersion\": \"1.5\"";
    is_int(wf->sniff("x.json", some, strlen(some)), 3, "sniffed by its version");
    some = "{\"schema\":\"weft-plan/1\",\"workflow\":{\"tasks\":3}}";
    is_int(wf->sniff("x.json", some, strlen(some)), 0, "a plan is none");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_shared_files),    TAP_CASE(test_versions_agree), TAP_CASE(test_execution),
        TAP_CASE(test_edges),           TAP_CASE(test_bad_input),      TAP_CASE(test_starts),
        TAP_CASE(test_names),           TAP_CASE(test_levels),         TAP_CASE(test_written_ids),
        TAP_CASE(test_unknown_members),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
