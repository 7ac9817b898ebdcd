/* The decisions of the paper (MATRIX, sections 4.2 and 4.3), without state and without time: the
 * paper's own numbers are their tests. */
#include "sched/decide.h"
#include <math.h>
#include <stdbool.h>

/* size / bandwidth / length <= t, multiplied out so that zeros need no cases. */
static bool is_negligible(const struct decide_input *in, double size, double t)
{
    return size <= 0 || t == INFINITY || size <= t * in->bandwidth * in->length;
}

enum decision decide(const struct decide_input *in, double t)
{
    if (is_negligible(in, in->all_size, t) || is_negligible(in, in->max_size, t) ||
        in->max_node == UINT32_MAX)
        return DECIDE_SHARED;
    return in->max_node == in->self ? DECIDE_LOCAL : DECIDE_PUSH;
}

enum decision decide_vectors(const double *data_size, const uint32_t *parent_node, size_t n,
                             const struct decide_input *in)
{
    struct decide_input sum = *in;
    sum.all_size = sum.max_size = 0;
    sum.max_node = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        sum.all_size += data_size[i];
        if (i == 0 || data_size[i] > sum.max_size) {
            sum.max_size = data_size[i];
            sum.max_node = parent_node[i];
        }
    }
    return decide(&sum, in->t);
}

uint32_t decide_relax(uint32_t queued, double done, double seconds, double tt)
{
    if (!queued || seconds <= 0)
        return 0;
    if (done <= 0) {
        if (seconds <= tt)
            return 0;
        done = 1;
    }
    double throughput = done / seconds;
    double run_time = queued / throughput;
    if (run_time <= tt)
        return 0;
    /* Rounded up, since the rest must be below tt; the small step back keeps 40 % of 5000 at 2000
     * in floating point. */
    double move = ceil((run_time - tt) / run_time * queued - 1e-6);
    return move < 0 ? 0 : move > queued ? queued : (uint32_t)move;
}
