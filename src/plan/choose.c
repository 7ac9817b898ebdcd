/* Which planner: what "no --with" means. Every app asks here, so that the library cannot answer
 * differently from the command. */
#include "plan/choose.h"
#include "model/graph.h"

#include <math.h>
#include <string.h>

static bool choose_partition(const struct workflow *w, const struct platform *p)
{
    if (p->nnodes < 2 || graph_tree_shape(w) == TREE_NOT)
        return false;
    bool limited = false, single = true, needs = false;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        limited |= isfinite(p->memory[n]);
        single &= p->cores[n] == 1;
    }
    for (uint32_t t = 0; t < w->ntasks && !needs; t++)
        needs = w->memory[t] > 0;
    return limited && single && needs;
}

const struct planner *planner_choose(const char *name, const struct workflow *w,
                                     const struct platform *p, const struct option_value *options,
                                     size_t noptions, struct error *err)
{
    bool constrained = w->nassertions;
    for (size_t i = 0; i < noptions; i++)
        constrained |=
            strcmp(options[i].name, "assert") == 0 || strcmp(options[i].name, "rules") == 0;
    if (!name)
        name = constrained ? "constraints" : choose_partition(w, p) ? "tree" : "auto";
    const struct planner *planner = planner_find(name);
    if (!planner)
        planner_unknown(name, err);
    return planner;
}
