/* Which tasks must run, and why: the workflow against what has been computed (memo) and the files
 * that are there. Nothing is changed; `weft run`, `--dry-run` and `--why` all ask here. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "model/workflow.h"
#include "memo/memo.h"

/* Their numbers stand in the history (table `reasons`): a new one comes last. */
enum need {
    NEED_NOT,     /* its result is there */
    NEED_NEVER,   /* no record of this task at all */
    NEED_COMMAND, /* its command, parameters or output names changed */
    NEED_INPUT,   /* the content or the list of its inputs changed */
    NEED_OUTPUT,  /* an output is missing, or is not what the task left */
    NEED_PARENT,  /* something that it reads will be computed first; it may turn out to be
                   * the same */
    NEED_RESTORE, /* its temporary output is needed again */
    NEED_FORCED,  /* the user said so */
    NEED_SKIPPED, /* it is not taken: memo/decide.h */
    NEED_KEPT,    /* its outputs are not there, but kept: they are restored (memo/keeping.h) */
    NEED_KINDS
};

enum { NEED_RESTORED = 2 }; /* of `present` */

/* A task's key and the hashes of its command and its name. */
struct need_hashes {
    struct digest key;
    uint64_t command, name;
    bool made, known;
};

struct needs {
    const struct workflow *w;
    const char *folder;
    struct memo *memo;
    uint8_t *task;          /* enum need */
    uint32_t *because;      /* the object or parent behind it; NONE: nothing to name */
    struct digest *content; /* of each object; zero: not known yet */
    double *bytes;          /* of each object that is there; as stated or 0 otherwise */
    uint8_t *present; /* of each object: a file is there; NEED_RESTORED: put back in this run */
    uint8_t *absent;  /* of each object: whoever makes it does not, in this run; an input that is
                        optional and not there. NULL: nothing is (memo/decide.h) */
    /* Of tasks that have no files: nothing that happens changes them, so they are hashed once. NULL: there is none. */
    struct need_hashes *hashes;
    uint64_t *name_hashes; /* of the objects that they make; 0: not known */
    uint32_t nhashes, nname_hashes;
    char **note;        /* per task, for need_explain(): what else is known of it; NULL: nothing */
    uint32_t run, skip; /* tasks that must, and need not */
    uint32_t untaken;   /* tasks that are known to be skipped */
    uint32_t kept;      /* tasks whose outputs will be restored */
    struct keeping *keeping;                   /* NULL: no result is kept, and none restored */
    bool elsewhere;                            /* as in the options */
    const struct run_environment *environment; /* images and the like; NULL: nothing is known */
    uint32_t task_room,
        object_room;       /* entries that the arrays have room for; 0: as many as there are */
    bool late;             /* some input was not there when its reader joined: need_read_late() */
    bool hashed_elsewhere; /* of an agent: contents are another's word, files here may be unread */
};

struct need_options {
    bool all;              /* --force: everything */
    const uint8_t *forced; /* per task: 1: it runs again; NULL: none is */
    const uint8_t *wanted; /* per task: 0 is left out altogether; NULL: all are wanted */
    const struct run_environment *environment; /* must stay as long as what is found */
    bool elsewhere; /* files between tasks stay where they were made: one may be absent here, as
                       temporary ones may, and is made again only when something reads it */
    struct keeping *keeping; /* must stay as long; NULL: none */
};

/* Will it run, as far as is known? */
static inline bool need_runs(const struct needs *n, uint32_t task)
{
    return n->task[task] != NEED_NOT && n->task[task] != NEED_SKIPPED && n->task[task] != NEED_KEPT;
}
/* Functions hand it to each other: it has no file, and its content is known by its producer's key. */
static inline bool need_in_memory(const struct needs *n, uint32_t object)
{
    return !n->elsewhere && workflow_object_is(n->w, object, OBJECT_IN_MEMORY);
}
/* Is it no reason to run that this file is not here? */
bool need_may_be_gone(const struct needs *n, uint32_t object);
/* It is absent in this run; after needs_decide(). */
void need_absent(struct needs *n, uint32_t object);

/* Fails when an input of the workflow that a task must read is not there, naming file and task. */
bool needs_find(struct needs *n, const struct workflow *w, const char *folder, struct memo *memo,
                const struct need_options *options, struct error *err);
/* The workflow has grown (model/growth.h): its tasks from `first` on and its objects from `object` on are
 * new. They are judged as needs_find() judges, what has run meanwhile counting as done. Fails as it
 * does, and may then be freed. O(new). */
bool needs_grow(struct needs *n, uint32_t first, uint32_t object,
                const struct need_options *options, struct error *err);
/* The same for an agent: nothing is looked at here, and every task runs unless it is on record. */
void needs_extend(struct needs *n, uint32_t first, uint32_t object);
/* Once more, before anything runs: temporary files that are gone and that what runs will read are made
 * again; with `open` all that are gone, since tasks may join who read them. O(workflow). */
void needs_restore(struct needs *n, bool open);
/* Inputs of a task that joined before they were there, now that it may start; where n->late. */
void need_read_late(struct needs *n, uint32_t task);
/* Nothing is looked at and nothing known: every task must run but those in `done`. For who records
 * what others run. */
void needs_blank(struct needs *n, const struct workflow *w, const char *folder, struct memo *memo,
                 const uint32_t *done, size_t ndone);
void needs_free(struct needs *n);

/* The key of a task's computation; false while an input's content is not known. */
bool need_key(const struct needs *n, uint32_t task, struct digest *key);
/* What is on record of the task as it is now, whatever became of its outputs. NULL: nothing. */
const struct memo_task *need_find_record(const struct needs *n, uint32_t task);
/* The task has its key and is known by it with all outputs as they were: take them over. */
bool need_reuse(struct needs *n, uint32_t task, const struct digest *key);
/* It has run: look at its outputs and record it. False: an output cannot be read. */
bool need_done(struct needs *n, uint32_t task, struct error *err);
/* It has run somewhere else: its outputs' contents are in n->content. False, and nothing is
 * recorded, while one of them or of its inputs is not known. */
bool need_learn(struct needs *n, uint32_t task);

const char *need_name(enum need need); /* "new", "command changed", ... */
/* One line for people: "runs: its command changed since it last ran". */
void need_explain(const struct needs *n, uint32_t task, struct strbuf *out);
