#include "formats/registry.h"
#include "formats/testing.h"

static const char good[] =
    "@HYPERPERIOD 300\n"
    "@COMMUN_QUANT 0 {\n# type    quantity\n 0 5\n 1 6\n}\n"
    "@MY_GRAPH -12 {\n PERIOD 466.667\n TASK a TYPE 1\n TASK b TYPE 2\n TASK c TYPE 1\n"
    " ARC x FROM a TO b TYPE 0\n ARC y FROM a TO c TYPE 1\n"
    " HARD_DEADLINE d0 ON b AT 300\n SOFT_DEADLINE d1 ON c AT 200\n HARD_DEADLINE d2 ON c AT "
    "250\n}\n"
    "@MY_GRAPH 1 \n{\n PERIOD 100\n TASK a TYPE 2\n}\n"
    "@CORE 0 {\n# price area\n 79.05 0.21\n#-----\n# type version valid task_time\n 0 0 1 10\n 1 0 "
    "1 7\n 2 0 1 11\n}\n"
    "@ASIC 1 {\n# price area\n 72.4 0.16\n\n#----\n# type version dynamic_power valid exec_time\n "
    "1 0 3.5 0 9\n 1 1 3.5 1 4\n 2 0 3 0 9\n}\n"
    "@WIRING 0 {\n# max_buffer_size\n 491\n}\n";

static double time_on(const struct workflow *w, const char *task, const char *node)
{
    uint32_t t = workflow_find_task(w, task);
    for (uint32_t i = w->time_off ? w->time_off[t] : 0; w->time_off && i < w->time_off[t + 1];
         i++) {
        if (strcmp(workflow_text(w, w->time[i].node), node) == 0)
            return w->time[i].seconds;
    }
    return -1;
}

static struct platform *read_platform_from(const char *text, struct error *err)
{
    char *copy = mem_copy_bytes(text, strlen(text));
    struct format_source source = {.path = "test-file", .text = copy, .length = strlen(text)};
    error_clear(err);
    struct platform *p = format_tgff.read_platform(&source, err);
    free(copy);
    return p;
}

static void test_features(void)
{
    struct error err = {0};
    struct workflow *w = read_text(&format_tgff, good, NULL, &err);
    if (!ok(w != NULL, "graphs under any label, with tables")) {
        printf("# %s\n", err.text);
        return;
    }
    is_int(w->ntasks, 4, "two graphs, one workflow");
    is_int(w->npairs, 2, "arcs");
    ok(workflow_find_task(w, "MY_GRAPH1.a") != NONE,
       "a name of two graphs gets the graph in front");
    is_dbl(time_on(w, "a", "CORE0"), 7, 0, "a time by type");
    is_dbl(time_on(w, "a", "ASIC1"), 4, 0, "the first valid version");
    is_dbl(time_on(w, "b", "ASIC1"), -1, 0, "valid 0: cannot run there");
    ok(!(w->flags[workflow_find_task(w, "a")] & TASK_HAS_WORK), "no work besides");
    uint32_t object = workflow_find_object(w, "a->c");
    ok(object != NONE && w->size[object] == 6, "an arc's size by type");
    is_dbl(w->deadline[workflow_find_task(w, "b")], 300, 0, "a deadline");
    is_dbl(w->deadline[workflow_find_task(w, "c")], 200, 0, "the tightest of two");
    ok(isinf(w->deadline[workflow_find_task(w, "a")]), "no deadline");
    is_str(workflow_text(w, w->kind[0]), "type1", "the kind is the type");
    ok(has_warning(w, "different periods"), "periods: a remark");
    ok(has_warning(w, "1 soft deadlines"), "soft deadlines: a remark");
    workflow_free(w);

    struct platform *p = read_platform_from(good, &err);
    ok(p && p->nnodes == 2 && platform_find_node(p, "CORE0") == 0 &&
           platform_find_node(p, "ASIC1") == 1,
       "processors are the nodes");
    ok(p && p->speed[0] == 1 && p->bandwidth == 1, "of speed 1, bandwidth 1");
    platform_free(p);

    static const char bare[] =
        "@TASK_GRAPH 0 {\n TASK a TYPE 1\n TASK b TYPE 2\n ARC x FROM a TO b TYPE 3\n}\n";
    w = read_text(&format_tgff, bare, NULL, &err);
    ok(w && has_warning(w, "no table of costs") && has_warning(w, "no table of communication"),
       "graphs without tables: remarks");
    ok(w && (w->flags[0] & TASK_HAS_WORK) && w->npairs == 1 && w->nobjects == 0, "work 0, no data");
    workflow_free(w);
    p = read_platform_from(bare, &err);
    ok(!p, "and no platform");
    has_str(err.text, "no table of a processor", "which is said");
    w = read_text(&format_tgff, "@G 0 {\nTASK a TYPE 7\n}\n@PE 0 {\n# type cycles\n1 5\n}\n", NULL,
                  &err);
    ok(w && has_warning(w, "no table can run the type of 1 task"), "a type in no table");
    workflow_free(w);
}

