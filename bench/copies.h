/* What comparing the inputs of tasks costs: one that is as it was, before and after a task (for each input of
 * each task), and one that must be read (once after an agent starts). */
#pragma once
#include "base/json.h"
#include <stdbool.h>

/* Of files that it makes in the folder; printed, and as "copies" in `j`. */
void copies_measure(const char *folder, bool quick, struct json_writer *j);
