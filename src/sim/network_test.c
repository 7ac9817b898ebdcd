#include "sim/network.h"
#include "base/rng.h"
#include "tap.h"

static struct platform *star(uint32_t nodes, double bandwidth, double latency)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, bandwidth, latency, NAN, 0);
    for (uint32_t i = 0; i < nodes; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "n%u", i);
        platform_builder_node(b, name, (size_t)len, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

/* Let everything that was asked for at time 0 arrive; arrival[tag] is when. */
static void drain(struct network *n, double *start, double *arrival)
{
    double now = 0;
    for (;;) {
        double next = network_next(n);
        if (n->unsettled && next > now) {
            network_settle(n, now);
            continue;
        }
        if (next == INFINITY)
            return;
        now = next;
        struct network_message m;
        if (network_step(n, now, &m)) {
            arrival[m.tag] = m.finish;
            if (start)
                start[m.tag] = m.start;
        }
    }
}

static void names(void)
{
    struct platform *p = star(2, 1, 0);
    struct error err = {0};
    ok(!network_new("fiar", p, 0, &err) && err.kind == ERROR_INPUT, "an unknown model is refused");
    has_str(err.text, "did you mean 'fair'", "with a suggestion");
    for (int i = 0; network_names[i]; i++) {
        struct network *n = network_new(network_names[i], p, 0, &err);
        ok(n && network_summary(network_names[i]), "there is a model '%s'", network_names[i]);
        network_free(n);
    }
    platform_free(p);
}

static void free_model(void)
{
    struct platform *p = star(3, 10, 0.5);
    struct error err = {0};
    struct network *n = network_new("free", p, 0, &err);
    double at[3];
    network_send(n, 0, 0, 1, 100, 0, 0);
    network_send(n, 0, 0, 1, 100, 0, 1);
    network_send(n, 0, 2, 1, 0, 0, 2);
    drain(n, NULL, at);
    is_dbl(at[0], 10.5, 1e-12, "free: latency + size / bandwidth");
    is_dbl(at[1], 10.5, 1e-12, "free: a second message does not slow the first");
    is_dbl(at[2], 0.5, 1e-12, "free: an empty message takes the latency");
    is_dbl(n->bytes, 200, 0, "bytes are counted");
    network_free(n);
    platform_free(p);
}

/* Figure 2 of the MOS report: four processors, one port, all transfers ready, served by bottom
 * level. e12 8, e13 5, e24 9, e34 9: [0,8] [8,13] [8,17] [17,26]. */
static void kport_figure_2(void)
{
    struct platform *p = star(4, 1, 0);
    struct error err = {0};
    struct network *n = network_new("kport", p, 1, &err);
    double start[4], at[4];
    network_send(n, 0, 2, 3, 9, 3, 3); /* asked for in the wrong order: priority decides */
    network_send(n, 0, 1, 3, 9, 2, 2);
    network_send(n, 0, 0, 2, 5, 1, 1);
    network_send(n, 0, 0, 1, 8, 0, 0);
    drain(n, start, at);
    is_dbl(start[0], 0, 0, "1-port, Fig 2: e1,2 starts at 0");
    is_dbl(at[0], 8, 0, "e1,2 ends at 8");
    /* e3,4 may start at 0: its ends are idle. Greedy service does not keep them idle for e2,4. */
    is_dbl(start[1], 9, 0, "e1,3 waits for the port of P1 until 8, for that of P3 until 9");
    is_dbl(start[3], 0, 0,
           "a message whose ends are idle does not wait for better ones that cannot start");
    is_dbl(at[3], 9, 0, "e3,4 ends at 9");
    is_dbl(start[2], 9, 0, "e2,4 waits for the port of P4");
    network_free(n);

    /* with e3,4 asked for when e1,3 is there, the schedule of the figure */
    n = network_new("kport", p, 1, &err);
    network_send(n, 0, 0, 1, 8, 0, 0);
    network_send(n, 0, 0, 2, 5, 1, 1);
    network_send(n, 0, 1, 3, 9, 2, 2);
    drain(n, start, at);
    is_dbl(at[1], 13, 0, "e1,3 follows e1,2 on P1's port: 13");
    is_dbl(at[2], 17, 0, "e2,4 follows e1,2 on P2's port: 17");
    network_free(n);
    platform_free(p);
}

static void kport_pairs(void)
{
    struct platform *p = star(4, 1, 0);
    struct error err = {0};
    struct network *n = network_new("kport", p, 2, &err);
    double start[5], at[5];
    network_send(n, 0, 0, 1, 4, 0, 0);
    network_send(n, 0, 1, 0, 4, 0, 1); /* the same pair, the other way */
    network_send(n, 0, 0, 2, 4, 0, 2);
    network_send(n, 0, 3, 0, 4, 0, 3);
    drain(n, start, at);
    is_dbl(start[1], 4, 0,
           "2-port: a pair carries one message at a time, in both directions together");
    is_dbl(start[2], 0, 0, "2-port: two partners at once");
    is_dbl(start[3], 4, 0, "2-port: a third partner waits, sending and receiving alike");
    network_free(n);
    n = network_new("kport", p, 0, &err);
    network_send(n, 0, 0, 1, 4, 0, 0);
    network_send(n, 0, 0, 2, 4, 0, 1);
    network_send(n, 0, 0, 3, 4, 0, 2);
    network_send(n, 0, 0, 3, 4, 0, 3);
    drain(n, start, at);
    ok(start[0] == 0 && start[1] == 0 && start[2] == 0 && start[3] == 4,
       "no limit on partners still serialises a pair");
    network_free(n);
    platform_free(p);
}

static void kport_own_ports(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    struct error err = {0};
    double start[4], at[4];
    platform_builder_network(b, 1, 0, 1, 0);
    for (int i = 0; i < 4; i++)
        platform_builder_node(b, &"abcd"[i], 1, 0);
    platform_builder_ports(b, 0, 2, 0);
    struct platform *p = platform_builder_finish(b, &err);
    for (uint32_t ports = 0; ports < 2; ports++) {
        struct network *n = network_new("kport", p, ports, &err);
        network_send(n, 0, 0, 1, 4, 0, 0);
        network_send(n, 0, 0, 2, 4, 0, 1);
        network_send(n, 0, 0, 3, 4, 0, 2);
        network_send(n, 0, 1, 2, 4, 0, 3);
        drain(n, start, at);
        if (ports)
            ok(start[0] == 0 && start[1] == 4 && start[2] == 8 && start[3] == 8,
               "asked for one port, every node has one");
        else
            ok(start[0] == 0 && start[1] == 0 && start[2] == 4 && start[3] == 4,
               "two ports at one node, one at the others");
        network_free(n);
    }
    platform_free(p);
}

/* Replay the rules of kport on random traffic with a scan over all waiting messages at every
 * instant. */
static void kport_against_scan(void)
{
    enum { MESSAGES = 300, NODES = 6 };
    struct rng r;
    rng_seed(&r, 3);
    bool same = true;
    for (int round = 0; round < 20; round++) {
        struct platform *p = star(NODES, 1, 0);
        uint32_t k = 1 + (uint32_t)rng_below(&r, 3);
        struct error err = {0};
        struct network *n = network_new("kport", p, k, &err);
        uint32_t from[MESSAGES], to[MESSAGES];
        double bytes[MESSAGES], priority[MESSAGES], at[MESSAGES], start[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            from[i] = (uint32_t)rng_below(&r, NODES);
            to[i] = (from[i] + 1 + (uint32_t)rng_below(&r, NODES - 1)) % NODES;
            bytes[i] = (double)(1 + rng_below(&r, 9)); /* many ties */
            priority[i] = (double)rng_below(&r, 10);
            network_send(n, 0, from[i], to[i], bytes[i], priority[i], (uint64_t)i);
        }
        drain(n, start, at);
        double ends[MESSAGES];
        bool done[MESSAGES] = {0};
        double now = 0;
        for (int left = MESSAGES; left > 0;) {
            for (;;) { /* start the best that can start */
                int best = -1;
                for (int i = 0; i < MESSAGES; i++) {
                    if (done[i])
                        continue;
                    uint32_t out = 0, in = 0;
                    bool pair = false;
                    for (int j = 0; j < MESSAGES; j++)
                        if (done[j] && ends[j] > now) {
                            out += from[j] == from[i] || to[j] == from[i];
                            in += from[j] == to[i] || to[j] == to[i];
                            pair = pair || (from[j] == from[i] && to[j] == to[i]) ||
                                   (from[j] == to[i] && to[j] == from[i]);
                        }
                    if (!pair && out < k && in < k && (best < 0 || priority[i] < priority[best]))
                        best = i;
                }
                if (best < 0)
                    break;
                done[best] = true;
                ends[best] = now + bytes[best];
                same = same && start[best] == now;
                left--;
            }
            double next = INFINITY;
            for (int i = 0; i < MESSAGES; i++)
                if (done[i] && ends[i] > now && ends[i] < next)
                    next = ends[i];
            now = next;
        }
        network_free(n);
        platform_free(p);
    }
    ok(same, "kport starts what a scan over all waiting messages would start, 20 x 300 messages");
}

static void fair_model(void)
{
    struct platform *p = star(4, 10, 0);
    struct error err = {0};
    struct network *n = network_new("fair", p, 0, &err);
    double at[4];
    network_send(n, 0, 0, 1, 100, 0, 0);
    network_send(n, 0, 0, 2, 50, 0, 1);
    drain(n, NULL, at);
    is_dbl(at[1], 10, 1e-9, "fair: two flows share an uplink, 5 each: the short one ends at 10");
    is_dbl(at[0], 15, 1e-9, "fair: then the long one has all of it");
    network_free(n);

    n = network_new("fair", p, 0, &err);
    network_send(n, 0, 0, 1, 100, 0, 0);
    network_send(n, 0, 1, 0, 100, 0, 1);
    drain(n, NULL, at);
    ok(fabs(at[0] - 10) < 1e-9 && fabs(at[1] - 10) < 1e-9, "fair: the two directions do not share");
    network_free(n);

    /* max-min: 0>1 and 0>2 and 3>2: uplink 0 has two, downlink 2 has two: all 5 */
    n = network_new("fair", p, 0, &err);
    network_send(n, 0, 0, 1, 50, 0, 0);
    network_send(n, 0, 0, 2, 50, 0, 1);
    network_send(n, 0, 3, 2, 100, 0, 2);
    drain(n, NULL, at);
    is_dbl(at[0], 10, 1e-9, "fair: 5 a second for each");
    is_dbl(at[1], 10, 1e-9, "fair: 5 a second for each");
    is_dbl(at[2], 15, 1e-9, "fair: 3>2 speeds up when 0>2 is gone");
    network_free(n);

    /* three into one node, one of them also shares its uplink: 0>1, 2>1, 3>1 get 10/3; 3>2 gets the
     * rest, 20/3 */
    n = network_new("fair", p, 0, &err);
    network_send(n, 0, 0, 1, 10, 0, 0);
    network_send(n, 0, 2, 1, 10, 0, 1);
    network_send(n, 0, 3, 1, 10, 0, 2);
    network_send(n, 0, 3, 2, 20, 0, 3);
    drain(n, NULL, at);
    is_dbl(at[0], 3, 1e-9, "fair: a third each at the bottleneck");
    is_dbl(at[3], 3, 1e-9, "fair: who is not held back takes what is left");
    network_free(n);
    platform_free(p);
}

static void fair_links(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 10, 1, NAN, 0);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), 0};
        platform_builder_node(b, name, 1, 0);
    }
    platform_builder_link(b, 0, 1, 4, 0.5, 0);
    platform_builder_link(b, 1, 2, 40, 0, 0);
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    bool alone = true;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++)
            if (i != j) {
                struct network *n = network_new("fair", p, 0, &err);
                double at[1];
                network_send(n, 0, i, j, 80, 0, 0);
                drain(n, NULL, at);
                alone = alone && fabs(at[0] - platform_transfer(p, i, j, 80)) < 1e-9;
                network_free(n);
            }
    ok(alone, "fair: a message that is alone takes as long as under free, on every pair");
    struct network *n = network_new("fair", p, 0, &err);
    double at[2];
    network_send(n, 0, 0, 1, 4, 0, 0);
    network_send(n, 0, 0, 1, 4, 0, 1);
    drain(n, NULL, at);
    is_dbl(at[1], 2.5, 1e-9, "fair: messages of a pair share the pair's own bandwidth");
    network_free(n);
    platform_free(p);
}

