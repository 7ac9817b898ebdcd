/* The pace that a stream plan promises.
 *
 * The estimate's rate is the most that a mapping carries. A schedule at that rate is full: items wait for their slots, for as long
 * as it takes replicas of two clusters to meet at the right phase, and one takes a multiple of the latency that it has alone. Who
 * asked for less than the estimate's rate gets a slower pace where that makes items quicker:
 *
 *     rate       asked for, or one item at a time ............................ the estimate's
 *     an item    takes what it takes alone ........... waits here and there .. waits at every transfer
 *                                          ^ the quickest at which an item takes hardly longer than at the slowest
 *
 * Who asked for a latency gets the quickest pace that keeps it. What remains of waits is said in a note. */
#include "model/stream_schedule.h"

/* Paces between the slowest and the quickest, each the same factor below the next. */
enum { PACES = 8 };
/* Items that take so much longer than at the slowest pace take hardly longer. */
#define HARDLY 1.01
/* And so much longer than alone is worth a note. */
#define MUCH 1.5

struct pace_search {
    const struct stream_graph *g;
    struct plan *plan;
    double most, least; /* rates */
    double latency;     /* of an item among others in plan->schedule */
    double rate;        /* of plan->schedule */
};

/* The schedule at a rate; INFINITY: there is none. */
static double pace_try(const struct pace_search *x, double rate, struct stream_schedule *out)
{
    *out = (struct stream_schedule){0};
    if (!stream_schedule_build(x->g, x->plan, 1 / rate, out))
        return INFINITY;
    return stream_schedule_latency(x->g, x->plan, out);
}

static void pace_take(struct pace_search *x, double rate, double latency, struct stream_schedule *s)
{
    stream_schedule_free(&x->plan->schedule);
    x->plan->schedule = *s;
    *s = (struct stream_schedule){0};
    x->rate = rate;
    x->latency = latency;
}

/* From quick to slow, the first at which an item takes at most `enough`; the slowest is tried already. */
static void pace_slow_down(struct pace_search *x, double enough)
{
    struct stream_schedule s;
    for (int k = 1; k < PACES; k++) {
        double rate = x->most * pow(x->least / x->most, (double)k / PACES);
        double latency = pace_try(x, rate, &s);
        if (latency <= enough) {
            pace_take(x, rate, latency, &s);
            return;
        }
        stream_schedule_free(&s);
    }
    double latency = pace_try(x, x->least, &s);
    if (latency < x->latency)
        pace_take(x, x->least, latency, &s);
    stream_schedule_free(&s);
}

/* A slower pace than the estimate's, where it pays. `within`: the latency that was asked for; INFINITY: none. */
static void pace_choose(struct pace_search *x, double within)
{
    struct stream_schedule s;
    if (isfinite(within) && x->latency <= within * (1 + 1e-9))
        return;
    double slowest = pace_try(x, x->least, &s);
    stream_schedule_free(&s);
    if (slowest * HARDLY < x->latency)
        pace_slow_down(x, isfinite(within) ? fmax(within * (1 + 1e-9), slowest) : slowest * HARDLY);
}

/* Who reads the plan learns what it could carry, and how long items wait. */
static void pace_note(const struct pace_search *x, double estimated, double at_most, double within)
{
    double alone = plan_objective(x->plan, "latency");
    if (x->rate < x->most * (1 - 1e-9))
        plan_note(x->plan,
                  "at %.10g items a second, the most that these clusters carry, an item among "
                  "others would take %.10g; at "
                  "%.10g it takes %.10g",
                  x->most, at_most, x->rate, x->latency);
    else if (x->most < estimated)
        plan_note(
            x->plan,
            "the estimate is %.10g items a second; the best schedule that was found has %.10g",
            estimated, x->most);
    if (isfinite(within) && x->latency > within * (1 + 1e-9))
        plan_note(x->plan,
                  "a latency of %.10g was asked for: an item that is alone takes %.10g, one among "
                  "others %.10g",
                  within, alone, x->latency);
    else if (x->latency > alone * MUCH)
        plan_note(x->plan,
                  "an item that is alone takes %.10g; among others, at %.10g items a second, it "
                  "waits for its slots and takes "
                  "%.10g (less where less throughput is asked for)",
                  alone, x->rate, x->latency);
}

/* Ends: with a period beyond the sum of everything each circle has a gap for all. */
void stream_plan_schedule(const struct stream_graph *g, struct plan *plan, double asked,
                          double within)
{
    double claimed = plan_objective(plan, "throughput"), alone = plan_objective(plan, "latency");
    stream_schedule_free(&plan->schedule);
    if (plan->rotating || !(claimed > 0) || !isfinite(claimed) || !isfinite(1 / claimed))
        return;
    double stretch = 1;
    while (!stream_schedule_build(g, plan, stretch / claimed, &plan->schedule)) {
        if (!plan->pipelined || stretch > 1e6)
            return;
        stretch *= 1 + 0.01 * stretch;
    }
    if (!plan->pipelined)
        return;
    struct pace_search x = {
        .g = g, .plan = plan, .most = claimed / stretch, .rate = claimed / stretch};
    double at_most = x.latency = stream_schedule_latency(g, plan, &plan->schedule);
    /* one item at a time waits for nobody */
    x.least = alone > 0 ? fmax(asked, 1 / alone) : asked;
    if (x.latency > alone * (1 + 1e-9) && x.least < x.most * (1 - 1e-9))
        pace_choose(&x, within);
    if (x.rate < claimed)
        plan_set_objective(plan, "throughput", x.rate);
    plan_set_objective(plan, "steady_latency", x.latency);
    pace_note(&x, claimed, at_most, within);
}
