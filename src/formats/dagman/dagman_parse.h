/* A DAGMan file as a list of statements: comments, continuation lines and inline submit
 * descriptions taken apart, nothing resolved. The same list serves every splice that uses the file.
 */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "formats/format.h"
#include <stdint.h>

enum dagman_keyword {
    DAGMAN_JOB, /* also NODE and DATA */
    DAGMAN_FINAL,
    DAGMAN_PROVISIONER,
    DAGMAN_SERVICE,
    DAGMAN_SUBDAG,
    DAGMAN_SPLICE,
    DAGMAN_PARENT,
    DAGMAN_CONNECT,
    DAGMAN_PIN_IN,
    DAGMAN_PIN_OUT,
    DAGMAN_INCLUDE,
    DAGMAN_VARS,
    DAGMAN_PRIORITY,
    DAGMAN_RETRY,
    DAGMAN_DONE,
    DAGMAN_SUBMIT_DESCRIPTION,
    DAGMAN_SCRIPT, /* from here on: about one node, read and not carried over */
    DAGMAN_PRE_SKIP,
    DAGMAN_ABORT_DAG_ON,
    DAGMAN_CATEGORY,
    DAGMAN_TOLERANCE,
    DAGMAN_MAXJOBS, /* from here on: about the run, not about a node */
    DAGMAN_CONFIG,
    DAGMAN_DOT,
    DAGMAN_NODE_STATUS_FILE,
    DAGMAN_JOBSTATE_LOG,
    DAGMAN_SET_JOB_ATTR,
    DAGMAN_ENV,
    DAGMAN_REJECT,
    DAGMAN_SAVE_POINT_FILE,
    DAGMAN_KEYWORDS,
};

struct dagman_span {
    const char *at; /* NULL: none */
    uint32_t n;
};

struct dagman_statement {
    enum dagman_keyword keyword;
    size_t line;
    struct dagman_span rest; /* the words after the keyword */
    struct dagman_span
        block; /* an inline submit description: the lines between { and } or @=tag and @tag */
    struct dagman_span tail; /* the words behind its } */
};

struct dagman_file {
    char *path;
    struct text text; /* owned unless it is the reader's own source */
    char *original;   /* as it was before it was parsed, for who copies it; else NULL */
    size_t length;    /* of the original */
    ARRAY(struct dagman_statement) statements;
    bool busy; /* it is being spliced or included right now: meeting it again is a cycle */
};

/* Parse `text` (which is changed and must outlive the statements). False with an error that names
 * path and line. */
bool dagman_parse(struct dagman_file *f, char *text, size_t length, struct error *err);
void dagman_file_free(
    struct dagman_file *f); /* statements and path; the text is freed by whoever read it */

/* The next blank-separated word of `rest`, which moves behind it; n is 0 when there is none. */
struct dagman_span dagman_word(struct dagman_span *rest);
/* The same of a file's name, which may stand in double quotes with blanks in it. */
struct dagman_span dagman_path_word(struct dagman_span *rest);
bool dagman_is(struct dagman_span word, const char *text); /* in any case of letters */
const char *dagman_keyword_name(enum dagman_keyword keyword);
/* The first line of what weft writes: without a node, nothing else tells that it is a DAGMan file.
 */
#define DAGMAN_SIGNATURE "# a DAGMan workflow, written by weft\n"
/* How sure is it that this text is a DAGMan file? As struct format's sniff. */
int dagman_sniff(const char *path, const char *text, size_t length);
