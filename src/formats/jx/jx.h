/* JX: JSON with expressions, Makeflow's language for workflows. A text becomes a tree, the tree is
 * evaluated to plain values.
 *
 *     { "define": { "n": 3 },
 *       "rules": [ { "command": "sim " + i + " > out." + i,
 *                    "outputs": [ "out." + i ] } for i in range(n) ] }
 *
 * Trees and values are the same nodes, never changed once made: a value that a variable stands for is
 * shared, not copied. All of them live in one store and go with it. What a file can make is bounded
 * before it is made: nodes, bytes of text, steps, depth. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum jx_type {
    /* values */
    JX_NULL,
    JX_BOOLEAN,
    JX_INTEGER,
    JX_NUMBER, /* a double */
    JX_STRING,
    JX_ARRAY,
    JX_OBJECT, /* keys and values by turns */
    /* what is evaluated to one */
    JX_SYMBOL,
    JX_UNARY,         /* op, operand */
    JX_CHAIN,         /* operands of one precedence; ops[i] stands between the i-th and the next */
    JX_CALL,          /* name, arguments */
    JX_LOOKUP,        /* of what, by what */
    JX_SLICE,         /* of what, from, to; these may be NULL */
    JX_COMPREHENSION, /* item, then for each clause: symbol, list, condition (NULL: none) */
};

enum jx_operator {
    JX_MULTIPLY,
    JX_DIVIDE,
    JX_MODULO,
    JX_ADD,
    JX_SUBTRACT,
    JX_EQUAL,
    JX_UNEQUAL,
    JX_LESS,
    JX_LESS_EQUAL,
    JX_GREATER,
    JX_GREATER_EQUAL,
    JX_AND,
    JX_OR,
    JX_NOT,
    JX_OPERATORS,
};

struct jx_node {
    uint8_t type, op;
    uint32_t line, n; /* n: items, bytes of a string */
    union {
        bool truth;
        int64_t integer;
        double number;
        const char *text; /* NUL behind it, none in it */
        const struct jx_node **item;
    };
    const uint8_t *ops; /* of a chain */
};

enum {
    JX_DEPTH = 200,          /* of brackets and signs in the text */
    JX_EVAL_DEPTH = 500,     /* of expressions in definitions in expressions */
    JX_CLAUSES = 16,         /* `for` behind one item */
    JX_NODES_MOST = 1 << 25, /* trees and values, all in all */
    JX_STEPS_MOST = 1 << 26, /* of evaluation */
    JX_TEXT_MOST = 1 << 29,  /* bytes of strings */
};

struct jx_store {
    ARRAY(char *) chunks;
    size_t used, size; /* of the last chunk */
    size_t nodes, text;
    uint32_t base; /* lines of other files before this one's: numbers of lines begin behind them */
};

void jx_store_free(struct jx_store *s);
/* Memory of the store, as much as it lasts. */
void *jx_store_take(struct jx_store *s, size_t bytes);
/* NULL: there are too many. */
struct jx_node *jx_new(struct jx_store *s, enum jx_type type, uint32_t line);
/* A string of `n` bytes, copied. NULL: there are too many bytes. */
struct jx_node *jx_string(struct jx_store *s, const char *text, size_t n, uint32_t line);
/* Can so many more be made? */
bool jx_room(const struct jx_store *s, uint64_t nodes);

/* One expression and nothing behind it. `text` has a NUL behind it. NULL: an error with its line. */
const struct jx_node *jx_parse(struct jx_store *s, const char *file, const char *text, size_t n,
                               struct error *err);

/* What names stand for: a variable of a comprehension, or the keys of an object. */
struct jx_scope {
    const struct jx_scope *outer;
    const char *name; /* NULL: an object */
    const struct jx_node *value;
};

/* The definitions of a file are evaluated when they are asked for, each once. */
struct jx_definition {
    const char *name;
    const struct jx_node *tree, *value; /* value NULL: not yet */
    bool given;                         /* from outside: stands in place of the file's */
    bool used, busy;
};

struct jx_evaluation {
    struct jx_store *store;
    const char *file, *folder; /* folder: where listdir() and fetch() look; NULL: they may not */
    struct error *err;
    ARRAY(struct jx_definition) definitions;
    uint64_t steps;
    int depth;
    bool outside; /* listdir() or fetch() was called */
};

/* NULL: an error with its place. */
const struct jx_node *jx_evaluate(struct jx_evaluation *e, const struct jx_node *tree,
                                  const struct jx_scope *scope);
/* Always NULL: an error at the node. */
const struct jx_node *jx_error(const struct jx_evaluation *e, const struct jx_node *at,
                               const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What the name stands for; NULL and no error: nothing. */
const struct jx_node *jx_find(struct jx_evaluation *e, const struct jx_scope *scope,
                              const char *name, bool *found);
struct jx_definition *jx_definition_find(struct jx_evaluation *e, const char *name);
/* "an integer", "a string": for messages. */
const char *jx_type_name(const struct jx_node *v);
/* The value of a key; NULL: there is none. The last one counts. */
const struct jx_node *jx_member(const struct jx_node *object, const char *key);
/* How a number stands in a text. */
void jx_add_number(struct strbuf *out, const struct jx_node *v);
/* Append the value as JSON: for tests and `weft`'s debugging. */
void jx_print(const struct jx_node *v, struct strbuf *out);

/* jx_functions.c */
const struct jx_node *jx_call(struct jx_evaluation *e, const struct jx_node *call,
                              const struct jx_scope *scope);
/* NULL: out of room, which is an error. */
struct jx_node *jx_make(const struct jx_evaluation *e, enum jx_type type, const struct jx_node *at);
const struct jx_node *jx_make_string(const struct jx_evaluation *e, const char *text, size_t n,
                                     const struct jx_node *at);
/* An array of what was gathered. */
typedef ARRAY(const struct jx_node *) jx_items;
const struct jx_node *jx_make_array(const struct jx_evaluation *e, const jx_items *items,
                                    const struct jx_node *at);
