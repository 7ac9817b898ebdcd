/* The one client of Redis: commands to a single server or a cluster, sent again until they are
 * answered, whatever happens to connections, servers and slots.
 *
 *     owner ── redis_client_ask ──▶ channel: first ▶ second ▶ third ...      one queue a slot
 *                                     │ at most `window` of them in flight
 *                                     ▼
 *                         connection to whoever has the slot now ──▶ server
 *                                     │ reply, in order
 *     owner ◀── answered / refused ───┘   (lost, MOVED, ASK, LOADING ...: it is sent again)
 *
 * A channel is a slot and the queue of commands for it. The store of a run has one a shard with a
 * window of 1: the next call fills while one is under way. The board has one channel in all, with
 * an open window: commands follow each other without waiting.
 *
 * A command can be applied twice: its connection was lost before the answer came, and nobody knows
 * whether the server had read it. Then `resent` is set, and the owner must make it harmless (the
 * store's script keeps its last answers; the board's commands may be applied twice).
 *
 * One thread; nothing blocks but redis_client_connect(), and redis_client_poll() when told to. */
#pragma once
#include "base/error.h"
#include "store/redis/conn.h"

struct redis_client;

/* The first member of what the owner keeps of a command. It sets the first three fields. */
struct redis_command {
    int script;   /* which of the client's scripts the words are for; -1: a command of the server */
    bool changes; /* the client's replicas must have it before it counts as answered */
    /* Set by compose, for a script: the command that does the same where the server has our module,
     * in place of the number of keys; NULL: none does. */
    const char *native;

    /* the client's, to be read only */
    bool resent;    /* it may have been applied already */
    bool in_flight; /* on connection `sent_on` */
    bool asking;    /* its next try goes to `asked`, once (ASK) */
    uint32_t id, sent_on, asked;
    uint32_t tries, losses; /* answers "elsewhere" or "not yet"; connections that ended under it */
    size_t bytes;           /* of its words, as sent last */
    double retry_at;
    char *verdict;    /* nobody need be asked: refused for this reason; heap */
    redisReply *held; /* the answer, until enough replicas have it */
    struct redis_command *next;
};

/* To be read only. */
struct redis_channel {
    uint32_t index, window;
    uint16_t slot;
    uint32_t conn;                      /* who has the slot, as far as we know; NONE: nobody */
    struct redis_command *first, *last; /* first: the oldest */
    double stuck_since;                 /* the first could not be sent since then; 0: it could */
    char why[200];                      /* the last refusal */
};

#define REDIS_CLIENT_WORDS 24 /* most words that compose may write */
#define REDIS_CLIENT_OTHER (UINT64_MAX - 1)

/* What the client calls, from redis_client_poll() and redis_client_kick() only. The owner may ask
 * for more in all but compose. */
struct redis_client_ops {
    /* Write the words of a command (for a script: number of keys, keys, arguments), how many.
     * Called at every sending; they must stay valid until it returns to the client. */
    size_t (*compose)(void *owner, struct redis_command *c, double now, const char **words,
                      size_t *lengths);
    /* It has left its queue; `reply` is no error, and valid during the call. */
    void (*answered)(void *owner, struct redis_channel *ch, struct redis_command *c,
                     const redisReply *reply);
    /* The server `by` (NULL: the client itself) says no, for good. True: the command is over;
     * false: it stays first in line, for redis_client_resume(). */
    bool (*refused)(void *owner, struct redis_command *c, const struct redis_conn *by,
                    const char *text);
    /* A command is over, or the client goes: free it. */
    void (*release)(void *owner, struct redis_command *c);
    /* All that arrived is delivered, nothing new is sent yet: the time to add to the next batch.
     * May be NULL. */
    void (*turn)(void *owner);
    /* This channel's first command waits for a server since `seconds`. May be NULL. */
    void (*stuck)(void *owner, const struct redis_channel *ch, double seconds);
};

