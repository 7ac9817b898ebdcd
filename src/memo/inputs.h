/* The inputs of a task, looked at before it starts and after it ended: is what it read what its key
 * says that it read?
 *
 *     inputs_begin(needs, task, &marks, &err)      false: one is not what its content was hashed as
 *     ... the task runs ...
 *     inputs_unchanged(needs, task, &marks, &c)    false: c says which one, and how
 *     input_marks_free(&marks);
 *
 * A task reads its inputs where they are: nothing keeps it, its siblings or somebody else from
 * writing to them meanwhile. So nothing is taken from an attempt during which one changed. */
#pragma once
#include "base/array.h"
#include "memo/need.h"

/* One file as it was: what the system tells of it without reading it. */
struct input_mark {
    uint64_t name; /* hash of where it stands */
    int64_t size, time, change, inode;
    uint32_t mode, links;
};

/* Of all inputs of a task in their order; those in a folder follow it, by name. */
struct input_marks {
    ARRAY(struct input_mark) all;
    int64_t began; /* real time, nanoseconds */
};

struct input_change {
    uint32_t object;
    struct strbuf how; /* "'a/b' had 6 bytes and has 12": for people */
    bool unread;       /* whether it changed is not known: it cannot be read, and `how` says why */
};

/* True at once for a task without inputs. Otherwise one stat() an input (two for a folder's files),
 * and reading of what has changed since it was hashed. False: `*which` is not what it was. */
bool inputs_begin(struct needs *n, uint32_t task, struct input_marks *marks, uint32_t *which,
                  struct error *err);
/* One stat() an input. `c->how` is the caller's to free, also when nothing changed. */
bool inputs_unchanged(struct needs *n, uint32_t task, const struct input_marks *marks,
                      struct input_change *c);
void input_marks_free(struct input_marks *marks);

/* What becomes of an input that has changed, for people: who makes it again, and when. */
void input_remedy(const struct needs *n, uint32_t object, struct strbuf *out);
