/* One half of the client: the queues of commands, sending them, and what a reply means for one. The
 * invariants are numbered in client.c. */
#include "store/redis/client_state.h"
#include "base/plural.h"

#define FULL_SHARE 0.98     /* of its memory: what is left does not hold a run */
#define RETRY_SECONDS 0.02  /* a server that says "not yet" */
#define WAIT_MS "500"       /* that WAIT may hold one connection up */
#define LAGGING_SECONDS 2.0 /* replicas that were late or missing are not waited for so long */
#define REDIRECTS_AT_ONCE 4 /* more in a row: they send us in circles */
#define LOADS_AT_ONCE 4     /* of scripts that the server says it does not have */
#define LARGE (16u << 20)   /* a command that a server may refuse by hanging up, */
#define LARGE_LOSSES 4      /* if it does so more often than this */

/* ---- commands ---- */

/* Everything that the client keeps of a command is set here: the owner may use the same memory
 * again. */
void redis_client_ask(struct redis_client *cl, struct redis_channel *ch, struct redis_command *q)
{
    q->id = cl->ids++;
    q->resent = q->in_flight = q->asking = false;
    q->tries = q->losses = 0;
    q->retry_at = 0;
    q->verdict = NULL;
    q->held = NULL;
    q->next = NULL;
    if (ch->last)
        ch->last->next = q;
    else
        ch->first = q;
    ch->last = q;
}

/* O(commands before it): with a window of 1 it is the first. */
static void command_unlink(struct redis_channel *ch, struct redis_command *q)
{
    struct redis_command **at = &ch->first, *before = NULL;
    while (*at != q) {
        before = *at;
        at = &before->next;
    }
    *at = q->next;
    if (ch->last == q)
        ch->last = before;
}

static void command_drop_held(struct redis_command *q)
{
    if (q->held)
        freeReplyObject(q->held);
    q->held = NULL;
}

/* The owner may free it now. */
static void command_release(struct redis_client *cl, struct redis_command *q)
{
    command_drop_held(q);
    free(q->verdict);
    q->verdict = NULL;
    cl->ops->release(cl->owner, q);
}

/* It leaves the queue before the owner learns of it: the owner may fill the next one. */
static void command_answered(struct redis_client *cl, struct redis_channel *ch,
                             struct redis_command *q, const redisReply *reply)
{
    command_unlink(ch, q);
    q->in_flight = q->asking = false;
    ch->stuck_since = 0;
    cl->answered = clock_seconds();
    cl->trouble[0] = 0;
    cl->ops->answered(cl->owner, ch, q, reply);
    command_release(cl, q);
}

/* The owner decides whether it is over. A command that stays keeps its place. */
static void command_refused(struct redis_client *cl, struct redis_channel *ch,
                            struct redis_command *q, const struct redis_conn *by, const char *text)
{
    if (!cl->ops->refused(cl->owner, q, by, text))
        return;
    command_unlink(ch, q);
    command_release(cl, q);
}

/* NULL: the answer to a try that does not count any more. */
static struct redis_command *command_of_mark(struct redis_client *cl, const struct redis_conn *c,
                                             struct redis_conn_mark mark)
{
    if (mark.which >= cl->channels.n)
        return NULL; /* of a channel that was dropped */
    for (struct redis_command *q = cl->channels.at[mark.which]->first; q; q = q->next)
        if (q->id == mark.id && q->in_flight && q->sent_on == c->index)
            return q;
    return NULL;
}

/* ---- channels ---- */

/* With one server the place is known at once; in a cluster the next CLUSTER SLOTS tells it. */
struct redis_channel *redis_client_channel(struct redis_client *cl, const char *key,
                                           uint32_t window)
{
    struct redis_channel *ch = mem_new_zero(struct redis_channel, 1);
    ch->index = (uint32_t)cl->channels.n;
    ch->window = window;
    ch->slot = redis_slot(key, strlen(key));
    ch->conn = cl->mode_by != NONE && !cl->cluster ? cl->mode_by : NONE;
    array_push(&cl->channels, ch);
    return ch;
}