/* Against progressive filling from scratch on every change, message by message. */
static void fair_against_scratch(void)
{
    enum { FLOWS = 60, NODES = 7 };
    struct rng r;
    rng_seed(&r, 11);
    double worst = 0;
    for (int round = 0; round < 10; round++) {
        struct platform *p = star(NODES, 10, 0);
        struct error err = {0};
        struct network *n = network_new("fair", p, 0, &err);
        uint32_t from[FLOWS], to[FLOWS];
        double left[FLOWS], at[FLOWS], end[FLOWS], rate[FLOWS];
        for (int i = 0; i < FLOWS; i++) {
            from[i] = (uint32_t)rng_below(&r, NODES);
            to[i] = (from[i] + 1 + (uint32_t)rng_below(&r, NODES - 1)) % NODES;
            left[i] = 1 + 100 * rng_unit(&r);
            network_send(n, 0, from[i], to[i], left[i], 0, (uint64_t)i);
        }
        drain(n, NULL, at);
        double now = 0;
        for (int alive = FLOWS; alive > 0; alive--) {
            double cap[2 * NODES];
            for (int s = 0; s < 2 * NODES; s++)
                cap[s] = 10;
            bool fixed[FLOWS] = {0};
            for (;;) {
                double least = INFINITY;
                int tight = -1;
                for (int s = 0; s < 2 * NODES; s++) {
                    int open = 0;
                    for (int i = 0; i < FLOWS; i++)
                        open += left[i] > 0 && !fixed[i] &&
                                (s < NODES ? from[i] == (uint32_t)s : to[i] + NODES == (uint32_t)s);
                    if (open && cap[s] / open < least) {
                        least = cap[s] / open;
                        tight = s;
                    }
                }
                if (tight < 0)
                    break;
                for (int i = 0; i < FLOWS; i++)
                    if (left[i] > 0 && !fixed[i] &&
                        (tight < NODES ? from[i] == (uint32_t)tight
                                       : to[i] + NODES == (uint32_t)tight)) {
                        fixed[i] = true;
                        rate[i] = least;
                        cap[from[i]] -= least;
                        cap[NODES + to[i]] -= least;
                    }
            }
            int first = -1;
            for (int i = 0; i < FLOWS; i++)
                if (left[i] > 0 && (first < 0 || left[i] / rate[i] < left[first] / rate[first]))
                    first = i;
            double step = left[first] / rate[first];
            now += step;
            for (int i = 0; i < FLOWS; i++)
                if (left[i] > 0)
                    left[i] -= step * rate[i];
            left[first] = 0;
            end[first] = now;
        }
        for (int i = 0; i < FLOWS; i++)
            worst = fmax(worst, fabs(end[i] - at[i]) / end[i]);
        network_free(n);
        platform_free(p);
    }
    ok(worst < 1e-9, "fair agrees with filling from scratch, 10 x 60 flows (worst %.1e)", worst);
}

