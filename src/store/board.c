/* The board of a cluster: requests to board.lua, through the client of Redis (redis/client.h).
 *
 *   I1. All keys of a board are in one slot, so one channel carries everything, in the order of
 *       asking.
 *   I2. Every request may be applied twice: joining has an attempt, a new run a mark, by which the
 *       script knows that it has answered before; the others set what they say. So the client may
 *       send them again whenever it likes.
 *   I3. A callback is called exactly once, from board_poll() or board_wait(), never from the
 *       function that asks; not at all if the board is closed before. */
#include "store/board.h"
#include "base/clock.h"
#include "store/board_request.h"
#include "store/redis/words.h"
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define VERSION "weft-board/3"
#define RECORD 32 /* bytes a member, behind as many of a head */
#define OPEN_SECONDS 6.0
#define LOADING_SECONDS 60.0 /* that opening waits for a server that reads its file */
#define SILENCE_SECONDS 5.0  /* shorter than a lease: who is dead must be found out in time */
#define RUN_TEXT_MOST ((512u << 20) - 1) /* a string of Redis */
#define TEXT_MOST (64u << 10)            /* of a member: it is in every view */
#define MEMBERS_MOST 65536u

extern const char store_board_lua[];

/* Also for requests that nobody answered, when the board closes. */
static void request_release(void *owner, struct redis_command *c)
{
    struct board_request *q = (struct board_request *)c;
    (void)owner;
    free(q->last);
    array_free(&q->bytes);
    free(q);
}

static void request_add_run_key(struct board_request *q, uint64_t run)
{
    char text[160];
    request_add(
        q, text,
        (size_t)snprintf(text, sizeof text, "%sT.%llu", q->board->stem, (unsigned long long)run));
}

/* ---- what the client asks of us ---- */

/* The same words at every try. */
static size_t request_compose(void *owner, struct redis_command *c, double now, const char **words,
                              size_t *lengths)
{
    const struct board_request *q = (const struct board_request *)c;
    (void)owner, (void)now;
    size_t n = q->nwords;
    for (size_t i = 0; i < n; i++)
        words[i] = q->bytes.at + q->at[i], lengths[i] = q->length[i];
    if (q->last)
        words[n] = q->last, lengths[n++] = q->last_length;
    return n;
}

static void request_answered(void *owner, struct redis_channel *ch, struct redis_command *c,
                             const redisReply *reply)
{
    struct board_request *q = (struct board_request *)c;
    (void)owner, (void)ch;
    q->answer(q, reply, "");
}

/* A request that is refused is over (true): whoever asked decides what to do. */
static bool request_refused(void *owner, struct redis_command *c, const struct redis_conn *by,
                            const char *text)
{
    struct board_request *q = (struct board_request *)c;
    char why[700];
    const char *remedy = "";
    (void)owner;
    if (redis_words_start(text, "OOM"))
        remedy = ": its memory is full; raise its maxmemory, or take the results of old runs";
    else if (redis_words_start(text, "MISCONF"))
        remedy = ": the server cannot write its disk; make space there";
    else if (redis_words_start(text, "ERR Protocol error"))
        remedy = ": it is too long for this server; raise its proto-max-bulk-len";
    if (!by)
        snprintf(why, sizeof why, "%s", text);
    else if (redis_words_start(text, "WEFT ")) /* our script's own words */
        snprintf(why, sizeof why, "%s", text + 5);
    else
        snprintf(why, sizeof why, "redis %s:%u: %s%s", by->host, by->port, text, remedy);
    q->answer(q, NULL, why);
    return true;
}

static const struct redis_client_ops board_client_ops = {
    .compose = request_compose,
    .answered = request_answered,
    .refused = request_refused,
    .release = request_release,
};

/* ---- answers ----
 *
 * A view is one answer: time, members' records, members' texts, runs, charter. It was written by
 * whoever could write to the server: sizes are checked, and what a record claims is nobody's word yet
 * (the cluster's proofs are verified above, by who acts upon it). */

/* The script packs doubles as eight bytes, at any alignment. */
static double number_at(const char *p)
{
    double x;
    memcpy(&x, p, sizeof x);
    return x;
}

