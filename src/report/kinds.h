/* Which colour a task has in a picture: tasks of a kind alike, the most frequent kinds first.
 *
 * Files that give no kinds get them from the names (mProject_12 -> mProject) when that finds a few;
 * a graph in which every task is of its own kind has one colour. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"

enum { KINDS_SHOWN = 8 }; /* the rest is "other" */

struct kinds {
    uint8_t *colour;                 /* per task: 0 .. shown - 1, or KINDS_SHOWN for "other" */
    char *name[KINDS_SHOWN + 1];     /* NULL: "other", or all alike */
    uint32_t count[KINDS_SHOWN + 1]; /* tasks; the last of "other" */
    uint32_t shown;             /* kinds with a colour of their own; 1 and no name: all alike */
    const char *const *palette; /* KINDS_SHOWN + 1 fills; NULL: svg_fill() */
};

const char *kinds_fill(const struct kinds *k, uint32_t colour);
/* Bytes of a name without what numbers it: "mProject_0012" -> "mProject", "t17" -> "t"; the whole
 * name when nothing would be left. */
size_t kinds_stem(const char *name);

/* Linear; the caller calls kinds_free(). */
void kinds_of(struct kinds *k, const struct workflow *w);
/* By what the history will know its tasks by (model/task_kind.h), so that a plan has the colours of its run in the page. */
void kinds_of_record(struct kinds *k, const struct workflow *w);
void kinds_free(struct kinds *k);
/* A legend in lines of at most `width` pixels from (x, y); returns the height it took, 0 when there
 * is nothing to tell. */
double kinds_legend(const struct kinds *k, struct strbuf *out, double x, double y, double width);
/* That height without drawing. */
double kinds_legend_height(const struct kinds *k, double width);
