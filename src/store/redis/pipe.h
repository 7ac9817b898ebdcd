/* Commands to whoever keeps one slot: a single server, or the master that has it at the moment in a
 * cluster. Each is sent again until it is answered, whatever happens to connections, servers and
 * slots, so each must be one that may be applied twice. Commands go out in the order of asking,
 * many at once; one thread, nothing blocks but opening and waiting. */
#pragma once
#include "base/error.h"
#include "store/address.h"
#include <hiredis/hiredis.h>

struct redis_pipe;

struct redis_pipe_config {
    const struct store_address *address;
    const char *key;               /* any of the slot */
    const char *script;            /* for redis_pipe_call(); must outlive the pipe */
    double patience;               /* seconds that opening may take */
    void (*forget)(void *context); /* frees the context of a command */
};

struct redis_pipe *redis_pipe_open(const struct redis_pipe_config *config, struct error *err);
void redis_pipe_free(struct redis_pipe *p); /* open commands are forgotten; NULL is fine */

/* `reply` NULL: refused, `why` says what for. Valid during the call. Called from poll only. */
typedef void (*redis_pipe_done)(void *context, const redisReply *reply, const char *why);

struct redis_pipe_words {
    size_t n;
    const char *at[16]; /* bytes, copied */
    size_t length[16];
    char *last; /* one more, from the heap: taken over; NULL: none */
    size_t last_length;
};
void redis_pipe_add(struct redis_pipe_words *w, const void *bytes, size_t n);

/* `changes`: wait for the address's replicas before it counts as answered. `context` belongs to
 * the pipe from now on, which forgets it after `done`, or when it is freed itself. */
void redis_pipe_ask(struct redis_pipe *p, const struct redis_pipe_words *words, bool changes,
                    redis_pipe_done done, void *context);
/* The same for the script: `words` are its number of keys, keys and arguments. */
void redis_pipe_call(struct redis_pipe *p, const struct redis_pipe_words *words, bool changes,
                     redis_pipe_done done, void *context);
/* Nothing is asked: poll says no, for this reason. */
void redis_pipe_refuse(struct redis_pipe *p, const char *why, redis_pipe_done done, void *context);

int redis_pipe_fd(const struct redis_pipe *p);
/* Do what is possible; wait for it at most `timeout` milliseconds (-1: for ever). */
void redis_pipe_poll(struct redis_pipe *p, int timeout);
bool redis_pipe_is_idle(const struct redis_pipe *p);        /* nothing is open */
double redis_pipe_silence(const struct redis_pipe *p);      /* seconds since the last answer */
const char *redis_pipe_trouble(const struct redis_pipe *p); /* "": none known */
