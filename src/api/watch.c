/* weft/watch.h: a run that another process has started, as the session's watching sees it.
 *
 * A watch is changed by looks, so it has an account of its own (api.h): memory that runs out in a look leaves a handle that is
 * only good for closing, and no half-read state. What is shown of it is copied into the caller's struct as far as that reaches:
 * a program that was compiled before a field was added gets those that it knows. */
#include "api/inside.h"
#include "api/inside_watch.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Run in the orderly case alone; a broken account is released block by block instead. */
static void watch_tidy(void *watch)
{
    struct weft_watch *w = watch;
    watching_close(&w->model);
}

static struct weft_watch *watch_new(struct weft_error *error)
{
    API_CALL(call, error)
    call.result = mem_new_zero(struct weft_watch, 1);
    return api_result(&call);
}

static bool watch_begin(struct weft_watch *w, int64_t run, struct weft_error *error)
{
    api_account_open(&w->account);
    API_CALL_ON(call, error, &w->account)
    call.good = watching_open(&w->model, run, &call.err);
    return api_end(&call);
}

EXPORT struct weft_watch *weft_watch_open(int64_t run, struct weft_error *error)
{
    struct weft_watch *w = watch_new(error);
    if (!w || watch_begin(w, run, error))
        return w;
    weft_watch_close(w);
    return NULL;
}

EXPORT void weft_watch_close(struct weft_watch *w)
{
    if (!w)
        return;
    api_account_close(&w->account, watch_tidy, w);
    free(w);
}

EXPORT bool weft_watch_look(struct weft_watch *w, bool *changed, struct weft_error *error)
{
    API_CALL_ON(call, error, &w->account)
    {
        bool news = false;
        call.good = watching_look(&w->model, &news, &call.err);
        call.number = news;
    }
    if (changed)
        *changed = call.number != 0;
    return api_end(&call);
}

bool watch_glance(int64_t run, struct glance *out, bool *told, struct weft_error *error)
{
    API_CALL(call, error)
    {
        bool says = false;
        call.good = glance_take(out, run, &says, &call.err);
        call.number = says;
    }
    *told = call.number != 0;
    return api_end(&call);
}

EXPORT void weft_watch_state(const struct weft_watch *watch, struct weft_watch_state *out)
{
    const struct watching *w = &watch->model;
    struct weft_watch_state s = {
        .size = out->size,
        .run = w->head.run,
        .workflow = w->head.name,
        .file = w->head.file,
        .folder = w->head.folder,
        .given = w->head.given,
        .outcome = record_outcome_name(w->head.outcome),
        .started = w->head.started,
        .seconds = w->seconds,
        .expected = w->expected,
        .predicted = w->head.predicted_seconds,
        .cores = w->head.cores,
        .tasks = w->all.tasks,
        .waiting = w->all.state[WATCH_WAITING],
        .running = w->all.state[WATCH_RUNNING],
        .done = w->all.state[WATCH_DONE],
        .failed = w->all.state[WATCH_FAILED],
        .reused = w->all.state[WATCH_REUSED],
        .skipped = w->all.state[WATCH_SKIPPED],
    };
    memcpy(out, &s, out->size < sizeof s ? out->size : sizeof s);
}

EXPORT bool weft_watch_family(const struct weft_watch *watch, uint32_t i,
                              struct weft_watch_family *out)
{
    const struct watching *w = &watch->model;
    if (i >= w->families.at.n)
        return false;
    const struct watch_sum *sum = &w->sums[i];
    struct weft_watch_family f = {
        .size = out->size,
        .name = families_name(&w->families, w->names, i),
        .tasks = sum->tasks,
        .waiting = sum->state[WATCH_WAITING],
        .running = sum->state[WATCH_RUNNING],
        .done = sum->state[WATCH_DONE],
        .failed = sum->state[WATCH_FAILED],
        .reused = sum->state[WATCH_REUSED],
        .skipped = sum->state[WATCH_SKIPPED],
        .seconds = sum->state[WATCH_DONE] ? sum->seconds / sum->state[WATCH_DONE] : NAN,
        .predicted = sum->predicted / sum->tasks,
    };
    memcpy(out, &f, out->size < sizeof f ? out->size : sizeof f);
    return true;
}

