/* Every kind of violation: a plan that is right, broken in one place, must be caught and named. */
#include "model/builder.h"
#include "model/check.h"
#include "tap.h"

/* a(4) makes x (10 bytes) for b(2) and c(6, 60 bytes of memory); b before d(2, 2 cores); c makes y
 * (4 bytes) for d. Node n1 speed 1, one core; n2 speed 2, two cores, 100 bytes; n3 is down.
 * Bandwidth 5, latency 1: x takes 3 s, y 1.8 s. */
static struct workflow *the_workflow(void)
{
    struct builder *b = builder_new("<test>", "test");
    const char *names = "abcd";
    double work[] = {4, 2, 6, 2}, memory[] = {10, 50, 60, 0};
    for (uint32_t t = 0; t < 4; t++) {
        builder_task(b, names + t, 1, 0);
        builder_work(b, t, work[t], 0);
        builder_memory(b, t, memory[t], 0);
    }
    builder_cores(b, 3, 2, 0);
    uint32_t x = builder_object(b, "x", 1), y = builder_object(b, "y", 1);
    builder_size(b, x, 10, 0);
    builder_size(b, y, 4, 0);
    builder_produces(b, 0, x, 0);
    builder_consumes(b, 1, x, 0);
    builder_consumes(b, 2, x, 0);
    builder_produces(b, 2, y, 0);
    builder_consumes(b, 3, y, 0);
    builder_edge(b, 1, 3, 0);
    return builder_finish(b, NULL);
}

static struct platform *the_platform(double ports)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 5, 1, ports, 0);
    platform_builder_node(b, "n1", 2, 0);
    uint32_t n2 = platform_builder_node(b, "n2", 2, 0);
    platform_builder_speed(b, n2, 2, 0);
    platform_builder_cores(b, n2, 2, 0);
    platform_builder_memory(b, n2, 100, 0);
    platform_builder_down(b, platform_builder_node(b, "n3", 2, 0));
    return platform_builder_finish(b, NULL);
}

enum { A, B, C, D };

/* a on n1 0-4, x to n2 4-7, b on n1 4-6, c on n2 7-10, d on n2 10-11 (cores 0 and 1). */
static struct plan *good_plan(void)
{
    struct plan *p = plan_new(PLAN_STATIC);
    array_push(&p->placements, (struct placement){A, 0, 0, 0, 0, 4});
    array_push(&p->placements, (struct placement){B, 0, 0, 0, 4, 6});
    array_push(&p->placements, (struct placement){C, 0, 1, 1, 7, 10});
    array_push(&p->placements, (struct placement){D, 0, 1, 0, 10, 11});
    array_push(&p->transfers, (struct transfer){0, 0, 1, 4, 7});
    plan_set_objective(p, "makespan", 11);
    return p;
}

static struct workflow *w;
static struct platform *platform;

static size_t count_kind(const struct check_result *r, enum violation_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->violations.n; i++)
        n += r->violations.at[i].kind == kind;
    return n;
}

/* The plan breaks exactly this rule, and the message holds `text`. Frees the plan. */
static void breaks(struct plan *p, enum violation_kind kind, const char *text)
{
    struct check_result r;
    struct error err = {0};
    check_plan(p, w, platform, &r, &err);
    bool good = ok(r.total && count_kind(&r, kind) == r.total,
                   "%s is caught, and nothing else is said", violation_name(kind));
    for (size_t i = 0; i < r.violations.n && !good; i++)
        printf("# %s: %s\n", violation_name(r.violations.at[i].kind), r.violations.at[i].detail);
    has_str(r.violations.n ? r.violations.at[0].detail : "", text, "and named");
    check_result_free(&r);
    plan_free(p);
}

static void passes(struct plan *p, const char *what)
{
    struct check_result r;
    struct error err = {0};
    check_plan(p, w, platform, &r, &err);
    if (!is_int(r.total, 0, "%s is valid", what))
        printf("# %s\n", r.violations.at[0].detail);
    check_result_free(&r);
    plan_free(p);
}

