/* The constraints of one search: reading, evaluating on the state laid out, following pushes and
 * pops.
 *
 * Three ways to evaluate, the cheapest that is right: counts that are kept up to date as tasks are
 * scheduled (row_watch, order_watch, watched aggregates of a shape), shapes evaluated by hand,
 * SQLite. shape_test.c holds the first two against the third.
 *
 *    query_push   shape_before, rows out --> relations_push --> order in, rows in, shape_after
 *    query_pop    relations_pop --> what was saved
 *
 * What a relation can change at a push is one row of task, one of proc and the edges into the task
 * (relations.h); that is why a step is cheap. */
#include "query/constraint.h"
#include <math.h>
#include <stdio.h>

/* One query a search: it borrows the relations, and owns texts, tokens and statements until
 * query_free(). */
struct query *query_new(struct relations *relations, struct error *err)
{
    struct sql *sql = sql_open(relations, err);
    if (!sql)
        return NULL;
    struct query *q = mem_new_zero(struct query, 1);
    q->relations = relations;
    q->sql = sql;
    return q;
}

static void operand_free(struct operand *o)
{
    sql_finish(o->statement);
    shape_free(o->shape);
    values_free(&o->constants);
}

void query_free(struct query *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->constraints.n; i++) {
        struct constraint *c = &q->constraints.at[i];
        operand_free(&c->left);
        operand_free(&c->right);
        operand_free(&c->priority_text);
        operand_free(&c->min_text);
        operand_free(&c->max_text);
        sql_finish(c->sequence);
        order_watch_free(&c->order);
        array_free(&c->rows.saved);
        free(c->text);
    }
    array_free(&q->constraints);
    for (size_t i = 0; i < q->sources.n; i++) {
        lexed_free(q->sources.at[i]);
        free(q->sources.at[i]);
    }
    array_free(&q->sources);
    for (size_t i = 0; i < q->texts.n; i++)
        free(q->texts.at[i]);
    array_free(&q->texts);
    values_free(&q->a);
    values_free(&q->b);
    sql_close(q->sql);
    free(q);
}

/* Name and text are copied: tokens point into them for messages as long as the query lives. */
bool query_read(struct query *q, const char *name, const char *text, struct error *err)
{
    struct lexed *l = mem_new_zero(struct lexed, 1);
    array_push(&q->sources, l);
    array_push(&q->texts, mem_copy_string(name));
    const char *own_name = array_last(&q->texts);
    array_push(&q->texts, mem_copy_string(text));
    return lexer_run(l, own_name, array_last(&q->texts), err) && parse_statements(q, l, err);
}

void query_sqlite_only(struct query *q)
{
    q->sqlite_only = true;
}

/* ---- evaluation ---- */

void query_set_deadline(struct query *q, double deadline)
{
    sql_set_deadline(q->sql, deadline);
    error_clear(&q->failed);
}

/* Through SQLite; the first failure is kept for query_failed(), with the constraint's place. */
static void run_operand(struct query *q, const struct operand *o, struct values *out)
{
    struct error err = {0};
    const struct constraint *c = q->asked;
    if (sql_rows(o->statement, out, &err) || q->failed.kind)
        return;
    error_set(&q->failed, err.kind, "%s:%u:%u: %s", c->source->name, c->line, c->column, err.text);
}

/* The first row where several come. */
static struct value evaluate_scalar(struct query *q, struct operand *o)
{
    if (o->shape)
        return shape_value(o->shape);
    values_clear(&q->a);
    run_operand(q, o, &q->a);
    return q->a.list.n ? q->a.list.at[0] : value_unknown();
}

/* The rows of one side of a relationship, or of a sequence. */
static const struct values *evaluate_relation(struct query *q, struct operand *o, bool constant,
                                              struct values *scratch)
{
    if (constant)
        return &o->constants;
    values_clear(scratch);
    if (o->shape && shape_relations(o->shape) < 2)
        shape_values(o->shape, scratch);
    else
        run_operand(q, o, scratch);
    return scratch;
}

/* Failed tests of the cross product of both sides. */
static double failed_relationship(struct query *q, struct constraint *c)
{
    if (c->rows.active)
        return c->rows.failed;
    if (c->right.unknown || c->left.unknown) {
        struct operand *side = c->right.unknown ? &c->left : &c->right;
        bool constant = side == &c->left ? c->constant_left : c->constant_right;
        return count_failed_unknown(evaluate_relation(q, side, constant, &q->a), c->test);
    }
    const struct values *a = evaluate_relation(q, &c->left, c->constant_left, &q->a);
    const struct values *b = evaluate_relation(q, &c->right, c->constant_right, &q->b);
    return count_failed_product(a, c->test, b);
}

