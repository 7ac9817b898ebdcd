/* Calls that nobody of ours sent: the module in this process, before a server that is made here, whose
 * strings have exactly their size, so that the sanitizers see a byte too far. Whatever comes, it is applied or
 * refused, strings keep their length, and what is replicated makes the same strings elsewhere.
 *
 * That the module does what the script does is asked of real servers: redis/redis_test.c. */
#include "store/module/keys.c"
#include "store/module/module.c"
#include "store/module/ops.c"
#include "store/module/ops_others.c"
#include "store/module/runs.c"

#include "base/rng.h"
#include "tap.h"

#include <stdarg.h>
#include <stdlib.h>

enum { TASKS = 40, EDGES = 70, FIELDS = 64, LENGTH = 4096 };

/* A key: a string, or a hash of some fields. */
struct server_string {
    unsigned char *bytes; /* of a string, exactly n */
    size_t n;
    unsigned char *copy; /* what a replica has of it */
    struct {
        bool set;
        long long name;
        unsigned char value[LENGTH];
        size_t n;
    } field[FIELDS];
};

struct server_key {
    struct server_string *string;
};

struct server_reply {
    int type;
    long long integer;
    size_t n;
    unsigned char bytes[LENGTH];
};

static struct server_string fake_keys[KEYS];
static unsigned fake_answers, fake_errors;

static void *fake_resize(void *at, size_t n)
{
    return realloc(at, n);
}

static const char *fake_bytes(const struct server_string *s, size_t *n)
{
    *n = s->n;
    return (const char *)s->bytes;
}

static struct server_key *fake_open(struct server_ctx *ctx, struct server_string *s, int mode)
{
    (void)ctx;
    (void)mode;
    struct server_key *k = malloc(sizeof *k);
    k->string = s;
    return k;
}

static void fake_close(struct server_key *k)
{
    free(k);
}

static int fake_type(struct server_key *k)
{
    return k->string->bytes ? SERVER_KEY_STRING : SERVER_KEY_EMPTY;
}

static char *fake_direct(struct server_key *k, size_t *n, int mode)
{
    (void)mode;
    *n = k->string->n;
    return (char *)k->string->bytes;
}

static void fake_write(struct server_string *s, size_t at, const void *bytes, size_t n)
{
    if (at + n > s->n) {
        s->bytes = realloc(s->bytes, at + n);
        s->copy = realloc(s->copy, at + n);
        memset(s->bytes + s->n, 0, at + n - s->n);
        memset(s->copy + s->n, 0, at + n - s->n);
        s->n = at + n;
    }
    memcpy(s->bytes + at, bytes, n);
    memcpy(s->copy + at, bytes, n);
}

/* The place of a field; a full hash loses its first. */
static size_t fake_field(struct server_string *s, long long name, bool make)
{
    size_t empty = FIELDS;
    for (size_t i = 0; i < FIELDS; i++) {
        if (s->field[i].set && s->field[i].name == name)
            return i;
        empty = !s->field[i].set && empty == FIELDS ? i : empty;
    }
    if (!make)
        return FIELDS;
    empty = empty == FIELDS ? 0 : empty;
    s->field[empty].set = true;
    s->field[empty].name = name;
    s->field[empty].n = 0;
    return empty;
}

static void fake_set(struct server_string *s, long long name, const void *bytes, size_t n)
{
    size_t i = fake_field(s, name, true);
    s->field[i].n = n < LENGTH ? n : LENGTH;
    memcpy(s->field[i].value, bytes, s->field[i].n);
}

/* A field's name is a number (l), or eight bytes (b) that we take for one. */
static long long fake_name(const char **format, va_list *args)
{
    if (*(*format)++ == 'l')
        return va_arg(*args, long long);
    const void *bytes = va_arg(*args, const void *);
    size_t n = va_arg(*args, size_t);
    long long name = 0;
    memcpy(&name, bytes, n < sizeof name ? n : sizeof name);
    return name;
}

