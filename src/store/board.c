#include "store/board.h"
#include "base/array.h"
#include "base/clock.h"
#include "store/board_script.h"
#include "store/redis/pipe.h"
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define VERSION "weft-board/1"
#define OPEN_SECONDS 6.0
#define RUN_TEXT_MOST ((512u << 20) - 1) /* a string of Redis */
#define TEXT_MOST (64u << 10)            /* of a member: it is in every view */
#define MEMBERS_MOST 65536u

struct board {
    struct redis_pipe *pipe;
    char key[BOARD_KEYS - 1][96];
    char stem[96]; /* "{PREFIX.board}:", of the keys that come and go */
    char version[64];
    ARRAY(struct board_member) members;
    ARRAY(struct board_run) runs;
};

/* What a request is for, while it is on its way; the pipe's to forget. */
struct asked {
    struct board *board;
    union {
        board_done done;
        board_seen seen;
        board_joined joined;
        board_text got;
        board_numbered numbered;
    };
    void *context;
    uint64_t run;
    char *text; /* of a new run, until it has a number */
    size_t n;
};

static struct asked *asked_new(struct board *b, void *context)
{
    struct asked *a = mem_new_zero(struct asked, 1);
    a->board = b;
    a->context = context;
    return a;
}

static void asked_free(void *context)
{
    struct asked *a = context;
    free(a->text);
    free(a);
}

/* The keys and the first word of a call; `own`: one more key ("" none: a name that stays unused).
 */
static struct redis_pipe_words words_of(struct board *b, const char *own, const char *what)
{
    struct redis_pipe_words w = {0};
    redis_pipe_add(&w, "7", 1);
    for (int i = 0; i < BOARD_KEYS - 1; i++)
        redis_pipe_add(&w, b->key[i], strlen(b->key[i]));
    redis_pipe_add(&w, *own ? own : b->stem, strlen(*own ? own : b->stem));
    redis_pipe_add(&w, what, strlen(what));
    return w;
}

static void add_number(struct redis_pipe_words *w, char text[static 24], uint64_t number)
{
    redis_pipe_add(w, text, (size_t)snprintf(text, 24, "%llu", (unsigned long long)number));
}

static void add_run_key(struct redis_pipe_words *w, const struct board *b, char text[static 160],
                        uint64_t run)
{
    redis_pipe_add(w, text,
                   (size_t)snprintf(text, 160, "%sT.%llu", b->stem, (unsigned long long)run));
}

/* ---- answers ---- */

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

static bool is_number(const redisReply *r, uint64_t most, uint64_t *out)
{
    char *end = NULL;
    if (!is_text(r) || !r->len || r->str[0] < '0' || r->str[0] > '9')
        return false;
    *out = strtoull(r->str, &end, 10);
    return !*end && *out <= most;
}

