/* What a run does at this moment, for whoever looks from outside (the page): a small file, STATE/now, that the run has mapped and
 * writes with plain stores. It costs a run a few stores a task, whether anybody looks or not; what is over stands in the
 * history, which is written twice a second.
 *
 *     head     whose it is, counts of tasks
 *     kinds    the same counts by kind: who looks at a run of a million tasks reads these, and no row of the history
 *     wishes   tasks that somebody outside wants cancelled, or whose log he wants to see: the one part that others write and the run
 *              reads; and those that it has heard of, so that everybody sees what is being cancelled
 *     slots    NOW_SLOTS of them: an open hash table by task; each an attempt that runs, or free
 *
 * It stays when the run is over, until the next one. A reader may see half of a change. It shows a moment, and looks again. */
#pragma once
#include "base/array.h"
#include "model/trace.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    NOW_SLOTS = 4096, /* attempts at once beyond that are counted, and not told */
    NOW_KINDS = 128,  /* a run of more kinds tells none */
    NOW_NAME = 64,    /* bytes of a kind's name, with its end; longer ones are cut */
    NOW_WISHES = 64,
};

/* What somebody outside may ask for, of a task. */
enum now_wish {
    NOW_CANCEL, /* end it, and what depends on it */
    NOW_SHOW,   /* bring here what it has written: of a task on an agent, whose log is there */
    NOW_WISH_KINDS
};

struct now_counts {
    uint32_t tasks, running, done, failed, reused, skipped;
};

struct now_head {
    char magic[8]; /* "weftnow3" */
    int64_t run;   /* number in the history */
    struct now_counts all;
    uint32_t kinds; /* 0: too many, or the run has grown */
    uint32_t away;  /* it runs on agents: logs of what runs are not here */
};

/* Tasks of a kind, in the order of their first ones. */
struct now_kind {
    char name[NOW_NAME];
    struct now_counts counts;
    double seconds; /* of those that are done, together */
};
typedef ARRAY(struct now_kind) now_kinds;

struct now_task {
    uint32_t task, node, lane, attempt;
    double since; /* seconds since the run started */
    uint32_t
        secrets; /* it is given some: its log is masked when it has ended, and not to be read before */
    uint32_t unused;
};
typedef ARRAY(struct now_task) now_tasks;
typedef ARRAY(uint32_t) now_numbers;

struct now;
/* NULL: it cannot be made, and nobody can look; the run goes on. The workflow is kept, and may grow. */
struct now *now_begin(const char *state, int64_t run, const struct workflow *w, bool away);
/* For the run's listeners; from one thread at a time. */
struct trace_sink now_sink(struct now *n);
void now_end(struct now *n); /* nothing runs any more; NULL is fine */
/* A task that somebody wants this of, taken out; NONE: there is no other. For the run, now and then. */
uint32_t now_take_wish(struct now *n, enum now_wish wish);

/* What run `run` in the folder of this state does. Appends in no order. False: it tells nothing. */
bool now_read(const char *state, int64_t run, struct now_head *head, now_tasks *out);
/* Its counts by kind: appends head->kinds of them. False: it tells nothing. */
bool now_read_kinds(const char *state, int64_t run, struct now_head *head, now_kinds *out);
/* Tasks that were wished to be cancelled last, heard of or not yet; appended, the oldest first. Some may be over by now. */
void now_read_cancelled(const char *state, int64_t run, now_numbers *out);
/* Ask the run. A wish that stands there already is not asked twice. */
enum now_answer { NOW_ASKED, NOW_SILENT, NOW_FULL };
enum now_answer now_ask(const char *state, int64_t run, enum now_wish wish, uint32_t task);
