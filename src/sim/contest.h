/* Orders against each other: every run simulates all of them with the same clients and times, so that
 * a run's times differ by the orders alone. */
#pragma once
#include "sim/order.h"
#include "sim/repeat.h"

enum { CONTEST_ORDERS = 16 };
enum contest_metric { CONTEST_TIME, CONTEST_STALLS, CONTEST_USE, CONTEST_METRICS };

struct contest {
    const struct workflow *w;
    const struct order_options *o;          /* whose order, seed and trace are not looked at */
    const uint32_t *orders[CONTEST_ORDERS]; /* NULL: first in, first out */
    uint32_t norders;
};

/* `count` runs. Metric k of order i of the result is contest_column(i, k). repeat_result_free(). */
bool contest_run(const struct contest *c, const struct repeat_options *o, struct repeat_result *out,
                 struct error *err);

static inline uint32_t contest_column(uint32_t order, enum contest_metric metric)
{
    return order * CONTEST_METRICS + metric;
}
