/* watching.h: what is known of a run, kept up by looks. Every array is by task number; the record may be damaged, so numbers from
 * it are compared with their number before they are used.
 *
 * A look costs what is new, but for the sums, which are made anew over all tasks: a byte each, some milliseconds for a million. */
#include "session/watching.h"
#include "base/mem.h"
#include "memo/need.h"
#include "session/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

const char *const watch_state_names[WATCH_STATES] = {
    [WATCH_WAITING] = "waiting", [WATCH_RUNNING] = "running", [WATCH_DONE] = "done",
    [WATCH_FAILED] = "failed",   [WATCH_REUSED] = "reused",   [WATCH_SKIPPED] = "skipped",
};

static double watching_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Names are written in the run's first transaction; a run that was begun this moment may not have them yet, which its error says,
 * and who watches asks again. */
static bool watching_load(struct watching *w, struct history *h, int64_t run, struct error *err)
{
    if (!history_follow_head(h, run, &w->head, err))
        return false;
    w->names = recorded_names(h, &w->head);
    return w->names || error_set(err, ERROR_FAILED,
                                 "the names of the tasks of run %lld are not on record (yet)",
                                 (long long)w->head.run);
}

static void watching_begin(struct watching *w)
{
    uint32_t n = w->names->ntasks;
    struct strbuf folder = {0};
    strbuf_printf(&folder, "%s/.weft", w->head.folder ? w->head.folder : ".");
    w->state_folder = strbuf_steal(&folder);
    kinds_of(&w->kinds, w->names);
    families_of(&w->families, w->names, FAMILIES_BY_KIND, false);
    w->last = mem_new_zero(uint32_t, n + 1);
    w->reused = mem_new_zero(uint8_t, n + 1);
    w->skipped = mem_new_zero(uint8_t, n + 1);
    w->state = mem_new_zero(uint8_t, n + 1);
    w->sums = mem_new_zero(struct watch_sum, w->families.at.n + 1);
    w->expected = NAN;
}

bool watching_open(struct watching *w, int64_t run, struct error *err)
{
    *w = (struct watching){0};
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    mem_guard_enter(&guard, recorded_abandon, h);
    bool good = h && watching_load(w, h, run, err) && history_predictions(h, &w->head, err) &&
                history_reasons(h, run, w->names->ntasks, &w->reasons, err);
    mem_guard_leave(&guard);
    history_close(h);
    bool changed;
    if (good)
        watching_begin(w);
    if (good && watching_look(w, &changed, err))
        return true;
    watching_close(w);
    return false;
}

void watching_close(struct watching *w)
{
    families_free(&w->families);
    kinds_free(&w->kinds);
    workflow_free(w->names);
    workflow_free(w->graph);
    record_free(&w->head);
    array_free(&w->attempts);
    array_free(&w->transfers);
    array_free(&w->running);
    free(w->state_folder);
    free(w->last);
    free(w->reused);
    free(w->skipped);
    free(w->reasons);
    free(w->state);
    free(w->sums);
    *w = (struct watching){0};
}

/* ---- states ---- */

/* Of a task, from what is on record; what runs is laid over it afterwards. */
static enum watch_state watching_judge(const struct watching *w, uint32_t task)
{
    const struct history_attempt *a = w->last[task] ? &w->attempts.at[w->last[task] - 1] : NULL;
    if (a && a->outcome == TRACE_DONE)
        return WATCH_DONE;
    if (a && trace_is_failure(a->outcome))
        return WATCH_FAILED;
    if (w->reused[task])
        return WATCH_REUSED;
    if (a && a->outcome == TRACE_CANCELLED)
        return WATCH_SKIPPED;
    return w->skipped[task] || w->head.outcome != RECORD_RUNNING ? WATCH_SKIPPED : WATCH_WAITING;
}

