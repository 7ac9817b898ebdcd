/* The table of a task's columns at run time: what readers, writers, comparison and tests loop over.
 * column_list.h holds the rows and says what follows from them. */
#pragma once
#include "model/workflow.h"

/* COLUMN_run, COLUMN_call ... COLUMN_sandbox (those with a key), COLUMN_rungs, COLUMN_done. */
enum column_id {
#define COLUMN_ID(name, ...) COLUMN_##name,
    TASK_COLUMNS(COLUMN_ID, COLUMN_ID, COLUMN_ID)
#undef COLUMN_ID
        TASK_COLUMN_COUNT,
    TASK_KEY_COUNT = COLUMN_rungs, /* the first without a key */
    COLUMN_FIRST_DEFAULT = COLUMN_work,
};

enum column_sort { COLUMN_OWN, COLUMN_OPTIONAL, COLUMN_SWITCH };
enum column_unit {
    COLUMN_NUMBER,  /* any finite number */
    COLUMN_SECONDS, /* finite, 0 or more; "10m" where a format has units */
    COLUMN_COUNT,   /* whole, 0 to 1e9 */
    COLUMN_SOME,    /* whole, 1 to 1e9 */
};
enum { COLUMN_DEFAULT = 1 };
static inline bool column_is_whole(enum column_unit unit)
{
    return unit == COLUMN_COUNT || unit == COLUMN_SOME;
}

struct column_row {
    const char *key; /* the row's name */
    const char *lost, *example, *type, *fallback, *summary;
    enum column_sort sort;
    enum column_unit unit; /* COLUMN_OPTIONAL only, as the next three */
    double absent;
    size_t field;  /* its place in struct workflow */
    bool whole;    /* stored as uint32_t, not double */
    uint16_t flag; /* COLUMN_SWITCH only: set when the value is not `usual` */
    bool usual;
};
extern const struct column_row task_column[TASK_COLUMN_COUNT];

/* A switch in the words of files: "true" and "false", but `results: keep`. */
static inline const char *column_switch_word(const struct column_row *c, bool value)
{
    if (c->flag == TASK_KEEPS_RESULTS)
        return value ? "keep" : "leave";
    return value ? "true" : "false";
}

/* Has this task a value other than the usual? O(1). */
bool column_is_set(const struct workflow *w, uint32_t task, enum column_id id);
/* The same value? `s` is a task of `a`, `t` of `b`. */
bool column_is_equal(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                     enum column_id id);
/* The value of a COLUMN_OPTIONAL column, `absent` where there is none. */
double column_number(const struct workflow *w, uint32_t task, enum column_id id);
/* How many tasks have a value of their own. O(tasks), or O(1) when the column is NULL. */
uint32_t column_count(const struct workflow *w, enum column_id id);

/* The columns that are texts (TASK_TEXTS), for loops over them. */
enum {
#define COLUMN_COUNTED(name) +1
    TASK_TEXT_COUNT = 0 TASK_TEXTS(COLUMN_COUNTED)
#undef COLUMN_COUNTED
};
extern const enum column_id task_text[TASK_TEXT_COUNT];
/* The text of one of them; NULL: the task has none. */
const char *column_text(const struct workflow *w, uint32_t task, enum column_id id);

/* Sets of columns: bits of a uint64_t, the upper ones of which formats/carries.h uses. */
#define COLUMN_BIT(name) (UINT64_C(1) << COLUMN_##name)
_Static_assert(TASK_COLUMN_COUNT <= 48, "a set of columns has 48 bits");
