#include "model/select.h"
#include "base/rng.h"
#include "model/builder.h"
#include "tap.h"

/* A random workflow with files, orders, settings; some tasks of a family. */
static struct workflow *random_workflow(struct rng *rng, uint32_t n)
{
    struct builder *b = builder_new("flow", "native");
    char name[40];
    builder_parameter(b, "p", "1");
    for (uint32_t t = 0; t < n; t++) {
        int length = snprintf(name, sizeof name, t % 3 ? "t%u" : "f@i=%u", t);
        builder_task(b, name, (size_t)length, t + 1);
        builder_command(b, t, "c {in} {p}", 10);
        builder_memory(b, t, t * 10, 0);
        builder_cores(b, t, 1 + t % 2, 0);
        if (t % 2)
            builder_retries(b, t, t, 0);
        snprintf(name, sizeof name, "o%u", t);
        uint32_t o = builder_object(b, name, strlen(name));
        builder_produces(b, t, o, 0);
        builder_size(b, o, t + 1, 0);
        if (t % 4 == 0)
            builder_temporary(b, o);
        for (uint32_t k = 0; k < 2 && t; k++) {
            uint32_t from = rng_below(rng, t);
            snprintf(name, sizeof name, "o%u", from);
            if (rng_below(rng, 3))
                builder_consumes(b, t, builder_object(b, name, strlen(name)), 0);
            else
                builder_edge(b, from, t, 0);
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

/* Can `to` be reached from `from`? By walking every path: the oracle. */
static bool reaches(const struct workflow *w, uint32_t from, uint32_t to)
{
    if (from == to)
        return true;
    for (uint32_t e = w->succ_off[from]; e < w->succ_off[from + 1]; e++)
        if (reaches(w, w->succ_task[e], to))
            return true;
    return false;
}

static void test_parts(void)
{
    struct rng rng;
    rng_seed(&rng, 3);
    int wrong = 0, same = 0;
    for (int round = 0; round < 60; round++) {
        struct workflow *w = random_workflow(&rng, 12);
        struct error err = {0};
        uint8_t all[12];
        memset(all, 1, sizeof all);
        struct workflow *whole = workflow_part(w, all, NULL, &err);
        same += whole && workflow_equal(w, whole, &err);
        workflow_free(whole);
        uint32_t target = rng_below(&rng, 12), since = rng_below(&rng, 12);
        const char *targets[] = {workflow_task_name(w, target), NULL};
        const char *sinces[] = {workflow_task_name(w, since), NULL};
        bool with = round % 2;
        struct workflow *part = workflow_select(w, targets, with ? sinces : NULL, &err);
        for (uint32_t t = 0; t < 12; t++) {
            bool expected = reaches(w, t, target) && (!with || reaches(w, since, t));
            bool there = part && workflow_find_task(part, workflow_task_name(w, t)) != NONE;
            wrong += expected != there;
        }
        workflow_free(part);
        workflow_free(w);
    }
    is_int(wrong, 0, "60 parts: exactly the tasks that paths say");
    is_int(same, 60, "the part that is everything is the same workflow");
}

static void test_names(void)
{
    struct rng rng;
    rng_seed(&rng, 1);
    struct workflow *w = random_workflow(&rng, 12);
    struct error err = {0};
    uint8_t marks[12] = {0};
    ok(select_named(w, "f", marks, &err) && marks[0] && marks[3] && marks[6] && marks[9] &&
           !marks[1],
       "a family");
    memset(marks, 0, sizeof marks);
    ok(select_named(w, "o7", marks, &err) && marks[7] && !marks[6], "the maker of a file");
    ok(!select_named(w, "f@i=33", marks, &err) && strstr(err.text, "did you mean 'f@i=3'?"),
       "a slip: %s", err.text);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_parts), TAP_CASE(test_names)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
