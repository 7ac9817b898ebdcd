/* Ports of single nodes in a native platform file, read, written and read again. */
#include "formats/registry.h"
#include "formats/testing.h"
#include "tap.h"

static struct platform *read_nodes(const char *text, struct error *err)
{
    char *copy = strdup(text);
    struct format_source source = {.path = "<test>", .text = copy, .length = strlen(copy)};
    struct platform *p = format_native.read_platform(&source, err);
    free(copy);
    return p;
}

int main(void)
{
    static const char text[] = "weft: 1\n"
                               "nodes:\n"
                               "  - {name: hub, speed: 1, ports: 8}\n"
                               "  - {name: w, count: 3}\n"
                               "  - {name: v, count: 2, ports: 1}\n"
                               "  - {name: free, ports: 0}\n"
                               "network: {bandwidth: 10, ports: 2}\n";
    static const uint32_t want[] = {8, 2, 2, 2, 1, 1, 0};
    struct error err = {0};
    struct platform *p = read_nodes(text, &err);
    if (ok(p, "ports of nodes are read %s", err.text)) {
        for (uint32_t i = 0; i < 7; i++)
            is_int(platform_ports(p, i), want[i], "%s", platform_node_name(p, i));
        struct strbuf out = {0}, twice = {0};
        ok(format_native.write_platform(p, &out, NULL, &err), "written");
        struct platform *again = read_nodes(out.at, &err);
        if (ok(again, "read again %s", err.text)) {
            ok(platform_equal(p, again, &err), "the same platform %s", err.text);
            format_native.write_platform(again, &twice, NULL, &err);
            is_str(twice.at, out.at, "and the same text");
        }
        platform_free(again);
        strbuf_free(&out);
        strbuf_free(&twice);
    }
    platform_free(p);

    p = read_nodes("weft: 1\nnodes:\n  - {name: a}\n  - {name: b, ports: 2.5}\n", &err);
    ok(!p && err.kind == ERROR_INPUT, "half a port is refused");
    has_str(err.text, "<test>:4: node 'b': ports is 2.5", "with its place");
    error_clear(&err);
    p = read_nodes("weft: 1\nnodes:\n  - {name: a, ports: many}\n", &err);
    ok(!p && err.kind == ERROR_INPUT, "so are words");
    return tap_done();
}
