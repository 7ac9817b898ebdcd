#include "cli/run_session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "cli/signals.h"
#include "report/event_json.h"
#include "report/live_display.h"
#include "report/human.h"
#include "report/summary.h"
#include "report/table.h"
#include "exec/child.h"
#include "exec/measure.h"
#include "drive/order.h"
#include "drive/run.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 40, TAIL_LINES = 8, TAIL_BYTES = 4096 };

/* ---- opening ---- */

static bool size_option(const struct arguments *a, const char *name, double standard, double *out,
                        struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    if (!text || (quantity_bytes(text, strlen(text), out) && *out > 0))
        return true;
    return error_set(err, ERROR_INPUT, "--%s is '%s'; expected a size such as 500M or 8G", name,
                     text);
}

static bool read_options(struct session *s, struct error *err)
{
    struct machine m;
    int64_t jobs;
    measure_inventory(&m);
    const char *delay = arguments_value(s->a, "retry-delay");
    s->retry_first = 0.1;
    if (delay && !quantity_seconds(delay, strlen(delay), &s->retry_first))
        return error_set(err, ERROR_INPUT, "--retry-delay is '%s'; expected a time such as 2s",
                         delay);
    if (s->retry_first == 0)
        s->retry_first = -1;
    if (!arguments_integer(s->a, "jobs", m.cores, 1, 4096, &jobs, err) ||
        !size_option(s->a, "memory", m.memory, &s->memory, err) ||
        !size_option(s->a, "disk", INFINITY, &s->disk, err))
        return false;
    s->cores = (uint32_t)jobs;
    return true;
}

static void name_folder(struct session *s)
{
    const char *given = arguments_value(s->a, "directory"), *slash = strrchr(s->flow, '/');
    struct strbuf path = {0};
    if (given)
        s->folder = mem_copy_string(given);
    else if (slash)
        s->folder = mem_copy_bytes(s->flow, (size_t)(slash - s->flow) + (slash == s->flow));
    else
        s->folder = mem_copy_string(".");
    size_t n = strlen(s->folder);
    strbuf_printf(&path, "%s%s.weft", s->folder, n && s->folder[n - 1] == '/' ? "" : "/");
    s->state = strbuf_steal(&path);
}

