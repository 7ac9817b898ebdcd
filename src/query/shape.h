/* The common shapes of constraints, evaluated without SQLite: arithmetic around sub-selects that
 * read one relation, with an aggregate or a filtered attribute. What is not such a shape is not
 * recognised, and SQLite evaluates it; what is, gives SQLite's own answer (shape_test.c).
 *
 * Aggregates are kept up to date as tasks are scheduled: shape_before() and shape_after() around a
 * push look only at the rows that change, shape_undo() after a pop restores what was. */
#pragma once
#include "query/lexer.h"
#include "query/sql.h"

struct query_shape;

/* Tokens first .. end-1, which are known to be valid SQL. NULL: not recognised. */
struct query_shape *shape_parse(struct relations *r, const struct lexed *l, size_t first,
                                size_t end);
void shape_free(struct query_shape *s); /* NULL is fine */

/* The state is empty: start watching. */
void shape_begin(struct query_shape *s);
void shape_before(struct query_shape *s, uint32_t task, uint32_t proc);
void shape_after(struct query_shape *s, uint32_t task, uint32_t proc);
void shape_undo(struct query_shape *s);

/* The value of a scalar expression; a filtered attribute gives its first row. */
struct value shape_value(struct query_shape *s);

bool shape_is_constant(const struct query_shape *s);     /* the same in all states */
enum value_kind shape_kind(const struct query_shape *s); /* of what it gives, when known */
/* How many filtered attributes stand in it: with one it is a relation of many rows, with more it is
 * none of ours in a relationship. */
size_t shape_relations(const struct query_shape *s);
/* All values of a relation (one value without a filtered attribute). */
void shape_values(struct query_shape *s, struct values *out);

/* With one filtered attribute: can its rows be judged one by one, everything else being constant?
 */
bool shape_by_rows(const struct query_shape *s);
/* Then: the relation, and the value of one row (false: the filter leaves it out). */
enum relation shape_relation(const struct query_shape *s);
bool shape_row(struct query_shape *s, uint32_t row, struct value *out);

/* Does it only read attributes that a scheduled task alone decides (its own assigned processor, or
 * whether a processor is used at all)? */
bool shape_is_assignment(const struct query_shape *s);

/* Never falls as tasks are scheduled (0 counts as its unknown). */
bool shape_grows(const struct query_shape *s);
/* Exactly max(task_finish_time) over all tasks. */
bool shape_is_makespan(const struct query_shape *s);
/* Exactly the number of scheduled tasks. */
bool shape_is_scheduled_count(const struct query_shape *s);
/* Exactly the start or end of each task of a list that is the same in all states: fills the list,
 * which lives as long as the shape. After shape_begin(). */
bool shape_lists_times(const struct query_shape *s, bool *starts, const uint32_t **tasks,
                       size_t *count);
/* Exactly an attribute of one relation or an aggregate of one, over rows that do not change, that
 * can only become larger when a task waits longer. */
bool shape_is_regular(const struct query_shape *s);
/* Reads only constants and what a task keeps once it is scheduled: each row's value, once known, is
 * that of every goal below. */
bool shape_stays(const struct query_shape *s);
/* Costs more than a few steps a state: has to look through a whole relation. */
bool shape_scans(const struct query_shape *s);
