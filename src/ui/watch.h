/* Has the history changed? Runs on record appear and end without telling this process. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct history_watch {
    uint64_t seen; /* a hash over the newest runs and what became of them */
};

/* Has it since the last look? (Some milliseconds.) */
bool history_watch_look(struct history_watch *w);
