/* One connection to one server: bytes in and out without blocking, commands in order, replies in
 * the same order. It knows nothing of tasks; its owner takes the replies and of its end. */
#pragma once
#include "base/array.h"
#include "store/redis/tls.h"
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum redis_conn_state {
    REDIS_CONN_DOWN, /* until retry_at */
    REDIS_CONN_CONNECTING,
    REDIS_CONN_SHAKING,  /* hands, for TLS */
    REDIS_CONN_GREETING, /* password, version, script */
    REDIS_CONN_READY,
};

/* What a command was for: its owner's words. */
struct redis_conn_mark {
    uint32_t what, which, id;
};

struct redis_conn {
    char host[256];
    uint16_t port;
    uint32_t index; /* its owner's number of it, also in the epoll events */
    enum redis_conn_state state;
    int fd, epoll;
    bool wants_write; /* as epoll knows it */
    double since;     /* of the state, or the last bytes from the server */
    double retry_at, back_off;
    bool native;    /* the server has our module; its owner's note */
    double lagging; /* its replicas were late: not waited for until then; its owner's note */
    uint64_t sent, received; /* bytes */
    uint64_t sent_before;    /* `sent` when its owner last saw to it */
    char why[256];           /* it ended */
    bool stranger;           /* it ended because the server is not the pinned one */

    struct sockaddr_storage address;
    socklen_t address_size;                      /* 0: not looked up yet */
    const struct redis_tls_context *tls_context; /* NULL: plain */
    struct redis_tls *tls;
    redisReader *reader;
    ARRAY(char) plain; /* to be ciphered */
    ARRAY(char) out;
    size_t out_at;
    ARRAY(struct redis_conn_mark) open; /* commands without a reply, from open_at on */
    size_t open_at;
};

struct redis_conn *redis_conn_new(const char *host, uint16_t port, uint32_t index, int epoll,
                                  const struct redis_tls_context *tls);
void redis_conn_free(struct redis_conn *c);

/* Look the host up (blocks, so only once). */
bool redis_conn_resolve(struct redis_conn *c);
/* Begin to connect; false: it went down at once. */
bool redis_conn_start(struct redis_conn *c, double now);
/* End it; open commands are forgotten, the next attempt comes after a pause that doubles. */
void redis_conn_stop(struct redis_conn *c, double now, const char *why);

/* Add a command to what goes out with the next flush. Arguments are bytes. */
void redis_conn_command(struct redis_conn *c, struct redis_conn_mark mark, size_t n,
                        const char *const *args, const size_t *lengths);
bool redis_conn_flush(struct redis_conn *c); /* false: lost, `why` says how */

/* After epoll said that something is possible: move bytes. False: lost. Connected for the first
 * time: the state has become GREETING and nothing was sent yet. */
bool redis_conn_move(struct redis_conn *c, double now);
/* The next reply (its owner frees it) and what it answers; NULL: none yet. Sets `lost` when the
 * server speaks something else than Redis. */
redisReply *redis_conn_reply(struct redis_conn *c, struct redis_conn_mark *mark, bool *lost);
