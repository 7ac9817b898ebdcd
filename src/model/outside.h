/* What a reader of workflows looks at besides the text that it was given: files, and the names in
 * folders. Noted while it is read here, and played where it is read again: so a workflow that grows
 * becomes the same on every machine, whatever stands on its disks.
 *
 *     here:  struct outside o; outside_init(&o); source.outside = &o;   reads, and notes what it read
 *            outside_put(&o, &bytes)
 *     there: outside_take(&in, &o); o.plays = true;                     nothing else is looked at
 *
 * NULL in place of it: the files are read, and nobody notes it. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/tree.h"

struct outside_entry {
    bool there; /* false: `bytes` says why it could not be read */
    char *bytes;
    size_t n;
};

struct outside {
    bool plays; /* what was noted is all there is */
    /* While it notes: names below `folder` are looked for below `real`. NULL: where they say. */
    const char *folder, *real;
    struct intern names;            /* "f", "d" or "a", and the name as the reader has it */
    ARRAY(struct outside_entry) at; /* parallel to names */
};

void outside_init(struct outside *o);
void outside_free(struct outside *o);
/* As file_read() and folder_list(); what was noted before is not looked at again. */
bool outside_read(struct outside *o, const char *path, struct text *out, struct error *err);
bool outside_list(struct outside *o, const char *path, folder_names *names);
/* Something that was found out, by a name of its own: an answer, or (not `there`) why there is none. NULL: it
 * plays, and nobody has noted it; or nobody has found it out yet, and outside_note() comes next. */
const struct outside_entry *outside_find(const struct outside *o, const char *name);
void outside_note(struct outside *o, const char *name, bool there, const char *text);
/* Where a name of the reader's stands on this machine, in `scratch` if it is another. */
const char *outside_path(const struct outside *o, const char *path, struct strbuf *scratch);
/* The number of a file that was noted, counted from 1; 0: it was not, or nobody notes. */
uint32_t outside_number(const struct outside *o, const char *path);

void outside_put(const struct outside *o, struct strbuf *out);
/* False: damaged. Free it all the same. */
bool outside_take(struct bytes *in, struct outside *o);
