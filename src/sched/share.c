/* Who is served next, of the runs on a node (share.h). */
#include "sched/share.h"

#include <math.h>

double share_weight(double priority)
{
    return exp2(priority);
}

/* Up to now. A clock that goes back stands still. */
static double share_running(const struct run_share *r, double now)
{
    return r->running + (now > r->since ? r->busy * (now - r->since) : 0);
}

void share_takes(struct run_share *r, double now, uint32_t cores)
{
    r->running = share_running(r, now);
    r->since = now;
    r->busy += cores;
}

/* Sums of doubles do not drift: nothing is nothing. */
void share_gives(struct run_share *r, double now, uint32_t cores, double seconds)
{
    r->running = fmax(share_running(r, now) - cores * seconds, 0);
    r->since = now;
    r->busy -= cores < r->busy ? cores : r->busy;
    if (!r->busy)
        r->running = 0;
    r->served += cores * seconds / r->weight;
    r->lengths += seconds;
    r->ended++;
}

/* Of a run of which nothing has ended yet, a second each: then how long they last decides. */
double share_had(const struct run_share *r, double now)
{
    double length = r->ended ? r->lengths / (double)r->ended : 1;
    return r->served + fmax(r->busy * length, share_running(r, now)) / r->weight;
}

void share_competes(struct node_shares *n, struct run_share *r, double now)
{
    double least = INFINITY;
    if (r->competes)
        return;
    r->competes = true;
    for (size_t i = 0; i < n->runs.n; i++) {
        const struct run_share *other = n->runs.at[i];
        if (other != r && (other->busy || n->waits(other)))
            least = fmin(least, share_had(other, now));
    }
    if (isfinite(least) && r->served < least)
        r->served = least;
}

struct run_share *share_next(const struct node_shares *n, double now)
{
    struct run_share *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < n->runs.n; i++) {
        struct run_share *r = n->runs.at[i];
        double had = n->waits(r) ? share_had(r, now) : INFINITY;
        if (had < least) {
            best = r;
            least = had;
        }
    }
    return best;
}

bool share_is_turn_of_another(const struct node_shares *n, const struct run_share *r, double now)
{
    double had = share_had(r, now);
    for (size_t i = 0; i < n->runs.n; i++) {
        const struct run_share *other = n->runs.at[i];
        if (other != r && n->waits(other) && share_had(other, now) < had)
            return true;
    }
    return false;
}

void share_joins(struct node_shares *n, struct run_share *r, double priority)
{
    r->weight = share_weight(priority);
    array_push(&n->runs, r);
}

void share_leaves(struct node_shares *n, const struct run_share *r)
{
    for (size_t i = n->runs.n; i--;)
        if (n->runs.at[i] == r) {
            memmove(&n->runs.at[i], &n->runs.at[i + 1], (n->runs.n - i - 1) * sizeof *n->runs.at);
            n->runs.n--;
        }
}
