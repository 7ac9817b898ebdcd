/* Whether what agents told of a run's tasks is what the store has of them, when it has ended.
 *
 * An agent that is cut off from the store tells of ends that do not count: others take its tasks over, and may
 * fail there, and of that no word may reach us. The store has the last word. To read it whole would cost a
 * million answers; its count costs one. Where that differs from ours, all that was told as done is read.
 *
 * I1. The count was asked for after the run's end: nothing ends later. */
#include "base/clock.h"
#include "cluster/client/follow.h"

static struct client_progress follow_told(const struct client_follow *f)
{
    struct client_progress told = {0};
    for (uint32_t t = 0; t < f->w->ntasks; t++) {
        enum follow_seen seen = (enum follow_seen)f->seen[t];
        told.done += seen == FOLLOW_SEEN_DONE || seen == FOLLOW_SEEN_REUSED;
        told.failed += seen == FOLLOW_SEEN_FAILED;
        told.removed += seen == FOLLOW_SEEN_REMOVED;
        told.skipped += seen == FOLLOW_SEEN_SKIPPED;
        told.excused += seen == FOLLOW_SEEN_EXCUSED;
    }
    return told;
}

bool follow_tally(struct client_follow *f)
{
    if (f->tallied)
        return true;
    if (f->counting)
        return false;
    if (f->last_count == 0) { /* I1 */
        follow_ask_count(f);
        f->last_count = f->asked_count;
        return false;
    }
    f->tallied = true;
    struct client_progress told = follow_told(f), has = f->progress;
    if (told.done == has.done && told.failed == has.failed && told.removed == has.removed &&
        told.skipped == has.skipped && told.excused == has.excused)
        return true;
    f->doubts_ends = true;
    follow_read_store(f);
    return !f->reading;
}
