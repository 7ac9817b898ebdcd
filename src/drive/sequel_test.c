/* Runs under a limit, in every timing that random numbers make: judged by a count of its own of what is in use, and of what the
 * rest would need. */
#include "drive/sequel.h"

#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24 };
enum phase { NOT_YET, RUNNING, AGAIN, DONE, SKIPPED, FAILED };

/* What the judge knows. */
struct world {
    struct workflow *w;
    uint32_t order[MOST];
    double room[MOST], limit;
    enum phase phase[MOST];
};

static struct workflow *random_graph(struct rng *r, uint32_t n)
{
    struct builder *b = builder_new("graph", "test");
    uint32_t objects = 0, maker[MOST * 2];
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_command(b, t, "true", 4);
        bool read[MOST * 2] = {0};
        for (uint32_t k = (uint32_t)rng_below(r, 4); objects && k--;) {
            uint32_t o = (uint32_t)rng_below(r, objects);
            if (maker[o] != t && !read[o])
                builder_consumes(b, t, o, 0);
            read[o] = true;
        }
        for (uint32_t k = (uint32_t)rng_below(r, 3); k--;) {
            uint32_t o =
                builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", objects));
            builder_size(b, o, (double)rng_below(r, 20), 0);
            builder_produces(b, t, o, 0);
            if (rng_below(r, 6))
                builder_temporary(b, o);
            maker[objects++] = t;
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return w;
}

/* A random order that the edges allow. */
static void random_order(const struct workflow *w, struct rng *r, uint32_t *order)
{
    bool placed[MOST] = {0};
    for (uint32_t k = 0; k < w->ntasks; k++) {
        uint32_t ready[MOST], n = 0;
        for (uint32_t t = 0; t < w->ntasks; t++) {
            bool good = !placed[t];
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
                good &= placed[w->pred_task[e]];
            if (good)
                ready[n++] = t;
        }
        order[k] = ready[rng_below(r, n)];
        placed[order[k]] = true;
    }
}

/* ---- the judge: everything is counted from the phases alone ---- */

/* Are its bytes in use, once those that run have ended well? A file that somebody may read, or that is kept. */
static bool is_there(const struct world *x, const enum phase *phase, uint32_t o)
{
    const struct workflow *w = x->w;
    uint32_t n;
    const uint32_t *reader = workflow_consumers(w, o, &n);
    if (w->producer[o] == NONE || !n || phase[w->producer[o]] != DONE)
        return false;
    if (!workflow_is_temporary(w, o))
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (phase[reader[i]] != DONE && phase[reader[i]] != SKIPPED)
            return true;
    return false;
}

static double in_use(const struct world *x, const enum phase *phase)
{
    double sum = 0;
    for (uint32_t o = 0; o < x->w->nobjects; o++)
        sum += is_there(x, phase, o) ? x->w->size[o] : 0;
    for (uint32_t t = 0; t < x->w->ntasks; t++)
        sum += phase[t] == RUNNING ? x->room[t] : 0;
    return sum;
}

/* When what runs or is tried again has ended: the others one after the other, up to this one's place. */
static bool rest_fits(const struct world *x, const enum phase *now, uint32_t until)
{
    enum phase phase[MOST];
    memcpy(phase, now, sizeof phase);
    for (uint32_t t = 0; t < x->w->ntasks; t++)
        phase[t] = phase[t] == RUNNING || phase[t] == AGAIN ? DONE : phase[t];
    for (uint32_t k = 0; k < x->w->ntasks && x->order[k] != until; k++) {
        uint32_t t = x->order[k];
        if (phase[t] != NOT_YET)
            continue;
        phase[t] = RUNNING;
        if (in_use(x, phase) > x->limit)
            return false;
        phase[t] = DONE;
    }
    return true;
}

static bool is_ready(const struct world *x, uint32_t t)
{
    bool good = x->phase[t] == NOT_YET || x->phase[t] == AGAIN;
    for (uint32_t e = x->w->pred_off[t]; e < x->w->pred_off[t + 1]; e++) {
        enum phase p = x->phase[x->w->pred_task[e]];
        good &= p == DONE || p == SKIPPED;
    }
    return good;
}

/* Those below a failure never run; what they would have read stays. */
static void lose(struct world *x, struct sequel *q, uint32_t t)
{
    x->phase[t] = FAILED;
    sequel_lost(q, t);
    for (uint32_t e = x->w->succ_off[t]; e < x->w->succ_off[t + 1]; e++)
        if (x->phase[x->w->succ_task[e]] != FAILED)
            lose(x, q, x->w->succ_task[e]);
}

struct count {
    uint32_t stalls, above, differs, let, kept, early;
};

/* One task that runs ends, somehow. */
static void end_one(struct world *x, struct sequel *q, struct rng *r, bool fails)
{
    uint32_t running[MOST], n = 0;
    for (uint32_t t = 0; t < x->w->ntasks; t++)
        if (x->phase[t] == RUNNING)
            running[n++] = t;
    uint32_t t = running[rng_below(r, n)], how = (uint32_t)rng_below(r, 10);
    if (how == 0) {
        x->phase[t] = AGAIN;
        sequel_waits(q, t);
    } else if (fails && how == 1) {
        lose(x, q, t);
    } else {
        x->phase[t] = fails && how == 2 ? SKIPPED : DONE;
        sequel_ended(q, t, x->phase[t] == DONE);
    }
}

/* Starts what it can, in random order, and lets random ones end; what is ready need not be known at once. */
static void one_run(struct world *x, struct rng *r, bool fails, struct count *c)
{
    const struct workflow *w = x->w;
    struct sequel *q = sequel_new(w, NULL, x->order, x->room, 0, x->limit);
    memset(x->phase, 0, sizeof x->phase);
    for (;;) {
        uint32_t started = 0, running = 0, left = 0, turn = (uint32_t)rng_below(r, w->ntasks);
        bool shy = (uint32_t)rng_below(r, 2);
        for (uint32_t k = 0; k < w->ntasks; k++)
            running += x->phase[k] == RUNNING;
        for (uint32_t k = 0; k < w->ntasks; k++) {
            uint32_t t = (k * 7 + turn) % w->ntasks;
            t = w->ntasks % 7 ? t : (k + turn) % w->ntasks;
            if (!is_ready(x, t) || (shy && running && rng_below(r, 2)))
                continue;
            double free = x->limit - in_use(x, x->phase) - x->room[t], again = 0;
            for (uint32_t u = 0; u < w->ntasks; u++)
                again += x->phase[u] == AGAIN && u != t ? x->room[u] : 0;
            if (free < 0)
                continue;
            enum phase was = x->phase[t];
            bool lets = sequel_lets(q, t, free);
            x->phase[t] = RUNNING;
            /* a failure leaves files that nobody expected: what comes after its place may not fit in any case */
            uint32_t until = fails ? t : NONE;
            bool good = was == AGAIN || (free >= again && rest_fits(x, x->phase, until));
            bool first = true; /* in its turn: it may, whatever follows */
            for (uint32_t u = 0; x->order[u] != t; u++)
                first &= x->phase[x->order[u]] != NOT_YET;
            c->differs += lets != good && !(first && lets && free >= again);
            c->let += lets;
            c->kept += !lets;
            c->early += lets && !first;
            if (!lets) {
                x->phase[t] = was;
                continue;
            }
            sequel_started(q, t);
            started++;
            running++;
            c->above += in_use(x, x->phase) > x->limit;
        }
        for (uint32_t k = 0; k < w->ntasks; k++)
            left += x->phase[k] == NOT_YET || x->phase[k] == AGAIN;
        if (!running && !started) {
            c->stalls += left > 0;
            break;
        }
        end_one(x, q, r, fails);
    }
    sequel_free(q);
}

static double sequential_peak(struct world *x)
{
    double peak = 0;
    memset(x->phase, 0, sizeof x->phase);
    for (uint32_t k = 0; k < x->w->ntasks; k++) {
        x->phase[x->order[k]] = RUNNING;
        peak = fmax(peak, in_use(x, x->phase));
        x->phase[x->order[k]] = DONE;
    }
    return peak;
}

static void test_random_timings(void)
{
    struct rng r;
    struct count good = {0}, failing = {0};
    rng_seed(&r, 20);
    for (int i = 0; i < 1500; i++) {
        struct world x = {.w = random_graph(&r, 3 + (uint32_t)rng_below(&r, MOST - 3))};
        if (!x.w->nobjects) {
            workflow_free(x.w);
            continue;
        }
        random_order(x.w, &r, x.order);
        for (uint32_t t = 0; t < x.w->ntasks; t++) {
            x.room[t] = (double)rng_below(&r, 10);
            for (uint32_t o = x.w->object_off[t]; o < x.w->object_end[t]; o++)
                x.room[t] += workflow_is_intermediate(x.w, o) ? x.w->size[o] : 0;
        }
        double least = sequential_peak(&x);
        for (int k = 0; k < 3; k++) {
            x.limit = least + (double)rng_below(&r, 15) * k;
            one_run(&x, &r, false, &good);
            one_run(&x, &r, true, &failing);
        }
        workflow_free(x.w);
    }
    is_int(good.stalls, 0, "no run stands still whose order fits, whatever the timing");
    is_int(good.above + failing.above, 0, "none has more in use than the limit");
    is_int(good.differs, 0, "each answer is that of a judge who counts everything again");
    is_int(failing.differs, 0, "and with tasks that fail, or are not taken");
    ok(good.kept > 1000 && good.early > 1000, "%u were let, %u of them early; %u kept back",
       good.let, good.early, good.kept);
}

int main(void)
{
    TAP_DO(test_random_timings());
    return tap_done();
}
