/* Execution logs of other systems, recorded as if the run had been ours. */
#include "session/imported.h"
#include "base/file.h"
#include "base/mem.h"
#include "formats/logs/execution_log.h"
#include "formats/registry.h"
#include "history/history.h"
#include "session/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The same log twice would count twice in every prediction. */
static bool imported_already(struct history *h, const struct run_record *r, struct error *err)
{
    history_runs runs = {0};
    struct history_filter same = {.workflow = r->name};
    if (!history_list(h, &same, &runs, err))
        return true;
    bool found = false;
    for (size_t i = 0; i < runs.n && !found; i++) {
        const struct run_record *old = &runs.at[i];
        bool same_time =
            r->started == 0 || fabs(old->started - r->started) < 1e-3; /* 0: not stated */
        found = same_time && old->tasks == r->tasks && old->planner &&
                strcmp(old->planner, r->planner) == 0 && fabs(old->seconds - r->seconds) < 1e-3;
        if (found)
            error_set(err, ERROR_INPUT, "%s: it is in the history already, as run %lld", r->file,
                      (long long)old->run);
    }
    history_runs_free(&runs);
    return found;
}

/* As a run records itself, all at once. */
static bool imported_record(struct history *h, struct run_record *r, struct error *err)
{
    struct strbuf text = {0}, dropped = {0};
    format_native.write_workflow(r->workflow, &text, &dropped, err);
    r->run = history_begin(h, r, text.at, text.n, err);
    strbuf_free(&text);
    strbuf_free(&dropped);
    if (!r->run)
        return false;
    struct trace_sink sink = history_sink(h);
    for (size_t i = 0; i < r->events.n; i++)
        sink.event(sink.context, &r->events.at[i]);
    return history_end(h, r, err);
}

/* Read before the history is opened: a log that is no log leaves it alone. */
bool imported_add(const char *path, struct imported *out, struct error *err)
{
    struct text text;
    struct run_record r;
    *out = (struct imported){0};
    if (!file_read(path, &text, err))
        return false;
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    bool good = execution_log_read(&source, &r, &out->left_out, err);
    text_free(&text);
    if (!good)
        return false;
    char *where = history_default_path();
    struct history *h = where ? history_open(where, err) : NULL;
    if (!where)
        error_set(err, ERROR_INPUT,
                  "there is no history: WEFT_HISTORY is none, or there is no home");
    struct mem_guard guard; /* the connection is not in our ledger */
    mem_guard_enter(&guard, recorded_abandon, h);
    good = h && !imported_already(h, &r, err) && imported_record(h, &r, err);
    mem_guard_leave(&guard);
    history_close(h);
    free(where);
    out->run = r.run;
    out->tasks = r.tasks;
    out->attempts = (uint32_t)r.events.n;
    snprintf(out->system, sizeof out->system, "%s", r.planner);
    record_free(&r);
    return good;
}

/* As imported_add(): a history is made where there is none. */
bool imported_merge(const char *path, struct history_merged *out, struct error *err)
{
    *out = (struct history_merged){0};
    char *where = history_default_path();
    struct history *h = where ? history_open(where, err) : NULL;
    if (!where)
        error_set(err, ERROR_INPUT,
                  "there is no history: WEFT_HISTORY is none, or there is no home");
    struct mem_guard guard; /* as above */
    mem_guard_enter(&guard, recorded_abandon, h);
    bool good = h && history_merge(h, path, out, err);
    mem_guard_leave(&guard);
    history_close(h);
    free(where);
    return good;
}
