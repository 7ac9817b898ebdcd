/* Runs that have ended and whose results nobody has taken yet: what an agent knows of them, and their
 * data in its folder. Such a run costs nothing but that: its job is closed once nobody is at it, and opened
 * again when somebody asks for it (agent_wake_run()). Its data goes when the results were taken, when it is
 * too old or too much (agent_options.keep_for, keep_size), or when there are too many such runs: then the
 * board says EXPIRED, and all agents drop what they have of it. */
#pragma once
#include "base/seal.h"
#include "store/board.h"
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct job;

enum {
    ENDED_RUNS_MOST = 1000, /* on a board: each is in every view */
    ENDED_WORDS = 16,       /* runs whose last words an agent still says */
};

struct ended_run {
    uint64_t run;
    uint8_t id[SEAL_ID];
    double created, when; /* it was submitted, and ended, by the server's clock */
    double bytes;         /* of its data here */
    bool here;            /* there is a folder of it */
    bool on_board;        /* the last view showed it as ENDED; else only the folder is left of it */
    bool handed;          /* others were asked to keep its data: this agent leaves */
    bool expiring;        /* the board is told */
};

/* What earlier lives of this agent left. */
void ended_find_folders(struct agent *a);
/* The one of this number, on the board rather than not; NULL: none. Valid until the list changes. */
struct ended_run *ended_run(struct agent *a, uint64_t run);
/* Before and after the runs of a view were looked at. */
void ended_begin_view(struct agent *a);
void ended_end_view(struct agent *a);
/* The board says, proved, that it has ended. */
void ended_see(struct agent *a, const struct board_run *r);
/* It is worked on: not one of these. */
void ended_not(struct agent *a, const struct board_run *r);
/* Its results were taken, or it has expired: its folder goes. */
void ended_drop(struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID]);
/* The job of a run is about to be closed, and its data stays: on the board, or (`lost`) the store does
 * not know the run any more. */
void ended_add(struct agent *a, const struct job *j, bool lost);
/* Once a second: jobs of ended runs that nobody is at are closed; what is too old or too much goes. */
void ended_second(struct agent *a);
/* It has what it was asked to keep of this run, or will not have it. */
void ended_kept(struct agent *a, uint64_t run);
/* This agent leaves: jobs of which all was handed over are closed. Not from within a job. */
void ended_close_handed(struct agent *a);
/* This agent leaves: wake some that were not handed over yet. False: all were. */
bool ended_wake_to_hand(struct agent *a);
/* Runs with data here, and the bytes of it. */
uint32_t ended_count(const struct agent *a, double *bytes);
void ended_free(struct agent *a);
