#include "formats/registry.h"
#include "formats/testing.h"

static const char good[] =
    "%% HyperdagDB\n4 5 10\n%% h\n0 3 2\n1 4 1.5\n2 0 0\n3 4 0\n%% v\n0 1 0\n1 2 3\n"
    "2 1 0\n4 1 0\n3 1 0\n%% p\n0 0\n0 1\n0 2\n1 1\n1 3\n2 2\n2 4\n2 3\n3 1\n3 3\n";

static void test_features(void)
{
    struct error err = {0};
    struct workflow *w = read_text(&format_hyperdag, good, NULL, &err);
    if (!ok(w != NULL, "a file with all features"))
        printf("# %s\n", err.text);
    is_int(w->ntasks, 5, "tasks");
    is_int(w->npairs, 5, "edges");
    is_int(w->nedges, 6, "two hyperedges join one pair");
    uint32_t object = workflow_find_object(w, "h0"), count = 0;
    ok(object != NONE && w->size[object] == 3, "a hyperedge is an object with its size");
    workflow_consumers(w, object, &count);
    is_int(count, 2, "and its consumers");
    ok(workflow_find_object(w, "h1") != NONE, "two between two tasks have names");
    ok(workflow_find_object(w, "h3") != NONE, "both of them");
    is_dbl(w->memory[workflow_find_task(w, "0")], 2, 0, "memory weights go to the source");
    is_dbl(w->memory[workflow_find_task(w, "1")], 1.5, 0, "and add up");
    is_dbl(w->work[workflow_find_task(w, "1")], 2, 0, "work");
    is_str(workflow_text(w, w->kind[workflow_find_task(w, "1")]), "type3", "type");
    round_trip(&format_hyperdag, w, NULL, "", "all features");
    workflow_free(w);

    w = read_text(&format_hyperdag, "1 2 2\n0 1\n0 1\n1 1\n0 0\n0 1\n", NULL, &err);
    ok(w && w->npairs == 1, "short rows, no remarks");
    ok(w && workflow_find_object(w, "0->1") != NONE, "one consumer: anonymous");
    workflow_free(w);
    w = read_text(&format_hyperdag, "1 2 3\n0 1 0\n0 1 0\n1 1 0\n0 0\n0 1\n0 1\n", NULL, &err);
    ok(w && w->npairs == 1 && has_warning(w, "1 repeated pins"), "a pin twice");
    round_trip(&format_hyperdag, w, NULL, "", "a pin twice");
    workflow_free(w);
    w = read_text(&format_hyperdag, "1 2 1\n0 5 0\n0 1 0\n1 1 0\n0 0\n", NULL, &err);
    ok(w && w->nobjects == 1 && w->npairs == 0, "an object that nobody reads");
    round_trip(&format_hyperdag, w, NULL, "", "an unread object");
    workflow_free(w);
    w = read_text(&format_hyperdag, "0 0 0\n", NULL, &err);
    ok(w && w->ntasks == 0, "nothing");
    workflow_free(w);
}

static void test_errors(void)
{
    refused(&format_hyperdag, "", "test-file: the file is empty");
    refused(&format_hyperdag, "1 2\n", "test-file:1: the line ends before its number of pins");
    refused(&format_hyperdag, "1 2 1000000000\n0 1 1\n",
            "test-file:1: the header says 1000000003 rows");
    refused(&format_hyperdag, "1 2 9223372036854775808\n", "is not a whole number below 2^63");
    refused(&format_hyperdag, "9000000000 2 2\n",
            "test-file:1: number of hyperedges 9000000000 is out of range");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 1 0\n1 1 0\n0 0\n",
            "test-file:5: the file ends before pin 2 of 2");
    refused(&format_hyperdag, "1 2 2\n1 1 1\n0 1 0\n1 1 0\n0 0\n0 1\n",
            "test-file:2: hyperedge id 1 is out of range");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 1 0\n0 1 0\n0 0\n0 1\n",
            "test-file:4: task '0' is defined twice");
    refused(&format_hyperdag, "2 2 2\n0 1 1\n0 1 1\n0 1 0\n1 1 0\n0 0\n0 1\n",
            "test-file:3: hyperedge 0 is defined twice");
    refused(&format_hyperdag, "1 2 2\n0 -1 1\n0 1 0\n1 1 0\n0 0\n0 1\n",
            "test-file:2: hyperedge 0 has a negative weight");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 -1 0\n1 1 0\n0 0\n0 1\n",
            "test-file:3: task '0': work is -1");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 nan 0\n1 1 0\n0 0\n0 1\n",
            "test-file:3: work 'nan'");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 1 0\n1 1 0\n0 0\n0 2\n",
            "test-file:6: vertex 2 is out of range");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 1 0\n1 1 0\n0 0\n0 0\n",
            "test-file:6: hyperedge 0: vertex 0 is its source");
    refused(&format_hyperdag, "1 2 2\n0 1 1\n0 1 0\n1 1 0\n0 0\n0 1\n0 1\n",
            "test-file:7: rows follow the last of 2 pins");
    refused(&format_hyperdag, "2 2 4\n0 1 1\n1 1 1\n0 1 0\n1 1 0\n0 0\n0 1\n1 1\n1 0\n", "cycle");
    survives_cuts(&format_hyperdag, good);
}

static void test_writing(void)
{
    struct error err = {0};
    struct builder *b = builder_new("x", "test");
    for (int i = 0; i < 3; i++)
        builder_task(b, &"abc"[i], 1, 0);
    uint32_t data = builder_object(b, "data", 4);
    builder_size(b, data, 5, 0);
    builder_produces(b, 0, data, 0);
    builder_consumes(b, 1, data, 0);
    builder_consumes(b, 2, data, 0);
    builder_edge(b, 1, 2, 0);
    builder_memory(b, 0, 4, 0);
    builder_memory(b, 2, 4, 0);
    struct workflow *w = builder_finish(b, &err);
    round_trip(&format_hyperdag, w, NULL,
               "names of 3 tasks\nabsence of work (written as 0) of 3 tasks\nnames of 1 "
               "object\nmemory of 1 task without successor\n",
               "names");
    workflow_free(w);
}

static void visit(const struct index_row *row)
{
    struct workflow *w = index_expect(&format_hyperdag, row, NULL);
    if (w)
        round_trip(&format_hyperdag, w, NULL, "", row->file);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_errors());
    TAP_DO(test_writing());
    index_visit("hdag/", ".hdag", visit);
    return tap_done();
}
