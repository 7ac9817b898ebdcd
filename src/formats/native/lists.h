/* Values that tasks run through: the `lists` of a native file.
 *
 *     lists:
 *       doc:   { files: "texts/{doc}.txt" }      what stands for {doc} in the files that are there
 *       sigma: [1, 1.4, 2]
 *       fold:  { from: 0, to: 9 }
 *       name:  { lines: names.txt }
 *       reads: { table: samples.tsv }            columns sample, lane, file: variables that go together
 *       town:  { rows: [{ name: a, people: 10 }, { name: b, people: 20 }] }      a table in the file
 *
 * A list is a table of values: rows in order, a column for each variable. The columns of one list
 * are tied together by its rows; different lists are independent of each other.
 *
 *     reads     sample  lane  file                  a column set (a mask of columns) projects rows:
 *     row 0     a       1     x/a1.fq               {sample} has the distinct rows 0 and 2
 *     row 1     a       2     x/a2.fq               {lane} within {sample} has 0, 1 in the group of a
 *     row 2     b       1     x/b1.fq               and 2 in that of b
 *
 * Values are interned: two cells are equal if their numbers are. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "formats/native/native.h"

typedef uint64_t column_set; /* bit i: column i of a list */

struct list {
    str_id name; /* in lists.names */
    uint32_t line;
    uint32_t first, ncolumns; /* its variables */
    uint32_t nrows;
    uint32_t *cell;     /* nrows x ncolumns numbers of values, row by row */
    column_set telling; /* the first columns that tell its rows apart: they name members */
    bool outside;       /* values come from outside the file: data, one word each in a command */
    /* `after: TASK`, and not read yet: no rows, and of a table no columns. `at`: its key in the file */
    bool pending;
    yaml_ref at;
    bool later;   /* `after: TASK`, and read all the same, because nobody will run it */
    bool assumed; /* and its values are not those that stand there */
    char *why;    /* pending, though it was looked for: what was wrong; NULL: nobody looked */
};

struct variable {
    str_id name;
    uint32_t list, column;
};

/* The rows of a list in groups: those that agree in the columns `bound` are together, and of them
 * the first of each that differ in the columns `free`. Group g has row[off[g]] .. row[off[g + 1] - 1]
 * in the order of the list. */
struct grouping {
    uint32_t list;
    column_set bound, free;
    uint32_t *group_of; /* by row */
    uint32_t *off, *row;
    uint32_t ngroups;
};

struct lists {
    struct pool names;
    struct intern values;
    ARRAY(struct list) at;
    ARRAY(struct variable) variables;
    ARRAY(struct grouping) groupings; /* made when asked for, kept */
    bool later;                       /* a list has `after`, and was read as things stand */
    bool
        waits; /* lists with `after` are pending; else they are read as things stand, if they can be */
};

enum {
    LIST_COLUMNS = 64,         /* a column_set has so many bits */
    LIST_VALUES_MOST = 1 << 24 /* of one list: more is a slip, and refused before it is made */
};

void lists_init(struct lists *l);
void lists_free(struct lists *l);

/* A value that an including file gives its module: `with: { n: 5, docs: [a, b] }`. */
struct module_value {
    const char *name;
    yaml_ref at; /* in the including file */
    ARRAY(char *) values;
    bool is_list; /* as it is written */
    bool outside; /* it comes from outside the files: data, one word in a command */
    bool used;
};

/* What stands in place of what the workflow's file says. */
struct given_values {
    const struct option_value *at; /* of the command line; ends with a NULL name; NULL: none */
    const struct native *file;     /* of --params, a mapping; NULL: none */
    const char *prefix;        /* of a module: what these two call "qc/n" is its n; NULL: none */
    struct module_value *with; /* of a module: what its includer says; the others go before */
    size_t nwith;
};
/* The command line's, the last one; NULL: none, and `*in_file` is what the file has, or YAML_NONE. */
const char *given_find(const struct given_values *g, const char *name, yaml_ref *in_file);
/* What is assumed of something that only a run tells, the last word of it; NULL: nothing. */
#define ASSUME_OPTION "--assume" /* no parameter has such a name; its text: NAME=VALUE */
const char *given_assumed(const struct given_values *g, const char *name);
/* What the includer says; NULL: nothing. */
struct module_value *given_with(const struct given_values *g, const char *name);

/* Read the mapping at `v`. Names of files are relative to `folder`. False: an error with its place. */
bool lists_read(struct lists *l, const struct native *n, yaml_ref v, const char *folder,
                const struct given_values *given);

/* What it is read from, as the file has it: a pattern, or the name of a file. */
const char *lists_source(const struct lists *l, const struct native *n, uint32_t list);
/* Read a list that is pending, from `source`, seen from `folder`. False: an error with its place, and it
 * stays pending. */
bool lists_read_pending(struct lists *l, const struct native *n, uint32_t list, const char *folder,
                        const char *source);
/* The rows that a pending list would have as things stand; 0: it cannot be read. */
uint32_t lists_count_pending(struct lists *l, const struct native *n, uint32_t list,
                             const char *folder, const char *source);
/* The name of the task that a pending list is read after. */
const char *lists_after(const struct lists *l, const struct native *n, uint32_t list);

/* UINT32_MAX: there is none of that name. */
uint32_t lists_find_variable(const struct lists *l, const char *name, size_t length);
uint32_t lists_find_list(const struct lists *l, const char *name, size_t length);
const char *lists_name(const struct lists *l, str_id name);
static inline const char *lists_value(const struct lists *l, uint32_t value)
{
    return intern_text(&l->values, value);
}
static inline uint32_t list_cell(const struct list *x, uint32_t row, uint32_t column)
{
    return x->cell[(size_t)row * x->ncolumns + column];
}

/* Sets x->telling: the first columns that tell all rows apart. False: two rows are the same, the second
 * of them *twice. */
bool list_find_telling(struct list *x, uint32_t *twice);
/* Expected O(rows) the first time, O(groupings) afterwards. Valid until another one is asked for:
 * an index, since the array of them may move. */
uint32_t lists_group(struct lists *l, uint32_t list, column_set bound, column_set free);
