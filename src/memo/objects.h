/* Results that are kept: contents of files and folders by their digests, in the folder's own store.
 *
 *     STATE/objects/ab/cdef…          a file of this digest, as it was
 *     STATE/objects/ab/cdef….folder   what a folder of this digest hashes: names and digests of what
 *                                     is in it, each an object of its own
 *     STATE/objects/.making-PID-N     one that is being written, or built to be restored
 *
 * An object is a copy (sharing blocks where the file system can), never a link: what a user does to
 * his file later does not reach it. It appears whole, by rename, and is read against its digest before
 * it is used: one that is damaged is removed, and counts as not there. Several processes may keep and
 * restore at once; nobody needs a lock. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "memo/memo.h"

struct objects;

/* Nothing is made before something is kept. */
struct objects *objects_open(const char *state);
void objects_close(struct objects *o); /* NULL is fine */

/* Is it there, whole as far as names say (a folder with all that is in it)? Nothing is read but lists
 * of folders. */
bool objects_has(const struct objects *o, const struct digest *d);
/* Was anything ever kept here? One look at the disk. */
bool objects_exist(const struct objects *o);

/* Keep what stands at `path`, a file or folder whose digest the memo knows or learns. `d`: what it is
 * (NULL: any), and it is an error when it is something else by now. `most`: bytes that it may have.
 * `bytes` grows by what was written: nothing when it was there. False: it is not kept, and nothing is
 * left behind. */
bool objects_keep(struct objects *o, struct memo *memo, const char *path, const struct digest *d,
                  double most, double *bytes, struct error *err);

/* Put the content at `path`, in place of what is there; folders above it are made. Read and compared on
 * the way. False: it is not there or was damaged (then it is removed: `damaged`), or it cannot be
 * written; what stood at `path` is as it was. */
bool objects_restore(struct objects *o, const struct digest *d, const char *path, bool *damaged,
                     struct error *err);

/* Objects that were not kept, found or restored for `age` seconds go, then the least recently used
 * until the rest has at most `size` bytes; what a killed process left goes, too. O(objects). */
struct objects_eviction {
    double age, size; /* INFINITY: no limit */
    /* what came of it: */
    uint32_t count;      /* that went */
    double bytes;        /* of them */
    uint32_t left_count; /* that stayed */
    double left_bytes;
};
void objects_evict(struct objects *o, struct objects_eviction *e);
