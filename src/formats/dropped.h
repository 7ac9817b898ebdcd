/* What a spare format cannot carry, said once for all of them: a line for each kind of information
 * that this workflow has and the format has no place for. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"

enum dropped_carried {
    CARRIES_NAMES = 1,   /* task names, for this workflow */
    CARRIES_MEMORY = 2,  /* memory of tasks */
    CARRIES_SIZES = 4,   /* bytes between two tasks */
    CARRIES_OBJECTS = 8, /* objects with several consumers, several objects between two tasks */
    CARRIES_OBJECT_NAMES = 16, /* for this workflow */
    CARRIES_KINDS = 32,
    CARRIES_INPUTS = 64,  /* objects without a producer */
    CARRIES_OUTPUTS = 128 /* objects without a consumer */
};

/* Linear in the workflow. `dropped` may be NULL. */
void dropped_report(const struct workflow *w, unsigned carried, struct strbuf *dropped);
/* One more line: "memory of 12 tasks"; nothing for a count of 0. */
void dropped_count(struct strbuf *dropped, size_t count, const char *what, const char *of);
