/* What shape.c builds and shape_eval.c evaluates. */
#pragma once
#include "query/shape.h"

enum node_kind {
    NODE_CONSTANT,
    NODE_ATTRIBUTE,
    NODE_SELECT,
    NODE_MINUS,
    NODE_ABS,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_TEST,
    NODE_IS_UNKNOWN,
    NODE_NOT,
    NODE_AND,
    NODE_OR,
};

struct shape_node {
    enum node_kind kind;
    enum value_kind type; /* of its value when known */
    bool changes;         /* reads what changes from state to state */
    bool nested;          /* contains a sub-select */
    int left, right;      /* -1: none; select: index into selects */
    enum test test;
    enum attribute attribute;
    struct value constant;
};

enum aggregate { ROWS, COUNT_ALL, COUNT, SUM, MIN, MAX, AVG };

/* What an aggregate knows of the rows so far; saved at each push, restored at each pop. */
struct tally {
    double sum, extreme;
    uint64_t count; /* rows that count */
};

struct select {
    enum relation relation;
    enum aggregate aggregate;
    int what, where; /* nodes; -1: all rows, or * */
    int lookup;      /* `lookup_by` = this node finds the only row; -1: no such condition */
    enum attribute lookup_by;
    bool inner; /* stands in the condition of another */
    bool fixed; /* the filter is the same in all states: `rows` are those it lets through */
    ARRAY(uint32_t) rows;
    bool constant;
    bool watched;
    struct value value; /* of a constant aggregate */
    struct tally now;
    bool stale; /* between before and after: the extreme was taken away */
    ARRAY(struct tally) saved;
};

struct query_shape {
    struct relations *relations;
    ARRAY(struct shape_node) nodes;
    ARRAY(struct select) selects;
    ARRAY(char *) texts;
    int root;
    int rows; /* the filtered attribute outside of conditions; -1: none, or several */
    size_t relations_count;
    bool substituting; /* `row` stands for the value of selects[rows] */
    struct value row;
};
