/* Child processes, one a slot, from posix_spawn to wait4, and whatever else they leave behind.
 *
 *     free ── child_start() ──▶ used ── it ends, pidfd readable ──▶ children_reap() ──▶ free
 *                                │ ▲
 *               child_stop(), time, memory: SIGTERM ── grace ──▶ SIGKILL, to the whole group
 *
 * I1. Each task has a process group of its own, whose number is its first process's. It is
 *     signalled as a group, and when the first process has ended, the rest of the group is killed:
 *     a task is over when its command is.
 * I2. Only processes that we started, and those with our mark, are waited for, each by its number:
 *     never waitpid(-1), so that other sets of children, and the program around us, keep theirs.
 * I3. The mark: every task inherits WEFT_OWNER=PID.SET.TASK.ATTEMPT, SET being the number of our
 *     epoll, which no other open set of this process has. What carries it and belongs to no running
 *     task has outlived its own: a daemon, to be killed, whoever its parent is.
 * I4. Nothing of the process is changed: no signal handler, mask, folder. All descriptors are
 *     close-on-exec; a child's own are given to it by the file actions.
 * I5. A slot's log is one open file that is written by one task at a time. It becomes a task's own
 *     by a rename, and another takes its place, only if something was written.
 * I6. One thread uses a set. Sets on different threads share nothing but the kernel.
 * I7. Limits of time count the time in which somebody watched: while weft was stopped (Ctrl-Z) or
 *     the machine slept, nobody could see a task end, and a task that was stopped with it had no
 *     chance to. A look that comes late counts as a second.
 * I8. What watching needs is there before a task starts: a process that nobody can watch would have
 *     to be killed, with half of its work done. */
#include "exec/child_private.h"

#include "base/clock.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "exec/limit.h"
#include "exec/log_ends.h"
#include "exec/log_mask.h"
#include "exec/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    REAPED = 64,        /* ends taken from the epoll at once */
    ORPHANS_EVERY = 10, /* ticks: once a second */
    LAST_WORDS = 4096,  /* bytes of a log for which a disk that is full has room */
};

static const double grace_standard = 5;      /* seconds: time to write what is not written */
static const double log_standard = 16 << 20; /* bytes: more than anybody reads */

/* What the child does before exec: its folder, nothing to read, the log to write to. */
static void fill_actions(const struct children *c, const struct child *x, const char *folder,
                         posix_spawn_file_actions_t *out)
{
    posix_spawn_file_actions_init(out);
    if (strcmp(folder, ".") != 0)
        posix_spawn_file_actions_addchdir_np(out, folder);
    posix_spawn_file_actions_adddup2(out, c->null, 0);
    posix_spawn_file_actions_adddup2(out, x->log, 1);
    posix_spawn_file_actions_adddup2(out, x->log, 2);
}

/* ---- logs ---- */

/* A fresh log for the slot. The file actions name its descriptor, and are made again. */
static bool log_open(struct children *c, struct child *x, struct error *err)
{
    if (x->log >= 0)
        close(x->log);
    x->log =
        open(x->log_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0664);
    c->is_short = x->log < 0 && child_is_shortage(errno);
    if (x->log < 0)
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", x->log_path,
                         strerror(errno));
    /* its last words may be that the disk is full; a file system that cannot keep room for them may have it */
    if (fallocate(x->log, FALLOC_FL_KEEP_SIZE, 0, LAST_WORDS) != 0)
        errno = 0;
    posix_spawn_file_actions_destroy(&x->actions);
    fill_actions(c, x, c->folder, &x->actions);
    x->written = false;
    return true;
}

static double log_size(const struct child *x)
{
    struct stat s;
    return fstat(x->log, &s) == 0 ? (double)s.st_size : 0;
}

void child_mask_log(struct children *c, uint32_t slot, const char *const *values)
{
    struct child *x = &c->slot[slot];
    if (x->written && !log_mask(x->log, values) && ftruncate(x->log, 0) != 0)
        x->written = false; /* the next task begins it afresh */
}

