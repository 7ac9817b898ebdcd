/* Objects in memory: what functions hand to each other without a file (weft/task.h).
 *
 *     made: weft_task_out()          read: weft_task_in()              gone
 *     by its producer's thread  ───▶ by any number, never copied  ───▶ after the last reader's end
 *                                    └─ weft_task_pass(): the last reader goes on with it in place
 *
 * An object is OBJECT_IN_MEMORY in the workflow; all others are files, and functions that ask for them
 * here get them mapped, or written when they return. So a function does not notice which it is.
 *
 * One table for a run, used by all threads; a slot is what one call at a time uses. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "model/workflow.h"
#include "weft/task.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data;

/* A block that was freed and may be used again by the same thread. */
struct data_block {
    void *at;
    size_t room;
};
enum { DATA_KEPT = 8 };

/* A file's bytes while a call runs. */
struct data_file {
    void *at;
    size_t size;
    uint32_t place; /* of the inputs or outputs */
    bool out;
    uint64_t sum; /* of an input's bytes, when they are watched */
};

enum { DATA_SCRATCH = UINT32_MAX }; /* as `place`: memory for the time of the call */

struct data_slot {
    struct weft_task_data asks; /* what functions see; first, so that it is the slot */
    struct data *data;
    uint32_t task, nin, nout;
    const uint32_t *in, *out; /* its objects */
    uint32_t *own;            /* the same, copied; NULL: they are the workflow's */
    bool in_place;            /* no attempt may follow that reads its inputs again */
    bool lost;                /* an input that had made room could not be read again */
    bool keeps; /* freed blocks: a thread of a crew has them again soon, and the workflow stays as
                   it is; else objects are copied */
    struct data_block kept[DATA_KEPT];
    uint32_t nkept;
    ARRAY(struct data_file) files;
};

/* For calls without a slot, since no call of their run has an object: there is no input and no output, and scratch memory that
 * data_bare_end() gives back. Around a call: `before = data_bare_begin()`, and its end with that. */
extern const struct weft_task_data data_bare;
struct data_bare_block;
struct data_bare_block *data_bare_begin(void);
void data_bare_end(struct data_bare_block *before);

/* `checked`: bytes behind objects are watched, and inputs compared after each call. */
struct data *data_new(const struct workflow *w, bool checked);
void data_free(struct data *d);         /* with what is left in it; NULL is fine */
void data_count(struct data *d);        /* bytes are counted; before anything is called */
size_t data_peak(const struct data *d); /* most bytes of objects at once, if they are counted */

/* The program's own memory is this object, made already or to be made by its task: whatever the workflow says of it. It
 * stays the program's. Before anything is called. */
void data_lend(struct data *d, uint32_t object, void *at, size_t bytes);
bool data_is_lent(const struct data *d, uint32_t object);
/* From now on objects are no larger than the workflow states, nor the scratch memory of tasks. */
void data_limit(struct data *d);
/* Put it into that file, and free its memory: it is read again when a task that reads it begins. Nobody may use
 * it meanwhile. `*written`: false, it stood there already. False: it cannot be written, and stays. */
bool data_evict(struct data *d, uint32_t object, const char *path, bool *written);

/* Is it an object in memory? Of those that the workflow had when the table was made. */
bool data_holds(const struct data *d, uint32_t object);

void data_slot_init(struct data_slot *s, struct data *d, bool keeps);
void data_slot_free(struct data_slot *s);

/* Around a call. Paths of those of its objects that are files are in `task`. */
void data_begin(struct data_slot *s, struct weft_task *task, uint32_t number);
/* Its status, or another when it returned 0 and something is wrong; data_explain() says what. On success
 * its inputs have one reader less. */
int data_end(struct data_slot *s, struct weft_task *task, int status);
/* It need not run: its inputs have one reader less. */
void data_skip(struct data_slot *s, uint32_t number);
/* What was wrong with that task, appended; nothing: nothing was. */
void data_explain(struct data *d, uint32_t number, struct strbuf *out);
