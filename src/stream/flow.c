/* Opening a stream, its two ends, its failures, its figures: flow_private.h has the invariants. */
#include "stream/flow_private.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/plural.h"
#include "model/costs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FAILURES = 1000, USUAL_TRIES = 3 };
static const double ending_grace = 10; /* seconds for a filter to end when its items have */

/* ---- stopping and failing ---- */

bool flow_halted(const struct flow *f)
{
    return atomic_load_explicit(&f->stopping, memory_order_relaxed) > 1;
}

/* Safe in a signal handler: an atomic and a write. Waiters look again by themselves, I2. */
void flow_stop(struct flow *f)
{
    int now = atomic_load(&f->stopping);
    while (now < 2 && !atomic_compare_exchange_weak(&f->stopping, &now, now + 1))
        ;
    uint64_t one = 1;
    ssize_t written = write(f->wake, &one, sizeof one);
    (void)written;
}

/* Both ways of running have waiters of their own. */
void flow_wake(struct flow *f)
{
    if (f->carrier)
        carrier_wake(f->carrier);
    else
        posts_wake(f);
}

/* What follows from the first failure (a pipe that breaks because all was stopped) is not the cause. */
void flow_fail(struct flow *f, bool at_once, const struct error *err)
{
    pthread_mutex_lock(&f->lock);
    if (f->error.kind == ERROR_NONE)
        f->error = *err;
    pthread_mutex_unlock(&f->lock);
    flow_stop(f);
    if (at_once)
        flow_stop(f);
}

void flow_say(struct flow *f, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    if (!f->o.remark)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&f->lock);
    f->o.remark(f->o.context, text);
    pthread_mutex_unlock(&f->lock);
}

void flow_give_up(struct flow *f, struct record *r, uint32_t task, const char *why)
{
    r->failed = true;
    pthread_mutex_lock(&f->lock);
    if (f->failures.n < f->failures.cap) { /* room was made when it opened */
        struct flow_failure *x = &f->failures.at[f->failures.n++];
        x->item = r->number;
        x->task = task;
        snprintf(x->why, sizeof x->why, "%s", why);
    }
    pthread_mutex_unlock(&f->lock);
    flow_say(f, "item %llu is given up: task '%s': %s", (unsigned long long)r->number,
             f->filters.at[task].name, why);
}

/* ---- the two ends ---- */

enum source_answer flow_take(struct flow *f, bool wait, uint64_t number, struct record *r)
{
    struct error err = {0};
    struct chunk *chunk;
    if (atomic_load_explicit(&f->stopping, memory_order_relaxed))
        return SOURCE_END;
    enum source_answer answer = source_next(f->source, wait, number, &chunk, &r->name, &err);
    if (answer == SOURCE_ITEM && r->name && !sink_claim(f->sink, r->name, &err)) {
        chunk_free(chunk);
        answer = SOURCE_FAILED;
    }
    if (answer == SOURCE_FAILED)
        flow_fail(f, false, &err);
    if (answer != SOURCE_ITEM)
        return answer;
    r->number = number;
    r->failed = false;
    for (size_t i = 0; i < f->lineup.inputs.n; i++) {
        struct berth *s = &r->slots[f->lineup.inputs.at[i].holding];
        s->chunk = i ? chunk_share(chunk) : chunk; /* the first has what the source had */
        atomic_store_explicit(&s->state, chunk ? SLOT_GIVEN : SLOT_NOTHING, memory_order_relaxed);
    }
    if (!f->lineup.inputs.n)
        chunk_free(chunk);
    atomic_store_explicit(&f->taken, number + 1, memory_order_relaxed);
    return answer;
}

/* One writer at a time: the lock is held. */
static void flow_count(_Atomic uint64_t *counter, uint64_t n)
{
    if (n)
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                              memory_order_relaxed);
}

