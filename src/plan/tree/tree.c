/* `tree`: the shortest mapping that hetpart2, a ladder of deadlines, an auction of the processors and
 * searches find; small trees exactly.
 *
 *    hetpart2 ───┐          (where links differ also for groups of well connected processors)
 *    ladder ─────┼─▶ 4 searches ─▶ the best ─▶ 4 searches, cooler ─┬─▶ the shortest
 *    auction ────┼─▶ overhauls  ─────────────▶ overhauls ──────────┘
 *    small.c ────┴─▶ proven: nothing to search
 *
 * Up to four different mappings of hetpart2 are the starts of four searches side by side, one of the ladder's that of a fifth
 * (round 1); then all four search from the best, cooler (round 2). Beside them overhauls go on from the best of
 * everything and from the auction's mapping. With a budget in moves the answer is the same on every
 * machine and number of cores: searches do not see each other, and results are compared in order. */
#include "base/clock.h"
#include "base/parallel.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "plan/tree/auction.h"
#include "plan/tree/bound.h"
#include "plan/tree/evict_plan.h"
#include "plan/tree/groups.h"
#include "plan/tree/hetpart.h"
#include "plan/tree/ladder.h"
#include "plan/tree/search.h"
#include "plan/tree/small.h"
#include <inttypes.h>
#include <string.h>

/* With a budget in moves always so many searches side by side, whatever the machine: the answer must
 * not depend on it. Four begin with hetpart2's mappings and one with the ladder's, so that what one
 * start leads to is not lost for the other's sake. In a time every second of the four begins with the
 * ladder's, and the second round has fewer and longer ones on few cores: all go on from the same
 * mapping then. Two of a round make overhauls, for half as many moves, one of them hotter: they are
 * there for trees on which single moves lead nowhere. What is not one of the four rests in the second
 * round if it was not ahead in the first. */
enum {
    STREAMS = 4,
    FEW_STREAMS = 2,
    OVERHAULS = 2,
    LADDERED = 1,
    SEARCHES = 7,
    ROUNDS = 2,
    SMALL_STEPS = 1000000
};
static const double HEAT[ROUNDS] = {0.01, 0.0025};
/* So much shorter than what the others have, and they all go on from there. */
static const double AHEAD = 0.98;
/* Of a budget in seconds, for the ladder and as much for the auction. */
static const double STARTS_SHARE = 0.25;

static const struct option options[] = {
    {"budget", OPTION_TEXT, "2000000moves", NULL, 0, 0,
     "how long to search: moves (2000000moves: the same plan every time) or a time (1s, 500ms)"},
    OPTION_MEMORY_COUNT,
    {0},
};

const struct planner planner_tree;

struct tree_budget {
    uint64_t moves; /* 0: by time */
    double seconds;
};

static bool tree_parse_budget(const char *text, struct tree_budget *out, struct error *err)
{
    static const char unit[] = "moves";
    size_t length = strlen(text), tail = sizeof unit - 1;
    int64_t moves;
    *out = (struct tree_budget){0};
    if (length > tail && strcmp(text + length - tail, unit) == 0) {
        while (length > tail && text[length - tail - 1] == ' ')
            length--;
        if (quantity_integer(text, length - tail, &moves) && moves > 0) {
            out->moves = (uint64_t)moves;
            return true;
        }
    } else if (quantity_seconds(text, length, &out->seconds) && out->seconds > 0) {
        return true;
    }
    return error_set(err, ERROR_INPUT,
                     "option budget=%s: expected a time such as 1s or 500ms, or a number of moves "
                     "such as 2000000moves",
                     text);
}

/* The state of one call; found[] and cost[] are written by search i alone. */
struct tree_run {
    const struct plan_request *request;
    const struct tree_setting *setting;
    struct cut_levels *levels;
    struct tree_budget budget;
    double begun, ends;   /* of the searches, with a budget in seconds */
    double bound, before; /* before: what hetpart2 reached */
    bool proven;          /* nothing shorter exists (or nothing at all) */
    struct snapshot start[STREAMS], found[SEARCHES];
    struct snapshot best;                  /* of everything so far; n 0: none */
    struct snapshot auctioned;             /* the auction's; n 0: none */
    struct snapshot laddered[STREAMS / 2]; /* the ladder's, every second search starts there */
    uint32_t nstarts, round;
    uint32_t streams, searches; /* of this round: OVERHAULS from `streams` on make overhauls */
    uint64_t cost[SEARCHES];
};

static void take_best(struct tree_run *run, const struct snapshot *mapping)
{
    if (mapping->n && (!run->best.n || mapping->makespan < run->best.makespan))
        snapshot_copy(&run->best, mapping);
}

/* When search i of a round should end: searches take turns where there are fewer cores. */
static double search_deadline(const struct tree_run *run, size_t i)
{
    size_t cores = parallel_cores(), turns = (run->searches + cores - 1) / cores, turn = i / cores;
    double share = ((double)run->round + (double)(turn + 1) / (double)turns) / ROUNDS;
    return run->begun + (run->ends - run->begun) * share;
}

