/* The folder of a workflow and weft's own folder in it:
 *
 *     FOLDER/                     where the workflow's files are and its commands run
 *     └── .weft/                  the "state"
 *         ├── memo                what has been computed here (memo/memo.h); one run has it at a time
 *         ├── holder              who that is, for others to read
 *         ├── running             the process number of the run that goes on; one that is left behind
 *         │                       tells of a crash
 *         ├── image-FLOW          what a large workflow was read as (session/image.h)
 *         ├── logs/RUN/           what tasks of a run wrote to standard output and error
 *         ├── sandbox/            a folder for each task while it runs
 *         ├── agents-PID/         of agents that `weft run --on` started
 *         └── cluster/            notes of runs that go on on a cluster (session/note.h)
 *             ├── N.json
 *             └── N.key
 *
 * The memo of a large folder takes as long to read as the workflow: a thread reads it between
 * workspace_begin() and workspace_open(). */
#pragma once
#include "base/error.h"
#include "memo/memo.h"
#include "session/remark.h"
#include <stdbool.h>

struct workspace {
    char *folder, *state;
    bool look;         /* nothing is created or written, and others may run meanwhile */
    struct memo *memo; /* once it is open */
    struct memo_opened found;
    bool crashed;               /* the last run here ended without a word */
    struct memo_loader *loader; /* the thread; NULL: nobody reads ahead */
};

/* Name the folder (NULL: the one in which the file `flow` is) and begin to read what is known about
 * it. Nothing is created. `look`: nor will anything be later. */
void workspace_begin(struct workspace *ws, const char *flow, const char *folder, bool look);
/* Create the state and open the memo, which this workspace has alone from here on; to look, only read
 * it. While another run has it, it is waited for, so many seconds at most. False: not a folder, not to
 * be written, a stranger's, or another run has it; close all the same. */
bool workspace_open(struct workspace *ws, double wait, const struct remarks *remarks,
                    struct error *err);
/* A run begins (true) or has ended (false). */
void workspace_mark(const struct workspace *ws, bool running);
/* After a crash: end the processes of the run that was cut off and remove its sandboxes. */
void workspace_clear_leftovers(const struct workspace *ws, const struct remarks *remarks);
/* When nothing runs any more: a sandbox may have stayed while descriptors were short. */
void workspace_clear_sandboxes(const struct workspace *ws);
/* Writes what is not yet written of the memo; says when it cannot be. */
void workspace_close(struct workspace *ws, const struct remarks *remarks);
/* In its place when memory ran out: the folder's lock is given up, the rest is left as it is. */
void workspace_abandon(struct workspace *ws);