bool child_keep_log(struct children *c, uint32_t slot, const char *path, struct error *err)
{
    struct child *x = &c->slot[slot];
    if (!x->written)
        return true;
    double size = log_size(x);
    if (size > c->config.log_most && !log_keep_ends(x->log, x->log_path, size, c->config.log_most))
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", path,
                         strerror(errno));
    if (rename(x->log_path, path) != 0)
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", path,
                         strerror(errno));
    close(x->log); /* the next task opens another: it can wait for a descriptor, this one cannot */
    x->log = -1;
    x->written = false;
    return true;
}

/* ---- the set ---- */

struct children *children_new(const struct children_config *config)
{
    struct children *c = mem_new_zero(struct children, 1);
    c->config = *config;
    if (!(c->config.grace > 0))
        c->config.grace = grace_standard;
    if (!(c->config.log_most > 0))
        c->config.log_most = log_standard;
    c->folder = mem_copy_string(config->folder);
    c->logs = mem_copy_string(config->logs);
    c->slot = mem_new_zero(struct child, config->slots);
    c->looked = clock_seconds();
    c->epoll = c->null = c->spare = -1;
    struct rlimit limit;
    c->descriptors = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
    c->pid = getpid();
    posix_spawnattr_init(&c->attributes);
    /* handlers end with exec; of what may be ignored only these two are our doing. (Naming all
     * signals would cost a system call each, while we wait.) */
    sigset_t ignored, none;
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&c->attributes, &ignored);
    posix_spawnattr_setsigmask(&c->attributes, &none);
    posix_spawnattr_setpgroup(&c->attributes, 0);
    posix_spawnattr_setflags(&c->attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                 POSIX_SPAWN_SETSIGMASK);
    /* the environment as it is now: later changes of ours do not reach tasks */
    size_t variables = 0;
    while (environ[variables])
        variables++;
    for (uint32_t i = 0; i < config->slots; i++) {
        struct child *x = &c->slot[i];
        x->log = x->pidfd = -1;
        posix_spawn_file_actions_init(&x->actions);
        x->environment = mem_new(char *, variables + OWN_VARIABLES + 1);
        c->variables = children_inherit(x->environment);
        for (int k = 0; k < OWN_VARIABLES; k++)
            x->environment[c->variables + (size_t)k] = x->variable[k];
        x->environment[c->variables + OWN_VARIABLES] = NULL;
    }
    return c;
}

/* What it needs before anything can start; errno says what is wanting. */
static bool children_open(struct children *c)
{
    if (c->null < 0)
        c->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (c->null < 0 || c->epoll >= 0)
        return c->null >= 0;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; c->epoll >= 0 && i < c->config.slots; i++) {
        struct strbuf path = {0};
        /* the epoll tells the sets of a process apart that log into one folder */
        strbuf_printf(&path, "%s/.slot-%d-%d-%u", c->logs, (int)c->pid, c->epoll, i);
        c->slot[i].log_path = strbuf_steal(&path);
    }
    return c->epoll >= 0;
}

void children_limit(struct children *c, struct limits *limits)
{
    c->config.limits = limits;
}

void children_free(struct children *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        struct child *x = &c->slot[i];
        if (x->used) { /* closed before it ended: nobody will ask how it went */
            kill(-x->pid, SIGKILL);
            waitpid(x->pid, NULL, 0);
            x->used = false; /* before memory can run out: its number may be another's by now */
            close(x->pidfd);
            pid_t ending = child_end_elsewhere(c, x);
            array_push(&c->groups, x->pid);
            if (ending)
                array_push(&c->groups, ending);
        }
        child_drop_ending(x);
        if (x->log >= 0) {
            close(x->log);
            unlink(x->log_path);
        }
        posix_spawn_file_actions_destroy(&x->actions);
        free(x->log_path);
        free(x->environment);
    }
    children_wait_for_groups(c, true);
    if (!c->swept && c->epoll >= 0) /* else nothing was ever started */
        children_end_orphans(c, true);
    array_free(&c->seen);
    array_free(&c->seen_before);
    array_free(&c->groups);
    array_free(&c->words);
    array_free(&c->block);
    posix_spawnattr_destroy(&c->attributes);
    if (c->epoll >= 0)
        close(c->epoll);
    if (c->null >= 0)
        close(c->null);
    if (c->spare >= 0)
        close(c->spare);
    free(c->slot);
    free(c->folder);
    free(c->logs);
    free(c);
}

