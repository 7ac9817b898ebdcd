/* Starting agents (`weft agent`) on this machine, over ssh or by Slurm, and letting Slurm's nodes
 * go again. Knows nothing of boards and links: an agent is "ready" once it has said so in its line;
 * what becomes of it afterwards its owner sees on the board.
 *
 *     local:3               three agents on this machine
 *     ssh:a,user@b,c        one on each; `a=10.0.0.1` names the address at which the others find it
 *                           (else the one at which ssh reached it)
 *     slurm                 one a node, in jobs of one node each (sbatch --array), so that each
 *                           starts as soon as it can and is given back alone; inside an allocation
 *                           (SLURM_JOB_ID) on its nodes, by srun
 *
 * Agents outlive this process: detached on this machine and over ssh, in their jobs under Slurm.
 *
 * The key goes through standard input, never through arguments or the environment. A batch job has
 * none: there it stands in STATE/key (0600, in a folder 0700) while jobs are waiting to start, and
 * is deleted once none is.
 *
 * Without a store, the first agent starts one (`--serve-store`) and the others are given its
 * address. That store ends with its agent, which therefore leaves last. Slurm's jobs end: there a store
 * must be given (own_store.h starts one beside the client).
 *
 * Needs a process that ignores SIGPIPE; everything happens in the loop's thread. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct launch;

struct launch_config {
    uv_loop_t *loop;
    const char *target; /* as above */
    const char *key;    /* the key's line (seal_key_text) */
    const char *store;  /* where the store is; NULL: the first agent starts one (not under Slurm) */
    const char *state;  /* a folder of this launch alone; made. Slurm: seen by all nodes */
    /* This program, for agents here and under Slurm. $WEFT_REMOTE names it for other machines
     * (ssh: else `weft` in their PATH). */
    const char *program;
    uint32_t cores;  /* an agent's [0: all of its node] */
    double memory;   /* bytes [0: all] */
    const char *has; /* its attributes, "avx512,ssd" [none] */
    /* things that tasks may hold there, "gpu=[0,1],licence=4" [none]. Agents on this machine share them:
     * each gets a part; Slurm is asked for as many GPUs and licences for each */
    const char *resources;
    double linger;            /* seconds without work until an agent leaves [0: it stays] */
    const char *const *extra; /* further arguments of the agent, ends with NULL; may be NULL */
    bool together;   /* Slurm: one job for all nodes of a launch_want(), not one for each */
    double patience; /* seconds for an agent here or over ssh to be ready [60] */
    /* NULL: from the environment. Words are split at blanks. */
    const char *ssh;          /* $WEFT_SSH ["ssh"]: command and first arguments */
    const char *sbatch;       /* $WEFT_SBATCH: further arguments of sbatch */
    const char *srun;         /* $WEFT_SRUN: further arguments of srun */
    const char *remote;       /* $WEFT_REMOTE: the program at the other end */
    const char *remote_state; /* $WEFT_REMOTE_STATE: where agents over ssh (default: .weft/agents in
                                 the home folder) and under Slurm (STATE/agents) keep theirs */

    /* Agents are numbered from 0 as they are asked for; over ssh in the order of the hosts. */
    void (*ready)(void *context, uint32_t agent, uint32_t node, const char *address);
    /* It never became ready: place, cause, remedy, in a few lines. The others go on. */
    void (*failed)(void *context, uint32_t agent, const char *why);
    /* Its job has ended, or was cancelled before it was ready (Slurm only). */
    void (*ended)(void *context, uint32_t agent);
    void (*log)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* Is a text after `--on` one of these (and not a platform)? Says nothing of its validity. */
bool launch_is_target(const char *text);

/* How many agents "local:3" or "ssh:a,b" are; 0: an error. */
uint32_t launch_count(const char *target, struct error *err);
/* Checks the target and makes the state folder; starts nothing. */
struct launch *launch_new(const struct launch_config *config, struct error *err);
/* So many agents should be there or on their way: starts what is missing, at most what the target
 * has (launch_most). Less than before changes nothing: idle agents leave by themselves. Hosts that
 * failed are not tried again. */
void launch_want(struct launch *l, uint32_t agents);
uint32_t launch_most(const struct launch *l); /* UINT32_MAX: no limit known */
/* Its owner has seen that it left: its place may be used by a later launch_want(). */
void launch_agent_left(struct launch *l, uint32_t agent);

/* Where the store is, once an agent is ready; "" before. With `auth=key`: its password comes from
 * the key. */
const char *launch_store(const struct launch *l);
/* For people: the host, "local 2", "Slurm job 12_3". Valid until the next launch_want(). */
const char *launch_name(const struct launch *l, uint32_t agent);

struct launch_counts {
    uint32_t asked, starting, ready, failed, ended; /* asked: all of the others together */
    const char *waiting; /* why Slurm has not started what is starting ("Resources"), or "" */
};
struct launch_counts launch_counts(const struct launch *l);

/* Let go of what we asked for: agents still being started are ended; Slurm's jobs have `grace`
 * seconds to end by themselves (their agents were told to leave), then they are cancelled. Agents
 * on this machine and over ssh that are ready belong to their owner. `done` comes once (never
 * within the call), with "" or what could not be let go. */
void launch_end(struct launch *l, double grace, void (*done)(void *context, const char *why));
/* Nothing is told any more; what runs goes on. Frees once the loop has seen it: run it afterwards.
 * NULL is fine. */
void launch_free(struct launch *l);
