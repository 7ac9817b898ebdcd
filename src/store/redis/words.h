/* What is said to and by any Redis server, whatever it keeps for us: names of servers, greetings,
 * refusals, the places of slots. Shared by the store of a run and the board of a cluster. */
#pragma once
#include "base/error.h"
#include "store/redis/conn.h"

/* Each of "host:port, [::1]:port, host". False with an error: one is none, or there is none. */
bool redis_words_servers(const char *text,
                         void (*each)(void *context, const char *host, uint16_t port),
                         void *context, struct error *err);
/* May keys begin so? 1 to `most` letters, digits and -_.: */
bool redis_words_prefix(const char *prefix, size_t most, struct error *err);

/* A command of at most 8 texts. */
void redis_words_command(struct redis_conn *c, struct redis_conn_mark mark, size_t n,
                         const char *const *args);
/* The first words on a connection: password (NULL: none), and who are you? */
void redis_words_greet(struct redis_conn *c, const char *user, const char *password,
                       struct redis_conn_mark auth, struct redis_conn_mark info,
                       struct redis_conn_mark config);

struct redis_words_server {
    bool cluster, has_aof;
    bool native; /* it has our module, as we know it */
    const char
        *loses; /* how it may lose what it has answered, for people; NULL: not by what INFO says */
    double used, most; /* bytes of its memory; most 0: no limit */
};
/* The answer to CONFIG GET appendfsync. False: it does not say (a user who may not ask). `loses`: as above. */
bool redis_words_fsync(const redisReply *reply, const char **loses);

/* The answer to "who are you?". False: too old, `why` says so. */
bool redis_words_info(const struct redis_conn *c, const redisReply *reply,
                      struct redis_words_server *out, char *why, size_t size);
/* The server was reached, but it is still reading its file. */
bool redis_words_loading(const struct redis_conn *c);
/* An error in answer to the greeting. False: it will pass (the server is loading); true: it will
 * not, `why` says what and repeats no password. */
bool redis_words_refused(const struct redis_conn *c, bool auth, const char *text, char *why,
                         size_t size);

bool redis_words_start(const char *text, const char *with);
/* An error that passes by itself: the same words later. */
bool redis_words_later(const char *text);
/* "MOVED 3999 127.0.0.1:6381": where to go instead; false: this names no address. */
bool redis_words_redirect(const struct redis_conn *from, const char *text, char host[static 256],
                          uint16_t *port);

struct redis_words_range {
    long long first, last; /* slots */
    const char *host;      /* valid as long as the reply and the connection */
    uint16_t port;
};
/* The i-th part of an answer to CLUSTER SLOTS; false: it says nothing that we understand. */
bool redis_words_range(const struct redis_conn *from, const redisReply *reply, size_t i,
                       struct redis_words_range *out);
/* CRC-16/XMODEM of the part in braces, as the cluster does it. */
uint16_t redis_slot(const char *key, size_t n);
