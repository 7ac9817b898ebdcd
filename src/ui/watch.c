/* watch.h: what is on record is written by other processes, so it is asked once a second; the library has one number for it. */
#include "ui/watch.h"
#include "weft/weft.h"

bool history_watch_look(struct history_watch *w)
{
    struct weft_error error;
    uint64_t stamp = 0;
    struct weft_history *h = weft_history_open(NULL, &error);
    if (h && !weft_history_stamp(h, &stamp, &error))
        stamp = w->seen; /* locked for a moment: nothing is known to have changed */
    weft_history_close(h);
    bool changed = stamp != w->seen;
    w->seen = stamp;
    return changed;
}