/* Pairs of the sequence in the wrong order. */
static double failed_ordering(struct query *q, struct constraint *c)
{
    if (c->order.active)
        return c->order.failed;
    values_clear(&q->a);
    run_operand(q, &c->left, &q->a);
    return count_failed_pairs(&q->a, c->test);
}

/* Cheap where a watch counts along, a query to SQLite where nothing else can. */
double query_measure(struct query *q, size_t index)
{
    struct constraint *c = &q->constraints.at[index];
    q->asked = c;
    if (c->measures == CONSTRAINT_RELATIONSHIP)
        return failed_relationship(q, c);
    if (c->measures == CONSTRAINT_ORDERING)
        return failed_ordering(q, c);
    struct value v = evaluate_scalar(q, &c->left);
    return v.kind == VALUE_INTEGER || v.kind == VALUE_REAL ? v.number : NAN;
}

/* Unknown bounds and unknown measures hold: a requirement removes only what is certainly wrong. */
bool query_holds(struct query *q, size_t index)
{
    const struct constraint *c = &q->constraints.at[index];
    double measure = query_measure(q, index);
    if (c->type != CONSTRAINT_VALUE)
        return !(measure > 0);
    /* the checker's tolerance: sums that are kept up to date round otherwise than fresh ones */
    double slack = 1e-9;
    return !(measure < c->low - slack * fabs(c->low)) &&
           !(measure > c->high + slack * fabs(c->high));
}

/* From the better bound, in units of the range; better than expected counts as 0. */
double query_scale(const struct query *q, size_t index, double measure)
{
    const struct constraint *c = &q->constraints.at[index];
    double range = c->high - c->low;
    if (measure != measure)
        return 0;
    double above = c->maximize ? c->high - measure : measure - c->low;
    if (!(above > 0))
        return 0; /* better than the best that was expected */
    return range > 0 ? above / range : 1;
}

double query_scaled(struct query *q, size_t index)
{
    return query_scale(q, index, query_measure(q, index));
}

/* ---- walking ---- */

/* Failed tests of one row against the constants of the other side. */
static double row_failures(struct constraint *c, uint32_t row)
{
    struct operand *rows = c->rows.flipped ? &c->right : &c->left;
    const struct operand *other = c->rows.flipped ? &c->left : &c->right;
    struct value v;
    double failed = 0;
    if (!shape_row(rows->shape, row, &v))
        return 0;
    if (other->unknown)
        return (v.kind != VALUE_UNKNOWN) == (c->test == TEST_EQUAL);
    for (size_t i = 0; i < other->constants.list.n; i++) {
        const struct value *o = &other->constants.list.at[i];
        enum truth t = c->rows.flipped ? value_test(o, c->test, &v) : value_test(&v, c->test, o);
        failed += t == TRUTH_FALSE;
    }
    return failed;
}

/* Of all rows of its relation. */
static double all_failures(struct query *q, struct constraint *c)
{
    uint32_t rows = relations_rows(
        q->relations, shape_relation(c->rows.flipped ? c->right.shape : c->left.shape));
    double failed = 0;
    for (uint32_t row = 0; row < rows; row++)
        failed += row_failures(c, row);
    return failed;
}

/* Of the rows that scheduling `task` on `proc` changes. */
static double changed_failures(struct query *q, struct constraint *c, uint32_t task, uint32_t proc)
{
    const struct workflow *w = q->relations->w;
    switch (shape_relation(c->rows.flipped ? c->right.shape : c->left.shape)) {
    case RELATION_TASK:
        return row_failures(c, task);
    case RELATION_PROC:
        return row_failures(c, proc);
    default:
        break;
    }
    double failed = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        failed += row_failures(c, e);
    return failed;
}

