/* watch.h: what is on record is written by other processes, so it is asked once a second. Cheap by construction: a bounded number
 * of heads, by the primary key, and a hash of numbers and outcomes instead of a copy to compare with.
 * The newest runs are asked for and hashed; the library tells no more, and no more is needed. */
#include "ui/watch.h"
#include "weft/weft.h"

enum { WATCHED_RUNS = 32 };

bool history_watch_look(struct history_watch *w)
{
    struct weft_error error;
    struct weft_runs_filter filter = WEFT_RUNS_INIT;
    struct weft_run_head head;
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    filter.limit = WATCHED_RUNS;
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_runs *runs = h ? weft_history_runs(h, &filter, &error) : NULL;
    for (size_t i = 0; runs && weft_runs_get(runs, i, &head); i++) {
        hash = (hash ^ (uint64_t)head.run) * 1099511628211U;
        for (const char *at = head.outcome; at && *at; at++)
            hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    }
    weft_runs_free(runs);
    weft_history_close(h);
    bool changed = hash != w->seen;
    w->seen = hash;
    return changed;
}
