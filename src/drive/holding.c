/* See holding.h. Workflows number the things that they ask for, each in its own way; here they are
 * numbered as the machine has them. */
#include "drive/holding.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct holding {
    struct thing_list list;
    struct things *stock; /* one for each sort of the list */
    uint64_t runs;
};

struct holding *holding_new(const char *resources)
{
    struct holding *h = mem_new_zero(struct holding, 1);
    struct error ignored = {0}; /* who took the text from a user has checked it */
    if (!thing_list_read(resources, &h->list, &ignored)) {
        thing_list_free(&h->list);
        h->list = (struct thing_list){0};
    }
    uint32_t n = (uint32_t)h->list.sorts.n, named = 0;
    uint32_t amount[THING_LISTED] = {0};
    for (uint32_t i = 0; i < n; i++) {
        amount[i] = h->list.sorts.at[i].amount;
        named |= (uint32_t)(h->list.sorts.at[i].ids.n > 0) << i;
    }
    h->stock = things_new(amount, named, n);
    return h;
}

void holding_free(struct holding *h)
{
    if (!h)
        return;
    thing_list_free(&h->list);
    things_free(h->stock);
    free(h);
}

uint64_t holding_run(struct holding *h)
{
    return ++h->runs << 32;
}

/* The task's demand by the machine's numbers. False: it asks for what is not here. */
static bool demand_here(const struct holding *h, const struct workflow *w, uint32_t task,
                        uint32_t *out)
{
    const uint32_t *demand = workflow_demand(w, task);
    memset(out, 0, THING_LISTED * sizeof *out);
    for (uint32_t i = 0; demand && i < w->nresources; i++) {
        if (!demand[i])
            continue;
        const struct thing_sort *s = thing_list_find(&h->list, workflow_text(w, w->resource[i]));
        size_t at = s ? (size_t)(s - h->list.sorts.at) : h->stock->n;
        if (at >= h->stock->n)
            return false;
        out[at] = demand[i];
    }
    return true;
}

bool holding_has(const struct holding *h, const struct workflow *w, uint32_t task)
{
    uint32_t demand[THING_LISTED];
    return demand_here(h, w, task, demand) && things_can_take(h->stock, demand);
}

uint64_t holding_wanted(const struct holding *h, const struct workflow *w, uint32_t task)
{
    uint32_t demand[THING_LISTED];
    uint64_t mask = 0;
    demand_here(h, w, task, demand);
    for (uint32_t i = 0; i < h->stock->n; i++)
        mask |= (uint64_t)(demand[i] > 0) << i;
    return mask;
}

bool holding_take(struct holding *h, const struct workflow *w, uint32_t task, uint64_t owner)
{
    uint32_t demand[THING_LISTED];
    return demand_here(h, w, task, demand) && things_take(h->stock, owner, demand);
}

void holding_give(struct holding *h, uint64_t owner)
{
    things_give(h->stock, owner);
}

void holding_give_run(struct holding *h, uint64_t run)
{
    for (size_t i = h->stock->holds.n; i--;)
        if (i < h->stock->holds.n && (h->stock->holds.at[i].owner >> 32) == run >> 32)
            things_give(h->stock, h->stock->holds.at[i].owner);
}

bool holding_is_used(const struct holding *h)
{
    return h->stock->holds.n > 0;
}

static char *variable(const char *name, const struct thing_sort *s, uint64_t ids)
{
    struct strbuf text = {0};
    bool any = false;
    strbuf_printf(&text, "%s=", name);
    for (size_t k = 0; k < s->ids.n; k++)
        if (ids >> k & 1) {
            strbuf_printf(&text, "%s%s", any ? "," : "", s->ids.at[k]);
            any = true;
        }
    return strbuf_steal(&text);
}

char **holding_variables(const struct holding *h, const struct workflow *w, uint32_t task,
                         uint64_t owner)
{
    uint32_t demand[THING_LISTED];
    ARRAY(char *) out = {0};
    demand_here(h, w, task, demand);
    for (uint32_t i = 0; i < h->stock->n; i++) {
        uint64_t ids = demand[i] ? things_held(h->stock, owner, i) : 0;
        const struct thing_sort *s = &h->list.sorts.at[i];
        if (!ids)
            continue;
        struct strbuf name = {0};
        thing_variable(s->name, &name);
        array_push(&out, variable(name.at, s, ids));
        strbuf_free(&name);
        if (strcmp(s->name, "gpu") == 0)
            array_push(&out, variable("CUDA_VISIBLE_DEVICES", s, ids));
    }
    if (!out.n)
        return NULL;
    array_push(&out, NULL);
    return out.at;
}

void holding_free_variables(char **variables)
{
    for (size_t i = 0; variables && variables[i]; i++)
        free(variables[i]);
    free(variables);
}