static struct server_reply *fake_call(struct server_ctx *ctx, const char *command,
                                      const char *format, ...)
{
    (void)ctx;
    struct server_reply *r = calloc(1, sizeof *r);
    va_list args;
    va_start(args, format);
    format += *format == '!';
    format++; /* s */
    struct server_string *s = va_arg(args, struct server_string *);
    r->type = 4; /* nothing */
    if (strcmp(command, "HGETALL") == 0) {
        r->type = SERVER_REPLY_ARRAY;
    } else if (strcmp(command, "SETRANGE") == 0) {
        long long at = va_arg(args, long long);
        const void *bytes = va_arg(args, const void *);
        fake_write(s, (size_t)at, bytes, va_arg(args, size_t));
    } else if (strcmp(command, "GET") != 0 && strcmp(command, "SET") != 0 &&
               strcmp(command, "EXPIRE") != 0) {
        long long name = fake_name(&format, &args);
        size_t i = fake_field(s, name, strcmp(command, "HINCRBY") == 0);
        if (strcmp(command, "HGET") == 0 && i < FIELDS) {
            r->type = SERVER_REPLY_STRING;
            r->n = s->field[i].n;
            memcpy(r->bytes, s->field[i].value, r->n);
        } else if (strcmp(command, "HSET") == 0) {
            const void *bytes = va_arg(args, const void *);
            fake_set(s, name, bytes, va_arg(args, size_t));
        } else if (strcmp(command, "HDEL") == 0 && i < FIELDS) {
            s->field[i].set = false;
        } else if (strcmp(command, "HINCRBY") == 0) {
            r->type = SERVER_REPLY_INTEGER;
            r->integer = va_arg(args, long long);
        }
    }
    va_end(args);
    return r;
}

static int fake_reply_type(struct server_reply *r)
{
    return r->type;
}

static const char *fake_reply_bytes(struct server_reply *r, size_t *n)
{
    *n = r->n;
    return (const char *)r->bytes;
}

static long long fake_reply_integer(struct server_reply *r)
{
    return r->integer;
}

static size_t fake_reply_length(struct server_reply *r)
{
    return r->n;
}

static void fake_reply_free(struct server_reply *r)
{
    free(r);
}

static int fake_replicate(struct server_ctx *ctx, const char *command, const char *format, ...)
{
    (void)ctx;
    (void)command;
    va_list args;
    va_start(args, format);
    struct server_string *s = va_arg(args, struct server_string *);
    size_t at = (size_t)va_arg(args, long long);
    const void *bytes = va_arg(args, const void *);
    memcpy(s->copy + at, bytes, va_arg(args, size_t));
    va_end(args);
    return SERVER_OK;
}

static int fake_answer(struct server_ctx *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    fake_answers++;
    return SERVER_OK;
}

static int fake_answer_error(struct server_ctx *ctx, const char *text)
{
    (void)ctx;
    (void)text;
    fake_errors++;
    return SERVER_OK;
}

static void fake_begin(void)
{
    server = (struct server_functions){.resize = fake_resize,
                                       .release = free,
                                       .bytes = fake_bytes,
                                       .open = fake_open,
                                       .close = fake_close,
                                       .type = fake_type,
                                       .direct = fake_direct,
                                       .call = fake_call,
                                       .reply_type = fake_reply_type,
                                       .reply_bytes = fake_reply_bytes,
                                       .reply_integer = fake_reply_integer,
                                       .reply_length = fake_reply_length,
                                       .reply_free = fake_reply_free,
                                       .replicate = fake_replicate,
                                       .answer = fake_answer,
                                       .answer_error = fake_answer_error};
    static const unsigned char zero;
    fake_write(&fake_keys[KEY_RECORDS], (size_t)TASKS * REDIS_SCRIPT_RECORD - 1, &zero, 1);
    fake_write(&fake_keys[KEY_EDGES], (size_t)EDGES * REDIS_SCRIPT_EDGE - 1, &zero, 1);
}

static void fake_end(void)
{
    for (int k = 0; k < KEYS; k++) {
        free(fake_keys[k].bytes);
        free(fake_keys[k].copy);
    }
    free(module_last.nodes);
    free(module_last.out.at);
    free(module_last.records.dirty);
    free(module_last.marks.dirty);
    free(module_last.sizes.dirty);
}

/* Mostly numbers that could be meant, and now and then one that could not. */
static uint32_t any_number(struct rng *g)
{
    static const uint32_t odd[] = {TASKS - 1, TASKS,    EDGES - 1, EDGES,     UINT32_MAX,
                                   1u << 31,  1u << 30, 357913942, 268435456, 67108864};
    uint64_t v = rng_next(g) % 100;
    return v < 12   ? odd[rng_next(g) % (sizeof odd / sizeof *odd)]
           : v < 70 ? (uint32_t)(rng_next(g) % 4)
                    : (uint32_t)(rng_next(g) % EDGES);
}

