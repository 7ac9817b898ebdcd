/* Residences from a plan's placements and transfers; residence.h has the definition.
 *
 * Whoever makes, receives, reads or sends an object on a node is a use of it there. A file stays from
 * the start of its first use to the end of its last, so that the uses of one object, sorted by node,
 * give its residences in one pass. */
#include "model/residence.h"
#include "base/mem.h"

struct object_use {
    uint32_t node;
    bool arrives; /* it is brought: what was there before need not have waited for it */
    double start, finish;
};

/* What is looked up for every object; freed when all are through. */
struct collection {
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p;
    uint32_t *copy_off, *copy;         /* placements by task */
    uint32_t *transfer_off, *transfer; /* transfers by object */
    ARRAY(struct object_use) uses;     /* of the object at hand */
    residence_list *out;
};

static int compare_object_uses(const void *a, const void *b)
{
    const struct object_use *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_residences(const void *a, const void *b)
{
    const struct residence *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    /* tasks before files, and both by number: the same plan gives the same words */
    if ((x->object == NONE) != (y->object == NONE))
        return x->object == NONE ? -1 : 1;
    uint32_t a_number = x->object == NONE ? x->task : x->object;
    uint32_t b_number = y->object == NONE ? y->task : y->object;
    return a_number < b_number ? -1 : a_number > b_number;
}

/* Counting sort: item[off[g] .. off[g + 1]) are the entries of group g. */
static void group_entries(uint32_t *off, uint32_t *item, const uint32_t *group, size_t stride,
                          size_t n, uint32_t groups)
{
    for (size_t i = 0; i < n; i++)
        off[*(const uint32_t *)((const char *)group + i * stride) + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        off[g + 2] += off[g + 1];
    for (size_t i = 0; i < n; i++)
        item[off[*(const uint32_t *)((const char *)group + i * stride) + 1]++] = (uint32_t)i;
}

/* Nodes without a limit are of no interest, and there may be many of them. */
static void add_use(struct collection *c, uint32_t node, bool arrives, double start, double finish)
{
    if (!isinf(c->p->memory[node]))
        array_push(&c->uses, (struct object_use){node, arrives, start, finish});
}

/* All copies of a task: each makes or reads the object where it runs. */
static void add_runs(struct collection *c, uint32_t task)
{
    for (uint32_t i = c->copy_off[task]; i < c->copy_off[task + 1]; i++) {
        const struct placement *x = &c->plan->placements.at[c->copy[i]];
        add_use(c, x->node, false, x->start, x->finish);
    }
}

/* Inputs of the workflow may come again from disk, others by a further transfer: then it was not there in
 * between. */
static void add_files(struct collection *c, uint32_t object)
{
    const struct workflow *w = c->w;
    uint32_t producer = w->producer[object], count = 0;
    const uint32_t *reader = workflow_consumers(w, object, &count);
    c->uses.n = 0;
    if (producer != NONE)
        add_runs(c, producer);
    for (uint32_t i = 0; i < count; i++)
        add_runs(c, reader[i]);
    for (uint32_t i = c->transfer_off[object]; i < c->transfer_off[object + 1]; i++) {
        const struct transfer *x = &c->plan->transfers.at[c->transfer[i]];
        add_use(c, x->from, false, x->start, x->finish);
        add_use(c, x->to, true, x->start, x->finish);
    }
    if (c->uses.n > 1)
        qsort(c->uses.at, c->uses.n, sizeof *c->uses.at, compare_object_uses);
    for (size_t i = 0; i < c->uses.n;) {
        struct object_use hull = c->uses.at[i++];
        for (; i < c->uses.n && c->uses.at[i].node == hull.node &&
               (c->uses.at[i].start < hull.finish || (producer != NONE && !c->uses.at[i].arrives));
             i++)
            hull.finish = fmax(hull.finish, c->uses.at[i].finish);
        array_push(c->out, (struct residence){hull.node, producer, object, hull.start, hull.finish,
                                              w->size[object]});
    }
}

void residence_collect(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       bool files, residence_list *out)
{
    out->n = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (w->memory[x->task] > 0 && !isinf(p->memory[x->node]))
            array_push(out, (struct residence){x->node, x->task, NONE, x->start, x->finish,
                                               w->memory[x->task]});
    }
    if (files) {
        struct collection c = {.plan = plan, .w = w, .p = p, .out = out};
        c.copy_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 2);
        c.copy = mem_new(uint32_t, plan->placements.n);
        c.transfer_off = mem_new_zero(uint32_t, (size_t)w->nobjects + 2);
        c.transfer = mem_new(uint32_t, plan->transfers.n);
        if (plan->placements.n)
            group_entries(c.copy_off, c.copy, &plan->placements.at[0].task,
                          sizeof *plan->placements.at, plan->placements.n, w->ntasks);
        if (plan->transfers.n)
            group_entries(c.transfer_off, c.transfer, &plan->transfers.at[0].object,
                          sizeof *plan->transfers.at, plan->transfers.n, w->nobjects);
        for (uint32_t o = 0; o < w->nobjects; o++)
            if (w->size[o] > 0)
                add_files(&c, o);
        free(c.copy_off);
        free(c.copy);
        free(c.transfer_off);
        free(c.transfer);
        array_free(&c.uses);
    }
}

void residence_sort(residence_list *all)
{
    if (all->n > 1)
        qsort(all->at, all->n, sizeof *all->at, compare_residences);
}
