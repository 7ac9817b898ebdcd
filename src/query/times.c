/* Times of the schedule in constraints: which orders between tasks they ask for, and whether idle
 * time could help them.
 *
 * An order is found where a constraint says nothing else:
 *
 *    relationship   (select task-finish-time from task where task-name = 'a') <
 *                   (select task-start-time from task where task-kind = 'b')      every pair
 *    ordering       (select task-finish-time from task ... order by task-priority), <=
 *                                                                                 neighbours
 *
 * A search that knows them lets a task wait for another one, which no choice of processors does. */
#include "query/constraint.h"
#include <math.h>

/* Pairs of one relationship that are worth a list: beyond, it is asked like any other. */
enum { MOST_PAIRS = 100000 };

static bool is_order(enum test test)
{
    return test == TEST_LESS || test == TEST_AT_MOST || test == TEST_MORE || test == TEST_AT_LEAST;
}

/* One order; the test may stand either way round. A task and itself: nothing to keep, or nothing
 * that can be kept; the constraint itself says which. */
static bool add_order(time_orders *out, enum test test, uint32_t left, bool left_start,
                      uint32_t right, bool right_start)
{
    bool flipped = test == TEST_MORE || test == TEST_AT_LEAST;
    if (left == right)
        return false;
    array_push(out, (struct time_order){
                        .before = flipped ? right : left,
                        .after = flipped ? left : right,
                        .before_start = flipped ? right_start : left_start,
                        .after_start = flipped ? left_start : right_start,
                        .strict = test == TEST_LESS || test == TEST_MORE,
                    });
    return true;
}

/* Every task of the one list before every task of the other. */
static bool relationship_orders(const struct constraint *c, time_orders *out)
{
    const uint32_t *left, *right;
    size_t lefts, rights;
    bool left_start, right_start;
    if (!c->left.shape || !c->right.shape ||
        !shape_lists_times(c->left.shape, &left_start, &left, &lefts) ||
        !shape_lists_times(c->right.shape, &right_start, &right, &rights) ||
        (rights && lefts > MOST_PAIRS / rights))
        return false;
    for (size_t i = 0; i < lefts; i++)
        for (size_t k = 0; k < rights; k++)
            if (!add_order(out, c->test, left[i], left_start, right[k], right_start))
                return false;
    return true;
}

/* Each task of the sequence before the next one: the rest follows. */
static bool sequence_orders(struct query *q, const struct constraint *c, time_orders *out)
{
    if (!c->sequence)
        return false;
    struct error err = {0};
    bool good = true;
    values_clear(&q->a);
    if (!sql_rows(c->sequence, &q->a, &err))
        return false;
    for (size_t i = 1; i < q->a.list.n && good; i++)
        good = add_order(out, c->test, (uint32_t)q->a.list.at[i - 1].number - 1, c->sequence_starts,
                         (uint32_t)q->a.list.at[i].number - 1, c->sequence_starts);
    return good;
}

bool query_time_orders(struct query *q, size_t index, time_orders *out)
{
    const struct constraint *c = &q->constraints.at[index];
    size_t before = out->n;
    bool good = is_order(c->test) &&
                ((c->measures == CONSTRAINT_RELATIONSHIP && relationship_orders(c, out)) ||
                 (c->measures == CONSTRAINT_ORDERING && sequence_orders(q, c, out)));
    if (!good)
        out->n = before;
    return good;
}

/* ---- does idle time matter? ---- */

/* A look at the words: a time can only be read by its name, or by a star that stands for all. */
static bool operand_reads_times(const struct constraint *c, const struct operand *o)
{
    const struct query_token *tokens = c->source->tokens.at;
    for (size_t i = o->first; o->given && i < o->end; i++) {
        int attribute = tokens[i].attribute;
        bool all = i > o->first && token_is(&tokens[i], "*") &&
                   (token_is(&tokens[i - 1], "select") || token_is(&tokens[i - 1], ",") ||
                    token_is(&tokens[i - 1], "."));
        if (all)
            return true;
        if (attribute == TASK_START_TIME || attribute == TASK_FINISH_TIME ||
            attribute == PROC_FINISH_TIME || attribute == PROC_TASK_LIST)
            return true;
    }
    return false;
}

/* A task list is sorted by start: whether it is empty is another matter, and that is what the
 * default constraint asks. */
bool constraint_is_timeless(const struct constraint *c)
{
    if (c->left.unknown || c->right.unknown)
        return true;
    return !operand_reads_times(c, &c->left) && !operand_reads_times(c, &c->right);
}

/* An upper bound of a time that only grows when something waits. */
bool constraint_wants_early(const struct constraint *c)
{
    if (!c->requirement || !c->left.shape)
        return false;
    if (c->measures == CONSTRAINT_VALUE)
        return c->low == -INFINITY && shape_is_regular(c->left.shape);
    if (c->measures != CONSTRAINT_RELATIONSHIP || !c->right.shape)
        return false;
    bool below = c->test == TEST_LESS || c->test == TEST_AT_MOST;
    bool above = c->test == TEST_MORE || c->test == TEST_AT_LEAST;
    return (below && shape_is_regular(c->left.shape) && !operand_reads_times(c, &c->right)) ||
           (above && shape_is_regular(c->right.shape) && !operand_reads_times(c, &c->left));
}

/* Then a partial schedule that breaks it need not be completed, whoever looks only at goals. Of
 * values, those that only grow; of relationships, those between rows that keep their values. */
bool constraint_stays_broken(const struct constraint *c)
{
    if (!c->requirement || !c->left.shape)
        return false;
    if (c->measures == CONSTRAINT_VALUE)
        return c->low == -INFINITY && shape_grows(c->left.shape);
    return c->measures == CONSTRAINT_RELATIONSHIP && c->right.shape && shape_stays(c->left.shape) &&
           shape_stays(c->right.shape);
}