static size_t put_numbers(struct rng *g, unsigned char *out, size_t n, size_t count)
{
    for (; count--; n += 4)
        put_u32_at(out + n, any_number(g));
    return n;
}

/* Edges of one task: where they stand, how many, and now and then inputs behind. */
static size_t any_section(struct rng *g, unsigned char *out, size_t n)
{
    uint32_t inputs = rng_next(g) % 8 ? 0 : (uint32_t)(rng_next(g) % 3);
    n = put_numbers(g, out, n, 2);
    put_u32_at(out + n, rng_next(g) % 50 ? inputs : any_number(g));
    return put_numbers(g, out, n + 4, inputs);
}

/* A child that is notified: mostly of a few edges that are there. */
static size_t any_child(struct rng *g, unsigned char *out, size_t n)
{
    uint32_t total = rng_next(g) % 6 ? 1 + (uint32_t)(rng_next(g) % 4) : 36, pos = 0;
    n = put_numbers(g, out, n, 2);
    pos = (uint32_t)(rng_next(g) % total);
    put_u32_at(out + n, total);
    put_u32_at(out + n + 4, rng_next(g) % 20 ? pos : any_number(g));
    put_u32_at(out + n + 8, rng_next(g) % 20 ? 1 : any_number(g));
    memset(out + n + 12, 0, 1 + SIZE + 4);
    out[n + 12] = rng_next(g) % 2;
    out[n + 15] = rng_next(g) % 2;
    return n + 12 + 1 + SIZE + 4;
}

static size_t any_children(struct rng *g, unsigned char *out, size_t n, bool doomed, bool early)
{
    size_t place = n - 8, count = rng_next(g) % 4;
    n = early ? put_numbers(g, out, n, 2) : n;
    size_t from = n;
    for (size_t i = 0; i < count; i++)
        n = doomed ? any_section(g, out, put_numbers(g, out, n, 1)) : any_child(g, out, n);
    put_u32_at(out + place, (uint32_t)count);
    put_u32_at(out + place + 4, (uint32_t)(n - from));
    return n;
}

/* What follows a head of this kind, of the right length. */
static size_t any_tail(struct rng *g, unsigned char *out, size_t n, uint8_t kind, bool early)
{
    switch (kind) {
    case 0:
    case 1:
    case 2:
    case 11:
    case REDIS_ITEM:
        return any_section(g, out, n);
    case 5:
        n = put_numbers(g, out, n, 11) + 1 + 8;
        return any_children(g, out, n, false, early);
    case 6:
        n = put_numbers(g, out, n, 4) + 1 + 8;
        return any_children(g, out, n, true, early);
    case 9:
        memset(out + n, 0, OBJECT_BYTES);
        out[n + 8] = out[n + 9] = rng_next(g) % 2;
        put_u32_at(out + n + 10, 2);
        return put_numbers(g, out, n + OBJECT_BYTES, 2);
    case 10:
        return put_numbers(g, out, n, REDIS_SCRIPT_COPY / 4);
    case REDIS_NOTIFY:
        return any_child(g, out, put_numbers(g, out, n, REDIS_SCRIPT_EDGE / 4));
    case REDIS_DOOM:
        return any_section(g, out, put_numbers(g, out, n, 1));
    case REDIS_FENCE:
        return put_numbers(g, out, n, 1);
    case REDIS_COMPLETES:
        n = put_numbers(g, out, n, 3);
        put_u32_at(out + n - 12, 2);
        return put_numbers(g, out, n, (size_t)2 * END_BYTES / 4);
    case 7:
    case REDIS_PUTS:
    case REDIS_HOLDS:
    case REDIS_ITEMS:
        return put_numbers(g, out, n, 3);
    default:
        return n;
    }
}

static size_t any_call(struct rng *g, unsigned char *out, size_t most)
{
    memset(out, 0, most);
    out[0] = rng_next(g) % 8 == 0;
    out[1] = rng_next(g) % 3;
    put_u32_at(out + 6, rng_next(g) % 50 ? TASKS : any_number(g));
    put_u32_at(out + 10, rng_next(g) % 50 ? EDGES : any_number(g));
    size_t n = HEADER, ops = 1 + rng_next(g) % 3;
    while (ops--) {
        uint8_t kind = rng_next(g) % 30;
        size_t from = n;
        n = put_numbers(g, out, n, HEAD / 4);
        out[from] = kind;
        out[from + 1] = rng_next(g) % 9;
        put_u32_at(out + from + 8, rng_next(g) % 3);
        put_u32_at(out + from + 12, rng_next(g) % 3);
        bool early = u32_at(out + from + 16) == 1;
        n = any_tail(g, out, n, kind, early);
        n += rng_next(g) % 40 == 0;
    }
    return n;
}