/* Watches see the rows before and after; everything else is evaluated when asked. */
void query_push(struct query *q, uint32_t task, uint32_t proc, double start, double finish)
{
    for (size_t i = 0; i < q->constraints.n; i++) {
        struct constraint *c = &q->constraints.at[i];
        if (c->rows.active) {
            array_push(&c->rows.saved, c->rows.failed);
            c->rows.failed -= changed_failures(q, c, task, proc);
        } else {
            if (c->left.shape)
                shape_before(c->left.shape, task, proc);
            if (c->right.shape)
                shape_before(c->right.shape, task, proc);
        }
    }
    relations_push(q->relations, task, proc, start, finish);
    for (size_t i = 0; i < q->constraints.n; i++) {
        struct constraint *c = &q->constraints.at[i];
        if (c->order.active)
            order_watch_push(&c->order, c->test, task);
        if (c->rows.active && relations_completed(q->relations)) {
            c->rows.failed = all_failures(q, c); /* unused processors changed as well */
        } else if (c->rows.active) {
            c->rows.failed += changed_failures(q, c, task, proc);
        } else {
            if (c->left.shape)
                shape_after(c->left.shape, task, proc);
            if (c->right.shape)
                shape_after(c->right.shape, task, proc);
        }
    }
}

/* In the opposite order of query_push(). */
void query_pop(struct query *q)
{
    uint32_t task = relations_pop(q->relations);
    for (size_t i = 0; i < q->constraints.n; i++) {
        struct constraint *c = &q->constraints.at[i];
        if (c->order.active)
            order_watch_pop(&c->order, task);
        if (c->rows.active) {
            c->rows.failed = array_pop(&c->rows.saved);
        } else {
            if (c->left.shape)
                shape_undo(c->left.shape);
            if (c->right.shape)
                shape_undo(c->right.shape);
        }
    }
}

/* ---- starting ---- */

static void drop_shape(struct operand *o)
{
    shape_free(o->shape);
    o->shape = NULL;
}

/* A priority or bound, evaluated once on the empty state. */
static bool begin_number(struct query *q, const struct constraint *c, struct operand *o,
                         const char *what, double *out, struct error *err)
{
    if (!o->given)
        return true;
    struct value v = evaluate_scalar(q, o);
    if (query_failed(q, err))
        return false;
    const struct query_token *at = &c->source->tokens.at[o->first];
    if (v.kind == VALUE_TEXT)
        return lexed_error(c->source, at, err, "%s is a text, expected a number", what);
    if (v.kind == VALUE_UNKNOWN)
        return lexed_error(c->source, at, err,
                           "%s is unknown while nothing is scheduled: expected a number or "
                           "attributes that are known from the start",
                           what);
    *out = v.number;
    return true;
}

/* Recognise what can be counted row by row, and what is constant. */
static void begin_relationship(struct query *q, struct constraint *c)
{
    struct operand *l = &c->left, *r = &c->right;
    c->constant_left = l->shape && shape_is_constant(l->shape) && shape_relations(l->shape) < 2;
    c->constant_right = r->shape && shape_is_constant(r->shape) && shape_relations(r->shape) < 2;
    values_clear(&l->constants);
    values_clear(&r->constants);
    if (c->constant_left)
        shape_values(l->shape, &l->constants);
    if (c->constant_right)
        shape_values(r->shape, &r->constants);
    bool rows_left = l->shape && !c->constant_left && shape_by_rows(l->shape) && c->constant_right;
    bool rows_right = r->shape && !c->constant_right && shape_by_rows(r->shape) && c->constant_left;
    c->rows.active = rows_left || rows_right;
    c->rows.flipped = rows_right;
    c->rows.failed = 0;
    c->rows.saved.n = 0;
    if (c->rows.active)
        c->rows.failed = all_failures(q, c);
}

/* A preference that gives no bounds: none to all of the tests may fail. */
static void default_bounds(struct query *q, struct constraint *c)
{
    if (c->measures == CONSTRAINT_VALUE || c->requirement)
        return;
    const struct values *a = evaluate_relation(q, &c->left, false, &q->a);
    double count = (double)a->list.n;
    if (c->measures == CONSTRAINT_ORDERING)
        count = count * (count - 1) / 2;
    else if (c->right.given && !c->right.unknown)
        count *= (double)evaluate_relation(q, &c->right, false, &q->b)->list.n;
    if (!c->max_text.given)
        c->high = c->low + fmax(1, count);
}

