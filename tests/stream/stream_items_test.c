/* Random graphs of filters that are functions: every item leaves once, in order, with the content that an
 * oracle computes by walking the workflow; with a plan, without one, with drops, retries and poison. */
#include "tap.h"
#include "weft/weft.h"

#include <stdlib.h>

enum { TASKS = 24, PORTS = 3, ITEMS = 400 };

struct graph {
    uint32_t n;
    uint32_t nin[TASKS], from[TASKS][PORTS]; /* tasks whose output 0 it reads; TASKS: the source */
    const char *function[TASKS];
    bool read[TASKS], serial[TASKS];
};

static uint32_t draw_state = 1;
static uint32_t draw(uint32_t below)
{
    draw_state = draw_state * 1664525 + 1013904223;
    return (draw_state >> 8) % below;
}

static void graph_draw(struct graph *g, const char *special)
{
    *g = (struct graph){.n = 2 + draw(TASKS - 2)};
    for (uint32_t t = 0; t < g->n; t++) {
        g->nin[t] = 1 + draw(PORTS);
        for (uint32_t i = 0; i < g->nin[t]; i++) {
            uint32_t from = t == 0 || draw(4) == 0 ? TASKS : draw(t);
            for (uint32_t k = 0; k < i; k++)
                if (g->from[t][k] == from)
                    from = t; /* twice the same: drawn again, below */
            if (from == t) {
                g->nin[t] = i;
                break;
            }
            g->from[t][i] = from;
            if (from < TASKS)
                g->read[from] = true;
        }
        g->serial[t] = draw(4) == 0;
        g->function[t] = g->serial[t] ? "mix_in_order" : draw(3) == 0 ? special : "mix";
        if (g->serial[t] && strcmp(special, "mix") != 0 && strcmp(special, "mix_third_time") != 0 &&
            strcmp(special, "mix_hands_on") != 0)
            g->function[t] = "mix"; /* what is left out upstream is not seen in order */
    }
}

static struct weft_workflow *graph_workflow(const struct graph *g, struct weft_error *error)
{
    static char text[65536];
    size_t n = (size_t)snprintf(text, sizeof text, "weft: 1\ntasks:\n");
    for (uint32_t t = 0; t < g->n; t++) {
        n += (size_t)snprintf(
            text + n, sizeof text - n, "  t%u: { call: \"%s:%s\", work: %u, replicable: %s, in: [",
            t, STREAM_FUNCTIONS, g->function[t], 1 + draw(9), g->serial[t] ? "false" : "true");
        for (uint32_t i = 0; i < g->nin[t]; i++)
            n += g->from[t][i] == TASKS
                     ? (size_t)snprintf(text + n, sizeof text - n, "%ssource", i ? ", " : "")
                     : (size_t)snprintf(text + n, sizeof text - n, "%so%u", i ? ", " : "",
                                        g->from[t][i]);
        n += (size_t)snprintf(text + n, sizeof text - n, "], out: [{ name: o%u, size: 8 }] }\n", t);
    }
    return weft_workflow_read_text(text, n, "random.yaml", NULL, error);
}

/* ---- the oracle ---- */

static uint64_t oracle_hash(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return hash;
}

/* What task t gives for an item; false: nothing. */
static bool oracle_value(const struct graph *g, uint32_t t, uint64_t item, uint64_t *out)
{
    char name[16];
    snprintf(name, sizeof name, "t%u", t);
    uint64_t hash = oracle_hash(0xcbf29ce484222325, name, strlen(name));
    for (uint32_t i = 0; i < g->nin[t]; i++) {
        uint64_t value = item * 31;
        if (g->from[t][i] != TASKS && !oracle_value(g, g->from[t][i], item, &value))
            return false;
        hash = oracle_hash(hash, &value, sizeof value);
    }
    *out = hash;
    return !(strcmp(g->function[t], "mix_or_none") == 0 && item % 5 == 3) &&
           !(strcmp(g->function[t], "poisoned") == 0 && item % 10 == 7);
}

/* ---- source and sink ---- */

struct watch {
    const struct graph *g;
    uint64_t given, taken, wrong;
    bool unordered;
    unsigned char seen[ITEMS];
};

static int watch_give(struct weft_item *item)
{
    struct watch *w = item->context;
    if (w->given == ITEMS)
        return 0;
    uint64_t *out = item->give(item, 0, sizeof *out);
    *out = item->number * 31;
    w->given++;
    return 0;
}

/* A poisoned item has no result at all past the point where it was given up, which the oracle does not
 * know: other branches may or may not have been done. So only what is there is compared. */
