/* The table of formats as a whole: names, detection, empty and foreign files, writing whole or not
 * at all. */
#include "base/mem.h"
#include "formats/index_rows.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[4096];

static char *path_of(const char *name)
{
    static char path[8400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *put(const char *name, const char *text)
{
    char *path = path_of(name);
    struct error err = {0};
    if (!file_write(path, text, strlen(text), &err))
        ok(false, "cannot write: %s", err.text);
    return path;
}

static void test_registry(void)
{
    for (size_t i = 0; format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        ok(f->name && f->summary && f->sniff && format_find(f->name) == f,
           "%s is found by its name", f->name);
        ok(f->read_workflow || f->read_platform, "%s can be read", f->name);
        static const char *const nothing[] = {"", "\n", " ", "{", "\xFF\xFE", "\x80\x80\x80"};
        for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++) {
            char *exact = mem_copy_bytes(nothing[k], strlen(nothing[k]));
            if (f->sniff("x", exact, strlen(exact)) > 1)
                ok(false, "%s is sure of a file that says nothing", f->name);
            free(exact);
        }
    }
    ok(!format_find("no-such-format"), "an unknown name");
    struct error err = {0};
    ok(format_for_path("a/b.json", &err) == format_find("wfformat"),
       ".json is written as WfFormat");
    ok(format_for_path("b.saga.json", &err) == format_find("saga"), "the longer suffix counts");
    ok(!format_for_path("b.unknown", &err), "an unknown suffix");
    has_str(err.text, ".dot", "names those that are known");
}

/* The format that detection must find for a file of the shared data; NULL: any or none. */
static const char *expected_format(const struct index_row *row)
{
    static const struct {
        const char *prefix, *suffix, *format;
    } rules[] = {{"wfformat", ".json", "wfformat"},
                 {"saga-json/", "", "saga"},
                 {"platform/", ".json", "hetpart-cluster"},
                 {"dax/", "", "dax"},
                 {"pegasus-yaml/", "", "pegasus"},
                 {"cws/", "", "cws"},
                 {"dot/", "", "dot"},
                 {"optimal/", "", "dot"},
                 {"daggen/", ".dot", "dot"},
                 {"daggen/", ".daggen", "daggen"},
                 {"stg/", "", "stg"},
                 {"tgff/", "", "tgff"},
                 {"makeflow/", "", "makeflow"},
                 {"hdag/", "", "hyperdag"},
                 {"trees/", "", "tree"},
                 {"dagman/", "", "dagman"},
                 {"mtx/", "", "mtx"},
                 {"heft-csv/", "_connectivity.csv", "heft-csv"}};
    size_t n = strlen(row->file);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t tail = strlen(rules[i].suffix);
        if (strncmp(row->file, rules[i].prefix, strlen(rules[i].prefix)) == 0 && n >= tail &&
            strcmp(row->file + n - tail, rules[i].suffix) == 0)
            return rules[i].format;
    }
    return NULL;
}

static void test_detection(void)
{
    if (!tap_shared()) {
        tap_skip("detection of the shared files", "no shared data");
        return;
    }
    char path[4800];
    snprintf(path, sizeof path, "%s/data/INDEX.md", tap_shared());
    FILE *table = fopen(path, "r");
    struct index_row row;
    int files = 0, wrong = 0;
    while (table && index_next(table, &row)) {
        const char *want = expected_format(&row);
        struct error err = {0};
        struct text text;
        snprintf(path, sizeof path, "%s/data/%s", tap_shared(), row.file);
        if (!want || !file_read(path, &text, &err))
            continue;
        const struct format *f = format_detect(path, text.at, text.n, &err);
        files++;
        if (!f || strcmp(f->name, want) != 0) {
            printf("# %s: %s, expected %s\n", row.file, f ? f->name : err.text, want);
            wrong++;
        }
        text_free(&text);
    }
    if (table)
        fclose(table);
    ok(files > 150, "%d shared files", files);
    is_int(wrong, 0, "each recognised as what it is");
}

static void refused_file(const char *path, const char *part)
{
    struct error err = {0};
    struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
    ok(!w && err.kind == ERROR_INPUT && strstr(err.text, part), "refused: %s", err.text);
    workflow_free(w);
}

