/* Failures of the past as sentences. They are few (model/record.h), and only those of the last runs of
 * this workflow in this folder are asked for: O(failures + runs), not O(tasks). */
#include "session/past.h"

#include "base/file.h"
#include "base/mem.h"
#include "report/human.h"
#include "report/summary.h"
#include "session/recording.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Logs are named by who ran; their folder may have another name from here. */
static void add_log(const struct session *s, const struct history_past *p, struct strbuf *out)
{
    struct strbuf path = {0};
    if (!p->failure.log)
        return;
    strbuf_printf(&path, "%s/logs/%lld/%s", s->ws.state, (long long)p->run,
                  file_basename(p->failure.log));
    if (file_exists(path.at))
        strbuf_printf(out, "; its log: %s", path.at);
    strbuf_free(&path);
}

static char *past_sentence(const struct session *s, const struct history_past *p)
{
    struct strbuf out = {0};
    char when[64];
    time_t started = (time_t)p->started;
    struct tm parts;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&started, &parts));
    strbuf_printf(&out, "it failed when it last ran, in run %lld of %s: ", (long long)p->run, when);
    const struct record_failure *f = &p->failure;
    struct trace_event e = {.outcome = f->outcome, .status = f->status, .finish = f->limit};
    if (f->reason)
        strbuf_add(&out, f->reason);
    else
        report_ending(&e, f->limit, &out);
    add_log(s, p, &out);
    return strbuf_steal(&out);
}

/* The newest failure of a task counts, unless it has ended well since. That can only be where the memo
 * has a record of its name, so few are looked up. */
static void past_note(struct session *s, const char *folder, const struct history_past *p)
{
    struct needs *n = &s->needs;
    uint32_t t = workflow_find_task(s->w, p->task);
    if (t == NONE || !need_runs(n, t) || n->note[t])
        return;
    if (n->task[t] != NEED_NEVER &&
        history_ended_well_since(s->history, folder, s->name, p->task, p->run))
        return;
    n->note[t] = past_sentence(s, p);
}

void session_recall_failures(struct session *s)
{
    struct needs *n = &s->needs;
    char folder[PATH_MAX];
    history_pasts past = {0};
    if (!n->run || n->note || !realpath(s->ws.folder, folder))
        return;
    if (!s->history)
        recording_open_history(s);
    if (!s->history || !history_past_failures(s->history, folder, s->name, &past, NULL))
        return;
    if (past.n)
        n->note = mem_new_zero(char *, s->w->ntasks);
    for (size_t i = 0; i < past.n; i++)
        past_note(s, folder, &past.at[i]);
    history_pasts_free(&past);
}
