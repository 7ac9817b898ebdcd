/* The store of one machine: tables in memory, and a journal on disk when it has a path. */
#pragma once
#include "model/workflow.h"
#include "store/store.h"

struct store_embedded_config {
    const struct workflow *workflow; /* must outlive the store */
    const char *journal;             /* path; NULL: memory only */
    /* Answer at once and let the journal follow; store_durable() says how far it is. A chain of
     * tasks then does not wait for the disk at each link, and order on disk is order of submission,
     * so a crash loses a suffix of what happened and no more. Without it an answer means that the
     * operation is on disk. */
    bool eager;
    bool no_sync;  /* leave it to the kernel when to write: survives kill -9, not a power cut */
    double linger; /* seconds to gather operations before each write [0] */
};

/* What opening found. */
struct store_opened {
    bool existed;
    uint64_t operations; /* replayed */
    uint64_t cut;        /* bytes of an unfinished write that were cut off the end */
};

/* `found` may be NULL. A journal of another workflow or version, a damaged one, one that another
 * process has open: an error that names it and leaves it untouched. */
struct store *store_embedded_open(const struct store_embedded_config *config,
                                  struct store_opened *found, struct error *err);