static void test_files(void)
{
    refused_file(put("empty.json", ""), "the file is empty");
    refused_file(put("blank.dot", " \n\n"), "the file is empty");
    refused_file(put("noise.bin", "\x01\x02\x03\x04"), "known are: native, wfformat");
    refused_file(put("wide.json", "\xFF\xFE{"), "UTF-16");
    refused_file(put("plan.json", "{\"schema\": \"weft-plan/1\", \"kind\": \"static\"}"),
                 "this is a plan");
    refused_file(put("groups.json", "{\"groups\":[{\"number\":2}]}"), "holds no workflow");
    refused_file(folder, "is a directory");
    refused_file(path_of("not-there.json"), "cannot open");

    const char *saga =
        put("both.json",
            "{\"task_graph\":{\"tasks\":[{\"name\":\"a\",\"cost\":1}],\"dependencies\":[]},"
            "\"network\":{\"nodes\":[{\"name\":\"n\",\"speed\":1}],\"edges\":[]}}");
    struct error err = {0};
    struct workflow *w = format_read_workflow(saga, NULL, NULL, &err);
    ok(w && w->ntasks == 1, "a SAGA file without a hint %s", err.text);
    struct platform *p = format_read_platform(saga, NULL, NULL, &err);
    ok(p && p->nnodes == 1, "which is read %s", err.text);
    struct platform *none =
        format_read_platform(put("graph.dot", "digraph { a -> b }"), NULL, NULL, &err);
    ok(!none && err.text[0], "and says so: %s", err.text);

    char *target = mem_copy_string(path_of("out.json"));
    error_clear(&err);
    ok(format_write_workflow(target, NULL, w, NULL, &err), "written by its suffix %s", err.text);
    struct workflow *again = format_read_workflow(target, NULL, NULL, &err);
    ok(again && workflow_equal(w, again, &err), "and read again %s", err.text);
    error_clear(&err);
    ok(!format_write_platform(target, NULL, p, NULL, &err), "no platform as WfFormat: %s",
       err.text);
    struct workflow *still = format_read_workflow(target, NULL, NULL, &err);
    ok(still, "the file is still there");
    error_clear(&err);
    ok(!format_write_workflow(path_of("no/such/folder.json"), NULL, w, NULL, &err), "no folder: %s",
       err.text);
    workflow_free(still);
    workflow_free(again);
    workflow_free(w);
    platform_free(p);
    free(target);
}

/* A named pipe can be read once: what it is and what it holds must come from one reading. */
static void test_pipe(void)
{
    static const char text[] =
        "{\"task_graph\":{\"tasks\":[{\"name\":\"a\\n\",\"cost\":1}],\"dependencies\":[]},"
        "\"network\":{\"nodes\":[{\"name\":\"n\\\"\",\"speed\":1}],\"edges\":[]}}";
    const char *path = path_of("pipe");
    struct error err = {0};
    if (!ok(mkfifo(path, 0600) == 0, "a named pipe"))
        return;
    if (fork() == 0)
        _exit(!file_write(path, text, strlen(text), NULL));
    struct format_file *f = format_file_open(path, NULL, NULL, &err);
    struct workflow *w = NULL;
    struct platform *p = NULL;
    ok(f && !format_file_is_plan(f) && !format_file_is_platform(f), "neither plan nor platform");
    ok(f && format_file_both(f, &w, &p, &err), "both are read %s", err.text);
    ok(w && w->ntasks == 1, "the workflow");
    ok(p && p->nnodes == 1, "the platform");
    is_str(p ? platform_node_name(p, 0) : "", "n\"", "from the text as it was");
    format_file_close(f);
    workflow_free(w);
    platform_free(p);
    wait(NULL);
    unlink(path);
}

