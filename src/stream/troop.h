/* Filters that run elsewhere: the helpers of a stream, as the stream sees them.
 *
 *     stream                                        helper 0 (a process that an agent started)
 *       troop ◀──────────── control ──────────────── says who it is, gets the workflow and its files
 *        ├ lane 0 ◀── asked for over control ────── a thread with its own processes of filters
 *        └ lane 1 ◀──────────────────────────────── helper 1 ...
 *
 * A lane is a place where one filter works at a time: each worker of the stream has one, and each filter
 * that keeps state, where several workers would call it. An item's data goes to the lane and comes back.
 * What a lane has of the item that it had last is not sent again.
 *
 * When a helper dies, its lanes are opened at others that live, and what it had not answered is asked
 * again there: answers come whole or not at all, so every item is done once as far as the stream can
 * tell. When a helper comes (again), lanes go back to it. A filter that keeps state goes on with what its
 * function NAME_state gave after the last item (weft/item.h), or is said to begin anew. */
#pragma once
#include "base/seal.h"
#include "stream/channel.h"
#include "stream/filter.h"

struct troop_options {
    const struct workflow *workflow;
    const struct filters *filters;
    const char *text;   /* the workflow, as helpers read it */
    const char *folder; /* of libraries and commands */
    const char *file;   /* the workflow's; NULL: it has none */
    const char *bind;   /* "HOST:PORT" to listen at; NULL: all addresses of this machine */
    struct seal_key key;
    uint32_t hands, lanes;
    struct channel *channels; /* by helper: what went there and back is counted */
    const atomic_int *halt;
    /* For people; any thread. */
    void (*say)(void *context, const char *text);
    void *context;
};

struct troop;
/* Listens; nobody is waited for. */
struct troop *troop_open(const struct troop_options *o, struct error *err);
const char *troop_addresses(const struct troop *c); /* as tether_connect() wants them */
/* No helper will come any more: who waits for one fails with this. */
void troop_fail(struct troop *c, const struct error *err);
/* One try of a filter, as filter_run(). `roams`: the lane may go back to its own helper before. */
enum filter_verdict troop_run(struct troop *c, uint32_t lane, bool roams, uint32_t task,
                              struct handling *h);
/* No more items: the processes of a lane end. False: one did not end well, `why` says how. */
bool troop_end_lane(struct troop *c, uint32_t lane, struct handling *h);
/* Nobody is needed any more: helpers end, and no more are taken. */
void troop_dismiss(struct troop *c);
uint32_t troop_living(struct troop *c); /* helpers */
void troop_close(struct troop *c);      /* helpers end. NULL is fine */

/* ---- what both ends say ----
 *
 *     control   stream: WELCOME (helper_welcome), helper: one byte, whether it wants the files; files
 *               stream: u32 lane, whenever one is to be opened
 *     lane      stream: DO   u8 0, u32 task, u64 item, u32 attempt, u32 nin, {u8 piece, u64} each,
 *                            u8 piece, u64: its state; then bytes of pieces that have some
 *                       END  u8 1
 *               helper: u8 verdict, text why, u32 nout, {u8 piece, u64} each, u8 piece, u64: its state;
 *                       then bytes */
enum troop_word { TROOP_DO, TROOP_END };
enum troop_piece {
    PIECE_NONE,  /* an item without bytes; an output that was not given */
    PIECE_BYTES, /* u64: how many; they follow */
    PIECE_KEPT,  /* u64: the number of a piece that both ends have of this item */
};
enum {
    TROOP_KEPT = 64,   /* pieces of one item that a lane keeps */
    TROOP_PORTS = 512, /* most inputs of a task */
};
