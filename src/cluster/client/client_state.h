/* What the files of a client share: client.c (board, links, store, signals), submit.c, follow.c and
 * hear.c (events and counts), collect.c (final outputs come home). Private to them. */
#pragma once
#include "base/bytes.h"
#include "cluster/client/client.h"
#include "cluster/data/depot.h"
#include "cluster/wire/link.h"
#include "cluster/wire/message.h"
#include "cluster/wire/protocol.h"
#include "exec/stepper.h"
#include "store/store.h"
#include <uv.h>

/* An agent that we speak to. */
struct client_peer {
    uint32_t node, life;
    uint32_t followed; /* the life in which it was last seen at work; 0: none */
    char *address;
    struct link *link; /* NULL: none now */
    double again;      /* clock_seconds() when it may be tried again */
    bool open, lives;
    char why[160]; /* the last link's end; "": none failed */
};

/* What an agent told of a run that is about to be followed. */
struct client_early {
    uint32_t node;
    uint8_t kind;
    char *data;
    size_t n;
};

/* Who hears what comes in, while something is under way. */
struct client_listener {
    void (*opened)(void *context, struct client_peer *p);
    void (*closed)(void *context, struct client_peer *p);
    /* By kind; `from` is a peer's link: client_peer_of() */
    message_handler *const *handlers;
    void (*answers)(void *context, const struct meta_answers *answers);
    void (*looked)(void *context); /* at the board */
    void (*tick)(void *context);   /* ten times a second */
    void *context;
};

/* The board is told that a run's results are home. It belongs to the client, not to who followed
 * the run: the answer may come after he has left. */
struct client_sign_off {
    uint64_t run; /* 0: none */
    bool come, good;
    char why[256];
};

struct client {
    struct client_config o;
    struct stepper stepper; /* the loop; its stops are those of what is under way */
    atomic_bool detach;     /* client_detach() since something began */
    uv_timer_t ticker;
    uv_poll_t board_ready, store_ready;
    bool polls_board, polls_store;
    struct board *board;
    struct links *links;

    ARRAY(struct member) members;
    ARRAY(struct board_run) runs;
    double server_now, looked; /* looked: clock_seconds() of it; 0: never */
    double asked;              /* when a look was asked for that is not answered; 0: none */
    bool hurry;                /* look often */
    bool sealed, opened;       /* members are sealed with another key */
    bool said_silent;

    ARRAY(struct client_peer *) peers; /* by node */
    bool connects;                     /* to all that live */

    struct store *store; /* of the run that we are at */
    uint64_t pending;    /* operations that are not answered */
    bool store_silent;
    struct error store_error;

    uint64_t watched; /* the run of these, which agents tell us about already; 0: none */
    ARRAY(struct client_early) early;

    struct client_sign_off sign_off;
    struct depot *depot; /* NULL: none */
    struct client_listener listener;
    struct strbuf scratch;
};

/* For people. */
void client_say(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Drive the loop until `until` says so, or so many seconds have passed (false). */
bool client_drive(struct client *c, bool (*until)(void *context), void *context, double seconds);
/* Look at the board as soon as it answers; asked while a look is under way: nothing more. */
void client_ask_look(struct client *c);
/* Links to every agent that lives, from now on. */
void client_connect(struct client *c);
/* Each of them is open or has failed. */
bool client_all_decided(const struct client *c);
/* Wait until each of them is open or has failed, at most so many seconds. How many are open. */
uint32_t client_connected(struct client *c, double seconds);
struct client_peer *client_peer(const struct client *c, uint32_t node); /* NULL: none */
/* A message without a body to all that are open. */
void client_tell_all(struct client *c, uint8_t kind, uint64_t run);
static inline struct client_peer *client_peer_of(const struct message_in *m)
{
    return link_data(m->from);
}
/* The reports that were kept for this run, as if they came now, to the listener. */
void client_replay_early(struct client *c, uint64_t run);
void client_forget_early(struct client *c);
/* How often client_stop() was called since the last thing ended. */
int client_stops(const struct client *c);
/* Something has ended, and the stops that were meant for it with it. */
void client_settle(struct client *c);

/* Open the store of a run; with `patience` it waits for the server. */
bool client_store(struct client *c, uint64_t run, const struct workflow *w, struct error *err);
void client_store_close(struct client *c);
void client_ask(struct client *c, const struct meta_op *ops, size_t n);
/* Wait until all was answered. False: the store cannot go on. */
bool client_answered(struct client *c, struct error *err);
/* The answer to a META_COUNT. */
struct client_progress client_progress_of(const struct meta_answer *a);
/* One board request, waited for. False: refused, or the server is silent. */
bool client_set_state(struct client *c, uint64_t run, enum board_run_state state,
                      struct error *err);

/* ---- collect.c ---- */

struct collect;

struct collect_config {
    struct client *client;
    const struct workflow *workflow;
    struct needs *needs;
    const char *folder;
    bool shared; /* nothing is copied: files are looked at where they are */
    void (*here)(void *context, uint32_t object); /* it has come, or was there */
    void *context;
};

struct collect *collect_new(const struct collect_config *config);
void collect_free(struct collect *c);
/* Its producer is done: fetch it. Asked again: nothing happens. */
void collect_want(struct collect *c, uint32_t object);
void collect_answer(struct collect *c, const struct meta_answer *a, const uint32_t *nodes);
void collect_arrived(struct collect *c, uint32_t object, bool good, const char *why);
void collect_tick(struct collect *c);
/* All that was wanted is here, or (`final`) given up. */
bool collect_is_idle(const struct collect *c);
void collect_count(const struct collect *c, uint32_t *here, double *bytes, uint32_t *missing);
const char *collect_why(const struct collect *c); /* of the last one missing */