static void test_both(void)
{
    static const struct {
        const char *text, *error;
        bool platform;
    } cases[] = {
        {"{\"task_graph\":{\"tasks\":[],\"dependencies\":[]}}", NULL, false},
        {"{\"task_graph\":{\"tasks\":[],\"dependencies\":[]},"
         "\"network\":{\"nodes\":[{\"name\":\"n\",\"speed\":-1}],\"edges\":[]}}",
         "speed", false},
        {"digraph { a -> b }", NULL, false},
        {"{\"name\":\"x\",\"schemaVersion\":\"1.4\",\"workflow\":{\"tasks\":[],\"machines\":[ ]}}",
         NULL, false},
        {"{\"name\":\"x\",\"schemaVersion\":\"1.4\",\"workflow\":{\"tasks\":[],"
         "\"machines\":[{\"nodeName\":\"m\"}]}}",
         NULL, true},
        {"", "empty", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct workflow *w = NULL;
        struct platform *p = NULL;
        struct format_file *f = format_file_open(put("both", cases[i].text), NULL, NULL, &err);
        bool good = f && format_file_both(f, &w, &p, &err);
        ok(good == !cases[i].error, "%.40s: %s", cases[i].text, err.text);
        ok((p != NULL) == cases[i].platform, "with%s a platform", p ? "" : "out");
        if (cases[i].error)
            has_str(err.text, cases[i].error, "never passed over");
        format_file_close(f);
        workflow_free(w);
        platform_free(p);
    }
    unlink(path_of("both"));
}

/* Even a workflow of no tasks is known again in every format that writes it. */
static void test_empty_workflow(void)
{
    struct error err = {0};
    struct workflow *w = builder_finish(builder_new("empty", "none"), &err);
    if (!ok(w, "no tasks %s", err.text))
        return;
    for (size_t i = 0; format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        struct strbuf out = {0}, dropped = {0};
        error_clear(&err);
        if (f->write_workflow && f->write_workflow(w, &out, &dropped, &err)) {
            char path[32];
            snprintf(path, sizeof path, "f%.*s", (int)strcspn(f->suffixes, " "), f->suffixes);
            const struct format *found = format_detect(path, strbuf_text(&out), out.n, &err);
            ok(found == f, "written as %s, found as %s", f->name, found ? found->name : err.text);
        }
        strbuf_free(&out);
        strbuf_free(&dropped);
    }
    workflow_free(w);
}

static void test_source(void)
{
    struct option_value options[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}, {NULL, NULL}};
    struct format_source source = {.path = "f", .text = NULL, .length = 0, .options = options};
    is_str(format_option(&source, "a"), "3", "the last option counts");
    ok(!format_option(&source, "c"), "an option that is not given");
    source.options = NULL;
    ok(!format_option(&source, "a"), "no options");
    const char *text = "one\ntwo\n\nfour";
    is_int(format_line(text, text), 1, "the first line");
    is_int(format_line(text, text + 3), 1, "its end");
    is_int(format_line(text, text + 4), 2, "the second");
    is_int(format_line(text, text + 12), 4, "the last");
    static const struct {
        const char *text;
        size_t length;
        const char *part;
    } cases[] = {{"plain\ntext", 10, NULL},
                 {"Gr\xC3\xBC\xC3\x9F"
                  "e",
                  7, NULL},
                 {"", 0, NULL},
                 {"a\nb\0c", 5, "f:2: a NUL"},
                 {"a\n\nb\xFF", 5, "f:3: byte 0xFF"},
                 {"\xC0\xAF", 2, "0xC0"},
                 {"\xE2\x82", 2, "0xE2"},
                 {"\xED\xA0\x80", 3, "0xED"},
                 {"\xFE\xFF\0a", 4, "UTF-16"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        char *copy = mem_copy_bytes(cases[i].text, cases[i].length);
        struct format_source s = {.path = "f", .text = copy, .length = cases[i].length};
        bool good = format_require_utf8(&s, &err);
        ok(cases[i].part ? !good && strstr(err.text, cases[i].part) : good, "UTF-8 case %zu: %s", i,
           err.text);
        free(copy);
    }
}

static void remove_folder(void)
{
    static const char *const names[] = {"empty.json", "blank.dot", "noise.bin",
                                        "wide.json",  "plan.json", "groups.json",
                                        "both.json",  "graph.dot", "out.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    is_int(rmdir(folder), 0, "nothing else was left behind");
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/weft-format-test-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return 1;
    TAP_DO(test_registry());
    TAP_DO(test_detection());
    TAP_DO(test_files());
    TAP_DO(test_pipe());
    TAP_DO(test_both());
    TAP_DO(test_empty_workflow());
    TAP_DO(test_source());
    remove_folder();
    return tap_done();
}
