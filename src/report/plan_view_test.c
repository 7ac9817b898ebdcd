#include "report/plan_view.h"
#include "base/json.h"
#include "model/builder.h"
#include "tap.h"

static struct workflow *three_tasks(void)
{
    static const char *const names[] = {"load", "sort", "<b>"};
    struct builder *b = builder_new("<test>", "test");
    builder_name(b, "demo", 4);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t t = builder_task(b, names[i], strlen(names[i]), 0);
        builder_memory(b, t, 10 * (i + 1), 0);
        if (i)
            builder_data_edge(b, i - 1, i, 7, 0);
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

static struct platform *two_nodes(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node = platform_builder_node(b, i ? "n1" : "n0", 2, 0);
        platform_builder_cores(b, node, 2, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

static char *shown(const struct plan *plan, const struct workflow *w, const struct platform *p)
{
    struct strbuf out = {0};
    struct json_writer j;
    json_write_start(&j, &out, false);
    json_write_object(&j);
    plan_view(&j, plan, w, p);
    json_write_end_object(&j);
    return strbuf_steal(&out);
}

int main(void)
{
    struct workflow *w = three_tasks();
    struct platform *p = two_nodes();
    struct plan *plan = plan_new(PLAN_STATIC);
    /* load 0..1, sort 1..3 after it, <b> 2..4 beside sort: 30, then 20, then 50, then 30 bytes */
    array_push(&plan->placements, (struct placement){0, 0, 0, 0, 0, 1});
    array_push(&plan->placements, (struct placement){1, 0, 0, 0, 1, 3});
    array_push(&plan->placements, (struct placement){2, 0, 0, 1, 2, 4});
    array_push(&plan->placements, (struct placement){77, 0, 0, 1, 2, 4}); /* no such task */
    array_push(&plan->transfers, (struct transfer){0, 0, 1, 1, 2});
    double time[PLAN_VIEW_STEPS + 1], bytes[PLAN_VIEW_STEPS + 1];
    is_int(plan_view_memory(plan, w, p, 0, time, bytes), PLAN_VIEW_STEPS, "memory over time");
    is_dbl(bytes[PLAN_VIEW_STEPS / 8], 10, 0, "one task");
    is_dbl(bytes[PLAN_VIEW_STEPS * 3 / 8], 20, 0, "the next one: the first has ended");
    is_dbl(bytes[PLAN_VIEW_STEPS * 5 / 8], 50, 0, "two that run at once are added");
    is_dbl(bytes[PLAN_VIEW_STEPS * 7 / 8], 30, 0, "and one is left");
    double most = 0;
    for (uint32_t i = 0; i < PLAN_VIEW_STEPS; i++)
        most = bytes[i] > most ? bytes[i] : most;
    is_dbl(most, 50, 0, "never more than ran at once");
    is_int(plan_view_memory(plan, w, p, 1, time, bytes), 0, "a node without tasks needs none");

    char *a = shown(plan, w, p);
    struct json j;
    struct error err = {0};
    ok(json_parse(&j, "view", a, strlen(a), &err), "is JSON %s", err.text);
    json_free(&j);
    free(a);
    a = shown(plan, w, p);
    has_str(a, "\"name\":[\"load\",\"sort\",\"<b>\"]",
            "placements as columns, what no task is left out");
    has_str(a, "\"finish\":[1,3,4]", "with their times");
    has_str(a, "\"used\":false", "a node that does nothing says so");
    has_str(a, "\"bytes\":7,\"from\":0,\"to\":1", "transfers");
    free(a);
    plan_free(plan);

    plan = plan_new(PLAN_ORDER);
    for (uint32_t t = 0; t < 3; t++)
        array_push(&plan->order, t);
    a = shown(plan, w, p);
    has_str(a, "\"eligible\":[1,1,1,0]", "an order with its eligible tasks");
    free(a);
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
    return tap_done();
}
