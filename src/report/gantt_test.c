#include "report/gantt.h"
#include "report/gantt_kinds.h"
#include "report/wellformed_test.h"
#include "base/clock.h"
#include "model/builder.h"
#include "tap.h"

/* n tasks "name<i>" of work 2; task i reads 10 bytes of task i / 2 (an out-tree). */
static struct workflow *tree(uint32_t n, const char *stem)
{
    struct builder *b = builder_new("<test>", "test");
    builder_name(b, "demo", 4);
    for (uint32_t i = 0; i < n; i++) {
        char name[128];
        int len = snprintf(name, sizeof name, "%s%u", stem, i);
        uint32_t t = builder_task(b, name, (size_t)len, 0);
        builder_work(b, t, 2, 0);
        builder_kind(b, t, i % 2 ? "odd" : "even", i % 2 ? 3 : 4);
        if (i)
            builder_data_edge(b, (i - 1) / 2, i, 10, 0);
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

static struct platform *cluster(uint32_t nodes, double cores, const char *stem)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_name(b, "cluster", 7);
    platform_builder_network(b, 5, 0, NAN, 0);
    for (uint32_t i = 0; i < nodes; i++) {
        char name[128];
        int len = snprintf(name, sizeof name, "%s%u", stem, i);
        uint32_t node = platform_builder_node(b, name, (size_t)len, 0);
        platform_builder_cores(b, node, cores, 0);
        platform_builder_speed(b, node, 1 + i % 2, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

/* Tasks round about the nodes, one after the other. Good enough for pictures: no planner is in this
 * room. */
static struct plan *spread(const struct workflow *w, const struct platform *p)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    plan->planner = mem_copy_string("spread");
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t node = t % p->nnodes, core = t / p->nnodes % p->cores[node];
        double start = t / p->nnodes / p->cores[node] * 2.5;
        array_push(&plan->placements, (struct placement){t, 0, node, core, start, start + 2});
        if (t && plan->transfers.n < 50)
            array_push(&plan->transfers,
                       (struct transfer){w->pred_object[w->pred_off[t]], (t - 1) / 2 % p->nnodes,
                                         node, start - 0.1, start});
    }
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}

static char *picture(const struct plan *plan, const struct workflow *w, const struct platform *p,
                     const struct gantt_options *options)
{
    struct strbuf out = {0};
    report_gantt_svg(plan, w, p, &out, options);
    return strbuf_steal(&out);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void static_plans(void)
{
    struct workflow *w = tree(20, "t");
    struct platform *p = cluster(4, 2, "n");
    struct plan *plan = spread(w, p);
    plan->placements.at[3].copy = 1;
    char *a = picture(plan, w, p, NULL), *b = picture(plan, w, p, NULL);
    ok(wellformed(a), "well-formed");
    is_str(a, b, "the same twice");
    has_str(a, "demo on cluster, planned by spread", "title");
    has_str(a, "makespan 7 s", "makespan");
    has_str(a, "even (10)", "legend");
    has_str(a, "t5 (odd) on n1 core 1: 0 to 2, 2 s", "tooltip");
    has_str(a, ">t19</text>", "label in a bar");
    has_str(a, "further copies", "copies are told");
    is_int(occurrences(a, "<g><title>"), 20, "a bar a placement");
    ok(occurrences(a, "marker-end") > 0, "arrows for transfers");
    free(a);
    free(b);
    ok(!strstr(b = picture(plan, w, p, NULL), "pinned"), "nothing is pinned");
    free(b);
    array_push(&plan->constraints, mem_copy_string("rules.sql:1:1: assert <a>"));
    array_push(&plan->constraints, mem_copy_string("rules.sql:2:1: assert b"));
    array_push(&plan->pins, (struct plan_pin){5, 2});
    array_push(&plan->pins, (struct plan_pin){6, 2});
    array_push(&plan->pins, (struct plan_pin){7, 9}); /* a constraint that nobody names */
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "well-formed with pins");
    is_int(occurrences(a, "<circle"), 4, "a disc on each pinned bar, and one in the legend");
    has_str(a, "2 s, pinned by constraint 2 (rules.sql:2:1: assert b)", "told in the tooltip");
    has_str(a, "2 tasks pinned by rules.sql:2:1: assert b", "and in the legend");
    ok(!strstr(a, "assert &lt;a&gt;"), "which leaves out constraints that pinned nothing");
    free(a);
    struct gantt_options options = {.no_transfers = true, .width = 500, .title = "x<y"};
    a = picture(plan, w, p, &options);
    ok(wellformed(a) && !strstr(a, "marker-end"), "without transfers");
    has_str(a, "x&lt;y", "own title");
    has_str(a, "viewBox=\"0 0 500 ", "own width");
    free(a);

    /* what no checker would pass must not break the picture */
    plan->placements.at[0].task = 9999;
    plan->placements.at[1].node = 77;
    plan->placements.at[2].start = NAN;
    plan->placements.at[4].finish = INFINITY;
    plan->placements.at[5].finish = -3;
    plan->placements.at[6].core = 4000000000u;
    plan->transfers.at[0].object = 12345;
    plan->transfers.at[1].to = 12345;
    plan->transfers.at[2].start = NAN;
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "bad references are left out");
    is_int(occurrences(a, "<g><title>"), 15, "the others are drawn");
    free(a);
    struct strbuf text = {0};
    report_gantt_text(plan, w, p, &text, NULL);
    ok(text.n > 0, "also as text");
    strbuf_free(&text);
    plan_free(plan);

    plan = plan_new(PLAN_STATIC);
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "empty plan");
    has_str(a, "nothing is placed", "says so");
    free(a);
    report_gantt_text(plan, w, p, &text, NULL);
    is_str(strbuf_text(&text), "nothing is placed\n", "also as text");
    strbuf_free(&text);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);

    w = tree(0, "t");
    p = cluster(1, 1, "n");
    plan = plan_new(PLAN_STATIC);
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "empty workflow");
    free(a);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