struct gone {
    int count;
    uint64_t tags[8];
};

static void note_gone(void *context, uint64_t tag)
{
    struct gone *g = context;
    g->tags[g->count++] = tag;
}

static void cancelling(void)
{
    for (int model = 0; network_names[model]; model++) {
        struct platform *p = star(4, 10, 0.5);
        struct error err = {0};
        struct network *n = network_new(network_names[model], p, 1, &err);
        double at[6] = {-1, -1, -1, -1, -1, -1};
        network_send(n, 0, 0, 1, 100, 0, 0);
        network_send(n, 0, 2, 1, 100, 0, 1);
        network_send(n, 0, 2, 3, 100, 0, 2);
        network_send(n, 0, 3, 1, 100, 0, 3);
        network_settle(n, 0);
        struct gone gone = {0};
        network_cancel(n, 0, 1, note_gone, &gone);
        ok(gone.count == 3 && gone.tags[0] == 0 && gone.tags[1] == 1 && gone.tags[2] == 3,
           "%s: cancelling a node takes back its messages in order", network_names[model]);
        drain(n, NULL, at);
        ok(at[0] < 0 && at[1] < 0 && at[3] < 0, "%s: they never arrive", network_names[model]);
        is_dbl(at[2], 10.5, 1e-9, "%s: the others are not held up", network_names[model]);
        is_int(n->in_flight, 0, "%s: nothing is left", network_names[model]);
        network_free(n);
        platform_free(p);
    }
    /* in the middle of a shared flow */
    struct platform *p = star(3, 10, 0);
    struct error err = {0};
    struct network *n = network_new("fair", p, 0, &err);
    network_send(n, 0, 0, 1, 100, 0, 0);
    network_send(n, 0, 0, 2, 100, 0, 1);
    struct network_message m;
    while (network_next(n) == 0)
        network_step(n, 0, &m);
    network_settle(n, 0);
    struct gone gone = {0};
    network_cancel(n, 10, 2, note_gone, &gone);
    network_settle(n, 10);
    is_dbl(network_next(n), 15, 1e-9,
           "fair: at half way the other goes, this one has 50 left at full rate");
    network_free(n);
    platform_free(p);
}

static void no_talk(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 10, 0, NAN, 0);
    platform_builder_node(b, "a", 1, 0);
    platform_builder_node(b, "b", 1, 0);
    platform_builder_link(b, 0, 1, 0, 0, 0);
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    if (!ok(p, "a link of bandwidth 0 means: cannot talk"))
        return;
    for (int i = 0; network_names[i]; i++) {
        struct network *n = network_new(network_names[i], p, 0, &err);
        ok(!network_send(n, 0, 0, 1, 1, 0, 0), "%s: refuses the message", network_names[i]);
        network_free(n);
    }
    platform_free(p);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(names),       TAP_CASE(free_model),      TAP_CASE(kport_figure_2),
        TAP_CASE(kport_pairs), TAP_CASE(kport_own_ports), TAP_CASE(kport_against_scan),
        TAP_CASE(fair_model),  TAP_CASE(fair_links),      TAP_CASE(fair_against_scratch),
        TAP_CASE(cancelling),  TAP_CASE(no_talk),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