static void test_static(void)
{
    struct plan *p = good_plan();
    passes(p, "the plan");

    p = good_plan();
    p->placements.n--;
    plan_set_objective(p, "makespan", 10);
    breaks(p, VIOLATION_MISSING_TASK, "'d' is not placed");

    p = good_plan();
    array_push(&p->placements, (struct placement){B, 0, 1, 0, 11, 12});
    plan_set_objective(p, "makespan", 12);
    breaks(p, VIOLATION_COPY, "'b' has copy 0 twice");
    p = good_plan();
    array_push(&p->placements, (struct placement){B, 1, 0, 0, 6, 8});
    breaks(p, VIOLATION_COPY, "'b' has two copies on 'n1'");

    p = good_plan();
    p->placements.at[B].node = 2;
    array_push(&p->transfers, (struct transfer){0, 0, 2, 4, 7});
    p->placements.at[B].start = 7;
    p->placements.at[B].finish = 9;
    breaks(p, VIOLATION_NODE, "'n3', which is down");
    p = good_plan(); /* d needs two cores: n1 has one */
    p->placements.at[D] = (struct placement){D, 0, 0, 0, 20, 22};
    array_push(&p->transfers, (struct transfer){1, 1, 0, 10, 11.8});
    plan_set_objective(p, "makespan", 22);
    struct check_result r;
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_NODE) == 1 && count_kind(&r, VIOLATION_CORE) == 1, "too few cores");
    check_result_free(&r);
    plan_free(p);

    p = good_plan();
    p->placements.at[B].start = -1;
    p->placements.at[B].finish = 1;
    struct plan *q = good_plan();
    q->placements.at[C].start = NAN;
    breaks(q, VIOLATION_TIME, "'c' runs from");
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_TIME) == 1, "a negative start");
    check_result_free(&r);
    plan_free(p);

    p = good_plan();
    p->placements.at[B].finish = 5;
    breaks(p, VIOLATION_DURATION, "'b' takes 1 on 'n1'; it should take 2");

    p = good_plan(); /* b before a has ended, on the free core of its own node's twin */
    p->placements.at[D].start = 9.5;
    p->placements.at[D].finish = 10.5;
    plan_set_objective(p, "makespan", 10.5);
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_PRECEDENCE) == 1,
       "d before the end of c is a precedence violation");
    ok(count_kind(&r, VIOLATION_CORE) == 1, "and overlaps it on core 1");
    check_result_free(&r);
    plan_free(p);
    p = good_plan(); /* c starts before x arrives */
    p->placements.at[C].start = 6.5;
    p->placements.at[C].finish = 9.5;
    breaks(p, VIOLATION_PRECEDENCE, "before 'x' of 'a' is there at 7");
    p = good_plan(); /* b late: d before b, a pure ordering edge */
    p->placements.at[B].start = 9.5;
    p->placements.at[B].finish = 11.5;
    plan_set_objective(p, "makespan", 11.5);
    breaks(p, VIOLATION_PRECEDENCE, "before 'b' ends at 11.5");

    p = good_plan();
    p->placements.at[C].core = 2;
    breaks(p, VIOLATION_CORE, "needs cores 2 to 2 of 'n2', which has 2");

    p = good_plan(); /* b and c together need 110 bytes of 100 on n2 */
    p->placements.at[B] = (struct placement){B, 0, 1, 0, 7, 8};
    breaks(p, VIOLATION_MEMORY, "needs 110 bytes of its 100");
}

static void test_transfers(void)
{
    struct plan *p = good_plan();
    p->transfers.n = 0;
    breaks(p, VIOLATION_TRANSFER, "no transfer brings 'x' of 'a' to 'n2'");
    p = good_plan();
    array_push(&p->transfers, (struct transfer){0, 1, 1, 7, 10});
    breaks(p, VIOLATION_TRANSFER, "from 'n2' to itself");
    p = good_plan();
    p->transfers.at[0].from = 2;
    breaks(p, VIOLATION_TRANSFER, "'n3', which never has it");
    p = good_plan();
    p->transfers.at[0].start = 3;
    breaks(p, VIOLATION_TRANSFER_EARLY, "leaves 'n1' at 3; it is there only at 4");
    p = good_plan();
    p->transfers.at[0].finish = 6;
    breaks(p, VIOLATION_TRANSFER_SHORT, "takes 2 from 'n1' to 'n2'; the network needs 3");
    p = good_plan();
    p->transfers.at[0].finish = INFINITY;
    struct check_result r;
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_TIME), 1, "a transfer without end");
    check_result_free(&r);
    plan_free(p);

    /* A duplicate of a on n2 makes the transfer needless. */
    p = good_plan();
    p->transfers.n = 0;
    array_push(&p->placements, (struct placement){A, 1, 1, 0, 0, 2});
    passes(p, "a plan with a duplicate instead of a transfer");

    /* x reaches n2 over n3, which is allowed: nodes relay what they have. */
    p = good_plan();
    p->transfers.at[0] = (struct transfer){0, 0, 2, 4, 7};
    array_push(&p->transfers, (struct transfer){0, 2, 1, 7, 10});
    p->placements.at[C].start = 10;
    p->placements.at[C].finish = 13;
    p->placements.at[D].start = 13;
    p->placements.at[D].finish = 14;
    plan_set_objective(p, "makespan", 14);
    passes(p, "a relayed transfer");

    /* Ports: x goes to n2 and n3 at once. */
    struct platform *free_platform = platform;
    platform = the_platform(1);
    p = good_plan();
    array_push(&p->transfers, (struct transfer){0, 0, 2, 5, 8});
    breaks(p, VIOLATION_PORTS, "'n1' has 2 transfers at once");
    p = good_plan();
    array_push(&p->transfers, (struct transfer){0, 0, 2, 7, 10});
    passes(p, "one transfer after the other through one port");
    platform_free(platform);
    platform = the_platform(2);
    p = good_plan();
    array_push(&p->transfers, (struct transfer){0, 0, 1, 5, 8});
    breaks(p, VIOLATION_PORTS, "while another message is under way");
    platform_free(platform);
    platform = free_platform;
}

