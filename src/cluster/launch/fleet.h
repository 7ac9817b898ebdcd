/* Agents of one's own for one run (`weft run --on local:4`, `ssh:a,b`, `slurm`): started before it,
 * more of them during it, told to leave and let go after it. A launch (launch.h) with the loop that
 * drives it, which the client of the run shares.
 *
 *     f = fleet_new(&config, &err); fleet_want(f, n);
 *     while (fleet_step(f, -1)) ;            or: poll fleet_fd(f), then fleet_step(f, 0)
 *     fleet_started(f, &err)                 the store's address is known
 *     ... the run ...
 *     fleet_end(f, grace) or fleet_abandon(f)
 *
 * For one thread, but fleet_stop(): that is for any thread and for signal handlers, from
 * fleet_new() until it is ended. The process is left alone; it has to ignore SIGPIPE. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include <stdbool.h>
#include <stdint.h>

struct fleet;
struct uv_loop_s;

struct fleet_config {
    const char *target; /* as launch.h has them */
    struct seal_key key;
    const char *store;     /* NULL: the first agent starts one (not under Slurm) */
    const char *state;     /* a folder of this fleet alone; made */
    const char *program;   /* this one */
    uint32_t cores;        /* of an agent [all of its node] */
    double memory;         /* of an agent, bytes [all] */
    const char *has;       /* attributes of an agent [none] */
    const char *resources; /* things of an agent, as launch.h says [none] */
    double linger;         /* seconds without work until an agent leaves [never] */
    void (*say)(void *context, const char *line); /* for people */
    void *context;
};

struct fleet *fleet_new(const struct fleet_config *config, struct error *err);
uint32_t fleet_most(const struct fleet *f);   /* UINT32_MAX: no limit known */
bool fleet_is_elastic(const struct fleet *f); /* agents are asked for as tasks become ready */
/* So many agents should be there; starts what is missing. */
void fleet_want(struct fleet *f, uint32_t agents);
/* Let happen what is due. wait 0: never blocks; negative: until something happens; else at most so
 * many seconds. False: all that were asked for are ready or have failed (elastic: one is ready), or
 * it was stopped. */
bool fleet_step(struct fleet *f, double wait);
/* Readable when fleet_step() would find something to do; -1: the process has no descriptors
 * left. */
int fleet_fd(struct fleet *f);
/* No more waiting: first while agents start, then for those that are let go. */
void fleet_stop(struct fleet *f);
/* After the steps. False: no agent is ready, or it was stopped before one was. */
bool fleet_started(const struct fleet *f, struct error *err);
/* Steps until it has started. */
bool fleet_wait(struct fleet *f, struct error *err);
/* Once one is ready. */
const char *fleet_store(const struct fleet *f);
struct uv_loop_s *fleet_loop(struct fleet *f);
uint32_t fleet_ready(const struct fleet *f);
/* The numbers on the board of those that were ever ready. */
const uint32_t *fleet_nodes(const struct fleet *f, uint32_t *n);
/* The board says that the agent of this number is gone: another may be started in its place. */
void fleet_left(struct fleet *f, uint32_t node);
/* All that were ready are gone before there was a run that would ask for others: asks again, a few times.
 * False: not any more, or not this kind of fleet. True: wait as at the start. */
bool fleet_begin_again(struct fleet *f);
/* The agents were told to leave: let go of what they stood on, and free. */
void fleet_end(struct fleet *f, double grace);
/* What runs goes on without us. Frees; NULL is fine. */
void fleet_abandon(struct fleet *f);
