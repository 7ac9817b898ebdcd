/* Advice: which order for which clients, over the library's own functions; and with every allocation
 * failing once. */
#include "api/testing.h"

#include <stdlib.h>

/* A chain beside tasks of its own: who begins with the chain ends sooner. */
static struct weft_workflow *advice_workflow(uint32_t chain, uint32_t alone,
                                             struct weft_error *error)
{
    error->status = WEFT_NO_MEMORY;
    snprintf(error->text, sizeof error->text, "out of memory"); /* the first call has no error */
    struct weft_builder *b = weft_builder_new("advice");
    char name[16];
    for (uint32_t i = 0; b && i < alone + chain; i++) {
        snprintf(name, sizeof name, "t%u", i);
        uint32_t t = weft_builder_task(b, name);
        weft_builder_work(b, t, 10);
        if (i > alone)
            weft_builder_order(b, t - 1, t);
    }
    return b ? weft_builder_finish(b, error) : NULL;
}

static void test_advice(void)
{
    struct weft_error error;
    struct weft_workflow *w = advice_workflow(5, 8, &error);
    struct weft_advice_options o = WEFT_ADVICE_INIT;
    o.repeat = 50;
    struct weft_advice *a = w ? weft_advice_make(w, "workers:2", &o, &error) : NULL;
    uint32_t runs = 0;
    if (!ok(a != NULL, "advice for two workers: %s", a ? "" : error.text))
        return;
    is_str(weft_advice_clients(a, &runs), "2 workers that stay", "the clients in words");
    is_int(runs, 50, "as many runs as asked for");
    struct weft_advised row, before = {0};
    bool sorted = true, found[2] = {false, false};
    size_t n = 0;
    for (; weft_advice_order(a, n, &row); n++) {
        sorted = sorted && row.mean >= before.mean && row.ratio >= 1 && row.plan;
        before = row;
        found[0] |= !strcmp(row.planner, "fifo") && row.worse && row.ratio > 1.2;
        found[1] |= !strcmp(row.planner, "criticalpath") && !row.worse;
    }
    is_int(n, 7, "seven orders");
    ok(sorted, "by rising time, each with its order");
    ok(found[0], "first in, first out leaves the chain for last, and is seen to be worse");
    ok(found[1], "critical path is as good as the best");
    weft_advice_free(a);
    a = weft_advice_make(w, "workers:64", &o, &error);
    ok(a && weft_advice_order(a, 6, &row) && row.ratio == 1 && !row.worse,
       "with more workers than tasks no order differs");
    weft_advice_free(a);
    ok(!weft_advice_make(w, "crowds", &o, &error) && error.status == WEFT_BAD_INPUT &&
           strstr(error.text, "workers:N"),
       "an unknown pattern");
    o.confidence = 2;
    ok(!weft_advice_make(w, "workers:2", &o, &error) && error.status == WEFT_BAD_INPUT,
       "a confidence of 2");
    weft_workflow_free(w);
}

static bool advice_case(struct weft_error *error)
{
    struct weft_workflow *w = advice_workflow(2, 0, error);
    struct weft_advice_options o = WEFT_ADVICE_INIT;
    o.repeat = 2;
    o.threads = 1;
    struct weft_advice *a = w ? weft_advice_make(w, "single", &o, error) : NULL;
    weft_advice_free(a);
    weft_workflow_free(w);
    return a != NULL;
}

int main(void)
{
    setenv("WEFT_HISTORY", "none", 1);
    test_advice();
    api_fail_each("advice", advice_case, 50);
    return tap_done();
}
