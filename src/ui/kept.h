/* The Run view of a run that is on record, as one file that needs no server: `weft report RUN -o FILE`. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

/* FILE is the report that `weft report` wrote a moment ago; the view and what it shows are put into it. False: an error, and the
 * file is as it was. */
bool kept_write(int64_t run, const char *file, struct error *err);
