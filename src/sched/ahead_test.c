/* Running ahead of the store (ahead.c): what starts early, what its end says, and what becomes of it when
 * the store has another opinion. Whole worlds of it are in tests/faults. */
#include "model/builder.h"
#include "sched/testing.h"

/* t0 before t1, t2 after both, all held here. */
static struct workflow *ahead_graph(void)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[8];
    for (uint32_t t = 0; t < 3; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    builder_edge(b, 0, 1, 0);
    builder_edge(b, 0, 2, 0);
    builder_edge(b, 1, 2, 0);
    return builder_finish(b, &err);
}

/* Three tasks that wait as the graph says. The first runs. */
static struct bed ahead_bed(const struct workflow *w, bool ahead)
{
    struct bed b = bed_new(
        (struct sched_config){.nodes = 2, .cores = 2, .wait_poll = -1, .ahead = ahead ? w : NULL});
    for (uint32_t t = 0; t < 3; t++) {
        b.waiting = t;
        submit(&b, t, 1);
    }
    return b;
}

static struct sched_start running(const struct bed *b, uint32_t task)
{
    uint32_t slot = slots_find(&b->s->tasks, task);
    return (struct sched_start){.task = task, .slot = slot};
}

/* The store's word about the end of a task. */
static void tell_end(struct bed *b, uint32_t task, uint8_t kind, uint8_t outcome, uint32_t holder,
                     uint32_t ready)
{
    struct meta_item item = {.task = ready, .epoch = 1, .holder = 0, .max_node = NONE};
    struct meta_answer a = {.kind = kind,
                            .outcome = outcome,
                            .status = outcome == META_OK ? META_DONE : META_QUEUED,
                            .slot = running(b, task).slot,
                            .asked_epoch = 1,
                            .count = ready != NONE,
                            .item = {.task = task, .epoch = 1, .holder = holder}};
    event(b, (struct sched_event){.kind = SCHED_EVENT_STORE,
                                  .store = {.at = &a, .n = 1, .items = &item}});
}

static void test_chain_runs(void)
{
    struct workflow *w = ahead_graph();
    struct bed b = ahead_bed(w, true);
    end_task(&b, running(&b, 0), 1, false, 0);
    ok(b.out.starts.n == 1 && b.out.starts.at[0].task == 1, "its child starts at once");
    ok(b.out.ops.n == 1 && !b.out.ops.at[0].ahead, "the first end is like any other");
    end_task(&b, running(&b, 1), 1, false, 0);
    ok(b.out.starts.n == 1 && b.out.starts.at[0].task == 2, "the last has both its parents");
    ok(b.out.ops.n == 1 && b.out.ops.at[0].ahead, "the end of one that ran ahead says so");
    tell_end(&b, 0, META_COMPLETE, META_OK, 0, 1);
    tell_end(&b, 1, META_COMPLETE, META_OK, 0, 2);
    ok(!b.out.starts.n && look(&b).done == 2, "the store's word starts nothing twice");
    end_task(&b, running(&b, 2), 1, false, 0);
    ok(b.out.ops.n == 1 && !b.out.ops.at[0].ahead, "one whose parents count is like any other");
    bed_free(&b);
    workflow_free(w);
}

static void test_waits_without(void)
{
    struct workflow *w = ahead_graph();
    struct bed b = ahead_bed(w, false);
    end_task(&b, running(&b, 0), 1, false, 0);
    is_int(b.out.starts.n, 0, "without a graph it waits for the store");
    tell_end(&b, 0, META_COMPLETE, META_OK, 0, 1);
    is_int(b.out.starts.n, 1, "and starts by its word");
    bed_free(&b);
    workflow_free(w);
}