static bool is_text(const redisReply *r)
{
    return r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS;
}

/* Redis gives numbers in hashes as text. */
static bool is_number(const redisReply *r, uint64_t most, uint64_t *out)
{
    char *end = NULL;
    if (!is_text(r) || !r->len || r->str[0] < '0' || r->str[0] > '9')
        return false;
    *out = strtoull(r->str, &end, 10);
    return !*end && *out <= most;
}

/* Records and texts come apart; a text without a record is passed over. */
static bool read_members(struct board *b, const redisReply *records, const redisReply *texts,
                         double now)
{
    if (records->type != REDIS_REPLY_STRING || records->len % RECORD ||
        texts->type != REDIS_REPLY_ARRAY)
        return false;
    size_t n = records->len ? records->len / RECORD - 1 : 0;
    b->members.n = 0;
    for (size_t i = 0; i < n; i++) {
        const char *p = records->str + (i + 1) * RECORD;
        uint32_t life;
        uint64_t attempt;
        memcpy(&life, p + 4, 4);
        memcpy(&attempt, p + 24, 8);
        double age = now - number_at(p + 8);
        array_push(&b->members, (struct board_member){.node = (uint32_t)i,
                                                      .life = life,
                                                      .state = (uint8_t)p[0],
                                                      .age = age > 0 ? age : 0,
                                                      .lease = number_at(p + 16),
                                                      .attempt = attempt,
                                                      .text = "",
                                                      .n = 0});
    }
    for (size_t i = 0; i + 1 < texts->elements; i += 2) {
        uint64_t node;
        if (!is_number(texts->element[i], MEMBERS_MOST, &node) || !is_text(texts->element[i + 1]))
            continue; /* nobody of ours wrote that */
        if (node < n) {
            b->members.at[node].text = texts->element[i + 1]->str;
            b->members.at[node].n = texts->element[i + 1]->len;
        }
    }
    return true;
}

static int by_run(const void *x, const void *y)
{
    uint64_t a = ((const struct board_run *)x)->run, b = ((const struct board_run *)y)->run;
    return (a > b) - (a < b);
}

/* A record that is not as long as it must be was written by somebody else: shown, with a proof of
 * zeros, so that who looks says so. */
static struct board_run read_run(uint64_t run, const redisReply *r)
{
    struct board_run out = {.run = run, .state = UINT8_MAX};
    if (r->len != BOARD_RUN_RECORD)
        return out;
    out.state = (uint8_t)r->str[0];
    out.created = number_at(r->str + 1);
    out.changed = number_at(r->str + 9);
    memcpy(out.id, r->str + 17, BOARD_ID);
    memcpy(out.proof, r->str + 17 + BOARD_ID, BOARD_PROOF);
    return out;
}

/* The bytes that read_run() read. */
static void run_record(const struct board_run *r, char out[static BOARD_RUN_RECORD])
{
    out[0] = (char)r->state;
    memcpy(out + 1, &r->created, 8);
    memcpy(out + 9, &r->changed, 8);
    memcpy(out + 17, r->id, BOARD_ID);
    memcpy(out + 17 + BOARD_ID, r->proof, BOARD_PROOF);
}

/* Hashes come in any order: sorted for the reader of a view. What is no number is passed over. */
static bool read_runs(struct board *b, const redisReply *runs)
{
    b->runs.n = 0;
    if (runs->type != REDIS_REPLY_ARRAY)
        return false;
    for (size_t i = 0; i + 1 < runs->elements; i += 2) {
        const redisReply *r = runs->element[i + 1];
        uint64_t run;
        if (is_number(runs->element[i], UINT64_MAX, &run) && is_text(r))
            array_push(&b->runs, read_run(run, r));
    }
    if (b->runs.n)
        qsort(b->runs.at, b->runs.n, sizeof *b->runs.at, by_run);
    return true;
}

static const char strange[] = BOARD_STRANGE;

