/* The published search first. Where it leaves a wish open or breaks off without a schedule, others
 * follow; all are judged alike (verdict.h), and the best schedule of all is taken.
 *
 *    published   A* over all constraints as they stand (section 3.3)
 *    yielding    the default order of scheduling yields; orders between times hold by construction
 *                and firmly (orders.h)
 *    guided      wishes weigh more than progress; unused processors finish at 0 from the start
 *    loose       as yielding, with orders that hold as far as times are as predicted
 *    soft        requirements remove nothing, what they miss weighs most
 *    repaired    the best so far, by local search
 *    exhaustive  every schedule there is: finds one, or proves that there is none
 *
 * The last three only where requirements are broken, but for a short repair of open wishes: a wish
 * that cannot be fulfilled must not cost everybody the whole time. */
#include "plan/constraints/ways.h"
#include "base/clock.h"
#include "base/mem.h"
#include "plan/constraints/repair.h"

/* States of one best-first search among the further ways: they dive, and either arrive or are
 * lost. Trials of one repair; of a small workflow they cost little, so that it gets more for its wishes. */
enum {
    STATES_A_WAY = 200000,
    TRIALS_FOR_WISHES = 4000,
    PLACEMENTS_FOR_WISHES = 64000, /* trials times tasks */
    TRIALS = 40000
};
/* The published search makes a successor for each task and processor when it goes straight to a
 * goal: one that has made so many times more is lost. */
enum { STEPS_PUBLISHED = 20 };

struct way_search {
    struct space *s;
    space_opener open;
    const struct constraints_limits *limits;
    int64_t large; /* more tasks than this: construction and local search */
    struct ways_result *out;
};

static bool is_fulfilled(const struct schedule_found *c)
{
    return c->found && !c->verdict.broken && !(c->verdict.unmet > 0) && !c->verdict.loose &&
           !c->verdict.hoped;
}

static struct constraints_limits share_of(const struct constraints_limits *all, double share,
                                          uint64_t states)
{
    double now = clock_seconds();
    struct constraints_limits l = *all;
    l.seconds = share * fmax(0, all->deadline - now);
    l.deadline = now + l.seconds;
    l.states = all->states && all->states < states ? all->states : states;
    return l;
}

/* Judged in the user's own space; kept when it is the best so far. */
static void consider(struct way_search *w, struct schedule_found *c, const char *name)
{
    candidate_lay_out(c, w->s);
    c->verdict = verdict_of(w->s);
    struct schedule_found *best = &w->out->best;
    if (query_failed(w->s->query, NULL) ||
        (best->found && !verdict_better(&c->verdict, &best->verdict)))
        return;
    struct schedule_found swap = *best;
    *best = *c;
    *c = swap;
    w->out->found_by = name;
}

/* One further search in a space of its own. */
static struct search_result go_way(struct way_search *w, const char *name,
                                   const struct space_manner *manner,
                                   struct constraints_limits limits)
{
    struct search_result r = {0};
    struct error err = {0};
    struct space *s = w->open(w->s->request, manner, w->limits->deadline, &err);
    if (!s) {
        /* rules that were read once are read again: only a contradiction can be new */
        if (err.kind == ERROR_INFEASIBLE)
            w->out->impossible = err;
        return r;
    }
    r = (int64_t)s->w->ntasks > w->large ? search_large(s, &limits)
                                         : search_best_first(s, &limits, false);
    w->out->more_states += r.states;
    if (r.found) {
        struct schedule_found c;
        candidate_init(&c, s->w->ntasks);
        candidate_take(&c, s);
        consider(w, &c, name);
        candidate_free(&c);
    }
    space_free(s);
    return r;
}

static void repair_best(struct way_search *w, double share, uint64_t trials)
{
    struct constraints_limits limits = share_of(w->limits, share, trials);
    struct schedule_verdict before = w->out->best.verdict;
    w->out->more_states += repair_candidate(w->s, &w->out->best, &limits);
    if (verdict_better(&w->out->best.verdict, &before))
        w->out->found_by = "repaired";
}

/* Could a task that waits, beyond what kept orders ask for, fulfil a requirement? Then all schedules
 * without such waiting are no proof. */
