/* What is in the memory of a node at once, against an oracle of its own: at the middle between any two
 * neighbouring instants of a plan, every object is looked at by the words of the definition. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "tap.h"

/* Somebody on the node makes, receives, reads or sends the object at or before (`after` false) or at or after
 * the time. */
static bool used_on(const struct plan *plan, const struct workflow *w, uint32_t object,
                    uint32_t node, double time, bool after)
{
    uint32_t count;
    const uint32_t *reader = workflow_consumers(w, object, &count);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        bool uses = w->producer[object] == x->task;
        for (uint32_t r = 0; r < count; r++)
            uses |= reader[r] == x->task;
        if (uses && x->node == node && (after ? x->finish >= time : x->start <= time))
            return true;
    }
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *x = &plan->transfers.at[i];
        if (x->object == object && (x->from == node || x->to == node) &&
            (after ? x->finish >= time : x->start <= time))
            return true;
    }
    return false;
}

static bool reader_runs(const struct plan *plan, const struct workflow *w, uint32_t object,
                        uint32_t node, double time)
{
    uint32_t count;
    const uint32_t *reader = workflow_consumers(w, object, &count);
    for (size_t i = 0; i < plan->placements.n; i++)
        for (uint32_t r = 0; r < count; r++) {
            const struct placement *x = &plan->placements.at[i];
            if (x->task == reader[r] && x->node == node && x->start <= time && x->finish >= time)
                return true;
        }
    return false;
}

static double bytes_at(const struct plan *plan, const struct workflow *w, uint32_t node,
                       double time)
{
    double bytes = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (x->node == node && x->start <= time && x->finish >= time)
            bytes += w->memory[x->task];
    }
    for (uint32_t o = 0; o < w->nobjects; o++) {
        bool there = w->producer[o] == NONE ? reader_runs(plan, w, o, node, time)
                                            : used_on(plan, w, o, node, time, false) &&
                                                  used_on(plan, w, o, node, time, true);
        bytes += there ? w->size[o] : 0;
    }
    return bytes;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double peak_by_definition(const struct plan *plan, const struct workflow *w, uint32_t node)
{
    double times[256], most = 0;
    size_t n = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        times[n++] = plan->placements.at[i].start;
        times[n++] = plan->placements.at[i].finish;
    }
    for (size_t i = 0; i < plan->transfers.n; i++) {
        times[n++] = plan->transfers.at[i].start;
        times[n++] = plan->transfers.at[i].finish;
    }
    qsort(times, n, sizeof *times, compare_times);
    for (size_t i = 1; i < n; i++)
        if (times[i] > times[i - 1])
            most = fmax(most, bytes_at(plan, w, node, (times[i] + times[i - 1]) / 2));
    return most;
}

/* Two tiers, shared objects, an input of the workflow, a result; placed at random, in time. */
static struct workflow *random_files(struct rng *rng)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    uint32_t tasks = 2 + (uint32_t)rng_below(rng, 6);
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 9), 0);
        builder_memory(b, task, (double)rng_below(rng, 9), 0);
        uint32_t out = builder_object(b, name, (size_t)sprintf(name, "o%u", t));
        builder_size(b, out, 1 + (double)rng_below(rng, 20), 0);
        builder_produces(b, task, out, 0);
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(rng, 3) == 0)
                builder_consumes(b, task, builder_object(b, name, (size_t)sprintf(name, "o%u", u)),
                                 0);
        if (rng_below(rng, 3) == 0) {
            uint32_t in = builder_object(b, "given", 5);
            builder_size(b, in, 7, 0);
            builder_consumes(b, task, in, 0);
        }
    }
    return builder_finish(b, NULL);
}

