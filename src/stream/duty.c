/* One filter and one item: tries, and what becomes of its outputs. */
#include "stream/flow_private.h"

#include "base/clock.h"

#include <stdio.h>

/* A filter that never did anything right is broken, not unlucky: past so many items the stream ends. */
enum { HOPELESS = 10 };

/* Loads and stores, no locked instructions: its worker alone writes. */
void labour_add(struct labour *t, uint64_t items, double seconds)
{
    atomic_store_explicit(&t->items, atomic_load_explicit(&t->items, memory_order_relaxed) + items,
                          memory_order_relaxed);
    atomic_store_explicit(&t->seconds,
                          atomic_load_explicit(&t->seconds, memory_order_relaxed) + seconds,
                          memory_order_relaxed);
}

/* Are all its inputs there? Where one is missing there is nothing to do for this item. */
static bool duty_has_inputs(const struct lineup *l, const struct duty *d, const struct record *r,
                            struct handling *h)
{
    for (uint32_t i = 0; i < d->in.n; i++) {
        const struct berth *s = &r->slots[l->ports.at[d->in.first + i]];
        if (atomic_load_explicit(&s->state, memory_order_relaxed) != SLOT_GIVEN)
            return false;
        h->in[i] = s->chunk;
    }
    return true;
}

static void duty_hopeless(struct flow *f, uint32_t task, const char *why)
{
    if (atomic_fetch_add_explicit(&f->bad[task], 1, memory_order_relaxed) + 1 < HOPELESS ||
        atomic_load_explicit(&f->good[task], memory_order_relaxed))
        return;
    struct error err = {0};
    error_set(&err, ERROR_FAILED,
              "task '%s' has failed for each of its first items (%d), the last time because %s; "
              "the stream is "
              "stopped",
              f->filters.at[task].name, HOPELESS, why);
    flow_fail(f, true, &err);
}

/* A filter that keeps state has a lane for all workers, where any of them may come with the next item. */
static enum filter_verdict duty_elsewhere(struct worker *w, const struct duty *d,
                                          struct handling *h)
{
    struct flow *f = w->flow;
    uint32_t own = f->serial_lane[d - f->lineup.duties.at];
    return troop_run(f->troop, own ? own : w->number, !f->filters.at[d->task].state, d->task, h);
}

/* Tries it until it is done, given up, or all is to end. False: it has no outputs. */
static bool duty_try(struct worker *w, const struct duty *d, struct record *r)
{
    struct flow *f = w->flow;
    const struct filter *filter = &f->filters.at[d->task];
    struct station *s =
        &f->stations[f->first_station[d - f->lineup.duties.at] + (d->serial ? 0 : w->replica)];
    struct handling *h = &w->handling;
    h->item.number = r->number;
    h->item.name = filter->name;
    h->item.nin = d->in.n;
    h->item.nout = d->out.n;
    h->last = f->troop || !d->in.n ? NULL : &f->lineup.last.at[d->last];
    for (uint32_t attempt = 1;; attempt++) {
        h->item.attempt = attempt;
        enum filter_verdict verdict =
            f->troop ? duty_elsewhere(w, d, h) : filter_run(&f->filters, filter, s, h);
        if (verdict == FILTER_DONE)
            return true;
        if (verdict == FILTER_HALTED || flow_halted(f))
            return false;
        if (attempt >= filter->tries) {
            flow_give_up(f, r, d->task, h->why);
            duty_hopeless(f, d->task, h->why);
            return false;
        }
        atomic_fetch_add_explicit(&f->retried, 1, memory_order_relaxed);
        flow_say(f, "item %llu: task '%s': %s; tried again (%u of %u)%s",
                 (unsigned long long)r->number, filter->name, h->why, attempt + 1, filter->tries,
                 filter->state && d->kind == DUTY_STAYS && !f->troop
                     ? "; it keeps state, and begins without what it knew"
                     : "");
    }
}

/* Inputs that went on as outputs are those alone now. */
static void duty_forget_moved(const struct lineup *l, const struct duty *d, struct record *r,
                              struct handling *h)
{
    for (uint32_t i = 0; i < d->in.n; i++)
        if (h->moved[i]) {
            r->slots[l->ports.at[d->in.first + i]].chunk = NULL;
            h->moved[i] = 0;
        }
    h->nmoved = 0;
}

/* An item that was given up, or of which an input is missing, is passed by: its outputs are nothing, and so
 * on to the sink, which still hears of it in its turn. */
void duty_run(struct worker *w, const struct duty *d, struct record *r, double time)
{
    struct flow *f = w->flow;
    const struct lineup *l = &f->lineup;
    struct handling *h = &w->handling;
    bool possible = duty_has_inputs(l, d, r, h) && !r->failed;
    bool made = possible && (d->kind == DUTY_WAITS || duty_try(w, d, r));
    if (made && !atomic_load_explicit(&f->good[d->task], memory_order_relaxed))
        atomic_store_explicit(&f->good[d->task], 1, memory_order_relaxed);
    if (h->nmoved)
        duty_forget_moved(l, d, r, h);
    for (uint32_t i = 0; i < d->out.n; i++) {
        struct berth *s = &r->slots[l->ports.at[d->out.first + i]];
        bool given = made && (d->kind == DUTY_WAITS || h->out[i]);
        s->chunk = given && d->kind != DUTY_WAITS ? h->out[i] : NULL;
        h->out[i] = NULL;
        s->time = time;
        atomic_store_explicit(&s->state, given ? SLOT_GIVEN : SLOT_NOTHING, memory_order_relaxed);
    }
    if (d->done != NONE) {
        r->slots[d->done].time = time;
        atomic_store_explicit(&r->slots[d->done].state, SLOT_GIVEN, memory_order_relaxed);
    }
}

void duty_drop(const struct lineup *l, const struct duty *d, struct record *r)
{
    for (uint32_t i = 0; i < d->drops.n; i++) {
        struct berth *s = &r->slots[l->drops.at[d->drops.first + i]];
        chunk_free(s->chunk);
        s->chunk = NULL;
    }
}
