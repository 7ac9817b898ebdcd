#include "formats/registry.h"
#include "formats/testing.h"
#include "model/graph.h"

static void test_features(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        &format_stg, "2\n0 0 0\n1 8 1 0\n  2 2.5 2 0 1\n3 0 1 2\n# CP Length : 10.5\n", NULL, &err);
    ok(w != NULL, "the plain form reads");
    is_int(w->ntasks, 4, "dummies are tasks");
    is_int(w->npairs, 4, "edges");
    is_dbl(w->work[2], 2.5, 0, "a time");
    is_str(workflow_task_name(w, 3), "3", "names are ids");
    is_int(w->nobjects, 0, "no data");
    is_int(w->nwarnings, 0, "no warning");
    is_dbl(graph_critical_path(w, NULL, NULL, NULL), 10.5, 0, "critical path");
    round_trip(&format_stg, w, NULL, "", "plain");
    workflow_free(w);

    w = read_text(&format_stg, "2\n0 0 0\n1 8 1 0 5\n2 2 2 0 0 1 7.5\n3 0 1 2 1\n", NULL, &err);
    ok(w != NULL, "with communication");
    is_int(w->npairs, 4, "edges");
    is_int(w->nobjects, 3, "a cost of 0 is ordering, the others carry data");
    uint32_t object = workflow_find_object(w, "1->2");
    ok(object != NONE && w->size[object] == 7.5, "the cost is the size");
    round_trip(&format_stg, w, NULL, "", "with communication");
    workflow_free(w);

    w = read_text(&format_stg, "3\n7 1 0\n5 1 1 7\n6 1 1 5\n", NULL, &err);
    ok(w != NULL, "a header that counts every row, ids of one's own");
    is_int(w->nwarnings, 1, "with a warning");
    round_trip(&format_stg, w, NULL, "", "ids that are not 0..n-1");
    workflow_free(w);

    w = read_text(&format_stg, "2\n0 1 1 1\n1 1 0\n", NULL, &err);
    ok(w && w->npairs == 1, "predecessors may stand later");
    round_trip(&format_stg, w, NULL, "", "predecessors later");
    workflow_free(w);
    w = read_text(&format_stg, "0\n", NULL, &err);
    ok(w && w->ntasks == 0, "no tasks at all");
    workflow_free(w);
}

static void test_errors(void)
{
    refused(&format_stg, "", "test-file: the file is empty");
    refused(&format_stg, "2\n0 0 0\n1 1 1 0\n2 1 1 1\n",
            "test-file:4: the file ends after 3 rows; expected 4");
    refused(&format_stg, "2\n0 0 0\n1 1 1 0\n2 1 1 1\n#(+dummy tasks : 2)\n",
            "test-file:5: 3 rows; expected 4");
    refused(&format_stg, "1\n0 -1 0\n1 1 0\n2 0 0\n", "test-file:2: task '0': work is -1");
    refused(&format_stg, "1\n0 nan 0\n", "test-file:2: time 'nan' is not a finite number");
    refused(&format_stg, "1\n0 1 0\n1 1 1 9\n2 1 0\n",
            "test-file:3: task 1: predecessor 9 is not in the file");
    refused(&format_stg, "1\n0 1 0\n0 1 0\n2 1 0\n", "test-file:3: task '0' is defined twice");
    refused(&format_stg, "1\n0 1 0\n1 1 3 0 0\n2 1 0\n",
            "test-file:3: 2 numbers follow the count of 3");
    refused(&format_stg, "1\n0 1 0\n1 1 1 0\n2 1 1 1 4\n",
            "test-file:4: this row has communication costs");
    refused(&format_stg, "2\n0 1 1 1\n1 1 1 0\n", "cycle");
    refused(&format_stg, "1\n0 1 0\n1 1 1 1\n2 1 0\n", "test-file:3");
    refused(&format_stg, "99999999999999999999\n0 1 0\n", "test-file:1: number of tasks");
    refused(&format_stg, "1000000000000000000\n0 1 0\n",
            "test-file:1: the header says 1000000000000000000 tasks");
    refused(&format_stg, "1\n0 1 99999999999\n",
            "test-file:2: number of predecessors 99999999999 is out of range");
    refused(&format_stg, "1\n-4 1 0\n", "test-file:2: task id -4 is out of range");
    survives_cuts(&format_stg,
                  "2\n0 0 0\n1 8 1 0 5\n2 2 2 0 0 1 7.5\n3 0 1 2 1\n# (+dummy tasks : 2)\n");
}

static void test_writing_names(void)
{
    struct builder *b = builder_new("x", "test");
    uint32_t last = builder_task(b, "last", 4, 0), first = builder_task(b, "first", 5, 0);
    builder_work(b, last, 3, 0);
    builder_work(b, first, 2, 0);
    builder_memory(b, first, 9, 0);
    builder_edge(b, first, last, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    round_trip(&format_stg, w, NULL, "names of 2 tasks\nmemory of 1 task\n", "a graph with names");
    struct strbuf out = {0};
    format_stg.write_workflow(w, &out, NULL, &err);
    has_str(strbuf_text(&out), "2\n0 2 0\n1 3 1 0\n", "predecessors first");
    strbuf_free(&out);
    workflow_free(w);
}

static void visit(const struct index_row *row)
{
    struct workflow *w = index_expect(&format_stg, row, NULL);
    if (!w)
        return;
    const char *cp = strstr(row->notes, "CP ");
    is_dbl(graph_critical_path(w, NULL, NULL, NULL), cp ? atof(cp + 3) : -1, 0,
           "%s: critical path as the index says", row->file);
    struct text text = {0};
    if (file_read(shared_path(row->file), &text, NULL) && (cp = strstr(text.at, "# CP Length")))
        is_dbl(graph_critical_path(w, NULL, NULL, NULL), atof(strchr(cp, ':') + 1), 0,
               "%s: ... and as its trailer says", row->file);
    text_free(&text);
    round_trip(&format_stg, w, NULL, "", row->file);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_errors());
    TAP_DO(test_writing_names());
    index_visit("stg/", ".stg", visit);
    return tap_done();
}
