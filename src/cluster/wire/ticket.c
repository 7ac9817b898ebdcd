/* Tickets as bytes (ticket.h). Agents read what stood on the board, sealed with the key, so a
 * ticket is not hostile, but it may be damaged or of another version: nothing is believed before
 * all of it was decoded. Unit tests cut it off at every byte and flip some. */
#include "cluster/wire/ticket.h"

#include "base/bytes.h"
#include "base/mem.h"

enum { VERSION = 6 };

/* NULL and "" are the same. */
static void ticket_put_string(struct strbuf *out, const char *text)
{
    bytes_put_text(out, text ? text : "", text ? strlen(text) : 0);
}

static void ticket_put_numbers(struct strbuf *out, const double *at, size_t n)
{
    bytes_put_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        bytes_put_f64(out, at[i]);
}

/* The layout: u32 version; id 16; texts name, host, folder, program; u8 flags, u8 policy; f64 t, tt,
 * retry_first, retry_most, priority_of_run; then six lists, each a u32 count and its elements (files, done,
 * skipped, priority, seconds, environment); the workflow's text. ticket_read() takes it apart in the same order. */
void ticket_put(const struct ticket *t, struct strbuf *out)
{
    bytes_put_u32(out, VERSION);
    bytes_put(out, t->id, sizeof t->id);
    ticket_put_string(out, t->name);
    ticket_put_string(out, t->host);
    ticket_put_string(out, t->folder);
    ticket_put_string(out, t->program);
    bytes_put_u8(out, (uint8_t)(t->shared | t->keep_going << 1 | t->no_sandbox << 2 |
                                t->unlimited << 3 | t->adapt << 4 | t->adds << 5));
    bytes_put_u8(out, t->policy);
    bytes_put_f64(out, t->t);
    bytes_put_f64(out, t->tt);
    bytes_put_f64(out, t->retry_first);
    bytes_put_f64(out, t->retry_most);
    bytes_put_f64(out, t->priority_of_run);
    bytes_put_u32(out, (uint32_t)t->files.n);
    for (size_t i = 0; i < t->files.n; i++) {
        bytes_put_u32(out, t->files.at[i].object);
        bytes_put_f64(out, t->files.at[i].bytes);
        bytes_put(out, t->files.at[i].digest.at, sizeof t->files.at[i].digest.at);
    }
    bytes_put_u32(out, (uint32_t)t->done.n);
    for (size_t i = 0; i < t->done.n; i++)
        bytes_put_u32(out, t->done.at[i]);
    bytes_put_u32(out, (uint32_t)t->skipped.n);
    for (size_t i = 0; i < t->skipped.n; i++)
        bytes_put_u32(out, t->skipped.at[i]);
    ticket_put_numbers(out, t->priority.at, t->priority.n);
    ticket_put_numbers(out, t->seconds.at, t->seconds.n);
    bytes_put_u32(out, (uint32_t)t->environment.at.n);
    for (size_t i = 0; i < t->environment.at.n; i++) {
        const struct along *a = &t->environment.at.at[i];
        bytes_put_u8(out, (uint8_t)a->kind);
        ticket_put_string(out, a->name);
        ticket_put_string(out, a->value);
    }
    bytes_put_text(out, t->workflow.at, t->workflow.n);
}

/* Never NULL; the caller owns it. */
static char *ticket_take_string(struct bytes *in)
{
    size_t n;
    const char *text = bytes_text(in, &n);
    return mem_copy_bytes(text ? text : "", n);
}

/* A count that the bytes behind it can hold: nothing is allocated for a number alone. */
static uint32_t ticket_take_count(struct bytes *in, size_t each)
{
    uint32_t n = bytes_u32(in);
    if ((size_t)n > in->n / each) {
        in->bad = true;
        return 0;
    }
    return n;
}