static void test_errors(void)
{
    refused(&format_tgff, "", "test-file: the file has no task graph");
    refused(&format_tgff, "TASK a\n", "test-file:1: expected a block");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\n",
            "test-file:2: the file ends before the '}' of the block on line 1");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\n@H 0 {\n}\n",
            "test-file:3: a new block begins before the '}'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nTASK a TYPE 1\n}\n",
            "test-file:3: task 'a' is defined twice");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nARC x FROM a TO z TYPE 1\n}\n",
            "test-file:3: arc 'x' names task 'z', which this graph does not have");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nARC x FROM a TYPE 1\n}\n",
            "test-file:3: arc 'x' needs FROM and TO");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nARC x FROM a TO a TYPE 1\n}\n", "test-file:3");
    refused(&format_tgff,
            "@G 0 {\nTASK a TYPE 1\nTASK b TYPE 1\nARC x FROM a TO b TYPE 1\nARC y FROM b TO a "
            "TYPE 1\n}\n",
            "cycle");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE x\n}\n", "test-file:2: type 'x'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 9223372036854775808\n}\n",
            "test-file:2: type '9223372036854775808'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE -1\n}\n", "test-file:2: type -1 is out of range");
    refused(&format_tgff, "@G 0 {\nTASK\n}\n", "test-file:2: the line ends before the name");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nHARD_DEADLINE d ON q AT 4\n}\n",
            "test-file:3: deadline 'd' is on task 'q'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nHARD_DEADLINE d ON a AT nan\n}\n",
            "test-file:3: deadline 'nan'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\nHARD_DEADLINE d ON a AT -4\n}\n",
            "test-file:3: task 'a': deadline is -4");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\n}\n@PE 0 {\n# type cycles\n1 -5\n}\n",
            "test-file:6: -5 is negative");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\n}\n@PE 0 {\n# type version cycles\n1 0\n}\n",
            "test-file:6: the row ends before");
    refused(&format_tgff, "@G 0 {\nFOO a\n}\n", "test-file:2: 'FOO' is unknown");
    refused(&format_tgff, "@G x {\n}\n", "test-file:1: 'x' after '@G'");
    refused(&format_tgff, "@G 0 {\nTASK a TYPE 1\n}\n\xff\n", "test-file:4");
    survives_cuts(&format_tgff, good);
}

static void visit(const struct index_row *row)
{
    struct workflow *w = index_expect(&format_tgff, row, NULL);
    if (!w)
        return;
    size_t deadlines = 0, times = w->time_off ? w->time_off[w->ntasks] : 0;
    for (uint32_t t = 0; w->deadline && t < w->ntasks; t++)
        deadlines += isfinite(w->deadline[t]) != 0;
    if (strstr(row->file, "002_040")) {
        is_int(deadlines, 18, "002_040: deadlines");
        is_int(times, 80, "002_040: 40 tasks on 2 cores");
        is_dbl(time_on(w, "t0_39", "CORE1"), 0.03, 0, "002_040: a time");
    } else if (strstr(row->file, "kbasic")) {
        is_dbl(time_on(w, "t0_0", "ASIC5"), 2646, 0, "kbasic: a time");
        is_dbl(time_on(w, "t0_5", "ASIC4"), -1, 0, "kbasic: not valid there");
        is_dbl(w->size[workflow_find_object(w, "t0_0->t0_1")], 10, 0, "kbasic: a size");
    } else if (strstr(row->file, "kseries")) {
        is_int(deadlines, 23, "kseries: deadlines");
        ok(has_warning(w, "no table of costs") && !has_warning(w, "communication"),
           "kseries: no processors");
    }
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_errors());
    index_visit("tgff/", ".tgff", visit);
    return tap_done();
}
