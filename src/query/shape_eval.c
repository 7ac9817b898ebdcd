/* Evaluates shapes, and keeps aggregates up to date while tasks are scheduled: shape.h has the
 * contract.
 *
 * A watched aggregate is a tally (count, sum, extreme). Before a push the changing rows are taken
 * out, after it put in again. An extreme that was taken out makes it stale, and it is counted anew
 * unless a row as good came in: that is the only case that costs a pass over the relation.
 *
 * Truth has three values, as in SQL: UNKNOWN and FALSE is FALSE, UNKNOWN or TRUE is TRUE. */
#include "query/shape_nodes.h"
#include <math.h>

static struct value select_value(struct query_shape *s, struct select *select);

/* Truth as a value, as SQLite has it: 1, 0 or NULL. */
static struct value truth_value(enum truth t)
{
    return t == TRUTH_UNKNOWN ? value_unknown() : value_integer(t == TRUTH_TRUE);
}

static enum truth truth_of(struct value v)
{
    return v.kind == VALUE_UNKNOWN ? TRUTH_UNKNOWN : v.number != 0 ? TRUTH_TRUE : TRUTH_FALSE;
}

/* As SQLite: integers divide to integers, division by 0 is unknown. */
static struct value value_arithmetic(enum node_kind kind, struct value a, struct value b)
{
    if (a.kind == VALUE_UNKNOWN || b.kind == VALUE_UNKNOWN)
        return value_unknown();
    bool whole = a.kind == VALUE_INTEGER && b.kind == VALUE_INTEGER;
    double result = 0;
    switch (kind) {
    case NODE_ADD:
        result = a.number + b.number;
        break;
    case NODE_SUBTRACT:
        result = a.number - b.number;
        break;
    case NODE_MULTIPLY:
        result = a.number * b.number;
        break;
    default:
        if (b.number == 0)
            return value_unknown();
        result = whole ? trunc(a.number / b.number) : a.number / b.number;
    }
    return whole ? value_integer(result) : value_real(result);
}

/* The depth is bounded by the parser's. `row` is a row of the select around, if any. */
static struct value evaluate_node(struct query_shape *s, int index, uint32_t row)
{
    const struct shape_node *n = &s->nodes.at[index];
    switch (n->kind) {
    case NODE_CONSTANT:
        return n->constant;
    case NODE_ATTRIBUTE:
        return relations_value(s->relations, n->attribute, row);
    case NODE_SELECT:
        if (s->substituting && n->left == s->rows)
            return s->row;
        return select_value(s, &s->selects.at[n->left]);
    case NODE_MINUS: {
        struct value v = evaluate_node(s, n->left, row);
        v.number = -v.number;
        return v;
    }
    case NODE_ABS: {
        struct value v = evaluate_node(s, n->left, row);
        v.number = fabs(v.number);
        return v;
    }
    case NODE_TEST: {
        struct value a = evaluate_node(s, n->left, row), b = evaluate_node(s, n->right, row);
        return truth_value(value_test(&a, n->test, &b));
    }
    case NODE_IS_UNKNOWN:
        return truth_value(evaluate_node(s, n->left, row).kind == VALUE_UNKNOWN);
    case NODE_NOT: {
        enum truth t = truth_of(evaluate_node(s, n->left, row));
        return t == TRUTH_UNKNOWN ? value_unknown() : truth_value(!t);
    }
    case NODE_AND: {
        enum truth a = truth_of(evaluate_node(s, n->left, row));
        if (a == TRUTH_FALSE)
            return truth_value(a);
        enum truth b = truth_of(evaluate_node(s, n->right, row));
        return b == TRUTH_FALSE ? truth_value(b) : truth_value(a == TRUTH_TRUE ? b : a);
    }
    case NODE_OR: {
        enum truth a = truth_of(evaluate_node(s, n->left, row));
        if (a == TRUTH_TRUE)
            return truth_value(a);
        enum truth b = truth_of(evaluate_node(s, n->right, row));
        return b == TRUTH_TRUE ? truth_value(b) : truth_value(a == TRUTH_FALSE ? b : a);
    }
    default:
        return value_arithmetic(n->kind, evaluate_node(s, n->left, row),
                                evaluate_node(s, n->right, row));
    }
}