/* The view points into the reply and into the board's arrays: valid during the callback. */
static void view_came(struct board_request *a, const redisReply *reply, const char *why)
{
    struct board *b = a->board;
    struct board_view view = {.arrived = clock_seconds()};
    if (!reply) {
        a->seen(a->context, NULL, why);
        return;
    }
    bool good = reply->type == REDIS_REPLY_ARRAY && reply->elements == 5 &&
                reply->element[0]->type == REDIS_REPLY_STRING && is_text(reply->element[4]);
    if (good) {
        view.now = strtod(reply->element[0]->str, NULL);
        good = read_members(b, reply->element[1], reply->element[2], view.now) &&
               read_runs(b, reply->element[3]);
        view.charter = reply->element[4]->str;
        view.ncharter = reply->element[4]->len;
    }
    view.members = b->members.at;
    view.nmembers = b->members.n;
    view.runs = b->runs.at;
    view.nruns = b->runs.n;
    a->seen(a->context, good ? &view : NULL, good ? "" : strange);
}

void board_done_came(struct board_request *a, const redisReply *reply, const char *why)
{
    if (a->done)
        a->done(a->context, reply != NULL, why);
}

static void join_came(struct board_request *a, const redisReply *reply, const char *why)
{
    bool good = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                reply->element[0]->type == REDIS_REPLY_INTEGER &&
                reply->element[1]->type == REDIS_REPLY_INTEGER;
    a->joined(a->context, good, good ? (uint32_t)reply->element[0]->integer : 0,
              good ? (uint32_t)reply->element[1]->integer : 0,
              good    ? ""
              : reply ? strange
                      : why);
}

/* A run that was removed has no text: an answer, but not a good one. */
static void text_came(struct board_request *a, const redisReply *reply, const char *why)
{
    char none[96];
    if (reply && reply->type == REDIS_REPLY_STRING) {
        a->got(a->context, true, reply->str, reply->len, "");
        return;
    }
    if (reply && reply->type == REDIS_REPLY_NIL) {
        snprintf(none, sizeof none, "run %llu has no text on the board (never made, or removed)",
                 (unsigned long long)a->run);
        why = none;
    }
    a->got(a->context, false, "", 0, reply && reply->type != REDIS_REPLY_NIL ? strange : why);
}

static void new_number_came(struct board_request *a, const redisReply *reply, const char *why)
{
    uint64_t run = 0;
    bool good = reply && is_number(reply, UINT64_MAX, &run);
    a->numbered(a->context, good, run, good ? "" : reply ? strange : why);
}

/* ---- requests ---- */

void board_join(struct board *b, const struct board_joining *j, board_joined done, void *context)
{
    struct board_request *q = request_new(b, join_came, context);
    size_t identity = strlen(j->identity);
    char number[40];
    q->joined = done;
    if (j->n > TEXT_MOST || !(j->lease > 0 && j->lease < 1e6) || !identity || identity > 512) {
        request_refuse(q, "joining: expected an identity of 1 to 512 bytes, a lease of more than "
                          "0 s and a text of at most 64 KB");
        return;
    }
    request_call(q, "", "join");
    request_add(q, j->identity, identity);
    request_add(q, &j->attempt, sizeof j->attempt);
    request_add(q, number, (size_t)snprintf(number, sizeof number, "%.9g", j->lease));
    request_add(q, j->text, j->n);
    request_send(q, true);
}

void board_heartbeat(struct board *b, const struct board_pulse *pulse, board_viewed seen,
                     void *context)
{
    struct board_request *q = request_new(b, view_came, context);
    q->seen = seen;
    if (pulse->n > TEXT_MOST || board_is_gone(pulse->state)) {
        request_refuse(q,
                       "a heartbeat: expected UP or LEAVING, and a text of at most 64 KB: it is in "
                       "every view");
        return;
    }
    request_call(q, "", "heartbeat");
    request_add_number(q, pulse->node);
    request_add_number(q, pulse->life);
    request_add_number(q, pulse->state);
    request_add(q, pulse->text, pulse->n);
    request_add(q, &pulse->attempt, pulse->attempt ? sizeof pulse->attempt : 0);
    request_send(q, false); /* lost with a failover, the next one makes up for it */
}

void board_view(struct board *b, board_viewed seen, void *context)
{
    struct board_request *q = request_new(b, view_came, context);
    q->seen = seen;
    request_call(q, "", "view");
    request_send(q, false);
}

