/* Orders between times of tasks that hold by construction.
 *
 * "a ends before b" is a dependency of a weaker sort: b may start first, but is scheduled after a,
 * and waits where it would end too early. Any schedule that keeps such orders can be built in this
 * way: schedule its tasks by rising end, and each one finds what it waits for.
 *
 *     processor 1   [ a        ]
 *     processor 2   . . . .[ b ]           loose: b waits, so that it ends with a
 *     processor 2   . . . . . . .[ b ]     firm: b waits for a's end
 *
 * A firm order holds in the run too, however long the tasks take; a loose one holds as far as times
 * were predicted well. */
#pragma once
#include "model/workflow.h"
#include "query/query.h"

struct kept_orders {
    bool firm;
    time_orders list;  /* by the task that waits */
    uint32_t *waits;   /* per task, and one more: where its orders begin; NULL: no orders */
    uint32_t *held;    /* per task, and one more: where those who wait for it begin in `waiting` */
    uint32_t *waiting; /* tasks */
};

/* Adds the orders unless they make a circle with the dependencies and the orders before; false then,
 * and *impossible says whether that proves that no schedule keeps them all. */
bool orders_add(struct kept_orders *o, const struct workflow *w, const time_orders *more,
                bool *impossible);
/* After the last one was added. */
void orders_begin(struct kept_orders *o, const struct workflow *w);
void orders_free(struct kept_orders *o);

/* The least start of a task of so many seconds, the tasks before it having these times. */
double orders_least_start(const struct kept_orders *o, uint32_t task, double seconds,
                          const double *start, const double *finish);
