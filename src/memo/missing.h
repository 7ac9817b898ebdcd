/* An input of the workflow that is not there. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"

/* Say that no task makes it and that it is not in the folder, and what may have been meant. Always
 * false. */
bool missing_input(const struct workflow *w, uint32_t task, uint32_t object, const char *folder,
                   struct error *err);
