/* Inside the room: one constraint, parsed (parse.c), evaluated (query.c, order.c), looked through
 * for what it tells apart (symmetry.c). */
#pragma once
#include "query/lexer.h"
#include "query/query.h"
#include "query/shape.h"
#include "query/sql.h"

/* An expression: tokens of the text it comes from, the SQL they mean, and the shape if known. */
struct operand {
    size_t first, end;
    bool given;
    bool unknown; /* the literal UNKNOWN: = asks whether it is unknown */
    struct sql_statement *statement;
    struct query_shape *shape;
    struct values constants; /* of a constant operand of a watched relationship */
};

/* Pairs of a sequence in order of scheduling, counted as they come. */
struct order_watch {
    bool active;
    bool rest; /* the tasks not scheduled follow, best first; else only scheduled ones count */
    bool descending; /* rest: by falling attribute */
    enum attribute attribute;
    uint32_t *rank;  /* per task: of its attribute, from 1; equal ones share */
    uint32_t *count; /* Fenwick tree over ranks */
    uint32_t ranks;
    double failed;
    ARRAY(double) saved;
};

/* Failed tests of rows against constants, counted as rows change. */
struct row_watch {
    bool active;
    bool flipped; /* the rows stand on the right */
    double failed;
    ARRAY(double) saved;
};

struct constraint {
    struct lexed *source;
    char *text;
    uint32_t line, column;
    enum constraint_type type;
    bool requirement;

    enum constraint_type measures; /* a value preference may measure a relationship or an order */
    enum test test;
    struct operand left, right; /* value and ordering: left only */

    bool maximize;
    struct operand priority_text, min_text, max_text;
    double priority, low, high;

    bool constant_left, constant_right;
    struct sql_statement *sequence; /* ordering of times: the tasks' ids in that order, or NULL */
    bool sequence_starts;           /* by their starts, not their ends */
    struct order_watch order;
    struct row_watch rows;
};

struct query {
    struct relations *relations;
    struct sql *sql;
    ARRAY(struct lexed *) sources;
    ARRAY(char *) texts;
    ARRAY(struct constraint) constraints;
    bool sqlite_only;
    struct error failed;
    const struct constraint *asked; /* evaluated now, for messages */
    struct values a, b;             /* scratch */
};

bool parse_statements(struct query *q, struct lexed *l, struct error *err);

/* ---- symmetry.c ---- */
bool constraint_sees_order(const struct constraint *c);

/* ---- times.c ---- */
bool constraint_is_timeless(const struct constraint *c);
bool constraint_wants_early(const struct constraint *c);
bool constraint_stays_broken(const struct constraint *c);

/* ---- order.c: tests over sequences and cross products ---- */
double count_failed_pairs(const struct values *sequence, enum test test);
double count_failed_product(const struct values *a, enum test test, const struct values *b);
/* The literal UNKNOWN on one side. */
double count_failed_unknown(const struct values *a, enum test test);

bool order_watch_recognise(struct order_watch *o, const struct lexed *l, size_t first, size_t end,
                           enum test test);
void order_watch_begin(struct order_watch *o, struct relations *r);
void order_watch_push(struct order_watch *o, enum test test, uint32_t task);
void order_watch_pop(struct order_watch *o, uint32_t task);
void order_watch_free(struct order_watch *o);