static void tree_run_stream(void *context, size_t i)
{
    struct tree_run *run = context;
    struct tree_search_limits limits = {
        .moves = run->budget.moves ? 1 + run->budget.moves / STREAMS / ROUNDS : 0,
        .deadline = run->budget.moves ? INFINITY : search_deadline(run, i),
        .target = run->bound,
        .progress = i == 0 ? run->request->progress : NULL,
        .progress_from = (double)run->round / ROUNDS,
        .progress_share = 1.0 / ROUNDS,
        .overhauls = i >= run->streams && i < run->streams + OVERHAULS,
        .heat = HEAT[run->round]};
    if (limits.overhauls)
        limits.moves = (limits.moves + 1) / 2;
    if (limits.overhauls && i > run->streams)
        limits.heat *= 2;
    if (!run->budget.moves && clock_seconds() >= limits.deadline)
        return;
    uint64_t stream = run->round * STREAMS + i;
    if (i >= run->streams)
        stream += 3 * STREAMS - run->streams;
    run->cost[i] +=
        tree_search(run->setting, run->levels, &run->found[i], run->request->seed, stream, &limits);
}

/* Where search i of a round begins: with the ladder's mappings every second one, since the shortest
 * start is not always the one that leads furthest. */
static const struct snapshot *first_start(const struct tree_run *run, uint32_t i)
{
    if (run->round)
        return &run->start[0];
    if (!run->laddered[0].n || run->budget.moves)
        return &run->start[i % run->nstarts];
    const struct snapshot *ladder = &run->laddered[i / 2 % (STREAMS / 2)];
    return i % 2 && ladder->n ? ladder : &run->start[i / 2 % run->nstarts];
}

/* Round 1: each from a start of its own, the overhauls from the best known. Round 2: all from the
 * best of round 1, but where overhauls were ahead by a little only the others go on from theirs. */
static void search_all(struct tree_run *run)
{
    if (run->setting->nprocs < 2 || run->setting->t->n < 2)
        return;
    run->levels = cut_levels_new(run->setting);
    for (run->round = 0; run->round < ROUNDS; run->round++) {
        bool few = run->round && !run->budget.moves && parallel_cores() < STREAMS;
        run->streams = few ? FEW_STREAMS : STREAMS;
        bool ahead = run->best.makespan < run->start[0].makespan * AHEAD;
        bool rests = run->round && run->best.makespan >= run->start[0].makespan;
        bool laddered = run->budget.moves && run->laddered[0].n;
        run->searches = run->streams + (rests ? 0 : OVERHAULS + (laddered ? LADDERED : 0));
        for (uint32_t i = 0; i < run->searches; i++) {
            const struct snapshot *from = first_start(run, i);
            if (i >= run->streams || (run->round && ahead))
                from = &run->best;
            if (i > run->streams && run->round == 0 && run->auctioned.n)
                from = &run->auctioned;
            if (i >= run->streams + OVERHAULS && run->round == 0)
                from = &run->laddered[0];
            snapshot_copy(&run->found[i], from);
        }
        parallel_for(run->searches, 0, tree_run_stream, run);
        for (uint32_t i = 0; i < run->searches; i++) {
            if (i < run->streams && run->found[i].makespan < run->start[0].makespan)
                snapshot_copy(&run->start[0], &run->found[i]);
            take_best(run, &run->found[i]);
        }
    }
    cut_levels_free(run->levels);
}

/* What the ladder and the auction find, beside hetpart2's; of a time they take no more than half. */
static void find_starts(struct tree_run *run)
{
    bool timed = !run->budget.moves;
    double share = run->budget.seconds * STARTS_SHARE;
    uint32_t found = 0;
    ladder_mappings(run->setting, run->best.n ? run->best.makespan : INFINITY,
                    timed ? run->begun + share : INFINITY, run->laddered, &found, STREAMS / 2);
    take_best(run, &run->laddered[0]);
    found = 0;
    auction_mappings(run->setting, run->best.n ? run->best.makespan : INFINITY,
                     timed ? run->begun + 2 * share : INFINITY, &run->auctioned, &found, 1);
    take_best(run, &run->auctioned);
}

/* Where links differ, mappings to well connected processors take the place of the longest starts. */
static void start_from_groups(struct tree_run *run)
{
    struct snapshot found[STREAMS / 2] = {0};
    double deadline =
        run->budget.moves ? INFINITY : run->begun + run->budget.seconds * STARTS_SHARE;
    struct group_budget budget = {(run->budget.moves + 7) / STREAMS / ROUNDS, run->request->seed,
                                  deadline};
    uint32_t n = group_mappings(run->setting, &budget, found, STREAMS / 2);
    for (uint32_t i = 0; i < n; i++) {
        take_best(run, &found[i]);
        uint32_t at = run->nstarts < STREAMS ? run->nstarts++ : STREAMS - 1;
        if (run->start[at].n && run->start[at].makespan <= found[i].makespan)
            continue;
        snapshot_copy(&run->start[at], &found[i]);
        /* the shortest first */
        for (; at > 0 && run->start[at].makespan < run->start[at - 1].makespan; at--) {
            struct snapshot longer = run->start[at - 1];
            run->start[at - 1] = run->start[at];
            run->start[at] = longer;
        }
    }
    for (uint32_t i = 0; i < STREAMS / 2; i++)
        snapshot_free(&found[i]);
}