static int watch_take(struct weft_item *item)
{
    struct watch *w = item->context;
    uint32_t result = 0;
    bool poison = false;
    w->wrong += !w->unordered && item->number != w->taken;
    w->wrong += item->number >= ITEMS || w->seen[item->number]++;
    w->taken++;
    for (uint32_t t = 0; t < w->g->n; t++)
        poison |= strcmp(w->g->function[t], "poisoned") == 0 && item->number % 10 == 7;
    for (uint32_t t = 0; t < w->g->n; t++) {
        uint64_t value, got;
        if (w->g->read[t])
            continue;
        bool there = oracle_value(w->g, t, item->number, &value);
        const struct weft_piece *in = &item->in[result++];
        if (in->at)
            memcpy(&got, in->at, sizeof got);
        w->wrong += in->at ? !there || got != value : there && !poison;
    }
    w->wrong += result != item->nin;
    return 0;
}

static struct weft_plan *graph_plan(const struct weft_workflow *flow, const char *planner,
                                    struct weft_error *error)
{
    struct weft_platform *p =
        weft_platform_named("homogeneous:n=6,bandwidth=1000000000,ports=2,speed=100000", error);
    struct weft_plan_options o = WEFT_PLAN_INIT;
    static const char *const set[] = {"throughput=0.12Tmax", "duplication=false", NULL};
    o.options = set;
    struct weft_plan *plan = p ? weft_plan_make(flow, p, planner, &o, error) : NULL;
    weft_platform_free(p);
    return plan;
}

/* One stream: the number of wrong answers. */
static uint64_t graph_run(const struct graph *g, const char *planner, bool unordered, bool *good,
                          struct weft_stream_figures *figures)
{
    struct weft_error error = {0};
    struct watch watch = {.g = g, .unordered = unordered};
    struct weft_workflow *flow = graph_workflow(g, &error);
    struct weft_plan *plan = flow && planner ? graph_plan(flow, planner, &error) : NULL;
    struct weft_stream_options o = WEFT_STREAM_INIT;
    o.no_history = true;
    o.give = watch_give;
    o.take = watch_take;
    o.give_context = o.take_context = &watch;
    o.unordered = unordered;
    o.threads = 1 + draw(4);
    o.flood = draw(2);
    struct weft_stream *s =
        flow && (plan || !planner) ? weft_stream_open(flow, plan, &o, &error) : NULL;
    *good = s && weft_stream_run(s, &error);
    if (!s)
        printf("# %s\n", error.text);
    if (s)
        weft_stream_figures(s, figures);
    for (uint32_t i = 0; i < ITEMS; i++)
        watch.wrong += watch.seen[i] != 1;
    weft_stream_close(s);
    weft_plan_free(plan);
    weft_workflow_free(flow);
    return watch.wrong;
}

static void items_all_kinds(void)
{
    static const char *const special[] = {"mix", "mix_or_none", "mix_third_time", "poisoned",
                                          "mix_hands_on"};
    static const char *const planners[] = {NULL, "mos", NULL, "stream"};
    for (uint32_t round = 0; round < 60; round++) {
        struct graph g;
        struct weft_stream_figures f = {0};
        bool good;
        draw_state = round + 1;
        graph_draw(&g, special[round % 5]);
        bool poison = false;
        for (uint32_t t = 0; t < g.n; t++)
            poison |= strcmp(g.function[t], "poisoned") == 0;
        const char *planner = planners[round / 5 % 4];
        uint64_t wrong = graph_run(&g, planner, round % 3 == 2, &good, &f);
        ok(wrong == 0, "%u filters, %s, %s: %llu wrong", g.n, special[round % 5],
           planner ? planner : "no plan", (unsigned long long)wrong);
        ok(good == !poison && f.done == ITEMS && (f.given_up > 0) == poison,
           "and it %s, with %llu given up", good ? "ends well" : "fails",
           (unsigned long long)f.given_up);
    }
}

static void items_clock(void)
{
    struct graph g = {.n = 1, .nin = {1}, .from = {{TASKS}}, .function = {"mix_in_order"}};
    g.serial[0] = true;
    struct weft_error error = {0};
    struct weft_stream_figures f = {0};
    struct weft_workflow *flow = graph_workflow(&g, &error);
    struct weft_stream_options o = WEFT_STREAM_INIT;
    o.no_history = true;
    o.from = "clock:1000000";
    o.items = 2000;
    o.threads = 3;
    struct weft_stream *s = weft_stream_open(flow, NULL, &o, &error);
    ok(s && weft_stream_run(s, &error), "items of a clock: %s", error.text);
    weft_stream_figures(s, &f);
    is_int(f.done, 2000, "as many as were asked for");
    ok(!weft_stream_run(s, &error) && strstr(error.text, "once"), "a stream runs once");
    weft_stream_close(s);
    weft_workflow_free(flow);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(items_all_kinds), TAP_CASE(items_clock)};
    return tap_run(cases, 2);
}
