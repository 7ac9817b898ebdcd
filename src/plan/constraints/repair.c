/* Local search over complete schedules. A schedule is a sequence of tasks, a processor for each and
 * a time before which it does not start; laying it out (schedule as early as that allows) and asking
 * the constraints is one trial, linear in the tasks.
 *
 *    move       to another processor
 *    shift      to another place in the sequence, within its dependencies
 *    wait       until another task starts or ends, or so that it ends with it; or no longer
 *
 * The best schedule is kept; the one that is walked from may be equally good, and now and then a
 * little worse, so that plains and shallow valleys are left again. Where only wishes are open, every
 * second walk takes an open wish for as bad as a broken requirement: it goes through schedules that
 * meet the wish first and the requirements again after another change ("on lillith", and calvin must
 * wait then to be twice as late). The moves are drawn from the
 * seed: the same request gives the same schedule unless the clock ends it. */
#include "plan/constraints/repair.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

/* Trials without a better schedule after which the walk begins again at the best one, and how often
 * it does before it gives up. */
enum { PATIENCE = 400, REPAIR_RESTARTS = 12 };
/* Trials without a better schedule once everything is fulfilled: for those who read the plan. */
enum { POLISH = 300, HALVINGS = 40 };

struct repair {
    struct space *s;
    struct rng rng;
    uint32_t n;
    uint32_t *order, *node; /* the schedule that is walked from */
    double *delay;
    uint32_t *try_order, *try_node; /* the one that is tried */
    double *try_delay;
    struct schedule_verdict now; /* as repair_walked() has it */
    double span;                 /* its makespan */
    bool for_wishes;
};

static bool is_fulfilled(const struct schedule_verdict *v)
{
    return !v->broken && !(v->unmet > 0);
}

/* What a schedule is worth on this walk. For wishes, how long it takes and what else is preferred count
 * for nothing: the way leads over schedules that are worse. */
static struct schedule_verdict repair_walked(const struct repair *r, struct schedule_verdict v)
{
    if (!r->for_wishes)
        return v;
    return (struct schedule_verdict){.broken = v.broken + (v.unmet > 0), .missed = v.unmet};
}

/* Lay out what is tried; false: a task cannot run where it was put. */
static bool repair_lay_out(struct repair *r)
{
    struct space *s = r->s;
    space_reset(s);
    s->delay = r->try_delay;
    bool good = true;
    for (uint32_t i = 0; i < r->n && good; i++) {
        uint32_t t = r->try_order[i];
        struct schedule_slot slot = space_slot(s, t, r->try_node[t]);
        good = slot.finish < INFINITY;
        if (good)
            space_push(s, t, slot);
    }
    s->delay = NULL;
    return good;
}

/* What a candidate stands for: a start is kept only where nothing else explains it. */
static void repair_begin_at(struct repair *r, const struct schedule_found *c)
{
    space_reset(r->s);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t t = c->task[i];
        struct schedule_slot slot = space_slot(r->s, t, c->slot[i].node);
        r->order[i] = t;
        r->node[t] = c->slot[i].node;
        r->delay[t] = c->slot[i].start > slot.start ? c->slot[i].start : 0;
        space_push(r->s, t, c->slot[i]);
    }
    r->now = repair_walked(r, c->verdict);
    r->span = c->verdict.makespan;
}

static void copy_schedule(uint32_t n, uint32_t *order, uint32_t *node, double *delay,
                          const uint32_t *from_order, const uint32_t *from_node,
                          const double *from_delay)
{
    memcpy(order, from_order, n * sizeof *order);
    memcpy(node, from_node, n * sizeof *node);
    memcpy(delay, from_delay, n * sizeof *delay);
}

static void try_another_node(struct repair *r)
{
    struct space *s = r->s;
    uint32_t task = (uint32_t)rng_below(&r->rng, r->n);
    for (int tries = 0; tries < 8; tries++) {
        uint32_t node = (uint32_t)rng_below(&r->rng, s->p->nnodes);
        if (space_may(s, task, node) && costs_time(s->costs, task, node) < INFINITY) {
            r->try_node[task] = node;
            break;
        }
    }
    r->try_delay[task] = 0;
}

static bool depends_directly(const struct workflow *w, uint32_t later, uint32_t earlier)
{
    for (uint32_t e = w->pred_off[later]; e < w->pred_off[later + 1]; e++)
        if (w->pred_task[e] == earlier)
            return true;
    return false;
}

/* Neighbours change places until a dependency is in the way. */
static void try_another_place(struct repair *r)
{
    const struct workflow *w = r->s->w;
    uint32_t *order = r->try_order, at = (uint32_t)rng_below(&r->rng, r->n);
    uint32_t steps = 1 + (uint32_t)rng_below(&r->rng, r->n);
    bool back = rng_below(&r->rng, 2);
    for (; steps; steps--) {
        uint32_t first = back ? at - 1 : at;
        if ((back && !at) || (!back && at + 1 == r->n) ||
            depends_directly(w, order[first + 1], order[first]))
            break;
        uint32_t swap = order[first];
        order[first] = order[first + 1];
        order[first + 1] = swap;
        at = back ? at - 1 : at + 1;
    }
    r->try_delay[order[at]] = 0;
}