static void multicore(void)
{
    struct builder *b = builder_new("<test>", "test");
    uint32_t t = builder_task(b, "wide", 4, 0);
    builder_cores(b, t, 3, 0);
    builder_work(b, t, 1, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct platform *p = cluster(1, 4, "n");
    struct plan *plan = plan_new(PLAN_STATIC);
    array_push(&plan->placements, (struct placement){0, 0, 0, 1, 0, 1});
    char *a = picture(plan, w, p, NULL);
    has_str(a, "height=\"86\"", "a task on three cores covers three lanes of 30");
    has_str(a, "75.0 % of the cores", "and counts three of four cores");
    free(a);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

static void large_plans(void)
{
    static const struct {
        uint32_t nodes, tasks;
    } sizes[] = {{64, 100000}, {1000, 100000}, {3000, 100000}, {1000, 2000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct workflow *w = tree(sizes[i].tasks, "t");
        struct platform *p = cluster(sizes[i].nodes, 1, "node");
        struct plan *plan = spread(w, p);
        double start = clock_seconds();
        char *a = picture(plan, w, p, NULL);
        printf("# %.2f s\n", clock_seconds() - start);
        ok(wellformed(a) && strlen(a) < 4000000, "%u placements on %u nodes: %zu bytes",
           sizes[i].tasks, sizes[i].nodes, strlen(a));
        if (sizes[i].nodes > GANTT_LANES)
            has_str(a, "and 1,976 more lanes that are not shown", "says what is missing");
        free(a);
        plan_free(plan);
        workflow_free(w);
        platform_free(p);
    }
}

static void hostile(void)
{
    struct workflow *w = tree(8, "<b>&\"'\x1B\x07\xE2\x80\xAE");
    struct platform *p = cluster(2, 1, "</svg>\x02");
    ok(w && p, "hostile names are names");
    struct plan *plan = spread(w, p);
    free(plan->planner);
    plan->planner = mem_copy_string("<planner>&");
    char *a = picture(plan, w, p, NULL);
    ok(wellformed(a), "and are escaped");
    ok(!strstr(a, "<b>"), "no markup gets through");
    free(a);
    struct strbuf text = {0};
    report_gantt_text(plan, w, p, &text, NULL);
    ok(!strchr(strbuf_text(&text), 0x1B) && !strchr(strbuf_text(&text), 0x02),
       "no escapes reach the terminal");
    strbuf_free(&text);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

/* Two parts: root 0 with 1 and 2 on n0 (speed 1), task 3 on n1 (speed 2): 6 / 1, then 10 / 5 and 2
 * / 2. */
static void partition(void)
{
    struct workflow *w = tree(4, "t");
    struct platform *p = cluster(3, 1, "n");
    struct plan *plan = plan_new(PLAN_PARTITION);
    for (uint32_t t = 0; t < 4; t++)
        array_push(&plan->tasks, t);
    array_push(&plan->parts, (struct part){0, 0, 0, NONE, 3, 123});
    array_push(&plan->parts, (struct part){3, 1, 3, NONE, 1, NAN});
    double start[2], arrived[2], finish[2];
    gantt_part_times(plan, w, p, start, arrived, finish);
    is_dbl(finish[0], 6, 1e-12, "the root's part ends at 6");
    is_dbl(start[1], 6, 1e-12, "then the file is sent");
    is_dbl(arrived[1], 8, 1e-12, "which takes 2");
    is_dbl(finish[1], 9, 1e-12, "equation (1): 9");
    char *a = picture(plan, w, p, NULL);
    ok(wellformed(a), "partition: well-formed");
    has_str(a, "makespan 9 s, 4 tasks in 2 parts on 2 of 3 nodes", "partition: subtitle");
    has_str(a, "part of 3 tasks with root t0 on n0: 0 to 6, memory 123 B", "partition: tooltip");
    free(a);
    struct strbuf text = {0};
    report_gantt_text(plan, w, p, &text, NULL);
    has_str(strbuf_text(&text), "t0", "partition: text");
    strbuf_free(&text);
    plan->parts.at[0].count = 1000000;
    plan->parts.at[1].node = 99;
    plan->parts.at[1].root = 99;
    plan->parts.at[1].tasks = 77;
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "partition: bad references are left out");
    free(a);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

static void stream_and_order(void)
{
    struct workflow *w = tree(4, "t");
    struct platform *p = cluster(3, 1, "n");
    struct plan *plan = plan_new(PLAN_STREAM);
    for (uint32_t t = 0; t < 4; t++)
        array_push(&plan->tasks, t);
    for (uint32_t n = 0; n < 3; n++)
        array_push(&plan->nodes, n);
    array_push(&plan->clusters,
               (struct cluster){.tasks = 0, .ntasks = 2, .nodes = 0, .nnodes = 2, .replicas = 2});
    array_push(&plan->clusters,
               (struct cluster){.tasks = 2, .ntasks = 2, .nodes = 2, .nnodes = 1, .replicas = 1});
    plan_set_objective(plan, "throughput", 0.2);
    char *a = picture(plan, w, p, NULL);
    ok(wellformed(a), "stream: well-formed");
    has_str(a, "2 clusters of 4 tasks on 3 of 3 nodes, 0.2 items a second", "stream: subtitle");
    has_str(a, "busy 2 s for each item", "stream: shared by two nodes");
    has_str(a, "an item every 5 s", "stream: period");
    free(a);
    struct strbuf text = {0};
    report_gantt_text(plan, w, p, &text, NULL);
    has_str(strbuf_text(&text), "2 clusters", "stream: text");
    strbuf_free(&text);
    plan->clusters.at[0].nnodes = 1000;
    plan->clusters.at[0].ntasks = 1000;
    plan->nodes.at[1] = 1234;
    a = picture(plan, w, p, NULL);
    ok(wellformed(a), "stream: bad references are left out");
    free(a);
    plan_free(plan);

    plan = plan_new(PLAN_ORDER);
    plan->verdict = mem_copy_string("IC_PROVED");
    for (uint32_t t = 0; t < 4; t++)
        array_push(&plan->order, t);
    a = picture(plan, w, NULL, NULL);
    ok(wellformed(a), "order: well-formed, without a platform");
    has_str(a, "demo: IC_PROVED", "order: title");
    has_str(a, "tasks eligible", "order: axis");
    free(a);
    plan->order.at[0] = 4444;
    plan->order.at[1] = 3;
    plan->order.at[2] = 3;
    a = picture(plan, w, NULL, NULL);
    ok(wellformed(a), "order: bad references are left out");
    free(a);
    report_gantt_text(plan, w, NULL, &text, NULL);
    is_str(strbuf_text(&text), "an order of 4 tasks (IC_PROVED)\n", "order: text");
    strbuf_free(&text);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

static void text_chart(void)
{
    struct workflow *w = tree(3, "task");
    struct platform *p = cluster(2, 1, "n");
    struct plan *plan = plan_new(PLAN_STATIC);
    array_push(&plan->placements, (struct placement){0, 0, 0, 0, 0, 10});
    array_push(&plan->placements, (struct placement){1, 0, 0, 0, 10, 20});
    array_push(&plan->placements, (struct placement){2, 0, 1, 0, 15, 20});
    struct gantt_text_options options = {.columns = 46};
    struct strbuf text = {0};
    report_gantt_text(plan, w, p, &text, &options);
    is_str(strbuf_text(&text),
           "n0   ███████task0███████▌███████task1████████\n"
           "n1                                 ██task2███\n"
           "     ┴─────────┴─────────┴─────────┴────────┴\n"
           "     0         5         10        15       20 s\n",
           "a small chart");
    strbuf_clear(&text);
    options.ascii = true;
    options.max_rows = 1;
    report_gantt_text(plan, w, p, &text, &options);
    bool ascii = true;
    for (size_t i = 0; i < text.n; i++)
        ascii = ascii && (unsigned char)text.at[i] < 0x7F;
    ok(ascii, "ASCII only");
    has_str(strbuf_text(&text), "... and 1 more lane", "the rest is told");
    strbuf_clear(&text);
    options.colour = true;
    report_gantt_text(plan, w, p, &text, &options);
    has_str(strbuf_text(&text), "\033[38;5;", "colours");
    strbuf_free(&text);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
}

/* What 3,000 tasks on two cores say, nodes that do nothing, and a stretch of it all. */
static void readable(void)
{
    struct workflow *w = tree(3000, "t");
    struct platform *p = cluster(2, 1, "n");
    struct plan *plan = spread(w, p);
    char *a = picture(plan, w, p, NULL);
    ok(wellformed(a), "3,000 tasks on two cores");
    has_str(a, "cores in use, by kind", "are also shown stacked by kind");
    has_str(a, "<title>even: 50 min 00 s of the cores' time</title>", "an area a kind");
    free(a);
    struct gantt_options zoom = {.from = 100, .to = 120};
    a = picture(plan, w, p, &zoom);
    ok(wellformed(a) && !strstr(a, "cores in use, by kind"), "a stretch of it has room for names");
    is_int(occurrences(a, "<g><title>"), 16, "and shows what runs in it");
    has_str(a, ">t80</text>", "by name");
    ok(!strstr(a, ">t10</text>") && !strstr(a, "makespan 3"), "and nothing else");
    has_str(a, ">110</text>", "the axis goes on from there");
    free(a);
    zoom = (struct gantt_options){.from = 1e9, .to = 2e9};
    a = picture(plan, w, p, &zoom);
    ok(wellformed(a) && strstr(a, "cores in use"), "past the end there is nothing to zoom to");
    free(a);
    plan_free(plan);
    platform_free(p);

    p = cluster(12, 2, "node");
    plan = plan_new(PLAN_STATIC);
    array_push(&plan->placements, (struct placement){0, 0, 3, 0, 0, 2});
    a = picture(plan, w, p, NULL);
    has_str(a, "11 nodes have no task: node0 ... node11.", "nodes without a task are told");
    ok(!strstr(a, ">node5</text>") && strstr(a, ">node3</text>"), "and take no room");
    free(a);
    platform_free(p);
    p = cluster(3, 1, "node");
    plan->placements.at[0].node = 1;
    a = picture(plan, w, p, NULL);
    ok(strstr(a, ">node0</text>") && !strstr(a, "no task"), "few of them are shown idle");
    free(a);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(static_plans),     TAP_CASE(readable),   TAP_CASE(multicore),
        TAP_CASE(large_plans),      TAP_CASE(hostile),    TAP_CASE(partition),
        TAP_CASE(stream_and_order), TAP_CASE(text_chart),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