static void test_objectives(void)
{
    struct plan *p = good_plan();
    plan_set_objective(p, "makespan", 10);
    breaks(p, VIOLATION_OBJECTIVE, "claims makespan 10; it is 11");
    p = good_plan();
    plan_set_objective(p, "lower_bound", 11.5);
    breaks(p, VIOLATION_OBJECTIVE, "lower bound of 11.5");
    p = good_plan();
    p->placements.at[0].task = 99;
    struct check_result r;
    struct error err = {0};
    ok(!check_plan(p, w, platform, &r, &err) && err.kind == ERROR_INPUT,
       "a plan of another workflow is an error");
    check_result_free(&r);
    plan_free(p);
}

static void test_order(void)
{
    uint32_t order[] = {A, C, B, D}, eligible[] = {1, 2, 1, 1, 0};
    struct plan *p = plan_new(PLAN_ORDER);
    for (int i = 0; i < 4; i++)
        array_push(&p->order, order[i]);
    for (int i = 0; i < 5; i++)
        array_push(&p->eligible, eligible[i]);
    plan_set_objective(p, "area", 5);
    plan_set_objective(p, "area_bound", 5);
    struct check_result r;
    check_plan(p, w, platform, &r, NULL);
    is_int(r.total, 0, "an order is valid");
    check_result_free(&r);
    p->eligible.at[1] = 3;
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_OBJECTIVE), 1, "a wrong eligible count");
    check_result_free(&r);
    p->eligible.n = 0;
    plan_set_objective(p, "area", 6);
    plan_set_objective(p, "area_bound", 4);
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_OBJECTIVE), 2, "a wrong area, and a bound below it");
    check_result_free(&r);
    p->order.at[0] = D;
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_ORDER) == 1 &&
           strstr(r.violations.at[0].detail, "'d' comes before"),
       "a task before its predecessors");
    check_result_free(&r);
    p->order.at[0] = A;
    p->order.at[1] = A;
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_ORDER), 1, "a task twice");
    check_result_free(&r);
    p->order.n = 3;
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_ORDER) >= 1, "a task missing");
    check_result_free(&r);
    plan_free(p);
}

static void test_stream(void)
{
    struct plan *p = plan_new(PLAN_STREAM);
    uint32_t tasks[] = {A, B, C, D, A}, nodes[] = {0, 1};
    for (int i = 0; i < 5; i++)
        array_push(&p->tasks, tasks[i]);
    for (int i = 0; i < 2; i++)
        array_push(&p->nodes, nodes[i]);
    array_push(&p->clusters, (struct cluster){0, 2, 0, 0, 0, 1, 1});
    array_push(&p->clusters, (struct cluster){2, 2, 4, 1, 1, 1, 1});
    plan_set_objective(p, "processors", 2);
    struct check_result r;
    check_plan(p, w, platform, &r, NULL);
    is_int(r.total, 0, "a stream mapping with a duplicate is valid");
    check_result_free(&r);
    p->clusters.at[1].replicas = 1.5;
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_STREAM) == 1 && count_kind(&r, VIOLATION_OBJECTIVE) == 1,
       "replicas without nodes, and a wrong count of processors");
    check_result_free(&r);
    p->clusters.at[1].replicas = 1;
    p->tasks.at[1] = A;
    check_plan(p, w, platform, &r, NULL);
    ok(count_kind(&r, VIOLATION_STREAM) >= 2, "a task twice and another missing");
    check_result_free(&r);
    p->tasks.at[1] = B;
    p->nodes.at[1] = 0;
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_STREAM), 1, "two clusters on one node");
    check_result_free(&r);
    p->nodes.at[1] = 1;
    w->flags[C] |= TASK_NOT_REPLICABLE;
    p->clusters.at[1].replicas = 2;
    p->clusters.at[1].nnodes = 0;
    plan_set_objective(p, "processors", 3);
    check_plan(p, w, platform, &r, NULL);
    is_int(count_kind(&r, VIOLATION_STREAM), 1, "a replica of what may not be replicated");
    check_result_free(&r);
    w->flags[C] = 0;
    plan_free(p);
}

