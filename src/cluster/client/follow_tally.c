/* Whether what agents told of a run's tasks is what the store has of them, when it has ended.
 *
 * An agent that is cut off from the store tells of ends that do not count: others take its tasks over, and may
 * fail there, and of that no word may reach us. The store has the last word. To read it whole would cost a
 * million answers; its count costs one. Where that differs from ours, all that was told as done is read.
 *
 * I1. The count was asked for after the run's end: nothing ends later. */
#include "cluster/client/follow.h"

#include <string.h>

void follow_count_seen(const struct client_follow *f, uint32_t count[static FOLLOW_SEEN_KINDS])
{
    memset(count, 0, FOLLOW_SEEN_KINDS * sizeof *count);
    for (uint32_t t = 0; t < f->w->ntasks; t++)
        count[f->seen[t]]++;
}

uint32_t follow_counted(const struct client_follow *f)
{
    const struct client_progress *p = &f->progress;
    return p->done + p->failed + p->removed + p->skipped + p->excused;
}

bool follow_tally(struct client_follow *f)
{
    if (f->tallied)
        return true;
    if (f->counting)
        return false;
    if (!f->counts_last) { /* I1 */
        follow_ask_count(f);
        f->counts_last = true;
        return false;
    }
    f->tallied = true;
    uint32_t told[FOLLOW_SEEN_KINDS];
    const struct client_progress *has = &f->progress;
    follow_count_seen(f, told);
    if (told[FOLLOW_SEEN_DONE] + told[FOLLOW_SEEN_REUSED] == has->done &&
        told[FOLLOW_SEEN_FAILED] == has->failed && told[FOLLOW_SEEN_REMOVED] == has->removed &&
        told[FOLLOW_SEEN_SKIPPED] == has->skipped && told[FOLLOW_SEEN_EXCUSED] == has->excused)
        return true;
    f->doubts_ends = true;
    follow_read_store(f);
    return !f->reading;
}
