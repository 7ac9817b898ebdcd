/* What stands where a task's output belongs: nothing, what a task of this folder left, or something
 * that weft did not make. Of the last nothing is removed, and it is overwritten only when a copy of it
 * is kept beside, or the user said so.
 *
 *     NAME.before-weft, NAME.before-weft.2, ...      what stood there, as it was */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "memo/need.h"

enum standing {
    STANDING_NOTHING,
    STANDING_OURS,    /* with the content that a task of this folder left there, by the record */
    STANDING_CHANGED, /* a task left it, and its content is another since */
    STANDING_FOREIGN, /* no task ever left something there that the record knows */
};

/* One lstat() when nothing is there; it is read only when it may be ours and is not known. */
enum standing standing_at(struct needs *n, uint32_t object);
/* Has what stands there the content of `path` (a file or folder)? Then nothing is lost with it. */
bool standing_is_same(struct needs *n, uint32_t object, const char *path);
/* Keep what stands there under another name, which is appended to `kept`: moved away, or (`copied`)
 * as a copy, for a task that may go on from it. */
bool standing_keep(const struct needs *n, uint32_t object, bool copied, struct strbuf *kept,
                   struct error *err);
