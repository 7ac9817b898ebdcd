/* What a format can carry of a workflow: a set of bits, in the format's row and in what a writer
 * knows about this very workflow. The low 48 bits are the columns of a task (model/column_list.h), the
 * others the structure around them. */
#pragma once
#include "model/columns.h"

#define CARRIES(column) COLUMN_BIT(column)
/* Every optional number and every switch that has a key: a format that can write any such pair of
 * name and value loops over the table and need not know them one by one. */
#define CARRIES_GENERIC_BIT(name, ...) | CARRIES(name)
#define CARRIES_GENERIC                                                                            \
    (UINT64_C(0) TASK_KEYS(COLUMN_SKIP, CARRIES_GENERIC_BIT, CARRIES_GENERIC_BIT))

/* Every column that is a text. */
#define CARRIES_TEXT_BIT(name) | CARRIES(name)
#define CARRIES_TEXTS (UINT64_C(0) TASK_TEXTS(CARRIES_TEXT_BIT))

#define CARRIES_NAMES (UINT64_C(1) << 48)    /* task names, for this workflow */
#define CARRIES_UNSTATED (UINT64_C(1) << 49) /* that nobody stated a work, which 0 would not say */
#define CARRIES_SIZES (UINT64_C(1) << 50)    /* bytes between two tasks */
/* objects with several consumers, several objects between two tasks, objects of 0 bytes */
#define CARRIES_OBJECTS (UINT64_C(1) << 51)
#define CARRIES_EMPTY (UINT64_C(1) << 52)
#define CARRIES_OBJECT_NAMES (UINT64_C(1) << 53) /* for this workflow */
#define CARRIES_INPUTS (UINT64_C(1) << 54)       /* objects without a producer */
#define CARRIES_OUTPUTS (UINT64_C(1) << 55)      /* objects without a consumer */
#define CARRIES_TEMPORARY (UINT64_C(1) << 56)    /* which objects are temporary */
#define CARRIES_TITLE (UINT64_C(1) << 57)        /* the workflow's name */
#define CARRIES_PARAMETERS (UINT64_C(1) << 58)
#define CARRIES_ASSERTIONS (UINT64_C(1) << 59)
#define CARRIES_HOOKS (UINT64_C(1) << 60)
#define CARRIES_IN_MEMORY (UINT64_C(1) << 61) /* which objects have no file between functions */

#define CARRIES_ALL_COLUMNS ((UINT64_C(1) << TASK_COLUMN_COUNT) - 1)
/* The graph with all that belongs to objects. */
#define CARRIES_GRAPH                                                                              \
    (CARRIES_NAMES | CARRIES_UNSTATED | CARRIES_SIZES | CARRIES_OBJECTS | CARRIES_EMPTY |          \
     CARRIES_OBJECT_NAMES | CARRIES_INPUTS | CARRIES_OUTPUTS | CARRIES_TEMPORARY)
