#include "report/graph_svg.h"
#include "report/layout.h"
#include "report/wellformed_test.h"
#include "base/rng.h"
#include "model/builder.h"
#include "tap.h"

static void add_task(struct builder *b, uint32_t number, const char *kind)
{
    char name[32];
    int len = snprintf(name, sizeof name, "t%u", number);
    uint32_t t = builder_task(b, name, (size_t)len, 0);
    builder_work(b, t, 1 + number % 7, 0);
    if (kind)
        builder_kind(b, t, kind, strlen(kind));
}

/* Random graph: every task has up to `degree` parents among the `window` tasks before it. */
static struct workflow *random_graph(uint32_t n, uint32_t degree, uint32_t window, uint64_t seed)
{
    static const char *const kinds[] = {"read", "filter", "merge"};
    struct builder *b = builder_new("<test>", "test");
    struct rng rng;
    rng_seed(&rng, seed);
    for (uint32_t t = 0; t < n; t++)
        add_task(b, t, kinds[t % 3]);
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < degree; k++)
            builder_edge(b, t - 1 - (uint32_t)rng_below(&rng, t < window ? t : window), t, 0);
    struct error err = {0};
    return builder_finish(b, &err);
}

static struct workflow *edges_graph(uint32_t n, const uint32_t *edges, size_t count)
{
    struct builder *b = builder_new("<test>", "test");
    for (uint32_t t = 0; t < n; t++)
        add_task(b, t, NULL);
    for (size_t e = 0; e < count; e++)
        builder_edge(b, edges[2 * e], edges[2 * e + 1], 0);
    struct error err = {0};
    return builder_finish(b, &err);
}

/* What every layout owes: edges go down, order and places agree, boxes of a layer are in order and
 * apart. */
static void check_layout(const struct workflow *w, const char *what)
{
    struct layout l;
    layout_new(&l, w);
    double *width = mem_new(double, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++)
        width[t] = 20 + t % 5;
    layout_place(&l, width, 10, 4);
    bool down = true, apart = true, placed = true, inside = true;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            down = down && l.layer[w->succ_task[e]] > l.layer[t];
    for (size_t i = 0; i < l.segments.n; i++)
        down = down && l.layer[l.segments.at[i].to] == l.layer[l.segments.at[i].from] + 1;
    for (uint32_t layer = 0; layer < l.nlayers; layer++)
        for (uint32_t i = l.layer_off[layer]; i < l.layer_off[layer + 1]; i++) {
            uint32_t v = l.at[i], before = i > l.layer_off[layer] ? l.at[i - 1] : NONE;
            placed = placed && l.place[v] == i - l.layer_off[layer] && l.layer[v] == layer;
            inside = inside && l.x[v] >= -1e-6 && l.x[v] <= l.width + 1e-6;
            if (before == NONE)
                continue;
            double own = (v < w->ntasks ? width[v] : 0) / 2,
                   other = (before < w->ntasks ? width[before] : 0) / 2;
            apart = apart && l.x[v] - own - (l.x[before] + other) >= 4 - 1e-6;
        }
    ok(down, "%s: edges go down, segments one layer", what);
    ok(placed && inside, "%s: places", what);
    ok(apart, "%s: nothing overlaps", what);
    free(width);
    layout_free(&l);
}

static uint64_t crossings(const struct workflow *w)
{
    struct layout l;
    layout_new(&l, w);
    uint64_t count = layout_crossings(&l);
    layout_free(&l);
    return count;
}

