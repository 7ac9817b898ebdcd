#include "formats/registry.h"
#include "base/mem.h"
#include "formats/index_rows.h"

static const struct format *const saga = &format_saga, *const cluster = &format_hetpart_cluster;

static struct platform *platform_text(const struct format *f, const char *text,
                                      const struct option_value *options, struct error *err)
{
    *err = (struct error){0};
    if (!format_check_options(f, options, err))
        return NULL;
    char *copy = mem_copy_string(text);
    struct format_source source = {
        .path = "test-file", .text = copy, .length = strlen(text), .options = options};
    struct platform *p = f->read_platform(&source, err);
    free(copy);
    return p;
}

static void refuses_platform(const struct format *f, const char *text, const char *part)
{
    struct error err;
    struct platform *p = platform_text(f, text, NULL, &err);
    ok(!p && err.kind == ERROR_INPUT && strstr(err.text, part), "refused: %s", err.text);
    platform_free(p);
}

static struct platform *shared_platform(const struct format *f, const char *file, struct error *err)
{
    char path[4800];
    snprintf(path, sizeof path, "%s/data/%s", tap_shared(), file);
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    struct platform *p = f->read_platform(&source, err);
    text_free(&text);
    return p;
}

static void test_shared(void)
{
    if (!tap_shared()) {
        tap_skip("shared SAGA files", "no shared data");
        return;
    }
    is_int(index_check(saga, "saga-json/", ".json"), 8, "all SAGA files");
    char path[4800];
    snprintf(path, sizeof path, "%s/data/INDEX.md", tap_shared());
    FILE *table = fopen(path, "r");
    struct index_row row;
    while (table && index_next(table, &row)) {
        struct error err = {0};
        if (strncmp(row.file, "saga-json/", 10) == 0) {
            struct platform *p = shared_platform(saga, row.file, &err);
            is_int(p ? (int)p->nnodes : -1, atoi(row.notes), "%s: nodes %s", row.file, err.text);
            struct workflow *w = index_read(saga, row.file, NULL, &err);
            struct strbuf out = {0}, dropped = {0};
            saga->write_workflow(w, &out, &dropped, &err);
            is_str(strbuf_text(&dropped), "", "%s: nothing dropped", row.file);
            struct workflow *again = read_text(saga, strbuf_text(&out), NULL, &err);
            ok(again && workflow_equal(w, again, &err), "%s: survives writing (%s)", row.file,
               err.text);
            strbuf_clear(&out);
            saga->write_platform(p, &out, &dropped, &err);
            struct platform *q = platform_text(saga, strbuf_text(&out), NULL, &err);
            ok(q && platform_equal(p, q, &err), "%s: its network too (%s)", row.file, err.text);
            strbuf_free(&out);
            strbuf_free(&dropped);
            platform_free(p);
            platform_free(q);
            workflow_free(w);
            workflow_free(again);
        } else if (strstr(row.format, "HetPart cluster")) {
            struct platform *p = shared_platform(cluster, row.file, &err);
            is_int(p ? (int)p->nnodes : -1, atoi(row.notes), "%s: nodes %s", row.file, err.text);
            platform_free(p);
        }
    }
    if (table)
        fclose(table);
    struct error err = {0};
    struct platform *p = shared_platform(cluster, "platform/cluster_01.json", &err);
    double bandwidth, latency;
    platform_link(p, 2, 3, &bandwidth, &latency);
    is_dbl(bandwidth, 10, 0, "bandwidth inside a group");
    platform_link(p, 4, 6, &bandwidth, &latency);
    is_dbl(bandwidth, 1, 0, "and to another");
    is_dbl(p->speed[2], 5, 0, "speed");
    is_str(platform_node_name(p, 2), "group2-1", "a node's name");
    platform_free(p);
}

