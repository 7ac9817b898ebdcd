#include "formats/registry.h"
#include "formats/testing.h"
#include "model/graph.h"

static const struct option_value inward[] = {{"direction", "in"}, {NULL, NULL}};

static void test_features(void)
{
    static const char text[] = "% id parent m w f\n1 3 10 0.5 7\n\n2 3 20 1.5 0\n3 0 30 2.5 9 \n";
    struct error err = {0};
    struct workflow *w = read_text(&format_tree, text, NULL, &err);
    ok(w != NULL, "a tree reads");
    is_int(w->ntasks, 3, "tasks");
    is_int(w->npairs, 2, "edges");
    is_int(graph_tree_shape(w), TREE_OUT, "an out-tree");
    is_dbl(w->memory[0], 10, 0, "memory");
    is_dbl(w->work[1], 1.5, 0, "work");
    uint32_t object = workflow_find_object(w, "3->1");
    ok(object != NONE && w->size[object] == 7, "the edge's size");
    ok(workflow_find_object(w, "3->2") == NONE, "size 0 is ordering");
    object = workflow_find_object(w, "root-input");
    ok(object != NONE && w->size[object] == 9 && w->producer[object] == NONE && w->ninputs == 1,
       "the root's f is an input");
    round_trip(&format_tree, w, NULL, "", "an out-tree");
    workflow_free(w);

    w = read_text(&format_tree, text, inward, &err);
    ok(w && graph_tree_shape(w) == TREE_IN, "direction=in");
    object = workflow_find_object(w, "root-output");
    ok(object != NONE && w->size[object] == 9 && w->producer[object] == 2,
       "the root's f is an output");
    struct strbuf out = {0}, lost = {0};
    ok(format_tree.write_workflow(w, &out, &lost, &err), "an in-tree is written");
    is_str(strbuf_text(&lost), "direction of the edges (read it back with direction=in)\n",
           "and says so");
    struct workflow *again = read_text(&format_tree, strbuf_text(&out), inward, &err);
    ok(again && workflow_equal(w, again, &err), "and reads back the same");
    workflow_free(again);
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&lost);

    w = read_text(&format_tree, "1 0 1 1 0\n", NULL, &err);
    ok(w && w->ntasks == 1, "one task");
    round_trip(&format_tree, w, NULL, "", "one task");
    workflow_free(w);
}

static void test_writing(void)
{
    struct error err = {0};
    struct builder *b = builder_new("x", "test");
    for (int i = 0; i < 4; i++)
        builder_task(b, &"abcd"[i], 1, 0);
    builder_data_edge(b, 0, 1, 5, 0);
    builder_data_edge(b, 0, 2, 6, 0);
    builder_edge(b, 2, 3, 0);
    builder_cores(b, 1, 2, 0);
    struct workflow *w = builder_finish(b, &err);
    round_trip(&format_tree, w, NULL,
               "names of 4 tasks\ncores of 1 task\nabsence of work (written as 0) of 4 tasks\n",
               "named tasks");
    struct strbuf out = {0};
    format_tree.write_workflow(w, &out, NULL, &err);
    /* published readers want the root last and parents after their children */
    unsigned id, parent, wrong = 0;
    for (const char *p = strbuf_text(&out); *p; p = strchr(p, '\n') + 1)
        wrong += sscanf(p, "%u %u", &id, &parent) != 2 || (parent && parent <= id);
    is_int(wrong, 0, "parents have larger ids");
    strbuf_free(&out);
    workflow_free(w);

    b = builder_new("x", "test");
    for (int i = 0; i < 4; i++)
        builder_task(b, &"abcd"[i], 1, 0);
    builder_edge(b, 0, 1, 0);
    builder_edge(b, 0, 2, 0);
    builder_edge(b, 1, 3, 0);
    builder_edge(b, 2, 3, 0);
    w = builder_finish(b, &err);
    ok(!format_tree.write_workflow(w, &out, NULL, &err), "a diamond is not written");
    has_str(err.text, "not a tree: task 'd' follows 'b' and 'c'", "and the task is named");
    strbuf_free(&out);
    workflow_free(w);
}

