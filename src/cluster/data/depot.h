/* The data of one run at one place (an agent's cache, a client's folder): which objects stand here,
 * fetches that are under way, and serving others. Knows links, files and digests; knows no
 * scheduler: who has what, and whom to ask, is its owner's business (supply.c, client.c).
 *
 * An object is a file or a folder of files, under its name in the workflow, below `folder`. A
 * transfer grows in `partial` and is renamed into place when its digest is right: it is here whole
 * or not at all. A cut off one goes on where it stopped, from the same or another end. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "model/workflow.h"
#include "cluster/wire/link.h"
#include "memo/memo.h"

struct depot;
struct uv_loop_s;

struct depot_config {
    const struct workflow *workflow;
    uint64_t run;
    const char *folder, *partial; /* copied; `partial` is made when needed, and must be in the
                                     same file system as `folder` */
    struct memo *memo;            /* digests of files that are here already */
    uint32_t most;                /* transfers at once into this depot [4]; more wait */
    struct uv_loop_s *loop;       /* for reading what is large by a thread; NULL: read at once */
    /* These may do anything but free the depot; link_close() is fine, it tells later. */
    /* A fetch ended. `why`: "" or what went wrong, for people. */
    void (*arrived)(void *context, uint32_t object, bool good, const char *why);
    /* Somebody wants what is not here, and said `make`: true when `depot_added()` or
     * `depot_unavailable()` will follow; the asker waits until then. NULL: never. */
    bool (*make)(void *context, uint32_t object);
    /* What stood here does not any more, or is not what it was (found when it was asked for): it
     * counts as gone. NULL: nobody wants to know. */
    void (*lost)(void *context, uint32_t object, const char *why);
    /* What depot_verify() left for later: it is what it was, or it is gone and `lost` was called. */
    void (*checked)(void *context, uint32_t object);
    /* Something stands where an object that came whole (`from`) belongs. True: it may be replaced, or
     * is out of the way; false: an error, and the object counts as not fetched. NULL: it may. */
    bool (*clear)(void *context, uint32_t object, const char *from, struct error *err);
    /* An object was sent whole to this link (for counting). NULL: nobody counts. */
    void (*served)(void *context, uint32_t object, double bytes);
    void *context;
};

struct depot *depot_new(const struct depot_config *config);
/* Its workflow has grown (model/growth.h). */
void depot_grow(struct depot *d);
void depot_free(struct depot *d);

/* Is a name one that can stand below a folder: relative, no "..", no empty part, no NUL, not in
 * ".weft"? What is not is refused before any path is made of it. */
bool depot_name_is_safe(const char *name);
/* The first object of the workflow whose name is not; false with an error that names it. Absolute
 * names are taken as files that every machine has: never fetched, never served. */
bool depot_check_names(const struct workflow *w, struct error *err);
/* Files are brought one by one: a folder must not be an object beside what lies in it. */
bool depot_check_folders(const struct workflow *w, struct error *err);

bool depot_has(const struct depot *d, uint32_t object);
bool depot_in_memory(const struct depot *d, uint32_t object); /* here or not: that is its place */
/* From memory to the disk, under its name: `flags` are the workflow's own, and the object's says so from now
 * on. False: it stays. */
bool depot_spill(struct depot *d, uint32_t object, uint8_t *flags, struct error *err);
double depot_bytes(const struct depot *d, uint32_t object);
/* Bytes that others asked for and that are still to be sent. */
double depot_owed(const struct depot *d);
const struct digest *depot_digest(const struct depot *d, uint32_t object);
/* It stands here now (a task left it, or it was found): askers that wait are served, and a fetch of
 * it has ended well. */
void depot_added(struct depot *d, uint32_t object, const struct digest *digest, double bytes);
/* As depot_added(), of what an earlier life left: it is read before it is used or sent. */
void depot_found(struct depot *d, uint32_t object, const struct digest *digest, double bytes);
enum depot_verdict {
    DEPOT_SOUND, /* it is what it was */
    DEPOT_LOST, /* it is not here, or was not what it was: then it is deleted, and `lost` was called */
    DEPOT_LATER, /* a thread reads it: `checked` follows */
};
/* Before it is used: is it still what it was? Told by size, inode and times since it was last read,
 * and by reading it when they differ or nobody has read it yet. */
enum depot_verdict depot_verify(struct depot *d, uint32_t object);
/* It could not be made after all: askers that wait are told. */
void depot_unavailable(struct depot *d, uint32_t object, const char *why);
/* It does not stand here any more (deleted by its owner, found damaged). The file is left alone. */
void depot_removed(struct depot *d, uint32_t object);
/* Delete the file or folder, and forget it. */
void depot_drop(struct depot *d, uint32_t object);

/* Fetch it over this link. One fetch of an object at a time: asked again meanwhile, nothing
 * happens. `expected` (may be NULL): only this content will do. `make`: they may recompute it; one
 * that waits for that is not counted by `most`. `arrived` always follows, at once when it is here
 * already or its name is not safe. */
void depot_fetch(struct depot *d, uint32_t object, struct link *from, const struct digest *expected,
                 bool make);
bool depot_is_fetching(const struct depot *d, uint32_t object);
/* Within `arrived`, of a fetch that failed: are these the words of who was asked? Else the reason is the
 * link, or this machine. */
bool depot_was_refused(const struct depot *d);
/* Within `arrived`, of a fetch that ended well: over which link it came, how much and in how many seconds. NULL: it did not
 * come over a link. */
struct depot_came {
    const struct link *from;
    double bytes, seconds;
};
const struct depot_came *depot_came(const struct depot *d);

/* A message of the kinds FETCH to UNFETCH; `data` begins with the run's number. False: malformed,
 * close the link. */
bool depot_message(struct depot *d, struct link *l, uint8_t kind, const void *data, size_t n);
/* To be called from the links' `drained` and `closed`. */
void depot_drained(struct depot *d, struct link *l);
void depot_closed(struct depot *d, struct link *l);

/* To be called once a second with a clock that only goes forward: gives up fetches of which nothing
 * was heard for 20 seconds while their link is open, and checks what there was no time to check. */
void depot_tick(struct depot *d, double now);

struct depot_counts {
    uint64_t fetched, served, failed, resumed; /* transfers */
    double fetched_bytes, served_bytes;        /* that went over links, also in vain */
    double bytes;                              /* of all objects that stand here */
    double memory_bytes;                       /* of those of them that stand in memory */
    uint32_t here;                             /* objects */
    uint32_t under_way, waiting; /* fetches; waiting for their turn or until it is made */
};
struct depot_counts depot_counts(const struct depot *d);
bool depot_is_quiet(const struct depot *d); /* nothing comes or goes, or is about to */
