/* Conditions: what `when` (of a task) and the like may ask of files and values.
 *
 *     when: "{in.qc} contains PASS and size({in.reads}) > 10M"
 *
 *     condition   either { "or" either }          either   one { "and" one }
 *     one         "not" one | "(" condition ")" | "true" | "false"
 *                 | "exists" FILE                 (parentheses around FILE are optional)
 *                 | operand "contains" text       a file that holds it, or a text
 *                 | operand COMPARISON operand    = != < <= > >=
 *     operand     FILE                            its first word: a number beside a number
 *                 | "size" FILE                   bytes
 *                 | 12 | 1.5 | 10M | 4Ki          K M G T P: thousands; Ki ...: 1024
 *                 | 'text' | "text" | word        \ stands before a quote or a \ in quotes
 *     FILE        {in} {in[2]} {out[0]}           one file, by its place
 *
 * This is the language after its names were filled in: a reader turns {in.qc} into {in[0]}, {sigma}
 * into its value. Braces in quotes are doubled. Two values are compared as numbers if both are
 * numbers and neither stands in quotes, as texts otherwise; only numbers have an order.
 *
 * A condition is a list of tests with jumps, so that evaluating needs no stack; parentheses nest
 * CONDITION_DEPTH deep at most. Parts that need not be looked at are not: `exists {in.qc} and {in.qc}
 * contains PASS` asks nothing of a file that is not there, which otherwise is an error. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdint.h>

enum {
    CONDITION_TEXT_MOST = 65536,       /* of a condition */
    CONDITION_FILE_MOST = 1000 * 1000, /* bytes of a file that is read; a larger one is an error */
    CONDITION_DEPTH = 32,
};

struct condition;

/* How many files {in} and {out} stand for. `out` 0: outputs mean nothing here. */
struct condition_scope {
    const char *key; /* for messages: "when", "until" */
    uint32_t in, out;
};

/* NULL: a mistake, which `err` tells with what was expected (ERROR_INPUT). Costs the text's length. */
struct condition *condition_parse(const char *text, const struct condition_scope *scope,
                                  struct error *err);
void condition_free(struct condition *c); /* NULL is fine */
/* Does it ask anything of a file? If not, its answer is known at once. */
bool condition_asks_files(const struct condition *c);

/* The files as they are now. */
struct condition_file {
    const char *name; /* for messages */
    const char *path; /* NULL: it is not there */
};
struct condition_world {
    void *context;
    /* Place `place` among the inputs (outputs). What it gives must stay until the next call. */
    struct condition_file (*file)(void *context, bool out, uint32_t place);
};

/* `world` may be NULL if it asks nothing of files. False: it cannot be answered (ERROR_FAILED): a
 * file that is not there, is too large, a folder, or has no number where one is needed. */
bool condition_holds(const struct condition *c, const struct condition_world *world, bool *holds,
                     struct error *err);

/* Append a condition whose inputs have other places: {in[i]} becomes {in[place[i]]}, i < n. */
void condition_move_places(struct strbuf *out, const char *text, const uint32_t *place, uint32_t n);
/* Append a value so that in a condition it stands for itself: 12 as a number, others in quotes. */
void condition_add_value(struct strbuf *out, const char *value);
