/* Jobs that state both their edges and the files they use (DAX, Pegasus): stated edges give
 * precedence, files give volumes.
 *
 * For a stated edge P -> C every file that P writes and C reads becomes a data edge; with no such
 * file it is an ordering edge. No other edge appears: a file that is written and read without a
 * stated edge is only counted, in one warning. A file that no job writes is an input of the
 * workflow. Where several jobs write a file, each gets an object of its own: the first in file
 * order keeps the name, the others are called "file@job". The first size that is stated for a file
 * counts. */
#pragma once
#include "model/builder.h"

struct uses;

struct uses *uses_new(struct builder *b);
void uses_free(struct uses *u);

/* A file by its name; its size may be stated any number of times. Not finite or negative is the
 * builder's error. */
uint32_t uses_file(struct uses *u, const char *name, size_t length);
void uses_size(struct uses *u, uint32_t file, double bytes, size_t line);
void uses_input(struct uses *u, uint32_t task, uint32_t file, size_t line);
void uses_output(struct uses *u, uint32_t task, uint32_t file, size_t line);
/* A stated edge between jobs that may come later in the file: by their names. */
void uses_edge(struct uses *u, const char *from, size_t from_length, const char *to,
               size_t to_length, size_t line);

/* Tell the builder all of it. Dangling names are errors at their lines. O(n log n) in uses and
 * edges, times the writers of a file. */
void uses_finish(struct uses *u);
