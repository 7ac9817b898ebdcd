/* The server of IC-scheduling in virtual time (the model of Malewicz, Foster, Rosenberg and Wilde
 * 2007): batches of clients ask for work, and get eligible tasks in a given order until there are
 * none.
 *
 * One event a task and one a batch; O((tasks + edges + batches) log tasks). The engine's own random
 * numbers are the arrivals; each task draws from a stream of its own (model/clients.h), so that one
 * seed gives one run, and every order the same clients and times. */
#include "sim/order.h"
#include "base/mem.h"
#include "base/plural.h"
#include "sim/engine.h"

enum order_event { EVENT_ENDS, EVENT_TIMES_OUT };

void order_options_init(struct order_options *o)
{
    *o = (struct order_options){
        .seed = 1,
        .interarrival = 1,
        .batch = 16,
        .run_time = 1,
        .deviation = 0.1,
        .slow_factor = 10,
        .timeout = 10,
    };
}

void order_options_for(struct order_options *o, const struct clients *c, const struct workflow *w)
{
    order_options_init(o);
    o->run_time = clients_have_work(w) ? 0 : 1;
    o->deviation = c->deviation;
    o->batch = c->count;
    o->fixed_batch = c->kind != CLIENTS_POISSON;
    if (c->kind == CLIENTS_WORKERS)
        o->workers = (uint32_t)c->count;
    else
        o->interarrival = c->interval;
    o->arrivals = c->kind == CLIENTS_BATCHES ? ARRIVALS_FIXED : ARRIVALS_EXPONENTIAL;
}

/* Also that the order names every task once, or tasks would be lost without a word. */
static bool order_check_options(const struct workflow *w, const struct order_options *o,
                                struct error *err)
{
    if (!isfinite(o->interarrival) || o->interarrival <= 0)
        return error_set(err, ERROR_INPUT,
                         "the mean time between batches is %g; it must be more than 0",
                         o->interarrival);
    if (!isfinite(o->batch) || o->batch <= 0 || o->batch > 1e12)
        return error_set(err, ERROR_INPUT, "the mean batch size is %g; it must be more than 0",
                         o->batch);
    if (!isfinite(o->run_time) || o->run_time < 0)
        return error_set(err, ERROR_INPUT, "the mean run time is %g; it must be 0 or more",
                         o->run_time);
    if (!isfinite(o->deviation) || o->deviation < 0)
        return error_set(err, ERROR_INPUT, "the deviation of run times is %g; it must be 0 or more",
                         o->deviation);
    if (!(o->slow_share >= 0 && o->slow_share <= 1) || !(o->vanish_share >= 0))
        return error_set(err, ERROR_INPUT, "a share of clients must lie between 0 and 1");
    if (!(o->vanish_share < 1))
        return error_set(err, ERROR_INPUT,
                         "all clients vanish (share %g): nothing would ever be done",
                         o->vanish_share);
    if (!isfinite(o->slow_factor) || o->slow_factor < 1)
        return error_set(err, ERROR_INPUT, "slow clients take %g times as long; expected 1 or more",
                         o->slow_factor);
    if (o->vanish_share > 0 && (!isfinite(o->timeout) || o->timeout <= 0))
        return error_set(err, ERROR_INPUT, "the timeout is %g; it must be more than 0", o->timeout);
    if (o->order) {
        uint8_t *seen = mem_new_zero(uint8_t, w->ntasks);
        bool good = true;
        for (uint32_t i = 0; i < w->ntasks && good; i++) {
            if (o->order[i] >= w->ntasks)
                good = error_set(err, ERROR_INPUT,
                                 "the plan does not belong to this workflow: its order names task "
                                 "number %u of %u",
                                 o->order[i], w->ntasks);
            else if (seen[o->order[i]]++)
                good = error_set(err, ERROR_INPUT, "the order names task '%s' twice",
                                 workflow_task_name(w, o->order[i]));
        }
        free(seen);
        return good;
    }
    return true;
}

struct order_server {
    const struct workflow *w;
    const struct order_options *o;
    struct engine engine;
    struct queue eligible; /* by place in the order, or by the moment of becoming eligible */
    double *rank;          /* NULL: first in, first out */
    uint32_t *missing;     /* predecessors that are not done */
    uint32_t *attempts;    /* of tasks whose client vanished; NULL: none can */
    uint64_t serial;
    double busy, eligible_seen; /* seconds of workers; sum over batches or workers that asked */
    struct order_result *out;
};

/* Ties, and everything under FIFO, go by the moment of becoming eligible. */
static void make_eligible(struct order_server *s, uint32_t task)
{
    queue_push(&s->eligible, s->rank ? s->rank[task] : 0, s->serial++, task);
}

/* A client answered, or is given up: then its task is eligible again. */
static void order_handle_event(struct order_server *s, struct event e)
{
    uint32_t task = (uint32_t)e.payload;
    const struct workflow *w = s->w;
    if (e.kind == EVENT_TIMES_OUT) {
        make_eligible(s, task);
        return;
    }
    for (uint32_t k = w->succ_off[task]; k < w->succ_off[task + 1]; k++)
        if (--s->missing[w->succ_task[k]] == 0)
            make_eligible(s, w->succ_task[k]);
}

