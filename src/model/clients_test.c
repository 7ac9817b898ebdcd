/* Patterns of clients: what is read, what is filled in from the workflow, and what is refused. */
#include "model/clients.h"
#include "model/builder.h"
#include "tap.h"

#include <math.h>

static struct workflow *chain_of(uint32_t n, double work)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        if (work > 0)
            builder_work(b, t, work, 0);
        if (t)
            builder_edge(b, t - 1, t, 0);
    }
    return builder_finish(b, &err);
}

static void test_patterns(void)
{
    static const struct {
        const char *text, *says;
        enum clients_kind kind;
        double count, interval;
    } rows[] = {
        {"workers:8", "8 workers that stay", CLIENTS_WORKERS, 8, 0},
        {"workers:1", "1 worker that stays", CLIENTS_WORKERS, 1, 0},
        {"single", "one client at a time, at random times, 2.5 s apart on average", CLIENTS_SINGLE,
         1, 2.5},
        {"single/30s", "one client at a time, at random times, 30 s apart on average",
         CLIENTS_SINGLE, 1, 30},
        {"batches", "exactly 2 clients at once, every 5 s", CLIENTS_BATCHES, 2, 5},
        {"batches:4/1m", "exactly 4 clients at once, every 60 s", CLIENTS_BATCHES, 4, 60},
        {"poisson:16", "16 clients at once on average, at random times, 5 s apart on average",
         CLIENTS_POISSON, 16, 5},
        {"poisson/2", "2 clients at once on average, at random times, 2 s apart on average",
         CLIENTS_POISSON, 2, 2},
    };
    struct workflow *w = chain_of(10, 5);
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clients c;
        struct error err = {0};
        ok(clients_parse(rows[i].text, w, &c, &err) && c.kind == rows[i].kind &&
               c.count == rows[i].count && c.interval == rows[i].interval && c.deviation == 0.1,
           "%s %s", rows[i].text, err.text);
        strbuf_clear(&text);
        clients_describe(&c, &text);
        is_str(strbuf_text(&text), rows[i].says, "in words");
    }
    strbuf_free(&text);
    workflow_free(w);
    w = chain_of(96 * 8, 0);
    struct clients c;
    struct error err = {0};
    ok(clients_parse("poisson", w, &c, &err) && c.count == 16 && c.interval == 1,
       "768 tasks without work: 16 at once, one second apart");
    workflow_free(w);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "no such pattern"},
        {"worker:8", "no such pattern"},
        {"workers", "how many?"},
        {"workers:0", "1 to 10^9"},
        {"workers:2.5", "1 to 10^9"},
        {"workers:-1", "1 to 10^9"},
        {"workers:4/2", "workers stay"},
        {"single:4", "one at a time"},
        {"poisson:", "1 to 10^9"},
        {"poisson:4/0", "more than 0"},
        {"poisson:4/", "more than 0"},
        {"poisson:4/soon", "more than 0"},
        {"batches:4/2/3", "more than 0"},
        {"single/1ns", "take workers:N"},
        {"single/0.00000001", "take workers:N"},
    };
    struct workflow *w = chain_of(10, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clients c;
        struct error err = {0};
        ok(!clients_parse(rows[i].text, w, &c, &err) && err.kind == ERROR_INPUT, "'%s' is refused",
           rows[i].text);
        has_str(err.text, rows[i].why, "and why");
    }
    workflow_free(w);
}

/* The same task has the same time under every order; a second attempt another. */
static void test_draws(void)
{
    struct rng a, b;
    clients_task_rng(&a, 7, 3, 0);
    clients_task_rng(&b, 7, 3, 0);
    is_dbl(clients_task_time(&a, 10, 0.1), clients_task_time(&b, 10, 0.1), 0, "the same again");
    clients_task_rng(&b, 7, 3, 1);
    clients_task_rng(&a, 7, 3, 0);
    ok(clients_task_time(&a, 10, 0.1) != clients_task_time(&b, 10, 0.1), "another attempt");
    clients_task_rng(&a, 7, 3, 0);
    is_dbl(clients_task_time(&a, 10, 0), 10, 0, "without deviation: the mean");
    double least = 1e9;
    for (uint32_t t = 0; t < 1000; t++) {
        clients_task_rng(&a, 7, t, 0);
        least = fmin(least, clients_task_time(&a, 10, 3));
    }
    is_dbl(least, 0.1, 1e-12, "cut at a hundredth of the mean");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_patterns),
        TAP_CASE(test_refused),
        TAP_CASE(test_draws),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
