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
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 3, NULL}, NULL, home);
    for (int i = 0; i < 3; i++)
        is_int(at_node(w, home, nodes[i]), 30, "a third of the tasks each");
    is_int(cut_edges(w, home), 0, "no chain is cut");
    share_tasks(w, SHARE_WORST, &(struct share_agents){nodes, 3, NULL}, NULL, home);
    is_int(at_node(w, home, 7), 90, "worst: all to the first");
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 1, NULL}, NULL, home);
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
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL}, skip, home);
    is_int(at_node(w, home, NONE), 10, "what is done has no home");
    is_int(at_node(w, home, 0), 5, "half of what must run");
    is_int(at_node(w, home, 1), 5, "and the other half");
    for (uint32_t t = 0; t < w->ntasks; t++)
        skip[t] = 1;
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL}, skip, home);
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
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 2, NULL}, NULL, home);
    is_int(at_node(w, home, 0), 1, "a long task is as much as ten short ones");
    is_int(at_node(w, home, 1), 10, "which the other has");
    workflow_free(w);
}

static void test_deep(void)
{
    static const uint32_t nodes[] = {0, 1, 2, 3};
    struct workflow *w = share_test_chains(1, 300000);
    uint32_t *home = mem_new(uint32_t, w->ntasks);
    share_tasks(w, SHARE_BEST, &(struct share_agents){nodes, 4, NULL}, NULL, home);
    is_int(cut_edges(w, home), 3, "a long chain is cut three times");
    is_int(at_node(w, home, 2), 75000, "into quarters");
    free(home);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_equal),
        TAP_CASE(test_skip),
        TAP_CASE(test_work),
        TAP_CASE(test_deep),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
