/* How long weft keeps what runs leave behind, so that it does not grow for ever: logs and the history by
 * age and size, the memo by size. docs/running.md has the rules, the variables set them:
 *
 *     WEFT_KEEP_LOGS=30d,1G   WEFT_KEEP_HISTORY=365d,1G   WEFT_KEEP_MEMO=512M
 *     WEFT_KEEP_RESULTS=365d,20G                           or `all` */
#pragma once
#include "base/error.h"

struct keep_rule {
    double age, size; /* seconds, bytes; INFINITY: no limit */
};

struct retention {
    struct keep_rule logs, history, memo, results;
};

/* From the variables. False: one of them is nonsense. */
bool retention_read(struct retention *out, struct error *err);

struct session;
/* The run is over and the session still has its folder: away with old logs, and with what the memo need
 * not know any more. The first time it is told. What goes wrong is told, and harms nothing. */
void retention_apply(struct session *s);
/* The same for the history, which must not record at the moment. */
void retention_prune_history(struct session *s);
