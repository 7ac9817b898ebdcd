/* What a workflow will become, and what it is when it has: see future.h and growth.h. */
#include "model/future.h"

#include "model/select.h"

#include <string.h>

void future_free(struct future *f)
{
    if (f)
        f->ops->discard(f);
}

void future_part_free(struct future_part *p)
{
    workflow_free(p->workflow);
    array_free(&p->links);
    *p = (struct future_part){0};
}

bool workflow_is_open(const struct workflow *w)
{
    return w->future && w->future->ops->items(w->future) > 0;
}

struct workflow *growth_whole(const struct workflow *w)
{
    if (!w->growth)
        return NULL;
    struct error ignored = {0}; /* it was checked part by part */
    uint8_t *all = mem_new(uint8_t, w->ntasks);
    memset(all, 1, w->ntasks);
    struct workflow *whole = workflow_part(w, all, &ignored);
    free(all);
    return whole;
}
