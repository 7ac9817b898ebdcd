/* What tasks of a part ask for of their nodes (model/things.h), among what the workflow's tasks do. */
#include "model/growth.h"

#include "base/mem.h"

#include <string.h>

bool growth_demands_fit(const struct workflow *w, const struct workflow *p, struct error *err)
{
    uint32_t count = w->nresources;
    for (uint32_t i = 0; i < p->nresources; i++)
        count += workflow_find_resource(w, workflow_text(p, p->resource[i])) == NONE;
    return count <= THING_SORTS ||
           error_set(
               err, ERROR_INPUT,
               "%s: with the tasks that join, tasks ask for %u different resources of nodes; %d "
               "are the most",
               workflow_text(p, p->file), count, THING_SORTS);
}

/* The resources of the workflow get those that it lacks, at the end: numbers of the others stay. Then
 * the part's demands get theirs. O(demands of both, multiplied): they are few. */
uint32_t *growth_demands(struct workflow *w, const struct workflow *p)
{
    uint32_t column[THING_SORTS] = {0}, *number = mem_new_zero(uint32_t, p->nasks);
    for (uint32_t i = 0; i < p->nresources; i++) {
        const char *name = workflow_text(p, p->resource[i]);
        column[i] = workflow_find_resource(w, name);
        if (column[i] != NONE)
            continue;
        column[i] = w->nresources;
        w->resource[w->nresources++] = pool_add(&w->text, name, strlen(name));
    }
    for (uint32_t k = 0; k < p->nasks; k++) {
        uint32_t row[THING_SORTS] = {0}, found = 0;
        for (uint32_t i = 0; i < p->nresources; i++)
            row[column[i]] = p->amount[(size_t)k * THING_SORTS + i];
        while (found < w->nasks &&
               memcmp(w->amount + (size_t)found * THING_SORTS, row, sizeof row) != 0)
            found++;
        if (found == w->nasks)
            memcpy(w->amount + (size_t)w->nasks++ * THING_SORTS, row, sizeof row);
        number[k] = found;
    }
    return number;
}
