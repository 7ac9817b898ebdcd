/* Files in memory during a replay: what the replay counts is what the checker counts, which has code of its
 * own; and a plan that waits for memory is followed by the clock. */
#include "model/builder.h"
#include "model/check.h"
#include "sim/replay.h"
#include "tap.h"

static struct workflow *the_diamond(void)
{
    struct builder *b = builder_new("<test>", "test");
    static const char *const reads[] = {"", "x", "y", "uv"}, *const makes[] = {"xy", "u", "v", ""};
    for (uint32_t t = 0; t < 4; t++) {
        builder_task(b, (char[]){(char)('a' + t)}, 1, 0);
        builder_work(b, t, 10, 0);
        builder_memory(b, t, 10, 0);
        for (const char *c = makes[t]; *c; c++) {
            uint32_t o = builder_object(b, c, 1);
            builder_size(b, o, 60, 0);
            builder_produces(b, t, o, 0);
        }
        for (const char *c = reads[t]; *c; c++)
            builder_consumes(b, t, builder_object(b, c, 1), 0);
    }
    return builder_finish(b, NULL);
}

static void test_diamond(void)
{
    struct workflow *w = the_diamond();
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 60, 0, NAN, 0); /* a second a file */
    for (int n = 0; n < 2; n++)
        platform_builder_memory(pb, platform_builder_node(pb, (char[]){(char)('l' + n)}, 1, 0), 190,
                                0);
    struct platform *p = platform_builder_finish(pb, NULL);
    struct plan *plan = plan_new(PLAN_STATIC);
    plan->memory = MEMORY_FILES;
    array_push(&plan->placements, (struct placement){0, 0, 0, 0, 0, 10});
    array_push(&plan->placements, (struct placement){1, 0, 0, 0, 10, 20});
    /* c could start at 11; the plan has it wait */
    array_push(&plan->placements, (struct placement){2, 0, 1, 0, 13, 23});
    array_push(&plan->placements, (struct placement){3, 0, 1, 0, 24, 34});
    uint32_t y = workflow_find_object(w, "y"), u = workflow_find_object(w, "u");
    array_push(&plan->transfers, (struct transfer){y, 0, 1, 12, 13});
    array_push(&plan->transfers, (struct transfer){u, 0, 1, 23, 24});
    ok(check_plan_memory(plan, w, p, NULL), "the plan keeps to memory");
    struct replay_options o;
    struct replay_result r;
    struct error err = {0};
    replay_options_init(&o);
    ok(replay_run(w, p, plan, &o, &r, &err), "it is replayed: %s", err.text);
    is_dbl(r.makespan, 34, 1e-9, "nothing begins before its time");
    is_dbl(r.start[2], 13, 1e-9, "c waits, though its data could be there");
    is_dbl(r.node_peak[0], 190, 1e-9, "b runs where y still waits: 10 + 60 + 60 + 60");
    is_dbl(r.node_peak[1], 130, 1e-9, "c and its files, then d and its files");
    is_int(r.node_exceeded_by[0], NONE, "no node is exceeded");
    replay_result_free(&r);
    for (uint32_t n = 0; n < 2; n++) {
        p->memory[n] = n ? 129 : 189;
        ok(!check_plan_memory(plan, w, p, NULL), "a byte less is too little for the checker");
        replay_run(w, p, plan, &o, &r, &err);
        ok(r.node_exceeded_by[n] != NONE, "and for the replay");
        replay_result_free(&r);
        p->memory[n] = 190;
    }
    plan->memory = MEMORY_TASKS;
    replay_run(w, p, plan, &o, &r, &err);
    is_dbl(r.node_peak[0], 10, 1e-9, "by tasks alone: 10");
    is_dbl(r.makespan, 31, 1e-9, "and as early as data allow");
    replay_result_free(&r);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_diamond());
    return tap_done();
}
