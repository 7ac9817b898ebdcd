/* What `weft experiment` prints. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "experiment/expansion.h"

void experiment_text(const struct expansion *e, bool list, bool colour, struct strbuf *out);
void experiment_json(const struct expansion *e, bool list, struct strbuf *out);

/* A row a combination: what was chosen, and the files that it gives, or the figures in one of them:
 * lines "name value" (also with ':', '=' or a comma between) become columns. */
void experiment_results(const struct expansion *e, bool colour, struct strbuf *out);

/* Is `values` the name of a result? If not, the error says which there are. */
bool experiment_has_values(const struct expansion *e, struct error *err);
