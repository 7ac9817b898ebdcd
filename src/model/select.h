/* A part of a workflow: targets and what they need, or everything that depends on a task.
 *
 * What comes out is a workflow of its own, with the names of the whole: records, predictions and
 * plans of either know the tasks of the other. A file whose maker is left out is an input. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"

/* Mark in `marks` (one a task) what `name` stands for: a task, the maker of a file, or a family
 * (its members are called NAME@...). False: nothing; the error says what is near. */
bool select_named(const struct workflow *w, const char *name, uint8_t *marks, struct error *err);
/* Mark also all that marked tasks need, or all that need them. O(tasks + edges). */
void select_ancestors(const struct workflow *w, uint8_t *marks);
void select_descendants(const struct workflow *w, uint8_t *marks);
/* The marked tasks as a workflow. What those in `asked` (NULL: none) make is what somebody wants to have:
 * it is not temporary there. */
struct workflow *workflow_part(const struct workflow *w, const uint8_t *marks, const uint8_t *asked,
                               struct error *err);

/* Mark in `marks` (one a task) what is asked for by name, as workflow_select() takes it; `asked` (NULL: nobody wants to
 * know): the targets themselves. False: an error. */
bool select_part(const struct workflow *w, const char *const *targets, const char *const *since,
                 uint8_t *marks, uint8_t *asked, struct error *err);
/* What is asked for by name: the targets with what they need [everything], of it what depends on
 * `since` [everything]. Both end with NULL, or are NULL. NULL: an error; `w` stays the caller's. */
struct workflow *workflow_select(const struct workflow *w, const char *const *targets,
                                 const char *const *since, struct error *err);
