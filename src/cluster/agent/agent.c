/* One agent: the loop, from beginning to end.
 *
 * I1. Everything happens on the loop's thread; only the calls of tasks and the stores' own threads
 *     run beside it, and they wake the loop.
 * I2. Every job has its turn before the loop waits (`turn`, a libuv prepare handle). A job that has
 *     more to do keeps the loop from waiting (`spin`), and others have their turn in between.
 * I3. One agent at a time works in a folder: its lock is held as long as the process lives.
 * I4. This is a program's main loop, not a library's: it handles SIGTERM and SIGINT itself. */
#include "cluster/agent/agent.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "cluster/agent/agent_state.h"
#include "exec/child.h"
#include "exec/stepper.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 100,       /* limits of tasks are looked at, wants that have rested */
    TICKS_A_SECOND = 10, /* what is done once a second */
    BEATS_A_LEASE = 5,   /* four may get lost before others take over */
    LEAST_BEAT_MS = 10,
};

static const double unopened_most = 600;              /* seconds that a run may wait to be opened */
static const double lease_standard = 5;               /* seconds */
static const double keep_for_standard = 14 * 86400.0; /* seconds */
static const double keep_size_standard = 0.2;         /* of the file system */
/* Of the time until it is taken back, kept for handing over: a part, in seconds at least and at most. */
static const double reserve_part = 0.05, reserve_least = 2, reserve_most = 60;
/* Seconds in which signals of a batch system are one: srun passes on what its step has had, too. */
static const double told_together = 2;

/* Lines longer than the room are cut. */
static void agent_say(void (*say)(void *context, const char *line), void *context, const char *fmt,
                      va_list args)
{
    char line[2048];
    if (!say)
        return;
    vsnprintf(line, sizeof line, fmt, args);
    say(context, line);
}

void agent_log(struct agent *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    agent_say(a->o->log, a->o->context, fmt, args);
    va_end(args);
}

void agent_trace(struct agent *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    agent_say(a->o->trace, a->o->context, fmt, args);
    va_end(args);
}

void agent_recorded(void *context, bool good, const char *why)
{
    if (!good)
        agent_log(context, "the board: %s", why);
}

/* ---- time ---- */

static void agent_on_board(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    board_poll(((struct agent *)poll->data)->board);
}

static void agent_on_heartbeat(uv_timer_t *timer)
{
    agent_send_heartbeat(timer->data);
}

/* A run keeps the agent from being idle until it has ended; with `linger` only its tasks do. */
static bool job_keeps_agent(const struct agent *a, const struct job *j)
{
    bool over = j->state >= JOB_ENDED || !job_is_scheduling(j) || a->o->linger > 0;
    return !job_is_idle(j) || !over;
}

/* What only this one has goes to others while it may. Without others it stays until it is told: they may
 * come, and what it has is lost with it. */
static void agent_check_time(struct agent *a, double now)
{
    bool others = false;
    if (!(a->ends > 0) || now < a->ends || !agent_is_staying(a) || a->o->serves)
        return;
    for (uint32_t node = 0; node < a->peers.n; node++)
        others |= node != a->node && peer_is_up(a, node) && !a->peers.at[node].leaving;
    if (!others)
        return;
    agent_log(a, "this node is taken back soon");
    agent_leave(a, false);
}

/* Once a second: jobs, whether there is still work, whether the store still answers. */
static void agent_second(struct agent *a)
{
    double now = clock_seconds();
    bool idle = true;
    aside_second(a);
    pace_second(a);
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        job_second(j);
        idle &= !job_keeps_agent(a, j);
        if (j->state == JOB_UNOPENED && now - j->loaded > unopened_most) {
            agent_log(a, "run %llu: was never opened", (unsigned long long)j->number);
            agent_close_job(a, i--, true);
        }
    }
    ended_second(a);
    for (uint32_t node = 0; a->o->serves && node < a->peers.n; node++)
        idle &= !peer_is_up(a, node); /* the others need its store */
    if (!idle)
        a->idle = now;
    agent_check_time(a, now);
    if ((a->o->linger > 0 && now - a->idle > a->o->linger) || a->only_collected)
        agent_leave(a, false);
    /* the store does not answer: by now others have noticed by themselves */
    if (a->departure == AGENT_SIGNING_OFF && now - a->signed_off > 2 * a->lease)
        agent_give_up_signing_off(a);
}