/* The attempt that runs, or the last that ended. */
static void watch_attempt(const struct watching *w, uint32_t task, struct weft_watch_task *t)
{
    for (size_t i = 0; w->state[task] == WATCH_RUNNING && i < w->running.n; i++) {
        const struct now_task *now = &w->running.at[i];
        if (now->task == task) {
            t->attempt = now->attempt;
            t->start = now->since;
            t->node = now->node;
            t->core = now->lane;
            return;
        }
    }
    if (!w->last[task])
        return;
    const struct history_attempt *a = &w->attempts.at[w->last[task] - 1];
    t->attempt = a->attempt;
    t->start = a->start;
    t->finish = a->finish;
    t->node = a->node;
    t->core = a->lane;
    t->status = a->status;
    t->cpu = a->cpu;
    t->memory = a->memory;
}

EXPORT bool weft_watch_task(const struct weft_watch *watch, uint32_t task,
                            struct weft_watch_task *out)
{
    const struct watching *w = &watch->model;
    if (task >= w->names->ntasks)
        return false;
    const struct prediction *p = w->head.predicted ? &w->head.predicted[task] : NULL;
    struct weft_watch_task t = {
        .size = out->size,
        .name = workflow_task_name(w->names, task),
        .kind = workflow_text(w->names, w->names->kind[task]),
        .state = watch_state_names[w->state[task]],
        .reason = watching_reason(w, task),
        .start = NAN,
        .finish = NAN,
        .cpu = NAN,
        .memory = NAN,
        .predicted = p ? p->seconds : NAN,
        .low = p ? p->low : NAN,
        .high = p ? p->high : NAN,
    };
    watch_attempt(w, task, &t);
    memcpy(out, &t, out->size < sizeof t ? out->size : sizeof t);
    return true;
}

EXPORT bool weft_watch_running(const struct weft_watch *w, size_t i, uint32_t *task)
{
    if (i >= w->model.running.n)
        return false;
    *task = w->model.running.at[i].task;
    return true;
}

/* Not followed if it is a link: what stands in the folder may be anybody's. */
static char *watch_read(const char *path, uint64_t from, size_t most, uint64_t *end)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    uint64_t size = regular ? (uint64_t)st.st_size : 0;
    if (from > size)
        from = 0; /* it was written anew */
    if (size - from > most)
        from = size - most; /* its end is what people want */
    char *text = regular ? mem_alloc(size - from + 1) : NULL;
    ssize_t n = text ? pread(fd, text, size - from, (off_t)from) : -1;
    close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *end = from + (uint64_t)n;
    return text;
}

EXPORT char *weft_watch_log(const struct weft_watch *w, uint32_t task, uint64_t from, size_t most,
                            uint64_t *end)
{
    *end = 0;
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    if (!weft_watch_task(w, task, &t) || !t.attempt)
        return NULL;
    API_CALL(call, NULL)
    {
        uint64_t at = 0;
        char *path = watching_log(&w->model, task);
        call.result = path ? watch_read(path, from, most, &at) : NULL;
        call.number = (size_t)at;
        free(path);
    }
    *end = call.number;
    return api_result(&call);
}

EXPORT bool weft_watch_cancel(struct weft_watch *w, uint32_t task, struct weft_error *error)
{
    API_CALL_ON(call, error, &w->account)
    call.good = watching_cancel(&w->model, task, &call.err);
    return api_end(&call);
}

EXPORT bool weft_watch_stop(struct weft_watch *w, struct weft_error *error)
{
    API_CALL_ON(call, error, &w->account)
    call.good = watching_stop(&w->model, &call.err);
    return api_end(&call);
}

EXPORT bool weft_history_stamp(struct weft_history *h, uint64_t *stamp, struct weft_error *error)
{
    API_CALL(call, error)
    call.good = history_stamp(h->model, stamp, &call.err);
    return api_end(&call);
}
