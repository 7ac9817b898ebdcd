/* Inside the Workbench's answers. */
#pragma once
#include "base/json.h"
#include "ui/request.h"

/* A name as pages give it, as a path in the laboratory's folder: NULL, and `out` says why, when it leads out of
 * it (also by a link), is absolute, hidden, or cannot be. Owned by the caller. */
char *workbench_path(const struct laboratory *lab, const char *name, struct reply *out);

/* A member of a body that has to be a text; NULL: it is not there, or none. */
const char *workbench_text(const struct json *j, json_ref object, const char *key);

/* What stands in a text: boxes with ports and places, wires, values, the first mistake. */
void workbench_view(struct json_writer *j, const char *file, const char *text, size_t n);

void answer_lights(const struct laboratory *lab, const struct request *r, struct reply *out);
void answer_data(const struct laboratory *lab, const struct request *r, struct reply *out);
void answer_picture(const struct laboratory *lab, const struct request *r, struct reply *out);
