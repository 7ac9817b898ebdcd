/* libweft: workflows. Tasks, the objects (files) they read and write, and the order between them.
 * A workflow is frozen when it is made: any number of threads may read it. Tasks and objects are
 * numbers from 0. Part of <weft/weft.h>. */
#ifndef WEFT_WORKFLOW_H
#define WEFT_WORKFLOW_H
#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_workflow;

/* ---- reading and writing: any format that weft_format_name() lists ---- */

struct weft_read_options {
    size_t size;
    const char *format;         /* NULL: by the content */
    const char *const *options; /* of the reader, "name=value", ends with NULL; NULL: none */
};
#define WEFT_READ_INIT                                                                             \
    {                                                                                              \
        sizeof(struct weft_read_options), NULL, NULL                                               \
    }

/* A file; "-" is standard input. `options` may be NULL. */
struct weft_workflow *weft_workflow_read(const char *path, const struct weft_read_options *options,
                                         struct weft_error *error);

struct weft_write_options {
    size_t size;
    const char *format; /* NULL: by the suffix of the path, else native YAML */
    /* Called with a line for each kind of information that the format cannot carry. May be NULL. */
    void (*dropped)(void *context, const char *line);
    void *context;
};
#define WEFT_WRITE_INIT                                                                            \
    {                                                                                              \
        sizeof(struct weft_write_options), NULL, NULL, NULL                                        \
    }

/* A file that appears whole or not at all; "-" is standard output. */
bool weft_workflow_write(const struct weft_workflow *w, const char *path,
                         const struct weft_write_options *options, struct weft_error *error);

/* Plans made of it live on: they keep it. */
void weft_workflow_free(struct weft_workflow *w);

/* ---- walking ---- */

uint32_t weft_workflow_tasks(const struct weft_workflow *w);
uint32_t weft_workflow_edges(const struct weft_workflow *w); /* distinct pairs of tasks */
/* NULL: no such number. */
const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task);
/* WEFT_NONE: no task of that name. Expected O(1). */
uint32_t weft_workflow_find_task(const struct weft_workflow *w, const char *name);

#ifdef __cplusplus
}
#endif
#endif
