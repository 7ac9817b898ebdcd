/* A crew from inside: for crew.c, and crew_guest.c, which carries out graphs that calls bring. */
#pragma once
#include "exec/crew.h"
#include "exec/crew_deque.h"
#include "exec/crew_heap.h"
#include "exec/data.h"
#include <pthread.h>

enum {
    RING = 4096,     /* ends that a thread may be ahead of the owner */
    GUEST_RING = 16, /* of a guest, which tells of failures alone: one a thread, and it stops */
    LOT = 512,       /* ends between two looks at `left` */
    CHUNK = 16, /* sources taken at once: they stand in a deque then, where others may steal them */
    LOOKS = 64, /* at all deques between two looks at the clock */
};

/* What one call has. A function sees its address, so a call above another has its own. */
struct crew_frame {
    struct weft_task task;
    struct data_slot slot;
};

struct crew_thread {
    struct deque ready;
    struct crew *crew;
    struct crew_end *ring;
    _Alignas(CACHE_LINE) _Atomic uint64_t head; /* the thread's: ends so far */
    _Atomic uint64_t well, passed;
    _Atomic double busy;
    double since, woke; /* clock_seconds(): of the task at hand; when the owner was woken last */
    uint32_t lane, ended;
    uint32_t depth; /* of a thread that is no guest's: calls on its stack that wait for a guest */
    bool calling;   /* `frame` is in use */
    uint64_t random;
    struct crew_frame frame;
    pthread_t thread;
    _Alignas(CACHE_LINE) _Atomic uint64_t tail; /* the owner's: ends taken */
};

struct crew {
    struct crew_config o;
    const struct workflow *w;
    struct crew *root;       /* whose threads these are: itself, unless it is a guest */
    _Atomic uint32_t *waits; /* I1; by crew_waits() */
    uint32_t rows;
    uint32_t *next; /* by task: of a list that it is in */
    uint32_t *source, nsources;
    struct crew_thread **thread;
    uint32_t threads, ring;

    _Alignas(CACHE_LINE) _Atomic uint32_t taken;               /* of the sources */
    _Alignas(CACHE_LINE) _Atomic uint32_t searching, sleeping; /* I3 */
    _Alignas(CACHE_LINE) _Atomic int64_t left;                 /* I6 */
    _Alignas(CACHE_LINE) _Atomic bool stop;                    /* nothing new is called */
    _Atomic uint32_t nspilled;
    _Atomic uint32_t nguests; /* length of `guests` */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work, room;
    pthread_cond_t guest_over; /* for those that may do nothing else meanwhile */
    uint32_t spilled;          /* I2; NONE: none */
    uint32_t roused;           /* sleepers that may go */
    uint32_t blocked;          /* threads whose ring is full */
    uint32_t alive;
    bool ending;
    uint8_t *lost; /* by task: below a failure; NULL: a failure stops the crew */
    struct crew_heap
        heap; /* ordered: the ready ones, best first; empty and without room otherwise */

    struct crew *guests;     /* newest first; under the root's lock, as what follows */
    struct crew *next_guest; /* of a guest */
    uint32_t visitors;       /* of a guest: threads in it besides the one that brought it */
};

/* How many tasks it waits for; once it has ended, WAITS_ENDED and its verdict. Tasks that follow each other, which several
 * threads have in hand at the same time, stand in different lines of the cache; numbers SPREAD apart side by side. */
enum { SPREAD = CACHE_LINE / sizeof(uint32_t) };
#define WAITS_ENDED (UINT32_MAX - CREW_FAILED)
static inline _Atomic uint32_t *crew_waits(const struct crew *c, uint32_t task)
{
    return &c->waits[(size_t)(task % SPREAD) * c->rows + task / SPREAD];
}

/* The lane in whose call this thread is; NULL: in none. */
extern _Thread_local struct crew_thread *crew_here __attribute__((tls_model("initial-exec")));

/* ---- crew.c ---- */

/* Everything but its threads. */
struct crew *crew_make(const struct crew_config *config, struct crew *root);
struct crew_thread *crew_thread_new(struct crew *c, uint32_t lane);
void crew_free(struct crew *c);
/* A task for this lane; NONE: there is none. */
uint32_t crew_find(struct crew_thread *me);
/* Call it; tell; release. What to do next, or NONE. */
uint32_t crew_run(struct crew_thread *me, uint32_t task);
/* Where others may take it. */
void crew_offer(struct crew_thread *me, uint32_t task);
/* There may be work for another (I3). */
void crew_rouse(struct crew *c);
/* Is there anything to take, guests aside? */
bool crew_has_own_work(struct crew *c);
/* And in its guests. Under its lock. */
bool crew_has_work_locked(struct crew *c);
/* I6. */
void crew_settle(struct crew_thread *me);
/* Under the lock (I7). */
void crew_wake_owner(struct crew *c);

/* ---- crew_guest.c ---- */

/* May another thread of the root enter it, and is there something to do? Under the root's lock. */
bool crew_guest_has_room(struct crew *g);
/* A guest with something to do, entered; NULL: none. */
struct crew *crew_find_guest(struct crew_thread *me);
/* Work in it until there is nothing more, and leave it. */
void crew_visit(struct crew_thread *me, struct crew *g);
