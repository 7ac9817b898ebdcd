/* A scheduler in real time: see the picture in driver.h.
 *
 * I1. sched_handle() is called in one place, driver_advance(), and its actions are carried out and
 *     cleared before it is called again: `out` is empty whenever control is outside of it.
 * I2. Functions of the table do not come back in (`advancing`), so carrying out may walk `out` in
 *     place.
 * I3. A batch of ended tasks is taken out of `ended` before anybody sees it: handling starts tasks,
 *     and some of those end at once. The two arrays change places and keep their room, so in the
 *     long run nothing is allocated.
 * I4. Operations go to the store before tasks start: a claim is on its way when its task runs.
 * I5. The waker, while timers wait, is set to the first of them after driver_fire_timers(). It is
 *     the owner's part to call that in every turn in which driver_timers_waiting(). */
#include "drive/driver.h"

#include "base/array.h"
#include "base/clock.h"

#include <assert.h>
#include <math.h>

struct driver {
    const struct driver_ops *ops;
    void *context;
    double began; /* clock_seconds() */

    struct store *store; /* owned; NULL: not attached yet */
    bool prompt;         /* the store answers at once, and is not watched */
    bool in_trouble;     /* it said so, and has not been retried since */
    struct sched *sched; /* owned; NULL: not scheduling yet */
    struct sched_actions out;
    bool advancing;                           /* for I2 */
    ARRAY(struct sched_ended) ended, handled; /* handled: the batch before, kept for its room */
    double worked, last_end;
    ARRAY(struct sched_timer) timers; /* few: retries, steals, looks at queues. Not sorted */

    uv_timer_t waker;
    uv_poll_t store_ready;
    uint32_t handles; /* that are open */
    void (*closed)(void *context);
    void *closed_context;
};

double driver_now(const struct driver *d)
{
    return clock_seconds() - d->began;
}

double driver_last_end(const struct driver *d)
{
    return d->last_end;
}

double driver_began(const struct driver *d)
{
    return d->began;
}

void driver_set_began(struct driver *d, double began)
{
    d->began = began;
}

const struct sched *driver_sched(const struct driver *d)
{
    return d->sched;
}

struct store *driver_store(const struct driver *d)
{
    return d->store;
}

/* ---- actions ---- */

/* In this order: notes, since a failure may keep the starts from being carried out; stops before
 * starts, since what is stopped may hold the lane; operations before starts (I4); starts last,
 * since they take longest and some end at once. */
static void driver_carry_out(struct driver *d)
{
    struct sched_actions *out = &d->out;
    if (out->notes.n)
        d->ops->note(d->context, out->notes.at, out->notes.n);
    for (size_t i = 0; i < out->timers.n; i++)
        array_push(&d->timers, out->timers.at[i]);
    if (out->stops.n)
        d->ops->stop(d->context, out->stops.at, out->stops.n);
    if (out->ops.n)
        store_submit(d->store, out->ops.at, out->ops.n);
    for (size_t i = 0; i < out->sends.n; i++) {
        const struct sched_message *m = &out->sends.at[i];
        d->ops->send(d->context, m, m->count ? out->items.at + m->first : NULL);
    }
    if (out->parts.n && d->ops->parts)
        d->ops->parts(d->context, out->parts.at, out->parts.n);
    if (out->looks.n && d->ops->look)
        d->ops->look(d->context, out->looks.at, out->looks.n);
    if (out->starts.n)
        d->ops->start(d->context, out->starts.at, out->starts.n);
    sched_actions_clear(out);
}

/* One event in, all its actions out (I1). */
static void driver_advance(struct driver *d, const struct sched_event *e)
{
    assert(!d->advancing);
    d->advancing = true;
    sched_handle(d->sched, e, &d->out);
    driver_carry_out(d);
    d->advancing = false;
}

/* Hand over what the store has answered. `now`: when, for the scheduler. The clock is not read again
 * for every round: that costs a tenth of a short call. */
static void driver_poll_at(struct driver *d, double now)
{
    for (;;) {
        struct sched_event e = {.kind = SCHED_EVENT_STORE};
        struct error err; /* cleared by hand: this is called for every batch */
        error_clear(&err);
        if (!store_poll(d->store, &e.store, &err)) {
            bool known = d->in_trouble;
            d->in_trouble = true;
            if (!known)
                d->ops->store_trouble(d->context, &err);
            return;
        }
        if (!e.store.n)
            return;
        if (d->ops->answers)
            d->ops->answers(d->context, &e.store);
        if (d->sched) {
            e.now = now;
            driver_advance(d, &e);
        }
    }
}

void driver_poll_store(struct driver *d)
{
    driver_poll_at(d, driver_now(d));
}

/* With a prompt store the answers follow at once, and what they lead to, until there are none: a
 * chain of joints runs to its end in one call, by iteration. */
void driver_handle(struct driver *d, struct sched_event *e)
{
    if (!d->sched)
        return;
    e->now = driver_now(d);
    driver_advance(d, e);
    if (d->prompt)
        driver_poll_at(d, e->now);
}

