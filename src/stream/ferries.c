/* Transfers that take their time, for plans that are rehearsed: latency + size / bandwidth each, at most
 * `ports` at once on a node, one at a time between two nodes, as the model has it (docs/streams.md).
 *
 * One thread has all of them. A transfer waits until its data is there, its start in the schedule has
 * come, and both nodes and the link between them are free; the earliest goes first, without a schedule
 * the oldest item. It then takes
 * from the moment at which it could begin, not from the one at which the thread woke, so that late
 * wake-ups do not add up.
 *
 * I1. `lock` guards everything here. Arrivals are told without it. */
#include "stream/flow_private.h"

#include "base/clock.h"
#include "base/cond.h"
#include "model/stream.h"

#include <math.h>
#include <sys/prctl.h>
#include <time.h>

struct traveller {
    const struct voyage *v;
    struct record *r;
    struct chunk *chunk;
    bool nothing, going;
    double start;      /* not before; while it goes: when it arrives */
    double took;       /* while it goes */
    uint32_t from, to; /* workers */
};

/* What one worker's node has going on. */
struct harbour {
    uint32_t ports, busy; /* ports 0: any number */
    double freed; /* when a port was last given back where all were in use: some may have waited */
};

struct ferries {
    struct flow *f;
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct traveller *at; /* by start, those that go anywhere between; plain memory */
    size_t n, room;
    struct harbour *harbours; /* by worker */
};

/* Ports as the plan says, where it says; else each node has its own. */
struct ferries *ferries_new(struct flow *f)
{
    struct ferries *l = mem_new_zero(struct ferries, 1);
    const struct lineup *lineup = &f->lineup;
    l->f = f;
    pthread_mutex_init(&l->lock, NULL);
    cond_init(&l->news);
    l->harbours = mem_new_zero(struct harbour, lineup->nworkers + 1);
    for (size_t p = 0; p < lineup->posts.n; p++)
        for (uint32_t i = 0; i < lineup->posts.at[p].workers; i++) {
            uint32_t node = lineup->nodes.at[lineup->posts.at[p].nodes.first + i];
            l->harbours[lineup->posts.at[p].first + i].ports =
                f->o.plan->ports ? f->o.plan->ports : platform_ports(f->o.platform, node);
        }
    /* all that can be under way at once: nothing needs to grow while it runs */
    l->room = (size_t)f->window * lineup->voyages.n + 1;
    l->at = mem_new_zero(struct traveller, l->room);
    return l;
}

void ferries_free(struct ferries *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        chunk_free(l->at[i].chunk);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->news);
    free(l->harbours);
    free(l->at);
    free(l);
}

void ferries_wake(struct ferries *l)
{
    pthread_mutex_lock(&l->lock);
    pthread_cond_signal(&l->news);
    pthread_mutex_unlock(&l->lock);
}

void ferries_send(struct ferries *l, const struct voyage *v, struct record *r, struct chunk *chunk,
                  bool nothing, double time)
{
    struct flow *f = l->f;
    const struct post *from = &f->lineup.posts.at[v->from_post];
    const struct post *to = &f->lineup.posts.at[v->to_post];
    struct traveller t = {
        .v = v,
        .r = r,
        .chunk = chunk,
        .nothing = nothing,
        .start = flow_is_scheduled(f) ? fmax(time, r->origin + v->start) : time,
        .from = from->first + (uint32_t)(r->number % from->workers),
        .to = to->first + (uint32_t)(r->number % to->workers),
    };
    pthread_mutex_lock(&l->lock);
    l->at[l->n++] = t;
    pthread_cond_signal(&l->news);
    pthread_mutex_unlock(&l->lock);
}

/* Between the two nodes that have this item. */
static double ferries_seconds(const struct ferries *l, const struct traveller *t)
{
    const struct flow *f = l->f;
    const struct post *from = &f->lineup.posts.at[t->v->from_post];
    const struct post *to = &f->lineup.posts.at[t->v->to_post];
    return platform_transfer(f->o.platform,
                             f->lineup.nodes.at[from->nodes.first + t->r->number % from->workers],
                             f->lineup.nodes.at[to->nodes.first + t->r->number % to->workers],
                             f->lineup.w->size[t->v->object]);
}

static bool ferries_share_link(const struct traveller *x, const struct traveller *y)
{
    return (x->from == y->from && x->to == y->to) || (x->from == y->to && x->to == y->from);
}

