/* Simulated annealing over encodings (decoder.h): moves, cooling, rounds. anneal.h has the
 * contract.
 *
 * A move is accepted when the trial's makespan is at most the present one - T ln(1 - u), u uniform:
 * the threshold is drawn before decoding, so that the decoder can give up as soon as it is passed.
 * This is Metropolis' rule turned around, and what makes a move cheap: most are refused after a few
 * tasks.
 *
 * The temperature T is measured in mean task times. Rounds cool from 1.5 (every third: 0.5) means
 * to a thousandth, geometrically; the first and every other round go on from the best, the rest
 * begin at another start, so that the searches of several streams differ.
 *
 * The numbers (shares of the moves, lengths, temperatures) decide nothing but quality, which
 * bench/quality.c measures. */
#include "plan/search/anneal.h"
#include "base/clock.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

/* Of graphs that are larger than small a move of a budget pays for so many tasks that are computed. */
enum { ANNEAL_SMALL = 2000, ANNEAL_TASKS_A_MOVE = 256 };

struct anneal_search {
    const struct problem *problem;
    struct decoder *decoder;
    uint64_t paid; /* of decoder->computed */
    struct rng rng;
    uint32_t *critical,
        ncritical; /* a longest chain of the current encoding; stale after a kept trial */
    bool critical_known;
    double mean; /* mean of the tasks' least times: the unit of temperature */
};

/* ---- the critical path ---- */

/* What task t at its place waited for: a producer's data, or the task before it on its core. NONE:
 * nothing. */
static uint32_t waited_for(const struct anneal_search *s, uint32_t t, uint32_t *below)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    if (d->start[t] <= 0)
        return NONE;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t q = p->pred[e];
        if (d->finish[q] + problem_comm(p, e, d->node[q], d->node[t]) >= d->start[t])
            return q;
    }
    if (d->links && d->links->before[t] != NONE)
        return d->links->before[t];
    for (uint32_t i = *below; i-- > 0 && !d->links;) {
        uint32_t q = d->order[i];
        if (d->node[q] == d->node[t] && d->finish[q] >= d->start[t] &&
            d->core[q] < d->core[t] + p->cores[t] && d->core[t] < d->core[q] + p->cores[q])
            return q;
    }
    /* with ports: a transfer waited for others; go on with the producer that ends last */
    uint32_t last = NONE;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
        if (last == NONE || d->finish[p->pred[e]] > d->finish[last])
            last = p->pred[e];
    return last;
}

/* A chain of tasks that each waited for the next, from the last end back to time 0. Three quarters
 * of the moves change a task on it: nothing else can shorten the schedule. */
static void find_critical(struct anneal_search *s)
{
    const struct decoder *d = s->decoder;
    uint32_t t = NONE;
    for (uint32_t v = 0; v < s->problem->m && d->links; v++) {
        uint32_t last = d->links->last[v];
        if (last != NONE && (t == NONE || d->finish[last] > d->finish[t]))
            t = last;
    }
    for (uint32_t i = d->n; i-- > 0 && !d->links;)
        if (t == NONE || d->finish[d->order[i]] > d->finish[t])
            t = d->order[i];
    s->ncritical = 0;
    while (t != NONE && s->ncritical < d->n) {
        s->critical[s->ncritical++] = t;
        uint32_t below = d->position[t];
        t = waited_for(s, t, &below);
    }
    s->critical_known = true;
}

/* ---- moves ---- */

static uint32_t anneal_below(struct anneal_search *s, uint32_t bound)
{
    return (uint32_t)rng_below(&s->rng, bound);
}

static bool can_run(const struct anneal_search *s, uint32_t task, uint32_t node)
{
    return isfinite(problem_time(s->problem, task, node));
}

/* A task of the critical chain three times out of four, else any. */
static uint32_t pick_task(struct anneal_search *s)
{
    if (anneal_below(s, 4) == 0)
        return anneal_below(s, s->problem->n);
    if (!s->critical_known)
        find_critical(s);
    return s->critical[anneal_below(s, s->ncritical)];
}

