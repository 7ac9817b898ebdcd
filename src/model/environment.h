/* What a command runs in, beside its shell: variables, an image, a conda environment, modules.
 *
 *     column      its text                              in the key
 *     ---------   -----------------------------------   -------------------------------
 *     env         NAME=VALUE, a line each, by name      yes, with {cores} and so on filled in
 *     pass        names, at blanks; "-": none at all    no
 *     secret      names, at blanks                      no
 *     container   an image                              what it is (its digest), not its name
 *     conda       a file                                its content
 *     modules     words, at blanks, in their order      yes
 *
 * A value of `env` is a template, as a command is, but nothing in it is quoted; a backslash and a line
 * break are written \\ and \n.
 *
 * Texts say what is wanted. What was found for it when the run began, values of variables and
 * secrets, images, contents of files, is a struct run_environment: it goes with the run to whoever
 * runs the tasks, and is never written down. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/columns.h"

/* A text as it may stand in its column? False: an error without a place. */
bool environment_check(enum column_id id, const char *text, struct error *err);
/* May a variable be called so: letters, digits and _, no digit in front, and none of weft's own? */
bool environment_is_name(const char *name, size_t length);

/* The next NAME=VALUE of an env text, the value a template. False: that was the last. */
bool environment_next(const char **at, struct strbuf *name, struct strbuf *value);
/* Append one; names are to come in order. */
void environment_add(struct strbuf *text, const char *name, const char *value);
/* The next word of a list, and its length. NULL: that was the last. */
const char *environment_word(const char **at, size_t *length);

/* Does the task say anything of it? Most do not, and cost this question. */
static inline bool environment_is_stated(const struct workflow *w, uint32_t task)
{
#define ENVIRONMENT_STATED(name) || (w->name && w->name[task])
    return false TASK_TEXTS(ENVIRONMENT_STATED);
#undef ENVIRONMENT_STATED
}
/* Does any task? */
static inline bool environment_is_used(const struct workflow *w)
{
#define ENVIRONMENT_USED(name) || w->name
    return false TASK_TEXTS(ENVIRONMENT_USED);
#undef ENVIRONMENT_USED
}

/* Its variables as an attempt has them: "NAME=VALUE", each with its NUL, appended. Returns how many. */
struct command_attempt;
size_t environment_expand(const struct workflow *w, uint32_t task,
                          const struct command_attempt *attempt, struct strbuf *out);

/* For people: "in debian:12, with A=1 B='x y', secret TOKEN", appended. False, and nothing appended: the
 * task says nothing. */
bool environment_readable(const struct workflow *w, uint32_t task, uint32_t attempt,
                          struct strbuf *out);

/* ---- what a run takes along ---- */

enum along_kind { ALONG_PASS, ALONG_SECRET, ALONG_IMAGE, ALONG_CONDA, ALONG_KINDS };

struct along {
    enum along_kind kind;
    char *name;  /* a variable, an image, a file */
    char *value; /* its value, what runs it (container.h), its content */
};

struct run_environment {
    ARRAY(struct along) at;
};

/* Both texts are copied. A second value for the same takes the place of the first. */
void run_environment_add(struct run_environment *e, enum along_kind kind, const char *name,
                         const char *value);
/* NULL: there is none. `e` may be NULL. */
const char *run_environment_find(const struct run_environment *e, enum along_kind kind,
                                 const char *name, size_t length);
void run_environment_free(struct run_environment *e); /* wiped before it is given back */

/* What of all this belongs to the task's key, appended; nothing for a task that says nothing. */
void environment_in_key(const struct workflow *w, uint32_t task, const struct run_environment *e,
                        struct strbuf *out);