/* Times are taken from the schedule laid out last, which need not be this one: a hint is enough. */
static void try_waiting(struct repair *r)
{
    const struct relations *x = r->s->relations;
    uint32_t task = (uint32_t)rng_below(&r->rng, r->n), other = (uint32_t)rng_below(&r->rng, r->n);
    double seconds = costs_time(r->s->costs, task, r->try_node[task]), time = 0;
    double hair = rng_below(&r->rng, 2) ? 1e-6 : 0;
    switch (rng_below(&r->rng, 6)) {
    case 0:
        time = x->finish[other] - seconds + hair;
        break;
    case 1:
        time = x->finish[other] + hair;
        break;
    case 2:
        time = x->start[other] + hair;
        break;
    case 3:
        time = 2 * x->finish[other] - seconds + hair; /* "at least twice as late" */
        break;
    case 4:
        time = rng_uniform(&r->rng, 0, 2 * fmax(r->span, seconds));
        break;
    default:
        break;
    }
    r->try_delay[task] = time > 0 ? time : 0;
}

/* One to three changes at once. */
static void draw_change(struct repair *r)
{
    uint32_t changes = 1 + (uint32_t)rng_below(&r->rng, 3);
    for (; changes; changes--) {
        uint32_t kind = (uint32_t)rng_below(&r->rng, 4);
        if (kind < 2)
            try_another_node(r);
        else if (kind == 2)
            try_another_place(r);
        else
            try_waiting(r);
    }
}

/* True: the walk goes there. Worse ones are taken rarely, and never out of what is kept already. */
static bool accepts(struct repair *r, const struct schedule_verdict *v)
{
    return !verdict_better(&r->now, v) ||
           (v->broken <= r->now.broken + 1 && rng_below(&r->rng, 50) == 0);
}

static bool repair_over(const struct repair *r, const struct constraints_limits *limits,
                        uint64_t trials)
{
    return clock_seconds() >= limits->deadline || query_failed(r->s->query, NULL) ||
           (limits->states && trials >= limits->states) ||
           (trials % 256 == 0 && !progress_report(r->s->request->progress, -1, "repairing"));
}

/* What is tried replaces what is walked from and, when better, the best. */
static void repair_keep(struct repair *r, struct schedule_found *best,
                        const struct schedule_verdict *v)
{
    copy_schedule(r->n, r->order, r->node, r->delay, r->try_order, r->try_node, r->try_delay);
    r->now = repair_walked(r, *v);
    r->span = v->makespan;
    if (verdict_better(v, &best->verdict)) {
        candidate_take(best, r->s);
        best->verdict = *v;
    }
}

/* Try this waiting time of a task on top of what is walked from; true: not worse, and kept. */
static bool repair_waits(struct repair *r, struct schedule_found *best, uint32_t task, double time)
{
    copy_schedule(r->n, r->try_order, r->try_node, r->try_delay, r->order, r->node, r->delay);
    r->try_delay[task] = time;
    if (!repair_lay_out(r))
        return false;
    struct schedule_verdict v = verdict_of(r->s);
    if (query_failed(r->s->query, NULL) || verdict_better(&r->now, &v))
        return false;
    repair_keep(r, best, &v);
    return true;
}

/* Waiting times were drawn: each as short as what was reached allows, by halving. */
static void repair_tighten(struct repair *r, struct schedule_found *best,
                           const struct constraints_limits *limits)
{
    repair_begin_at(r, best);
    for (uint32_t t = 0; t < r->n && clock_seconds() < limits->deadline; t++) {
        double low = 0, high = r->delay[t];
        if (!(high > 0) || repair_waits(r, best, t, 0))
            continue;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (repair_waits(r, best, t, middle))
                high = middle;
            else
                low = middle;
        }
    }
}

uint64_t repair_candidate(struct space *s, struct schedule_found *best,
                          const struct constraints_limits *limits)
{
    uint32_t n = s->w->ntasks;
    struct repair r = {.s = s, .n = n};
    uint64_t trials = 0;
    if (!n)
        return 0;
    r.order = mem_new(uint32_t, n);
    r.node = mem_new(uint32_t, n);
    r.delay = mem_new(double, n);
    r.try_order = mem_new(uint32_t, n);
    r.try_node = mem_new(uint32_t, n);
    r.try_delay = mem_new(double, n);
    rng_seed(&r.rng, s->request->seed);
    bool over = false;
    /* whether a requirement can be kept another search finds out; for wishes this is the last */
    int walks = best->verdict.broken ? REPAIR_RESTARTS : 4 * REPAIR_RESTARTS;
    for (int k = 0; k < walks && !over; k++) {
        bool polishing = is_fulfilled(&best->verdict);
        r.for_wishes = k % 2 && !polishing && !best->verdict.broken;
        repair_begin_at(&r, best);
        for (int idle = 0; idle < (polishing ? POLISH : PATIENCE) && !over; idle++) {
            over = repair_over(&r, limits, trials);
            trials++;
            copy_schedule(n, r.try_order, r.try_node, r.try_delay, r.order, r.node, r.delay);
            draw_change(&r);
            if (!repair_lay_out(&r))
                continue;
            struct schedule_verdict v = verdict_of(s), walked = repair_walked(&r, v);
            if (query_failed(s->query, NULL) || !accepts(&r, &walked))
                continue;
            if (verdict_better(&v, &best->verdict))
                idle = 0;
            repair_keep(&r, best, &v);
        }
        over |= polishing;
    }
    r.for_wishes = false;
    repair_tighten(&r, best, limits);
    free(r.order);
    free(r.node);
    free(r.delay);
    free(r.try_order);
    free(r.try_node);
    free(r.try_delay);
    return trials;
}
