/* A run as a Workflow Run RO-Crate: who used what to make which file, in the words of schema.org, so that
 * other programs and repositories understand it.
 *
 *     DIR/ro-crate-metadata.json    the description (crate_write)
 *     DIR/workflow.yaml             the graph as it was
 *     DIR/files/...                 what the run read and left, as far as it is still there
 *
 * Profiles: Process, Workflow and Provenance Run Crate 0.5, Workflow RO-Crate 1.0, RO-Crate 1.1. */
#pragma once
#include "base/strbuf.h"
#include "model/record.h"

#define CRATE_METADATA "ro-crate-metadata.json"
#define CRATE_WORKFLOW "workflow.yaml"
#define CRATE_FILES "files"

/* What is known of an object of the workflow. */
struct crate_file {
    char *path;           /* as the workflow calls it; NULL: nothing is known of it */
    struct digest digest; /* zero: not known */
    double size;          /* bytes; NAN: not known */
    bool made;            /* by this run; else it found it */
    bool inside;          /* DIR/files has it */
    bool folder;          /* it is one; known of what is inside */
};

/* The run has its workflow; `files` has an entry for each object of that. */
void crate_write(const struct run_record *r, const struct crate_file *files, struct strbuf *out);
