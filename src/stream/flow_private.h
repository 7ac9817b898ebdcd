/* Inside a stream that runs: shared by flow.c (opening, ends, figures), duty.c (one filter and one
 * item), carry.c (without a plan) and posts.c with ferries.c (by a plan).
 *
 * Invariants:
 * I1. An item in work is a record. Its slots are written by one worker each, and read by others only
 *     after `state` says so (release, acquire).
 * I2. `stopping` only grows: 0, 1 no more items, 2 all ends. Whoever waits looks at it again within a
 *     tenth of a second, or is woken by flow_wake().
 * I3. Results leave under `leaving`, one item at a time; what belongs to the sink is touched there
 *     alone.
 * I4. Threads of the stream block all signals: the program's handlers run on threads of its own, and a
 *     closed pipe is an error of write().
 * I5. Worker threads take plain memory (malloc) and check it: nobody there could catch a failure of
 *     base/mem.h. */
#pragma once
#include "stream/channel.h"
#include "stream/ends.h"
#include "stream/figures.h"
#include "stream/flow.h"
#include "stream/lineup.h"
#include "stream/troop.h"

#include <pthread.h>

enum berth_state { SLOT_EMPTY, SLOT_GIVEN, SLOT_NOTHING };
struct berth {
    struct chunk *chunk; /* NULL: no bytes */
    double time;         /* when it was given, as schedules count */
    _Atomic uint32_t state;
};

struct record {
    uint64_t number;
    double entered;     /* when it came from the source */
    double origin;      /* its time 0 in the schedule */
    char *name;         /* of the file that it came from; NULL */
    atomic_bool failed; /* given up: filters pass it by */
    atomic_bool busy;
    atomic_uint left; /* by posts: duties and voyages that are not done */
    struct berth *slots;
};

/* What a worker has counted of a duty; it alone writes. */
struct labour {
    _Atomic uint64_t items;
    _Atomic double seconds;
};

/* An item that a worker by a plan has begun or may begin, and the first of its duties that is not done. */
struct opened {
    uint64_t item;
    uint32_t duty;
};

struct worker {
    struct flow *flow;
    uint32_t number, post, replica;
    pthread_t thread;
    struct handling handling;
    struct labour *tallies; /* by duty of its post */
    /* by posts: woken when something it may wait for has come */
    pthread_mutex_t lock;
    pthread_cond_t news;
    double free; /* when it has ended what it did, as schedules count */
    struct opened *open;
    uint32_t nopen;
    uint64_t next; /* item that it opens next */
};

struct carrier; /* carry.c */
struct ferries; /* ferries.c */

struct flow {
    struct flow_options o;
    struct lineup lineup;
    struct filters filters;
    struct costs *costs; /* with a plan */
    struct source *source;
    struct sink *sink;
    const char **result_names;
    struct chunk **result;  /* I3 */
    struct worker *workers; /* lineup.nworkers */
    struct station *stations;
    uint32_t *first_station; /* per duty */
    uint32_t nstations;
    _Atomic uint64_t *good, *bad; /* per task: items that it did, that it made us give up */

    atomic_int stopping; /* I2 */
    int wake;            /* eventfd: readable from the first flow_stop() on */
    bool began, is_over;
    uint64_t base;             /* its first item; above 0: another flow had those before */
    _Atomic uint64_t pause_at; /* no item from this on is taken */
    bool paused;               /* written by who is with the source, read after all threads */
    double began_at;           /* when it began to run */
    struct flow_task_figures *before; /* by task: of flows before it; NULL: none */
    pthread_mutex_t lock;             /* of what follows */
    pthread_cond_t over;
    struct error error; /* the first */
    ARRAY(struct flow_failure) failures;
    uint32_t running; /* threads */

    pthread_mutex_t leaving; /* I3 */
    struct latencies latencies;
    _Atomic uint64_t taken, done, empty, given_up, retried;
    struct departures departures;

    struct channel
        *channels;       /* by a plan: from worker * workers + to worker; on helpers: by helper */
    uint32_t nchannels;  /* 0: too many workers to count, or nothing travels */
    struct troop *troop; /* NULL: filters run here */
    uint32_t nlanes;
    uint32_t *serial_lane; /* with a troop: per duty, its own lane; 0: that of its worker */

    struct carrier *carrier;
    /* by posts */
    struct record *ring;
    uint32_t window;                  /* records of the ring */
    _Atomic uint64_t released, total; /* total: UINT64_MAX while the source goes on */
    pthread_cond_t freed;             /* with `leaving`: a record, for the source */
    uint64_t next_out;
    bool is_leaving;
    struct ferries *ferries;
};

/* Tasks and transfers begin when a plan says. */
static inline bool flow_is_scheduled(const struct flow *f)
{
    return !f->o.flood && f->lineup.period > 0;
}

/* flow.c */
void flow_fail(struct flow *f, bool at_once, const struct error *err); /* the first counts */
void flow_say(struct flow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void flow_give_up(struct flow *f, struct record *r, uint32_t task, const char *why);
void flow_wake(struct flow *f); /* whoever waits looks again */
bool flow_halted(const struct flow *f);
/* flow.c, for flow_phases.c */
struct flow *flow_blank(const struct flow_options *o, struct error *err);
void flow_open_workers(struct flow *f);
void flow_end_stations(struct flow *f);
/* The next item from the source into a record whose slots are empty. */
enum source_answer flow_take(struct flow *f, bool wait, uint64_t number, struct record *r);
/* Results of n items into the sink; their slots are empty afterwards. Under `leaving`. */
void flow_leave(struct flow *f, struct record *r, uint32_t n, double now);
/* What has left reaches the sink's reader. Under `leaving`. */
void flow_flush(struct flow *f);
void flow_sleep_until(struct flow *f, double time);
bool flow_start_thread(struct flow *f, pthread_t *thread, void *(*body)(void *), void *context);
void flow_thread_ends(struct flow *f);

/* duty.c: one filter and one item. Outputs that it makes are in the slots of its post when it returns,
 * `time` in them; what nobody here reads any more is let go of by duty_drop(). */
void duty_run(struct worker *w, const struct duty *d, struct record *r, double time);
void duty_drop(const struct lineup *l, const struct duty *d, struct record *r);
void labour_add(struct labour *t, uint64_t items, double seconds);

/* carry.c: without a plan */
struct carrier *carrier_new(struct flow *f);
void carrier_free(struct carrier *c);
void *carrier_work(void *worker); /* a worker's thread */
void carrier_wake(struct carrier *c);
uint64_t carrier_waiting(const struct carrier *c, uint32_t duty);

/* posts.c: by a plan */
void posts_open(struct flow *f);
void posts_free(struct flow *f);
void *posts_work(void *worker); /* a worker's thread */
void *posts_source(void *flow); /* the source's thread */
void posts_wake(struct flow *f);
/* The channel from the worker that has this item to the one that gets it; NULL: nobody counts. */
struct channel *posts_channel(struct flow *f, const struct voyage *v, const struct record *r);
/* It has come: into its slot, and who waits for it is told. Takes the chunk. */
void posts_arrive(struct flow *f, const struct voyage *v, struct record *r, struct chunk *chunk,
                  bool nothing, double time);

/* ferries.c: transfers that take their time */
struct ferries *ferries_new(struct flow *f);
void ferries_free(struct ferries *l);
void *ferries_work(void *flow);
void ferries_wake(struct ferries *l);
void ferries_send(struct ferries *l, const struct voyage *v, struct record *r, struct chunk *chunk,
                  bool nothing, double time);
