/* Streams by a plan: every replica of a cluster is a worker that goes through its items, n mod r, and
 * through its cluster's tasks for each in the order of the plan's schedule. That order goes over several
 * items: where a task begins late in its item, those of the next items come before it.
 *
 *     item 0    a b . . c
 *     item 1        a b . . c                the worker:  a0 b0 a1 b1 c0 a2 b2 c1 ...
 *     item 2            a b . . c
 *
 * Time. With a schedule, task and transfer of item n begin at their start in it plus the item's origin,
 * never before: that is what the plan's promise rests on. Filters that wait their time (tasks without a
 * command) are a rehearsal of the plan; for them, times are those of the schedule and of the model, not
 * those at which the system happened to wake a thread: a thread that wakes late sleeps less the next
 * time. Real filters take the time that they take.
 *
 * I1. Records form a ring. A record is the source's while it is not `busy`, then the workers', until
 *     `left` says that all is done; then it waits for its turn to leave.
 * I2. Who gives a slot that another worker reads stores it (release) and then signals under that
 *     worker's lock, so that no news is lost.
 * I3. Results leave in order: who completes an item takes out all that may leave, one thread at a time
 *     (is_leaving), while the others go on. */
#include "stream/flow_private.h"

#include "base/clock.h"
#include "base/cond.h"
#include "model/costs.h"

#include <math.h>
#include <string.h>
#include <sys/prctl.h>

/* ---- records ---- */

/* As many as keep every worker busy: an item on each, one before and one behind it, and what the longest
 * way through the schedule has in work at once. */
static uint32_t posts_window(const struct flow *f)
{
    uint32_t window = 4 * f->lineup.nworkers + 8;
    double latency = f->o.plan ? plan_objective(f->o.plan, "steady_latency") : NAN;
    if (f->lineup.period > 0 && latency > 0)
        window = (uint32_t)fmax(window, fmin(2 * latency / f->lineup.period, 100000));
    return window;
}

/* A place for each pair of workers, where that is no more than some megabytes. */
enum { MOST_COUNTED = 1024 };

static void posts_open_channels(struct flow *f)
{
    uint32_t n = f->lineup.nworkers;
    if (f->o.helpers || !f->lineup.voyages.n || n > MOST_COUNTED)
        return;
    f->nchannels = n * n;
    f->channels = mem_new_zero(struct channel, f->nchannels);
}

struct channel *posts_channel(struct flow *f, const struct voyage *v, const struct record *r)
{
    const struct post *from = &f->lineup.posts.at[v->from_post];
    const struct post *to = &f->lineup.posts.at[v->to_post];
    if (v->object == NONE || f->o.helpers || !f->nchannels)
        return NULL;
    return &f->channels[(from->first + r->number % from->workers) * f->lineup.nworkers + to->first +
                        r->number % to->workers];
}

void posts_open(struct flow *f)
{
    bool travel = false;
    posts_open_channels(f);
    atomic_init(&f->released, f->base);
    f->next_out = f->base;
    f->window = posts_window(f);
    f->ring = mem_new_zero(struct record, f->window);
    struct berth *slots = mem_new_zero(struct berth, (size_t)f->window * f->lineup.nholdings + 1);
    for (uint32_t i = 0; i < f->window; i++)
        f->ring[i].slots = slots + (size_t)i * f->lineup.nholdings;
    for (uint32_t i = 0; i < f->lineup.nworkers;
         i++) { /* of the ring's records, those that it gets */
        uint32_t workers = f->lineup.posts.at[f->workers[i].post].workers;
        f->workers[i].open = mem_new(struct opened, f->window / workers + 2);
    }
    for (size_t i = 0; i < f->lineup.voyages.n; i++)
        travel |= f->lineup.voyages.at[i].waits;
    if (travel)
        f->ferries = ferries_new(f);
}

void posts_free(struct flow *f)
{
    ferries_free(f->ferries);
    for (uint32_t i = 0; f->workers && i < f->lineup.nworkers; i++)
        free(f->workers[i].open);
    for (uint32_t i = 0; f->ring && i < f->window; i++) {
        (free)(f->ring[i].name);
        for (uint32_t h = 0; h < f->lineup.nholdings; h++)
            chunk_free(f->ring[i].slots[h].chunk);
    }
    if (f->ring)
        free(f->ring[0].slots);
    free(f->ring);
}

static void posts_tell(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->news);
    pthread_mutex_unlock(&w->lock);
}