/* Two passes over a byte a task, one of them with sums by family. Attempts are not gone through: each task knows its last one. */
static void watching_sum(struct watching *w)
{
    uint32_t n = w->names->ntasks;
    memset(w->sums, 0, w->families.at.n * sizeof *w->sums);
    w->all = (struct watch_sum){.tasks = n};
    for (uint32_t t = 0; t < n; t++)
        w->state[t] = (uint8_t)watching_judge(w, t);
    for (size_t i = 0; i < w->running.n; i++)
        w->state[w->running.at[i].task] = WATCH_RUNNING;
    for (uint32_t t = 0; t < n; t++) {
        struct watch_sum *s = &w->sums[w->families.of[t]];
        s->tasks++;
        s->state[w->state[t]]++;
        w->all.state[w->state[t]]++;
        double predicted = w->head.predicted ? w->head.predicted[t].seconds : NAN;
        s->predicted += predicted;
        w->all.predicted += predicted;
        if (w->state[t] == WATCH_DONE) {
            const struct history_attempt *a = &w->attempts.at[w->last[t] - 1];
            s->seconds += a->finish - a->start;
            w->all.seconds += a->finish - a->start;
        }
    }
}

/* Seconds of work that are left of a family: by its own mean, once some of it is done; else as predicted. */
static double watching_left(const struct watch_sum *s)
{
    uint32_t left = s->state[WATCH_WAITING] + s->state[WATCH_RUNNING];
    if (left == 0)
        return 0;
    if (s->state[WATCH_DONE])
        return s->seconds / s->state[WATCH_DONE] * left;
    return s->predicted / s->tasks * left;
}

/* The work that is left on all cores, but not less than what was predicted for the whole: the path through the graph is in
 * that. Of a run in which some kind has neither run nor was predicted nothing is promised. */
static void watching_expect(struct watching *w)
{
    double left = 0;
    w->expected = NAN;
    for (size_t f = 0; f < w->families.at.n; f++)
        left += watching_left(&w->sums[f]);
    if (w->head.outcome != RECORD_RUNNING)
        return;
    double end = w->seconds + left / (w->head.cores ? w->head.cores : 1);
    w->expected = w->head.predicted_seconds > end ? w->head.predicted_seconds : end;
}

/* ---- looks ---- */

/* A record that was over is written again: somebody follows the run, and its rows are told from the first on. */
static void watching_begin_anew(struct watching *w)
{
    w->place = (struct history_place){0};
    w->attempts.n = w->transfers.n = 0;
    memset(w->reused, 0, w->names->ntasks);
    memset(w->skipped, 0, w->names->ntasks);
    memset(w->last, 0, w->names->ntasks * sizeof *w->last);
}

/* The head is read anew each time: outcome, end and counts change. What was predicted does not, and is a number a task, so it is
 * carried over. */
static bool watching_read(struct watching *w, struct history *h, struct error *err)
{
    struct run_record head;
    if (!history_follow_head(h, w->head.run, &head, err))
        return false;
    if (w->head.outcome != RECORD_RUNNING && head.outcome != w->head.outcome)
        watching_begin_anew(w);
    head.predicted = w->head.predicted;
    w->head.predicted = NULL;
    record_free(&w->head);
    w->head = head;
    size_t before = w->attempts.n;
    bool good = history_follow(h, w->head.run, &w->place, &w->attempts, &w->transfers, w->reused,
                               w->skipped, w->names->ntasks, err);
    for (size_t i = before; i < w->attempts.n; i++)
        w->last[w->attempts.at[i].task] = (uint32_t)i + 1;
    return good;
}

/* What runs: those whose end is on record already are left out, and so is what is of other tasks than we know. */
static void watching_read_now(struct watching *w)
{
    struct now_head now;
    now_tasks found = {0};
    w->running.n = 0;
    if (w->head.outcome == RECORD_RUNNING && now_read(w->state_folder, w->head.run, &now, &found)) {
        w->away = now.away;
        for (size_t i = 0; i < found.n; i++) {
            struct now_task *t = &found.at[i];
            uint32_t last = t->task < w->names->ntasks ? w->last[t->task] : 0;
            bool over = last && w->attempts.at[last - 1].attempt >= t->attempt;
            if (t->task < w->names->ntasks && !over)
                array_push(&w->running, *t);
        }
    }
    array_free(&found);
}