/* A filter lets through what is TRUE, not what is UNKNOWN. */
static bool row_passes(struct query_shape *s, const struct select *select, uint32_t row)
{
    return select->where < 0 || truth_of(evaluate_node(s, select->where, row)) == TRUTH_TRUE;
}

/* ---- aggregates ---- */

/* Does the row count, and with which number? */
static bool row_contributes(struct query_shape *s, const struct select *select, uint32_t row,
                            double *number)
{
    *number = 0;
    if (!row_passes(s, select, row))
        return false;
    if (select->aggregate == COUNT_ALL)
        return true;
    struct value v = evaluate_node(s, select->what, row);
    *number = v.kind == VALUE_TEXT ? 0 : v.number;
    return v.kind != VALUE_UNKNOWN;
}

/* Smaller for MIN, larger for everything else. */
static bool number_beats(const struct select *select, double a, double b)
{
    return select->aggregate == MIN ? a < b : a > b;
}

/* The extreme is the first number, or one that beats it. */
static void tally_include(const struct select *select, struct tally *tally, double number)
{
    if (!tally->count || number_beats(select, number, tally->extreme))
        tally->extreme = number;
    tally->count++;
    tally->sum += number;
}

/* A pass over all rows of the relation. */
static struct tally recount_select(struct query_shape *s, const struct select *select)
{
    struct tally tally = {0};
    uint32_t rows = relations_rows(s->relations, select->relation);
    double number;
    for (uint32_t row = 0; row < rows; row++)
        if (row_contributes(s, select, row, &number))
            tally_include(select, &tally, number);
    return tally;
}

/* An aggregate over no rows is unknown, but for counts. */
static struct value tally_value(const struct query_shape *s, const struct select *select,
                                const struct tally *tally)
{
    if (select->aggregate == COUNT || select->aggregate == COUNT_ALL)
        return value_integer((double)tally->count);
    if (!tally->count)
        return value_unknown();
    bool whole = s->nodes.at[select->what].type == VALUE_INTEGER;
    if (select->aggregate == AVG)
        return value_real(tally->sum / (double)tally->count);
    double number = select->aggregate == SUM ? tally->sum : tally->extreme;
    return whole ? value_integer(number) : value_real(number);
}

/* The row that the condition's key names; NONE: no such row. */
static uint32_t find_row(struct query_shape *s, const struct select *select)
{
    struct value key = evaluate_node(s, select->lookup, 0);
    const struct relations *r = s->relations;
    if (key.kind != VALUE_INTEGER && key.kind != VALUE_REAL)
        return NONE;
    uint32_t most =
        select->lookup_by == TASK_SCHEDULE_ORDER ? r->depth : relations_rows(r, select->relation);
    if (!(key.number >= 1 && key.number <= most))
        return NONE;
    uint32_t row = (uint32_t)key.number - 1;
    return select->lookup_by == TASK_SCHEDULE_ORDER ? r->stack[row] : row;
}

/* A scalar sub-select of several rows gives its first, as SQLite does. */
static struct value first_row(struct query_shape *s, const struct select *select)
{
    if (select->lookup >= 0) {
        uint32_t row = find_row(s, select);
        return row != NONE && row_passes(s, select, row) ? evaluate_node(s, select->what, row)
                                                         : value_unknown();
    }
    if (select->fixed)
        return select->rows.n ? evaluate_node(s, select->what, select->rows.at[0])
                              : value_unknown();
    uint32_t rows = relations_rows(s->relations, select->relation);
    for (uint32_t row = 0; row < rows; row++)
        if (row_passes(s, select, row))
            return evaluate_node(s, select->what, row);
    return value_unknown();
}

/* From the cheapest source: constant, tally, or a pass over the relation. */
static struct value select_value(struct query_shape *s, struct select *select)
{
    if (select->aggregate == ROWS)
        return first_row(s, select);
    if (select->constant)
        return select->value;
    if (select->watched)
        return tally_value(s, select, &select->now);
    struct tally tally = recount_select(s, select);
    return tally_value(s, select, &tally);
}

/* ---- watching ---- */

/* Everything counted once on the empty state; rows of fixed filters are listed. */
void shape_begin(struct query_shape *s)
{
    for (size_t i = 0; i < s->selects.n; i++) {
        struct select *select = &s->selects.at[i];
        select->saved.n = 0;
        select->rows.n = 0;
        if (select->aggregate != ROWS) {
            select->now = recount_select(s, select);
            select->value = tally_value(s, select, &select->now);
        } else if (select->fixed) {
            uint32_t rows = relations_rows(s->relations, select->relation);
            for (uint32_t row = 0; row < rows; row++)
                if (row_passes(s, select, row))
                    array_push(&select->rows, row);
        }
    }
}

