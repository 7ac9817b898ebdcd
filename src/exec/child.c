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
 * I6. One thread uses a set. Sets on different threads share nothing but the kernel. */
#include "exec/child.h"

#include "base/clock.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "exec/limit.h"
#include "exec/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    OWN_VARIABLES = 5,  /* WEFT_TASK, _ATTEMPT, _CORES, _FOLDER, _OWNER */
    VARIABLE = 320,     /* bytes of one: longer names and folders are cut */
    REAPED = 64,        /* ends taken from the epoll at once */
    ORPHANS_EVERY = 10, /* ticks: once a second */
};

static const double grace_standard = 5;      /* seconds: time to write what is not written */
static const double log_standard = 16 << 20; /* bytes: more than anybody reads */

/* A slot, and the process in it. */
struct child {
    bool used;
    enum child_end end; /* why we are ending it, if we are */
    pid_t pid;
    int pidfd, log;
    uint32_t task, attempt;
    double start, deadline, kill_at; /* kill_at: SIGKILL is due; INFINITY: not yet */
    double memory, used_memory;
    double peak, own; /* of its first process, as seen while it runs; ours when it was started */
    char *log_path;
    bool written; /* the last task wrote into the log, which has not been kept */
    posix_spawn_file_actions_t actions; /* of a task without a folder of its own */
    char **environment;
    char variable[OWN_VARIABLES][VARIABLE];
};

struct children {
    struct children_config config;
    char *folder, *logs;
    int epoll, null;
    posix_spawnattr_t attributes;
    size_t variables; /* of environ */
    uint32_t running, orphans;
    bool swept;          /* nothing was started since */
    ARRAY(pid_t) groups; /* killed; their members are still to be waited for */
    int ticks;
    ARRAY(char *) words; /* scratch */
    double own;          /* our own peak of memory, of late */
    pid_t pid;           /* our own */
    struct child *slot;
};

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
        open(x->log_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (x->log < 0)
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", x->log_path,
                         strerror(errno));
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

static bool copy_range(int from, off_t at, off_t end, FILE *to)
{
    char piece[65536];
    while (at < end) {
        size_t want = end - at < (off_t)sizeof piece ? (size_t)(end - at) : sizeof piece;
        ssize_t n = pread(from, piece, want, at);
        if (n <= 0 || fwrite(piece, 1, (size_t)n, to) != (size_t)n)
            return false;
        at += n;
    }
    return true;
}

/* Beginning and end of a log that is too long. */
static bool log_shorten(const struct children *c, struct child *x, double size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.short", x->log_path);
    FILE *to = fopen(path, "we");
    if (!to)
        return false;
    off_t half = (off_t)(c->config.log_most / 2);
    bool good = copy_range(x->log, 0, half, to);
    fprintf(to, "\n[weft: %.0f bytes of this log are left out here]\n", size - 2 * (double)half);
    good &= copy_range(x->log, (off_t)size - half, (off_t)size, to);
    good &= fclose(to) == 0;
    return good && rename(path, x->log_path) == 0;
}

bool child_keep_log(struct children *c, uint32_t slot, const char *path, struct error *err)
{
    struct child *x = &c->slot[slot];
    if (!x->written)
        return true;
    double size = log_size(x);
    if (size > c->config.log_most && !log_shorten(c, x, size))
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", path,
                         strerror(errno));
    if (rename(x->log_path, path) != 0)
        return error_set(err, ERROR_FAILED, "%s: cannot write the log of a task: %s", path,
                         strerror(errno));
    return log_open(c, x, err);
}

/* ---- what tasks leave behind ---- */

/* Members of killed groups that are our children by now; others have another parent, who waits. */
static void children_wait_for_groups(struct children *c, bool wait)
{
    for (size_t i = 0; i < c->groups.n;) {
        pid_t pid;
        do
            pid = waitpid(-c->groups.at[i], NULL, wait ? 0 : WNOHANG);
        while (pid > 0 || (pid < 0 && errno == EINTR));
        if (pid == 0)
            i++;
        else
            c->groups.at[i] = array_pop(&c->groups);
    }
}