static void test_saga(void)
{
    struct error err;
    const char *text = "{\"name\":\"x\",\"task_graph\":{\"tasks\":[{\"name\":\"a\",\"cost\":2},{"
                       "\"name\":\"b\",\"cost\":3}],\n"
                       "\"dependencies\":[{\"source\":\"a\",\"target\":\"b\",\"size\":0}]},"
                       "\"network\":{\"nodes\":[{\"name\":\"p\",\"speed\":2},{\"name\":\"q\"},{"
                       "\"name\":\"r\"}],\"edges\":["
                       "{\"source\":\"p\",\"target\":\"p\",\"speed\":9},{\"source\":\"q\","
                       "\"target\":\"p\",\"speed\":4},"
                       "{\"source\":\"p\",\"target\":\"q\",\"speed\":4},{\"source\":\"q\","
                       "\"target\":\"r\",\"speed\":5}]}}";
    struct workflow *w = read_text(saga, text, NULL, &err);
    ok(w && w->npairs == 1 && w->nobjects == 0, "a dependency of size 0 is ordering %s", err.text);
    workflow_free(w);
    struct platform *p = platform_text(saga, text, NULL, &err);
    if (ok(p, "a network %s", err.text)) {
        double bandwidth, latency;
        platform_link(p, 0, 1, &bandwidth, &latency);
        is_dbl(bandwidth, 4, 0, "a link stated both ways");
        platform_link(p, 0, 2, &bandwidth, &latency);
        is_dbl(bandwidth, 0, 0, "a pair without a link cannot talk");
        is_dbl(p->speed[0], 2, 0, "speed");
    }
    platform_free(p);
#define GRAPH(tasks, edges)                                                                        \
    "{\"task_graph\":{\"tasks\":[" tasks "],\n\"dependencies\":[" edges "]}}"
    refuses(saga, "{}", "task_graph", "no graph");
    refuses(saga, "7", "expected an object", "a number");
    refuses(saga, GRAPH("{\"cost\":1}", ""), "\"name\" is missing", "a task without a name");
    refuses(saga, GRAPH("{\"name\":\"a\",\"cost\":-1}", ""), "\"cost\" is -1", "a negative cost");
    refuses(saga, GRAPH("{\"name\":\"a\"},{\"name\":\"a\"}", ""), "defined twice", "a task twice");
    refuses(saga, GRAPH("{\"name\":\"a\"}", "{\"source\":\"a\",\"target\":\"z\"}"),
            "test-file:2: a dependency's target is 'z'", "a dangling target");
    refuses(saga, GRAPH("{\"name\":\"a\"}", "{\"source\":\"a\",\"target\":\"a\"}"), "itself",
            "a self loop");
    refuses(saga, GRAPH("{\"name\":\"a\"}", "{\"source\":\"a\",\"target\":\"a\",\"size\":\"1\"}"),
            "is a string; expected a number", "a size in quotes");
#define NETWORK(nodes, edges) "{\"network\":{\"nodes\":[" nodes "],\"edges\":[" edges "]}}"
    refuses_platform(saga, "{}", "\"network\" is missing");
    refuses_platform(saga, NETWORK("{\"name\":\"p\",\"speed\":-1}", ""), "-1");
    refuses_platform(saga,
                     NETWORK("{\"name\":\"p\"}", "{\"source\":\"p\",\"target\":\"z\",\"speed\":1}"),
                     "'z'");
    refuses_platform(saga,
                     NETWORK("{\"name\":\"p\"},{\"name\":\"q\"}",
                             "{\"source\":\"p\",\"target\":\"q\",\"speed\":1},{\"source\":\"q\","
                             "\"target\":\"p\",\"speed\":2}"),
                     "another speed");
    refuses_platform(saga, NETWORK("{\"name\":\"p\"},{\"name\":\"p\"}", ""), "twice");
}

static void test_cluster(void)
{
    struct error err;
    struct option_value options[] = {{"memory-unit", "2K"}, {NULL, NULL}};
    struct platform *p = platform_text(
        cluster, "{\"groups\":[{\"number\":2,\"memory\":3,\"speed\":0.5}]}", options, &err);
    if (ok(p, "a group with a memory unit %s", err.text)) {
        is_int(p->nnodes, 2, "nodes");
        is_dbl(p->memory[1], 6000, 0, "memory times the unit");
        is_str(platform_node_name(p, 1), "group1-2", "name");
    }
    platform_free(p);
    options[0].text = "-3";
    p = platform_text(cluster, "{\"groups\":[]}", options, &err);
    ok(!p && strstr(err.text, "memory-unit"), "a bad unit: %s", err.text);
    refuses_platform(cluster, "{\"groups\":[{\"number\":1e18,\"memory\":3,\"speed\":1}]}",
                     "at most 1000000");
    refuses_platform(cluster, "{\"groups\":[{\"number\":1.5}]}", "whole number");
    refuses_platform(cluster, "{\"groups\":[{\"memory\":1}]}", "\"number\" is missing");
    refuses_platform(cluster, "{\"groups\":{}}", "expected an array");
    refuses_platform(cluster, "{\"groups\":[{\"number\":1,\"speed\":-1}]}", "-1");
    const char *text = "{\"groups\":[{\"number\":1}]}";
    is_int(cluster->sniff("x", text, strlen(text)), 3, "sniffed");
    is_int(saga->sniff("x", text, strlen(text)), 0, "and no SAGA file");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_shared),
        TAP_CASE(test_saga),
        TAP_CASE(test_cluster),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