static struct plan *random_times(struct rng *rng, const struct workflow *w)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    double finish[16] = {0};
    uint32_t node[16];
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        node[t] = (uint32_t)rng_below(rng, 3);
        double start = (double)rng_below(rng, 4);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t u = w->pred_task[e], o = w->pred_object[e];
            if (node[u] == node[t] || o == NONE) {
                start = fmax(start, finish[u]);
                continue;
            }
            double leaves = finish[u] + (double)rng_below(rng, 5);
            array_push(&plan->transfers,
                       (struct transfer){o, node[u], node[t], leaves, leaves + 2});
            start = fmax(start, leaves + 2);
        }
        finish[t] = start + w->work[t];
        array_push(&plan->placements, (struct placement){t, 0, node[t], 0, start, finish[t]});
    }
    /* one transfer to each node that reads: further ones would begin residences of their own */
    for (size_t i = 0; i < plan->transfers.n; i++)
        for (size_t k = plan->transfers.n; k-- > i + 1;)
            if (plan->transfers.at[k].object == plan->transfers.at[i].object &&
                plan->transfers.at[k].to == plan->transfers.at[i].to)
                plan->transfers.at[k] = plan->transfers.at[--plan->transfers.n];
    return plan;
}

static struct platform *three_nodes(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    for (int n = 0; n < 3; n++)
        platform_builder_memory(b, platform_builder_node(b, (char[]){(char)('a' + n)}, 1, 0), 1, 0);
    return platform_builder_finish(b, NULL);
}

static void test_oracle(void)
{
    struct rng rng;
    rng_seed(&rng, 20);
    struct platform *p = three_nodes();
    uint32_t wrong = 0;
    for (int round = 0; round < 300; round++) {
        struct workflow *w = random_files(&rng);
        struct plan *plan = random_times(&rng, w);
        plan->memory = MEMORY_FILES;
        for (uint32_t n = 0; n < 3; n++)
            p->memory[n] = INFINITY;
        for (uint32_t n = 0; n < 3; n++) {
            double peak = peak_by_definition(plan, w, n);
            p->memory[n] = peak;
            wrong += !check_plan_memory(plan, w, p, NULL);
            if (peak > 0) {
                p->memory[n] = peak - 0.5;
                wrong += check_plan_memory(plan, w, p, NULL);
            }
            p->memory[n] = INFINITY;
        }
        plan_free(plan);
        workflow_free(w);
    }
    is_int(wrong, 0, "the peak of every node of 300 plans is the definition's, to half a byte");
    platform_free(p);
}

/* a writes x, sends it twice to node b with a reader after each. */
static void test_twice(void)
{
    struct builder *b = builder_new("<test>", "test");
    builder_task(b, "a", 1, 0);
    builder_task(b, "r", 1, 0);
    builder_task(b, "s", 1, 0);
    builder_task(b, "big", 3, 0);
    builder_memory(b, 3, 95, 0);
    uint32_t x = builder_object(b, "x", 1);
    builder_size(b, x, 10, 0);
    builder_produces(b, 0, x, 0);
    builder_consumes(b, 1, x, 0);
    builder_consumes(b, 2, x, 0);
    struct workflow *w = builder_finish(b, NULL);
    struct platform *p = three_nodes();
    p->memory[0] = p->memory[1] = 100;
    struct plan *plan = plan_new(PLAN_STATIC);
    array_push(&plan->placements, (struct placement){0, 0, 0, 0, 0, 1});
    array_push(&plan->placements, (struct placement){1, 0, 1, 0, 2, 3});
    array_push(&plan->placements, (struct placement){3, 0, 1, 0, 4, 5});
    array_push(&plan->placements, (struct placement){2, 0, 1, 0, 7, 8});
    array_push(&plan->transfers, (struct transfer){x, 0, 1, 1, 2});
    struct error err = {0};
    plan->memory = MEMORY_FILES;
    ok(!check_plan_memory(plan, w, p, &err), "a file that waits for its second reader counts");
    is_str(err.text, "at 4, 'b' needs 105 bytes of its 100: file 'x' 10, task 'big' 95",
           "node, time and what is there are named");
    array_push(&plan->transfers, (struct transfer){x, 0, 1, 6, 7});
    ok(check_plan_memory(plan, w, p, NULL), "one that is brought again was not there in between");
    plan->transfers.n = 1;
    plan->memory = MEMORY_UNSTATED;
    ok(check_plan_memory(plan, w, p, NULL), "a plan that says nothing counted tasks alone");
    p->memory_rule = MEMORY_FILES;
    ok(!check_plan_memory(plan, w, p, NULL), "unless the platform says that files count");
    plan->memory = MEMORY_TASKS;
    ok(check_plan_memory(plan, w, p, NULL), "the plan's own word goes first");
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_oracle());
    TAP_DO(test_twice());
    return tap_done();
}