/* The node of a neighbour in the graph, or any node; the task's own when nothing else came up. */
static uint32_t pick_node(struct anneal_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    uint32_t preds = p->pred_off[t + 1] - p->pred_off[t];
    uint32_t succs = p->succ_off[t + 1] - p->succ_off[t];
    uint32_t node = s->decoder->node[t];
    for (int attempt = 0; attempt < 4; attempt++) {
        uint32_t other;
        if (preds + succs && anneal_below(s, 2)) {
            uint32_t k = anneal_below(s, preds + succs);
            other = s->decoder->node[k < preds ? p->pred[p->pred_off[t] + k]
                                               : p->succ[p->succ_off[t] + k - preds]];
        } else {
            other = anneal_below(s, p->m);
        }
        if (other != node && can_run(s, t, other))
            return other;
    }
    return node;
}

/* Places that keep the order: after the last producer, before the first consumer. */
static void order_window(const struct anneal_search *s, uint32_t t, uint32_t *low, uint32_t *high)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    *low = 0;
    *high = d->n - 1;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
        if (d->position[p->pred[e]] + 1 > *low)
            *low = d->position[p->pred[e]] + 1;
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
        if (d->position[p->succ[e]] - 1 < *high)
            *high = d->position[p->succ[e]] - 1;
}

/* Past one or a few of the tasks that share its node now: anything less changes nothing. */
static void shift_on_node(struct anneal_search *s, uint32_t t)
{
    struct decoder *d = s->decoder;
    uint32_t low, high, node = d->node[t], place = d->position[t];
    order_window(s, t, &low, &high);
    uint32_t hops = 1;
    while (hops < 8 && anneal_below(s, 3) == 0)
        hops++;
    bool earlier = anneal_below(s, 3) != 0;
    for (uint32_t i = place; earlier ? i-- > low : i++ < high;)
        if (d->node[d->order[i]] == node) {
            place = i;
            if (--hops == 0)
                break;
        }
    decoder_shift(d, t, place);
}

/* To any place in the order that keeps producers before consumers. */
static void shift_anywhere(struct anneal_search *s, uint32_t t)
{
    uint32_t low, high;
    order_window(s, t, &low, &high);
    decoder_shift(s->decoder, t, low + anneal_below(s, high - low + 1));
}

/* Its producers or consumers follow the task to a node, each with an even chance or all together.
 */
static void move_gather(struct anneal_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    uint32_t node = anneal_below(s, 2) ? s->decoder->node[t] : pick_node(s, t);
    decoder_reassign(s->decoder, t, node);
    bool producers = anneal_below(s, 2), all = anneal_below(s, 2);
    const uint32_t *off = producers ? p->pred_off : p->succ_off;
    const uint32_t *list = producers ? p->pred : p->succ;
    for (uint32_t e = off[t]; e < off[t + 1] && e < off[t] + 64; e++)
        if ((all || anneal_below(s, 2)) && can_run(s, list[e], node))
            decoder_reassign(s->decoder, list[e], node);
}

/* Two tasks that stand within 32 places of each other exchange their nodes. */
static void move_exchange(struct anneal_search *s, uint32_t t)
{
    struct decoder *d = s->decoder;
    uint32_t near = d->n < 64 ? d->n : 64, at = d->position[t];
    uint32_t from = at > near / 2 ? at - near / 2 : 0;
    if (from + near > d->n)
        from = d->n - near;
    uint32_t other = d->order[from + anneal_below(s, near)], a = d->node[t], b = d->node[other];
    if (a == b || !can_run(s, t, b) || !can_run(s, other, a))
        return;
    decoder_reassign(d, t, b);
    decoder_reassign(d, other, a);
}

/* A way along the graph from t moves to one node: what a reassigned task leaves behind usually
 * follows it. */
static void move_chain(struct anneal_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    uint32_t node = pick_node(s, t);
    for (int length = 0; length < 8; length++) {
        if (!can_run(s, t, node))
            return;
        decoder_reassign(s->decoder, t, node);
        uint32_t succs = p->succ_off[t + 1] - p->succ_off[t];
        if (!succs || anneal_below(s, 4) == 0)
            return;
        t = p->succ[p->succ_off[t] + anneal_below(s, succs)];
    }
}

