/* The notice board of a cluster, on its Redis server: which agents there are, until when each is
 * known to live, and which runs there are. Texts on it are sealed with the cluster's key by whoever
 * puts them there, and states of runs carry a proof (cluster/wire/charter.h); the board sees bytes,
 * and believes nothing of them: whoever may write to the server may write anything.
 *
 * One thread, nothing blocks but board_open() and board_wait(): requests are queued, sent again
 * when a connection was lost, and answered by callbacks from within board_poll(). Callbacks may ask
 * for more, but not poll, wait or close. */
#pragma once
#include "base/error.h"
#include "store/address.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct board;

enum board_state {
    BOARD_UP,
    BOARD_LEAVING, /* takes nothing new */
    BOARD_ASIDE,   /* fails what is run there: others come first */
    BOARD_DEAD,    /* its lease ran out and somebody said so */
    BOARD_LEFT,    /* in order: what it held went to others first */
};

/* Of the two ends of a life: nobody counts on it any more. */
static inline bool board_is_gone(uint8_t state)
{
    return state >= BOARD_DEAD;
}

struct board_member {
    uint32_t node, life;
    uint8_t state; /* enum board_state; an UP one whose age is past the lease is about to be dead */
    double age;    /* seconds since its last heartbeat, by the server's clock */
    double lease;  /* seconds, as it said when it joined */
    uint64_t
        attempt; /* by which it joined: a life that a server gave twice, having lost its data, has another */
    const char *text; /* what it says of itself (address, counts) */
    size_t n;
};

enum board_run_state {
    BOARD_RUN_OPEN,      /* being run */
    BOARD_RUN_STOPPING,  /* a task failed and the rest may not go on, or somebody said so: nothing
                            new starts */
    BOARD_RUN_CANCELLED, /* end everything */
    BOARD_RUN_ENDED,     /* every task has ended, or nothing more will run */
    BOARD_RUN_COLLECTED, /* and its results were taken: agents may delete its data */
    BOARD_RUN_EXPIRED, /* nobody took them for so long, or there was so much, that they were deleted */
    BOARD_RUN_STATES,
};

enum { BOARD_ID = 16, BOARD_PROOF = 16, BOARD_RUN_RECORD = 17 + BOARD_ID + BOARD_PROOF };

struct board_run {
    uint64_t run; /* counted from 1 */
    uint8_t state;
    double created, changed;    /* server's clock, seconds since 1970 */
    uint8_t id[BOARD_ID];       /* of the run: numbers may repeat when the server lost its data */
    uint8_t proof[BOARD_PROOF]; /* of run, id and state: nothing is done before it was verified */
    bool forged; /* not the board's to know: set by who has the key and finds the proof wrong */
};

struct board_view {
    double now;                         /* server's clock, seconds since 1970 */
    double arrived;                     /* our clock_seconds() when it came */
    const struct board_member *members; /* by number */
    size_t nmembers;
    const struct board_run
        *runs; /* by number; COLLECTED ones only for an hour, EXPIRED ones 30 days */
    size_t nruns;
    const void *charter; /* as it stands there now */
    size_t ncharter;     /* 0: it is gone */
};

struct board *board_open(const struct store_address *address, struct error *err);
void board_close(struct board *b);   /* callbacks of open requests are not called; NULL is fine */
int board_fd(const struct board *b); /* readable when board_poll() has something to do */
void board_poll(struct board *b);
/* Poll until all requests are answered, or so many seconds have passed (false). */
bool board_wait(struct board *b, double seconds);
/* Seconds since the server last answered something. */
double board_silence(const struct board *b);
/* Why it is silent, as far as we know; "": no trouble known. */
const char *board_trouble(const struct board *b);

/* Is the server set to keep what it has answered? False with ERROR_INPUT: it is not, and the address does
 * not say that it may lose; the text has the remedy. `remark` (may be NULL): what a person should know all
 * the same (it may lose, or does not say); "": nothing. For who is about to rely on it. */
enum { BOARD_REMARK = 640 };
bool board_check_promise(const struct board *b, const struct store_address *address,
                         char remark[static BOARD_REMARK], struct error *err);
struct redis_client_promise;
const struct redis_client_promise *
board_promise(const struct board *b); /* the settings themselves */
/* Its memory was full when it was last connected to; "": it was not. */
const char *board_is_full(const struct board *b);

/* `good` false: the server refused (text) or the request is impossible. Results are valid during
 * the call. */
typedef void (*board_done)(void *context, bool good, const char *why);
typedef void (*board_viewed)(void *context, const struct board_view *view, const char *why);
typedef void (*board_joined)(void *context, bool good, uint32_t node, uint32_t life,
                             const char *why);