static void layouts(void)
{
    /* two edges that cross in task order: 0 > 3, 1 > 2 */
    static const uint32_t crossed[] = {0, 3, 1, 2};
    struct workflow *w = edges_graph(4, crossed, 2);
    is_int(crossings(w), 0, "a crossing is removed");
    workflow_free(w);
    static const uint32_t complete[] = {0, 2, 0, 3, 1, 2, 1, 3};
    w = edges_graph(4, complete, 4);
    is_int(crossings(w), 1, "K2,2 has one crossing");
    workflow_free(w);
    uint32_t tree[2 * 62];
    for (uint32_t t = 1; t < 63; t++) {
        tree[2 * (t - 1)] = (t * 7 - 7) % t; /* some parent before */
        tree[2 * (t - 1) + 1] = t;
    }
    w = edges_graph(63, tree, 62);
    is_int(crossings(w), 0, "a tree has none");
    check_layout(w, "tree");
    workflow_free(w);
    /* a shortcut over three layers has two bends */
    static const uint32_t shortcut[] = {0, 1, 1, 2, 2, 3, 0, 3};
    w = edges_graph(4, shortcut, 4);
    struct layout l;
    layout_new(&l, w);
    is_int(l.nnodes, 6, "two bends");
    is_int(l.chain_length[0], 2, "on the chain of task 0");
    layout_free(&l);
    workflow_free(w);
    static const uint32_t pair[] = {3, 90};
    w = edges_graph(102, pair, 1);
    layout_new(&l, w);
    is_int(l.depth, 2, "two levels");
    is_int(l.alone, 2, "tasks without edges stand below");
    is_int(l.nlayers, 2 + 7, "100 of them in rows of 16");
    layout_free(&l);
    check_layout(w, "tasks without edges");
    workflow_free(w);
    w = edges_graph(12, pair, 0);
    layout_new(&l, w);
    is_int(l.nlayers, 2, "a bag: rows of 10");
    layout_free(&l);
    check_layout(w, "bag");
    workflow_free(w);
    w = random_graph(400, 2, 40, 3);
    check_layout(w, "random graph");
    workflow_free(w);
    w = random_graph(2000, 3, 2000, 3);
    check_layout(w, "long edges");
    workflow_free(w);
}

