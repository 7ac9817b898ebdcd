/* A launch with a loop of its own (fleet.h).
 *
 * Invariants:
 *   I1. The loop is the stepper's: it outlives the launch and every client that shares it.
 *   I2. Stops count for what is under way: while agents start, and again while they are let go.
 *   I3. Agents that are ready are nobody's children: they go on when this process ends. */
#include "cluster/launch/fleet.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/launch/launch.h"
#include "exec/stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds after an agent said that it is ready: what the board says of its number before may be of
 * another that had it. */
static const double SETTLING = 5;
enum { TAKEN_MOST = 3 };             /* times that all first jobs may be cancelled */
enum { TICK_MS = 100 };              /* whoever waits looks again at least this often */
static const double CANCELLING = 30; /* seconds beyond the grace that Slurm may take to cancel */

struct fleet_agent {
    uint32_t agent, node; /* its number in the launch and on the board */
    double since;         /* clock_seconds() */
};

struct fleet {
    struct stepper stepper;
    uv_timer_t ticker;
    struct launch *launch;
    struct fleet_config o;
    char key[SEAL_KEY_TEXT];
    bool elastic, over;
    uint32_t wanted, taken; /* taken: agents that were ended from outside before they were ready */
    uint32_t asked_again;
    size_t lost;           /* of `nodes`: they were gone before the run began (fleet_begin_again) */
    ARRAY(uint32_t) nodes; /* numbers on the board of all that were ever ready */
    ARRAY(struct fleet_agent) ready;
    char last[512]; /* why the last one failed */
    char waiting[64];
};

static void fleet_say(struct fleet *f, const char *line)
{
    if (f->o.say)
        f->o.say(f->o.context, line);
}

/* Its number on the board: by that it is told to leave later. */
static void fleet_agent_ready(void *context, uint32_t agent, uint32_t node, const char *address)
{
    struct fleet *f = context;
    (void)address;
    array_push(&f->nodes, node);
    for (size_t i = 0; i < f->ready.n; i++) /* who had this number has gone */
        if (f->ready.at[i].node == node)
            f->ready.at[i].since = 0;
    fleet_left(f, node);
    array_push(&f->ready, (struct fleet_agent){agent, node, clock_seconds()});
}

void fleet_left(struct fleet *f, uint32_t node)
{
    for (size_t i = f->ready.n; i--;) {
        struct fleet_agent a = f->ready.at[i];
        if (a.node != node || clock_seconds() - a.since < SETTLING)
            continue;
        f->ready.at[i] = array_pop(&f->ready);
        launch_agent_left(f->launch, a.agent);
    }
}

/* In one line, and kept: when none becomes ready, the last reason is the error. Once, while it is tried
 * again in the middle of a run. */
static void fleet_agent_failed(void *context, uint32_t agent, const char *why)
{
    struct fleet *f = context;
    (void)agent;
    char line[sizeof f->last];
    size_t n = 0;
    for (; *why && n + 3 < sizeof line; why++) { /* what other programs say has lines */
        if (*why == '\n')
            line[n++] = ';';
        line[n++] = *why == '\n' ? ' ' : *why;
    }
    line[n] = 0;
    bool known = f->nodes.n && strcmp(line, f->last) == 0;
    memcpy(f->last, line, n + 1);
    if (!known)
        fleet_say(f, f->last);
}

/* A Slurm job is over: agents without work leave by themselves. Or it was cancelled before there was any. */
static void fleet_agent_ended(void *context, uint32_t agent)
{
    struct fleet *f = context;
    f->taken += f->nodes.n == f->lost;
    launch_agent_left(f->launch, agent); /* its node may be asked for again */
}

static void fleet_launch_log(void *context, const char *line)
{
    fleet_say(context, line);
}

/* Wakes a step that waits, so that whoever waits looks again. */
static void fleet_tick(uv_timer_t *timer)
{
    (void)timer; /* whoever waits looks again */
}

/* Whatever is left on the loop, but the stepper's own handle, which it closes itself. */
static void fleet_close_handle(uv_handle_t *handle, void *context)
{
    const struct fleet *f = context;
    if (!uv_is_closing(handle) && handle != (const uv_handle_t *)&f->stepper.wake)
        uv_close(handle, NULL);
}

/* The launch frees itself once the loop has seen its handles close; then the loop can go. */
static void fleet_free(struct fleet *f)
{
    launch_free(f->launch);
    for (int i = 0; i < 50; i++) /* a handle closes another: none needs more turns than this */
        uv_run(f->stepper.loop, UV_RUN_NOWAIT);
    uv_walk(f->stepper.loop, fleet_close_handle, f);
    stepper_close(&f->stepper);
    explicit_bzero(f->key, sizeof f->key);
    array_free(&f->nodes);
    array_free(&f->ready);
    free(f);
}

