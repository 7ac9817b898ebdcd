#include "formats/registry.h"
#include "formats/testing.h"

static const char good[] =
    "// remark\nNODE_COUNT 6\nNODE 0 1,2 ROOT 0.0 0.0\nNODE 1 3 COMPUTATION 10 0.1\n"
    "NODE 3 4 TRANSFER 7 0.0\nNODE 2 4 COMPUTATION 20 0.2\nNODE 4 5 COMPUTATION 30.5 0.3\nNODE 5 - "
    "END 0.0 0.0\n";

static void test_features(void)
{
    struct error err = {0};
    struct workflow *w = read_text(&format_daggen, good, NULL, &err);
    ok(w != NULL, "a file reads");
    is_int(w->ntasks, 3, "computations are tasks");
    is_int(w->npairs, 2, "edges");
    uint32_t object = workflow_find_object(w, "1->4");
    ok(object != NONE && w->size[object] == 7, "a transfer is an edge with data");
    ok(workflow_find_object(w, "2->4") == NONE, "a child that is a computation is ordering");
    is_dbl(w->work[workflow_find_task(w, "4")], 30.5, 0, "work");
    workflow_free(w);
    w = read_text(&format_daggen, "NODE 0 1 TRANSFER 4 0\nNODE 1 - COMPUTATION 4\n", NULL, &err);
    ok(w && w->ntasks == 1 && w->nwarnings == 1,
       "a transfer from nowhere is left out with a warning");
    workflow_free(w);
}

static void test_errors(void)
{
    refused(&format_daggen, "// x\n", "test-file:1: no NODE line");
    refused(&format_daggen, "NODE_COUNT 2\nNODE 0 - END 0 0\n",
            "test-file:2: the file has 1 NODE lines; NODE_COUNT says 2");
    refused(&format_daggen, "NODE_COUNT 99999999999999999999\n", "test-file:1: node count");
    refused(&format_daggen, "NODE_COUNT 1000000000000\nNODE 0 - END 0 0\n",
            "NODE_COUNT says 1000000000000");
    refused(&format_daggen, "NODE 0 1 COMPUTATION 1 0\n",
            "test-file:1: node 0: its child 1 is not in the file");
    refused(&format_daggen, "NODE 0 x COMPUTATION 1 0\n",
            "test-file:1: node 0: its children are not a list of ids");
    refused(&format_daggen, "NODE 0 - THING 1 0\n", "test-file:1: node type 'THING' is unknown");
    refused(&format_daggen, "NODE 0 - COMPUTATION -1 0\n",
            "test-file:1: node 0: cost -1 is negative");
    refused(&format_daggen, "NODE 0 - COMPUTATION nan 0\n", "test-file:1: cost 'nan'");
    refused(&format_daggen, "NODE 0 - COMPUTATION\n", "test-file:1: the line ends before its cost");
    refused(&format_daggen, "NODE 0 - END 1 0\nNODE 0 - END 1 0\n",
            "test-file:2: node 0 is defined twice");
    refused(&format_daggen, "NODE 5 - END 1 0\n", "test-file:1: node id 5 is out of range");
    refused(&format_daggen, "EDGE 1 2\n", "test-file:1: 'EDGE' is unknown");
    refused(&format_daggen, "NODE 0 1 COMPUTATION 1 0\nNODE 1 0 COMPUTATION 1 0\n", "cycle");
    refused(&format_daggen, "NODE 0 0 COMPUTATION 1 0\n", "test-file:1");
    refused(&format_daggen, "NODE 0 1 TRANSFER 1 0\nNODE 1 - TRANSFER 1 0\n",
            "test-file:1: TRANSFER node 0 has the TRANSFER node 1 as a child");
    refused(&format_daggen,
            "NODE 0 2 COMPUTATION 1 0\nNODE 1 2 COMPUTATION 1 0\nNODE 2 3 TRANSFER 1 0\nNODE 3 - "
            "COMPUTATION 1 0\n",
            "test-file:2: TRANSFER node 2 has two parents, 0 and 1");
    survives_cuts(&format_daggen, good);
}

static void visit(const struct index_row *row)
{
    workflow_free(index_expect(&format_daggen, row, NULL));
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_errors());
    index_visit("daggen/", ".daggen", visit);
    return tap_done();
}
