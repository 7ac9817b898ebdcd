#include "cluster/client/share.h"
#include "base/mem.h"
#include "model/builder.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `chains` chains of `length` tasks, their tasks numbered across: neighbours in the graph are far
 * apart in number. */
static struct workflow *share_test_chains(uint32_t count, uint32_t length)
{
    struct builder *b = builder_new("chains", "test");
    char name[32];
    for (uint32_t i = 0; i < length; i++)
        for (uint32_t c = 0; c < count; c++) {
            int n = snprintf(name, sizeof name, "t%u_%u", c, i);
            uint32_t t = builder_task(b, name, (size_t)n, 0);
            if (i)
                builder_edge(b, t - count, t, 0);
        }
    return builder_finish(b, NULL);
}

static uint32_t cut_edges(const struct workflow *w, const uint32_t *home)
{
    uint32_t cut = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            cut += home[t] != home[w->pred_task[e]];
    return cut;
}

static uint32_t at_node(const struct workflow *w, const uint32_t *home, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        n += home[t] == node;
    return n;
}

static void test_equal(void)
{
    static const uint32_t nodes[] = {7, 3, 11};
    struct workflow *w = share_test_chains(9, 10);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 3, NULL, NULL}, NULL, home);
    for (int i = 0; i < 3; i++)
        is_int(at_node(w, home, nodes[i]), 30, "a third of the tasks each");
    is_int(cut_edges(w, home), 0, "no chain is cut");
    share_tasks(w, SHARE_WORST, &(struct share_agents){nodes, 3, NULL, NULL}, NULL, home);
    is_int(at_node(w, home, 7), 90, "worst: all to the first");
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 1, NULL, NULL}, NULL, home);
    is_int(at_node(w, home, 7), 90, "one agent has all");
    free(home);
    workflow_free(w);
}

static void test_skip(void)
{
    static const uint32_t nodes[] = {0, 1};
    struct workflow *w = share_test_chains(4, 5);
    uint8_t *skip = mem_new_zero(uint8_t, w->ntasks);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) /* the first two chains are done */
        skip[t] = t % 4 < 2;
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, skip, home);
    is_int(at_node(w, home, NONE), 10, "what is done has no home");
    is_int(at_node(w, home, 0), 5, "half of what must run");
    is_int(at_node(w, home, 1), 5, "and the other half");
    for (uint32_t t = 0; t < w->ntasks; t++)
        skip[t] = 1;
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, skip, home);
    is_int(at_node(w, home, NONE), w->ntasks, "nothing to do, nobody does it");
    free(skip);
    free(home);
    workflow_free(w);
}

static void test_work(void)
{
    static const uint32_t nodes[] = {0, 1};
    struct builder *b = builder_new("work", "test");
    char name[16];
    for (uint32_t i = 0; i < 11; i++) {
        int n = snprintf(name, sizeof name, "t%u", i);
        uint32_t t = builder_task(b, name, (size_t)n, 0);
        builder_work(b, t, i ? 1 : 10, 0);
    }
    struct workflow *w = builder_finish(b, NULL);
    uint32_t home[11];
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, NULL, home);
    is_int(at_node(w, home, 0), 1, "a long task is as much as ten short ones");
    is_int(at_node(w, home, 1), 10, "which the other has");
    workflow_free(w);
}

static void test_deep(void)
{
    static const uint32_t nodes[] = {0, 1, 2, 3};
    struct workflow *w = share_test_chains(1, 300000);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 4, NULL, NULL}, NULL, home);
    is_int(cut_edges(w, home), 3, "a long chain is cut three times");
    is_int(at_node(w, home, 2), 75000, "into quarters");
    free(home);
    workflow_free(w);
}

/* Eight columns, rows that read their neighbours above: so many bytes of each. Without `across` columns do not
 * touch. */
static struct workflow *share_test_grid(uint32_t rows, bool across, double bytes)
{
    struct builder *b = builder_new("grid", "test");
    char name[32];
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t x = 0; x < 8; x++) {
            int n = snprintf(name, sizeof name, "t%u_%u", row, x);
            uint32_t t = builder_task(b, name, (size_t)n, 0),
                     o = builder_object(b, name, (size_t)n);
            builder_size(b, o, bytes, 0);
            builder_produces(b, t, o, 0);
            for (uint32_t y = x > 0 ? x - 1 : 0; row && y <= x + 1 && y < 8; y++)
                if (across || y == x)
                    builder_consumes(b, t, (row - 1) * 8 + y, 0);
        }
    return builder_finish(b, NULL);
}

