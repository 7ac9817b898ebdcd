/* Values that must not be read in a log: written over with asterisks, as many as they are long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { LOG_MASK_LEAST = 4 }; /* characters; what is shorter stands in every text by chance */

/* `values`: NULL-terminated; those that are too short are passed over. False: the log cannot be read
 * or written. Costs a walk over the log for each value. */
bool log_mask(int log, const char *const *values);