static void agent_on_tick(uv_timer_t *timer)
{
    struct agent *a = timer->data;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_tick(a->jobs.at[i]);
    if (!agent_is_staying(a)) {
        if (a->o->serves) /* have the others left? */
            agent_send_heartbeat(a);
        agent_end_survivors(a);
        ended_close_handed(a);
        agent_go_on_leaving(a);
    }
    if (++a->ticks % TICKS_A_SECOND == 0)
        agent_second(a);
}

static void agent_on_spin(uv_idle_t *idle)
{
    (void)idle; /* that it is active keeps the loop from waiting */
}

/* Before the loop waits (I2). A job that is closed from within a turn is closed by the board's
 * news, not here, so the list stands still. */
static void agent_on_turn(uv_prepare_t *prepare)
{
    struct agent *a = prepare->data;
    bool more = false;
    aside_turn(a);
    for (size_t i = 0; i < a->jobs.n; i++)
        more |= job_turn(a->jobs.at[i]);
    for (size_t i = 0; a->jobs.n > 1 && i < a->jobs.n; i++) /* who stood back for another's turn */
        if (job_is_scheduling(a->jobs.at[i]))
            supply_pump(a->jobs.at[i]);
    if (more)
        uv_idle_start(&a->spin, agent_on_spin);
    else
        uv_idle_stop(&a->spin);
}

/* Once: running tasks may end. Twice: they are ended. Requests that came together are counted by the
 * eventfd, so that none is lost. */
static void agent_on_stop(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct agent *a = poll->data;
    uint64_t requests = 0;
    if (read(a->o->stop, &requests, sizeof requests) != (ssize_t)sizeof requests)
        return;
    double now = clock_seconds();
    bool first = !a->told;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_blame_told(a->jobs.at[i]);
    if (a->o->allocated) { /* one that leaves because its time is over is told for the first time */
        if (first || now - a->told_at > told_together)
            agent_leave(a, !first);
    } else {
        for (uint64_t i = 0; i < requests && i < 2; i++) /* a third asks for nothing more */
            agent_leave(a, !agent_is_staying(a));
    }
    a->told_at = first ? now : a->told_at;
    a->told = true;
    agent_go_on_leaving(a);
}

/* ---- from beginning to end ---- */

/* Who this agent is to the board: kept in its folder, so that it is the same after a restart. */
static bool agent_find_identity(struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    struct text old = {0};
    struct error ignored = {0};
    char id[33];
    strbuf_printf(&path, "%s/identity", a->o->state);
    if (file_exists(path.at) && file_read(path.at, &old, &ignored) && old.n == 33) {
        a->identity = mem_copy_bytes(old.at, 32);
    } else {
        uint8_t random[16];
        seal_random(random, sizeof random);
        for (int i = 0; i < 16; i++)
            snprintf(id + 2 * i, 3, "%02x", random[i]);
        a->identity = mem_copy_string(id);
        struct strbuf line = {0};
        strbuf_printf(&line, "%s\n", id);
        file_write(path.at, line.at, line.n, err);
        strbuf_free(&line);
    }
    text_free(&old);
    strbuf_free(&path);
    return err->kind == ERROR_NONE;
}

/* One agent at a time in a folder. */
static int agent_lock_folder(const struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/lock", a->o->state);
    int fd = make_parents(path.at, err)
                 ? open(path.at, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)
                 : -1;
    if (fd < 0 && err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "%s: %s", path.at, strerror(errno));
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        error_set(err, ERROR_INPUT,
                  "%s: another agent works in this folder; give each its own (--state)",
                  a->o->state);
        close(fd);
        fd = -1;
    }
    if (fd >= 0) { /* tasks of an agent that was killed must not go on beside ours */
        char pid[32] = {0};
        ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
        long before = n > 0 ? strtol(pid, NULL, 10) : 0;
        if (before > 0)
            children_end_of((pid_t)before);
        n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
        if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n)
            error_set(err, ERROR_FAILED, "%s: %s", path.at, strerror(errno));
    }
    strbuf_free(&path);
    return fd;
}