/* One of seven kinds, by fixed shares; may turn out to change nothing. */
static void anneal_make_move(struct anneal_search *s)
{
    uint32_t t = pick_task(s), kind = anneal_below(s, 100);
    if (kind < 30) {
        decoder_reassign(s->decoder, t, pick_node(s, t));
    } else if (kind < 50) {
        decoder_reassign(s->decoder, t, pick_node(s, t));
        shift_on_node(s, t);
    } else if (kind < 70) {
        shift_on_node(s, t);
    } else if (kind < 77) {
        shift_anywhere(s, t);
    } else if (kind < 87) {
        move_exchange(s, t);
    } else if (kind < 94) {
        move_gather(s, t);
    } else {
        move_chain(s, t);
    }
}

/* ---- rounds ---- */

/* One cooling. */
struct round {
    uint64_t moves;    /* planned */
    double begin, end; /* by time: the round cools from begin to end; end INFINITY: by moves */
    double hot, cold;  /* temperatures */
};

/* How fast we go, and when to ask the clock: asking costs as much as a small move. */
struct pace {
    const struct anneal_limits *limits;
    uint64_t made;  /* moves, as the budget counts them */
    uint64_t steps; /* moves as such */
    double started, told;
    uint32_t check; /* look at the clock every so many moves */
};

/* By moves, by the user, by the clock. Every 0.25 s the user is told how far we are: often enough
 * to look alive, and lost in the cost of the search. */
static bool stop_now(struct pace *pace, double fraction)
{
    const struct anneal_limits *limits = pace->limits;
    if (limits->moves && pace->made >= limits->moves)
        return true;
    if (pace->steps % pace->check)
        return false;
    if (limits->stop && atomic_load_explicit(limits->stop, memory_order_relaxed))
        return true;
    if (isinf(limits->deadline) && !limits->progress)
        return false;
    double now = clock_seconds();
    if (now >= limits->deadline)
        return true;
    if (limits->progress && now - pace->told > 0.25) {
        pace->told = now;
        double done =
            limits->progress_from + (limits->progress_to - limits->progress_from) * fraction;
        if (progress_report(limits->progress, done, "local search"))
            return false;
        if (limits->stop)
            atomic_store(limits->stop, true);
        return true;
    }
    return false;
}

/* The fraction of the whole budget that is used. */
static double part_done(const struct pace *pace)
{
    const struct anneal_limits *limits = pace->limits;
    if (limits->moves)
        return (double)pace->made / (double)limits->moves;
    double all = limits->deadline - pace->started;
    return all > 0 ? fmin(1, (clock_seconds() - pace->started) / all) : 1;
}

/* What a budget in moves pays for the next move: of a large graph one can change the times of all that
 * follows, and what those before it have cost is paid now. A clock sees that by itself. */
static uint64_t cost_of_move(struct anneal_search *s, const struct anneal_limits *limits)
{
    if (!limits->moves || s->problem->n <= ANNEAL_SMALL)
        return 1;
    uint64_t paid = (s->decoder->computed - s->paid) / ANNEAL_TASKS_A_MOVE;
    s->paid += paid * ANNEAL_TASKS_A_MOVE;
    return 1 + paid;
}

/* One cooling. True: the whole search is over. */
static bool run_round(struct anneal_search *s, const struct round *round, struct pace *pace,
                      struct encoding *best)
{
    struct decoder *d = s->decoder;
    double heat = round->hot, ratio = round->cold / round->hot;
    for (uint64_t i = 0, step = 0; i < round->moves; step++) {
        if (step % pace->check == 0) {
            double done = (double)i / (double)round->moves;
            if (isfinite(round->end))
                done = fmin(1, (clock_seconds() - round->begin) / (round->end - round->begin));
            heat = round->hot * pow(ratio, done);
        }
        if (stop_now(pace, pace->steps % pace->check ? 0 : part_done(pace)))
            return true;
        uint64_t cost = cost_of_move(s, pace->limits);
        i += cost;
        pace->made += cost;
        pace->steps++;
        /* the threshold is drawn first, so that decoding may stop at it */
        anneal_make_move(s);
        double limit = d->makespan - heat * log(1 - rng_unit(&s->rng));
        double makespan = decoder_run(d, limit);
        if (makespan > limit) {
            decoder_drop(d);
            continue;
        }
        decoder_keep(d, makespan);
        s->critical_known = false;
        if (makespan < best->makespan) {
            decoder_save(d, best);
            if (makespan <= pace->limits->target)
                return true;
        }
    }
    return false;
}