/* Evaluate the bounds, decide how it will be evaluated, start watching. */
static bool begin_constraint(struct query *q, struct constraint *c, struct error *err)
{
    q->asked = c;
    if (q->sqlite_only) {
        drop_shape(&c->left);
        drop_shape(&c->right);
        c->order.active = false;
    }
    if (c->left.shape)
        shape_begin(c->left.shape);
    if (c->right.shape)
        shape_begin(c->right.shape);
    /* bounds that are not given: none for requirements, 0 and up for preferences */
    c->priority = 1;
    c->low = c->requirement ? -INFINITY : 0;
    c->high = INFINITY;
    if (!begin_number(q, c, &c->priority_text, "priority", &c->priority, err) ||
        !begin_number(q, c, &c->min_text, "min", &c->low, err) ||
        !begin_number(q, c, &c->max_text, "max", &c->high, err))
        return false;
    const struct query_token *at = &c->source->tokens.at[c->priority_text.first];
    if (!(c->priority >= 0 && c->priority < INFINITY))
        return lexed_error(c->source, at, err, "priority %g: expected 0 or more", c->priority);
    if (c->high < c->low)
        return lexed_error(c->source, &c->source->tokens.at[c->max_text.first], err,
                           "max (%g) is less than min (%g)", c->high, c->low);
    default_bounds(q, c);
    if (c->measures == CONSTRAINT_RELATIONSHIP)
        begin_relationship(q, c);
    if (c->order.active)
        order_watch_begin(&c->order, q->relations);
    return true;
}

/* Watches are set up anew, since rows have other values; bounds stay. */
void query_count_unused(struct query *q)
{
    q->relations->unused_finish = true;
    for (size_t i = 0; i < q->constraints.n; i++) {
        struct constraint *c = &q->constraints.at[i];
        q->asked = c;
        if (c->left.shape)
            shape_begin(c->left.shape);
        if (c->right.shape)
            shape_begin(c->right.shape);
        if (c->measures == CONSTRAINT_RELATIONSHIP)
            begin_relationship(q, c);
    }
}

/* On the empty state, once, after all constraints are read. */
bool query_begin(struct query *q, struct error *err)
{
    for (size_t i = 0; i < q->constraints.n; i++)
        if (!begin_constraint(q, &q->constraints.at[i], err))
            return false;
    return !query_failed(q, err);
}

/* ---- what users ask ---- */

size_t query_size(const struct query *q)
{
    return q->constraints.n;
}

bool query_failed(const struct query *q, struct error *err)
{
    if (!q->failed.kind)
        return false;
    error_set(err, q->failed.kind, "%s", q->failed.text);
    return true;
}

/* Evaluated without SQLite. */
static bool is_native(const struct constraint *c)
{
    if (c->measures == CONSTRAINT_ORDERING)
        return c->order.active;
    if (c->measures == CONSTRAINT_VALUE)
        return c->left.shape;
    return c->left.shape && shape_relations(c->left.shape) < 2 && c->right.shape &&
           shape_relations(c->right.shape) < 2;
}

/* Costs a few steps a state, however large the workflow. */
static bool is_incremental(const struct constraint *c)
{
    if (c->order.active || c->rows.active)
        return true;
    if (!is_native(c) || shape_scans(c->left.shape))
        return false;
    return !c->right.shape || !shape_scans(c->right.shape);
}

/* What the search may rely on: growth, assignment, order. */
struct constraint_info query_info(const struct query *q, size_t index)
{
    const struct constraint *c = &q->constraints.at[index];
    struct constraint_info info = {
        .name = c->source->name,
        .text = c->text,
        .line = c->line,
        .column = c->column,
        .type = c->type,
        .requirement = c->requirement,
        .maximize = c->maximize,
        .priority = c->priority,
        .low = c->low,
        .high = c->high,
    };
    const struct query_shape *value = c->measures == CONSTRAINT_VALUE ? c->left.shape : NULL;
    info.native = is_native(c);
    info.incremental = is_incremental(c);
    info.scheduled_count =
        !c->requirement && c->maximize && value && shape_is_scheduled_count(value);
    info.makespan = value && !c->maximize && shape_is_makespan(value);
    bool rows_fixed =
        c->rows.active && shape_is_assignment(c->rows.flipped ? c->right.shape : c->left.shape);
    info.grows = !c->maximize && ((value && shape_grows(value)) || c->order.active || rows_fixed);
    info.pins = c->measures == CONSTRAINT_RELATIONSHIP && rows_fixed;
    info.assignment = c->requirement && info.pins;
    info.by_task = c->requirement && c->order.active;
    info.wish = !c->requirement && c->measures != CONSTRAINT_VALUE;
    info.timeless = constraint_is_timeless(c);
    info.early = constraint_wants_early(c);
    info.stays = constraint_stays_broken(c);
    info.sees_order = constraint_sees_order(c);
    return info;
}
