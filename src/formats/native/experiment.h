/* Experiment files: native YAML with the key `substitute` (docs/experiments.md). */
#pragma once
#include "base/error.h"
#include "model/experiment.h"

/* Read one; `path` "-" is standard input. On failure there is nothing to free. */
bool experiment_file_read(const char *path, struct experiment *x, struct error *err);
/* The same from a text that is followed by a NUL; `name` is for messages and for the workflow that
 * stands beside it. */
bool experiment_file_parse(const char *name, char *text, size_t length, struct experiment *x,
                           struct error *err);