void driver_schedule(struct driver *d, const struct sched_config *config)
{
    d->sched = sched_new(config);
}

void driver_grow(struct driver *d, const struct sched_config *config)
{
    assert(!d->advancing);
    d->store->ops->grow(d->store);
    if (d->sched)
        sched_grow(d->sched, config);
}

/* ---- the store ---- */

/* The answers' arrays are the store's, valid until the next poll: so each batch is handled before
 * the next is asked for. */

/* The store's descriptor is readable; a broken connection shows in the poll. */
static void driver_on_store(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    driver_poll_store(poll->data);
}

void driver_attach_store(struct driver *d, struct store *store)
{
    int fd = store_fd(store);
    d->store = store;
    d->prompt |= fd < 0;
    if (d->prompt)
        return;
    uv_poll_init(d->waker.loop, &d->store_ready, fd);
    d->store_ready.data = d;
    uv_poll_start(&d->store_ready, UV_READABLE, driver_on_store);
    d->handles++;
}

void driver_submit(struct driver *d, const struct meta_op *ops, size_t n)
{
    if (n)
        store_submit(d->store, ops, n);
}

bool driver_retry_store(struct driver *d)
{
    struct error err = {0}; /* it was reported when the trouble began */
    if (!d->in_trouble || !store_retry(d->store, &err))
        return false;
    d->in_trouble = false;
    return true;
}

/* ---- ended tasks ---- */

void driver_ended(struct driver *d, const struct sched_ended *e)
{
    d->worked += e->finish - e->start;
    d->last_end = e->finish;
    array_push(&d->ended, *e);
}

size_t driver_ended_waiting(const struct driver *d)
{
    return d->ended.n;
}

double driver_worked(const struct driver *d)
{
    return d->worked;
}

void driver_handle_ended(struct driver *d)
{
    __typeof__(d->ended) batch = d->ended; /* I3 */
    d->ended = d->handled;
    d->ended.n = 0;
    d->handled = batch;
    size_t n = d->ops->ended ? d->ops->ended(d->context, batch.at, batch.n) : batch.n;
    if (n)
        driver_handle(d, &(struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {batch.at, n}});
}

/* ---- timers ---- */

static void driver_on_waker(uv_timer_t *timer)
{
    (void)timer; /* waking up is all it is for: due timers are fired in every turn */
}

/* O(timers) a call. Firing one may add others, which this walk reaches too; one that is taken out
 * is replaced by the last, which is looked at next. The clock is read again after each, since
 * firing takes time and the waker must not be set for the past. */
void driver_fire_timers(struct driver *d)
{
    if (!d->timers.n)
        return;
    double now = driver_now(d), next = INFINITY;
    for (size_t i = 0; i < d->timers.n;) {
        struct sched_timer t = d->timers.at[i];
        if (t.when > now) {
            next = t.when < next ? t.when : next;
            i++;
            continue;
        }
        d->timers.at[i] = array_pop(&d->timers);
        driver_handle(d, &(struct sched_event){.kind = SCHED_EVENT_TIMER,
                                               .timer = {.kind = t.kind, .mark = t.mark}});
        now = driver_now(d);
    }
    if (isfinite(next)) /* it may have become due while others were fired; libuv counts in ms */
        uv_timer_start(&d->waker, driver_on_waker, (uint64_t)(fmax(next - now, 0) * 1000) + 1, 0);
}

size_t driver_timers_waiting(const struct driver *d)
{
    return d->timers.n;
}

/* ---- from beginning to end ---- */

struct driver *driver_new(const struct driver_config *config)
{
    struct driver *d = mem_new_zero(struct driver, 1);
    d->ops = config->ops;
    d->context = config->context;
    d->began = config->began;
    d->prompt = config->prompt_store;
    uv_timer_init(config->loop, &d->waker);
    d->waker.data = d;
    d->handles = 1;
    return d;
}

/* libuv has let go of a handle; the last one tells the owner, who may free the driver
 * from there. */
static void driver_handle_closed(uv_handle_t *handle)
{
    struct driver *d = handle->data;
    if (--d->handles == 0)
        d->closed(d->closed_context);
}

void driver_close(struct driver *d, void (*closed)(void *context), void *context)
{
    d->closed = closed;
    d->closed_context = context;
    if (d->store && !d->prompt)
        uv_close((uv_handle_t *)&d->store_ready, driver_handle_closed);
    uv_close((uv_handle_t *)&d->waker, driver_handle_closed);
}

/* The scheduler first: the store may block while it writes its last operations. */
bool driver_free(struct driver *d, struct error *err)
{
    if (!d)
        return true;
    sched_free(d->sched);
    sched_actions_free(&d->out);
    bool good = !d->store || store_close(d->store, err);
    array_free(&d->ended);
    array_free(&d->handled);
    array_free(&d->timers);
    free(d);
    return good;
}
