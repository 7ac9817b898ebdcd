/* DOT beyond the table of formats: the optimal schedules embedded in the graphs of the Sinnen
 * collection. */
#pragma once
#include "formats/format.h"

/* The proven optimum that such a file carries: the graph attributes "Number of processors" and
 * "Total schedule length". A missing length is computed from the nodes (largest start + weight), a
 * missing number from their distinct processors (numbers are labels: files start at 0, 1 or 9).
 * False with an error when the file says neither. The text is not changed. */
bool dot_read_optimum(const struct format_source *source, uint32_t *processors, double *length,
                      struct error *err);

/* The writer, in dot_write.c. */
bool dot_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                        struct error *err);
