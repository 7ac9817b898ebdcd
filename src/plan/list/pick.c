#include "plan/list/pick.h"

struct candidate {
    struct choice choice;
    uint32_t task;
    uint32_t step; /* the step for which the choice was computed */
};

struct candidates {
    ARRAY(struct candidate) all; /* a binary heap, or just a set */
};

static bool precedes(const struct candidate *a, const struct candidate *b)
{
    if (a->choice.key != b->choice.key)
        return a->choice.key < b->choice.key;
    if (a->choice.tie != b->choice.tie)
        return a->choice.tie < b->choice.tie;
    return a->task < b->task;
}

static void candidates_push(struct candidates *c, struct candidate candidate)
{
    array_push(&c->all, candidate);
    size_t i = c->all.n - 1;
    while (i > 0 && precedes(&candidate, &c->all.at[(i - 1) / 2])) {
        c->all.at[i] = c->all.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    c->all.at[i] = candidate;
}

static struct candidate candidates_pop(struct candidates *c)
{
    struct candidate top = c->all.at[0], last = array_pop(&c->all);
    size_t i = 0;
    for (size_t child = 1; child < c->all.n; child = 2 * i + 1) {
        if (child + 1 < c->all.n && precedes(&c->all.at[child + 1], &c->all.at[child]))
            child++;
        if (!precedes(&c->all.at[child], &last))
            break;
        c->all.at[i] = c->all.at[child];
        i = child;
    }
    if (c->all.n)
        c->all.at[i] = last;
    return top;
}

static struct candidate evaluate(struct list *l, const struct picker *picker, uint32_t task,
                                 uint32_t step)
{
    return (struct candidate){picker->evaluate(l, task, picker->context), task, step};
}

/* Keys only rise: an old key is a lower bound, so the first of the heap that is still first when asked again is the one. */
static struct candidate pick_from_heap(struct list *l, const struct picker *picker,
                                       struct candidates *c, uint32_t step)
{
    for (;;) {
        struct candidate first = candidates_pop(c);
        if (first.step == step)
            return first;
        first = evaluate(l, picker, first.task, step);
        if (!c->all.n || precedes(&first, &c->all.at[0]))
            return first;
        candidates_push(c, first);
    }
}

static struct candidate pick_from_set(struct list *l, const struct picker *picker,
                                      struct candidates *c, uint32_t step, uint32_t changed)
{
    bool all_change = l->p->ports > 0;
    size_t best = 0;
    for (size_t i = 0; i < c->all.n; i++) {
        struct candidate *one = &c->all.at[i];
        if (one->step != step && (all_change || one->choice.slot.node == changed ||
                                  one->choice.next_node == changed))
            *one = evaluate(l, picker, one->task, step);
        if (precedes(one, &c->all.at[best]))
            best = i;
    }
    struct candidate picked = c->all.at[best];
    c->all.at[best] = c->all.at[c->all.n - 1];
    c->all.n--;
    return picked;
}

bool pick_all(struct list *l, const struct picker *picker, struct error *err)
{
    struct ready ready;
    struct candidates candidates = {0};
    bool use_heap = picker->rising && l->p->ports == 0, good = true;
    uint32_t changed = NONE;
    ready_init(&ready, l->w);
    for (uint32_t step = 0; good; step++) {
        for (size_t i = 0; i < ready.fresh.n; i++) {
            struct candidate fresh = evaluate(l, picker, ready.fresh.at[i], step);
            if (use_heap)
                candidates_push(&candidates, fresh);
            else
                array_push(&candidates.all, fresh);
        }
        ready.fresh.n = 0;
        if (!candidates.all.n)
            break;
        struct candidate picked = use_heap
                                      ? pick_from_heap(l, picker, &candidates, step)
                                      : pick_from_set(l, picker, &candidates, step, changed);
        good = list_place(l, picked.task, picked.choice.slot, err);
        changed = picked.choice.slot.node;
        ready_done(&ready, picked.task);
    }
    array_free(&candidates.all);
    ready_free(&ready);
    return good;
}