/* Does the process belong to a task that runs, or not to us at all? By the variable that it
 * inherited (I3); who cannot be read belongs to another user. */
static bool owner_runs(const struct children *c, const char *pid)
{
    char text[PROC_ENVIRONMENT], mark[64];
    ssize_t n = proc_read(pid, "environ", text, sizeof text);
    for (uint32_t i = 0; i < c->config.slots; i++) {
        const struct child *x = &c->slot[i];
        if (!x->used)
            continue;
        int length = snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.%u.%u", (int)getpid(), c->epoll,
                              x->task, x->attempt);
        if (n > 0 && memmem(text, (size_t)n, mark, (size_t)length + 1))
            return true;
    }
    /* another set of children of this process (an agent has one a run) looks after its own */
    snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.", (int)getpid(), c->epoll);
    return n <= 0 || !memmem(text, (size_t)n, mark, strlen(mark));
}

void children_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Daemons: processes that left their task's group and outlived it, known by the mark that they
 * inherited, whoever their parent is now (we, after children_adopt_orphans()). Looks at every
 * process of the machine, a few milliseconds: once a second while something runs. */
static void end_orphans(struct children *c)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;
    while (proc && (e = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        bool ours = pid <= 0;
        for (uint32_t i = 0; i < c->config.slots && !ours; i++)
            ours = c->slot[i].used && c->slot[i].pid == pid;
        if (ours || pid == c->pid || owner_runs(c, e->d_name))
            continue;
        pid_t parent = proc_parent(e->d_name); /* 0: ended meanwhile */
        if (parent && kill(pid, SIGKILL) == 0 && (parent != c->pid || waitpid(pid, NULL, 0) == pid))
            c->orphans++;
    }
    if (proc)
        closedir(proc);
}

/* ---- memory ---- */

/* Most memory that a process has had since it was executed; 0: it is ending. */
static double high_water(pid_t pid)
{
    char name[24], text[2048];
    snprintf(name, sizeof name, "%d", (int)pid);
    const char *at =
        proc_read(name, "status", text, sizeof text) > 0 ? strstr(text, "VmHWM:") : NULL;
    return at ? 1024.0 * (double)strtoll(at + 6, NULL, 10) : 0;
}

/* Our own, which a child that was started by vfork inherits as its least. */
static double own_peak(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? 1024.0 * (double)use.ru_maxrss : 0;
}

/* ---- the set ---- */

struct children *children_new(const struct children_config *config, struct error *err)
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
    c->own = own_peak();
    c->pid = getpid();
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
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
    while (environ[c->variables])
        c->variables++;
    for (uint32_t i = 0; i < config->slots; i++) {
        struct child *x = &c->slot[i];
        x->log = x->pidfd = -1;
        posix_spawn_file_actions_init(&x->actions);
        struct strbuf path = {0};
        /* the epoll tells the sets of a process apart that log into one folder */
        strbuf_printf(&path, "%s/.slot-%d-%d-%u", c->logs, (int)c->pid, c->epoll, i);
        x->log_path = strbuf_steal(&path);
        x->environment = mem_new(char *, c->variables + OWN_VARIABLES + 1);
        memcpy(x->environment, environ, c->variables * sizeof *environ);
        for (int k = 0; k < OWN_VARIABLES; k++)
            x->environment[c->variables + (size_t)k] = x->variable[k];
        x->environment[c->variables + OWN_VARIABLES] = NULL;
    }
    if (c->epoll < 0 || c->null < 0) {
        error_set(err, ERROR_FAILED, "cannot watch processes: %s", strerror(errno));
        children_free(c);
        return NULL;
    }
    return c;
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
            array_push(&c->groups, x->pid);
        }
        if (x->log >= 0) {
            close(x->log);
            unlink(x->log_path);
        }
        posix_spawn_file_actions_destroy(&x->actions);
        free(x->log_path);
        free(x->environment);
    }
    children_wait_for_groups(c, true);
    if (!c->swept)
        end_orphans(c);
    array_free(&c->groups);
    array_free(&c->words);
    posix_spawnattr_destroy(&c->attributes);
    if (c->epoll >= 0)
        close(c->epoll);
    if (c->null >= 0)
        close(c->null);
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
    }
}