static void test_errors(void)
{
    refused(&format_tree, "% nothing\n", "test-file:1: no task in the file");
    refused(&format_tree, "1 2 1 1 1\n", "test-file:1: task 1: parent 2 is not in the file");
    refused(&format_tree, "1 0 1 1\n", "test-file:1: the line ends before its edge size");
    refused(&format_tree, "1 0 1 1 1 1\n", "test-file:1: '1' is one word too many");
    refused(&format_tree, "1 0 1 1 1\n2 0 1 1 1\n",
            "test-file:2: task 2 is a second root; the first is task 1 on line 1");
    refused(&format_tree, "1 0 1 1 1\n1 1 1 1 1\n", "test-file:2: task 1 is its own parent");
    refused(&format_tree, "1 0 1 1 1\n1 2 1 1 1\n", "test-file:2: task '1' is defined twice");
    refused(&format_tree, "1 2 1 1 1\n2 1 1 1 1\n", "cycle");
    refused(&format_tree, "1 0 1 1 1\n2 3 1 1 1\n3 2 1 1 1\n", "cycle");
    refused(&format_tree, "1 0 -1 1 1\n", "test-file:1: task '1': memory is -1");
    refused(&format_tree, "1 0 1 -1 1\n", "test-file:1: task '1': work is -1");
    refused(&format_tree, "1 0 1 1 -1\n", "test-file:1: task 1: edge size -1 is negative");
    refused(&format_tree, "1 0 1 nan 1\n", "test-file:1: work 'nan'");
    refused(&format_tree, "9223372036854775808 0 1 1 1\n", "test-file:1: id '9223372036854775808'");
    refused(&format_tree, "1000000000 0 1 1 1\n",
            "test-file:1: id 1000000000 is out of range: the file has 1 task");
    refused(&format_tree, "1 0 1e999 1 1\n", "test-file:1: memory '1e999' is not a finite number");
    struct error err = {0};
    static const struct option_value wrong[] = {{"direction", "up"}, {NULL, NULL}};
    ok(!read_text(&format_tree, "1 0 1 1 1\n", wrong, &err), "a wrong option");
    has_str(err.text, "direction=up: expected one of out|in", "is named");
    survives_cuts(&format_tree, "% x\n1 3 10 0.5 7\n2 3 20 1.5 0\n3 0 30 2.5 9\n");
}

/* A path of 100,000 tasks, deeper than any stack would like. */
static void test_deep(void)
{
    struct strbuf text = {0};
    for (int i = 1; i <= 100000; i++)
        strbuf_printf(&text, "%d %d 1 0.%d 3\n", i, i == 100000 ? 0 : i + 1, i);
    struct error err = {0};
    double start = clock_cpu_seconds();
    struct workflow *w = read_text(&format_tree, strbuf_text(&text), NULL, &err);
    printf("# %zu bytes in %.1f ms\n", text.n, (clock_cpu_seconds() - start) * 1e3);
    ok(w && w->npairs == 99999, "a path of 100,000 tasks");
    workflow_free(w);
    strbuf_free(&text);
}

static void visit(const struct index_row *row)
{
    struct workflow *w = index_expect(&format_tree, row, NULL);
    if (!w)
        return;
    enum tree_shape shape = graph_tree_shape(w);
    ok(shape == TREE_OUT, "%s: an out-tree", row->file);
    if (w->ntasks <= 10000) /* the larger ones are of the same kind */
        round_trip(&format_tree, w, NULL, "", row->file);
    workflow_free(w);
    struct error err = {0};
    double start = clock_cpu_seconds();
    w = index_read(&format_tree, row->file, inward, &err);
    printf("# read in %.1f ms\n", (clock_cpu_seconds() - start) * 1e3);
    ok(w && graph_tree_shape(w) == TREE_IN, "%s: an in-tree on demand", row->file);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_writing());
    TAP_DO(test_errors());
    TAP_DO(test_deep());
    index_visit("trees/", ".tree", visit);
    return tap_done();
}
