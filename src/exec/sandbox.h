/* A folder of its own for a task: its declared inputs linked in, its declared outputs moved out,
 * all of them or none, each by one rename. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "model/workflow.h"
#include <stdbool.h>

/* Files are named relative to `folder` (absolute names are used as they stand). */

/* Make `path` (emptied if it is there) with links to the inputs of `task` and folders for its
 * outputs. */
bool sandbox_make(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  struct error *err);

/* Move the outputs from the sandbox (NULL: they are in place already) into the folder. A missing
 * one is an error that names it, and those that lie there undeclared, which may be its misspelling;
 * nothing is moved then. `remarks`: undeclared files, a line each. */
bool sandbox_take(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  struct strbuf *remarks, struct error *err);