static void test_partition(void)
{
    /* a(2) -> b(3), c(4); b -> d(5): an out-tree with files 10, 20, 30. */
    struct builder *b = builder_new("<test>", "test");
    double work[] = {2, 3, 4, 5};
    for (uint32_t t = 0; t < 4; t++) {
        builder_task(b, (char[]){(char)('a' + t)}, 1, 0);
        builder_work(b, t, work[t], 0);
    }
    builder_data_edge(b, 0, 1, 10, 0);
    builder_data_edge(b, 0, 2, 20, 0);
    builder_data_edge(b, 1, 3, 30, 0);
    struct workflow *tree = builder_finish(b, NULL);
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 10, 0, NAN, 0);
    platform_builder_node(pb, "p", 1, 0);
    platform_builder_speed(pb, platform_builder_node(pb, "q", 1, 0), 2, 0);
    platform_builder_memory(pb, 1, 60, 0);
    struct platform *two = platform_builder_finish(pb, NULL);
    struct plan *p = plan_new(PLAN_PARTITION);
    uint32_t tasks[] = {0, 2, 1, 3};
    for (int i = 0; i < 4; i++)
        array_push(&p->tasks, tasks[i]);
    array_push(&p->parts, (struct part){0, 0, 0, NONE, 2, NAN});
    array_push(&p->parts, (struct part){1, 1, 2, NONE, 2, NAN});
    plan_set_objective(p, "makespan",
                       6 + 1 + 4); /* {a,c} on p, then 10 bytes, then {b,d} at speed 2 */
    struct check_result r;
    check_plan(p, tree, two, &r, NULL);
    is_int(r.total, 0, "a partition is valid, its makespan that of equation (1)");
    check_result_free(&r);
    /* {b, d} needs 10 + 30 bytes while b runs; strictly, {a, c} needs a's two outputs although b is
     * elsewhere. */
    p->parts.at[1].memory = 40;
    p->parts.at[0].memory = 30;
    check_plan(p, tree, two, &r, NULL);
    is_int(r.total, 0, "the least memory of its parts is right");
    check_result_free(&r);
    p->parts.at[0].memory = 20;
    check_plan(p, tree, two, &r, NULL);
    ok(r.total == 1 && strstr(r.violations.at[0].detail, "claims 20 bytes; it needs 30"),
       "a part that claims too little");
    check_result_free(&r);
    plan_set_option(p, "memory", "lenient");
    check_plan(p, tree, two, &r, NULL);
    is_int(r.total, 0, "counted leniently, files for other parts do not count");
    check_result_free(&r);
    p->parts.at[0].memory = NAN;
    two->memory[1] = 39;
    check_plan(p, tree, two, &r, NULL);
    ok(r.total == 1 && r.violations.at[0].kind == VIOLATION_MEMORY,
       "a part that does not fit its node");
    check_result_free(&r);
    two->memory[1] = 60;
    array_push(&p->tasks, 3);
    array_push(&p->tasks, 1);
    p->parts.at[1].order = 4;
    check_plan(p, tree, two, &r, NULL);
    ok(r.total == 1 && strstr(r.violations.at[0].detail, "is not a traversal"),
       "an order that is none");
    check_result_free(&r);
    p->tasks.at[4] = 1;
    p->tasks.at[5] = 3;
    check_plan(p, tree, two, &r, NULL);
    is_int(r.total, 0, "an order that is one");
    check_result_free(&r);
    p->parts.at[1].node = 0;
    check_plan(p, tree, two, &r, NULL);
    is_int(count_kind(&r, VIOLATION_PARTITION), 1, "a node with two parts");
    check_result_free(&r);
    p->parts.at[1].node = 1;
    p->tasks.at[3] = 2;
    check_plan(p, tree, two, &r, NULL);
    ok(count_kind(&r, VIOLATION_PARTITION) >= 2, "a task in two parts, another in none");
    check_result_free(&r);
    plan_free(p);
    platform_free(two);
    workflow_free(tree);
}

int main(void)
{
    w = the_workflow();
    platform = the_platform(0);
    TAP_DO(test_static());
    TAP_DO(test_transfers());
    TAP_DO(test_objectives());
    TAP_DO(test_order());
    TAP_DO(test_stream());
    TAP_DO(test_partition());
    workflow_free(w);
    platform_free(platform);
    return tap_done();
}