static char *picture(const struct workflow *w, const struct graph_svg_options *options)
{
    struct strbuf out = {0};
    report_graph_svg(w, &out, options);
    return strbuf_steal(&out);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void pictures(void)
{
    struct workflow *w = random_graph(60, 2, 12, 1);
    char *a = picture(w, NULL), *b = picture(w, NULL);
    ok(wellformed(a), "well-formed");
    is_str(a, b, "the same twice");
    is_int(occurrences(a, ": work "), 60, "a tooltip a task");
    has_str(a, "filter (20)", "legend of kinds");
    has_str(a, "on the critical path", "critical path");
    free(a);
    free(b);
    struct graph_svg_options plain = {.title = "My <title>", .no_critical = true};
    a = picture(w, &plain);
    ok(wellformed(a) && !strstr(a, "critical path<"), "without emphasis");
    has_str(a, "My &lt;title&gt;", "own title");
    free(a);
    struct graph_svg_options profile = {.profile = true};
    a = picture(w, &profile);
    ok(wellformed(a), "profile well-formed");
    has_str(a, "level 1: ", "a bar a level");
    free(a);
    workflow_free(w);

    w = random_graph(0, 0, 1, 1);
    a = picture(w, NULL);
    b = picture(w, &profile);
    ok(wellformed(a) && wellformed(b), "empty graph");
    free(a);
    free(b);
    workflow_free(w);
    w = random_graph(1, 0, 1, 1);
    a = picture(w, NULL);
    ok(wellformed(a), "one task");
    free(a);
    workflow_free(w);
    w = random_graph(2500, 4, 300, 1);
    a = picture(w, NULL);
    ok(wellformed(a) && strlen(a) < 4000000, "the largest drawn in full: %zu bytes", strlen(a));
    free(a);
    workflow_free(w);
    w = random_graph(30000, 3, 500, 1);
    a = picture(w, NULL);
    ok(wellformed(a) && strlen(a) < 300000, "a large one is a profile: %zu bytes", strlen(a));
    free(a);
    workflow_free(w);
}

/* split, then 200 of "count", each of which feeds one of 200 of "sort", then a join; "log" stands beside. */
static struct workflow *fan(uint32_t width)
{
    struct builder *b = builder_new("<test>", "test");
    char name[32];
    uint32_t split = builder_task(b, "split", 5, 0), join = builder_task(b, "join", 4, 0);
    builder_edge(b, split, builder_task(b, "log", 3, 0), 0);
    for (uint32_t i = 0; i < width; i++) {
        int n = snprintf(name, sizeof name, "count_%u", i);
        uint32_t count = builder_task(b, name, (size_t)n, 0);
        n = snprintf(name, sizeof name, "sort_%u", i);
        uint32_t sort = builder_task(b, name, (size_t)n, 0);
        builder_work(b, count, i, 0);
        builder_edge(b, split, count, 0);
        builder_data_edge(b, count, sort, 5, 0);
        builder_edge(b, sort, join, 0);
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

static void fans(void)
{
    struct workflow *w = fan(200);
    is_int(graph_svg_manner(w), GRAPH_SVG_FOLDED, "a wide fan is folded");
    char *a = picture(w, NULL);
    ok(wellformed(a), "well-formed");
    has_str(a, ">count × 200</text>", "a box for all of a kind on a level, with their number");
    has_str(a, ">split</text>", "single tasks have their names");
    has_str(a, "403 tasks, 601 edges, 4 levels", "the sizes are those of the whole graph");
    has_str(a, ">200</text>", "the number of edges stands beside an arrow");
    has_str(a, "count × 200: work 5 h 32 min, on the critical path",
            "the critical path goes through");
    is_int(occurrences(a, "<g><title>"), 5, "five boxes");
    free(a);
    double *seconds = mem_new(double, w->ntasks);
    struct kinds shades = {.colour = mem_new_zero(uint8_t, w->ntasks), .shown = 2};
    shades.name[0] = "ran";
    shades.name[1] = "failed";
    static const char *const palette[KINDS_SHOWN + 1] = {"#111111", "#222222"};
    shades.palette = palette;
    for (uint32_t t = 0; t < w->ntasks; t++)
        seconds[t] = t % 2 ? 1 : NAN;
    uint32_t bad = workflow_find_task(w, "sort_7");
    seconds[bad] = 0.001;
    shades.colour[bad] = 1;
    struct graph_svg_options run = {.shades = &shades, .seconds = seconds, .wins = 2};
    a = picture(w, &run);
    ok(wellformed(a) && strstr(a, "#222222"), "one that failed colours its box");
    free(a);
    free(shades.colour);
    free(seconds);
    workflow_free(w);
    w = fan(6);
    is_int(graph_svg_manner(w), GRAPH_SVG_WHOLE, "what fits is drawn whole");
    workflow_free(w);
}

static void hostile(void)
{
    static const char *const names[] = {"<script>alert(1)</script>",
                                        "a&b \"q\" 'r'",
                                        "bell\x07\x1B[2J",
                                        "\xE2\x80\xAEright to left",
                                        "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
                                        "日本語のタスク"};
    struct builder *b = builder_new("<test>", "test");
    builder_name(b, "</title><x>", strlen("</title><x>"));
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t t = builder_task(b, names[i], strlen(names[i]), 0);
        builder_kind(b, t, names[(i + 1) % 3], strlen(names[(i + 1) % 3]));
        builder_work(b, t, 1, 0);
        if (i)
            builder_edge(b, 0, t, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    ok(w != NULL, "hostile names are names %s", err.text);
    char *a = w ? picture(w, NULL) : mem_copy_string("");
    ok(wellformed(a), "hostile names are escaped");
    ok(!strstr(a, "<script") && strstr(a, "日本語のタスク"), "no markup gets through, UTF-8 does");
    free(a);
    workflow_free(w);
}

/* Two tasks that begin with the same word are not one kind: the page of their runs does not say so, either. */
static void by_name(void)
{
    static const struct {
        const char *name, *command;
    } tasks[] = {{"order@i=1", "sort a"}, {"order@i=2", "sort b"}, {"top", "sort c | head"}};
    struct builder *b = builder_new("<test>", "test");
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t t = builder_task(b, tasks[i].name, strlen(tasks[i].name), 0);
        builder_command(b, t, tasks[i].command, strlen(tasks[i].command));
        builder_work(b, t, 1, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    char *a = w ? picture(w, NULL) : mem_copy_string(err.text);
    ok(strstr(a, ">order (2)<") && strstr(a, ">top (1)<") && !strstr(a, ">sort ("),
       "kinds are families and names, not the first words of commands");
    free(a);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(layouts), TAP_CASE(pictures), TAP_CASE(fans), TAP_CASE(hostile), TAP_CASE(by_name),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
