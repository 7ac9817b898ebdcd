/* Inside the native format: what reading a workflow and reading a platform share. */
#pragma once
#include "formats/format.h"
#include "formats/yaml/yaml.h"
#include "model/outside.h"

/* A native file being read. Values come out checked; a wrong one is an error that says where it
 * stands (`where` is "task 'b'" or "node 'fat'", empty at the top), what was found and what was
 * expected. */
struct native {
    struct yaml y;
    struct error *err;
    char where[160];
    /* Fills in what stands in braces in the text of scalar `v`; NULL: an error, which was said. NULL
     * itself: braces mean nothing here. Valid until it is called again. */
    const char *(*fill)(void *context, yaml_ref v, size_t *length);
    void *fill_context;
    struct outside *outside; /* other files are read through it; NULL: from the disk */
};

/* Load the file and check that it is a native one with the key `wanted` ("tasks", "nodes" or
 * "substitute") in it. False: nothing to close. */
bool native_open(struct native *n, const struct format_source *source, const char *wanted,
                 struct error *err);
void native_close(struct native *n);

/* An error at a value or key; always false. */
bool native_error(const struct native *n, yaml_ref at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Which of the `allowed` keys (ends with NULL) is this? -1: none, and the error names the nearest.
 */
int native_key(const struct native *n, yaml_ref key, const char *const *allowed);
bool native_is_mapping(const struct native *n, yaml_ref v, const char *what);

/* The text of a scalar with everything filled in; NULL: an error. */
const char *native_scalar(const struct native *n, yaml_ref v, size_t *length);
/* A text as it stands, braces and all. */
bool native_plain_text(const struct native *n, yaml_ref v, const char *what, const char **text,
                       size_t *length); /* not empty */
bool native_text(const struct native *n, yaml_ref v, const char *what, const char **text,
                 size_t *length); /* not empty */
bool native_number(const struct native *n, yaml_ref v, const char *what, double *out);  /* finite */
bool native_bytes(const struct native *n, yaml_ref v, const char *what, double *out);   /* 200M */
bool native_seconds(const struct native *n, yaml_ref v, const char *what, double *out); /* 10m */
/* A word, or a list of words, appended with commas between them; none has a comma or a blank. */
bool native_words(const struct native *n, yaml_ref v, const char *what, struct strbuf *out);
/* What a node has of things (model/things.h): as thing_list_text() writes it, and back as YAML. */
bool native_things(const struct native *n, yaml_ref v, struct strbuf *out);
void native_write_things(const char *text, struct strbuf *out);
bool native_bool(const struct native *n, yaml_ref v, const char *what, bool *out);
/* `keep` is true, `leave` false. */
bool native_results(const struct native *n, yaml_ref v, const char *what, bool *out);
/* Bytes, or the word "unlimited" as INFINITY. */
bool native_bytes_or_unlimited(const struct native *n, yaml_ref v, const char *what, double *out);

struct workflow *native_read_workflow(const struct format_source *source, struct error *err);
void native_lint(const struct format_source *source, format_lint_found found, void *context);
struct platform *native_read_platform(const struct format_source *source, struct error *err);
bool native_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
/* native_environment.c: env, pass, secret, container, conda, modules of a task. */
void native_write_environment(const struct workflow *w, uint32_t t, struct strbuf *out,
                              size_t *broken);
bool native_write_platform(const struct platform *p, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