void redis_client_drop_channels(struct redis_client *cl)
{
    for (size_t i = 0; i < cl->channels.n; i++) {
        struct redis_channel *ch = cl->channels.at[i];
        while (ch->first) {
            struct redis_command *q = ch->first;
            ch->first = q->next;
            command_release(cl, q);
        }
        free(ch);
    }
    cl->channels.n = 0;
}

/* ---- sending ---- */

/* Behind the commands that are out already and before those to come: the server works in order. */
void redis_client_load_scripts(struct redis_client *cl, struct redis_conn *c,
                               enum redis_client_mark mark)
{
    for (uint32_t i = 0; i < cl->nscripts; i++)
        redis_words_command(c, (struct redis_conn_mark){.what = mark, .which = i}, 3,
                            (const char *const[]){"SCRIPT", "LOAD", cl->scripts[i]});
}

/* ASKING holds for the next command alone, so it goes out right before. */
static void channel_send(struct redis_client *cl, struct redis_channel *ch, struct redis_command *q,
                         struct redis_conn *c, double now)
{
    const char *words[REDIS_CLIENT_WORDS + 2];
    size_t lengths[REDIS_CLIENT_WORDS + 2], n = 0;
    struct redis_conn_mark mark = {.what = MARK_COMMAND, .which = ch->index, .id = q->id};
    if (!c->open.n) { /* its silence counts from now on */
        c->since = now;
        cl->counts.round_trips++;
    }
    if (q->asking)
        redis_words_command(c, (struct redis_conn_mark){.what = MARK_IGNORE}, 1,
                            (const char *const[]){"ASKING"});
    if (q->script >= 0) {
        words[n] = "EVALSHA", lengths[n++] = 7;
        words[n] = cl->sha[q->script], lengths[n] = strlen(words[n]), n++;
    }
    n += cl->ops->compose(cl->owner, q, now, words + n, lengths + n);
    size_t first = q->script >= 0 && q->native && c->native ? 2 : 0;
    if (first)
        words[first] = q->native, lengths[first] = strlen(q->native);
    q->bytes = 0;
    for (size_t i = first; i < n; i++)
        q->bytes += lengths[i];
    redis_conn_command(c, mark, n - first, words + first, lengths + first);
    if (cl->replicas && q->changes) {
        char number[16];
        snprintf(number, sizeof number, "%u", c->lagging > now ? 0 : cl->replicas);
        mark.what = MARK_WAIT;
        redis_words_command(c, mark, 3, (const char *const[]){"WAIT", number, WAIT_MS});
    }
    q->in_flight = true;
    q->sent_on = c->index;
}

/* Fill the window (I2). The first that cannot go holds up those behind it: order is kept. */
void redis_channel_kick(struct redis_client *cl, struct redis_channel *ch, double now)
{
    uint32_t room = ch->window;
    for (struct redis_command *q = ch->first; q && room && !cl->paused; q = q->next, room--) {
        if (q->in_flight || q->verdict)
            continue;
        uint32_t index = q->asking ? q->asked : ch->conn;
        if (index == NONE || cl->conns.at[index]->state != REDIS_CONN_READY || q->retry_at > now) {
            cl->unwell = true;
            return;
        }
        channel_send(cl, ch, q, cl->conns.at[index], now);
    }
}

/* I3, I4. */
void redis_client_put_back(struct redis_client *cl, const struct redis_conn *c)
{
    for (size_t i = 0; i < cl->channels.n; i++) {
        uint32_t room = cl->channels.at[i]->window;
        for (struct redis_command *q = cl->channels.at[i]->first; q && room; q = q->next, room--) {
            if (!q->in_flight || q->sent_on != c->index)
                continue;
            q->in_flight = q->asking = false;
            q->resent = true;
            q->losses++;
            command_drop_held(q);
            cl->counts.resent++;
        }
    }
}

/* ---- replies ---- */

