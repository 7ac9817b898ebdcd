/* What a person can do about a task that failed: a sentence, where the cause can be told for certain
 * from its command, its last lines and the folder. */
#pragma once
#include "model/record.h"

/* `folder`: where the workflow's files are. `sandboxed`: the task saw nothing but its declared inputs.
 * NULL: nothing is certain; else the caller frees. Looks at a few files, and after "not found" at the
 * folders of PATH. */
char *hint_for(const struct workflow *w, const struct record_failure *f, const char *folder,
               bool sandboxed);