/* Its results into the sink. *empty: there are none. False: they have not come there. */
static bool flow_put(struct flow *f, struct record *r, bool *empty)
{
    struct error err = {0};
    bool any = !f->lineup.results.n;
    for (size_t i = 0; i < f->lineup.results.n; i++) {
        struct berth *s = &r->slots[f->lineup.results.at[i].holding];
        bool given = atomic_load_explicit(&s->state, memory_order_relaxed) == SLOT_GIVEN;
        any |= given;
        if (given && !s->chunk) /* of a filter that waits: there, and without bytes */
            s->chunk = chunk_new(0);
        f->result[i] = given ? s->chunk : NULL;
    }
    bool put = !flow_halted(f);
    if (put && !sink_put(f->sink, r->number, r->name, f->result, &err)) {
        flow_fail(f, true, &err);
        put = false;
    }
    for (size_t i = 0; i < f->lineup.results.n; i++) {
        struct berth *s = &r->slots[f->lineup.results.at[i].holding];
        chunk_free(s->chunk);
        s->chunk = NULL;
    }
    if (r->name) {
        (free)(r->name);
        r->name = NULL;
    }
    *empty = !any;
    return put;
}

/* Items that came together are counted together: where filters take nanoseconds, figures would take most
 * of the time. Once one cannot be put, none behind it is: those have not left. */
void flow_leave(struct flow *f, struct record *r, uint32_t all, double now)
{
    uint64_t failed = 0, empty = 0;
    uint32_t n = 0;
    for (bool nothing; n < all && flow_put(f, &r[n], &nothing); n++) {
        failed += r[n].failed;
        empty += !r[n].failed && nothing;
    }
    if (!n)
        return;
    flow_count(&f->done, n);
    flow_count(&f->given_up, failed);
    flow_count(&f->empty, empty);
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && r[k].entered == r[i].entered; k++)
            ;
        latencies_add(&f->latencies, now - r[i].entered, k - i);
    }
    departures_add(&f->departures, n, r->entered, now);
}

/* What nobody got has not left. */
void flow_flush(struct flow *f)
{
    struct error err = {0};
    if (sink_flush(f->sink, &err))
        return;
    uint64_t done = atomic_load(&f->done), lost = sink_take_unsent(f->sink);
    atomic_store(&f->done, done - (lost < done ? lost : done));
    flow_fail(f, true, &err);
}

