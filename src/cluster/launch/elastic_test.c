/* How many nodes a run asks for. */
#include "cluster/launch/elastic.h"
#include "tap.h"

static void elastic_test_nodes(void)
{
    struct elastic e = {.most = 5};
    is_int(elastic_first(&e, 1000), 1, "one, while nobody knows how large a node is");
    is_int(elastic_nodes(&e, 1000), 1, "also later: the first may be gone before it told");
    elastic_learn(&e, 0, 0);
    is_int(e.cores, 0, "nobody lives: nothing is learned");
    elastic_learn(&e, 2, 16);
    is_int(e.cores, 8, "a node is as large as the agents are on the average");
    elastic_learn(&e, 2, 4);
    is_int(e.cores, 8, "and stays so");
    is_int(elastic_nodes(&e, 0), 0, "no tasks: none");
    is_int(elastic_first(&e, 0), 1, "but a run begins with one");
    is_int(elastic_nodes(&e, 1), 1, "one task");
    is_int(elastic_nodes(&e, 8), 1, "as many as fit");
    is_int(elastic_nodes(&e, 9), 2, "one more");
    is_int(elastic_nodes(&e, 1000), 5, "no more than allowed");
    is_int(elastic_nodes(&e, UINT64_MAX), 5, "however many");
    e.least = 3;
    is_int(elastic_nodes(&e, 1), 3, "one task that spans three nodes");
    is_int(elastic_nodes(&e, 0), 0, "none of them: none");
    struct elastic fresh = {.most = 5, .least = 3};
    is_int(elastic_first(&fresh, 1), 3, "three to begin with, however large they are");
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(elastic_test_nodes)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
