/* Inside the Workbench's answers. */
#pragma once
#include "base/array.h"
#include "base/json.h"
#include "ui/request.h"
#include "weft/weft.h"

/* A name as pages give it, as a path in the laboratory's folder: NULL, and `out` says why, when it leads out of
 * it (also by a link), is absolute, hidden, or cannot be. Owned by the caller. */
char *workbench_path(const struct laboratory *lab, const char *name, struct reply *out);

/* A member of a body that has to be a text; NULL: it is not there, or none. */
const char *workbench_text(const struct json *j, json_ref object, const char *key);

/* What a page gives back when it saves, so that nobody's change is written over. */
void workbench_put_digest(struct json_writer *j, const char *text, size_t n);

/* What stands in a text: boxes with ports and places, wires, values, the first mistake. */
void workbench_view(struct json_writer *j, const char *file, const char *text, size_t n);

/* Is this task the box, a member of its family, or in its sub-workflow? */
bool workbench_is_of(const char *task, const char *box);

/* workbench_around.c: frames, notes, constraints, values; and included workflows as boxes. */
void workbench_put_key(struct json_writer *j, const struct weft_edit_key *key);
void workbench_around(struct json_writer *j, struct weft_edit *e);
/* How many files enter (or leave) the box; the files themselves; the wires of all such boxes, which are numbered from `first`
 * on. `w` NULL: the workflow cannot be read, and nothing is known. */
unsigned workbench_include_side(const struct weft_workflow *w, const char *box, bool outs);
void workbench_include_ports(struct json_writer *j, const struct weft_workflow *w, const char *box);
typedef ARRAY(struct weft_edit_wire) workbench_wires;
void workbench_include_wires(struct weft_edit *e, const struct weft_workflow *w, uint32_t first,
                             workbench_wires *wires);

/* workbench_places.c: where a box stands and how large it is. */
enum { BOX_WIDTH = 204, BOX_COLUMN = BOX_WIDTH + 76 }; /* two names of 12 letters, and a gap */
struct box_place {
    uint32_t column;
    double y, height;
};
/* A box for each task, then one for each included workflow; the caller frees. */
struct box_place *workbench_places(struct weft_edit *e, const struct weft_workflow *w,
                                   const workbench_wires *wires, size_t tasks);

/* workbench_trial.c: the experiment that replaces things in a workflow. */
void answer_trial(const struct laboratory *lab, const struct request *r, struct reply *out);

void answer_members(const struct laboratory *lab, const struct request *r, struct reply *out);
void answer_lights(const struct laboratory *lab, const struct request *r, struct reply *out);
void answer_data(const struct laboratory *lab, const struct request *r, struct reply *out);
void answer_picture(const struct laboratory *lab, const struct request *r, struct reply *out);
