/* libweft: editing a workflow as its author wrote it. Part of <weft/weft.h>.
 *
 *     struct weft_edit *edit = weft_edit_new(text, n, "flow.yaml", &error);
 *     weft_edit_connect(edit, "blur", "soft.png", "detect", NULL, &error);
 *     puts(weft_edit_text(edit, NULL));
 *
 * Native YAML only. Each change is a patch of the text: comments, order and blanks stay, and every byte
 * that was not meant. A change is refused, and the text is what it was, where it cannot be proved by
 * reading the new text that it says exactly what was asked. Costs a reading of the text for each change:
 * for workflows that people write, not for a million tasks. The text need not be a workflow that can run;
 * weft_workflow_read_text() tells. */
#ifndef WEFT_EDIT_H
#define WEFT_EDIT_H
#include "weft/common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_edit;
struct weft_workflow;

/* NULL: the text is no YAML. `name` stands for the file in messages. */
struct weft_edit *weft_edit_new(const char *text, size_t n, const char *name,
                                struct weft_error *error);
void weft_edit_free(struct weft_edit *e);
/* As it is now, NUL-terminated; `*n` (may be NULL) its length. Valid until the next change. */
const char *weft_edit_text(const struct weft_edit *e, size_t *n);

/* ---- steps ---- */

/* Changes between them are one step. `good` false: none of them holds. */
void weft_edit_begin(struct weft_edit *e);
bool weft_edit_end(struct weft_edit *e, bool good);
/* The same bytes as before the last step, and after it. False: there is none. Without end. */
bool weft_edit_undo(struct weft_edit *e);
bool weft_edit_redo(struct weft_edit *e);

/* ---- changes ----
 * A place is a list of keys and numbers of elements that ends with NULL: {"tasks", "blur", "in", "0",
 * NULL}; it has at most 8. */

/* Give the place this value: a text as it is, or (`yaml`) a value in YAML, as it would stand in brackets. A
 * place that is not there is made. */
bool weft_edit_set(struct weft_edit *e, const char *const *place, const char *value, bool yaml,
                   struct weft_error *error);
bool weft_edit_remove(struct weft_edit *e, const char *const *place, struct weft_error *error);
/* All of the text, as somebody typed it. */
bool weft_edit_replace(struct weft_edit *e, const char *text, size_t n, struct weft_error *error);
/* The tasks of another text, with the parameters and lists that they name. What is taken here gets a
 * number: tasks, files that they make, and parameters with another value; with `own` all parameters.
 * Their names here, a line each: weft_text_free(). NULL: an error. */
char *weft_edit_add(struct weft_edit *e, const char *text, size_t n, bool own,
                    struct weft_error *error);
/* These tasks as a workflow of their own, for weft_edit_add(). `tasks` ends with NULL. */
char *weft_edit_copy(const struct weft_edit *e, const char *const *tasks, struct weft_error *error);
/* `after` of others forgets it, too; who reads its files reads them from outside. */
bool weft_edit_remove_task(struct weft_edit *e, const char *task, struct weft_error *error);
bool weft_edit_rename_task(struct weft_edit *e, const char *from, const char *to,
                           struct weft_error *error);
/* Wherever it is read or made. */
bool weft_edit_rename_file(struct weft_edit *e, const char *from, const char *to,
                           struct weft_error *error);
/* `to` reads this file of `from`: at an input that is there ({"in", "0", NULL}), in place of what it reads,
 * or (`port` NULL) at one more. Refused: the suffixes differ, it would close a circle. */
bool weft_edit_connect(struct weft_edit *e, const char *from, const char *file, const char *to,
                       const char *const *port, struct weft_error *error);
bool weft_edit_disconnect(struct weft_edit *e, const char *task, const char *file,
                          struct weft_error *error);
/* These tasks become one, `name`, which is the sub-workflow in the file `path`. Its text, for the caller
 * to write there: weft_text_free(). NULL: an error. */
char *weft_edit_group(struct weft_edit *e, const char *const *tasks, const char *name,
                      const char *path, struct weft_error *error);

/* ---- what stands there ---- */