/* The shortest mapping found for a setting into run->best. `known` may be NULL, else a valid mapping.
 * `p` holds the last attempt of hetpart2. */
static void solve_tree(struct tree_run *run, struct partition *p, const struct snapshot *known)
{
    run->begun = clock_seconds();
    run->ends = run->begun + run->budget.seconds;
    run->bound = tree_lower_bound(run->setting);
    run->nstarts =
        hetpart_best(p, STEP1_BEST, FIT_FIRST, PHASES_AB, run->start, STREAMS, &run->best);
    run->before = run->best.n ? run->best.makespan : NAN;
    start_from_groups(run);
    if (known)
        take_best(run, known);
    if (small_tree(run->setting)) {
        struct snapshot best = {.makespan = INFINITY};
        if (run->best.n)
            snapshot_copy(&best, &run->best);
        run->proven = small_tree_search(run->setting, &best, SMALL_STEPS);
        take_best(run, &best);
        snapshot_free(&best);
    }
    if (!run->proven)
        find_starts(run);
    if (run->best.n && !run->nstarts)
        snapshot_copy(&run->start[run->nstarts++], &run->best);
    run->begun = clock_seconds();
    if (run->nstarts && !run->proven)
        search_all(run);
    if (run->best.n && run->proven)
        run->bound = run->best.makespan;
}

static void free_run(struct tree_run *run)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        snapshot_free(&run->start[i]);
    for (uint32_t i = 0; i < SEARCHES; i++)
        snapshot_free(&run->found[i]);
    snapshot_free(&run->best);
    for (uint32_t i = 0; i < STREAMS / 2; i++)
        snapshot_free(&run->laddered[i]);
    snapshot_free(&run->auctioned);
}

/* Lenient: a mapping that is valid strictly is valid, so the strict search comes first and its
 * mapping is one of the starts. */
static void solve_strictly(const struct tree_job *job, struct tree_run *run, struct snapshot *out)
{
    struct tree_setting *strict = tree_job_strict(job);
    if (!strict)
        return;
    run->budget.seconds /= 2; /* moves are counted for each, so that both are what they are alone */
    struct tree_run first = {.request = run->request, .setting = strict, .budget = run->budget};
    struct partition *p = partition_new(strict, true);
    solve_tree(&first, p, NULL);
    if (first.best.n)
        snapshot_copy(out, &first.best);
    free_run(&first);
    partition_free(p);
    setting_free(strict);
}

static struct plan *plan_tree(const struct plan_request *request, struct error *err)
{
    struct tree_run run = {.request = request};
    struct tree_job job;
    struct plan *plan = NULL;
    if (!tree_parse_budget(request_text(request, &planner_tree, "budget"), &run.budget, err) ||
        !tree_job_open(&job, request, &planner_tree, err))
        return NULL;
    run.setting = job.setting;
    struct partition *p = partition_new(job.setting, true);
    struct snapshot strict = {0};
    solve_strictly(&job, &run, &strict);
    solve_tree(&run, p, strict.n ? &strict : NULL);
    if (run.best.n) {
        uint64_t cost = 0;
        plan = tree_job_plan(&job, &run.best, run.bound, err);
        for (uint32_t i = 0; i < SEARCHES; i++)
            cost += run.cost[i];
        if (plan && run.before > 0)
            plan_note(plan, "%.1f %% shorter than hetpart2 (%" PRIu64 " moves)",
                      100 * (1 - run.best.makespan / run.before), cost);
    } else if ((plan = evict_plan(&job))) {
        /* with files on disks */
    } else if (run.proven) {
        error_set(err, ERROR_INFEASIBLE,
                  "no mapping exists: every way to cut the tree of %u task%s and to map its parts "
                  "to the %u node%s exceeds a memory",
                  job.tree->n, plural(job.tree->n), job.setting->nprocs,
                  plural(job.setting->nprocs));
    } else {
        tree_job_unplaced(&job, p, err);
    }
    snapshot_free(&strict);
    free_run(&run);
    partition_free(p);
    tree_job_close(&job);
    return plan;
}

const struct planner planner_tree = {
    .name = "tree",
    .family = "tree",
    .summary =
        "the shortest mapping of a tree that hetpart2, an auction of nodes and a search over "
        "cuts and nodes find; small trees exactly",
    .paper =
        "beyond Kulagina, Meyerhenke, Benoit (CCPE 2023): cuts and mapping are searched together",
    .guarantee =
        "never longer than hetpart2; the optimum, and said so, for nearly all trees of up to 13 "
        "tasks (up to 32 are tried)",
    .tie_rule = "the first found; with a budget in moves the same plan on every machine",
    .options = options,
    .accepts = ACCEPTS_TREE,
    .run = plan_tree,
};