void posts_wake(struct flow *f)
{
    for (uint32_t i = 0; i < f->lineup.nworkers; i++)
        posts_tell(&f->workers[i]);
    pthread_mutex_lock(&f->leaving);
    pthread_cond_broadcast(&f->freed);
    pthread_mutex_unlock(&f->leaving);
    if (f->ferries)
        ferries_wake(f->ferries);
}

/* ---- leaving ---- */

/* I3. */
static void posts_leave(struct flow *f, struct record *last)
{
    pthread_mutex_lock(&f->leaving);
    if (f->o.unordered) {
        flow_leave(f, last, 1, clock_seconds());
        atomic_store_explicit(&last->busy, false, memory_order_release);
    }
    while (!f->o.unordered) {
        struct record *r = &f->ring[f->next_out % f->window];
        if (!atomic_load(&r->busy) || r->number != f->next_out || atomic_load(&r->left))
            break;
        flow_leave(f, r, 1, clock_seconds());
        atomic_store_explicit(&r->busy, false, memory_order_release);
        f->next_out++;
    }
    flow_flush(f);
    pthread_cond_broadcast(&f->freed);
    pthread_mutex_unlock(&f->leaving);
}

/* Whoever does the last thing of an item takes it out. */
static void posts_less(struct flow *f, struct record *r, uint32_t n)
{
    if (n && atomic_fetch_sub(&r->left, n) == n)
        posts_leave(f, r);
}

/* ---- between posts ---- */

void posts_arrive(struct flow *f, const struct voyage *v, struct record *r, struct chunk *chunk,
                  bool nothing, double time)
{
    const struct post *to = &f->lineup.posts.at[v->to_post];
    struct berth *s = &r->slots[v->to];
    struct worker *reader = &f->workers[to->first + r->number % to->workers];
    s->chunk = chunk;
    s->time = time;
    atomic_store_explicit(&s->state, nothing ? SLOT_NOTHING : SLOT_GIVEN, memory_order_release);
    posts_tell(reader);
    posts_less(f, r, 1);
}

/* What others read leaves before it is let go of here. */
static void posts_send(struct flow *f, const struct duty *d, struct record *r, double time)
{
    for (uint32_t i = 0; i < d->leaves.n; i++) {
        const struct voyage *v = &f->lineup.voyages.at[d->leaves.first + i];
        const struct berth *s = &r->slots[v->from];
        bool nothing = atomic_load_explicit(&s->state, memory_order_relaxed) == SLOT_NOTHING;
        struct chunk *chunk = chunk_share(s->chunk);
        struct channel *channel = v->waits || nothing ? NULL : posts_channel(f, v, r);
        if (channel)
            channel_count(channel, chunk ? chunk->size : 0, 0);
        if (v->waits && !nothing)
            ferries_send(f->ferries, v, r, chunk, nothing, time);
        else
            posts_arrive(f, v, r, chunk, nothing, time);
    }
}

/* ---- a worker ---- */

/* So long are inputs waited for that should be there: systems hold a thread up for a fifth of it. */
static const double posts_grace = 0.1;

static bool posts_are_given(const struct record *r, const uint32_t *holdings, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&r->slots[holdings[i]].state, memory_order_acquire) == SLOT_EMPTY)
            return false;
    return true;
}

/* A filter that keeps state sees the items in their order, whatever is there first. */
static bool posts_has_its_turn(const struct worker *w, const struct duty *d, uint32_t open)
{
    for (uint32_t i = 0; d->serial && i < open; i++)
        if (w->open[i].duty <= w->open[open].duty)
            return false;
    return true;
}

static bool posts_is_ready(const struct worker *w, const struct duty *d, const struct record *r)
{
    const uint32_t *ports = w->flow->lineup.ports.at;
    return posts_are_given(r, ports + d->in.first, d->in.n) &&
           posts_are_given(r, ports + d->after.first, d->after.n);
}

/* Of what can be done, that of the oldest item; NULL: nothing can. Who waited for the oldest itself would have
 * one item in work where clusters send to and fro. */
static struct opened *posts_oldest(const struct worker *w)
{
    const struct flow *f = w->flow;
    const struct post *p = &f->lineup.posts.at[w->post];
    for (uint32_t i = 0; i < w->nopen; i++) {
        const struct duty *d = &f->lineup.duties.at[p->duties.first + w->open[i].duty];
        if (posts_has_its_turn(w, d, i) &&
            posts_is_ready(w, d, &f->ring[w->open[i].item % f->window]))
            return &w->open[i];
    }
    return NULL;
}