/* A request of two numbers that changes something. */
static void board_send_two(struct board *b, const char *what, uint64_t first, uint64_t second,
                           board_done done, void *context)
{
    struct board_request *q = request_new(b, board_done_came, context);
    q->done = done;
    request_call(q, "", what);
    request_add_number(q, first);
    request_add_number(q, second);
    request_send(q, true);
}

void board_expire(struct board *b, uint32_t node, uint32_t life, board_done done, void *context)
{
    board_send_two(b, "expire", node, life, done, context);
}

void board_leave(struct board *b, uint32_t node, uint32_t life, board_done done, void *context)
{
    board_send_two(b, "leave", node, life, done, context);
}

void board_charter(struct board *b, const struct board_charter *c, board_text got, void *context)
{
    struct board_request *q = request_new(b, text_came, context);
    q->got = got;
    request_call(q, "", "charter");
    request_add(q, c->offer, c->noffer);
    request_add(q, c->instead, c->instead ? c->ninstead : 0);
    request_add(q, c->restore ? "1" : "0", 1);
    request_add_number(q, c->last_run);
    request_send(q, true);
}

void board_run_state(struct board *b, const struct board_change *change, board_done done,
                     void *context)
{
    struct board_request *q = request_new(b, board_done_came, context);
    char words[BOARD_ID + BOARD_PROOF], over[BOARD_RUN_RECORD];
    memcpy(words, change->id, BOARD_ID);
    memcpy(words + BOARD_ID, change->proof, BOARD_PROOF);
    q->done = done;
    request_call(q, "", "state");
    request_add_number(q, change->run);
    request_add_number(q, change->state);
    request_add(q, words, sizeof words);
    if (change->over)
        run_record(change->over, over);
    request_add(q, over, change->over ? sizeof over : 0);
    request_add(q, change->text, change->text && change->n <= TEXT_MOST ? change->n : 0);
    if (change->parts)
        request_add_number(q, *change->parts);
    else
        request_add(q, "", 0);
    request_add(q, change->holds ? "1" : "0", 1);
    request_send(q, true);
}

void board_new_run(struct board *b, board_numbered done, void *context)
{
    struct board_request *q = request_new(b, new_number_came, context);
    uint64_t mark;
    char own[160];
    q->numbered = done;
    if (getrandom(&mark, sizeof mark, 0) != sizeof mark) {
        request_refuse(q, "the system has no random numbers");
        return;
    }
    snprintf(own, sizeof own, "%sQ.%016llx", b->stem, (unsigned long long)mark);
    request_call(q, own, "new");
    request_send(q, true);
}

/* It does not go through the script, where it would stand in memory three times. */
void board_set_run_text(struct board *b, uint64_t run, const void *text, size_t n, board_done done,
                        void *context)
{
    struct board_request *q = request_new(b, board_done_came, context);
    q->done = done;
    if (n > RUN_TEXT_MOST) {
        char why[300];
        snprintf(
            why, sizeof why,
            "the run's text has %.0f MB, and a server of Redis takes 512 MB: describe tasks "
            "that are alike by a family (`lists` and `each`) instead of one by one, or cut the "
            "workflow in parts that are submitted one after another",
            (double)n / (1 << 20));
        request_refuse(q, why);
        return;
    }
    q->last = mem_copy_bytes(n ? text : "", n);
    q->last_length = n;
    request_add(q, "SET", 3);
    request_add_run_key(q, run);
    request_send(q, true);
}

void board_run_text(struct board *b, uint64_t run, board_text got, void *context)
{
    struct board_request *q = request_new(b, text_came, context);
    q->got = got;
    q->run = run;
    request_add(q, "GET", 3);
    request_add_run_key(q, run);
    request_send(q, false);
}

void board_forget_run(struct board *b, uint64_t run, board_done done, void *context)
{
    struct board_request *q = request_new(b, board_done_came, context);
    q->done = done;
    request_add(q, "UNLINK", 6);
    request_add_run_key(q, run);
    request_send(q, true);
}

/* ---- the board itself ---- */