static void test_narrow(void)
{
    static const uint32_t nodes[] = {0, 1};
    enum { ROWS = 100 };
    struct workflow *w = share_test_grid(ROWS, true, 0);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, NULL, home);
    uint32_t uneven = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t first = 0;
        for (uint32_t x = 0; x < 8; x++)
            first += home[row * 8 + x] == 0;
        uneven += first != 4;
    }
    is_int(uneven, 0,
           "each row is half one's, half the other's: rows do not wait for each other's agent");
    ok(cut_edges(w, home) <= 2 * ROWS,
       "and only where the halves touch does data travel (%u edges)", cut_edges(w, home));
    workflow_free(w);
    w = share_test_grid(ROWS, false, 0);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, NULL, home);
    is_int(cut_edges(w, home), 0, "columns that do not touch are not cut");
    free(home);
    workflow_free(w);
}

/* One, eight, one, eight, ...: connected shares would be the first stages and the others. */
static void test_stages(void)
{
    static const uint32_t nodes[] = {0, 1};
    enum { STAGES = 20, WIDE = 8 };
    struct builder *b = builder_new("stages", "test");
    char name[32];
    uint32_t joint = NONE;
    for (uint32_t s = 0; s < STAGES; s++) {
        uint32_t first = joint + 1; /* 0 at first */
        for (uint32_t x = 0; x < WIDE; x++) {
            uint32_t t =
                builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u_%u", s, x), 0);
            if (joint != NONE)
                builder_edge(b, joint, t, 0);
        }
        joint = builder_task(b, name, (size_t)snprintf(name, sizeof name, "j%u", s), 0);
        for (uint32_t x = 0; x < WIDE; x++)
            builder_edge(b, first + x, joint, 0);
    }
    struct workflow *w = builder_finish(b, NULL);
    uint32_t home[STAGES * (WIDE + 1)];
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, NULL, home);
    uint32_t uneven = 0;
    for (uint32_t s = 0; s < STAGES; s++) {
        uint32_t first = 0;
        for (uint32_t x = 0; x < WIDE; x++)
            first += home[s * (WIDE + 1) + x] == 0;
        uneven += first != WIDE / 2;
    }
    is_int(uneven, 0, "every stage is shared");
    workflow_free(w);
}

/* Random neighbours among the last ones: shares of each level cut nearly every edge. */
static void test_worth(void)
{
    static const uint32_t nodes[] = {0, 1, 2, 3};
    enum { TASKS = 2000, NEAR = 40 };
    struct builder *b = builder_new("near", "test");
    char name[16];
    uint32_t draw = 1;
    for (uint32_t i = 0; i < TASKS; i++) {
        uint32_t t = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
        builder_command(b, t, "lib.so:call", 11);
        builder_flag(b, t, TASK_CALL);
        for (uint32_t k = 0; i >= NEAR && k < 4; k++) {
            draw = draw * 1664525u + 1013904223u;
            builder_edge(b, i - 1 - draw / 65536 % NEAR, t, 0);
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    double *seconds = mem_new(double, w->ntasks);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 4, NULL, NULL}, NULL, home);
    uint32_t unknown = cut_edges(w, home);
    ok(unknown < TASKS / 4, "calls that nobody knows stay together (%u edges)", unknown);
    for (uint32_t t = 0; t < w->ntasks; t++)
        seconds[t] = 1e-7;
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 4, NULL, seconds}, NULL, home);
    is_int(cut_edges(w, home), unknown, "short ones, too");
    for (uint32_t t = 0; t < w->ntasks; t++)
        seconds[t] = 0.1;
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 4, NULL, seconds}, NULL, home);
    ok(cut_edges(w, home) > TASKS, "long ones run side by side (%u edges)", cut_edges(w, home));
    free(seconds);
    free(home);
    workflow_free(w);
}

/* The same narrow grid: what is gained by working side by side is paid for where the halves touch. */
static void test_data(void)
{
    static const uint32_t nodes[] = {0, 1};
    enum { ROWS = 100 };
    uint32_t home[8 * ROWS];
    for (int large = 0; large < 2; large++) {
        struct workflow *w = share_test_grid(ROWS, true, large ? 1e9 : 1e3);
        share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL, NULL}, NULL, home);
        uint32_t first = 0;
        for (uint32_t x = 0; x < 8; x++)
            first += home[x] == home[0];
        is_int(first, large ? 8 : 4, large ? "gigabytes stay" : "kilobytes do not count");
        workflow_free(w);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_equal),  TAP_CASE(test_skip),   TAP_CASE(test_work),  TAP_CASE(test_deep),
        TAP_CASE(test_narrow), TAP_CASE(test_stages), TAP_CASE(test_worth), TAP_CASE(test_data),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