/* What a worker may do next by the schedule. */
struct posts_choice {
    struct opened *best; /* of what could be done, what begins first; NULL: nothing can */
    double begins;       /* INFINITY: nothing can */
    double
        sooner; /* a rehearsed task that begins before that and waits for inputs; INFINITY: none */
};

/* What waits for inputs is not waited for, or not long: a source that is late can turn the order of two items
 * round on one worker and not on another. */
static struct posts_choice posts_first(const struct worker *w)
{
    const struct flow *f = w->flow;
    const struct post *p = &f->lineup.posts.at[w->post];
    struct posts_choice choice = {NULL, INFINITY, INFINITY};
    for (uint32_t i = 0; i < w->nopen; i++) {
        const struct duty *d = &f->lineup.duties.at[p->duties.first + w->open[i].duty];
        const struct record *r = &f->ring[w->open[i].item % f->window];
        double begins = r->origin + d->start;
        if (begins >= choice.begins || !posts_has_its_turn(w, d, i))
            continue;
        if (posts_is_ready(w, d, r)) {
            choice.best = &w->open[i];
            choice.begins = begins;
        } else if (d->kind == DUTY_WAITS) {
            choice.sooner = fmin(choice.sooner, begins);
        }
    }
    if (choice.sooner >= choice.begins)
        choice.sooner = INFINITY;
    return choice;
}

static void posts_open_items(struct worker *w)
{
    struct flow *f = w->flow;
    for (; atomic_load(&f->released) > w->next; w->next += f->lineup.posts.at[w->post].workers)
        w->open[w->nopen++] = (struct opened){w->next, 0};
}

/* Until there is news for the worker, or this time has come. Under its lock. */
static void posts_await_news(struct worker *w, double until)
{
    if (isfinite(until))
        cond_wait_until(&w->news, &w->lock, until);
    else
        pthread_cond_wait(&w->news, &w->lock);
}

/* What the worker does next: by the schedule, what can be done and begins first there; else what can be done of the
 * oldest item. An item or an input that comes meanwhile may bring something that begins earlier. NULL: nothing is left.
 *
 * In a rehearsal, a thread that the system holds up elsewhere must not turn the order of the schedule round here:
 * a node that is never idle would be late from then on. So what should have begun is waited for a moment, which
 * costs nothing, as times are the model's. */
static struct opened *posts_choose(struct worker *w)
{
    struct flow *f = w->flow;
    struct opened *best = NULL;
    pthread_mutex_lock(&w->lock);
    while (!flow_halted(f)) {
        posts_open_items(w);
        if (!flow_is_scheduled(f) && (best = posts_oldest(w)))
            break;
        struct posts_choice choice = {NULL, INFINITY, INFINITY};
        if (flow_is_scheduled(f))
            choice = posts_first(w);
        double until =
            fmax(choice.begins, isfinite(choice.sooner) ? choice.sooner + posts_grace : 0);
        if (choice.best && until <= clock_seconds()) {
            best = choice.best;
            break;
        }
        if (!w->nopen && atomic_load(&f->total) <= w->next)
            break;
        posts_await_news(w, until);
    }
    pthread_mutex_unlock(&w->lock);
    return best;
}

/* Until these holdings are given or will not be; the latest of their times. */
static double posts_await(struct worker *w, struct record *r, const uint32_t *holdings, uint32_t n)
{
    double latest = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct berth *s = &r->slots[holdings[i]];
        if (atomic_load_explicit(&s->state, memory_order_acquire) == SLOT_EMPTY) {
            pthread_mutex_lock(&w->lock); /* I2 */
            while (atomic_load_explicit(&s->state, memory_order_acquire) == SLOT_EMPTY &&
                   !flow_halted(w->flow))
                pthread_cond_wait(&w->news, &w->lock);
            pthread_mutex_unlock(&w->lock);
        }
        if (flow_halted(w->flow))
            return latest;
        latest = fmax(latest, s->time);
    }
    return latest;
}

/* Its time on this worker's node passes. Returns when it has ended, as schedules count. */
static double posts_let_pass(struct worker *w, const struct duty *d, const struct record *r,
                             double start)
{
    struct flow *f = w->flow;
    const struct post *post = &f->lineup.posts.at[d->post];
    uint32_t node = f->lineup.nodes.at[post->nodes.first + w->replica];
    double end = fmax(start, w->free) + (r->failed ? 0 : costs_time(f->costs, d->task, node));
    flow_sleep_until(f, end);
    return end;
}

