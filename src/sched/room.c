/* Room on the disk for what tasks leave: who may start (state.h, room_fits()). A disk that is full is waited for: other files may
 * go. */
#include "sched/state.h"

double room_taken(const struct sched *s, uint32_t task)
{
    return s->config.task_disk ? s->config.task_disk[task] : 0;
}

bool room_fits(const struct sched *s, uint32_t task, bool gated)
{
    const struct sched_gate *g = &s->config.gate;
    double left = s->free_disk - s->taken_disk - room_taken(s, task);
    return left >= 0 && (!gated || !g->lets || g->lets(g->context, task, left));
}

/* Nothing runs and the first ready task does not fit on the disk: waiting would change nothing. The
 * first that does fit, which may be the one that makes room for the others; NONE: none does.
 * O(tasks held), and rare. */
static uint32_t room_first_that_fits(struct sched *s, bool gated)
{
    uint32_t best = NONE;
    double best_key = 0;
    for (uint32_t i = 0; i < s->tasks.slots.n; i++) {
        const struct slot *task = slot_at(s, i);
        if ((task->place != SCHED_LREADYQ && task->place != SCHED_SREADYQ) ||
            !room_fits(s, task->task, gated) ||
            (fit_demand(s, task->task) && !things_can_take(s->things, fit_demand(s, task->task))))
            continue;
        double key = policy_key(s, task);
        if (best == NONE || key > best_key) {
            best = i;
            best_key = key;
        }
    }
    return best;
}

/* While others run, or tasks that became ready by an end are not known yet, files may go, and it waits for them. One that is to
 * be tried again has its room kept: it comes before what no gate lets. */
uint32_t room_other_that_fits(struct sched *s)
{
    bool gated = s->config.gate.lets;
    if (s->count[SCHED_RUNNING] ||
        (gated && (s->count[SCHED_COMPLETEQ] || s->count[SCHED_ARRIVING])))
        return NONE;
    uint32_t slot = room_first_that_fits(s, gated);
    return slot == NONE && gated && !s->count[SCHED_BACKOFF] ? room_first_that_fits(s, false)
                                                             : slot;
}