/* "host:port" under which others reach us. */
static void agent_name_address(struct agent *a)
{
    const char *bound = links_address(a->links), *port = strrchr(bound, ':');
    struct strbuf text = {0};
    if (a->o->advertise && a->o->advertise_port)
        strbuf_add(&text, a->o->advertise);
    else if (a->o->advertise && port)
        strbuf_printf(&text, "%s%s", a->o->advertise, port);
    else
        strbuf_add(&text, bound);
    a->address = strbuf_steal(&text);
}

/* Several agents may have one scratch: a folder each, named by who it is, so that it finds its data
 * again after a restart. */
static bool agent_name_data(struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    if (a->o->scratch)
        strbuf_printf(&path, "%s/weft-%s", a->o->scratch, a->identity);
    else
        strbuf_add(&path, a->o->state);
    a->data = strbuf_steal(&path);
    return !a->o->scratch || folder_take_private(a->data, "--scratch", err);
}

/* Limits of the data of ended runs, where it is. */
static void agent_set_limits(struct agent *a)
{
    struct statvfs disk;
    a->keep_for = a->o->keep_for > 0 ? a->o->keep_for : keep_for_standard;
    a->keep_size = a->o->keep_size;
    if (!(a->keep_size > 0))
        a->keep_size = statvfs(a->data, &disk) == 0
                           ? keep_size_standard * (double)disk.f_blocks * (double)disk.f_frsize
                           : INFINITY;
}

/* The cluster that this is, and whether it is the one that was joined before. What was learned of runs
 * is kept by their ids, which do not repeat, whichever cluster they are of. */
static bool agent_open_charter(struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    struct text before = {0};
    struct error ignored = {0};
    strbuf_printf(&path, "%s/cluster", a->o->state);
    if (file_exists(path.at) && !file_read(path.at, &before, &ignored))
        text_free(&before);
    struct charter_founder founder = {
        .remembered = &before, .last_run = a->last_run, .alone = a->o->serves};
    bool good = charter_open(&a->charter, a->board, a->o->store, &a->o->key, &founder, err);
    bool same = good && before.n == a->charter.sealed.n &&
                memcmp(before.at, a->charter.sealed.at, before.n) == 0;
    if (good && before.n && !same)
        agent_log(a, "another cluster than when this agent was last here: its store was emptied or "
                     "replaced, or --store or --key name another");
    if (good && !same)
        good = file_write(path.at, a->charter.sealed.at, a->charter.sealed.n, err);
    text_free(&before);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/spent", a->o->state);
    good = good && spent_open(&a->spent, path.at, err);
    strbuf_free(&path);
    return good;
}

/* The board first: links are of the cluster whose id stands there. */
static bool agent_open(struct agent *a, struct error *err)
{
    const struct agent_options *o = a->o;
    agent_set_limits(a);
    ended_find_folders(a);
    a->board = board_open(o->store, err);
    char remark[BOARD_REMARK];
    if (a->board && !board_check_promise(a->board, o->store, remark, err))
        return false;
    if (a->board && remark[0])
        agent_log(a, "%s", remark);
    if (!a->board || !agent_open_charter(a, err))
        return false;
    a->links = agent_listen(a, err);
    if (!a->links)
        return false;
    agent_name_address(a);
    uv_poll_init(&a->loop, &a->board_ready, board_fd(a->board));
    a->board_ready.data = a;
    uv_poll_start(&a->board_ready, UV_READABLE, agent_on_board);
    return true;
}

static void agent_open_handles(struct agent *a)
{
    uint64_t every = (uint64_t)(a->lease * 1000 / BEATS_A_LEASE);
    uv_timer_init(&a->loop, &a->heartbeat);
    uv_timer_init(&a->loop, &a->tick);
    uv_prepare_init(&a->loop, &a->turn);
    uv_idle_init(&a->loop, &a->spin);
    a->heartbeat.data = a->tick.data = a->turn.data = a;
    uv_timer_start(&a->heartbeat, agent_on_heartbeat, every,
                   every > LEAST_BEAT_MS ? every : LEAST_BEAT_MS);
    uv_timer_start(&a->tick, agent_on_tick, TICK_MS, TICK_MS);
    uv_prepare_start(&a->turn, agent_on_turn);
    if (a->o->stop) {
        uv_poll_init(&a->loop, &a->stop_ready, a->o->stop);
        a->stop_ready.data = a;
        uv_poll_start(&a->stop_ready, UV_READABLE, agent_on_stop);
    }
}

