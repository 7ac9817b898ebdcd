#include "formats/registry.h"
#include "formats/testing.h"
#include <unistd.h>

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

static struct platform *read_platform_text(const char *text, struct error *err)
{
    char *copy = mem_copy_bytes(text, strlen(text));
    struct format_source source = {.path = "test-file", .text = copy, .length = strlen(text)};
    error_clear(err);
    struct platform *p = format_heft_csv.read_platform(&source, err);
    free(copy);
    return p;
}

static void test_texts(void)
{
    struct error err = {0};
    static const char good[] = "T,a,b,c\na,0,5,0\nb,0,0,2.5\nc,0,0,0\n";
    struct workflow *w = read_text(&format_heft_csv, good, NULL, &err);
    ok(w && w->ntasks == 3 && w->npairs == 2, "a graph without times");
    ok(w && has_warning(w, "no table of times"), "with a warning");
    workflow_free(w);
    w = read_text(&format_heft_csv, "T , \"a\", b\r\n a,0 , 1\r\nb,0,0", NULL, &err);
    ok(w && has_edge(w, "a", "b"), "quotes, blanks, carriage returns, no last newline");
    workflow_free(w);
    refused(&format_heft_csv, "", "test-file: the file is empty");
    refused(&format_heft_csv, "T\n", "test-file:1: the header row names no column");
    refused(&format_heft_csv, "T,a,b\na,0,1\n", "test-file:2: 1 row and 2 columns");
    refused(&format_heft_csv, "T,a,b\na,0\nb,0,0\n",
            "test-file:2: 1 numbers; the header row has 2 columns");
    refused(&format_heft_csv, "T,a,b\na,0,1,2\nb,0,0\n",
            "test-file:2: more cells than the header row");
    refused(&format_heft_csv, "T,a,b\na,0,x\nb,0,0\n",
            "test-file:2: 'x' under 'b' is not a finite number");
    refused(&format_heft_csv, "T,a,b\na,0,nan\nb,0,0\n", "test-file:2: 'nan' under 'b'");
    refused(&format_heft_csv, "T,a,b\na,0,-1\nb,0,0\n", "test-file:2: -1 under 'b' is negative");
    refused(&format_heft_csv, "T,a,b\nb,0,1\na,0,0\n",
            "test-file:2: row 'b' stands where column 'a' does");
    refused(&format_heft_csv, "T,a,b\na,0,1\nb,1,0\n", "cycle");
    refused(&format_heft_csv, "T,a\na,1\n", "test-file:2");
    refused(&format_heft_csv, "T,a,a\na,0,0\na,0,0\n", "test-file:3: task 'a' is defined twice");
    survives_cuts(&format_heft_csv, good);

    struct platform *p = read_platform_text("P,x,y,z\nx,0,2,3\ny,2,0,2\nz,3,2,0\n", &err);
    ok(p && p->nnodes == 3 && p->bandwidth == 2 && p->nlinks == 1, "one pair differs");
    ok(p && platform_transfer(p, 0, 2, 6) == 2 && platform_transfer(p, 1, 2, 6) == 3, "transfers");
    platform_free(p);
    p = read_platform_text("P,x\nx,0\n", &err);
    ok(p && p->nnodes == 1, "one node");
    platform_free(p);
    p = read_platform_text("P,x,y\nx,0,1\ny,2,0\n", &err);
    ok(!p, "not the same both ways");
    has_str(err.text, "test-file:2: bandwidth 1 from 'x' to 'y', but 2 back", "says so");
}

static bool write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_write(path, text, strlen(text), NULL);
}

/* The three files find each other. */
static void test_siblings(void)
{
    char folder[] = P_tmpdir "/weft-heft-XXXXXX", path[512];
    if (!ok(mkdtemp(folder) != NULL, "a scratch folder"))
        return;
    write_file(folder, "g_task_connectivity.csv", "T,T0,T1\nT0,0,4\nT1,0,0\n");
    write_file(folder, "g_task_exe_time.csv", "TP,P_0,P_1\nT_0,1,2\nT_1,3,4\n");
    write_file(folder, "g_resource_BW.csv", "P,P_0,P_1\nP_0,0,1\nP_1,1,0\n");
    struct error err = {0};
    snprintf(path, sizeof path, "%s/g_task_connectivity.csv", folder);
    struct text text = {0};
    file_read(path, &text, &err);
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    struct workflow *w = format_heft_csv.read_workflow(&source, &err);
    ok(w && time_on(w, "T1", "P_0") == 3, "times come from the sibling");
    ok(w && !(w->flags[0] & TASK_HAS_WORK), "and there is no work besides");
    workflow_free(w);
    struct platform *p = format_heft_csv.read_platform(&source, &err);
    ok(p && p->nnodes == 2 && platform_find_node(p, "P_1") == 1, "the platform too");
    platform_free(p);
    write_file(folder, "g_task_exe_time.csv", "TP,P_0,Q\nT_0,1,2\nT_1,3,4\n");
    p = format_heft_csv.read_platform(&source, &err);
    ok(!p, "other names in the table of times");
    has_str(err.text, "node 'P_1' is called 'Q' in g_task_exe_time.csv", "are an error");
    error_clear(&err);
    write_file(folder, "g_task_exe_time.csv", "TP,P_0,P_1\nT_0,1,2\n");
    w = format_heft_csv.read_workflow(&source, &err);
    ok(!w, "too few times");
    has_str(err.text, "g_task_exe_time.csv:2: times of 1 task; g_task_connectivity.csv has 2",
            "are an error");
    error_clear(&err);
    text_free(&text);
    snprintf(path, sizeof path, "%s/g_resource_BW.csv", folder);
    w = format_heft_csv.read_workflow(&source, &err);
    ok(!w, "no graph in the table of bandwidths");
    has_str(err.text, "this table holds no graph; read", "and says which has");
    static const char *const names[] = {"g_task_connectivity.csv", "g_task_exe_time.csv",
                                        "g_resource_BW.csv"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void visit(const struct index_row *row)
{
    struct workflow *w = index_expect(&format_heft_csv, row, NULL);
    if (!w)
        return;
    is_int(w->nwarnings, 0, "%s: its times are found", row->file);
    bool peft = strstr(row->file, "peft") != NULL;
    is_dbl(time_on(w, "T8", "P_2"), peft ? 8 : 20, 0, "%s: a time", row->file);
    workflow_free(w);
}

int main(void)
{
    is_int(format_heft_csv.holds("P,P_0\nP_0,0\n", 12), HOLDS_PLATFORM,
           "bandwidths are a platform");
    ok(format_heft_csv.holds("TP,P_0\nT_0,1\n", 13) & HOLDS_WORKFLOW, "times are not");
    TAP_DO(test_texts());
    TAP_DO(test_siblings());
    index_visit("heft-csv/", "_task_connectivity.csv", visit);
    return tap_done();
}