static bool make_state(const struct session *s, struct error *err)
{
    struct stat st;
    if (stat(s->folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return error_set(err, ERROR_INPUT, "%s: not a folder", s->folder);
    if (mkdir(s->state, 0777) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED,
                         "%s: cannot make the folder in which weft remembers what it has done: %s; "
                         "-C names another",
                         s->state, strerror(errno));
    return true;
}

/* A file that stands while a run goes on: one that is left tells of a crash. */
static void mark_path(const struct session *s, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/running", s->state);
}

/* The memo of a large folder takes as long to read as a part of the workflow: both at once. */
struct memo_loader {
    pthread_t thread;
    char *path;
    struct memo *memo;
    struct memo_opened found;
    struct error err;
};

static void *load_memo(void *context)
{
    struct memo_loader *l = context;
    l->memo = memo_open(l->path, &l->found, &l->err);
    return NULL;
}

static void begin_loading(struct session *s)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/memo", s->state);
    if (access(path.at, F_OK) != 0) { /* nothing is made before the workflow is known to be one */
        strbuf_free(&path);
        return;
    }
    struct memo_loader *l = mem_new_zero(struct memo_loader, 1);
    l->path = strbuf_steal(&path);
    if (pthread_create(&l->thread, NULL, load_memo, l) == 0) {
        s->loader = l;
        return;
    }
    free(l->path);
    free(l);
}

static void end_loading(struct session *s, struct error *err)
{
    struct memo_loader *l = s->loader;
    if (!l)
        return;
    pthread_join(l->thread, NULL);
    s->memo = l->memo;
    s->found = l->found;
    if (!l->memo)
        error_set(err, l->err.kind, "%s", l->err.text);
    free(l->path);
    free(l);
    s->loader = NULL;
}

static bool open_memo(struct session *s, struct error *err)
{
    struct strbuf path = {0};
    if (s->loader) {
        end_loading(s, err);
    } else {
        strbuf_printf(&path, "%s/memo", s->state);
        s->memo = memo_open(path.at, &s->found, err);
    }
    if (s->memo) {
        mark_path(s, &path);
        s->crashed = access(path.at, F_OK) == 0;
    }
    if (s->memo && s->found.cut && !s->quiet)
        fprintf(stderr,
                "weft: the last run here was cut off while writing; %llu bytes of an "
                "unfinished record were dropped\n",
                (unsigned long long)s->found.cut);
    strbuf_free(&path);
    return s->memo != NULL;
}

void session_begin(struct session *s, const struct arguments *a, const char *flow)
{
    *s = (struct session){.a = a, .flow = flow};
    s->json = arguments_flag(a, "json");
    s->quiet = arguments_flag(a, "quiet") || s->json;
    name_folder(s);
    begin_loading(s);
}

void session_elsewhere(struct session *s, session_execute execute, void *where)
{
    s->elsewhere = true;
    s->execute = execute;
    s->where = where;
}

/* Whoever runs it gets the workflow as a text, and reads its own numbers of tasks and files out of
 * it: so do we. */
static bool take_as_text(struct session *s, const struct need_options *need, struct error *err)
{
    const struct format *native = format_find("native");
    if (!native->write_workflow(s->w, &s->text, NULL, err))
        return false;
    char *copy = mem_copy_bytes(s->text.at, s->text.n);
    struct workflow *w = native->read_workflow(
        &(struct format_source){.path = s->flow, .text = copy, .length = s->text.n}, err);
    free(copy);
    if (!w)
        return false;
    needs_free(&s->needs);
    workflow_free(s->w);
    s->w = w;
    return needs_find(&s->needs, w, s->folder, s->memo, need, err);
}

bool session_join(struct session *s, const struct arguments *a, const char *name,
                  const char *folder, struct workflow *w, const uint32_t *done, size_t ndone,
                  struct error *err)
{
    *s = (struct session){.a = a, .flow = name, .w = w, .elsewhere = true};
    s->json = arguments_flag(a, "json");
    s->quiet = arguments_flag(a, "quiet") || s->json;
    s->name = mem_copy_string(name);
    s->folder = mem_copy_string(folder);
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/.weft", folder);
    s->state = strbuf_steal(&path);
    if (!read_options(s, err) || !make_state(s, err) || !open_memo(s, err))
        return false;
    s->crashed = false; /* that it was cut off is why we join it */
    needs_blank(&s->needs, w, s->folder, s->memo, done, ndone);
    return true;
}

bool session_open(struct session *s, struct workflow *w, struct error *err)
{
    char buffer[256];
    s->w = w;
    if (!w)
        return false;
    s->name = mem_copy_string(cli_workflow_name(w, buffer, sizeof buffer));
    if (!w->command)
        return error_set(err, ERROR_INPUT,
                         "%s: no task has a command to run; an abstract graph can be planned "
                         "(`weft plan`) and simulated (`weft sim`)",
                         s->flow);
    struct need_options need = {.all = arguments_flag(s->a, "force"), .elsewhere = s->elsewhere};
    return read_options(s, err) && make_state(s, err) && open_memo(s, err) &&
           needs_find(&s->needs, w, s->folder, s->memo, &need, err) &&
           (!s->elsewhere || take_as_text(s, &need, err));
}

void session_follow(struct session *s, const struct plan *plan)
{
    if (!s->priority)
        s->priority = mem_new(double, s->w->ntasks);
    order_of_plan(s->w, plan, s->priority);
    free(s->planner);
    s->planner = mem_copy_string(plan->planner ? plan->planner : "a plan");
}

void session_close(struct session *s)
{
    struct error err = {0};
    end_loading(s, &(struct error){0});
    needs_free(&s->needs);
    if (!memo_close(s->memo, &err))
        cli_say("", err.text);
    forecast_free(s->forecast);
    history_close(s->history);
    workflow_free(s->w);
    free(s->folder);
    free(s->state);
    free(s->name);
    free(s->seconds);
    free(s->task_memory);
    free(s->predicted);
    free(s->priority);
    free(s->planner);
    strbuf_free(&s->text);
    *s = (struct session){0};
}

/* ---- ahead ---- */

static void open_history(struct session *s)
{
    struct error err = {0};
    char *path = arguments_flag(s->a, "no-history") ? NULL : history_default_path();
    if (!path)
        return;
    s->history = history_open(path, &err);
    if (!s->history)
        cli_say("this run is not recorded: ", err.text);
    free(path);
}

void session_predict(struct session *s)
{
    const struct workflow *w = s->w;
    struct error err = {0};
    if (!s->priority) {
        s->priority = mem_new(double, w->ntasks);
        order_depth_first(w, s->priority);
    }
    if (!s->history)
        open_history(s);
    if (s->history && !s->forecast)
        s->forecast = history_forecast(s->history, w, s->name, s->folder, &err);
    free(s->seconds);
    free(s->task_memory);
    free(s->predicted);
    s->seconds = mem_new(double, w->ntasks);
    s->task_memory = mem_new(double, w->ntasks);
    s->predicted = s->forecast ? mem_new_zero(struct prediction, w->ntasks) : NULL;
    uint32_t known = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct forecast_task f = {0};
        if (s->forecast)
            forecast_task(s->forecast, t, &f);
        bool stated = w->flags[t] & TASK_HAS_WORK;
        known += f.prediction.samples || stated;
        s->seconds[t] = f.prediction.samples ? f.prediction.seconds
                        : stated             ? w->work[t]
                                             : FORECAST_DEFAULT_SECONDS;
        s->task_memory[t] =
            f.prediction.samples && f.prediction.memory > 0 ? f.prediction.memory : w->memory[t];
        if (s->predicted)
            s->predicted[t] = f.prediction;
    }
    s->ahead = run_forecast(&(struct run_forecast_request){.workflow = w,
                                                           .needs = &s->needs,
                                                           .priority = s->priority,
                                                           .seconds = s->seconds,
                                                           .memory = s->task_memory,
                                                           .cores = s->cores,
                                                           .total_memory = s->memory});
    s->ahead.known = known;
}