/* All three have the same mean. */
static double time_to_next_batch(struct order_server *s)
{
    double mean = s->o->interarrival;
    switch (s->o->arrivals) {
    case ARRIVALS_FIXED:
        return mean;
    case ARRIVALS_UNIFORM:
        return rng_uniform(&s->engine.rng, 0, 2 * mean);
    case ARRIVALS_EXPONENTIAL:
        break;
    }
    return rng_exponential(&s->engine.rng, mean);
}

/* Give a task to a client. */
static void order_assign(struct order_server *s, uint32_t task)
{
    const struct order_options *o = s->o;
    struct rng own, *rng = &own;
    double now = s->engine.now;
    double mean = o->run_time > 0 ? o->run_time : s->w->work[task];
    clients_task_rng(rng, o->seed, task, s->attempts ? s->attempts[task]++ : 0);
    double time = clients_task_time(rng, mean, o->deviation);
    if (o->slow_share > 0 && rng_unit(rng) < o->slow_share)
        time *= o->slow_factor;
    bool vanishes = o->vanish_share > 0 && rng_unit(rng) < o->vanish_share;
    s->out->assignments++;
    double end = now + (vanishes ? o->timeout : time);
    s->busy += end - now;
    if (vanishes)
        s->out->vanished++;
    else if (end > s->out->makespan)
        s->out->makespan = end;
    engine_at(&s->engine, end, vanishes ? EVENT_TIMES_OUT : EVENT_ENDS, task);
    if (o->trace) {
        struct trace_event e = {
            .kind = TRACE_TASK, .id = task, .start = now, .finish = end, .outcome = vanishes};
        o->trace->event(o->trace->context, &e);
    }
}

/* Batch after batch until every task is with a client that will answer. `most_batches` guards
 * against parameters under which that takes for ever. */
static bool order_serve_batch(struct order_server *s, struct error *err)
{
    struct order_result *out = s->out;
    struct engine *e = &s->engine;
    uint64_t most = s->o->most_batches ? s->o->most_batches : (uint64_t)1 << 40;
    uint32_t left = s->w->ntasks; /* not given to a client that will answer */
    double now = 0;
    while (left) {
        if (out->batches == most)
            return error_set(err, ERROR_FAILED, "%u of %u task%s left after %llu batches", left,
                             s->w->ntasks, plural(s->w->ntasks), (unsigned long long)most);
        now += time_to_next_batch(s);
        while (engine_next(e) <= now)
            order_handle_event(s, engine_take(e));
        e->now = now;
        /* at least one request: an empty batch would not be one */
        double size = s->o->fixed_batch ? s->o->batch : rng_exponential(&e->rng, s->o->batch);
        uint64_t k = size > 1 ? (uint64_t)ceil(size) : 1;
        out->batches++;
        out->requests += k;
        s->eligible_seen += (double)s->eligible.n;
        if (!s->eligible.n)
            out->stalled_batches++;
        while (k && s->eligible.n) {
            uint64_t vanished = out->vanished;
            order_assign(s, (uint32_t)queue_pop(&s->eligible).value);
            k--;
            left -= out->vanished == vanished;
        }
        out->stalled_requests += k;
    }
    out->eligible_mean = out->batches ? s->eligible_seen / (double)out->batches : 0;
    out->events = e->events + out->batches;
    return true;
}

/* Workers that stay. All that ends in one instant ends before anybody asks again: who asks first
 * must not depend on the order in which events were put in. A vanished worker is back when its task
 * is given up. */
static void order_serve_workers(struct order_server *s)
{
    struct order_result *out = s->out;
    struct engine *e = &s->engine;
    uint32_t idle = s->o->workers;
    for (;;) {
        for (; idle && s->eligible.n; idle--) {
            s->eligible_seen += (double)s->eligible.n;
            order_assign(s, (uint32_t)queue_pop(&s->eligible).value);
        }
        double now = engine_next(e);
        if (!isfinite(now))
            break;
        for (; engine_next(e) <= now; idle++)
            order_handle_event(s, engine_take(e));
    }
    out->requests = out->assignments; /* each is met in the end */
    out->eligible_mean = out->assignments ? s->eligible_seen / (double)out->assignments : 0;
    out->events = e->events;
    if (out->makespan > 0)
        out->utilization = s->busy / (out->makespan * s->o->workers);
}

bool order_run(const struct workflow *w, const struct order_options *o, struct order_result *out,
               struct error *err)
{
    *out = (struct order_result){0};
    if (!order_check_options(w, o, err))
        return false;
    struct order_server s = {.w = w, .o = o, .out = out};
    engine_init(&s.engine, o->seed);
    if (o->order) {
        s.rank = mem_new(double, w->ntasks);
        for (uint32_t i = 0; i < w->ntasks; i++)
            s.rank[o->order[i]] = i;
    }
    s.missing = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        s.missing[t] = w->pred_off[t + 1] - w->pred_off[t];
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!s.missing[t])
            make_eligible(&s, t);
    if (o->vanish_share > 0)
        s.attempts = mem_new_zero(uint32_t, w->ntasks);
    bool good = true;
    if (o->workers)
        order_serve_workers(&s);
    else
        good = order_serve_batch(&s, err);
    if (out->batches) {
        out->stall_probability = (double)out->stalled_batches / (double)out->batches;
        out->unfilled = (double)out->stalled_requests / (double)out->requests;
        out->utilization = (double)(out->requests - out->stalled_requests) / (double)out->requests;
    }
    engine_free(&s.engine);
    queue_free(&s.eligible);
    free(s.rank);
    free(s.missing);
    free(s.attempts);
    return good;
}
