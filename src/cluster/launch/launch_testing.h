/* Starting stand-ins for agents (tests/cluster/fake_agent), for tests of launch. */
#pragma once
#include "base/clock.h"
#include "cluster/launch/launch.h"
#include "drive/testing.h"
#include "tap.h"

#include <signal.h>

#define LAUNCH_TEST_KEY "weft-key-of-the-test-0123456789"

struct launch_test {
    struct bench_folder folder;
    char program[128], state[128];
    uv_loop_t loop;
    struct launch *launch;
    uint32_t ready, failed, ended;
    char address[16][64]; /* of agents */
    char why[4096];       /* the last failure */
    char log[1024];       /* the last line */
    bool done;
    char done_why[1024];
};

static inline void launch_test_ready(void *context, uint32_t agent, uint32_t node,
                                     const char *address)
{
    struct launch_test *t = context;
    (void)node;
    t->ready++;
    if (agent < 16)
        snprintf(t->address[agent], sizeof t->address[agent], "%s", address);
}

static inline void launch_test_failed(void *context, uint32_t agent, const char *why)
{
    struct launch_test *t = context;
    (void)agent;
    t->failed++;
    snprintf(t->why, sizeof t->why, "%s", why);
    printf("# failed: %s\n", why);
}

static inline void launch_test_ended(void *context, uint32_t agent)
{
    struct launch_test *t = context;
    (void)agent;
    t->ended++;
}

static inline void launch_test_log(void *context, const char *line)
{
    struct launch_test *t = context;
    snprintf(t->log, sizeof t->log, "%s", line);
    printf("# log: %s\n", line);
}

static inline void launch_test_done(void *context, const char *why)
{
    struct launch_test *t = context;
    t->done = true;
    snprintf(t->done_why, sizeof t->done_why, "%s", why);
}

static inline struct launch_config launch_test_begin(struct launch_test *t, const char *target)
{
    signal(SIGPIPE, SIG_IGN);
    *t = (struct launch_test){.folder = folder_make()};
    snprintf(t->program, sizeof t->program, "%s/weft", t->folder.path);
    snprintf(t->state, sizeof t->state, "%s/state", t->folder.path);
    if (symlink(WEFT_SOURCE_DIR "/tests/cluster/fake_agent", t->program) != 0)
        abort();
    folder_write(&t->folder, "key", LAUNCH_TEST_KEY "\n");
    uv_loop_init(&t->loop);
    return (struct launch_config){
        .loop = &t->loop,
        .target = target,
        .key = LAUNCH_TEST_KEY "\n",
        .state = t->state,
        .program = t->program,
        .ready = launch_test_ready,
        .failed = launch_test_failed,
        .ended = launch_test_ended,
        .log = launch_test_log,
        .context = t,
    };
}

static inline bool launch_test_open(struct launch_test *t, const struct launch_config *config)
{
    struct error err = {0};
    t->launch = launch_new(config, &err);
    if (!t->launch)
        printf("# %s\n", err.text);
    return t->launch;
}

/* Until so many are ready, failed, ended and the end (if asked for) is told; 40 seconds at most. */
static inline bool launch_test_wait(struct launch_test *t, uint32_t ready, uint32_t failed,
                                    uint32_t ended, bool done)
{
    double until = clock_seconds() + 40;
    while (clock_seconds() < until) {
        if (t->ready >= ready && t->failed >= failed && t->ended >= ended && t->done >= done)
            return true;
        uv_run(&t->loop, UV_RUN_NOWAIT);
        usleep(2000);
    }
    printf("# %u ready, %u failed, %u ended, done: %d\n", t->ready, t->failed, t->ended, t->done);
    return false;
}

static inline const char *launch_test_file(struct launch_test *t, unsigned node, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "node-%u/%s", node, name);
    return folder_read(&t->folder, path);
}

/* Ends the stand-ins that were detached, and everything else. */
static inline void launch_test_end(struct launch_test *t)
{
    launch_free(t->launch);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    is_int(uv_loop_close(&t->loop), 0, "no handle is left");
    for (unsigned i = 0; i < 16; i++) {
        long pid = strtol(launch_test_file(t, i, "pid"), NULL, 10);
        if (pid > 1)
            kill((pid_t)pid, SIGTERM);
    }
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", t->folder.path);
    if (system(command) != 0)
        printf("# %s is left\n", t->folder.path);
}