struct redis_client_config {
    const char *servers; /* "host:port,host:port"; of a cluster any */
    const char *user, *password;
    const struct redis_tls_options *tls; /* NULL: plain */
    const char *const *scripts;          /* loaded on each connection; must outlive the client */
    uint32_t nscripts;
    uint32_t replicas; /* that must have a change before it is answered (WAIT) */
    double silence; /* seconds without a byte to or from a server that owes us some: a dead line */
    const struct redis_client_ops *ops;
    void *owner;
};

/* NULL with an error: a server's name or a certificate cannot be read. Nothing is connected yet. */
struct redis_client *redis_client_new(const struct redis_client_config *config, struct error *err);
void redis_client_free(struct redis_client *cl); /* open commands are released; NULL is fine */

/* Add the channel of the slot of `key`; it lives until the channels are dropped (with their
 * commands) or the client is freed. */
struct redis_channel *redis_client_channel(struct redis_client *cl, const char *key,
                                           uint32_t window);
void redis_client_drop_channels(struct redis_client *cl);

/* Wait until each channel has its server (there is none yet: until any server greets us), at most
 * until then; a server that is there and still reads its file is waited for `loading` seconds. */
bool redis_client_connect(struct redis_client *cl, double until, double loading, struct error *err);
/* Say why nothing comes; returns false. */
bool redis_client_unreachable(const struct redis_client *cl, struct error *err);

/* Append a command; the client has it until `release`. It goes out with the next kick. */
void redis_client_ask(struct redis_client *cl, struct redis_channel *ch, struct redis_command *c);
/* Append one that `refused` will be called for, from poll, without asking anybody. */
void redis_client_refuse(struct redis_client *cl, struct redis_channel *ch, struct redis_command *c,
                         const char *why);
void redis_client_kick(struct redis_client *cl); /* send what can be sent */
/* Its descriptor is readable in a moment, whatever comes. */
void redis_client_tick_soon(struct redis_client *cl);

/* An epoll descriptor, readable when there is something to do. The owner may add descriptors of its
 * own with data.u64 = REDIS_CLIENT_OTHER: poll leaves them alone. */
int redis_client_fd(const struct redis_client *cl);
/* Do what is possible; wait for it at most `timeout` milliseconds (-1: for ever). */
void redis_client_poll(struct redis_client *cl, int timeout);
bool redis_client_is_idle(const struct redis_client *cl); /* no command is open */

/* Send nothing and connect to nobody from now on; resume tries everything again at once. */
void redis_client_pause(struct redis_client *cl);
void redis_client_resume(struct redis_client *cl);

double redis_client_silence(const struct redis_client *cl);      /* seconds since the last answer */
const char *redis_client_trouble(const struct redis_client *cl); /* the last one; "": none known */
/* It will not pass: wrong password, too old a server. `redis_client_trouble` says what. */
bool redis_client_is_hopeless(const struct redis_client *cl);
bool redis_client_is_cluster(const struct redis_client *cl);
bool redis_client_has_aof(
    const struct redis_client *cl); /* the server writes an append-only file */
/* What the servers that were reached are set to, as far as they say. */
struct redis_client_promise {
    char loses[400]; /* one of them may lose what it has answered: which, and how; "": none */
    bool unchecked;  /* one does not say how it writes its file */
    char full[640];  /* the memory of one is full, or almost; "": of none */
};
const struct redis_client_promise *redis_client_promise(const struct redis_client *cl);
/* Whom the channel speaks to; nobody yet: the first server named. */
const struct redis_conn *redis_client_server(const struct redis_client *cl,
                                             const struct redis_channel *ch);

struct redis_client_counts {
    uint64_t round_trips; /* times that a connection without an open question was asked something */
    uint64_t sent, received; /* bytes */
    uint64_t resent;         /* commands sent again, for any reason */
    uint64_t redirected;     /* MOVED, ASK */
    uint64_t connects;       /* connections that became ready */
    uint64_t unconfirmed;    /* commands that too few replicas had in time */
};
struct redis_client_counts redis_client_counts(const struct redis_client *cl);