/* Linear in what travels: that is bounded by the window, and a rehearsal has milliseconds. */
static bool ferries_is_free(const struct ferries *l, const struct traveller *t)
{
    const struct harbour *a = &l->harbours[t->from], *b = &l->harbours[t->to];
    if ((a->ports && a->busy >= a->ports) || (b->ports && b->busy >= b->ports))
        return false;
    if (!a->busy || !b->busy)
        return true;
    for (size_t i = 0; i < l->n; i++) {
        const struct traveller *x = &l->at[i];
        if (x->going && ferries_share_link(x, t))
            return false;
    }
    return true;
}

/* By the schedule the earlier, which a late wake-up must not turn round; else the older item. */
static bool ferries_goes_before(const struct flow *f, const struct traveller *t,
                                const struct traveller *other)
{
    if (flow_is_scheduled(f) && t->start != other->start)
        return t->start < other->start;
    if (t->r->number != other->r->number)
        return t->r->number < other->r->number;
    return t->start < other->start;
}

/* Which of those that could begin by now goes first. NULL: none. */
static struct traveller *ferries_first(struct ferries *l, double now)
{
    struct traveller *best = NULL;
    for (size_t i = 0; i < l->n; i++) {
        struct traveller *t = &l->at[i];
        if (!t->going && t->start <= now && (!best || ferries_goes_before(l->f, t, best)) &&
            ferries_is_free(l, t))
            best = t;
    }
    return best;
}

/* Where all ports were in use until after its start, that was what it waited for. */
static void ferries_begin(struct ferries *l, struct traveller *t)
{
    struct harbour *a = &l->harbours[t->from], *b = &l->harbours[t->to];
    double from = fmax(t->start, fmax(a->freed, b->freed));
    t->took = ferries_seconds(l, t);
    t->start = from + t->took;
    t->going = true;
    a->busy++;
    b->busy++;
}

/* No port is in use past its limit, so equal is all of them. */
static void harbour_give_back(struct harbour *h, double time)
{
    if (h->ports && h->busy == h->ports)
        h->freed = fmax(h->freed, time);
    h->busy--;
}

/* Those that waited for the link begin when it is free. */
static void ferries_free_link(struct ferries *l, const struct traveller *gone)
{
    for (size_t i = 0; i < l->n; i++) {
        struct traveller *x = &l->at[i];
        if (!x->going && ferries_share_link(x, gone))
            x->start = fmax(x->start, gone->start);
    }
}

/* Takes out one that has arrived by now, the earliest. */
static bool ferries_arrived(struct ferries *l, double now, struct traveller *out)
{
    size_t best = l->n;
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].going && l->at[i].start <= now &&
            (best == l->n || l->at[i].start < l->at[best].start))
            best = i;
    if (best == l->n)
        return false;
    *out = l->at[best];
    l->at[best] = l->at[--l->n];
    harbour_give_back(&l->harbours[out->from], out->start);
    harbour_give_back(&l->harbours[out->to], out->start);
    ferries_free_link(l, out);
    return true;
}

/* Until something can happen: an arrival, a start, news. */
static void ferries_wait(struct ferries *l, double now)
{
    double next = now + 0.1; /* a stop is looked for that often */
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].going || l->at[i].start > now)
            next = fmin(next, l->at[i].start);
    cond_wait_until(&l->news, &l->lock, next);
}

/* Arrivals before starts: an arrival makes room. */
void *ferries_work(void *flow)
{
    struct flow *f = flow;
    struct ferries *l = f->ferries;
    struct traveller t;
    prctl(PR_SET_TIMERSLACK, 1); /* as in posts_work() */
    pthread_mutex_lock(&l->lock);
    /* all items have left: then nothing travels any more */
    while (!flow_halted(f) && atomic_load(&f->done) < atomic_load(&f->total)) {
        double now = clock_seconds();
        if (ferries_arrived(l, now, &t)) {
            pthread_mutex_unlock(&l->lock); /* I1 */
            struct channel *channel = posts_channel(f, t.v, t.r);
            if (channel)
                channel_count(channel, (uint64_t)f->lineup.w->size[t.v->object], t.took);
            posts_arrive(f, t.v, t.r, t.chunk, t.nothing, t.start);
            pthread_mutex_lock(&l->lock);
            continue;
        }
        struct traveller *first = ferries_first(l, now);
        if (first)
            ferries_begin(l, first);
        else
            ferries_wait(l, now);
    }
    pthread_mutex_unlock(&l->lock);
    flow_thread_ends(f);
    return NULL;
}