/* "MOVED 3999 127.0.0.1:6381" or "ASK ...": false: this is neither, or names no address. */
static bool command_redirected(struct redis_client *cl, struct redis_channel *ch,
                               struct redis_command *q, const struct redis_conn *c,
                               const char *text, double now)
{
    char host[256];
    uint16_t port;
    bool ask = redis_words_start(text, "ASK ");
    if ((!ask && !redis_words_start(text, "MOVED ")) || !redis_words_redirect(c, text, host, &port))
        return false;
    uint32_t to = redis_client_conn_to(cl, host, port)->index;
    cl->counts.redirected++;
    q->asking = ask;
    if (ask)
        q->asked = to; /* this once: the slot is on its way there */
    else
        ch->conn = to;
    if (q->tries++ > REDIRECTS_AT_ONCE)
        q->retry_at = now + RETRY_SECONDS;
    cl->unwell = true;
    return true;
}

/* An error in answer to a command: try elsewhere, try later, or tell the owner. */
static void command_failed(struct redis_client *cl, struct redis_channel *ch,
                           struct redis_command *q, struct redis_conn *c, const char *text,
                           double now)
{
    q->in_flight = q->asking = false;
    cl->counts.resent++;
    snprintf(ch->why, sizeof ch->why, "%s", text);
    if (cl->replicas && q->changes) /* I6 */
        for (size_t i = c->open_at; i < c->open.n; i++)
            if (c->open.at[i].what == MARK_WAIT && c->open.at[i].which == ch->index &&
                c->open.at[i].id == q->id)
                c->open.at[i].what = MARK_IGNORE;
    if (redis_words_start(text, "NOSCRIPT") && q->tries++ < LOADS_AT_ONCE) {
        redis_client_load_scripts(cl, c,
                                  MARK_IGNORE); /* the next kick sends the command behind it */
        return;
    }
    if (command_redirected(cl, ch, q, c, text, now))
        return;
    if (redis_words_later(text)) {
        snprintf(cl->trouble, sizeof cl->trouble, "redis %s:%u: %.300s", c->host, c->port, text);
        q->retry_at = now + RETRY_SECONDS;
        cl->unwell = true;
        return;
    }
    command_refused(cl, ch, q, c, text);
}

static void client_note_loss(struct redis_client *cl, const struct redis_conn *c, const char *how)
{
    if (how && !cl->promise.loses[0])
        snprintf(cl->promise.loses, sizeof cl->promise.loses, "redis %s:%u: %s", c->host, c->port,
                 how);
}

/* A single server, or one of a cluster? Asked of every connection: a server may have been set up
 * anew. */
static bool client_learn_mode(struct redis_client *cl, struct redis_conn *c,
                              const redisReply *reply)
{
    struct redis_words_server server;
    if (!redis_words_info(c, reply, &server, cl->trouble, sizeof cl->trouble)) {
        cl->hopeless = true;
        return false;
    }
    cl->cluster = server.cluster;
    cl->has_aof = server.has_aof;
    c->native = server.native;
    client_note_loss(cl, c, server.loses);
    cl->promise.full[0] = 0;
    if (server.most > 0 && server.used > FULL_SHARE * server.most)
        snprintf(cl->promise.full, sizeof cl->promise.full,
                 "redis %s:%u: the server's memory is full (%.0f of %.0f MB): raise its maxmemory, "
                 "or take the results of old runs (`weft attach`)",
                 c->host, c->port, server.used / 1e6, server.most / 1e6);
    cl->mode_by = c->index;
    for (size_t i = 0; i < cl->channels.n && !cl->cluster; i++)
        cl->channels.at[i]->conn = c->index; /* one server has all slots */
    return true;
}

