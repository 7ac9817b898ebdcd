/* The log of a run for people who were not there. One thread; a line is one write to a descriptor that
 * appends, so that runs that share a file do not cut each other's lines. */
#include "report/run_log.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "report/failures.h"
#include "report/human.h"
#include "report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct run_log {
    int fd;
    char *path;
    int failed; /* errno of the first write that failed; 0: none */
    const struct workflow *w;
};

/* Appended to: several runs, also at once, share one file, a whole line a write. */
struct run_log *run_log_open(const char *path, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        error_set(err, ERROR_INPUT, "--log %s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    struct run_log *l = mem_new_zero(struct run_log, 1);
    l->fd = fd;
    l->path = mem_copy_string(path);
    return l;
}

/* Control characters are made visible: names and commands are other people's. */
static void run_log_line(struct run_log *l, const char *text, size_t n)
{
    struct strbuf line = {0};
    char when[32], *copy = mem_copy_bytes(text, n);
    struct tm parts;
    time_t now = time(NULL);
    localtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &parts);
    strbuf_printf(&line, "%s weft[%d]: ", when, (int)getpid());
    for (char *c = copy; *c; c++)
        if (*c == '\t')
            *c = ' ';
    utf8_add_visible(&line, copy);
    strbuf_add_char(&line, '\n');
    free(copy);
    /* a file that takes half a line is full: nothing would be gained by the other half */
    if (write(l->fd, line.at, line.n) != (ssize_t)line.n && !l->failed)
        l->failed = errno ? errno : ENOSPC;
    strbuf_free(&line);
}

/* A text of several lines is several lines, each with its time. */
void run_log_say(struct run_log *l, const char *text)
{
    while (l && *text) {
        size_t n = strcspn(text, "\n");
        if (n)
            run_log_line(l, text, n);
        text += n + (text[n] != 0);
    }
}

/* "run 12: " of those that the history knows. */
static void run_log_name(const struct run_record *r, struct strbuf *out)
{
    if (r->run > 0)
        strbuf_printf(out, "run %lld: ", (long long)r->run);
    strbuf_add(out, r->name ? r->name : "a workflow");
}

void run_log_started(struct run_log *l, const struct run_record *r, uint32_t to_run)
{
    struct strbuf text = {0};
    if (!l)
        return;
    l->w = r->workflow;
    run_log_name(r, &text);
    strbuf_printf(&text, " (%s) in %s: ", r->file ? r->file : "-", r->folder ? r->folder : "-");
    if (to_run)
        strbuf_printf(&text, "%u of %u task%s to run on %u core%s", to_run, r->tasks,
                      plural(r->tasks), r->cores, plural(r->cores));
    else
        strbuf_printf(&text, "nothing to do, %u task%s up to date, %u skipped",
                      r->tasks - r->untaken, r->tasks - r->untaken == 1 ? " is" : "s are",
                      r->untaken);
    run_log_say(l, strbuf_text(&text));
    strbuf_free(&text);
}

/* What went well is counted at the end; the file is for what did not. */
static void run_log_event(void *context, const struct trace_event *e)
{
    struct run_log *l = context;
    if (e->id >= l->w->ntasks ||
        (e->kind != TRACE_SKIPPED && (e->kind != TRACE_TASK || e->outcome == TRACE_DONE)))
        return;
    struct strbuf text = {0};
    if (e->kind == TRACE_SKIPPED) {
        strbuf_printf(&text, "task %s: ", workflow_task_name(l->w, e->id));
        report_skipped(l->w, e, &text);
        run_log_say(l, strbuf_text(&text));
        strbuf_free(&text);
        return;
    }
    strbuf_printf(&text, "task %s: ", workflow_task_name(l->w, e->id));
    report_ending(e, 0, &text);
    if (e->attempt > 1)
        strbuf_printf(&text, ", at attempt %u", e->attempt);
    run_log_say(l, strbuf_text(&text));
    strbuf_free(&text);
}

struct trace_sink run_log_sink(struct run_log *l)
{
    return (struct trace_sink){.event = run_log_event, .context = l};
}

/* Tasks that failed alike are told once, with the command and the last lines of one. */
static void run_log_cause(struct run_log *l, const struct failure_group *g,
                          const struct run_figures *f)
{
    struct strbuf text = {0};
    failure_names(g, f, &text);
    strbuf_add(&text, ": ");
    failure_ending(g, f, &text);
    strbuf_add_char(&text, '\n');
    struct strbuf command = {0};
    if (failure_command(g, f, &command))
        human_command(&text, 2, strbuf_text(&command));
    strbuf_free(&command);
    for (const char *at = g->record ? g->record->tail : NULL; at && *at;) {
        size_t n = strcspn(at, "\n");
        strbuf_printf(&text, "  | %.*s\n", (int)n, at);
        at += n + (at[n] != 0);
    }
    size_t before = text.n;
    strbuf_add(&text, "  ");
    failure_hint(g, &text);
    if (text.n == before + 2)
        text.n = before;
    text.at[text.n] = 0;
    run_log_say(l, strbuf_text(&text));
    if (g->record && g->record->log) {
        strbuf_clear(&text);
        strbuf_printf(&text, "  log: %s", g->record->log);
        run_log_say(l, strbuf_text(&text));
    }
    strbuf_free(&text);
}

/* Failures first, so that the last line of a run is its outcome. */
void run_log_done(struct run_log *l, const struct run_record *r, const char *why)
{
    struct strbuf text = {0};
    struct run_figures f;
    struct failure_groups g;
    char a[HUMAN_SIZE];
    if (!l)
        return;
    figures_of(&f, r);
    failure_groups_of(&g, &f);
    for (size_t i = 0; i < g.group.n && i < SUMMARY_FAILURES; i++)
        run_log_cause(l, &g.group.at[i], &f);
    failure_groups_free(&g);
    figures_free(&f);
    run_log_name(r, &text);
    strbuf_printf(&text,
                  ": %s after %s: %u ran, %u reused, %u failed, %u not run, "
                  "%u skipped",
                  record_outcome_name(r->outcome),
                  human_seconds(a, isnan(r->seconds) ? 0 : r->seconds), r->ran, r->reused,
                  r->failed, r->skipped - r->untaken, r->untaken);
    if (why && *why)
        strbuf_printf(&text, "; %s", why);
    run_log_say(l, strbuf_text(&text));
    strbuf_free(&text);
}

bool run_log_close(struct run_log *l, struct error *err)
{
    if (!l)
        return true;
    int failed = l->failed;
    if (close(l->fd) != 0 && !failed)
        failed = errno;
    bool good = !failed || error_set(err, ERROR_FAILED, "--log %s: %s", l->path, strerror(failed));
    free(l->path);
    free(l);
    return good;
}