int children_fd(const struct children *c)
{
    return c->epoll;
}

uint32_t children_running(const struct children *c)
{
    return c->running;
}

void children_sweep(struct children *c)
{
    children_wait_for_groups(c, true);
    end_orphans(c);
    c->swept = true;
}

uint32_t children_orphans(const struct children *c)
{
    return c->orphans;
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
    char *const *words = gated ? gate_words(c, r) : r->words;
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
    reason = program ? posix_spawn(pid, program, actions, &c->attributes, words, x->environment)
                     : posix_spawnp(pid, words[0], actions, &c->attributes, words, x->environment);
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

/* Ten thousand short tasks pay for every system call here. Nothing may grow with our own memory,
 * hence posix_spawn, which shares it, and not fork, which copies page tables. */
bool child_start(struct children *c, uint32_t slot, const struct child_request *r,
                 struct error *err)
{
    struct child *x = &c->slot[slot];
    if (x->log < 0 || x->written) {
        /* kept by nobody, or the first task of the slot */
        if (mkdir(c->logs, 0775) != 0 && errno != EEXIST)
            return error_set(err, ERROR_FAILED, "%s: cannot make the folder of logs: %s", c->logs,
                             strerror(errno));
        if (!log_open(c, x, err))
            return false;
    }
    child_fill_variables(c, x, r);
    c->swept = false;
    pid_t pid = 0;
    int reason = child_spawn(
        c, x, r, r->memory > 0 && c->config.limits && limits_grouped(c->config.limits), &pid);
    if (reason)
        return child_explain_not_started(c, r, reason, err);
    x->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (x->pidfd < 0) {
        reason = errno;
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return error_set(err, ERROR_FAILED, "cannot watch a process: %s", strerror(reason));
    }
    /* once: the same stale descriptor would otherwise tell again and again */
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
                                .data.u64 = event_mark(slot, pid)};
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, x->pidfd, &event);
    x->used = true;
    x->end = CHILD_EXITED;
    x->pid = pid;
    x->task = r->task;
    x->attempt = r->attempt;
    x->deadline = x->start + r->timeout;
    x->kill_at = INFINITY;
    x->memory = r->memory;
    x->used_memory = x->peak = 0;
    x->own = c->own;
    c->running++;
    return true;
}

/* ---- ending ---- */

/* SIGTERM now and SIGKILL after the grace; `now`: SIGKILL. The first reason is the one
 * that counts. */
static void end_group(struct children *c, struct child *x, enum child_end why, bool now)
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
    x->kill_at = clock_seconds() + c->config.grace;
}

void child_stop(struct children *c, uint32_t slot, bool now)
{
    if (c->slot[slot].used)
        end_group(c, &c->slot[slot], CHILD_CANCELLED, now);
}

/* A process that was started by vfork takes our own peak over as its least: what the kernel says
 * counts only above that. Below, what was seen while it ran; 0: nobody knows. */
static double peak_of(const struct child *x, double reported)
{
    return reported > x->own ? reported : x->peak;
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

void children_tick(struct children *c)
{
    c->own = own_peak();
    double now = clock_seconds();
    bool look = c->ticks++ % ORPHANS_EVERY == 0;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        struct child *x = &c->slot[i];
        if (!x->used)
            continue;
        bool over = false;
        if (x->memory > 0 && c->config.limits)
            x->used_memory = limit_watch(c->config.limits, i, &over);
        if (over)
            end_group(c, x, CHILD_MEMORY, true);
        if (now > x->kill_at)
            end_group(c, x, x->end, true);
        else if (now > x->deadline && x->end == CHILD_EXITED)
            end_group(c, x, CHILD_TIMEOUT, false);
        /* the kernel's own figure at the end is no use below ours: see peak_of() */
        double peak = high_water(x->pid);
        x->peak = peak > x->peak ? peak : x->peak;
        double size = log_size(x);
        if (size > 2 * c->config.log_most) /* only its ends will be kept: give the middle back */
            fallocate(x->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)(c->config.log_most / 2), (off_t)(size - c->config.log_most));
    }
    children_wait_for_groups(c, false);
    if (look)
        end_orphans(c);
}