/* One task of one item: wait for its inputs and its time, do it, hand on. */
static void posts_do(struct worker *w, uint32_t number, struct record *r)
{
    struct flow *f = w->flow;
    const struct duty *d = &f->lineup.duties.at[number];
    const uint32_t *ports = f->lineup.ports.at;
    double ready = posts_await(w, r, ports + d->in.first, d->in.n);
    ready = fmax(ready, posts_await(w, r, ports + d->after.first, d->after.n));
    ready = fmax(ready, r->origin);
    if (flow_is_scheduled(f))
        ready = fmax(ready, r->origin + d->start);
    flow_sleep_until(f, ready);
    if (flow_halted(f))
        return;
    double began = clock_seconds(), end = began;
    if (d->kind == DUTY_WAITS) {
        began = fmax(ready, w->free);
        end = posts_let_pass(w, d, r, ready);
    }
    duty_run(w, d, r, end);
    if (d->kind != DUTY_WAITS) { /* outputs are as late as they are */
        end = clock_seconds();
        for (uint32_t i = 0; i < d->out.n; i++)
            r->slots[ports[d->out.first + i]].time = end;
    }
    w->free = end;
    labour_add(&w->tallies[number - f->lineup.posts.at[w->post].duties.first], 1, end - began);
    posts_send(f, d, r, end);
    duty_drop(&f->lineup, d, r);
    posts_less(f, r, 1);
}

void *posts_work(void *worker)
{
    struct worker *w = worker;
    struct flow *f = w->flow;
    const struct post *p = &f->lineup.posts.at[w->post];
    prctl(PR_SET_TIMERSLACK, 1); /* nanosecond: sleeps end when they should, not 50 us later */
    w->next = f->base + (w->replica + p->workers - f->base % p->workers) % p->workers;
    for (struct opened *o; (o = posts_choose(w)) && !flow_halted(f);) {
        posts_do(w, p->duties.first + o->duty, &f->ring[o->item % f->window]);
        if (++o->duty == p->duties.n)
            memmove(o, o + 1, (size_t)(w->open + --w->nopen - o) * sizeof *o);
    }
    flow_thread_ends(f);
    return NULL;
}

/* ---- the source ---- */

/* Until the record is free again. */
static bool posts_await_room(struct flow *f, struct record *r)
{
    pthread_mutex_lock(&f->leaving);
    while (atomic_load_explicit(&r->busy, memory_order_acquire) && !flow_halted(f))
        pthread_cond_wait(&f->freed, &f->leaving);
    pthread_mutex_unlock(&f->leaving);
    return !flow_halted(f);
}

/* All at once: from here on any worker may have it. */
static void posts_release(struct flow *f, struct record *r, uint64_t n)
{
    atomic_store(&r->left, (uint32_t)(f->lineup.duties.n + f->lineup.voyages.n));
    atomic_store(&r->busy, true);
    atomic_store(&f->released, n + 1);
    for (size_t p = 0; p < f->lineup.posts.n; p++) {
        const struct post *post = &f->lineup.posts.at[p];
        posts_tell(&f->workers[post->first + n % post->workers]);
    }
}

/* Items one by one, at the pace of the schedule: an item that the source has later shifts those behind
 * it. Inputs are there when the item is. */
void *posts_source(void *flow)
{
    struct flow *f = flow;
    double origin = clock_seconds() + 0.01; /* every worker is at its post by then */
    double period = f->o.flood ? 0 : f->lineup.period;
    uint64_t n = f->base;
    prctl(PR_SET_TIMERSLACK, 1);
    for (; !f->o.items || n < f->o.items; n++) {
        struct record *r = &f->ring[n % f->window];
        if (n >= atomic_load_explicit(&f->pause_at, memory_order_relaxed)) {
            f->paused = true;
            break;
        }
        if (!posts_await_room(f, r))
            break;
        for (uint32_t h = 0; h < f->lineup.nholdings; h++)
            atomic_store_explicit(&r->slots[h].state, SLOT_EMPTY, memory_order_relaxed);
        flow_sleep_until(f, origin);
        if (flow_take(f, true, n, r) != SOURCE_ITEM)
            break;
        double now = clock_seconds();
        /* a wake-up that is late by less than a period is no reason to shift the schedule */
        origin = now > origin + period ? now : origin;
        r->origin = r->entered = period > 0 ? origin : now;
        for (size_t i = 0; i < f->lineup.inputs.n; i++)
            r->slots[f->lineup.inputs.at[i].holding].time = r->origin;
        posts_release(f, r, n);
        origin += period;
    }
    atomic_store(&f->total, n);
    posts_wake(f);
    flow_thread_ends(f);
    return NULL;
}
