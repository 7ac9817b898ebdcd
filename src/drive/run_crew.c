/* Turns of a run whose tasks a crew carries out: what ended goes on record and to the sinks.
 *
 * There is no scheduler and no store. When something joins, or a task is cancelled, the crew comes to an end and both are
 * made; the scheduler is then told of every task once more, so what was counted is counted anew. */
#include "drive/run_private.h"

/* Something joins or leaves, or there is no thread for a crew. */
static enum run_turn run_crew_leaves(struct run *r)
{
    struct error err = {0};
    executor_crew_leave(r->executor);
    r->ended_tasks = r->result.done = r->result.failed = 0;
    if (!run_schedule(r, &err)) {
        run_broken(r, &err);
        return TURN_OVER;
    }
    return TURN_MORE;
}

/* A batch of what ended. */
static struct executor_ends run_crew_take(struct run *r)
{
    struct executor_ends e = executor_crew_take(r->executor);
    r->result.done += e.done;
    r->result.failed += e.failed;
    r->ended_tasks += e.done + e.failed;
    if (driver_ended_waiting(r->driver))
        driver_handle_ended(r->driver); /* nobody schedules, but a failure is heeded */
    if (e.over || !e.more || r->outbox.events.n > RUN_EVENTS)
        if (e.over || run_must_flush(r, driver_now(r->driver)))
            run_flush(r);
    return e;
}

enum run_turn run_crew_turn(struct run *r)
{
    if (!r->crew_began) {
        r->crew_began = true;
        if (r->total && !r->stopping && !executor_crew_begin(r->executor))
            return run_crew_leaves(r);
    }
    bool leaves = (r->grows || r->wishes.n) && !r->stopping; /* only a scheduler takes tasks out */
    if (leaves)
        executor_crew_pause(r->executor);
    struct executor_ends e = run_crew_take(r);
    if (e.more)
        return TURN_MORE;
    if (!e.over)
        return TURN_WAITS;
    return leaves && r->ended_tasks < r->total + r->grows ? run_crew_leaves(r) : TURN_OVER;
}
