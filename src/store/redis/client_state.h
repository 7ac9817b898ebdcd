/* What the two halves of the client share: client.c (connections, time, the owner's side) and
 * client_commands.c (queues, sending, what a reply means). Nobody else includes it. */
#pragma once
#include "base/clock.h"
#include "model/workflow.h"
#include "store/redis/client.h"
#include "store/redis/words.h"
#include <stdio.h>

/* What an open command of a connection is for (redis_conn_mark.what). */
enum redis_client_mark {
    MARK_AUTH,
    MARK_INFO,
    MARK_CONFIG, /* CONFIG GET appendfsync, which some users may not ask */
    MARK_LOAD,   /* which: the script */
    MARK_SLOTS,
    MARK_COMMAND, /* which: the channel, id: the command */
    MARK_WAIT,    /* likewise: do its replicas have it? */
    MARK_IGNORE,
};

struct redis_client {
    const struct redis_client_ops *ops;
    void *owner;
    char *user, *password;
    struct redis_tls_context *tls;
    const char *const *scripts;
    uint32_t nscripts;
    char sha[2][48]; /* of each script */
    uint32_t replicas;
    double silence;

    ARRAY(struct redis_channel *) channels;
    ARRAY(struct redis_conn *) conns;
    uint32_t seeds;   /* the first so many were named by the owner */
    uint32_t mode_by; /* the connection that reported the mode; NONE: unknown */
    bool cluster, has_aof;
    struct redis_client_promise promise;
    double refresh_at;

    int epoll, timer, pace; /* pace: milliseconds between ticks, 0: none */
    bool unwell, polling, paused, hopeless;
    uint32_t ids;
    double answered; /* when the last answer came */
    char trouble[640];
    struct redis_client_counts counts;
};

/* ---- client_commands.c ---- */

void redis_client_load_scripts(struct redis_client *cl, struct redis_conn *c,
                               enum redis_client_mark mark);
/* Send what the channel's window has room for. */
void redis_channel_kick(struct redis_client *cl, struct redis_channel *ch, double now);
/* Refuse what cannot be done: verdicts, commands that a server hung up on too often. */
void redis_channel_refuse_hopeless(struct redis_client *cl, struct redis_channel *ch);
/* Takes the reply over. False: the connection is of no use now. */
bool redis_client_take_reply(struct redis_client *cl, struct redis_conn *c,
                             struct redis_conn_mark mark, redisReply *reply, double now);
/* What was in flight on a connection that ended waits again. */
void redis_client_put_back(struct redis_client *cl, const struct redis_conn *c);

/* ---- client.c ---- */

struct redis_conn *redis_client_conn_to(struct redis_client *cl, const char *host, uint16_t port);