/* Another has the parent: what was made of its end does not count. */
static void test_refused(uint8_t kind)
{
    struct workflow *w = ahead_graph();
    struct bed b = ahead_bed(w, true);
    end_task(&b, running(&b, 0), 1, false, 0);
    end_task(&b, running(&b, 1), 1, kind == META_REMOVE, 0);
    ok(b.out.ops.n == 1 && b.out.ops.at[0].kind == kind && b.out.ops.at[0].ahead,
       "the end of the child is on its way");
    tell_end(&b, 0, META_COMPLETE, META_STALE, 1, NONE);
    is_int(sched_place(b.s, 0, NULL), SCHED_NOWHERE, "the parent is another's");
    tell_end(&b, 1, kind, META_STALE, 0, NONE);
    is_int(sched_place(b.s, 1, NULL), SCHED_WAITQ, "the child waits again: it is still ours");
    ok(b.out.ops.n == 1 && b.out.ops.at[0].kind == META_GET, "and the store is asked about it");
    tell_end(&b, 0, META_COMPLETE, META_OK, 1, 1); /* heard from the other */
    ok(b.out.starts.n == 1 && b.out.starts.at[0].task == 1 && b.out.starts.at[0].attempt == 1,
       "it runs when its parent counts, as for the first time");
    bed_free(&b);
    workflow_free(w);
}

/* An end that is refused may come again: it must not be counted twice. */
static void test_not_counted_twice(void)
{
    struct workflow *w = ahead_graph();
    struct bed b = ahead_bed(w, true);
    end_task(&b, running(&b, 0), 1, false, 0); /* t2 waits for t1 alone now, as far as we know */
    tell_end(&b, 0, META_COMPLETE, META_STALE, 1, NONE);
    b.waiting = 0;
    submit(&b, 0, 1); /* it comes back */
    is_int(sched_place(b.s, 2, NULL), SCHED_WAITQ, "the last waits");
    end_task(&b, running(&b, 1), 1, false, 0);
    is_int(sched_place(b.s, 2, NULL), SCHED_WAITQ, "and knows no more what for");
    bed_free(&b);
    workflow_free(w);
}

static void test_refused_end(void)
{
    test_refused(META_COMPLETE);
}

static void test_refused_failure(void)
{
    test_refused(META_REMOVE);
}

/* What runs ahead is stolen like anything else: on a folder that all see (MLB), too. */
static void test_may_be_stolen(void)
{
    static const struct {
        enum sched_policy policy;
        double bytes;
        uint32_t spare;
        const char *why;
    } cases[] = {
        {SCHED_MLB, 1e9, 1, "under MLB whatever its data"},
        {SCHED_FLDS, 10, 1, "under FLDS with little data"},
        {SCHED_RLDS, 10, 1, "under RLDS with little data"},
        {SCHED_RLDS, 1e12, 0, "but not with much"},
        {SCHED_MDL, 10, 0, "under MDL it stays with its data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct builder *g = builder_new("<test>", "test");
        struct error err = {0};
        for (uint32_t t = 0; t < 3; t++)
            builder_task(g, (const char[]){'t', (char)('0' + t)}, 2, 0);
        builder_edge(g, 0, 1, 0);
        builder_edge(g, 0, 2, 0);
        struct workflow *w = builder_finish(g, &err);
        struct bed b = bed_new((struct sched_config){
            .nodes = 2, .wait_poll = -1, .ahead = w, .policy = cases[i].policy});
        submit(&b, 0, 1);
        b.waiting = 1;
        submit(&b, 1, 2);
        struct sched_ended e = {
            .task = 0, .slot = running(&b, 0).slot, .finish = 1, .bytes = cases[i].bytes};
        event(&b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
        is_int(b.out.starts.n, 1, "one child starts, the other waits for the core");
        message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0}, NULL);
        is_int(b.out.sends.at[0].load, cases[i].spare, "%s", cases[i].why);
        bed_free(&b);
        workflow_free(w);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_chain_runs),        TAP_CASE(test_waits_without),
        TAP_CASE(test_refused_end),       TAP_CASE(test_refused_failure),
        TAP_CASE(test_not_counted_twice), TAP_CASE(test_may_be_stolen)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
