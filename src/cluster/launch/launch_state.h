/* A launch, as its files see it: launch.c, launch_direct.c (here and over ssh), launch_slurm.c.
 * Private to them. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "cluster/launch/subprocess.h"
#include "cluster/launch/launch.h"
#include "cluster/launch/launch_agent.h"
#include "cluster/launch/launch_words.h"

enum launch_kind { LAUNCH_LOCAL, LAUNCH_SSH, LAUNCH_SLURM };

struct slurm;

struct launch {
    struct launch_config config;
    char *target, *key, *state, *program, *remote_state;
    launch_words ssh, sbatch, srun, extra;
    enum launch_kind kind;
    char name[32]; /* of this launch: of its jobs, of folders at other machines */
    char *store;   /* with auth=key; "" unknown yet */
    ARRAY(struct launch_agent *) agents;
    struct slurm *slurm;
    uv_timer_t timer; /* for `done` */
    void (*done)(void *context, const char *why);
    char *why;     /* what could not be let go */
    unsigned open; /* handles that keep this alive */
    bool freed;
};

void launch_log(struct launch *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line that an agent printed. True when it says that it is ready. */
bool launch_take_line(struct launch *l, struct launch_agent *a, const char *line);
void launch_agent_failed(struct launch *l, struct launch_agent *a, const char *why);
void launch_agent_ended(struct launch *l, struct launch_agent *a);
struct launch_agent *launch_add_agent(struct launch *l, const char *name);
/* The arguments of an agent that are the same everywhere: cores, memory, linger, extra. */
void launch_common_arguments(const struct launch *l, launch_words *words);
/* The things of the agent of this number. */
void launch_resources(const struct launch *l, uint32_t number, launch_words *words);
/* What helps against what a starter said, or `otherwise`. */
const char *launch_remedy(const char *said, int status, const char *otherwise);
/* Tell the end, in the loop's next turn; `why` is copied. */
void launch_finish(struct launch *l, const char *why);
void launch_close_handle(struct launch *l, uv_handle_t *handle);

void launch_direct_want(struct launch *l, uint32_t agents);
void launch_direct_end(struct launch *l);

/* A file that others cannot read, whole or not at all; false: errno says why. */
bool launch_write_private(const char *path, const char *text, mode_t mode);
bool launch_slurm_open(struct launch *l, struct error *err);
void launch_slurm_want(struct launch *l, uint32_t agents);
uint32_t launch_slurm_most(const struct launch *l);
const char *launch_slurm_waiting(const struct launch *l);
void launch_slurm_end(struct launch *l, double grace);
void launch_slurm_close(struct launch *l); /* handles; the memory by launch_slurm_free() */
void launch_slurm_free(struct launch *l);
