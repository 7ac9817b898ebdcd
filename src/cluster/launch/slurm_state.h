/* A launch under Slurm, as its files see it: launch_slurm.c (asking for nodes) and slurm_watch.c
 * (what became of them). Private to them. */
#pragma once
#include "cluster/launch/launch_state.h"
#include <sys/types.h>

/* What starts and ends together: a job, an element of a job array, a step. */
struct slurm_piece {
    char id[64];        /* as squeue says it; steps: "" */
    char *path;         /* its output */
    off_t offset;       /* read so far */
    struct strbuf line; /* that has not ended yet */
    struct strbuf tail;
    uint32_t first, count, ready; /* agents; the k-th ready line is the k-th agent's */
    uint32_t slot;                /* steps: first node of the allocation */
    struct subprocess *step;
    unsigned missed; /* squeue's answers in a row that did not list it */
    bool running, cancelled, over;
    bool ran; /* squeue has shown it at work */
    struct launch *launch;
};

/* An sbatch under way. */
struct slurm_request {
    struct launch *launch;
    struct subprocess *starter;
    uint32_t first, count;
    char id[24];
};

struct slurm {
    ARRAY(struct slurm_piece *) pieces;
    ARRAY(struct slurm_request *) requests;
    uint32_t nodes; /* of the allocation we are in; 0: not in one */
    bool *used;     /* which of them */
    uint32_t steps;
    char *script, *key_path, *given_store;
    bool has_key;
    struct subprocess *squeue, *scancel;
    struct strbuf listed; /* ids that squeue's answer has had so far, each between blanks */
    char waiting[128];
    uv_timer_t timer;
    double ask_at, ask_every;
    double deadline, gave_up_at; /* of the end; 0: it has not begun */
    unsigned refusals;           /* of squeue in a row */
};

/* ---- launch_slurm.c ---- */

struct launch_agent *slurm_agent(struct launch *l, uint32_t number);

/* ---- slurm_watch.c ---- */

/* What its output has had since the last time: ready agents. */
void slurm_read_output(struct launch *l, struct slurm_piece *p);
/* It has ended; `status` as a shell says it, 0 when nobody knows. */
void slurm_piece_over(struct launch *l, struct slurm_piece *p, int status);
/* Ask squeue soon, and often at first. */
void slurm_ask_soon(struct slurm *s);
/* A few times a second. */
void slurm_tick(uv_timer_t *timer);
/* Something more of the end that launch_slurm_end() has begun. */
void slurm_go_on_ending(struct launch *l);