/* A reply to the first words on a connection. False: it is of no use now. */
static bool client_is_greeted(struct redis_client *cl, struct redis_conn *c,
                              struct redis_conn_mark mark, const redisReply *reply)
{
    if (mark.what == MARK_CONFIG) { /* who may not ask learns nothing, and works all the same */
        const char *loses = NULL;
        cl->promise.unchecked |= !redis_words_fsync(reply, &loses);
        client_note_loss(cl, c, loses);
        return true;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        snprintf(c->why, sizeof c->why, "%s", reply->str);
        cl->hopeless |= redis_words_refused(c, mark.what == MARK_AUTH, reply->str, cl->trouble,
                                            sizeof cl->trouble);
        return false;
    }
    /* INFO is answered while the file is read, and says then that there is none */
    if (mark.what == MARK_INFO && reply->str && strstr(reply->str, "\nloading:1")) {
        snprintf(c->why, sizeof c->why, "LOADING the server reads its file");
        return false;
    }
    if (mark.what == MARK_INFO)
        return client_learn_mode(cl, c, reply);
    if (mark.what == MARK_LOAD && reply->type == REDIS_REPLY_STRING) {
        snprintf(cl->sha[mark.which], sizeof cl->sha[0], "%s", reply->str);
        if (mark.which + 1 == cl->nscripts) { /* the last of the greeting */
            c->state = REDIS_CONN_READY;
            c->back_off = 0;
            cl->counts.connects++;
        }
    }
    return true;
}

static void client_use_slots(struct redis_client *cl, const struct redis_conn *from,
                             const redisReply *reply)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        struct redis_words_range range;
        if (!redis_words_range(from, reply, i, &range))
            continue;
        /* known even if no channel is there: a door to knock at when all others are shut */
        uint32_t conn = redis_client_conn_to(cl, range.host, range.port)->index;
        for (size_t k = 0; k < cl->channels.n; k++)
            if (cl->channels.at[k]->slot >= range.first && cl->channels.at[k]->slot <= range.last)
                cl->channels.at[k]->conn = conn;
    }
}

bool redis_client_take_reply(struct redis_client *cl, struct redis_conn *c,
                             struct redis_conn_mark mark, redisReply *reply, double now)
{
    bool to_command = mark.what == MARK_COMMAND || mark.what == MARK_WAIT, good = true;
    struct redis_command *q = to_command ? command_of_mark(cl, c, mark) : NULL;
    struct redis_channel *ch = q ? cl->channels.at[mark.which] : NULL;
    switch ((enum redis_client_mark)mark.what) {
    case MARK_SLOTS:
        client_use_slots(cl, c, reply);
        break;
    case MARK_COMMAND:
        if (q && reply->type == REDIS_REPLY_ERROR) {
            command_failed(cl, ch, q, c, reply->str, now);
        } else if (q && cl->replicas && q->changes) {
            q->held = reply;
            return true;
        } else if (q) {
            command_answered(cl, ch, q, reply);
        }
        break;
    case MARK_WAIT:
        if (reply->type != REDIS_REPLY_INTEGER || reply->integer < (long long)cl->replicas) {
            cl->counts.unconfirmed++;
            c->lagging = c->lagging > now ? c->lagging : now + LAGGING_SECONDS;
        }
        if (q && q->held)
            command_answered(cl, ch, q, q->held);
        break;
    case MARK_IGNORE:
        break;
    default:
        good = client_is_greeted(cl, c, mark, reply);
    }
    freeReplyObject(reply);
    return good;
}

/* One that need not be sent: it has a verdict, or is so large that the server hangs up on it. */
static struct redis_command *channel_find_hopeless(struct redis_channel *ch)
{
    for (struct redis_command *q = ch->first; q; q = q->next)
        if (q->verdict || (q->losses > LARGE_LOSSES && q->bytes > LARGE && !q->in_flight))
            return q;
    return NULL;
}

/* Refuse what cannot be done. The owner's callback may ask for more, but takes nothing away. */
void redis_channel_refuse_hopeless(struct redis_client *cl, struct redis_channel *ch)
{
    for (struct redis_command *q; (q = channel_find_hopeless(ch));) {
        if (!q->verdict) {
            char why[400];
            snprintf(why, sizeof why,
                     "the server closed the connection %u time%s while it was given %.0f MB: it is "
                     "too long for it (raise proto-max-bulk-len, at most 512 MB, and memory)",
                     q->losses, plural(q->losses), (double)q->bytes / 1e6);
            q->verdict = mem_copy_string(why);
        }
        command_refused(cl, ch, q, NULL, q->verdict);
    }
}