/* The rows that a push changes: first .. last-1 of the select's relation. */
static void changed_rows(const struct query_shape *s, const struct select *select, uint32_t task,
                         uint32_t proc, uint32_t *first, uint32_t *last)
{
    const struct workflow *w = s->relations->w;
    *first = select->relation == RELATION_TASK   ? task
             : select->relation == RELATION_PROC ? proc
                                                 : w->pred_off[task];
    *last = select->relation == RELATION_DEP ? w->pred_off[task + 1] : *first + 1;
}

/* The rows as they are now leave the tallies; what the tallies were is saved for shape_undo(). */
void shape_before(struct query_shape *s, uint32_t task, uint32_t proc)
{
    for (size_t i = 0; i < s->selects.n; i++) {
        struct select *select = &s->selects.at[i];
        if (!select->watched)
            continue;
        array_push(&select->saved, select->now);
        select->stale = false;
        uint32_t first, last;
        double number;
        changed_rows(s, select, task, proc, &first, &last);
        for (uint32_t row = first; row < last; row++)
            if (row_contributes(s, select, row, &number)) {
                select->now.count--;
                select->now.sum -= number;
                select->stale |= number == select->now.extreme;
                if (!select->now.count)
                    select->now.sum = 0; /* no rounding left behind */
            }
    }
}

/* The rows as they have become join the tallies. */
void shape_after(struct query_shape *s, uint32_t task, uint32_t proc)
{
    for (size_t i = 0; i < s->selects.n; i++) {
        struct select *select = &s->selects.at[i];
        if (!select->watched)
            continue;
        uint32_t first, last;
        double number;
        changed_rows(s, select, task, proc, &first, &last);
        for (uint32_t row = first; row < last; row++)
            if (row_contributes(s, select, row, &number)) {
                if (!number_beats(select, select->now.extreme, number))
                    select->stale = false; /* as good as what was taken away */
                tally_include(select, &select->now, number);
            }
        bool extreme = select->aggregate == MIN || select->aggregate == MAX;
        bool completed = select->relation == RELATION_PROC && relations_completed(s->relations);
        if (completed || (select->stale && extreme && select->now.count))
            select->now = recount_select(s, select);
    }
}

/* Only tallies change from state to state. */
void shape_undo(struct query_shape *s)
{
    for (size_t i = 0; i < s->selects.n; i++)
        if (s->selects.at[i].watched)
            s->selects.at[i].now = array_pop(&s->selects.at[i].saved);
}

/* ---- answers ---- */

struct value shape_value(struct query_shape *s)
{
    return evaluate_node(s, s->root, 0);
}

/* The value of the whole expression if the filtered attribute had this row's value. */
bool shape_row(struct query_shape *s, uint32_t row, struct value *out)
{
    const struct select *select = &s->selects.at[s->rows];
    if (!row_passes(s, select, row))
        return false;
    s->row = evaluate_node(s, select->what, row);
    s->substituting = true;
    *out = evaluate_node(s, s->root, 0);
    s->substituting = false;
    return true;
}

static void shape_add_value(struct values *out, struct value v)
{
    if (v.kind == VALUE_TEXT) { /* a task list goes with the next one */
        array_push(&out->texts, mem_copy_string(v.text));
        v.text = array_last(&out->texts);
    }
    array_push(&out->list, v);
}

/* All rows that the filter lets through; one by key where there is one. */
void shape_values(struct query_shape *s, struct values *out)
{
    struct value v;
    if (s->rows < 0) {
        shape_add_value(out, shape_value(s));
        return;
    }
    const struct select *select = &s->selects.at[s->rows];
    if (select->lookup >= 0) {
        uint32_t row = find_row(s, select);
        if (row != NONE && shape_row(s, row, &v))
            shape_add_value(out, v);
        return;
    }
    uint32_t rows =
        select->fixed ? (uint32_t)select->rows.n : relations_rows(s->relations, select->relation);
    for (uint32_t i = 0; i < rows; i++)
        if (shape_row(s, select->fixed ? select->rows.at[i] : i, &v))
            shape_add_value(out, v);
}
