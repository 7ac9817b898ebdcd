/* Rounds of the search over twins; twin_team.h says what a round is. One thread a stream works on twins of its
 * own and reads the plan of the round, which nobody changes meanwhile. */
#include "plan/search/twin_team.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "plan/search/tabu.h"
#include <math.h>
#include <stdlib.h>

enum { TEAM_ROUNDS = 8 };
/* The first rounds together must make the plan so much shorter, and near the bound each: there annealing packs
 * better, and has what is left. */
enum { TEAM_TRIAL = 2 };
#define TEAM_WORTH 0.999
#define TEAM_NEAR 1.06
#define TEAM_WORTH_NEAR 0.9998
/* A share holds so many windows at least: in one of fewer, few changes are far from its ends. */
#define TEAM_WINDOWS 1.5
/* Streams of random numbers: of the searchers, and for the cuts. */
enum { TEAM_STREAM = 8192, TEAM_STREAM_CUT = 12288 };

struct twin_team {
    const struct problem *problem;
    unsigned streams, parts;
    struct twin_searcher **searcher; /* by stream */
    struct twin_share *share;        /* by stream: of part stream % parts */
    uint64_t *made;                  /* by stream: moves */
    const struct twin_share **taken; /* by part: who found most; NULL: nobody anything */
    double *cut;                     /* parts + 1 */
    struct twins *plan, *joined;     /* of the round, and what may follow it */
    struct twin_list list;
    struct anneal_limits limits; /* of a round */
};

static void team_search_share(void *context, size_t i)
{
    struct twin_team *team = context;
    struct anneal_limits limits = team->limits;
    if (i != 0)
        limits.progress = NULL;
    team->made[i] += twin_search(team->searcher[i], &team->share[i], &limits);
}

static void team_cut(struct twin_team *team, struct rng *rng)
{
    double part = team->plan->makespan / team->parts;
    team->cut[0] = -INFINITY;
    team->cut[team->parts] = INFINITY;
    for (unsigned k = 1; k < team->parts; k++)
        team->cut[k] = part * (k + 0.5 * rng_unit(rng) - 0.25);
    for (unsigned i = 0; i < team->streams; i++) {
        team->share[i].plan = team->plan;
        team->share[i].from = team->cut[i % team->parts];
        team->share[i].to = team->cut[i % team->parts + 1];
    }
}

static void team_take_best(struct twin_team *team)
{
    for (unsigned k = 0; k < team->parts; k++)
        team->taken[k] = NULL;
    for (unsigned i = 0; i < team->streams; i++) {
        const struct twin_share *share = &team->share[i], **taken = &team->taken[i % team->parts];
        if (share->gained > 0 && (!*taken || share->gained > (*taken)->gained))
            *taken = share;
    }
}

/* A share may end later than the next began: what follows it is put far behind, and so stays behind it. */
static void team_list_place(struct twin_team *team, struct twin_place place, unsigned part)
{
    place.start += 4 * team->plan->makespan * part;
    array_push(&team->list.places, place);
}

/* The plan of the round, with the shares that were taken instead of its own. */
static void team_join(struct twin_team *team)
{
    const struct twins *w = team->plan;
    team->list.places.n = 0;
    for (uint32_t i = 0; i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        unsigned part = 0;
        if (x->node == NONE)
            continue;
        while (x->start >= team->cut[part + 1])
            part++;
        if (!team->taken[part])
            team_list_place(team, (struct twin_place){x->start, x->task, x->node}, part);
    }
    for (unsigned k = 0; k < team->parts; k++)
        for (size_t i = 0; team->taken[k] && i < team->taken[k]->found.n; i++)
            team_list_place(team, team->taken[k]->found.at[i], k);
    twins_load(team->joined, &team->list);
}

static bool team_accept(struct twin_team *team)
{
    if (!(team->joined->makespan < team->plan->makespan))
        return false;
    struct twins *old = team->plan;
    team->plan = team->joined;
    team->joined = old;
    return true;
}

