/* A client, as its files see it. Private to them. */
#pragma once
#include "base/bytes.h"
#include "cluster/client/client.h"
#include "cluster/client/client_peer.h"
#include "cluster/data/depot.h"
#include "cluster/wire/link.h"
#include "cluster/wire/message.h"
#include "cluster/wire/protocol.h"
#include "exec/stepper.h"
#include "store/store.h"
#include <uv.h>

/* What an agent reported of a run that is about to be followed. */
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

/* Seconds that a run is held open by who may add tasks to it, after his last sign: longer than he may think
 * about what to add without stepping, shorter than people wait for the end of a run whose program was killed. */
enum { CLIENT_HOLDS = 60 };

/* The board is asked what joined a run, or something is offered to it; as above, the answer may come late. */
struct client_part {
    uint64_t run; /* 0: nobody asks */
    uint32_t number;
    bool offers; /* something of ours */
    bool come, good;
    char why[256];
    struct strbuf text;
};

struct client {
    struct client_config o;
    struct charter charter;
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
    struct error changed;      /* the cluster is another one now */
    bool said_forged;          /* somebody without the key wrote to the board */
    bool said_silent;

    ARRAY(struct client_peer *) peers; /* by node */
    bool connects;                     /* to all that live */

    struct store *store; /* of the run that we are at */
    uint64_t pending;    /* operations that are not answered */
    bool store_silent;
    struct error store_error;

    uint64_t changing; /* the run whose state the board was asked to change last */
    uint64_t watched;  /* the run of these, which agents tell us about already; 0: none */
    ARRAY(struct client_early) early;

    struct client_sign_off sign_off;
    struct client_part part;
    struct depot *depot; /* NULL: none */
    struct client_listener listener;
    struct strbuf scratch;
};

#define CLIENT_FOREVER 1e12 /* seconds: only an event or a stop ends the wait */

/* For people. */
void client_say(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Drive the loop until `until` says so, or so many seconds have passed (false). */
bool client_drive(struct client *c, bool (*until)(void *context), void *context, double seconds);
/* Look at the board as soon as it answers; asked while a look is under way: nothing more. */
void client_ask_refresh(struct client *c);
/* Look, and let what is under way have its turn, as often as it pays: the end is near. */
void client_hurry(struct client *c, bool hurry);
void client_forget_view(struct client *c);
void client_board_readable(uv_poll_t *poll, int status, int events);
/* Closed, and the loop has let go of it: the memory may be used again. */
void client_close_handle(struct client *c, uv_handle_t *handle);
/* How often client_stop() was called since the last thing ended. */
int client_stops(const struct client *c);
/* Something has ended, and the stops that were meant for it with it. */
void client_settle(struct client *c);

/* Open the store of a run; with `patience` it waits for the server. */
bool client_store(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                  const struct workflow *w, struct error *err);
void client_store_close(struct client *c);
/* What the store has answered, to the listener. */
void client_take_answers(struct client *c);
void client_ask(struct client *c, const struct meta_op *ops, size_t n);
/* Wait until all was answered. False: the store cannot go on. */
bool client_answered(struct client *c, struct error *err);
/* The answer to a META_COUNT. */
struct client_progress client_progress_of(const struct meta_answer *a);
/* One board request, waited for. False: refused, or the server is silent. */
bool client_set_state(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                      enum board_run_state state, struct error *err);
/* submit_standing.c: files at the places of outputs that weft did not make are kept beside. */
bool submit_keep_standing(struct client *c, const struct client_work *k, struct error *err);
