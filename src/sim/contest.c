/* Orders against each other under common random numbers: one repeat is one scenario of clients, met
 * by every order in turn. */
#include "sim/contest.h"

_Static_assert(CONTEST_ORDERS *CONTEST_METRICS <= REPEAT_METRICS, "a row of metrics holds all");

/* Called on several threads: everything shared is constant. */
static bool contest_once(void *context, uint32_t i, uint64_t seed, double *values,
                         struct error *err)
{
    const struct contest *c = context;
    struct order_options o = *c->o;
    struct order_result r;
    (void)i;
    o.seed = seed;
    o.trace = NULL;
    for (uint32_t k = 0; k < c->norders; k++) {
        o.order = c->orders[k];
        if (!order_run(c->w, &o, &r, err))
            return false;
        values[contest_column(k, CONTEST_TIME)] = r.makespan;
        values[contest_column(k, CONTEST_STALLS)] = r.stall_probability;
        values[contest_column(k, CONTEST_USE)] = r.utilization;
    }
    return true;
}

bool contest_run(const struct contest *c, const struct repeat_options *o, struct repeat_result *out,
                 struct error *err)
{
    static const char *const names[CONTEST_METRICS] = {"time", "stalls", "utilisation"};
    const char *all[REPEAT_METRICS];
    for (uint32_t k = 0; k < REPEAT_METRICS; k++)
        all[k] = names[k % CONTEST_METRICS];
    struct contest copy = *c;
    return repeat_run(o, all, c->norders * CONTEST_METRICS, contest_once, &copy, out, err);
}