typedef void (*board_text)(void *context, bool good, const void *data, size_t n, const char *why);

/* What stands there by which members know their cluster: `offer` if there was nothing, or if `instead`
 * stood there and no member lives, or `restore`: a member puts back what he knows. Without an offer
 * it is only asked for; the answer is empty when there is none. */
struct board_charter {
    const void *offer, *instead; /* instead: NULL: nothing is replaced */
    size_t noffer, ninstead;
    bool restore;
    uint64_t last_run; /* the last number that he knows was given: no run gets it again */
};
void board_charter(struct board *b, const struct board_charter *c, board_text got, void *context);

/* Become a member: an identity that was here before gets its number back with a larger life; else
 * the lowest number of a dead member is taken over (with a larger life), else a new one. No two lives
 * of a number are the same, even if the server lost its data in between. State is UP, the lease
 * begins. */
struct board_joining {
    const char *identity; /* 1 to 512 bytes */
    uint64_t
        attempt;  /* a random number that marks one joining: sent again it gives the same answer */
    double lease; /* seconds */
    const void *text; /* what the member says of itself, at most 64 KB */
    size_t n;
};
void board_join(struct board *b, const struct board_joining *j, board_joined done, void *context);

/* "I live", what I say of myself, and the view in return. When the member has been declared dead or
 * its life is over, this changes nothing and the view shows it so: it must join again. */
struct board_pulse {
    uint32_t node, life;
    uint8_t state;    /* UP, LEAVING or ASIDE */
    uint64_t attempt; /* by which this life was begun; 0: whichever */
    const void *text;
    size_t n;
};
void board_heartbeat(struct board *b, const struct board_pulse *pulse, board_viewed seen,
                     void *context);
void board_view(struct board *b, board_viewed seen, void *context); /* for clients */
/* Its lease has run out, as the view shows: make it DEAD, unless it sent a heartbeat
 * meanwhile or has begun another life. */
void board_expire(struct board *b, uint32_t node, uint32_t life, board_done done, void *context);
void board_leave(struct board *b, uint32_t node, uint32_t life, board_done done, void *context);

/* A new run's number; it is in no view until it is opened. Its text (workflow and settings) follows
 * when it was sealed for that number. */
typedef void (*board_numbered)(void *context, bool good, uint64_t run, const char *why);
void board_new_run(struct board *b, board_numbered done, void *context);
void board_set_run_text(struct board *b, uint64_t run, const void *text, size_t n, board_done done,
                        void *context);
void board_run_text(struct board *b, uint64_t run, board_text got, void *context);
/* What joins a run while it goes on, part by part, counted from 0 (sealed, as all texts). The first that is
 * offered stands; `instead` (NULL: nothing) is written over, if it still stands there. `got` has what
 * stands there then. */
struct board_part {
    uint64_t run;
    uint32_t number;
    const void *offer, *instead;
    size_t noffer, ninstead;
    bool if_open; /* only while the run is OPEN; else nothing stands there (length 0) */
};
void board_offer_part(struct board *b, const struct board_part *p, board_text got, void *context);
/* Of length 0: there is none. */
void board_run_part(struct board *b, uint64_t run, uint32_t number, board_text got, void *context);
/* A program holds the run open, for so many seconds from now on: it may add tasks when all that are known have
 * ended. 0: it does not any more. */
void board_hold_run(struct board *b, uint64_t run, uint32_t seconds, board_done done,
                    void *context);
/* Of length 0: nobody does. */
void board_run_hold(struct board *b, uint64_t run, board_text got, void *context);
/* Forward only: OPEN < STOPPING < CANCELLED < ENDED < COLLECTED < EXPIRED; going back changes
 * nothing. */
struct board_change {
    uint64_t run;
    enum board_run_state state;
    uint8_t id[BOARD_ID], proof[BOARD_PROOF];
    const struct board_run
        *over;        /* a record that nobody with the key wrote: replaced; NULL: none */
    const void *text; /* that the run has from now on; NULL: the text stays */
    size_t n;         /* at most 64 KB */
    /* ENDED, only if no more parts than these joined it, and nobody (else: `holds`) holds it open; refused if
     * not. NULL: whatever joined */
    const uint32_t *parts;
    bool holds;
};
void board_run_state(struct board *b, const struct board_change *change, board_done done,
                     void *context);
/* Remove a run's text; its tasks' keys are the store's to forget. */
void board_forget_run(struct board *b, uint64_t run, board_done done, void *context);