static void version_came(struct board_request *a, const redisReply *reply, const char *why)
{
    struct board *b = a->board;
    snprintf(b->version, sizeof b->version, "%s",
             reply && is_text(reply) ? reply->str
             : *why                  ? why
                                     : "?");
}

/* Boards of different versions must not mix: whoever comes first writes its version, the others
 * compare. */
static bool board_check_version(struct board *b, const struct store_address *address,
                                struct error *err)
{
    char own[160];
    snprintf(own, sizeof own, "%sI", b->stem);
    struct board_request *q = request_new(b, version_came, NULL);
    request_call(q, own, "open");
    request_add(q, VERSION, strlen(VERSION));
    request_send(q, true);
    if (!board_wait(b, OPEN_SECONDS))
        return error_set(err, ERROR_FAILED, "%s: the board does not answer: %s", address->text,
                         board_trouble(b));
    return strcmp(b->version, VERSION) == 0 ||
           error_set(err, ERROR_INPUT,
                     "%s: the board there is of another version of weft (%s, here " VERSION
                     "): take another prefix",
                     address->text, b->version);
}

/* One channel with an open window: the board's requests need not wait for each other. */
static bool board_connect(struct board *b, const struct store_address *a, struct error *err)
{
    static const char *const scripts[] = {store_board_lua};
    struct redis_tls_options tls = {.ca = a->tls_ca,
                                    .cert = a->tls_cert,
                                    .key = a->tls_key,
                                    .name = a->tls_name,
                                    .pin = a->tls_pin,
                                    .unchecked = a->tls_unchecked};
    b->client = redis_client_new(&(struct redis_client_config){.servers = a->servers,
                                                               .user = a->user,
                                                               .password = a->password,
                                                               .tls = a->tls ? &tls : NULL,
                                                               .scripts = scripts,
                                                               .nscripts = 1,
                                                               .replicas = a->replicas,
                                                               .silence = SILENCE_SECONDS,
                                                               .ops = &board_client_ops,
                                                               .owner = b},
                                 err);
    if (!b->client)
        return false;
    b->channel = redis_client_channel(b->client, b->key[0], UINT32_MAX);
    return redis_client_connect(b->client, clock_seconds() + OPEN_SECONDS, LOADING_SECONDS, err);
}

/* Blocks for some seconds at most, a minute if the server is reading its file. */
struct board *board_open(const struct store_address *address, struct error *err)
{
    if (address->auth_key && !address->password) {
        error_set(err, ERROR_INPUT,
                  "%s: the password is to come from the cluster's key, and there is none: give "
                  "--key or WEFT_KEY",
                  address->text);
        return NULL;
    }
    struct board *b = mem_new_zero(struct board, 1);
    snprintf(b->stem, sizeof b->stem, "{%s.board}:", address->prefix);
    for (int i = 0; i < BOARD_KEYS - 1; i++)
        snprintf(b->key[i], sizeof b->key[i], "{%.64s.board}:%c", address->prefix, "BXJWRCF"[i]);
    if (board_connect(b, address, err) && board_check_version(b, address, err))
        return b;
    board_close(b);
    return NULL;
}

void board_close(struct board *b)
{
    if (!b)
        return;
    redis_client_free(b->client);
    array_free(&b->members);
    array_free(&b->runs);
    free(b);
}

int board_fd(const struct board *b)
{
    return redis_client_fd(b->client);
}

void board_poll(struct board *b)
{
    redis_client_poll(b->client, 0);
}

/* In slices of at most a second; the client's timer ends them earlier when something is due. */
bool board_wait(struct board *b, double seconds)
{
    double until = clock_seconds() + seconds, left;
    redis_client_poll(b->client, 0);
    while (!redis_client_is_idle(b->client) && (left = until - clock_seconds()) > 0)
        redis_client_poll(b->client, left < 1 ? (int)(left * 1000) + 1 : 1000);
    return redis_client_is_idle(b->client);
}

double board_silence(const struct board *b)
{
    return redis_client_silence(b->client);
}

const char *board_trouble(const struct board *b)
{
    return redis_client_trouble(b->client);
}

const struct redis_client_promise *board_promise(const struct board *b)
{
    return redis_client_promise(b->client);
}
