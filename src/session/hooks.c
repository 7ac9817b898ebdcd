/* Hooks: one process each, a few at once, the others in a queue.
 *
 * I1. Only our own processes are waited for, by number (exec/child.c likewise): nobody's children are
 *     taken from him.
 * I2. The JSON is in a file without a name before the process starts, so that a hook that reads
 *     nothing cannot block us, and one that reads late finds it.
 * I3. hooks_end() returns after at most HOOK_SECONDS a hook in turn, whatever hooks do: their groups
 *     are killed then. */
#include "session/hooks.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "model/command.h"
#include "model/retry.h"
#include "report/failures.h"
#include "report/summary.h"
#include "session/log_tail.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* At once: a thousand failures must not become a thousand mail programs. In a queue: beyond it they
 * are counted. Seconds: a hook sends a message or starts something, it does not work. */
enum { HOOKS_AT_ONCE = 4, HOOKS_WAITING = 1000, HOOK_SECONDS = 60 };

struct hook_process {
    enum workflow_hook which;
    pid_t pid;
    double began;
};

struct hooks {
    struct session *s;
    ARRAY(struct hook_process) running;
    ARRAY(char *) waiting;          /* JSON for task_failed, the first first */
    ARRAY(struct trace_event) open; /* failures that another attempt is to follow */
    uint32_t left_out;              /* failures beyond HOOKS_WAITING */
    struct strbuf log;              /* path of what hooks write */
};

/* ---- what happened ---- */

/* What each of them tells: which run, of what, where. */
static void hook_put_run(struct json_writer *j, const char *event, const struct run_record *r)
{
    json_write_object_inline(j);
    json_put_string(j, "schema", "weft-hook/1");
    json_put_string(j, "event", event);
    json_put_integer(j, "run", r->run);
    json_put_text(j, "workflow", r->name);
    json_put_text(j, "file", r->file);
    json_put_text(j, "folder", r->folder);
    json_put_text(j, "host", r->host);
}

/* The log of an attempt where it is named after its task; NULL: it wrote none, or its name was
 * changed to fit a folder. The caller frees. */
static char *hook_log_of(const struct session *s, const char *name, uint32_t attempt)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", s->logs, name);
    if (attempt > 1)
        strbuf_printf(&path, ".%u", attempt);
    strbuf_add(&path, ".log");
    if (!strchr(name, '/') && access(path.at, R_OK) == 0)
        return strbuf_steal(&path);
    strbuf_free(&path);
    return NULL;
}

static char *hook_task_json(const struct session *s, const struct trace_event *e)
{
    struct strbuf out = {0}, text = {0};
    struct json_writer j;
    const char *name = workflow_task_name(s->w, e->id);
    char *log = hook_log_of(s, name, e->attempt), *tail = log_tail(log);
    json_write_start(&j, &out, false);
    hook_put_run(&j, "task_failed", &s->record);
    json_put_string(&j, "task", name);
    json_put_string(&j, "kind", workflow_text(s->w, s->w->kind[e->id]));
    json_put_string(&j, "outcome", trace_outcome_name(e->outcome));
    json_put_integer(&j, "status", e->status);
    report_ending(e, 0, &text);
    json_put_string(&j, "what", strbuf_text(&text));
    json_put_integer(&j, "attempt", e->attempt);
    json_put_number(&j, "seconds", e->finish - e->start);
    strbuf_clear(&text);
    json_put_text(&j, "command",
                  command_readable(s->w, e->id, e->attempt, &text) ? strbuf_text(&text) : NULL);
    json_put_text(&j, "log", log);
    json_put_text(&j, "last_lines", tail);
    json_write_end_object(&j);
    strbuf_add_char(&out, '\n');
    strbuf_free(&text);
    free(log);
    free(tail);
    return strbuf_steal(&out);
}

static void hook_put_causes(struct json_writer *j, const struct run_record *r)
{
    struct run_figures f;
    struct failure_groups g;
    figures_of(&f, r);
    failure_groups_of(&g, &f);
    failure_put_causes(&g, &f, j);
    failure_groups_free(&g);
    figures_free(&f);
}