bool watching_look(struct watching *w, bool *changed, struct error *err)
{
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    struct history_place before = w->place;
    enum record_outcome outcome = w->head.outcome;
    size_t running = w->running.n;
    mem_guard_enter(&guard, recorded_abandon, h);
    bool good = h && watching_read(w, h, err);
    mem_guard_leave(&guard);
    history_close(h);
    if (!good)
        return false;
    watching_read_now(w);
    bool on = w->head.outcome == RECORD_RUNNING;
    double last = w->attempts.n ? w->attempts.at[w->attempts.n - 1].finish : 0;
    w->seconds = on ? watching_clock() - w->head.started
                    : (isfinite(w->head.seconds) ? w->head.seconds : last);
    watching_sum(w);
    watching_expect(w);
    *changed = on || memcmp(&before, &w->place, sizeof before) != 0 || running != w->running.n ||
               outcome != w->head.outcome;
    return true;
}

/* ---- one task ---- */

/* Parsing the text of a large workflow takes as long as reading its file did; so it is done once, when the graph, a command or
 * neighbours are asked for, and a run that only grows is not parsed again. NULL is remembered as well. */
/* The graph has the kinds that are on record, by which families are counted: a reader gives a command's first word where none is
 * stated, and `python a.py` and `python b.py` would be one box. */
static void watching_take_kinds(struct workflow *graph, const struct workflow *names)
{
    str_id last = 0;
    for (uint32_t t = 0; t < graph->ntasks; t++) {
        const char *kind = workflow_text(names, names->kind[t]);
        if (strcmp(workflow_text(graph, last), kind) != 0) /* neighbours are of a kind mostly */
            last = pool_add(&graph->text, kind, strlen(kind));
        graph->kind[t] = last;
    }
}

const struct workflow *watching_graph(struct watching *w, struct error *err)
{
    if (w->graph_tried)
        return w->graph;
    w->graph_tried = true;
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    mem_guard_enter(&guard, recorded_abandon, h);
    w->graph = h ? recorded_workflow(h, w->head.run) : NULL;
    if (w->graph && w->graph->ntasks != w->names->ntasks) { /* not the one that runs */
        workflow_free(w->graph);
        w->graph = NULL;
    }
    if (w->graph)
        watching_take_kinds(w->graph, w->names);
    mem_guard_leave(&guard);
    history_close(h);
    return w->graph;
}

/* While a task runs, what it writes stands in its lane's file, .slot-PID-N-LANE (exec/child.c). */
static char *watching_lane_log(const char *folder, uint32_t lane)
{
    struct strbuf end = {0}, path = {0};
    DIR *d = opendir(folder);
    strbuf_printf(&end, "-%u", lane);
    for (struct dirent *e; d && !path.n && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (strncmp(e->d_name, ".slot-", 6) == 0 && n > end.n &&
            strcmp(e->d_name + n - end.n, end.at) == 0)
            strbuf_printf(&path, "%s/%s", folder, e->d_name);
    }
    if (d)
        closedir(d);
    strbuf_free(&end);
    return path.n ? strbuf_steal(&path) : NULL;
}

/* Of an attempt that runs. On an agent its log is there: whoever follows the run is asked to bring it, and has done so when we
 * look the next time. */
static char *watching_live_log(const struct watching *w, const struct now_task *t,
                               const char *folder)
{
    struct strbuf path = {0};
    if (t->secrets)
        return NULL; /* masked when it has ended, and told then */
    if (!w->away)
        return watching_lane_log(folder, t->lane);
    now_ask(w->state_folder, w->head.run, NOW_SHOW, t->task);
    strbuf_printf(&path, "%s/.live-%u-%u", folder, t->task, t->attempt);
    return strbuf_steal(&path);
}