static bool idle_could_help(struct way_search *w)
{
    struct space *s = w->s;
    time_orders orders = {0};
    bool could = platform_limits_ports(s->p);
    space_reset(s);
    for (size_t i = 0; i < query_size(s->query); i++) {
        const struct constraint_info *info = &s->info[i];
        if (info->requirement && !info->timeless && !info->early &&
            !query_time_orders(s->query, i, &orders))
            could = true;
    }
    array_free(&orders);
    return could;
}

/* No schedule that keeps the requirements is known. */
static void go_further(struct way_search *w)
{
    struct schedule_found *best = &w->out->best;
    const struct space_manner soft = {.order_yields = true, .soft = true, .guided = true};
    const struct space_manner all = {.order_yields = true, .keeps_orders = true, .goal_only = true};
    go_way(w, "soft", &soft, share_of(w->limits, 0.2, STATES_A_WAY));
    if (best->found && best->verdict.broken)
        repair_best(w, 0.4, TRIALS);
    if (best->found && !best->verdict.broken)
        return;
    struct search_result r =
        go_way(w, "exhaustive", &all,
               share_of(w->limits, 0.9, w->limits->states ? w->limits->states : UINT64_MAX));
    w->out->proven = r.complete && !r.found && !idle_could_help(w);
}

static void go_ways(struct way_search *w)
{
    struct ways_result *out = w->out;
    struct schedule_found *best = &out->best;
    /* firm orders first: what a run can keep. Orders that contradict each other as loose ones do
     * so as firm ones. */
    const struct space_manner firm = {
        .order_yields = true, .keeps_orders = true, .firm = true, .keeps_wishes = true};
    struct space_manner guided = firm, loose = firm;
    guided.guided = true;
    loose.firm = false;
    go_way(w, "yielding", &firm, share_of(w->limits, 0.2, STATES_A_WAY));
    if (out->impossible.kind)
        return;
    if (!is_fulfilled(best))
        go_way(w, "guided", &guided, share_of(w->limits, 0.2, STATES_A_WAY));
    if (!best->found || best->verdict.broken || best->verdict.unmet > 0)
        go_way(w, "loose", &loose, share_of(w->limits, 0.2, STATES_A_WAY));
    if (!best->found || best->verdict.broken)
        go_further(w);
    uint32_t small = PLACEMENTS_FOR_WISHES / (w->s->w->ntasks + 1);
    if (best->found && !best->verdict.broken && best->verdict.unmet > 0)
        repair_best(w, 0.2, small > TRIALS_FOR_WISHES ? small : TRIALS_FOR_WISHES);
}

/* What else than tables and plain values is there to fulfil? Then the published search must leave
 * time for the ways after it. */
static bool has_more_to_ask(const struct space *s)
{
    for (size_t i = 0; i < query_size(s->query); i++)
        if (s->info[i].wish ||
            (s->info[i].requirement && !s->info[i].assignment && !space_is_default_order(s, i)))
            return true;
    return false;
}

void ways_search(struct space *s, space_opener open, const struct constraints_limits *limits,
                 bool optimal, bool published, int64_t large, struct ways_result *out)
{
    struct way_search w = {s, open, limits, large, out};
    bool is_large = (int64_t)s->w->ntasks > large && !optimal;
    *out = (struct ways_result){0};
    candidate_init(&out->best, s->w->ntasks);
    struct constraints_limits first = *limits;
    if (!published && !optimal && has_more_to_ask(s))
        first = share_of(limits, is_large ? 0.6 : 0.3,
                         1000 + STEPS_PUBLISHED * (uint64_t)s->w->ntasks * s->p->nnodes);
    out->r = is_large ? search_large(s, &first) : search_best_first(s, &first, optimal);
    if (out->r.found) {
        candidate_take(&out->best, s);
        out->best.verdict = verdict_of(s);
    }
    bool failed = query_failed(s->query, NULL);
    if (!failed && !published && !is_fulfilled(&out->best))
        go_ways(&w);
    /* what was looked at last is laid out, which need not be the best */
    if (out->best.found)
        out->waiting = candidate_lay_out(&out->best, s);
}

void ways_free(struct ways_result *w)
{
    candidate_free(&w->best);
}
