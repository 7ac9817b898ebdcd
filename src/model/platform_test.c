/* Ports of single nodes: defaults, limits, equality. (Reading and writing: formats.) */
#include "model/platform.h"
#include "tap.h"

static struct platform_builder *two_nodes(double network)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_node(b, "a", 1, 0);
    platform_builder_node(b, "b", 1, 0);
    platform_builder_network(b, 1, 0, network, 0);
    return b;
}

static void defaults(void)
{
    struct error err = {0};
    struct platform_builder *b = two_nodes(4);
    platform_builder_ports(b, 0, NAN, 0);
    struct platform *p = platform_builder_finish(b, &err);
    ok(!p->node_ports && platform_ports(p, 0) == 4 && platform_ports(p, 1) == 4,
       "a node is as the network says");
    platform_free(p);

    b = two_nodes(NAN);
    platform_builder_ports(b, 0, 2, 0);
    platform_builder_node(b, "c", 1, 0);
    platform_builder_network(b, NAN, NAN, 3, 0); /* the network may come last */
    p = platform_builder_finish(b, &err);
    ok(platform_ports(p, 0) == 2 && platform_ports(p, 1) == 3 && platform_ports(p, 2) == 3,
       "one with ports of its own, the rest as the network");
    ok(platform_limits_ports(p), "there is a limit");
    platform_free(p);

    b = two_nodes(NAN);
    platform_builder_ports(b, 0, 5, 0);
    platform_builder_ports(b, 1, 5, 0);
    p = platform_builder_finish(b, &err);
    ok(!p->node_ports && p->ports == 5, "all alike: the same as a network that says so");
    struct platform *q = platform_builder_finish(two_nodes(5), &err);
    ok(platform_equal(p, q, &err), "and equal to it");
    platform_free(q);
    b = two_nodes(5);
    platform_builder_ports(b, 1, 0, 0);
    q = platform_builder_finish(b, &err);
    ok(platform_ports(q, 1) == 0 && platform_ports(q, 0) == 5, "0: no limit, here only");
    ok(!platform_equal(p, q, &err), "which is another platform");
    platform_free(p);
    platform_free(q);
}

static void mistakes(void)
{
    static const double bad[] = {-1, 1.5, 1e10, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct platform_builder *b = two_nodes(NAN);
        struct error err = {0};
        platform_builder_ports(b, 1, bad[i], 7);
        ok(!platform_builder_finish(b, &err) && err.kind == ERROR_INPUT, "ports %g", bad[i]);
        has_str(err.text, "node 'b': ports is", "names the node");
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(defaults),
        TAP_CASE(mistakes),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