/* In steps, so that a stop is heard (I2). */
void flow_sleep_until(struct flow *f, double time)
{
    for (double now; (now = clock_seconds()) < time && !flow_halted(f);) {
        double until = fmin(time, now + 0.1);
        struct timespec at = cond_time(until);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
}

/* ---- threads ---- */

/* Counted before it runs, so that nobody takes the stream for over in between. */
bool flow_start_thread(struct flow *f, pthread_t *thread, void *(*body)(void *), void *context)
{
    pthread_mutex_lock(&f->lock);
    f->running++;
    pthread_mutex_unlock(&f->lock);
    int reason = pthread_create(thread, NULL, body, context);
    if (reason == 0)
        return true;
    struct error err = {0};
    error_set(&err, ERROR_FAILED, "cannot start a thread: %s; %u workers were wanted",
              strerror(reason), f->lineup.nworkers);
    flow_fail(f, true, &err);
    flow_thread_ends(f);
    return false;
}

void flow_thread_ends(struct flow *f)
{
    pthread_mutex_lock(&f->lock);
    f->running--;
    pthread_cond_broadcast(&f->over);
    pthread_mutex_unlock(&f->lock);
}

/* The caller's thread waits, and ten times a second tells how far it is. */
static void flow_watch(struct flow *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->running) {
        cond_wait_until(&f->over, &f->lock, clock_seconds() + 0.1);
        pthread_mutex_unlock(&f->lock);
        if (atomic_load(&f->stopping))
            flow_wake(f); /* I2: a stop from a signal handler woke nobody */
        if (f->o.tick)
            f->o.tick(f->o.context);
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

/* Those of helpers. */
static void flow_end_lanes(struct flow *f)
{
    struct handling *h = &f->workers[0].handling;
    for (uint32_t i = 0; i < f->nlanes; i++) {
        struct error err = {0};
        if (flow_halted(f) || troop_end_lane(f->troop, i, h))
            continue;
        error_set(&err, ERROR_FAILED, "%s", h->why);
        flow_fail(f, false, &err);
    }
}

/* Filters that stay learn that there is no more, and may have something to say about it. */
void flow_end_stations(struct flow *f)
{
    if (f->troop)
        flow_end_lanes(f);
    for (size_t d = 0; d < f->lineup.duties.n; d++) {
        const struct duty *duty = &f->lineup.duties.at[d];
        const struct filter *filter = &f->filters.at[duty->task];
        uint32_t last = d + 1 < f->lineup.duties.n ? f->first_station[d + 1] : f->nstations;
        for (uint32_t i = f->first_station[d]; i < last; i++) {
            struct handling *h = &f->workers[0].handling;
            struct error err = {0};
            if (flow_halted(f))
                station_kill(&f->stations[i]);
            if (station_close(filter, &f->stations[i], h, ending_grace) || flow_halted(f))
                continue;
            error_set(&err, ERROR_FAILED, "task '%s' %s", filter->name, h->why);
            flow_fail(f, false, &err);
        }
    }
}

/* The source begins last, when all are at their places. */
static void flow_start_all(struct flow *f, pthread_t *source, bool *sourcing, pthread_t *ferries,
                           bool *linking, uint32_t *started)
{
    sigset_t all, before; /* I4 */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool posts = !f->carrier;
    *linking = posts && f->ferries && flow_start_thread(f, ferries, ferries_work, f);
    while (*started < f->lineup.nworkers &&
           flow_start_thread(f, &f->workers[*started].thread, posts ? posts_work : carrier_work,
                             &f->workers[*started]))
        ++*started;
    *sourcing = posts && flow_start_thread(f, source, posts_source, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool flow_run(struct flow *f, struct error *err)
{
    pthread_t source, ferries;
    bool sourcing, linking;
    uint32_t started = 0;
    if (f->began)
        return error_set(err, ERROR_INPUT, "a stream runs once");
    f->began = true;
    f->began_at = clock_seconds();
    flow_start_all(f, &source, &sourcing, &ferries, &linking, &started);
    flow_watch(f);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(f->workers[i].thread, NULL);
    if (sourcing)
        pthread_join(source, NULL);
    if (linking)
        pthread_join(ferries, NULL);
    if (flow_paused(f))
        return true;
    flow_end_stations(f);
    if (f->troop)
        troop_dismiss(f->troop);
    struct error last = {0};
    if (!sink_close(f->sink, &last))
        flow_fail(f, false, &last);
    f->sink = NULL;
    f->is_over = true;
    uint64_t given_up = atomic_load(&f->given_up), done = atomic_load(&f->done);
    uint64_t lost = atomic_load(&f->taken) - done;
    if (f->error.kind == ERROR_NONE && given_up)
        error_set(&f->error, ERROR_FAILED,
                  "%llu of %llu item%s %s given up, the first of them item %llu: task '%s': %s",
                  (unsigned long long)given_up, (unsigned long long)done, plural(done),
                  plural_word(given_up, "was", "were"), (unsigned long long)f->failures.at[0].item,
                  f->filters.at[f->failures.at[0].task].name, f->failures.at[0].why);
    if (f->error.kind == ERROR_NONE && flow_halted(f))
        error_set(&f->error, ERROR_FAILED, "stopped: %llu item%s in work %s lost",
                  (unsigned long long)lost, plural(lost), plural_word(lost, "is", "are"));
    return f->error.kind == ERROR_NONE || error_set(err, f->error.kind, "%s", f->error.text);
}

/* ---- opening ---- */

/* An end that nobody would use, or that is missing, is an error before anything begins. */
static bool flow_open_ends(struct flow *f, struct error *err)
{
    const struct flow_options *o = &f->o;
    const struct workflow *w = o->workflow;
    uint32_t n = (uint32_t)f->lineup.results.n;
    bool clock = o->from && strncmp(o->from, "clock:", 6) == 0;
    if (f->lineup.ninputs && !o->from && !o->give)
        return error_set(err, ERROR_INPUT,
                         "the stream reads '%s', and nothing gives it; say where items come from: "
                         "--from FOLDER, FILE, frames:FILE, clock:N ...",
                         workflow_text(w, w->object_name[f->lineup.inputs.at[0].object]));
    if (!f->lineup.ninputs && (o->give || (o->from && !clock)))
        return error_set(
            err, ERROR_INPUT,
            "no task reads what --from gives: each file that tasks read is made by one; "
            "let the first task read a file that nobody makes");
    if (!o->from && !o->give && !o->items)
        return error_set(
            err, ERROR_INPUT,
            "the stream has no source and would go on for ever; say --items N or --from");
    f->result = mem_new_zero(struct chunk *, n + 1);
    f->result_names = mem_new_zero(const char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        str_id name = w->object_name[f->lineup.results.at[i].object];
        f->result_names[i] = name ? workflow_text(w, name) : "result";
    }
    if (o->to && !n)
        return error_set(
            err, ERROR_INPUT,
            "--to %.200s: the stream has no results, every file is read by a task; let "
            "the last task make one, or leave --to out",
            o->to);
    if (!ends_apart(o->give ? NULL : o->from, o->take ? NULL : o->to, n > 1, err))
        return false;
    f->source = o->give ? source_of_function(o->give, o->give_context, f->wake)
                        : source_open(o->from, &f->filters, f->wake, err);
    f->sink = !f->source ? NULL
              : o->take  ? sink_of_function(o->take, o->take_context, n)
                         : sink_open(o->to, &f->filters, f->result_names, n, &f->stopping, err);
    return f->sink && ends_claim(f->source, f->sink, err);
}

/* A filter with state has one station for all workers, others one for each. */
void flow_open_workers(struct flow *f)
{
    const struct lineup *l = &f->lineup;
    f->workers = mem_new_zero(struct worker, l->nworkers + 1);
    for (uint32_t p = 0; p < l->posts.n; p++)
        for (uint32_t i = 0; i < l->posts.at[p].workers; i++) {
            struct worker *w = &f->workers[l->posts.at[p].first + i];
            *w = (struct worker){
                .flow = f, .number = l->posts.at[p].first + i, .post = p, .replica = i};
            handling_open(&w->handling, l->most_ports, &f->stopping);
            w->tallies = mem_new_zero(struct labour, l->posts.at[p].duties.n + 1);
            pthread_mutex_init(&w->lock, NULL);
            cond_init(&w->news);
        }
    f->first_station = mem_new_zero(uint32_t, l->duties.n + 1);
    for (size_t d = 0; d < l->duties.n; d++) {
        f->first_station[d] = f->nstations;
        f->nstations += l->duties.at[d].serial ? 1 : l->posts.at[l->duties.at[d].post].workers;
    }
    f->stations = mem_new_zero(struct station, f->nstations + 1);
}

static void flow_say_line(void *flow, const char *text)
{
    flow_remark(flow, text);
}

/* A lane for each worker; without a plan, where any worker comes to a filter that keeps state, one for each
 * of those, too. */
static bool flow_open_troop(struct flow *f, struct error *err)
{
    const struct flow_options *o = &f->o;
    if (f->lineup.most_ports > TROOP_PORTS)
        return error_set(err, ERROR_INPUT,
                         "a task has more inputs or outputs than it may have on agents: %u of %d",
                         f->lineup.most_ports, TROOP_PORTS);
    f->nlanes = f->lineup.nworkers;
    f->serial_lane = mem_new_zero(uint32_t, f->lineup.duties.n + 1);
    for (size_t d = 0; d < f->lineup.duties.n && !o->plan; d++)
        if (f->lineup.duties.at[d].serial)
            f->serial_lane[d] = f->nlanes++;
    f->nchannels = o->helpers;
    f->channels = mem_new_zero(struct channel, f->nchannels);
    f->troop = troop_open(&(struct troop_options){.workflow = o->workflow,
                                                  .filters = &f->filters,
                                                  .text = o->helper_text,
                                                  .folder = o->folder,
                                                  .file = o->helper_file,
                                                  .bind = o->helper_bind,
                                                  .key = o->helper_key,
                                                  .hands = o->helpers,
                                                  .lanes = f->nlanes,
                                                  .channels = f->channels,
                                                  .halt = &f->stopping,
                                                  .say = flow_say_line,
                                                  .context = f},
                          err);
    return f->troop;
}

/* In the order in which each needs what the one before it has made; flow_close() takes any part of it. */
static bool flow_fill(struct flow *f, struct error *err)
{
    const struct flow_options *o = &f->o;
    uint32_t threads = o->threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!threads)
        threads = cores > 0 ? (uint32_t)cores : 1;
    if (!lineup_make(&f->lineup, o->workflow, o->plan, threads, err) ||
        !filters_open(&f->filters, o->workflow, o->folder ? o->folder : ".",
                      o->tries ? o->tries : USUAL_TRIES, err))
        return false;
    f->filters.say = flow_say_line;
    f->filters.context = f;
    if (o->plan)
        f->costs = costs_lenient(o->workflow, o->platform);
    if (!flow_open_ends(f, err))
        return false;
    flow_open_workers(f);
    f->good = mem_new_zero(_Atomic uint64_t, o->workflow->ntasks + 1);
    f->bad = mem_new_zero(_Atomic uint64_t, o->workflow->ntasks + 1);
    array_reserve(&f->failures, MOST_FAILURES);
    if (o->plan)
        posts_open(f);
    else
        f->carrier = carrier_new(f);
    return !o->helpers || flow_open_troop(f, err); /* last: it has a thread */
}

struct flow *flow_blank(const struct flow_options *o, struct error *err)
{
    struct flow *f = mem_new_zero(struct flow, 1);
    chunk_stock_hold();
    f->o = *o;
    f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_init(&f->pause_at, UINT64_MAX);
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->leaving, NULL);
    cond_init(&f->over);
    cond_init(&f->freed);
    atomic_init(&f->total, UINT64_MAX);
    if (f->wake >= 0)
        return f;
    error_set(err, ERROR_FAILED, "no descriptor: %s", strerror(errno));
    flow_close(f);
    return NULL;
}

struct flow *flow_open(const struct flow_options *o, struct error *err)
{
    struct flow *f = flow_blank(o, err);
    if (!f || flow_fill(f, err))
        return f;
    flow_close(f);
    return NULL;
}

void flow_close(struct flow *f)
{
    if (!f)
        return;
    struct error ignored = {0};
    troop_close(f->troop);
    free(f->channels);
    free(f->serial_lane);
    free(f->before);
    carrier_free(f->carrier);
    posts_free(f);
    source_close(f->source);
    sink_close(f->sink, &ignored);
    for (uint32_t i = 0; f->workers && i < f->lineup.nworkers; i++) {
        handling_close(&f->workers[i].handling);
        free(f->workers[i].tallies);
        pthread_mutex_destroy(&f->workers[i].lock);
        pthread_cond_destroy(&f->workers[i].news);
    }
    free(f->workers);
    free(f->stations);
    free(f->first_station);
    free(f->good);
    free(f->bad);
    free(f->result);
    free(f->result_names);
    costs_free(f->costs);
    filters_close(&f->filters);
    lineup_free(&f->lineup);
    array_free(&f->failures);
    if (f->wake >= 0)
        close(f->wake);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->leaving);
    pthread_cond_destroy(&f->over);
    pthread_cond_destroy(&f->freed);
    free(f);
    chunk_stock_release();
}

void flow_remark(struct flow *f, const char *text)
{
    flow_say(f, "%s", text);
}

const char *flow_helper_addresses(const struct flow *f)
{
    return f->troop ? troop_addresses(f->troop) : NULL;
}

uint32_t flow_helpers(const struct flow *f)
{
    return f->troop ? troop_living(f->troop) : 0;
}

void flow_helpers_failed(struct flow *f, const struct error *err)
{
    troop_fail(f->troop, err);
    flow_fail(f, true, err);
}

/* ---- figures ---- */

/* Numbers that belong together may be a few items apart: they are read while others write them. */
void flow_figures(const struct flow *f, struct flow_figures *out)
{
    uint64_t done = atomic_load_explicit(&f->done, memory_order_relaxed);
    double latency = latencies_mean(&f->latencies);
    *out = (struct flow_figures){
        .taken = atomic_load_explicit(&f->taken, memory_order_relaxed),
        .done = done,
        .empty = atomic_load_explicit(&f->empty, memory_order_relaxed),
        .given_up = atomic_load_explicit(&f->given_up, memory_order_relaxed),
        .retried = atomic_load_explicit(&f->retried, memory_order_relaxed),
        .seconds = departures_seconds(&f->departures),
        .throughput = departures_throughput(&f->departures, done, latency, flow_is_scheduled(f)),
        .latency_mean = latency,
        .latency_50 = latencies_quantile(&f->latencies, 0.5),
        .latency_95 = latencies_quantile(&f->latencies, 0.95),
        .latency_99 = latencies_quantile(&f->latencies, 0.99),
        .latency_max = atomic_load_explicit(&f->latencies.most, memory_order_relaxed),
    };
}

/* Sums over copies and workers, each of whom writes its own numbers alone. */
void flow_task_now(const struct flow *f, uint32_t task, struct flow_task_figures *out)
{
    const struct lineup *l = &f->lineup;
    *out = (struct flow_task_figures){0};
    for (uint32_t d = 0; d < l->duties.n; d++) {
        const struct duty *duty = &l->duties.at[d];
        const struct post *post = &l->posts.at[duty->post];
        if (duty->task != task)
            continue;
        uint64_t items = 0;
        for (uint32_t i = 0; i < post->workers; i++) {
            const struct labour *t = &f->workers[post->first + i].tallies[d - post->duties.first];
            items += atomic_load_explicit(&t->items, memory_order_relaxed);
            out->seconds += atomic_load_explicit(&t->seconds, memory_order_relaxed);
        }
        out->items += items;
        uint64_t released = atomic_load_explicit(&f->released, memory_order_relaxed) - f->base;
        out->waiting += f->carrier         ? carrier_waiting(f->carrier, d)
                        : released > items ? released - items
                                           : 0;
    }
}

void flow_task(const struct flow *f, uint32_t task, struct flow_task_figures *out)
{
    flow_task_now(f, task, out);
    if (f->before) {
        out->items += f->before[task].items;
        out->seconds += f->before[task].seconds;
    }
}

/* What occupancy is a share of: the time since the first item, or since this flow took over. */
static double flow_span(const struct flow *f)
{
    double last = atomic_load_explicit(&f->departures.last_out, memory_order_relaxed);
    double span = f->base ? last - f->began_at : departures_seconds(&f->departures);
    return fmax(span, 0);
}

/* Both ways of a pair of workers together: two nodes exchange one message at a time. */
static bool flow_pair(const struct flow *f, uint32_t i, struct flow_channel_figures *out)
{
    uint32_t n = f->lineup.nworkers, a = i / n, b = i % n;
    if (a > b)
        return false; /* counted with its other way */
    const struct channel *ways[] = {&f->channels[i], &f->channels[b * n + a]};
    for (int k = 0; k < (a == b ? 1 : 2); k++) {
        out->items += atomic_load_explicit(&ways[k]->items, memory_order_relaxed);
        out->bytes += atomic_load_explicit(&ways[k]->bytes, memory_order_relaxed);
        out->busy += atomic_load_explicit(&ways[k]->seconds, memory_order_relaxed);
    }
    out->from = f->lineup.nodes.at[a];
    out->to = f->lineup.nodes.at[b];
    return out->items;
}

bool flow_channel(const struct flow *f, uint32_t *at, struct flow_channel_figures *out)
{
    double span = flow_span(f);
    for (; *at < f->nchannels; ++*at) {
        *out = (struct flow_channel_figures){.to = *at, .from = UINT32_MAX};
        const struct channel *c = &f->channels[*at];
        bool any = true;
        if (f->troop) {
            out->items = atomic_load_explicit(&c->items, memory_order_relaxed);
            out->bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed);
            out->busy = atomic_load_explicit(&c->seconds, memory_order_relaxed);
        } else {
            any = flow_pair(f, *at, out);
        }
        if (!any)
            continue;
        out->busy = span > 0 ? fmin(1, out->busy / span) : 0;
        ++*at;
        return true;
    }
    return false;
}

/* Busy is time in filters over the time since the first item: waiting for inputs is not work. */
bool flow_worker(const struct flow *f, uint32_t i, struct flow_worker_figures *out)
{
    if (i >= f->lineup.nworkers)
        return false;
    const struct worker *w = &f->workers[i];
    const struct post *post = &f->lineup.posts.at[w->post];
    double busy = 0;
    *out = (struct flow_worker_figures){
        .cluster = w->post,
        .replica = w->replica,
        .node = f->lineup.nodes.at[post->nodes.first + w->replica],
    };
    for (uint32_t d = 0; d < post->duties.n; d++) {
        uint64_t items = atomic_load_explicit(&w->tallies[d].items, memory_order_relaxed);
        busy += atomic_load_explicit(&w->tallies[d].seconds, memory_order_relaxed);
        out->items = items > out->items ? items : out->items;
    }
    double seconds = flow_span(f);
    out->busy = seconds > 0 ? fmin(1, busy / seconds) : 0;
    return true;
}

bool flow_failure(const struct flow *f, size_t i, struct flow_failure *out)
{
    if (i >= f->failures.n)
        return false;
    *out = f->failures.at[i];
    return true;
}
