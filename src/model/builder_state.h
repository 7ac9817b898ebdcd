/* What the builder keeps while a workflow is read: shared by builder.c (collecting) and
 * builder_finish.c (freezing), private to them. */
#pragma once
#include "base/array.h"
#include "base/path.h"
#include "model/builder.h"

enum { MOST_WARNINGS = 20 };

struct builder_reading {
    uint32_t task, object;
};

struct ordering {
    uint32_t from, to, line;
};

struct named_ordering {
    str_id from, to;
    uint32_t line;
};

struct own_time {
    uint32_t task;
    struct node_time time;
};

struct rung {
    uint32_t task;
    double memory;
};

/* An order of the inputs or outputs of a task: `n` entries of `places` from `first` on. */
struct permutation {
    uint32_t task, first, n, line;
    bool outputs;
};

/* A command whose files are not those that the task has, one for one: `n` entries of naming_places
 * from `first` on say which of the task's inputs the file's i-th is, `outputs` how many of the task's
 * outputs the file names. */
struct builder_naming {
    uint32_t task, first, n, outputs;
};

/* Another file that the workflow is made from: lines past `base` are its own. */
struct builder_source {
    char *file;
    size_t base;
};

/* One sort of thing in a demand: `resource` counts as they were met. */
struct demand_part {
    uint32_t resource, amount;
};

/* What tasks ask for of their nodes, each demand once: builder_resources.c. */
struct builder_demands {
    ARRAY(str_id) resource; /* as met; w->resource has them by name */
    ARRAY(str_id) text;     /* per demand, "gpu=1,licence=2", parts by name; the first is "" */
    struct name_index index;
    ARRAY(uint32_t) first; /* per demand: its parts, up to the next one's */
    ARRAY(struct demand_part) parts;
    struct strbuf last; /* the text that was read last, and what became of it: most say the same */
    uint32_t last_demand;
};

/* Objects that were mentioned last, the latest first: builder_objects.c. */
enum { MENTION_PERIODS = 2 };
struct builder_mentions {
    uint32_t last[2 * MENTION_PERIODS];
};

struct builder {
    char *file;
    ARRAY(struct builder_source) sources; /* by base, ascending; empty: one file */
    struct error error;
    struct workflow *w; /* pool, indexes, warnings, parameters; the arrays move in at the end */

    ARRAY(str_id) task_name;
    ARRAY(str_id) kind;
    ARRAY(double) work;
    ARRAY(double) memory;
    ARRAY(uint32_t) cores;
    ARRAY(uint16_t) flags;
    ARRAY(uint32_t) line;
    bool has_lines;
    /* columns that most graphs do not have: as long as the last task that has a value */
    ARRAY(str_id) command;
    ARRAY(str_id) shell;
    ARRAY(str_id) when;
    ARRAY(str_id) retry_on;
    ARRAY(uint64_t) needs;
    ARRAY(uint32_t) asks;         /* rows of `demands` */
    ARRAY(uint32_t) command_line; /* for messages only */
#define BUILDER_TEXT(name) ARRAY(str_id) name;
    TASK_TEXTS(BUILDER_TEXT)
#undef BUILDER_TEXT
#define BUILDER_FIELD(name, ctype, ...) ARRAY(ctype) name;
    TASK_COLUMNS(COLUMN_SKIP, BUILDER_FIELD, COLUMN_SKIP)
#undef BUILDER_FIELD
    struct builder_demands demands;
    ARRAY(struct own_time) times;
    ARRAY(struct rung) rungs;

    ARRAY(str_id) object_name;
    ARRAY(double) size; /* NAN: not stated */
    ARRAY(uint32_t) producer;
    ARRAY(uint32_t) only_reader; /* anonymous objects: their one consumer; NONE for named ones */

    struct path_home *home;    /* NULL: absolute names stay as they are */
    struct strbuf canonical;   /* a name being looked up */
    ARRAY(uint32_t) folders;   /* objects that were named with a slash at the end */
    ARRAY(uint32_t) made;      /* objects in the order in which their producers named them */
    ARRAY(uint32_t) temporary; /* objects */
    ARRAY(uint32_t) in_memory; /* objects, if only functions use them */
    ARRAY(uint32_t) gathered;  /* objects: OBJECT_GATHERED */
    ARRAY(uint32_t) inside;    /* objects: OBJECT_INSIDE */

    ARRAY(struct builder_reading) readings;
    ARRAY(struct builder_reading) optionals; /* of the readings: those that it can do without */
    /* Those that the file states come first, and those that follow from folders behind them; so with
     * `made`. */
    size_t stated_readings, stated_made;
    ARRAY(struct builder_naming) namings;
    ARRAY(uint32_t) naming_places;
    ARRAY(struct ordering) orderings;
    ARRAY(struct named_ordering) named;
    ARRAY(struct permutation) permutations;
    ARRAY(uint32_t) places;
    ARRAY(char *) variables; /* words that the reader fills in itself; for messages only */
    size_t warned;           /* all of them, also those not kept */
    struct builder_mentions mentions;
};

/* A new number, of an object of this name (0: none). NONE: too many. */
uint32_t builder_new_object(struct builder *b, str_id name);
/* The file that a line number is of; *line becomes its line there. */
const char *builder_place(const struct builder *b, size_t *line);
/* builder_resources.c: rows of amounts. After the column of demands has moved in. */
void builder_finish_demands(struct builder *b, struct workflow *w);
void builder_free_demands(struct builder *b);
/* What no function can have: several nodes, a time after which it is ended. Before anything has moved. */
void builder_check_calls(struct builder *b);
/* builder_folders.c: folders hold what is in them. Before objects are numbered. */
void builder_join_folders(struct builder *b);
/* builder_namings.c: {in} and {in[1]} of the commands in `namings`, as the task has its files. */
void builder_rename_files(struct builder *b, struct workflow *w);
/* command_check.c: is every {word} of every command something? After the lists of inputs and
 * outputs are made. */
void builder_check_commands(struct builder *b, const struct workflow *w);

/* Lengthen an optional column to `count` entries, the new ones holding `nothing`. */
#define column_extend(column, count, nothing)                                                      \
    do {                                                                                           \
        while ((column)->n < (count))                                                              \
            array_push((column), (nothing));                                                       \
    } while (0)

/* Optional columns are as long as the last task with a value: setting lengthens them. */
#define column_set(column, task, nothing, value)                                                   \
    do {                                                                                           \
        column_extend((column), (size_t)(task) + 1, (nothing));                                    \
        (column)->at[task] = (value);                                                              \
    } while (0)