/* Nothing is started before fleet_want(). On an error everything is taken down again. */
struct fleet *fleet_new(const struct fleet_config *config, struct error *err)
{
    struct fleet *f = mem_new_zero(struct fleet, 1);
    f->o = *config;
    f->elastic = strcmp(config->target, "slurm") == 0;
    if (!stepper_open(&f->stepper, NULL, err)) {
        free(f);
        return NULL;
    }
    uv_timer_init(f->stepper.loop, &f->ticker);
    uv_timer_start(&f->ticker, fleet_tick, TICK_MS, TICK_MS);
    seal_key_text(&config->key, f->key);
    f->launch = launch_new(&(struct launch_config){.loop = f->stepper.loop,
                                                   .target = config->target,
                                                   .key = f->key,
                                                   .store = config->store,
                                                   .state = config->state,
                                                   .program = config->program,
                                                   .cores = config->cores,
                                                   .memory = config->memory,
                                                   .has = config->has,
                                                   .resources = config->resources,
                                                   .linger = config->linger,
                                                   .ready = fleet_agent_ready,
                                                   .failed = fleet_agent_failed,
                                                   .ended = fleet_agent_ended,
                                                   .log = fleet_launch_log,
                                                   .context = f},
                           err);
    if (f->launch)
        return f;
    fleet_free(f);
    return NULL;
}

uint32_t fleet_most(const struct fleet *f)
{
    return launch_most(f->launch);
}

bool fleet_is_elastic(const struct fleet *f)
{
    return f->elastic;
}

void fleet_want(struct fleet *f, uint32_t agents)
{
    f->wanted = agents;
    launch_want(f->launch, agents);
}

bool fleet_begin_again(struct fleet *f)
{
    if (!f->elastic || f->asked_again == TAKEN_MOST || stepper_stops(&f->stepper))
        return false;
    for (size_t i = 0; i < f->ready.n; i++)
        launch_agent_left(f->launch, f->ready.at[i].agent);
    fleet_say(f, f->nodes.n > f->lost
                     ? "all agents are gone before the run began; Slurm is asked for other nodes"
                     : "Slurm is asked for other nodes");
    f->ready.n = 0;
    f->lost = f->nodes.n;
    f->asked_again++;
    launch_want(f->launch, f->wanted);
    return true;
}

/* All first jobs were cancelled or preempted: a run has other nodes asked for as it goes on, and so has its
 * beginning. Of a job that began and ended while we stood still, both are heard in one step. */
static void fleet_ask_again(struct fleet *f)
{
    struct launch_counts c = launch_counts(f->launch);
    if (c.starting || c.ready)
        return;
    f->taken += f->elastic && f->nodes.n > f->lost;
    if (f->taken)
        fleet_begin_again(f);
}

/* While Slurm lets us wait, people want to know what for. */
static void fleet_report_waiting(struct fleet *f)
{
    struct launch_counts c = launch_counts(f->launch);
    if (!c.waiting || !c.waiting[0] || strcmp(c.waiting, f->waiting) == 0)
        return;
    snprintf(f->waiting, sizeof f->waiting, "%s", c.waiting);
    char line[128];
    snprintf(line, sizeof line, "waiting for nodes: %s", f->waiting);
    fleet_say(f, line);
}

/* Nothing is left to wait for. */
static bool fleet_is_settled(const struct fleet *f)
{
    struct launch_counts c = launch_counts(f->launch);
    return stepper_stops(&f->stepper) || !c.starting || (f->elastic && c.ready);
}

/* Slurm may take hours: what it waits for is said whenever it changes. */
bool fleet_step(struct fleet *f, double wait)
{
    if (fleet_is_settled(f))
        return false;
    fleet_report_waiting(f);
    stepper_step(&f->stepper, wait);
    fleet_ask_again(f);
    return !fleet_is_settled(f);
}

int fleet_fd(struct fleet *f)
{
    return stepper_fd(&f->stepper);
}

void fleet_stop(struct fleet *f)
{
    stepper_stop(&f->stepper);
}

bool fleet_started(const struct fleet *f, struct error *err)
{
    if (stepper_stops(&f->stepper))
        return error_set(err, ERROR_FAILED, "stopped before the agents were ready; nothing ran");
    return launch_counts(f->launch).ready ||
           error_set(err, ERROR_FAILED, "no agent could be started: %s",
                     f->last[0] ? f->last
                     : f->taken
                         ? "each of its jobs was cancelled or preempted before it was ready; "
                           "`scontrol show job` may say by whom"
                         : "none became ready");
}

bool fleet_wait(struct fleet *f, struct error *err)
{
    while (fleet_step(f, -1))
        ;
    return fleet_started(f, err);
}

const char *fleet_store(const struct fleet *f)
{
    return launch_store(f->launch);
}

struct uv_loop_s *fleet_loop(struct fleet *f)
{
    return f->stepper.loop;
}

uint32_t fleet_ready(const struct fleet *f)
{
    return launch_counts(f->launch).ready;
}

const uint32_t *fleet_nodes(const struct fleet *f, uint32_t *n)
{
    *n = (uint32_t)f->nodes.n;
    return f->nodes.at;
}

/* Once, from the loop: Slurm has ended all jobs, or has been given up. */
static void fleet_let_go(void *context, const char *why)
{
    struct fleet *f = context;
    f->over = true;
    if (why && why[0])
        fleet_say(f, why);
}

/* A stop ends the waiting: what Slurm still has then ends by its own limits, or by hand. */
void fleet_end(struct fleet *f, double grace)
{
    double until = clock_seconds() + grace + CANCELLING;
    stepper_forget_stops(&f->stepper); /* they were for the start */
    launch_end(f->launch, grace, fleet_let_go);
    stepper_step(&f->stepper,
                 0); /* where nothing is waited for it is over now, and not with the next tick */
    while (!f->over && clock_seconds() < until && !stepper_stops(&f->stepper))
        stepper_step(&f->stepper, -1);
    fleet_free(f);
}

void fleet_abandon(struct fleet *f)
{
    if (f)
        fleet_free(f);
}