static char *hook_run_json(const struct session *s, const char *event)
{
    const struct run_record *r = &s->record;
    struct strbuf out = {0};
    struct json_writer j;
    json_write_start(&j, &out, false);
    hook_put_run(&j, event, r);
    json_put_string(&j, "outcome", record_outcome_name(r->outcome));
    json_put_number(&j, "started", r->started);
    json_put_number(&j, "seconds", r->seconds);
    json_put_integer(&j, "tasks", r->tasks);
    json_put_integer(&j, "ran", r->ran);
    json_put_integer(&j, "reused", r->reused);
    json_put_integer(&j, "failed", r->failed);
    json_put_integer(&j, "skipped", r->skipped);
    json_put_integer(&j, "untaken", r->untaken);
    json_put_integer(&j, "excused", r->excused);
    hook_put_causes(&j, r);
    json_write_end_object(&j);
    strbuf_add_char(&out, '\n');
    return strbuf_steal(&out);
}

/* ---- processes ---- */

/* A descriptor from which the text can be read; -1: errno. */
static int hook_text(const char *text)
{
    int fd = memfd_create("weft-hook", MFD_CLOEXEC);
    size_t n = strlen(text);
    if (fd >= 0 && (write(fd, text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Own group (it is killed whole), no signal blocked or ignored, the folder as its place. 0: started. */
static int hook_spawn(struct hooks *h, const char *command, int in, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    const char *const words[] = {"sh", "-c", command, NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, out, 2);
    posix_spawn_file_actions_addchdir_np(&files, h->s->ws.folder);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn(pid, "/bin/sh", &files, &attributes, (char *const *)words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static void hook_start(struct hooks *h, enum workflow_hook which, const char *json)
{
    struct error err = {0};
    const struct workflow *w = h->s->w;
    pid_t pid = 0;
    int in = hook_text(json), code = in < 0 ? errno : 0;
    int out = make_parents(h->log.at, &err)
                  ? open(h->log.at, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0664)
                  : -1;
    if (out < 0) /* a full or read-only disk: it runs all the same, unheard */
        out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!code)
        code = hook_spawn(h, workflow_text(w, w->hook[which]), in, out, &pid);
    if (code)
        remark(&h->s->o.remarks, REMARK_WARNING, "hook '%s' could not be started: %s",
               workflow_hook_name[which], strerror(code));
    else
        array_push(&h->running, (struct hook_process){which, pid, clock_seconds()});
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
}

static void hook_ended(struct hooks *h, const struct hook_process *p, int status, bool late)
{
    const struct remarks *remarks = &h->s->o.remarks;
    const char *name = workflow_hook_name[p->which];
    char *tail = log_tail(h->log.at);
    const char *last = tail ? strrchr(tail, '\n') : NULL;
    last = last ? last + 1 : tail;
    if (late)
        remark(remarks, REMARK_WARNING, "hook '%s' was ended after %d s", name, HOOK_SECONDS);
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        remark(remarks, REMARK_WARNING, "hook '%s' failed: %s %d%s%.200s%s", name,
               WIFEXITED(status) ? "exit status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
               last && *last ? " (" : "", last && *last ? last : "", last && *last ? ")" : "");
    free(tail);
}

/* Those that have ended, or are past their time, go (I1). */
static void hooks_reap(struct hooks *h)
{
    for (size_t i = 0; i < h->running.n;) {
        struct hook_process p = h->running.at[i];
        int status = 0;
        bool late = clock_seconds() - p.began > HOOK_SECONDS;
        if (late)
            kill(-p.pid, SIGKILL);
        pid_t pid = waitpid(p.pid, &status, late ? 0 : WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            i++;
            continue;
        }
        if (pid > 0)
            hook_ended(h, &p, status, late);
        h->running.at[i] = h->running.at[--h->running.n];
    }
}

void hooks_poll(struct hooks *h)
{
    if (!h)
        return;
    hooks_reap(h);
    size_t started = 0;
    for (; started < h->waiting.n && h->running.n < HOOKS_AT_ONCE; started++) {
        hook_start(h, HOOK_TASK_FAILED, h->waiting.at[started]);
        free(h->waiting.at[started]);
    }
    if (started) {
        h->waiting.n -= started;
        memmove(h->waiting.at, h->waiting.at + started, h->waiting.n * sizeof *h->waiting.at);
    }
}

/* ---- beginning and end ---- */

static void hooks_task_failed(struct hooks *h, const struct trace_event *e)
{
    if (h->waiting.n >= HOOKS_WAITING)
        h->left_out++;
    else
        array_push(&h->waiting, hook_task_json(h->s, e));
}

/* The attempt is there that was to follow a failure. */
static void hooks_close(struct hooks *h, uint32_t task)
{
    for (size_t i = 0; i < h->open.n; i++)
        if (h->open.at[i].id == task) {
            h->open.at[i] = h->open.at[--h->open.n];
            return;
        }
}

/* An attempt that no other follows. What the workflow says of retries tells most of them at once; the
 * others (no memory above the last, a run that ends before the next attempt) are known in the end. */
static void hooks_on_event(void *context, const struct trace_event *e)
{
    struct hooks *h = context;
    const struct workflow *w = h->s->w;
    if (e->kind != TRACE_TASK || e->id >= w->ntasks)
        return;
    if (e->attempt > 1)
        hooks_close(h, e->id);
    if (!trace_is_failure(e->outcome))
        return;
    if (retry_is_last(w, e->id, e->attempt, (enum trace_outcome)e->outcome, e->status) ||
        h->open.n >= HOOKS_WAITING)
        hooks_task_failed(h, e);
    else
        array_push(&h->open, *e);
}

struct hooks *hooks_begin(struct session *s)
{
    bool any = false;
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        any |= s->w->hook[i] != 0;
    if (!any)
        return NULL;
    struct hooks *h = mem_new_zero(struct hooks, 1);
    h->s = s;
    strbuf_printf(&h->log, "%s/hooks.log", s->logs);
    if (s->w->hook[HOOK_TASK_FAILED])
        session_listen(s, (struct trace_sink){.event = hooks_on_event, .context = h});
    return h;
}

/* A stop that comes now is meant for them: what runs is ended, what waits is not started. */
static void hooks_stop(struct hooks *h)
{
    for (size_t i = 0; i < h->running.n; i++)
        kill(-h->running.at[i].pid, SIGTERM);
    for (size_t i = 0; i < h->waiting.n; i++)
        free(h->waiting.at[i]);
    h->left_out += (uint32_t)h->waiting.n;
    h->waiting.n = 0;
}

static void hooks_wait(struct hooks *h)
{
    for (hooks_poll(h); h->running.n || h->waiting.n; hooks_poll(h)) {
        if (atomic_exchange(&h->s->stops, 0) > 0)
            hooks_stop(h);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* hooks take that long at least */
    }
}

/* After the last task's, so that they come in order. A run that goes on without us has not ended. */
void hooks_end(struct hooks *h)
{
    if (!h)
        return;
    const struct session *s = h->s;
    enum workflow_hook which = s->record.outcome == RECORD_DONE ? HOOK_DONE : HOOK_FAILED;
    for (size_t i = 0; i < h->open.n && !s->detached; i++)
        hooks_task_failed(h, &h->open.at[i]);
    hooks_wait(h);
    if (h->left_out)
        remark(&s->o.remarks, REMARK_WARNING,
               "hook 'task_failed' was not run for %u of the failures", h->left_out);
    if (s->w->hook[which] && !s->detached) {
        char *json = hook_run_json(s, workflow_hook_name[which]);
        hook_start(h, which, json);
        free(json);
        hooks_wait(h);
    }
    hooks_abandon(h);
}

void hooks_abandon(struct hooks *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->waiting.n; i++)
        free(h->waiting.at[i]);
    array_free(&h->waiting);
    array_free(&h->open);
    array_free(&h->running);
    strbuf_free(&h->log);
    free(h);
}