static bool read_members(struct board *b, const redisReply *records, const redisReply *texts,
                         double now)
{
    if (records->type != REDIS_REPLY_STRING || records->len % BOARD_RECORD ||
        texts->type != REDIS_REPLY_ARRAY)
        return false;
    size_t n = records->len ? records->len / BOARD_RECORD - 1 : 0;
    b->members.n = 0;
    for (size_t i = 0; i < n; i++) {
        const char *p = records->str + (i + 1) * BOARD_RECORD;
        uint32_t life;
        memcpy(&life, p + 4, 4);
        double age = now - number_at(p + 8);
        array_push(&b->members, (struct board_member){.node = (uint32_t)i,
                                                      .life = life,
                                                      .state = (uint8_t)p[0],
                                                      .age = age > 0 ? age : 0,
                                                      .lease = number_at(p + 16),
                                                      .text = "",
                                                      .n = 0});
    }
    for (size_t i = 0; i + 1 < texts->elements; i += 2) {
        uint64_t node;
        if (!is_number(texts->element[i], MEMBERS_MOST, &node) || !is_text(texts->element[i + 1]))
            return false;
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

static bool read_runs(struct board *b, const redisReply *runs)
{
    b->runs.n = 0;
    if (runs->type != REDIS_REPLY_ARRAY)
        return false;
    for (size_t i = 0; i + 1 < runs->elements; i += 2) {
        const redisReply *r = runs->element[i + 1];
        uint64_t run;
        if (!is_number(runs->element[i], UINT64_MAX, &run) || !is_text(r) ||
            r->len != BOARD_RUN_RECORD)
            return false;
        array_push(&b->runs, (struct board_run){.run = run,
                                                .state = (uint8_t)r->str[0],
                                                .created = number_at(r->str + 1),
                                                .changed = number_at(r->str + 9)});
    }
    if (b->runs.n)
        qsort(b->runs.at, b->runs.n, sizeof *b->runs.at, by_run);
    return true;
}

static const char strange[] =
    "the server's answer is not what our script says; does another version of weft use this board?";

static void view_came(void *context, const redisReply *reply, const char *why)
{
    const struct asked *a = context;
    struct board *b = a->board;
    struct board_view view = {.arrived = clock_seconds()};
    if (!reply) {
        a->seen(a->context, NULL, why);
        return;
    }
    bool good = reply->type == REDIS_REPLY_ARRAY && reply->elements == 4 &&
                reply->element[0]->type == REDIS_REPLY_STRING;
    if (good) {
        view.now = strtod(reply->element[0]->str, NULL);
        good = read_members(b, reply->element[1], reply->element[2], view.now) &&
               read_runs(b, reply->element[3]);
    }
    view.members = b->members.at;
    view.nmembers = b->members.n;
    view.runs = b->runs.at;
    view.nruns = b->runs.n;
    a->seen(a->context, good ? &view : NULL, good ? "" : strange);
}

static void done_came(void *context, const redisReply *reply, const char *why)
{
    const struct asked *a = context;
    if (a->done)
        a->done(a->context, reply != NULL, why);
}

static void join_came(void *context, const redisReply *reply, const char *why)
{
    const struct asked *a = context;
    bool good = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                reply->element[0]->type == REDIS_REPLY_INTEGER &&
                reply->element[1]->type == REDIS_REPLY_INTEGER;
    a->joined(a->context, good, good ? (uint32_t)reply->element[0]->integer : 0,
              good ? (uint32_t)reply->element[1]->integer : 0,
              good    ? ""
              : reply ? strange
                      : why);
}

static void text_came(void *context, const redisReply *reply, const char *why)
{
    const struct asked *a = context;
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

static void new_text_came(void *context, const redisReply *reply, const char *why)
{
    const struct asked *a = context;
    a->numbered(a->context, reply != NULL, reply ? a->run : 0, why);
}

/* The number is there; the text follows by itself, so that it does not go through the script, where
 * it would stand in memory three times. */
static void new_number_came(void *context, const redisReply *reply, const char *why)
{
    struct asked *a = context;
    struct board *b = a->board;
    uint64_t run = 0;
    if (!reply || !is_number(reply, UINT64_MAX, &run)) {
        a->numbered(a->context, false, 0, reply ? strange : why);
        return;
    }
    char key[160];
    struct redis_pipe_words w = {.last = a->text, .last_length = a->n};
    a->text = NULL;
    redis_pipe_add(&w, "SET", 3);
    add_run_key(&w, b, key, run);
    struct asked *next = asked_new(b, a->context);
    next->numbered = a->numbered;
    next->run = run;
    redis_pipe_ask(b->pipe, &w, true, new_text_came, next);
}

/* ---- requests ---- */

void board_join(struct board *b, const char *identity, uint64_t attempt, double lease,
                const void *text, size_t n, board_joined done, void *context)
{
    struct asked *a = asked_new(b, context);
    char number[40];
    a->joined = done;
    if (n > TEXT_MOST || !(lease > 0 && lease < 1e6) || !*identity || strlen(identity) > 512) {
        redis_pipe_refuse(b->pipe,
                          "joining: expected an identity of 1 to 512 bytes, a lease of more than "
                          "0 s and a text of at most 64 KB",
                          join_came, a);
        return;
    }
    struct redis_pipe_words w = words_of(b, "", "join");
    redis_pipe_add(&w, identity, strlen(identity));
    redis_pipe_add(&w, &attempt, sizeof attempt);
    redis_pipe_add(&w, number, (size_t)snprintf(number, sizeof number, "%.9g", lease));
    redis_pipe_add(&w, text, n);
    redis_pipe_call(b->pipe, &w, true, join_came, a);
}

void board_beat(struct board *b, uint32_t node, uint32_t life, uint8_t state, const void *text,
                size_t n, board_seen seen, void *context)
{
    struct asked *a = asked_new(b, context);
    char numbers[3][24];
    a->seen = seen;
    if (n > TEXT_MOST || state > BOARD_LEAVING) {
        redis_pipe_refuse(b->pipe,
                          "a beat: expected UP or LEAVING, and a text of at most 64 KB: it is in "
                          "every view",
                          view_came, a);
        return;
    }
    struct redis_pipe_words w = words_of(b, "", "beat");
    add_number(&w, numbers[0], node);
    add_number(&w, numbers[1], life);
    add_number(&w, numbers[2], state);
    redis_pipe_add(&w, text, n);
    redis_pipe_call(b->pipe, &w, false, view_came, a);
}

void board_view(struct board *b, board_seen seen, void *context)
{
    struct asked *a = asked_new(b, context);
    a->seen = seen;
    struct redis_pipe_words w = words_of(b, "", "view");
    redis_pipe_call(b->pipe, &w, false, view_came, a);
}

static void ask_two(struct board *b, const char *what, uint64_t first, uint64_t second,
                    board_done done, void *context)
{
    struct asked *a = asked_new(b, context);
    char numbers[2][24];
    a->done = done;
    struct redis_pipe_words w = words_of(b, "", what);
    add_number(&w, numbers[0], first);
    add_number(&w, numbers[1], second);
    redis_pipe_call(b->pipe, &w, true, done_came, a);
}

void board_bury(struct board *b, uint32_t node, uint32_t life, board_done done, void *context)
{
    ask_two(b, "bury", node, life, done, context);
}

void board_leave(struct board *b, uint32_t node, uint32_t life, board_done done, void *context)
{
    ask_two(b, "leave", node, life, done, context);
}

void board_run_state(struct board *b, uint64_t run, enum board_run_state state, board_done done,
                     void *context)
{
    ask_two(b, "state", run, state, done, context);
}

void board_new_run(struct board *b, const void *text, size_t n, board_numbered done, void *context)
{
    struct asked *a = asked_new(b, context);
    uint64_t mark;
    char own[160];
    a->numbered = done;
    if (n > RUN_TEXT_MOST) {
        char why[300];
        snprintf(why, sizeof why,
                 "the run's text has %.0f MB, and a server of Redis takes 512 MB: describe tasks "
                 "that are alike by a pattern or 'foreach' instead of one by one, or cut the "
                 "workflow in parts that are submitted one after another",
                 (double)n / (1 << 20));
        redis_pipe_refuse(b->pipe, why, new_text_came, a);
        return;
    }
    if (getrandom(&mark, sizeof mark, 0) != sizeof mark) {
        redis_pipe_refuse(b->pipe, "the system has no random numbers", new_text_came, a);
        return;
    }
    a->text = mem_copy_bytes(n ? text : "", n);
    a->n = n;
    snprintf(own, sizeof own, "%sQ.%016llx", b->stem, (unsigned long long)mark);
    struct redis_pipe_words w = words_of(b, own, "new");
    redis_pipe_call(b->pipe, &w, true, new_number_came, a);
}

void board_run_text(struct board *b, uint64_t run, board_text got, void *context)
{
    struct asked *a = asked_new(b, context);
    char key[160];
    struct redis_pipe_words w = {0};
    a->got = got;
    a->run = run;
    redis_pipe_add(&w, "GET", 3);
    add_run_key(&w, b, key, run);
    redis_pipe_ask(b->pipe, &w, false, text_came, a);
}

void board_forget_run(struct board *b, uint64_t run, board_done done, void *context)
{
    struct asked *a = asked_new(b, context);
    char key[160];
    struct redis_pipe_words w = {0};
    a->done = done;
    redis_pipe_add(&w, "UNLINK", 6);
    add_run_key(&w, b, key, run);
    redis_pipe_ask(b->pipe, &w, true, done_came, a);
}

/* ---- the board itself ---- */

static void version_came(void *context, const redisReply *reply, const char *why)
{
    struct board *b = ((const struct asked *)context)->board;
    snprintf(b->version, sizeof b->version, "%s",
             reply && is_text(reply) ? reply->str
             : *why                  ? why
                                     : "?");
}

static bool check_version(struct board *b, const struct store_address *address, struct error *err)
{
    char own[160];
    snprintf(own, sizeof own, "%sI", b->stem);
    struct redis_pipe_words w = words_of(b, own, "open");
    redis_pipe_add(&w, VERSION, strlen(VERSION));
    redis_pipe_call(b->pipe, &w, true, version_came, asked_new(b, NULL));
    if (!board_wait(b, OPEN_SECONDS))
        return error_set(err, ERROR_FAILED, "%s: the board does not answer: %s", address->text,
                         board_trouble(b));
    return strcmp(b->version, VERSION) == 0 ||
           error_set(err, ERROR_INPUT,
                     "%s: the board there is of another version of weft (%s, here " VERSION
                     "): take another prefix",
                     address->text, b->version);
}

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
        snprintf(b->key[i], sizeof b->key[i], "{%.64s.board}:%c", address->prefix, "BXJWRC"[i]);
    b->pipe = redis_pipe_open(&(struct redis_pipe_config){.address = address,
                                                          .key = b->key[0],
                                                          .script = store_board_lua,
                                                          .patience = OPEN_SECONDS,
                                                          .forget = asked_free},
                              err);
    if (b->pipe && check_version(b, address, err))
        return b;
    board_close(b);
    return NULL;
}

void board_close(struct board *b)
{
    if (!b)
        return;
    redis_pipe_free(b->pipe);
    array_free(&b->members);
    array_free(&b->runs);
    free(b);
}

int board_fd(const struct board *b)
{
    return redis_pipe_fd(b->pipe);
}

void board_poll(struct board *b)
{
    redis_pipe_poll(b->pipe, 0);
}

bool board_wait(struct board *b, double seconds)
{
    double until = clock_seconds() + seconds, left;
    redis_pipe_poll(b->pipe, 0);
    while (!redis_pipe_is_idle(b->pipe) && (left = until - clock_seconds()) > 0)
        redis_pipe_poll(b->pipe, left < 1 ? (int)(left * 1000) + 1 : 1000);
    return redis_pipe_is_idle(b->pipe);
}

double board_silence(const struct board *b)
{
    return redis_pipe_silence(b->pipe);
}

const char *board_trouble(const struct board *b)
{
    return redis_pipe_trouble(b->pipe);
}