/* One that is whole: PUT of some tasks, COMPLETE of one without children. */
static size_t good_call(unsigned char *out)
{
    size_t n = HEADER;
    memset(out, 0, 300);
    out[1] = REDIS_KEEP_ANSWER;
    put_u32_at(out + 6, TASKS);
    put_u32_at(out + 10, EDGES);
    out[n] = REDIS_PUTS;
    put_u32_at(out + n + 4, 2);
    put_u32_at(out + n + HEAD, 5); /* five, without edges */
    n += HEAD + 12;
    out[n] = 5;
    put_u32_at(out + n + 4, 3);
    put_u32_at(out + n + 8, 1);
    n += HEAD + 53;
    return n;
}

static void test_whole(void)
{
    struct server_string *argv[KEYS + 2], call = {.n = 0};
    unsigned char bytes[300];
    for (int k = 0; k < KEYS; k++)
        argv[1 + k] = &fake_keys[k];
    argv[KEYS + 1] = &call;
    call.bytes = bytes;
    call.n = good_call(bytes);
    fake_answers = fake_errors = 0;
    module_apply_command(NULL, argv, KEYS + 2);
    is_int(fake_answers, 1, "a call of ours is answered");
    is_int(fake_keys[KEY_RECORDS].bytes[2 * REDIS_SCRIPT_RECORD], QUEUED, "one task is queued");
    is_int(fake_keys[KEY_RECORDS].bytes[3 * REDIS_SCRIPT_RECORD], DONE, "one is done");
    unsigned read = 0;
    for (size_t cut = 0; cut < call.n; cut++) {
        unsigned char *copy = malloc(cut + 1);
        struct server_string less = {.bytes = copy, .n = cut};
        memcpy(copy, bytes, cut);
        argv[KEYS + 1] = &less;
        fake_answers = 0;
        module_apply_command(NULL, argv, KEYS + 2);
        read += fake_answers;
        free(copy);
    }
    is_int(read, 2, "cut off anywhere but between two operations it is refused");
    argv[KEYS + 1] = &call;
    fake_errors = 0;
    module_look_command(NULL, argv, KEYS + 2);
    is_int(fake_errors, 1, "who may only look changes nothing");
}

static void test_any(void)
{
    struct rng g;
    struct server_string *argv[KEYS + 2];
    unsigned char bytes[4096];
    bool same = true, lengths = true;
    rng_seed(&g, 7);
    for (int k = 0; k < KEYS; k++)
        argv[1 + k] = &fake_keys[k];
    fake_answers = fake_errors = 0;
    unsigned rounds = 60000;
    for (unsigned i = 0; i < rounds; i++) {
        size_t n = any_call(&g, bytes, sizeof bytes);
        unsigned char *exact = malloc(n);
        struct server_string call = {.bytes = exact, .n = n};
        memcpy(exact, bytes, n);
        argv[KEYS + 1] = &call;
        (rng_next(&g) % 4 ? module_apply_command : module_look_command)(NULL, argv, KEYS + 2);
        free(exact);
        for (int k = KEY_RECORDS; k <= KEY_SIZES; k++)
            same &= !fake_keys[k].n ||
                    memcmp(fake_keys[k].bytes, fake_keys[k].copy, fake_keys[k].n) == 0;
        lengths &= fake_keys[KEY_RECORDS].n == (size_t)TASKS * REDIS_SCRIPT_RECORD &&
                   fake_keys[KEY_EDGES].n == (size_t)EDGES * REDIS_SCRIPT_EDGE;
    }
    is_int(fake_answers + fake_errors, rounds, "each gets one answer");
    ok(fake_answers > rounds / 10, "some of which are believed: %u", fake_answers);
    ok(lengths, "strings keep their length");
    ok(same, "what is replicated is what changed");
}

int main(void)
{
    fake_begin();
    TAP_DO(test_whole());
    TAP_DO(test_any());
    fake_end();
    return tap_done();
}