static void agent_close_left_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Jobs and links close in turns of the loop; only then may the board go, which both use. */
static void agent_free(struct agent *a, bool opened)
{
    while (a->jobs.n) {
        if (array_last(&a->jobs)->state == JOB_ENDED)
            ended_add(a, array_last(&a->jobs), false);
        agent_close_job(a, a->jobs.n - 1, false);
    }
    ended_free(a);
    if (a->links)
        links_free(a->links);
    if (opened) {
        uv_prepare_stop(&a->turn);
        uv_close((uv_handle_t *)&a->turn, NULL);
        uv_close((uv_handle_t *)&a->heartbeat, NULL);
        uv_close((uv_handle_t *)&a->tick, NULL);
        uv_close((uv_handle_t *)&a->spin, NULL);
        if (a->o->stop)
            uv_close((uv_handle_t *)&a->stop_ready, NULL);
    }
    if (a->board && a->board_ready.data)
        uv_close((uv_handle_t *)&a->board_ready, NULL);
    while (uv_run(&a->loop, UV_RUN_DEFAULT) != 0)
        ;
    uv_walk(&a->loop, agent_close_left_handle, NULL);
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    board_close(a->board);
    peers_free(a);
    array_free(&a->jobs);
    array_free(&a->shares.runs);
    array_free(&a->refused);
    array_free(&a->doubted);
    spent_close(&a->spent);
    charter_free(&a->charter);
    array_free(&a->keeps);
    array_free(&a->handing);
    for (size_t i = 0; i < a->loading.n; i++)
        loading_free(a->loading.at[i]);
    array_free(&a->loading);
    for (size_t i = 0; i < a->early.n; i++)
        free(a->early.at[i].data);
    array_free(&a->early);
    array_free(&a->items);
    array_free(&a->memory);
    holding_free(a->holding);
    strbuf_free(&a->scratch);
    free(a->identity);
    free(a->address);
    memory_files_end(a);
    if (a->o->scratch && a->o->temporary && a->data)
        tree_remove(a->data);
    free(a->data);
}

/* A little before: what it has must be with others by then. */
static void agent_set_end(struct agent *a)
{
    if (!(a->o->ends > 0))
        return;
    double left = a->o->ends - (double)time(NULL);
    double reserve = fmin(fmax(left * reserve_part, reserve_least), reserve_most);
    a->lasts = fmax(left - reserve, 1e-3);
    a->ends = clock_seconds() + left - reserve;
}

bool agent_run(const struct agent_options *o, struct error *err)
{
    struct agent a = {
        .o = o, .memory_now = o->memory, .lease = o->lease > 0 ? o->lease : lease_standard};
    a.started = (double)time(NULL);
    agent_set_end(&a);
    a.idle = clock_seconds();
    int lock = agent_lock_folder(&a, err);
    if (lock < 0)
        return false;
    int bad = stepper_loop_init(&a.loop);
    if (bad != 0) {
        close(lock);
        return error_set(err, ERROR_FAILED, "no event loop: %s", uv_strerror(bad));
    }
    a.holding = holding_new(o->resources);
    a.shares.waits = supply_share_waits;
    bool good = memory_files_check(err) && agent_find_identity(&a, err) &&
                agent_name_data(&a, err) && agent_open(&a, err);
    if (good) {
        memory_files_begin(&a);
        agent_open_handles(&a);
        pace_second(&a); /* its first words have the load already */
        agent_join(&a);
        uv_run(&a.loop, UV_RUN_DEFAULT);
    }
    agent_free(&a, good);
    close(lock);
    if (a.error.kind != ERROR_NONE)
        return error_set(err, a.error.kind, "%s", a.error.text);
    return good;
}
