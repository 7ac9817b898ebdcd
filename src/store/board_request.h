/* A request to the board on its way to Redis, for the files that ask. Private to them. */
#pragma once
#include "base/array.h"
#include "store/board.h"
#include "store/redis/client.h"
#include <stdio.h>

#define BOARD_KEYS 8 /* seven of the board, one of the request (the stem: none) */
#define BOARD_STRANGE                                                                              \
    "the server's answer is not what our script says; does another version of weft use this "      \
    "board?"

struct board {
    struct redis_client *client;
    struct redis_channel *channel;
    char key[BOARD_KEYS - 1][96];
    char stem[96]; /* "{PREFIX.board}:", of the keys that come and go */
    char version[64];
    ARRAY(struct board_member) members;
    ARRAY(struct board_run) runs;
};

struct board_request;
/* `reply` NULL: refused, `why` says what for. */
typedef void (*board_answer)(struct board_request *q, const redisReply *reply, const char *why);

/* For requests whose answer is only that it was done. */
void board_done_came(struct board_request *q, const redisReply *reply, const char *why);

/* What was asked, while it is on its way. */
struct board_request {
    struct redis_command command; /* first: the client knows it by this */
    struct board *board;
    board_answer answer;
    union {
        board_done done;
        board_viewed seen;
        board_joined joined;
        board_text got;
        board_numbered numbered;
    };
    void *context;
    uint64_t run;

    size_t nwords;
    size_t at[20], length[20]; /* of each word, in `bytes` */
    ARRAY(char) bytes;
    char *last; /* one more word, so long that it is not copied; NULL: none */
    size_t last_length;
};

/* Belongs to us until it is sent or refused, to the client from then on. */
static inline struct board_request *request_new(struct board *b, board_answer answer, void *context)
{
    struct board_request *q = mem_new_zero(struct board_request, 1);
    q->board = b;
    q->answer = answer;
    q->context = context;
    q->command.script = -1;
    return q;
}

/* Words are copied: the caller's text need not outlive the call that asks. */
static inline void request_add(struct board_request *q, const void *bytes, size_t n)
{
    q->at[q->nwords] = q->bytes.n;
    q->length[q->nwords++] = n;
    array_reserve(&q->bytes, q->bytes.n + n + 1);
    if (n)
        memcpy(q->bytes.at + q->bytes.n, bytes, n);
    q->bytes.n += n;
}

/* The script's keys and first argument; `own`: one more key ("" none: a name that stays unused). */
static inline void request_call(struct board_request *q, const char *own, const char *what)
{
    const struct board *b = q->board;
    q->command.script = 0;
    request_add(q, "8", 1);
    for (int i = 0; i < BOARD_KEYS - 1; i++)
        request_add(q, b->key[i], strlen(b->key[i]));
    request_add(q, *own ? own : b->stem, strlen(*own ? own : b->stem));
    request_add(q, what, strlen(what));
}

static inline void request_add_number(struct board_request *q, uint64_t number)
{
    char text[24];
    request_add(q, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)number));
}

/* `changes`: the address's replicas must have it before it counts as answered. */
static inline void request_send(struct board_request *q, bool changes)
{
    q->command.changes = changes;
    redis_client_ask(q->board->client, q->board->channel, &q->command);
    redis_client_kick(q->board->client);
}

static inline void request_refuse(struct board_request *q, const char *why)
{
    redis_client_refuse(q->board->client, q->board->channel, &q->command, why);
}
