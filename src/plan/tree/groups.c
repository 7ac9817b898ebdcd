/* Sites: a platform of several has quick links inside and slow ones between. The steps of hetpart2 cut with the mean
 * of all links, so that every cut looks dear, and a search that leaves such a mapping one move at a time rarely brings
 * a whole mapping home to one site. So each site is also planned for alone, with its own links; searches go on from
 * there with all processors.
 *
 *     times from q to the others, sorted:   1 1 1 2 | 40 41 40 ...     the widest gap ends q's group
 *
 * A processor belongs to the group of the first one that has it near; platforms whose links are drawn at random
 * have no clear gap, and then groups are what they are: one more start that is rarely the best. Processors are
 * taken by falling memory, so that the groups with the largest memories are planned for first, and most of the time
 * that is left goes to them.
 *
 * Nothing here is exact: a mapping over two sites with one cheap cut between them is left to the searches, which
 * begin at the shortest of these and may use every processor. */
#include "plan/tree/groups.h"
#include "base/clock.h"
#include "base/mem.h"
#include "plan/tree/auction.h"
#include "plan/tree/hetpart.h"
#include "plan/tree/ladder.h"
#include "plan/tree/search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Groups that are planned for, processors up to which they are looked for (pairs are looked at), and how many times
 * as long a transfer is past a gap. */
enum { MOST_GROUPS = 4, MOST_PROCESSORS = 512 };
static const double GAP = 1.5, HEAT = 0.01;

struct timed_processor {
    double seconds;
    uint32_t processor;
};

static int compare_seconds(const void *a, const void *b)
{
    const struct timed_processor *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->processor < y->processor ? -1 : x->processor > y->processor;
}

/* What a gap in times is measured with: latencies count as much as they do for files of this tree. */
static double mean_file(const struct tree *t)
{
    double sum = 0;
    for (uint32_t x = 1; x < t->n; x++)
        sum += t->file[x];
    return t->n > 1 ? sum / (t->n - 1) : 0;
}

/* The processors near q as flags; false: there is no gap, or nobody is near. `times` is room for all of them. */
static bool near_processors(const struct tree_setting *s, uint32_t q, double bytes,
                            struct timed_processor *times, uint8_t *near)
{
    uint32_t n = 0, end = 0;
    double widest = GAP;
    for (uint32_t r = 0; r < s->nprocs; r++)
        if (r != q)
            times[n++] = (struct timed_processor){
                platform_transfer(s->platform, s->node[q], s->node[r], bytes), r};
    qsort(times, n, sizeof *times, compare_seconds);
    for (uint32_t i = 1; i < n && times[i - 1].seconds < INFINITY; i++)
        if (times[i].seconds > times[i - 1].seconds * widest) {
            widest = times[i].seconds / times[i - 1].seconds;
            end = i;
        }
    memset(near, 0, s->nprocs);
    near[q] = 1;
    for (uint32_t i = 0; i < end; i++)
        near[times[i].processor] = 1;
    return end > 0;
}

/* Ladder and auction, then a search from the shortest: all processors together rarely find back to one site. */
static void search_group(const struct tree_setting *own, const struct group_budget *budget,
                         struct snapshot *out)
{
    struct snapshot other[2] = {0};
    uint32_t laddered = 0, auctioned = 0;
    ladder_mappings(own, out->makespan, budget->deadline, &other[0], &laddered, 1);
    auction_mappings(own, out->makespan, budget->deadline, &other[1], &auctioned, 1);
    for (int i = 0; i < 2; i++) {
        if ((i ? auctioned : laddered) && other[i].makespan < out->makespan)
            snapshot_copy(out, &other[i]);
        snapshot_free(&other[i]);
    }
    struct tree_search_limits limits = {
        .moves = budget->moves, .deadline = budget->deadline, .heat = HEAT};
    if (own->nprocs < 2 || own->t->n < 2 || clock_seconds() >= budget->deadline)
        return;
    struct cut_levels *levels = cut_levels_new(own);
    tree_search(own, levels, out, budget->seed, 0, &limits);
    cut_levels_free(levels);
}

/* One group alone, its processors numbered as in `s`. */
static void plan_group(const struct tree_setting *s, const uint8_t *near,
                       const struct group_budget *budget, struct snapshot *out)
{
    struct tree_setting *own = setting_new(s->t, s->platform, s->counting, NULL);
    uint32_t *number = mem_new(uint32_t, s->nprocs), kept = 0;
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (near[q])
            number[kept++] = q; /* both are in the same order */
    setting_keep(own, near);
    struct partition *p = partition_new(own, true);
    struct snapshot start = {0};
    hetpart_best(p, STEP1_BEST, FIT_FIRST, PHASES_AB, &start, 1, out);
    if (out->n)
        search_group(own, budget, out);
    for (uint32_t i = 0; i < out->n; i++)
        out->proc[i] = number[out->proc[i]];
    snapshot_free(&start);
    partition_free(p);
    free(number);
    setting_free(own);
}

/* Keep it in its place among the shortest. Takes `found`. */
static void keep_shortest(struct snapshot *out, uint32_t *n, uint32_t most, struct snapshot *found)
{
    uint32_t at = *n;
    while (at > 0 && out[at - 1].makespan > found->makespan)
        at--;
    if (at < most) {
        if (*n == most)
            snapshot_free(&out[--*n]);
        memmove(&out[at + 1], &out[at], (*n - at) * sizeof *out);
        out[at] = *found;
        ++*n;
        *found = (struct snapshot){0};
    }
    snapshot_free(found);
}

/* Each processor that no group has yet begins one: itself and those near it. A group is planned as if
 * there were nothing else, which is what makes its links count as quick as they are. */
uint32_t group_mappings(const struct tree_setting *s, const struct group_budget *budget,
                        struct snapshot *out, uint32_t most)
{
    uint32_t found = 0, groups = 0;
    if (s->uniform || s->nprocs < 3 || s->nprocs > MOST_PROCESSORS)
        return 0;
    struct timed_processor *times = mem_new(struct timed_processor, s->nprocs);
    uint8_t *near = mem_new(uint8_t, s->nprocs), *seen = mem_new_zero(uint8_t, s->nprocs);
    double bytes = mean_file(s->t);
    for (uint32_t q = 0; q < s->nprocs && groups < MOST_GROUPS; q++) {
        if (seen[q] || clock_seconds() >= budget->deadline ||
            !near_processors(s, q, bytes, times, near))
            continue;
        for (uint32_t r = 0; r < s->nprocs; r++)
            seen[r] |= near[r];
        struct snapshot own = {0};
        struct group_budget slice =
            *budget; /* of the time that is left, so that every group has its share */
        if (!slice.moves)
            slice.deadline = clock_seconds() + (budget->deadline - clock_seconds()) / 2;
        plan_group(s, near, &slice, &own);
        groups++;
        if (own.n && isfinite(own.makespan))
            keep_shortest(out, &found, most, &own);
        else
            snapshot_free(&own);
    }
    free(times);
    free(near);
    free(seen);
    return found;
}