/* A kind that nobody knows is damage, too. */
static void ticket_take_along(struct bytes *in, struct run_environment *e)
{
    uint8_t kind = bytes_u8(in);
    char *name = ticket_take_string(in), *value = ticket_take_string(in);
    in->bad |= kind >= ALONG_KINDS;
    if (!in->bad)
        run_environment_add(e, (enum along_kind)kind, name, value);
    explicit_bzero(value, strlen(value));
    free(name);
    free(value);
}

/* The workflow's text is nearly all of it, and may be large: it moves to the front of the buffer that it came in,
 * over what may have had secrets. */
static void ticket_take_workflow(struct strbuf *plain, const char *text, size_t size,
                                 struct ticket *t)
{
    if (size)
        memmove(plain->at, text, size);
    explicit_bzero(plain->at + size, plain->n - size);
    plain->n = size;
    t->workflow = *plain;
    *plain = (struct strbuf){0};
}

/* Decoded first and judged once, by bytes_end(): every read beyond the end gives zeros. On false
 * `t` is empty. */
bool ticket_read(struct strbuf *plain, struct ticket *t, struct error *err)
{
    struct bytes in = {plain->at, plain->n, false};
    *t = (struct ticket){0};
    uint32_t version = bytes_u32(&in);
    if (version != VERSION)
        return error_set(err, ERROR_FAILED,
                         "the run was submitted by another version of weft (its ticket has version "
                         "%u, this weft reads %u); install the same version everywhere",
                         version, VERSION);
    const void *id = bytes_take(&in, sizeof t->id);
    if (id)
        memcpy(t->id, id, sizeof t->id);
    t->name = ticket_take_string(&in);
    t->host = ticket_take_string(&in);
    t->folder = ticket_take_string(&in);
    t->program = ticket_take_string(&in);
    uint8_t flags = bytes_u8(&in);
    t->shared = flags & 1;
    t->keep_going = flags & 2;
    t->no_sandbox = flags & 4;
    t->unlimited = flags & 8;
    t->adapt = flags & 16;
    t->adds = flags & 32;
    t->policy = bytes_u8(&in);
    t->t = bytes_f64(&in);
    t->tt = bytes_f64(&in);
    t->retry_first = bytes_f64(&in);
    t->retry_most = bytes_f64(&in);
    t->priority_of_run = bytes_f64(&in);
    for (uint32_t count = ticket_take_count(&in, 44); count--;) {
        struct ticket_file f = {.object = bytes_u32(&in), .bytes = bytes_f64(&in)};
        const void *digest = bytes_take(&in, sizeof f.digest.at);
        if (digest)
            memcpy(f.digest.at, digest, sizeof f.digest.at);
        array_push(&t->files, f);
    }
    for (uint32_t count = ticket_take_count(&in, 4); count--;)
        array_push(&t->done, bytes_u32(&in));
    for (uint32_t count = ticket_take_count(&in, 4); count--;)
        array_push(&t->skipped, bytes_u32(&in));
    for (uint32_t count = ticket_take_count(&in, 8); count--;)
        array_push(&t->priority, bytes_f64(&in));
    for (uint32_t count = ticket_take_count(&in, 8); count--;)
        array_push(&t->seconds, bytes_f64(&in));
    for (uint32_t count = ticket_take_count(&in, 9); count--;)
        ticket_take_along(&in, &t->environment);
    size_t size;
    const char *text = bytes_text(&in, &size);
    if (!bytes_end(&in)) {
        ticket_free(t);
        return error_set(err, ERROR_FAILED, "what the board says about the run is damaged");
    }
    ticket_take_workflow(plain, text, size, t);
    return true;
}

void ticket_free(struct ticket *t)
{
    free(t->name);
    free(t->host);
    free(t->folder);
    free(t->program);
    array_free(&t->files);
    array_free(&t->done);
    array_free(&t->skipped);
    array_free(&t->priority);
    array_free(&t->seconds);
    run_environment_free(&t->environment);
    strbuf_free(&t->workflow);
    *t = (struct ticket){0};
}
