/* A run on record, watched by somebody else than who runs it: while it goes on, and afterwards. Only what is new is read at each
 * look, so that a run of a million tasks can be looked at once a second.
 *
 *     history: attempts, reuse  ─┐
 *     STATE/now: what runs       ├─▶  watching: a state a task, sums a family, attempts in order of time
 *     names, kinds, predictions ─┘
 *
 * The graph is read when it is first asked for: names and kinds suffice for all but neighbours. */
#pragma once
#include "history/history.h"
#include "report/families.h"
#include "report/kinds.h"
#include "session/now.h"

enum watch_state {
    WATCH_WAITING,
    WATCH_RUNNING,
    WATCH_DONE,
    WATCH_FAILED,
    WATCH_REUSED,
    WATCH_SKIPPED, /* by a decision; or, once the run is over, because of failures or a stop */
    WATCH_STATES
};
extern const char *const watch_state_names[WATCH_STATES];

struct watch_sum {
    uint32_t tasks, state[WATCH_STATES];
    double seconds;   /* of attempts that ended well, together */
    double predicted; /* of all tasks, together; NAN: not known of some */
};

struct watching {
    struct run_record head; /* with predictions, without events */
    struct workflow *names; /* names and kinds; no edges */
    struct workflow *graph; /* NULL: not asked for yet, or not kept */
    bool graph_tried;
    struct kinds kinds;
    struct families families; /* of `names` */
    char *state_folder;       /* FOLDER/.weft */

    struct history_place place;
    history_attempts attempts;   /* in the order in which they ended */
    history_transfers transfers; /* likewise; of runs on agents */
    uint32_t *last;              /* per task: its last attempt plus 1; 0: none */
    uint8_t *reused, *skipped;   /* per task */
    uint8_t *state;              /* per task: enum watch_state */
    uint8_t *reasons;            /* per task: enum need; NULL: not known */
    struct watch_sum all, *sums; /* sums: per family */
    now_tasks running;
    bool away;       /* it runs on agents */
    double seconds;  /* so far, or altogether */
    double expected; /* seconds altogether; NAN: not known */
};

bool watching_open(struct watching *w, int64_t run, struct error *err);
void watching_close(struct watching *w);
/* Read what is new. `changed`: something is. */
bool watching_look(struct watching *w, bool *changed, struct error *err);
/* The graph, or NULL where none was kept. Reads it the first time. */
const struct workflow *watching_graph(struct watching *w, struct error *err);
/* Where the log of the task's last attempt stands, or of the one that runs; the caller frees. The file may not be there; NULL:
 * there is none. */
char *watching_log(const struct watching *w, uint32_t task);
/* It runs and is given secrets: what it writes is told when it has ended. */
bool watching_is_masked(const struct watching *w, uint32_t task);
/* Tasks that somebody wished to be cancelled and that are not over yet; appended. */
void watching_cancelled(const struct watching *w, now_numbers *out);
/* Why the task had to run, in a word ("command changed"); NULL: not known. */
const char *watching_reason(const struct watching *w, uint32_t task);
/* Ask it to cancel a task, and what depends on it; it looks ten times a second. */
bool watching_cancel(const struct watching *w, uint32_t task, struct error *err);
/* As Ctrl-C in its terminal: nothing new starts; once more: everything is ended. */
bool watching_stop(const struct watching *w, struct error *err);
