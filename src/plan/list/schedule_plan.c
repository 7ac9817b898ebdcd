/* The finished plan of a schedule: placements, the transfers they need, the makespan.
 *
 * With duplicates, copies that turned out to serve nobody are left out: going backwards through the
 * topological order, a copy is used when a used copy of a successor draws on it. O(edges x copies).
 */
#include "plan/list/schedule_state.h"

/* ---- the plan ---- */

/* The copy of `producer` (of those in `used`; NULL: all) that serves a task that starts at `start`
 * on `node`: one on that node that ends in time, else the one whose object is there first; ties:
 * the lowest copy. */
static uint32_t serving_copy(const struct schedule *s, const bool *used, uint32_t producer,
                             uint32_t object, uint32_t node, double start)
{
    double best = INFINITY;
    uint32_t serving = NONE;
    for (uint32_t c = producer; c != NONE; c = s->copies.at[c].more) {
        const struct schedule_copy *copy = &s->copies.at[c];
        if (used && !used[c])
            continue;
        if (copy->node == node && copy->finish <= start)
            return c;
        double there = copy->finish;
        if (object != NONE)
            there += object_transfer_time(s, copy->node, node, object);
        if (there < best) {
            best = there;
            serving = c;
        }
    }
    return serving;
}

/* Copies and deliveries that somebody needs: a copy of every last task, and backwards what feeds
 * them. */
static void mark_used(const struct schedule *s, bool *used, bool *used_delivery)
{
    const struct workflow *w = s->w;
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t task = w->topo[i];
        if (w->succ_off[task] == w->succ_off[task + 1])
            used[task] = true;
        for (uint32_t c = task; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (!used[c] || copy->node == NONE)
                continue;
            for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
                uint32_t object = w->pred_object[e];
                uint32_t serving =
                    serving_copy(s, NULL, w->pred_task[e], object, copy->node, copy->start);
                if (s->limited && object != NONE && s->copies.at[serving].node != copy->node) {
                    uint32_t d = arrival_find_delivery(s, object, copy->node);
                    used_delivery[d] = true;
                    serving = s->deliveries.at[d].source;
                }
                used[serving] = true;
            }
        }
    }
}

/* Contention-free: every object goes to every node that reads it, as soon as it is made. */
static void add_transfers(const struct schedule *s, const bool *used, struct plan *plan)
{
    const struct workflow *w = s->w;
    uint32_t *sent = mem_new_zero(uint32_t, s->p->nnodes); /* object + 1 that was last sent there */
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t producer = w->producer[o], count;
        if (producer == NONE || s->copies.at[producer].node == NONE)
            continue;
        const uint32_t *consumer = workflow_consumers(w, o, &count);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = consumer[i]; c != NONE; c = s->copies.at[c].more) {
                const struct schedule_copy *copy = &s->copies.at[c];
                if (copy->node == NONE || sent[copy->node] == o + 1 || (used && !used[c]))
                    continue;
                const struct schedule_copy *from = &s->copies.at[producer];
                if (used)
                    from =
                        &s->copies.at[serving_copy(s, used, producer, o, copy->node, copy->start)];
                if (from->node == copy->node)
                    continue;
                sent[copy->node] = o + 1;
                double seconds = object_transfer_time(s, from->node, copy->node, o);
                array_push(&plan->transfers,
                           (struct transfer){o, from->node, copy->node, from->finish,
                                             from->finish + seconds});
            }
    }
    free(sent);
}

/* Copies in use are numbered 0, 1, ... per task; transfers are those that were booked (ports), or
 * one to every node that reads the object. */
struct plan *schedule_plan(struct schedule *s)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    bool *used = NULL, *used_delivery = NULL;
    if (s->copies.n > s->w->ntasks) {
        used = mem_new_zero(bool, s->copies.n);
        used_delivery = mem_new_zero(bool, s->deliveries.n + 1);
        mark_used(s, used, used_delivery);
    }
    array_reserve(&plan->placements, s->copies.n);
    for (uint32_t t = 0; t < s->w->ntasks; t++) {
        uint32_t number = 0;
        for (uint32_t c = t; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (copy->node == NONE || (used && !used[c]))
                continue;
            array_push(&plan->placements, (struct placement){t, number++, copy->node, copy->core,
                                                             copy->start, copy->finish});
        }
    }
    if (s->limited) {
        for (size_t i = 0; i < s->deliveries.n; i++) {
            const struct schedule_delivery *d = &s->deliveries.at[i];
            if (!used_delivery || used_delivery[i])
                array_push(&plan->transfers,
                           (struct transfer){d->object, d->from, d->to, d->start, d->finish});
        }
    } else {
        add_transfers(s, used, plan);
    }
    free(used);
    free(used_delivery);
    plan_sort(plan);
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}
