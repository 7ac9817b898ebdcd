#include "cluster/launch/fleet.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/launch/launch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fleet {
    uv_loop_t loop;
    uv_timer_t ticker;
    uv_signal_t signals[2];
    struct launch *launch;
    struct fleet_config o;
    char key[SEAL_KEY_TEXT];
    bool elastic, over;
    int interrupts;
    ARRAY(uint32_t) nodes;
    char last[512]; /* why the last one failed */
    char waiting[64];
};

static void say(struct fleet *f, const char *line)
{
    if (f->o.say)
        f->o.say(f->o.context, line);
}

static void on_ready(void *context, uint32_t agent, uint32_t node, const char *address)
{
    struct fleet *f = context;
    (void)agent;
    (void)address;
    array_push(&f->nodes, node);
}

static void on_failed(void *context, uint32_t agent, const char *why)
{
    struct fleet *f = context;
    (void)agent;
    size_t n = 0;
    for (; *why && n + 3 < sizeof f->last; why++) { /* what other programs say has lines */
        if (*why == '\n')
            f->last[n++] = ';';
        f->last[n++] = *why == '\n' ? ' ' : *why;
    }
    f->last[n] = 0;
    say(f, f->last);
}

static void on_ended(void *context, uint32_t agent)
{
    struct fleet *f = context;
    launch_gone(f->launch, agent); /* its node may be asked for again */
}

static void on_log(void *context, const char *line)
{
    say(context, line);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer; /* whoever waits looks again */
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    struct fleet *f = signal->data;
    f->interrupts++;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void fleet_free(struct fleet *f)
{
    launch_free(f->launch);
    for (int i = 0; i < 50; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    uv_walk(&f->loop, close_handle, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    uv_loop_close(&f->loop);
    explicit_bzero(f->key, sizeof f->key);
    array_free(&f->nodes);
    free(f);
}

struct fleet *fleet_new(const struct fleet_config *config, struct error *err)
{
    struct fleet *f = mem_new_zero(struct fleet, 1);
    f->o = *config;
    f->elastic = strcmp(config->target, "slurm") == 0;
    uv_loop_init(&f->loop);
    uv_timer_init(&f->loop, &f->ticker);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&f->loop, &f->signals[i]);
        f->signals[i].data = f;
        uv_unref((uv_handle_t *)&f->signals[i]);
    }
    seal_key_text(&config->key, f->key);
    f->launch = launch_new(&(struct launch_config){.loop = &f->loop,
                                                   .target = config->target,
                                                   .key = f->key,
                                                   .store = config->store,
                                                   .state = config->state,
                                                   .program = config->program,
                                                   .cores = config->cores,
                                                   .memory = config->memory,
                                                   .linger = config->linger,
                                                   .ready = on_ready,
                                                   .failed = on_failed,
                                                   .ended = on_ended,
                                                   .log = on_log,
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
    launch_want(f->launch, agents);
}

/* While Slurm lets us wait, people want to know what for. */
static void tell_waiting(struct fleet *f)
{
    struct launch_counts c = launch_look(f->launch);
    if (!c.waiting || !c.waiting[0] || strcmp(c.waiting, f->waiting) == 0)
        return;
    snprintf(f->waiting, sizeof f->waiting, "%s", c.waiting);
    char line[128];
    snprintf(line, sizeof line, "waiting for nodes: %s", f->waiting);
    say(f, line);
}

bool fleet_wait(struct fleet *f, struct error *err)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++)
        uv_signal_start(&f->signals[i], on_signal, numbers[i]);
    uv_timer_start(&f->ticker, on_tick, 100, 100);
    struct launch_counts c;
    for (;;) {
        c = launch_look(f->launch);
        if (f->interrupts || !c.starting || (f->elastic && c.ready))
            break;
        tell_waiting(f);
        uv_run(&f->loop, UV_RUN_ONCE);
    }
    uv_timer_stop(&f->ticker);
    for (int i = 0; i < 2; i++)
        uv_signal_stop(&f->signals[i]);
    if (f->interrupts)
        return error_set(err, ERROR_FAILED, "stopped before the agents were ready; nothing ran");
    return c.ready || error_set(err, ERROR_FAILED, "no agent could be started: %s",
                                f->last[0] ? f->last : "none became ready");
}

const char *fleet_store(const struct fleet *f)
{
    return launch_store(f->launch);
}

struct uv_loop_s *fleet_loop(struct fleet *f)
{
    return &f->loop;
}

uint32_t fleet_ready(const struct fleet *f)
{
    return launch_look(f->launch).ready;
}

const uint32_t *fleet_nodes(const struct fleet *f, uint32_t *n)
{
    *n = (uint32_t)f->nodes.n;
    return f->nodes.at;
}

static void on_let_go(void *context, const char *why)
{
    struct fleet *f = context;
    f->over = true;
    if (why && why[0])
        say(f, why);
}

void fleet_end(struct fleet *f, double grace)
{
    double until = clock_seconds() + grace + 30;
    launch_end(f->launch, grace, on_let_go);
    uv_timer_start(&f->ticker, on_tick, 100, 100);
    while (!f->over && clock_seconds() < until)
        uv_run(&f->loop, UV_RUN_ONCE);
    fleet_free(f);
}

void fleet_abandon(struct fleet *f)
{
    if (f)
        fleet_free(f);
}