/* Moves of a round: enough for a small graph to settle, and cheap enough to have several rounds in
 * a second. */
static uint64_t round_length(uint32_t n)
{
    uint64_t moves = 3000 * (uint64_t)n;
    return moves < 20000 ? 20000 : moves;
}

/* By time, a last round that would be cut off takes all that is left and cools to its end. */
static struct round plan_round(const struct anneal_search *s, const struct pace *pace,
                               uint32_t number)
{
    const struct anneal_limits *limits = pace->limits;
    struct round round = {.moves = round_length(s->problem->n), .end = INFINITY};
    uint64_t left = UINT64_MAX;
    if (limits->moves) {
        left = limits->moves - pace->made;
    } else {
        double now = clock_seconds(), used = now - pace->started;
        /* nothing is known about the pace before the first moves: assume a round of a second for
         * 1000 edges */
        double rate = pace->made
                          ? (double)pace->made / fmax(used, 1e-6)
                          : 2e7 / (s->problem->n + s->problem->pred_off[s->problem->n] + 1.0);
        left = (uint64_t)fmax(1, rate * (limits->deadline - now));
        if (left < 2 * round.moves) {
            round.begin = now;
            round.end = limits->deadline;
            round.moves = UINT64_MAX;
        }
    }
    if (limits->moves && left < 2 * round.moves)
        round.moves = left;
    /* few moves a task: begin cool, there is no time to come back from disorder */
    double each = (double)(left < round.moves ? left : round.moves) / s->problem->n;
    double hot = pow(fmin(1, each / 1500), 1.2) * (number % 3 == 2 ? 0.5 : 1.5);
    round.hot = s->mean * fmax(hot, 1e-3);
    round.cold = s->mean * 1e-3;
    return round;
}

/* Rounds of annealing, each cooler or hotter as plan_round() says: even ones go on from the best,
 * odd ones from one of the starts, since a search that only ever continues its best plan stays in
 * one valley. */
uint64_t anneal(const struct problem *p, struct encoding *best, const struct encoding *starts,
                uint32_t nstarts, uint64_t seed, uint64_t stream,
                const struct anneal_limits *limits)
{
    if (p->n == 0 || best->makespan <= limits->target)
        return 0;
    struct anneal_search s = {.problem = p, .decoder = decoder_new(p)};
    rng_seed_stream(&s.rng, seed, stream);
    s.critical = mem_new(uint32_t, p->n);
    for (uint32_t t = 0; t < p->n; t++)
        s.mean += p->least[t] / p->n;
    if (!(s.mean > 0)) /* only data moves */
        s.mean = best->makespan / p->n;
    struct pace pace = {.limits = limits, .started = clock_seconds()};
    pace.told = pace.started;
    pace.check = p->n > 4000 || s.decoder->schedule ? 1 : p->n > 400 ? 8 : 64;
    for (uint32_t number = 0; !limits->moves || pace.made < limits->moves; number++) {
        /* the first and every other round continue the best, the rest begin elsewhere */
        uint32_t other = (number / 2 + (uint32_t)stream) % (nstarts ? nstarts : 1);
        const struct encoding *from = number % 2 == 1 && nstarts ? &starts[other] : best;
        double makespan = decoder_load(s.decoder, from);
        s.critical_known = false;
        if (makespan < best->makespan)
            decoder_save(s.decoder, best);
        struct round round = plan_round(&s, &pace, number);
        if (best->makespan <= limits->target || run_round(&s, &round, &pace, best))
            break;
    }
    free(s.critical);
    decoder_free(s.decoder);
    return pace.made;
}
