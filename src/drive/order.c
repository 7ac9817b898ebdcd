/* Priorities from an order of tasks: see order.h. O(tasks + edges), with the user's own priorities
 * O(tasks log tasks). Every task gets another value, so that the scheduler's choice among ready
 * tasks depends on nothing else, and a run can be repeated. */
#include "drive/order.h"

#include "base/heap.h"
#include "base/mem.h"
#include "model/growth.h"

#include <stdlib.h>

/* A task between the user's priority and its place in the order. */
struct ranked_task {
    double user;
    uint32_t task, position;
};

static int first_before(const void *a, const void *b)
{
    const struct ranked_task *x = a, *y = b;
    if (x->user != y->user)
        return x->user > y->user ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* From positions in an order to priorities, the user's own first. */
static void order_rank(const struct workflow *w, const uint32_t *position, double *priority)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        priority[t] = -(double)position[t];
    if (!w->priority)
        return;
    struct ranked_task *r = mem_new(struct ranked_task, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        r[t] = (struct ranked_task){w->priority[t], t, position[t]};
    qsort(r, w->ntasks, sizeof *r, first_before);
    for (uint32_t i = 0; i < w->ntasks; i++)
        priority[r[i].task] = -(double)i;
    free(r);
}

/* Kahn's algorithm with a stack: the children of the task taken last come next. Roots and children
 * are pushed in reverse, so that the first of them in the file comes first. */
void order_depth_first(const struct workflow *w, double *priority)
{
    uint32_t n = w->ntasks, top = 0, next = 0;
    if (!n)
        return;
    uint32_t *stack = mem_new(uint32_t, n), *left = mem_new(uint32_t, n);
    uint32_t *position = mem_new(uint32_t, n);
    for (uint32_t t = n; t--;) {
        left[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!left[t])
            stack[top++] = t;
    }
    while (top) {
        uint32_t t = stack[--top];
        position[t] = next++;
        for (uint32_t e = w->succ_off[t + 1]; e-- > w->succ_off[t];)
            if (!--left[w->succ_task[e]])
                stack[top++] = w->succ_task[e];
        const struct later_edge *later;
        growth_each_later(w, t, later) if (!--left[later->task]) stack[top++] = later->task;
    }
    order_rank(w, position, priority);
    free(stack);
    free(left);
    free(position);
}

void order_of_plan(const struct workflow *w, const struct plan *plan, double *priority)
{
    uint32_t *position = mem_new(uint32_t, w->ntasks), next = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        position[t] = NONE;
    if (plan->kind == PLAN_ORDER)
        for (size_t i = 0; i < plan->order.n; i++)
            position[plan->order.at[i]] = next++;
    else /* placements are sorted by start */
        for (size_t i = 0; i < plan->placements.n; i++)
            if (position[plan->placements.at[i].task] == NONE)
                position[plan->placements.at[i].task] = next++;
    for (uint32_t i = 0; i < w->ntasks; i++) /* what the plan does not speak of comes last */
        if (position[w->topo[i]] == NONE)
            position[w->topo[i]] = next++;
    order_rank(w, position, priority);
    free(position);
}

uint32_t *order_by_priority(const struct workflow *w, const double *priority)
{
    uint32_t *order = mem_new(uint32_t, (size_t)w->ntasks + 1), next = 0;
    uint32_t *left = mem_new(uint32_t, (size_t)w->ntasks + 1);
    struct heap ready = {0};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        left[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!left[t])
            heap_push(&ready, -priority[t], t);
    }
    while (ready.n) {
        uint32_t t = order[next++] = (uint32_t)heap_pop(&ready).value;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (!--left[w->succ_task[e]])
                heap_push(&ready, -priority[w->succ_task[e]], w->succ_task[e]);
        const struct later_edge *later;
        growth_each_later(w, t, later) if (!--left[later->task])
            heap_push(&ready, -priority[later->task], later->task);
    }
    heap_free(&ready);
    free(left);
    return order;
}
