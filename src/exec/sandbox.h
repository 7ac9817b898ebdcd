/* A folder of its own for a task: its declared inputs linked in, its declared outputs moved out,
 * all of them or none, each by one rename. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <sys/types.h>

/* Files are named relative to `folder` (absolute names are used as they stand). */

/* May every task that has a sandbox have its files there? Above the folder is no place for them. Said
 * before anything starts; readers that know the place of the name have said it already. */
bool sandbox_check_names(const struct workflow *w, struct error *err);

/* Make the folder in which sandboxes are made. Once: its inodes are spread over the disk, where the
 * file system has such a thing. */
bool sandbox_make_parent(const char *path, struct error *err);

/* Make `path` (emptied if it is there) with links to the inputs of `task`, but for those that are
 * `absent` (by object; NULL: none), and folders for its outputs. */
bool sandbox_make(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const uint8_t *absent, struct error *err);
/* The same in a folder that an attempt before this one left: its inputs are put anew, and what else
 * lies there stays. */
bool sandbox_make_again(const char *path, const char *folder, const struct workflow *w,
                        uint32_t task, const uint8_t *absent, struct error *err);

/* What becomes of something that stands where an output belongs. */
enum sandbox_verdict {
    SANDBOX_REPLACES, /* it may be replaced, or is out of the way */
    SANDBOX_LEAVES,   /* it is as good as the output, which is dropped */
    SANDBOX_FAILS,    /* an error, and nothing more is moved */
};
/* Who decides about it. `from` is the output. */
struct sandbox_way {
    enum sandbox_verdict (*clear)(void *context, uint32_t object, const char *from,
                                  struct error *err);
    void *context;
};

/* The second half of sandbox_make(): links to inputs and folders for outputs, in a folder that is there. */
bool sandbox_fill(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const uint8_t *absent, struct error *err);
/* Everything in it goes but its folders, which `folders` names then, if they are few and have this mode.
 * False: not so, and some of it may be gone; remove it. */
bool sandbox_empty(const char *path, mode_t mode, struct strbuf *folders);
/* As sandbox_make(), where sandbox_empty() was. */
bool sandbox_make_in(const char *path, const char *folder, const struct strbuf *folders,
                     const struct workflow *w, uint32_t task, const uint8_t *absent,
                     struct error *err);

/* Move the outputs from the sandbox (NULL: they are in place already) into the folder. A missing
 * one is an error that names it, and those that lie there undeclared, which may be its misspelling;
 * nothing is moved then. `way` NULL: whatever stands there is replaced. `remarks`: undeclared files,
 * a line each. */
bool sandbox_take(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const struct sandbox_way *way, struct strbuf *remarks, struct error *err);
