/* A graph built in code, planned, and executed in virtual time: without noise, then a hundred times
 * with it, then with a node that fails.
 *
 *     cc simulate.c $(pkg-config --cflags --libs weft) -lm -o simulate && ./simulate
 */
#include <math.h>
#include <stdio.h>
#include <weft/weft.h>

/* split -> eight parts -> join, with files between them. The builder keeps the first mistake, so
 * that only its end is checked. */
static struct weft_workflow *build(struct weft_error *error)
{
    struct weft_builder *b = weft_builder_new("map-reduce");
    if (!b)
        return NULL;
    uint32_t split = weft_builder_task(b, "split"), join = weft_builder_task(b, "join");
    weft_builder_work(b, split, 2);
    weft_builder_work(b, join, 3);
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "part-%d", i);
        uint32_t part = weft_builder_task(b, name);
        weft_builder_work(b, part, 5 + i % 3);
        weft_builder_data(b, split, part, 20e6); /* bytes */
        weft_builder_data(b, part, join, 5e6);
    }
    return weft_builder_finish(b, error);
}

/* Called for everything that happens, in virtual time. */
static void count_tasks(void *context, const struct weft_trace *event)
{
    if (event->kind == WEFT_TRACE_TASK)
        ++*(unsigned *)context;
}

static bool show(const char *what, struct weft_sim *s)
{
    struct weft_metric m;
    if (!s)
        return false;
    weft_sim_metric(s, 0, &m); /* the makespan */
    if (isinf(m.half_width))
        printf("%-12s %.3f s\n", what, m.value);
    else
        printf("%-12s %.3f s, 95 %% within +- %.3f\n", what, m.mean, m.half_width);
    weft_sim_free(s);
    return true;
}

int main(void)
{
    struct weft_error error;
    struct weft_workflow *flow = build(&error);
    struct weft_platform *nodes =
        flow ? weft_platform_named("homogeneous:n=4,bandwidth=1e8", &error) : NULL;
    struct weft_plan *plan = nodes ? weft_plan_make(flow, nodes, "heft", NULL, &error) : NULL;
    bool good = plan != NULL;
    unsigned tasks = 0;
    if (good) {
        struct weft_sim_options once = WEFT_SIM_INIT;
        once.event = count_tasks;
        once.context = &tasks;
        printf("%-12s %.3f s\n", "planned", weft_plan_objective(plan, "makespan"));
        good = show("simulated", weft_sim_plan(plan, &once, &error));
    }
    if (good) {
        struct weft_sim_options noisy = WEFT_SIM_INIT;
        noisy.noise = 0.2; /* 20 % */
        noisy.repeat = 100;
        good = show("with noise", weft_sim_plan(plan, &noisy, &error));
    }
    if (good) {
        struct weft_sim_options faulty = WEFT_SIM_INIT;
        struct weft_fault fault = {1, 4, 10}; /* node 1 at second 4, for 10 seconds */
        faulty.faults = &fault;
        faulty.nfaults = 1;
        good = show("with a fault", weft_sim_plan(plan, &faulty, &error));
    }
    if (good)
        printf("%u tasks ran\n", tasks);
    else
        fprintf(stderr, "%s\n", error.text);
    weft_plan_free(plan);
    weft_platform_free(nodes);
    weft_workflow_free(flow);
    return good ? 0 : (int)error.status;
}
