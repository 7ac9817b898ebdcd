/* Families: a task with `each` stands for one task for every combination of values.
 *
 *     count:                      lists: doc = d1, d2       count@doc=d1   in texts/d1.txt ...
 *       each: doc                 ---------------------->   count@doc=d2   in texts/d2.txt ...
 *       in: texts/{doc}.txt
 *     merge:                                                merge          in counts/d1.txt,
 *       in: counts/{doc}.txt                                                  counts/d2.txt
 *
 * Expansion happens while the file is read: what the builder hears of are ordinary tasks, and nobody
 * after it knows families, but for the `kind`, which is the family's name.
 *
 * A scope says what the variables stand for in one task. A variable that the task's `each` does not
 * bind is free: in names of inputs and of tasks that come first it stands for all its values (that
 * go with those that are bound), elsewhere it is an error. */
#pragma once
#include "formats/native/lists.h"

/* A parameter that stands elsewhere than in commands is `fixed`: filled in while the file is read,
 * and none of the model's, so that nobody replaces it in one place and not in the other. */
struct scope_parameter {
    const char *name, *value; /* not owned */
    bool fixed;
    bool outside; /* its value comes from outside the files: data, one word in a command */
};

/* What the variables stand for: by list, a row and the columns of it that are bound. */
/* A text cut into pieces, so that a family need not look for its words again for each member. */
enum { TEMPLATE_PIECES = 6, SCOPE_TEMPLATES = 16 };
struct scope_template {
    const char *text; /* as the file has it: the same address, the same text; NULL: none */
    bool command;
    bool simple;        /* nothing but plain text and variables of lists */
    uint32_t variables; /* that there were then: more may become known */
    uint32_t n;
    struct template_piece {
        uint32_t first, length; /* plain text; then */
        uint32_t variable;      /* UINT32_MAX: none */
    } piece[TEMPLATE_PIECES];
};

struct variable_scope {
    struct lists *lists;
    ARRAY(struct scope_parameter) parameters;
    uint32_t *row; /* UINT32_MAX: none */
    column_set *bound;
    const char *task, *kind; /* for {task} and {kind}; NULL: they mean nothing here */
    const char *round;       /* for {round}, of a task that is repeated; NULL: it is none */
    bool closed;             /* a module's: what it does not know, nobody does */
    bool gathers;            /* while `use` gets one of several values of a free variable */
    uint64_t gathered;       /* names so far */
    struct strbuf text;      /* what was filled in last */
    struct scope_template templates[SCOPE_TEMPLATES]; /* by a hash of the address */
};

/* After the lists were read. */
void scope_init(struct variable_scope *s, struct lists *lists);
void scope_free(struct variable_scope *s);
/* Of one that is bound. */
static inline const char *scope_bound_value(const struct variable_scope *s,
                                            const struct variable *v)
{
    return lists_value(s->lists, list_cell(&s->lists->at.at[v->list], s->row[v->list], v->column));
}
/* Does this text have a brace at all? Most do not, and need no scope. */
static inline bool scope_concerns(const char *text, size_t length)
{
    return memchr(text, '{', length) || memchr(text, '}', length);
}
/* Does the text name a variable or a parameter whose values come from outside the files? */
bool scope_is_outside(const struct variable_scope *s, const char *text);
/* The first word in braces of `text` at or behind *p: its length, and *p is where it begins, behind
 * the brace. 0: there is none. What may be a name, whether it is known or not; {{ and ${ are none. */
size_t scope_next_word(const char *text, const char **p);
/* Parameters that the text names become fixed. */
void scope_fix_parameters(struct variable_scope *s, const char *text);

/* Texts with `{variables}`, `{parameters}`, {task} and {kind} filled in. False: an error at `at`, or
 * what `use` returned. With `gather` free variables are run through, in the order of their lists;
 * otherwise `use` is called once. `use` must not come back here. */
typedef bool (*scope_use)(void *context, const char *text, size_t length);
bool scope_fill(struct variable_scope *s, const struct native *n, yaml_ref at, const char *what,
                bool gather, scope_use use, void *context);
/* A command with its variables filled in; everything else is left for the model. In s->text. */
bool scope_fill_command(struct variable_scope *s, const struct native *n, yaml_ref at,
                        const char *text, size_t length);

/* The same for a text that no shell will read: a value is put in as it is. `what`: for messages. */
bool scope_fill_value(struct variable_scope *s, const struct native *n, yaml_ref at,
                      const char *what, const char *text, size_t length);

/* What one {word} stands for, which is no file; NULL: nothing, an error at `at`. */
const char *scope_value(const struct variable_scope *s, const struct native *n, yaml_ref at,
                        const char *what, const char *word, size_t length);

/* ---- families ---- */

/* One of the lists behind an `each`, and what of it varies. */
struct family_axis {
    uint32_t list;
    column_set columns, named; /* named: those that stand in members' names */
    uint32_t grouping;         /* its group 0 has the rows */
};

struct family_exception; /* a row of `except` */

struct family {
    yaml_ref key; /* of the task in the file */
    uint32_t first, count;
    uint64_t combinations; /* count, and those left out */
    ARRAY(struct family_axis) axes;
    ARRAY(uint32_t) order; /* variables, as members' names have them */
    ARRAY(struct family_exception) exceptions;
};

struct family_exception {
    uint32_t list, row_column, value; /* one condition; `more`: the next must hold too */
    bool more;
};

/* Read `each` and `except` of the task at `key`. False: an error. */
bool family_read(struct family *f, struct lists *l, const struct native *n, yaml_ref key);
void family_free(struct family *f);
/* Bind the scope to combination `i`. False: `except` leaves it out (it is bound all the same). */
bool family_bind(const struct family *f, struct variable_scope *s, uint64_t i);
/* "count@doc=d1". Replaces `out`. */
void family_member_name(const struct family *f, const struct variable_scope *s, const char *name,
                        struct strbuf *out);
/* Nothing is bound any more. */
void family_unbind(const struct family *f, struct variable_scope *s);

enum { FAMILY_MOST = 100000000 }; /* members: more do not fit into numbers of tasks, nor memories */
