/* The workflow of an experiment, read once for every value of what makes it another graph: parameters
 * that stand in names of files and tasks, in settings or in lists, and lists. */
#pragma once
#include "session/expand.h"

enum { MOST_READINGS = 10000 }; /* of one file: each is a graph in memory */

/* The file as it stands, then the readings that the combinations ask for. Marks the substitutions that
 * are `with_file`. False: an error; close all the same. */
bool readings_open(struct expansion *e, const struct expand_options *o, struct error *err);
void readings_close(struct expansion *e);
struct readings readings_of(const struct expansion *e);