static void show_json(struct session *s, struct strbuf *out)
{
    struct json_writer j;
    struct strbuf why = {0};
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-dry-run/1");
    json_put_string(&j, "workflow", s->name);
    json_put_integer(&j, "tasks", s->w->ntasks);
    json_put_integer(&j, "run", s->needs.run);
    json_put_integer(&j, "done", s->needs.skip);
    json_put_integer(&j, "cores", s->cores);
    json_put_number(&j, "predicted_seconds", s->ahead.seconds);
    json_put_number(&j, "predicted_memory", s->ahead.memory);
    json_put_number(&j, "predicted_disk", s->ahead.disk);
    json_put_integer(&j, "predicted_tasks", s->ahead.known);
    json_write_key(&j, "would_run");
    json_write_array(&j);
    for (uint32_t i = 0; i < s->w->ntasks; i++) {
        uint32_t t = s->w->topo[i];
        if (s->needs.task[t] == NEED_NOT)
            continue;
        strbuf_clear(&why);
        need_explain(&s->needs, t, &why);
        json_write_object_inline(&j);
        json_put_string(&j, "task", workflow_task_name(s->w, t));
        json_put_string(&j, "why", need_name(s->needs.task[t]));
        json_put_string(&j, "because", why.at);
        json_put_number(&j, "seconds", s->seconds[t]);
        json_put_number(&j, "memory", s->task_memory[t]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
    strbuf_add_char(out, '\n');
    strbuf_free(&why);
}

static void show_ahead(const struct session *s, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
    strbuf_printf(out, "predicted: %s on %u core%s, peak memory %s, peak disk %s",
                  human_seconds(a, s->ahead.seconds), s->cores, s->cores == 1 ? "" : "s",
                  human_bytes(b, s->ahead.memory), human_bytes(c, s->ahead.disk));
    if (s->ahead.known < s->w->ntasks)
        strbuf_printf(out, " (%u task%s without a time stated or seen count as %g s)",
                      s->w->ntasks - s->ahead.known, s->w->ntasks - s->ahead.known == 1 ? "" : "s",
                      FORECAST_DEFAULT_SECONDS);
    strbuf_add_char(out, '\n');
}

int session_show(struct session *s)
{
    struct strbuf out = {0}, why = {0};
    char count[HUMAN_SIZE];
    session_predict(s);
    if (s->json) {
        show_json(s, &out);
    } else if (!s->needs.run) {
        strbuf_printf(&out, "%s: nothing to do: %s task%s up to date\n", s->name,
                      human_count(count, s->w->ntasks), s->w->ntasks == 1 ? " is" : "s are");
    } else {
        struct table *t = table_new();
        table_column(t, "task", TABLE_LEFT);
        table_column(t, "time", TABLE_RIGHT);
        table_column(t, "memory", TABLE_RIGHT);
        table_column(t, "why", TABLE_LEFT);
        uint32_t shown = 0;
        for (uint32_t i = 0; i < s->w->ntasks && shown < SHOWN; i++) {
            uint32_t task = s->w->topo[i];
            if (s->needs.task[task] == NEED_NOT)
                continue;
            strbuf_clear(&why);
            need_explain(&s->needs, task, &why);
            table_row(t);
            table_cell(t, workflow_task_name(s->w, task));
            table_seconds(t, s->seconds[task]);
            table_bytes(t, s->task_memory[task]);
            table_cell(t, why.at);
            shown++;
        }
        table_print(t, &out, &(struct table_style){.colour = cli_colour()});
        table_free(t);
        if (s->needs.run > shown)
            strbuf_printf(&out, "... and %s more (--json lists them all)\n",
                          human_count(count, s->needs.run - shown));
        strbuf_printf(&out, "\n%s: would run %u of %u tasks\n", s->name, s->needs.run,
                      s->w->ntasks);
        show_ahead(s, &out);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    strbuf_free(&why);
    return status;
}

int session_why(struct session *s, const char *task)
{
    uint32_t t = workflow_find_task(s->w, task);
    if (t == NONE) {
        uint32_t object = workflow_find_object(s->w, task); /* a file means its producer */
        t = object != NONE ? s->w->producer[object] : NONE;
    }
    if (t == NONE) {
        struct error err = {0};
        const char **names = mem_new(const char *, s->w->ntasks);
        for (uint32_t i = 0; i < s->w->ntasks; i++)
            names[i] = workflow_task_name(s->w, i);
        const char *near = suggest_nearest(task, names, s->w->ntasks);
        error_set(&err, ERROR_INPUT, "--why: there is no task '%.200s'%s%.200s%s", task,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        free(names);
        return cli_fail(&err);
    }
    struct strbuf out = {0};
    strbuf_printf(&out, "%s ", workflow_task_name(s->w, t));
    need_explain(&s->needs, t, &out);
    strbuf_add_char(&out, '\n');
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* ---- running ---- */

/* Everything that listens to a run. */
struct listeners {
    struct live_display *display;
    struct event_json *json;
    struct run_record record;
    struct trace_sink sinks[4];
    const struct trace_sink *list[4];
    size_t n;
    int told; /* the user knows that it is stopping */
};

static void keep_event(void *context, const struct trace_event *e)
{
    struct run_record *r = context;
    if (e->kind != TRACE_BEGIN)
        array_push(&r->events, *e);
}

static void listen(struct listeners *l, struct trace_sink sink)
{
    l->sinks[l->n] = sink;
    l->list[l->n] = &l->sinks[l->n];
    l->n++;
}

static bool on_tick(void *context, int stopping)
{
    struct listeners *l = context;
    if (stopping && !l->told) {
        l->told = 1;
        live_display_stopping(l->display);
    }
    live_display_tick(l->display);
    if (l->json)
        event_json_flush(l->json);
    return false;
}

static void fill_head(const struct session *s, struct run_record *r)
{
    char host[256] = "localhost", folder[4096];
    gethostname(host, sizeof host - 1);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *r = (struct run_record){
        .name = mem_copy_string(s->name),
        .file = mem_copy_string(s->flow),
        .folder = mem_copy_string(realpath(s->folder, folder) ? folder : s->folder),
        .host = mem_copy_string(host),
        .planner = s->planner ? mem_copy_string(s->planner) : NULL,
        .started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
        .seconds = NAN,
        .cores = s->cores,
        .memory = s->memory,
        .speed = machine_speed(),
        .tasks = s->w->ntasks,
        .predicted_seconds = s->ahead.known ? s->ahead.seconds : NAN,
        .predicted_memory = s->ahead.known ? s->ahead.memory : NAN,
        .predicted_disk = s->ahead.disk,
        .peak_memory = NAN,
        .peak_disk = NAN,
        .workflow = s->w,
        .predicted = s->predicted,
    };
}

static void begin_history(struct session *s, struct listeners *l)
{
    if (!s->history)
        return;
    struct error err = {0};
    struct strbuf text = {0};
    format_find("native")->write_workflow(s->w, &text, NULL, &err);
    l->record.run = history_begin(s->history, &l->record, text.at, text.n, &err);
    strbuf_free(&text);
    if (l->record.run) {
        listen(l, history_sink(s->history));
        return;
    }
    cli_say("this run is not recorded: ", err.text);
    history_close(s->history);
    s->history = NULL;
}

struct moment {
    double when, bytes;
};

static int earlier(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* what ends at once makes room first */
}

/* The largest sum of the peaks of tasks that ran at the same time: what the run may have needed. */
static double peak_memory(const struct run_record *r)
{
    ARRAY(struct moment) m = {0};
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || !(e->memory > 0))
            continue;
        array_push(&m, (struct moment){e->start, e->memory});
        array_push(&m, (struct moment){e->finish, -e->memory});
    }
    if (!m.n)
        return NAN;
    qsort(m.at, m.n, sizeof *m.at, earlier);
    double now = 0, peak = 0;
    for (size_t i = 0; i < m.n; i++) {
        now += m.at[i].bytes;
        peak = now > peak ? now : peak;
    }
    array_free(&m);
    return peak;
}

static void fill_totals(struct run_record *r, const struct run_result *x, bool good)
{
    r->seconds = x->seconds;
    r->ran = x->done;
    r->reused = x->reused;
    r->failed = x->failed;
    r->skipped = x->skipped;
    r->peak_disk = x->peak_disk;
    r->peak_memory = peak_memory(r);
    r->outcome = good ? RECORD_DONE : x->interrupted ? RECORD_CANCELLED : RECORD_FAILED;
}

/* The last lines of a log; the caller frees. NULL: there is none. */
static char *log_tail(const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    char *text = mem_new(char, TAIL_BYTES + 1);
    ssize_t n = pread(fd, text, TAIL_BYTES, from);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *at = text + strlen(text);
    while (at > text && (at[-1] == '\n' || at[-1] == '\r'))
        *--at = 0;
    for (int lines = 0; at > text; at--)
        if (at[-1] == '\n' && ++lines == TAIL_LINES)
            break;
    memmove(text, at, strlen(at) + 1);
    return text;
}

static void summarise(struct session *s, const struct listeners *l, const struct run_result *x,
                      const char *logs)
{
    struct strbuf out = {0};
    size_t n = x->failures.n < SUMMARY_FAILURES ? x->failures.n : SUMMARY_FAILURES;
    struct summary_failure *failures = mem_new_zero(struct summary_failure, n + 1);
    size_t count = 0;
    for (size_t i = 0; i < x->failures.n && count < n; i++) {
        const struct run_failure *f = &x->failures.at[i];
        if (!f->last)
            continue;
        failures[count++] = (struct summary_failure){
            .task = f->task,
            .reason = f->text,
            .log = f->log,
            .tail = log_tail(f->log),
            .limit = f->limit,
        };
    }
    report_summary(&l->record,
                   &(struct summary_options){.colour = cli_colour(),
                                             .columns = cli_columns(),
                                             .outputs = s->folder,
                                             .logs = x->log_bytes > 0 ? logs : NULL,
                                             .flow = s->flow,
                                             .failures = failures,
                                             .nfailures = count},
                   &out);
    for (size_t i = 0; i < x->remarks.n; i++)
        cli_say("note: ", x->remarks.at[i]);
    if (x->orphans)
        fprintf(stderr, "weft: note: %u process%s outlived the task that started %s and %s ended\n",
                x->orphans, x->orphans == 1 ? "" : "es", x->orphans == 1 ? "it" : "them",
                x->orphans == 1 ? "was" : "were");
    cli_print(&out);
    for (size_t i = 0; i < count; i++)
        free((char *)failures[i].tail);
    free(failures);
    strbuf_free(&out);
}

static int nothing_to_do(struct session *s)
{
    char count[HUMAN_SIZE];
    struct strbuf out = {0};
    int status = 0;
    if (s->json) {
        struct event_json *j = event_json_new(stdout, s->w);
        struct run_record r;
        fill_head(s, &r);
        r.predicted = NULL;
        r.seconds = 0;
        r.reused = s->w->ntasks;
        r.outcome = RECORD_DONE;
        event_json_started(j, &r);
        event_json_done(j, &r);
        status = event_json_free(j) ? 0 : ERROR_FAILED;
        r.workflow = NULL;
        record_free(&r);
    } else if (!s->quiet) {
        strbuf_printf(&out, "%s: nothing to do: %s task%s up to date\n", s->name,
                      human_count(count, s->w->ntasks), s->w->ntasks == 1 ? " is" : "s are");
        status = cli_print(&out);
    }
    strbuf_free(&out);
    return status;
}

static void mark(const struct session *s, bool set)
{
    struct strbuf path = {0};
    mark_path(s, &path);
    FILE *f = set ? fopen(path.at, "we") : NULL;
    if (f) {
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
    if (!set)
        unlink(path.at);
    strbuf_free(&path);
}

/* The run that was cut off could not end its tasks and remove their sandboxes. Nobody else runs
 * here: we have the memo. */
static void clear_leftovers(const struct session *s)
{
    struct strbuf path = {0};
    int pid = 0;
    mark_path(s, &path);
    FILE *f = fopen(path.at, "re");
    uint32_t ended = f && fscanf(f, "%d", &pid) == 1 ? children_end_of(pid) : 0;
    if (f)
        fclose(f);
    if (ended && !s->quiet)
        fprintf(stderr, "weft: %u process%s of that run still ran and %s ended\n", ended,
                ended == 1 ? "" : "es", ended == 1 ? "was" : "were");
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/sandbox", s->state);
    tree_remove(path.at);
    strbuf_free(&path);
}

int session_run(struct session *s)
{
    if (arguments_flag(s->a, "resume") && !s->crashed && !s->quiet)
        fprintf(stderr, "weft: no run was cut off here; what is left to do is done\n");
    else if (s->crashed && !s->quiet)
        fprintf(stderr, "weft: the last run here was cut off; going on with %u of %u tasks done\n",
                s->needs.skip, s->w->ntasks);
    if (s->crashed)
        clear_leftovers(s);
    if (!s->needs.run) {
        mark(s, false);
        return nothing_to_do(s);
    }
    session_predict(s);
    forecast_free(s->forecast); /* has said all it knows, and holds hundreds of bytes a kind */
    s->forecast = NULL;
    struct listeners l = {0};
    struct error err = {0};
    fill_head(s, &l.record);
    begin_history(s, &l);
    listen(&l, (struct trace_sink){.event = keep_event, .context = &l.record});
    l.display = live_display_new(&(struct live_display_options){.workflow = s->w,
                                                                .name = s->name,
                                                                .cores = s->cores,
                                                                .memory = s->memory,
                                                                .expected = s->seconds,
                                                                .quiet = s->quiet});
    listen(&l, live_display_sink(l.display));
    if (s->json) {
        l.json = event_json_new(stdout, s->w);
        event_json_started(l.json, &l.record);
        listen(&l, event_json_sink(l.json));
    }
    char label[32];
    struct strbuf logs = {0};
    snprintf(label, sizeof label, "%lld",
             l.record.run ? (long long)l.record.run : (long long)getpid());
    strbuf_printf(&logs, "%s/logs/%s", s->state, label);
    mark(s, true);
    struct run_result result = {0};
    struct run_options o = {.workflow = s->w,
                            .folder = s->folder,
                            .state = s->state,
                            .label = label,
                            .needs = &s->needs,
                            .cores = s->cores,
                            .memory = s->memory,
                            .disk = isfinite(s->disk) ? s->disk : 0,
                            .priority = s->priority,
                            .keep_going = arguments_flag(s->a, "keep-going"),
                            .unlimited = arguments_flag(s->a, "no-limits"),
                            .no_sandbox = arguments_flag(s->a, "no-sandbox"),
                            .retry_first = s->retry_first,
                            .sinks = l.list,
                            .nsinks = l.n,
                            .tick = on_tick,
                            .context = &l};
    s->display = l.display;
    bool good =
        s->execute ? s->execute(s, &o, &result, &err) : signals_run_workflow(&o, &result, &err);
    s->display = NULL;
    fill_totals(&l.record, &result, good && !s->detached);
    if (s->detached)
        l.record.outcome = RECORD_CANCELLED; /* it ends in the record of whoever attaches */
    live_display_hide(l.display);
    live_display_free(l.display);
    mark(s, false);
    struct error late = {0};
    if (l.record.run && !history_end(s->history, &l.record, &late))
        cli_say("the record of this run is not complete: ", late.text);
    int status = good ? 0 : (int)(err.kind == ERROR_NONE ? ERROR_FAILED : err.kind);
    if (l.json) {
        event_json_done(l.json, &l.record);
        if (!event_json_free(l.json))
            status = ERROR_FAILED;
    } else if (!s->detached && (!s->quiet || !good)) {
        summarise(s, &l, &result, logs.at);
    }
    if (!good)
        cli_say("", err.text);
    run_result_free(&result);
    strbuf_free(&logs);
    l.record.workflow = NULL; /* the session's */
    l.record.predicted = NULL;
    record_free(&l.record);
    return status;
}
