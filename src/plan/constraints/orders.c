/* Orders that hold by construction: orders.h says what they are. */
#include "plan/constraints/orders.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

/* A strict order is kept by this much: far below what anybody can measure of a task, far above what
 * sums of seconds lose. */
static const double tick = 1e-6;

static int by_waiting_task(const void *a, const void *b)
{
    const struct time_order *x = a, *y = b;
    return x->after < y->after ? -1 : x->after > y->after;
}

/* The orders of a list by the task that comes first, for walks forward. */
static uint32_t *index_by_first(const time_orders *list, uint32_t ntasks, uint32_t **to)
{
    uint32_t *at = mem_new_zero(uint32_t, ntasks + 2u);
    *to = mem_new(uint32_t, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        at[list->at[i].before + 2]++;
    for (uint32_t t = 0; t < ntasks; t++)
        at[t + 2] += at[t + 1];
    for (size_t i = 0; i < list->n; i++)
        (*to)[at[list->at[i].before + 1]++] = (uint32_t)i;
    return at;
}

/* Kahn's algorithm over dependencies and orders: a circle leaves tasks behind. */
static bool is_acyclic(const struct workflow *w, const time_orders *list)
{
    uint32_t n = w->ntasks, *to, *at = index_by_first(list, n, &to);
    uint32_t *missing = mem_new(uint32_t, n + 1u), *queue = mem_new(uint32_t, n + 1u);
    uint32_t head = 0, tail = 0;
    for (uint32_t t = 0; t < n; t++)
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
    for (size_t i = 0; i < list->n; i++)
        missing[list->at[i].after]++;
    for (uint32_t t = 0; t < n; t++)
        if (!missing[t])
            queue[tail++] = t;
    while (head < tail) {
        uint32_t t = queue[head++];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (!--missing[w->succ_task[e]])
                queue[tail++] = w->succ_task[e];
        for (uint32_t e = at[t]; e < at[t + 1]; e++)
            if (!--missing[list->at[to[e]].after])
                queue[tail++] = list->at[to[e]].after;
    }
    free(at);
    free(to);
    free(missing);
    free(queue);
    return tail == n;
}

/* The steps along which ends never come earlier: dependencies, and orders that look at the end of
 * the first task. A circle of them with a step that takes time cannot be walked: an end would come
 * after itself. Looks for one through the order `by`. */
static bool proves_contradiction(const struct workflow *w, const time_orders *list, size_t by)
{
    const struct time_order *o = &list->at[by];
    if (o->before_start)
        return false;
    uint32_t n = w->ntasks, *to, *at = index_by_first(list, n, &to);
    /* two states a task: reached, and reached by a step that takes time */
    uint8_t *seen = mem_new_zero(uint8_t, 2 * (size_t)n + 2);
    uint32_t *stack = mem_new(uint32_t, 2 * (size_t)n + 2), depth = 0;
    bool takes = o->strict || (o->after_start && w->work[o->after] > 0);
    stack[depth++] = o->after * 2 + takes;
    seen[o->after * 2 + takes] = 1;
    while (depth) {
        uint32_t state = stack[--depth], t = state / 2;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t next = w->succ_task[e] * 2 + ((state & 1) || w->work[w->succ_task[e]] > 0);
            if (!seen[next]++)
                stack[depth++] = next;
        }
        for (uint32_t e = at[t]; e < at[t + 1]; e++) {
            const struct time_order *step = &list->at[to[e]];
            bool time = step->strict || (step->after_start && w->work[step->after] > 0);
            uint32_t next = step->after * 2 + ((state & 1) || time);
            if (!step->before_start && !seen[next]++)
                stack[depth++] = next;
        }
    }
    bool found = seen[o->before * 2 + 1];
    free(at);
    free(to);
    free(seen);
    free(stack);
    return found;
}

bool orders_add(struct kept_orders *o, const struct workflow *w, const time_orders *more,
                bool *impossible)
{
    size_t before = o->list.n;
    *impossible = false;
    for (size_t i = 0; i < more->n; i++)
        array_push(&o->list, more->at[i]);
    if (is_acyclic(w, &o->list))
        return true;
    for (size_t i = before; i < o->list.n && !*impossible; i++)
        *impossible = proves_contradiction(w, &o->list, i);
    o->list.n = before;
    return false;
}

void orders_begin(struct kept_orders *o, const struct workflow *w)
{
    uint32_t n = w->ntasks, *to;
    if (!o->list.n)
        return;
    qsort(o->list.at, o->list.n, sizeof *o->list.at, by_waiting_task);
    o->waits = mem_new_zero(uint32_t, n + 1u);
    for (size_t i = 0; i < o->list.n; i++)
        o->waits[o->list.at[i].after + 1]++;
    for (uint32_t t = 0; t < n; t++)
        o->waits[t + 1] += o->waits[t];
    o->held = index_by_first(&o->list, n, &to);
    o->waiting = to;
    for (size_t i = 0; i < o->list.n; i++)
        to[i] = o->list.at[to[i]].after;
}

void orders_free(struct kept_orders *o)
{
    array_free(&o->list);
    free(o->waits);
    free(o->held);
    free(o->waiting);
}

double orders_least_start(const struct kept_orders *o, uint32_t task, double seconds,
                          const double *start, const double *finish)
{
    double least = 0;
    for (uint32_t i = o->waits ? o->waits[task] : 0; o->waits && i < o->waits[task + 1]; i++) {
        const struct time_order *order = &o->list.at[i];
        if (o->firm) {
            /* a task of no seconds would end at once: a strict order needs more than the start */
            least =
                fmax(least, finish[order->before] + (order->strict && !(seconds > 0) ? tick : 0));
            continue;
        }
        double time = order->before_start ? start[order->before] : finish[order->before];
        time += order->strict ? tick : 0;
        least = fmax(least, order->after_start ? time : time - seconds);
        /* sums round: the end must not fall a hair before the time it was made from */
        while (!order->after_start && least + seconds < time)
            least = nextafter(least, INFINITY);
    }
    return least;
}