struct weft_edit_task {
    const char *name;
    uint32_t line, last; /* of the text, from 1 */
};
/* Task number `i` of the text; false: there are no more. */
bool weft_edit_task(const struct weft_edit *e, size_t i, struct weft_edit_task *out);

/* A key of a task, of the parameters or of the lists with its value. */
struct weft_edit_key {
    const char *key;
    const char *value; /* a text as it is, or as YAML in brackets */
    bool yaml;
    uint32_t line;
};
/* Key number `k` of that task; false: there are no more. `out->value` is valid until the next call. */
bool weft_edit_task_key(struct weft_edit *e, size_t i, size_t k, struct weft_edit_key *out);
/* Member number `k` of a section of the file: "parameters", "lists", "defaults". */
bool weft_edit_member(struct weft_edit *e, const char *section, size_t k,
                      struct weft_edit_key *out);
/* Number `k` of what stands at a place: a member of a mapping, an element of a list (its key is ""); a single
 * value is number 0 of itself. An empty place is the whole file. False: there are no more. */
bool weft_edit_at(struct weft_edit *e, const char *const *place, size_t k,
                  struct weft_edit_key *out);

/* A file that a task reads or makes. */
struct weft_edit_port {
    bool out;
    const char *file;
    const char *place[6]; /* below the task, for weft_edit_connect(); ends with NULL */
};
/* File number `k` of that task, inputs first; false: there are no more. Valid until the next call. */
bool weft_edit_port(struct weft_edit *e, size_t i, size_t k, struct weft_edit_port *out);

/* A wire of the text: what one task makes and another reads, by its name, or the order alone (`after`). Names
 * with variables ({image}.png) meet where some value makes them the same. */
struct weft_edit_wire {
    uint32_t from, to;   /* tasks, as weft_edit_task() counts them */
    uint32_t made, read; /* ports, as weft_edit_port() counts them; WEFT_NONE: order alone */
};
/* The text as it was read: from now on names with variables meet where it has them the same, and not where some value could make
 * them so. Tasks of which it has none (a family whose list only a run tells) are compared by their names as before. To be called
 * again when the text has changed; NULL: by names alone. False: there is no memory. */
bool weft_edit_know(struct weft_edit *e, const struct weft_workflow *w, struct weft_error *error);
/* Wire number `k`; false: there are no more. */
bool weft_edit_wire(struct weft_edit *e, size_t k, struct weft_edit_wire *out);

/* Where boxes of the tasks may stand, by the layered layout of weft's pictures: data goes from column to
 * column, and wires cross little. */
struct weft_edit_spot {
    uint32_t column;
    double middle; /* across the column, from 0 on */
};
/* `extent`: of each task's box across its column; `gap` between two. `spots` has room for as many tasks. False:
 * the wires go in a circle, or there is no memory. */
bool weft_edit_layout(struct weft_edit *e, const double *extent, double gap,
                      struct weft_edit_spot *spots, struct weft_error *error);

/* The keys that a task may have, in the order of docs/formats/native.md; false: there are no more. */
struct weft_task_key {
    const char *name, *type, *standard, *summary;
};
bool weft_task_key(size_t i, struct weft_task_key *out);

/* ---- the library of tasks ---- */

/* A description is a workflow with a task or a few, in a file of its own; its first lines say what it does:
 *
 *     # Smooths a picture by a Gaussian; sigma is in pixels.
 *     # group: images; needs: imagemagick */
struct weft_library;
struct weft_library_task {
    const char *name;  /* the file's, without ".yaml" */
    const char *group; /* "images"; "mine" where none is stated */
    const char *about, *needs;
    const char *folder;  /* where it was found */
    const char *text;    /* all of it */
    const char *problem; /* why it cannot be used; NULL: it can */
};
/* Every *.yaml of these folders (the list ends with NULL); of two with one name the first counts. A folder
 * that is not there has none. Sorted by group and name. */
struct weft_library *weft_library_read(const char *const *folders, struct weft_error *error);
void weft_library_free(struct weft_library *l);
/* Number `i`; false: there are no more. */
bool weft_library_task(const struct weft_library *l, size_t i, struct weft_library_task *out);

#ifdef __cplusplus
}
#endif
#endif
