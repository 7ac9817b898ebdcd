/* What is legal and suspicious in a workflow: each finding has its place, and says what to do. A rule
 * that is not sure is silent. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/workflow.h"

struct lint_finding {
    const char *rule; /* "undeclared", "quotes" ...: docs/lint.md */
    uint32_t line;    /* in the workflow's file; 0: unknown */
    uint32_t task;    /* the first that it is about; NONE: the file */
    uint32_t
        more; /* members of the same family, or tasks of the same line, that it is about, too */
    char *text;
};

typedef ARRAY(struct lint_finding) lint_findings;

/* `path`: the workflow's file, which is read once more; `folder`: where its files are. `only` (one a task; NULL: all): what
 * is said of other tasks, and of the file as a whole, is left out; the whole workflow is looked at all the same, since who
 * reads a file may be no part of it. Findings are in the order of the file. Cost: O(text of commands), and a stat for each name of a file. False: an
 * error. */
bool lint_workflow(const struct workflow *w, const char *path, const char *folder,
                   const uint8_t *only, lint_findings *out, struct error *err);
void lint_findings_free(lint_findings *f);