/* A slot is `used` from the moment that its process is watched until it was waited for, and nothing
 * in between allocates: the numbers are those of our own children. */
void children_abandon(struct children *c)
{
    for (uint32_t i = 0; c && i < c->config.slots; i++) {
        struct child *x = &c->slot[i];
        if (!x->used)
            continue;
        kill(-x->pid, SIGKILL);
        while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        close(x->pidfd);
        x->used = false;
        pid_t ending = child_end_elsewhere(c, x);
        while (ending && waitpid(ending, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

int children_fd(struct children *c)
{
    return children_open(c) ? c->epoll : -1;
}

const char *child_log_path(const struct children *c, uint32_t slot)
{
    return slot < c->config.slots ? c->slot[slot].log_path : NULL;
}

uint32_t children_running(const struct children *c)
{
    return c->running;
}

double children_memory(const struct children *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->config.slots; i++)
        if (c->slot[i].used)
            sum += c->slot[i].used_memory;
    return sum;
}

/* ---- starting ---- */

/* A task under a limit waits at a gate until it has been put into its control group: what it
 * started before would be outside. */
enum { GATE = 3 };

/* Whatever the task's own shell is, it is executed as it would be without a gate. */
static const char gate_script[] = "read _ <&3; exec 3<&-; exec \"$@\"";

/* The environment of a slot points to these, so filling them in is all. */
static void child_fill_variables(struct children *c, struct child *x, const struct child_request *r)
{
    snprintf(x->variable[0], VARIABLE, "WEFT_TASK=%.256s", r->name);
    snprintf(x->variable[1], VARIABLE, "WEFT_ATTEMPT=%u", r->attempt);
    snprintf(x->variable[2], VARIABLE, "WEFT_CORES=%u", r->cores);
    snprintf(x->variable[3], VARIABLE, "WEFT_FOLDER=%.300s", c->folder);
    snprintf(x->variable[4], VARIABLE, "WEFT_OWNER=%d.%d.%u.%u", (int)c->pid, c->epoll, r->task,
             r->attempt);
}

/* posix_spawn said no. The usual mistake has a remedy: a program that stands in the folder, but not
 * in the sandbox. Always false. */
static bool child_explain_not_started(struct children *c, const struct child_request *r, int reason,
                                      struct error *err)
{
    const char *program = r->program ? r->program : r->words[0];
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", c->folder, program);
    bool there = reason == ENOENT && strchr(program, '/') && program[0] != '/' && r->folder &&
                 access(strbuf_text(&path), F_OK) == 0;
    strbuf_free(&path);
    if (there)
        return error_set(err, ERROR_FAILED,
                         "command not found: %.300s stands in the workflow's folder, but a task's "
                         "sandbox holds only its declared inputs; add it to `in`, or say `sandbox: "
                         "false`",
                         program);
    if (reason == ENOENT)
        return error_set(err, ERROR_FAILED, "command not found: %.300s", program);
    return error_set(err, ERROR_FAILED, "cannot be started: %.300s: %s", program, strerror(reason));
}

/* The task's words behind those of the shell that waits at the gate. */
static char *const *gate_words(struct children *c, const struct child_request *r)
{
    static const char *const head[] = {"sh", "-c", gate_script, "weft"};
    c->words.n = 0;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        array_push(&c->words, (char *)head[i]);
    array_push(&c->words, r->program ? (char *)r->program : r->words[0]);
    for (size_t i = 1; r->words[i]; i++)
        array_push(&c->words, r->words[i]);
    array_push(&c->words, NULL);
    return c->words.at;
}

/* Start it; errno's value if it cannot be. A program without a slash is looked for in PATH, as a
 * shell would. */
static int child_spawn(struct children *c, struct child *x, const struct child_request *r,
                       bool gated, pid_t *pid)
{
    char *const *words = gated ? gate_words(c, r) : r->words, *const *environment =
                                                                  child_environment_of(c, x, r);
    const char *program = gated ? "/bin/sh" : r->program;
    posix_spawn_file_actions_t own, *actions = &x->actions;
    int gate[2] = {-1, -1}, reason;
    if (gated && pipe2(gate, O_CLOEXEC) != 0)
        return errno;
    if (r->folder || gated) {
        actions = &own;
        fill_actions(c, x, r->folder ? r->folder : c->folder, &own);
        if (gated)
            posix_spawn_file_actions_adddup2(&own, gate[0], GATE);
    }
    x->start = clock_seconds();
    reason = program ? posix_spawn(pid, program, actions, &c->attributes, words, environment)
                     : posix_spawnp(pid, words[0], actions, &c->attributes, words, environment);
    if (actions == &own)
        posix_spawn_file_actions_destroy(&own);
    if (!reason && r->memory > 0 && c->config.limits)
        limit_begin(c->config.limits, (uint32_t)(x - c->slot), *pid, r->memory);
    if (gated) {
        ssize_t opened = write(gate[1], "\n", 1);
        (void)opened; /* a task that cannot read is dead, which will be noticed */
        close(gate[0]);
        close(gate[1]);
    }
    return reason;
}

/* Which process an event is about. The slot alone would not do: a child that is about to exec holds
 * copies of our descriptors for a moment, so a pidfd that we have closed may report once more a
 * process that is long gone, when the slot has another. */
static uint64_t event_mark(uint32_t slot, pid_t pid)
{
    return (uint64_t)(uint32_t)pid << 32 | slot;
}

/* I7. */
static void children_look(struct children *c, double now)
{
    static const double late = 1; /* seconds: ten ticks */
    c->watched += fmin(now - c->looked, late);
    c->looked = now;
}

bool child_is_shortage(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == EAGAIN || reason == ENOMEM;
}

bool children_short(const struct children *c)
{
    return c->is_short;
}

/* Slots that run nothing keep their logs open, which saves opening them; not now. */
static void children_close_logs(struct children *c, uint32_t but)
{
    for (uint32_t i = 0; i < c->config.slots; i++)
        if (i != but && !c->slot[i].used && !c->slot[i].written && c->slot[i].log >= 0) {
            close(c->slot[i].log);
            unlink(c->slot[i].log_path);
            c->slot[i].log = -1;
        }
}

/* I8. Also some for what the ends of tasks need: outputs are read, sandboxes removed. 0, or what is
 * wanting. */
static int children_reserve(struct children *c)
{
    enum { FOR_ENDS = 48 }; /* tree_remove() alone may use 32 */
    /* the lowest free number is given out: the last child's tells, without a system call */
    if (c->spare >= 0 && (rlim_t)c->newest + FOR_ENDS <= c->descriptors)
        return 0;
    if (c->spare < 0)
        c->spare = fcntl(c->null, F_DUPFD_CLOEXEC, 0);
    int probe = c->spare < 0 ? -1 : fcntl(c->null, F_DUPFD_CLOEXEC, 0);
    if (probe < 0)
        return errno;
    close(probe);
    c->newest = probe;
    return (rlim_t)probe + FOR_ENDS <= c->descriptors ? 0 : EMFILE;
}

/* A descriptor for the process and a log for the slot. With nothing running, what there is must
 * do. */
static bool child_prepare(struct children *c, uint32_t slot, struct error *err)
{
    struct child *x = &c->slot[slot];
    int reason = children_open(c) ? children_reserve(c) : errno;
    if (reason && c->epoll >= 0) {
        children_close_logs(c, slot);
        reason = children_reserve(c);
    }
    if (reason == EMFILE && !c->running && c->spare >= 0)
        reason = 0;
    c->is_short = child_is_shortage(reason);
    if (reason)
        return error_set(err, ERROR_FAILED, "cannot be started: %s", strerror(reason));
    if (x->log >= 0 && !x->written)
        return true;
    /* kept by nobody, or the first task of the slot */
    if (mkdir(c->logs, 0775) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED, "%s: cannot make the folder of logs: %s", c->logs,
                         strerror(errno));
    return log_open(c, x, err);
}

/* A process that was just started; it is killed if it cannot be watched. */
static bool child_watch(struct children *c, uint32_t slot, pid_t pid, struct error *err)
{
    struct child *x = &c->slot[slot];
    x->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (x->pidfd < 0 && errno == EMFILE && c->spare >= 0) { /* I8 */
        close(c->spare);
        c->spare = -1;
        x->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
    c->newest = x->pidfd;
    /* once: the same stale descriptor would otherwise tell again and again */
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
                                .data.u64 = event_mark(slot, pid)};
    if (x->pidfd >= 0 && epoll_ctl(c->epoll, EPOLL_CTL_ADD, x->pidfd, &event) == 0)
        return true;
    int reason = errno; /* what all of the system lacks cannot be kept in reserve */
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (x->pidfd >= 0)
        close(x->pidfd);
    return error_set(err, ERROR_FAILED, "cannot watch a process: %s", strerror(reason));
}

/* Ten thousand short tasks pay for every system call here. Nothing may grow with our own memory,
 * hence posix_spawn, which shares it, and not fork, which copies page tables. */
bool child_start(struct children *c, uint32_t slot, const struct child_request *r,
                 struct error *err)
{
    struct child *x = &c->slot[slot];
    if (!child_prepare(c, slot, err))
        return false;
    child_fill_variables(c, x, r);
    c->swept = false;
    pid_t pid = 0;
    int reason = child_spawn(
        c, x, r, r->memory > 0 && c->config.limits && limits_grouped(c->config.limits), &pid);
    c->is_short = child_is_shortage(reason);
    if (reason)
        return child_explain_not_started(c, r, reason, err);
    x->own = proc_own_peak(); /* after it was executed: by then it has inherited what it inherits */
    if (!child_watch(c, slot, pid, err))
        return false;
    if (r->ending || x->ending)
        child_keep_ending(x, r->ending);
    x->used = true;
    x->end = CHILD_EXITED;
    x->pid = pid;
    x->task = r->task;
    x->attempt = r->attempt;
    children_look(c, x->start);
    x->deadline = c->watched + r->timeout;
    x->kill_at = INFINITY;
    x->memory = r->memory;
    x->processes_most = r->processes;
    x->processes = 0;
    x->used_memory = x->peak = 0;
    c->running++;
    return true;
}

/* ---- ending ---- */

void child_end_group(struct children *c, struct child *x, enum child_end why, bool now)
{
    if (x->end == CHILD_EXITED)
        x->end = why;
    if (now || !isinf(x->kill_at)) {
        kill(-x->pid, now ? SIGKILL : SIGTERM);
        if (now)
            x->kill_at = INFINITY;
        return;
    }
    kill(-x->pid, SIGTERM);
    x->kill_at = c->watched + c->config.grace;
}

void child_stop(struct children *c, uint32_t slot, bool now)
{
    if (!c->slot[slot].used)
        return;
    children_look(c, clock_seconds());
    child_end_group(c, &c->slot[slot], CHILD_CANCELLED, now);
}

/* A process that was started by vfork takes our own peak over as its least: what the kernel says
 * counts only above that, with some room, since it counts pages loosely. Below, what was seen while
 * it ran; 0: nobody knows. So nobody has to look at one that is above: often in its first second, in
 * which most tasks grow to what they are, then once a second. */
static bool is_above_ours(const struct child *x, double peak)
{
    enum { LOOSE = 1 << 20 };
    return peak > x->own + LOOSE;
}

static double peak_of(const struct child *x, double reported)
{
    return is_above_ours(x, reported) ? reported : x->peak;
}

/* A child has ended: how, when, with what; and what it left in its group goes (I1). */
static void child_reap(struct children *c, uint32_t slot, struct child_result *out)
{
    struct child *x = &c->slot[slot];
    int status = 0;
    struct rusage use = {0};
    pid_t reaped;
    while ((reaped = wait4(x->pid, &status, 0, &use)) < 0 && errno == EINTR)
        ;
    if (reaped < 0) /* somebody else has taken its end: nobody knows whether it was a good one */
        status = SIGKILL;
    /* what it left in its group, which keeps its number as long as somebody is in it; they become
     * our children when they are gone. Most tasks leave none */
    bool left = kill(-x->pid, SIGKILL) == 0;
    close(x->pidfd);
    x->used = false; /* before memory can run out: see children_abandon() */
    x->pidfd = -1;
    c->running--;
    if (left)
        array_push(&c->groups, x->pid);
    bool by_itself = x->end == CHILD_EXITED && reaped >= 0 && !WIFSIGNALED(status);
    pid_t ending = by_itself ? 0 : child_end_elsewhere(c, x);
    if (ending)
        array_push(&c->groups, ending);
    *out = (struct child_result){
        .slot = slot,
        .task = x->task,
        .attempt = x->attempt,
        .end = x->end,
        .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
        .start = x->start,
        .finish = clock_seconds(),
        .cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec),
        .memory = peak_of(x, 1024.0 * (double)use.ru_maxrss),
    };
    out->processes = x->processes;
    if (x->ending) /* of who ran it for us, which says nothing of it */
        out->cpu = out->memory = 0;
    if (out->end == CHILD_EXITED && WIFSIGNALED(status))
        out->end = CHILD_SIGNALLED;
    if (x->memory > 0 && c->config.limits) {
        bool exceeded;
        double peak = limit_end(c->config.limits, slot, &exceeded);
        out->memory = peak > 0 ? peak : out->memory;
        /* also when the command hides it: a part of a pipeline died, and its result is not whole */
        if (exceeded && (out->end == CHILD_EXITED || out->end == CHILD_SIGNALLED))
            out->end = CHILD_MEMORY;
    }
    out->log = log_size(x);
    x->written = out->log > 0;
}

size_t children_reap(struct children *c, struct child_result *out, size_t most)
{
    struct epoll_event events[REAPED];
    int n = epoll_wait(c->epoll, events, most < REAPED ? (int)most : REAPED, 0);
    size_t count = 0;
    for (int i = 0; i < n; i++) {
        uint32_t slot = (uint32_t)events[i].data.u64;
        if (c->slot[slot].used && events[i].data.u64 == event_mark(slot, c->slot[slot].pid))
            child_reap(c, slot, &out[count++]);
    }
    return count;
}

/* ---- what time brings ---- */

/* It has, and only its end was not taken yet: what came meanwhile is no reason to end it. */
static bool has_ended(const struct child *x)
{
    return poll(&(struct pollfd){.fd = x->pidfd, .events = POLLIN}, 1, 0) == 1;
}

void children_tick(struct children *c)
{
    children_look(c, clock_seconds());
    bool look = c->ticks++ % ORPHANS_EVERY == 0;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        struct child *x = &c->slot[i];
        if (!x->used)
            continue;
        bool over = false;
        if (x->memory > 0 && c->config.limits)
            x->used_memory = limit_watch(c->config.limits, i, &over);
        if (over)
            child_end_group(c, x, CHILD_MEMORY, true);
        if (c->watched > x->kill_at)
            child_end_group(c, x, x->end, true);
        else if (c->watched > x->deadline && x->end == CHILD_EXITED && !has_ended(x))
            child_end_group(c, x, CHILD_TIMEOUT, false);
        if (!is_above_ours(x, x->peak) && (look || clock_seconds() < x->start + 1))
            x->peak = fmax(x->peak, proc_high_water(x->pid, 0));
        double size = log_size(x);
        if (size > 2 * c->config.log_most) /* only its ends will be kept: give the middle back */
            fallocate(x->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)(c->config.log_most / 2), (off_t)(size - c->config.log_most));
    }
    children_count_processes(c, look);
    children_wait_for_groups(c, false);
    if (look)
        children_end_orphans(c, false);
}