/* All that was found or, where that is no shorter together, of one share. */
static void team_join_round(struct twin_team *team)
{
    team_take_best(team);
    team_join(team);
    if (team_accept(team))
        return;
    const struct twin_share *most = NULL;
    for (unsigned k = 0; k < team->parts; k++) {
        const struct twin_share *one = team->taken[k];
        if (one && (!most || one->gained > most->gained))
            most = one;
    }
    for (unsigned k = 0; k < team->parts; k++)
        if (team->taken[k] != most)
            team->taken[k] = NULL;
    team_join(team);
    team_accept(team);
}

/* False: nothing is left for this round. */
static bool team_limit_round(struct twin_team *team, const struct anneal_limits *whole,
                             unsigned round)
{
    double progress = (whole->progress_to - whole->progress_from) / TEAM_ROUNDS;
    struct anneal_limits *limits = &team->limits;
    *limits = *whole;
    limits->moves = whole->moves * (round + 1) / TEAM_ROUNDS - whole->moves * round / TEAM_ROUNDS;
    if (isfinite(whole->deadline)) {
        double now = clock_seconds();
        limits->deadline = now + (whole->deadline - now) / (TEAM_ROUNDS - round);
    }
    limits->progress_from += progress * round;
    limits->progress_to = limits->progress_from + progress;
    return limits->moves || !whole->moves;
}

static struct twin_team *team_new(const struct problem *p, unsigned streams, uint64_t seed)
{
    struct twin_team *team = mem_new_zero(struct twin_team, 1);
    double parts = p->n / (TEAM_WINDOWS * twin_window_tasks(p));
    *team = (struct twin_team){.problem = p, .streams = streams};
    team->parts = (unsigned)fmax(1, fmin(streams, parts));
    team->searcher = mem_new(struct twin_searcher *, streams);
    team->share = mem_new_zero(struct twin_share, streams);
    team->made = mem_new_zero(uint64_t, streams);
    team->taken = mem_new(const struct twin_share *, team->parts);
    team->cut = mem_new(double, team->parts + 1);
    team->plan = twins_new(p);
    team->joined = twins_new(p);
    for (unsigned i = 0; i < streams; i++)
        team->searcher[i] = twin_searcher_new(p, seed, TEAM_STREAM + i);
    return team;
}

static void team_free(struct twin_team *team)
{
    for (unsigned i = 0; i < team->streams; i++) {
        twin_searcher_free(team->searcher[i]);
        array_free(&team->share[i].found);
    }
    twins_free(team->plan);
    twins_free(team->joined);
    array_free(&team->list.places);
    free(team->searcher);
    free(team->share);
    free(team->made);
    free(team->taken);
    free(team->cut);
    free(team);
}

/* `makespan`: before each round so far, and now. */
static bool team_is_in_vain(const double *makespan, unsigned round, double bound)
{
    double now = makespan[round];
    if (round == TEAM_TRIAL && now > TEAM_WORTH * makespan[0])
        return true;
    return round > 0 && now < TEAM_NEAR * bound && now > TEAM_WORTH_NEAR * makespan[round - 1];
}

uint64_t twin_team_search(const struct problem *p, struct twin_list *best, bool copies,
                          unsigned streams, uint64_t seed, const struct anneal_limits *limits)
{
    struct twin_team *team = team_new(p, streams, seed);
    struct tabu_pace pace = tabu_begin(limits, best->makespan);
    double makespan[TEAM_ROUNDS]; /* before each round */
    struct rng rng;
    uint64_t all = 0;
    rng_seed_stream(&rng, seed, TEAM_STREAM_CUT);
    for (unsigned i = 0; i < streams; i++)
        team->share[i].copies = copies;
    twins_load(team->plan, best);
    for (unsigned round = 0; round < TEAM_ROUNDS; round++) {
        makespan[round] = team->plan->makespan;
        if (makespan[round] <= limits->target || tabu_is_over(&pace, all / streams) ||
            team_is_in_vain(makespan, round, limits->target))
            break;
        if (!team_limit_round(team, limits, round))
            continue;
        team_cut(team, &rng);
        parallel_for(streams, 0, team_search_share, team);
        team_join_round(team);
        all = 0;
        for (unsigned i = 0; i < streams; i++)
            all += team->made[i];
    }
    if (team->plan->makespan < best->makespan)
        twins_save(team->plan, best);
    team_free(team);
    return all;
}
