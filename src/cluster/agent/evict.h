/* Data that is too much: objects are dropped, oldest first, when the store says that they are not
 * needed any more or stand elsewhere too; temporary files as soon as all who read them are done.
 * Belongs to a job; evict.c. */
#pragma once
#include "base/array.h"
#include "model/metadata.h"
#include <stdbool.h>
#include <stdint.h>

struct job;

/* An object that may be dropped, while the store is asked about it. */
struct candidate {
    uint32_t object, open; /* open: questions that are not answered yet */
    bool needed,
        elsewhere;  /* facts so far: a reader has not ended; another who goes before us has it */
    bool temporary; /* it goes when all its readers are done, however much room there is */
};

struct eviction {
    ARRAY(struct candidate) candidates; /* none: nothing is asked */
    uint32_t next;                      /* the object from which temporary ones are looked for */
    uint64_t dropped;                   /* objects, over all */
    uint64_t *restored;     /* a bit an object: it was computed again here; NULL: none */
    uint32_t restored_room; /* objects that there are bits for */
};

/* It was computed again here: it stays (evict.c, I3). */
void evict_never(struct job *j, uint32_t object);
void evict_free(struct job *j);

/* There is too much: ask what may go. Not while candidates are being asked about. */
void evict_begin(struct job *j);
/* Are there temporary files here that all have read? Once a second; not while candidates are being
 * asked about. */
void evict_temporaries(struct job *j);
/* An answer to one of its questions; `record`: its number among the records, for READ. */
void evict_answer(struct job *j, const struct meta_answer *answer, const struct meta_answers *all,
                  size_t record);
