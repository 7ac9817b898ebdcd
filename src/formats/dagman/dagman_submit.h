/* HTCondor submit descriptions: what a node runs. Only what a workflow can carry is looked at:
 * executable, arguments, request_memory, request_cpus and weft's own +WeftMemory and +WeftKind. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "formats/dagman/dagman_parse.h"

/* What a NOOP node does. */
#define DAGMAN_NOOP "true"

struct dagman_pair {
    struct dagman_span key, value; /* the last of equal keys counts; keys in any case of letters */
};

struct dagman_description {
    ARRAY(struct dagman_pair) pairs;
    char *text;   /* owned: where the pairs point */
    bool several; /* it queues more than one job, or a list of them */
};

/* Take the lines "key = value" of a description; lines of other shapes (queue) are passed over. The
 * text is copied. */
void dagman_description_parse(struct dagman_description *d, const char *text, size_t length);
void dagman_description_free(struct dagman_description *d);

/* Where $(name) comes from, in this order: the node's VARS (the last one of a name first), the
 * description. */
struct dagman_macros {
    const char *job;                /* $(JOB), the node's full name */
    const struct dagman_pair *vars; /* values still escaped as in the file */
    size_t nvars;
    const struct dagman_description *description; /* may be NULL */
};

/* The value of a key, macros replaced, into `out`; false when nobody states it. $(RETRY) is 0 (the
 * first attempt), $(DOLLAR) a dollar; an undefined macro becomes its default $(name:default), else
 * nothing, as in HTCondor, except $(Cluster), $(Process) and the like, which are known only at
 * submission and stay. */
bool dagman_value(const struct dagman_macros *m, const char *key, struct strbuf *out);

/* Does anybody state this key? */
bool dagman_states(const struct dagman_macros *m, const char *key);

/* The shell command that executable and arguments make: arguments of either syntax are split as
 * HTCondor does and quoted for the shell where they need it; /bin/sh -c 'text' becomes the text
 * itself, and so does the strict shell's (*by_sh: it was /bin/sh's). HTCondor takes an executable from the
 * submit directory, a shell one without a slash from PATH: "run" is ./run. False when there is no executable
 * or the arguments are malformed. */
bool dagman_command(const struct dagman_macros *m, struct strbuf *out, bool *by_sh);

/* request_memory in bytes: MiB unless it ends in K, M, G or T (with or without B). False for an
 * expression. */
bool dagman_memory(const char *text, double *bytes);

/* The other way round: the lines of a description that run this command, if it needs a shell under
 * bash -e -o pipefail or, `by_sh`, /bin/sh; false when it cannot be said (line breaks). */
bool dagman_write_command(struct strbuf *out, const char *command, bool by_sh);