bool watching_is_masked(const struct watching *w, uint32_t task)
{
    for (size_t i = 0; i < w->running.n; i++) {
        if (w->running.at[i].task == task)
            return w->running.at[i].secrets;
    }
    return false;
}

char *watching_log(const struct watching *w, uint32_t task)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s/logs/%lld", w->state_folder, (long long)w->head.run);
    for (size_t i = 0; i < w->running.n; i++) {
        if (w->running.at[i].task == task) {
            char *path = watching_live_log(w, &w->running.at[i], out.at);
            strbuf_free(&out);
            return path;
        }
    }
    if (!w->last[task]) {
        strbuf_free(&out);
        return NULL;
    }
    strbuf_add_char(&out, '/');
    record_log_name(workflow_task_name(w->names, task), task,
                    w->attempts.at[w->last[task] - 1].attempt, &out);
    return strbuf_steal(&out);
}

const char *watching_reason(const struct watching *w, uint32_t task)
{
    uint8_t reason = w->reasons ? w->reasons[task] : NEED_NOT;
    if (reason == NEED_NOT || reason >= NEED_KINDS)
        return NULL;
    return need_name((enum need)reason);
}

/* What is over cannot be cancelled: what was made stays. */
bool watching_cancel(const struct watching *w, uint32_t task, struct error *err)
{
    long long run = (long long)w->head.run;
    if (task >= w->names->ntasks)
        return error_set(err, ERROR_INPUT, "run %lld has no task of number %u", run, task);
    if (w->head.outcome != RECORD_RUNNING)
        return error_set(err, ERROR_INPUT, "run %lld is over: nothing of it can be cancelled", run);
    if (w->state[task] != WATCH_WAITING && w->state[task] != WATCH_RUNNING)
        return error_set(err, ERROR_INPUT, "task %s of run %lld is over: it is %s",
                         workflow_task_name(w->names, task), run,
                         watch_state_names[w->state[task]]);
    switch (now_ask(w->state_folder, w->head.run, NOW_CANCEL, task)) {
    case NOW_ASKED:
        return true;
    case NOW_FULL:
        return error_set(err, ERROR_FAILED,
                         "run %lld has not heard of the tasks that were cancelled last: try again "
                         "in a second",
                         run);
    case NOW_SILENT:
        break;
    }
    return error_set(err, ERROR_FAILED,
                     "run %lld does not tell what it does in %s/now: it runs on "
                     "another machine, or is of another version of weft",
                     run, w->state_folder);
}

void watching_cancelled(const struct watching *w, now_numbers *out)
{
    now_numbers told = {0};
    if (w->head.outcome == RECORD_RUNNING)
        now_read_cancelled(w->state_folder, w->head.run, &told);
    for (size_t i = 0; i < told.n; i++) {
        uint32_t task = told.at[i];
        bool open = task < w->names->ntasks &&
                    (w->state[task] == WATCH_WAITING || w->state[task] == WATCH_RUNNING);
        for (size_t k = 0; k < out->n && open; k++)
            open = out->at[k] != task;
        if (open)
            array_push(out, task);
    }
    array_free(&told);
}

bool watching_stop(const struct watching *w, struct error *err)
{
    struct history *h = recorded_require(err);
    int64_t pid = h ? history_process(h, w->head.run, err) : 0;
    history_close(h);
    if (!h)
        return false;
    if (pid <= 0)
        return error_set(err, ERROR_INPUT,
                         "run %lld does not go on on this machine: it is over, or another host "
                         "runs it",
                         (long long)w->head.run);
    return kill((pid_t)pid, SIGINT) == 0 ||
           error_set(err, ERROR_FAILED, "process %lld of run %lld cannot be told: %s",
                     (long long)pid, (long long)w->head.run, strerror(errno));
}
