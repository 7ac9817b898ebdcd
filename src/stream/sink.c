/* Sinks. One thread at a time puts results, any worker's: as in source.c, blocks are the C library's.
 *
 * I1. What is written to a descriptor is gathered and goes out with sink_flush(), which whoever puts
 *     calls before he waits for anything.
 * I2. A file of a folder appears whole: written beside its name, then renamed.
 * I3. No two items have a file of the same name: names are claimed before their items are taken, by the
 *     source's thread, and kept in a tree of its own.
 * I4. Whoever waits for a reader looks at `halt` ten times a second: a stream that is to end must not hang on
 *     somebody who reads no more. So no write() may block: what is no file gets what fits, once poll() has said
 *     that there is room. (The descriptor is its user's: it is not made one that never blocks.) */
#include "stream/ends.h"

#include "base/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum sink_kind { SINK_NOTHING, SINK_LINES, SINK_FRAMES, SINK_FOLDER, SINK_FUNCTION };
enum sink_sort { SINK_FILE, SINK_PIPE, SINK_SOCKET }; /* of a descriptor; PIPE: a terminal, too */
enum { OUTLET = 1 << 16, LOOK_AGAIN = 100 };          /* milliseconds */

/* A file of a folder, and the file of the source whose result it is. */
struct sink_claim {
    char *path, *name;
};

struct sink {
    enum sink_kind kind;
    char *text;
    uint32_t n; /* results of an item */
    const char *const *names;
    const atomic_int *halt; /* 2: leave at once; NULL: nobody says so */
    void *claims;           /* tsearch(3) of struct sink_claim; I3 */
    int fd;
    enum sink_sort sort;
    bool listens;
    char *buffer;
    size_t have;
    uint64_t unsent; /* items that were put since the last flush */
    bool broken;     /* a flush has failed: nothing comes through any more */
    char *folder;
    weft_filter_function function;
    struct handling handling;
    atomic_int never;
};

static bool sink_fails(struct sink *s, const char *what, struct error *err)
{
    return error_set(err, ERROR_FAILED, "%s: cannot %s: %s", s->text ? s->text : "the sink", what,
                     strerror(errno));
}

/* ---- descriptors ---- */

static bool sink_halted(const struct sink *s)
{
    return s->halt && atomic_load_explicit(s->halt, memory_order_relaxed) > 1;
}

/* I4. False: all is to end. Room in a pipe or a terminal is for PIPE_BUF bytes at least. */
static bool sink_wait(const struct sink *s, short events)
{
    struct pollfd p = {.fd = s->fd, .events = events};
    do
        if (poll(&p, 1, LOOK_AGAIN) > 0)
            return true;
    while (!sink_halted(s));
    return false;
}

static enum sink_sort sink_sort_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode))
        return SINK_FILE;
    return S_ISSOCK(st.st_mode) ? SINK_SOCKET : SINK_PIPE;
}

/* As much as there is room for. Pipes of Linux 6.4 and later can be told not to wait; others, and terminals, are given a
 * page at a time, a third as fast. */
static ssize_t sink_write_some(const struct sink *s, const char *bytes, size_t n)
{
    if (s->sort == SINK_FILE)
        return write(s->fd, bytes, n);
    if (s->sort == SINK_SOCKET)
        return send(s->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct iovec all = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
    ssize_t wrote = pwritev2(s->fd, &all, 1, -1, RWF_NOWAIT);
    return wrote >= 0 || errno != EOPNOTSUPP ? wrote
                                             : write(s->fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
}

/* The first connection is the sink. */
static bool sink_accept(struct sink *s, struct error *err)
{
    if (!sink_wait(s, POLLIN))
        return false;
    int connection = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0)
        return sink_fails(s, "accept a connection", err);
    close(s->fd);
    s->fd = connection;
    s->sort = SINK_SOCKET;
    s->listens = false;
    return true;
}

/* Waits as long as the reader wants: that is the back-pressure which stops the source in the end. False without an
 * error: all is to end (I4). */
static bool sink_write_all(struct sink *s, const char *bytes, size_t n, struct error *err)
{
    if (s->listens && !sink_accept(s, err))
        return false;
    for (size_t done = 0; done < n;) {
        if (s->sort != SINK_FILE && !sink_wait(s, POLLOUT))
            return false;
        ssize_t wrote = sink_write_some(s, bytes + done, n - done);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return sink_fails(s, "write", err);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

bool sink_flush(struct sink *s, struct error *err)
{
    size_t have = s->have;
    s->have = 0;
    s->broken = s->broken || (have && !sink_write_all(s, s->buffer, have, err));
    if (!s->broken)
        s->unsent = 0;
    return !s->broken;
}

uint64_t sink_take_unsent(struct sink *s)
{
    uint64_t n = s->unsent;
    s->unsent = 0;
    return n;
}

/* Large results are not gathered, they would be copied for nothing. */
static bool sink_add(struct sink *s, const void *bytes, size_t n, struct error *err)
{
    if (s->have + n > OUTLET && !sink_flush(s, err))
        return false;
    if (n > OUTLET)
        return sink_write_all(s, bytes, n, err);
    memcpy(s->buffer + s->have, bytes, n);
    s->have += n;
    return true;
}

/* What a program wrote as a line has its end already. */
static bool sink_put_line(struct sink *s, struct chunk *chunk, struct error *err)
{
    if (!chunk)
        return true;
    const char *bytes = chunk_bytes(chunk);
    bool ended = chunk->size && bytes[chunk->size - 1] == '\n';
    return sink_add(s, bytes, chunk->size, err) && (ended || sink_add(s, "\n", 1, err));
}

/* An item of which there is nothing has its frame: who reads counts on the numbers. */
static bool sink_put_frame(struct sink *s, uint64_t number, struct chunk *chunk, struct error *err)
{
    uint64_t head[2] = {htole64(chunk ? chunk->size : UINT64_MAX), htole64(number)};
    return sink_add(s, head, sizeof head, err) &&
           (!chunk || sink_add(s, chunk_bytes(chunk), chunk->size, err));
}

/* ---- folders ---- */

/* "frame_017.pgm" becomes "frame_017.pgm.png" where the result is called "edges.png", and "frame_017.png" stays what it is:
 * should both be there, sink_claim() finds it. Without a name, its number. */
static void sink_file_name(const struct sink *s, uint32_t result, uint64_t number, const char *name,
                           bool temporary, char *path, size_t size)
{
    const char *base = file_basename(s->names[result]);
    const char *suffix = base + file_stem_length(base);
    size_t n = name ? strlen(name) : 0, has = strlen(suffix);
    if (name && has <= n && strcmp(name + n - has, suffix) == 0)
        suffix = "";
    char of_result[1024] = "";
    if (s->n > 1)
        snprintf(of_result, sizeof of_result, "%.1000s/", base);
    if (name)
        snprintf(path, size, "%s/%s%s%s%s", s->folder, of_result, temporary ? "." : "", name,
                 suffix);
    else
        snprintf(path, size, "%s/%s%s%08llu%s", s->folder, of_result, temporary ? "." : "",
                 (unsigned long long)number, suffix);
}

static bool sink_put_file(struct sink *s, uint32_t result, uint64_t number, const char *name,
                          struct chunk *chunk, struct error *err)
{
    char path[4096], beside[4096];
    sink_file_name(s, result, number, name, false, path, sizeof path);
    sink_file_name(s, result, number, name, true, beside, sizeof beside);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0;
    for (size_t done = 0; good && done < chunk->size;) {
        ssize_t n = write(fd, (char *)chunk_bytes(chunk) + done, chunk->size - done);
        good = n >= 0 || errno == EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    int reason = errno;
    good = (fd < 0 || close(fd) == 0) && good;
    if (good && rename(beside, path) == 0) /* I2 */
        return true;
    reason = good ? errno : reason;
    unlink(beside);
    return error_set(err, ERROR_FAILED, "%s: cannot write: %s", path, strerror(reason));
}

static int sink_compare_claims(const void *a, const void *b)
{
    const struct sink_claim *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static void sink_free_claim(void *claim)
{
    struct sink_claim *c = claim;
    (free)(c->path); /* of strdup() */
    (free)(c->name);
    (free)(c);
}

/* One result's file. A name that has claimed it before claims it again: that is the same item. */
static bool sink_claim_file(struct sink *s, uint32_t result, const char *name, struct error *err)
{
    char path[4096];
    sink_file_name(s, result, 0, name, false, path, sizeof path);
    struct sink_claim wanted = {.path = path};
    struct sink_claim *const *had = tfind(&wanted, &s->claims, sink_compare_claims);
    if (had)
        return strcmp((*had)->name, name) == 0 ||
               error_set(err, ERROR_INPUT,
                         "%s: the results of '%s' and of '%s' would both have that name, and one "
                         "of them be "
                         "lost; give one of the two another name",
                         path, (*had)->name, name);
    struct sink_claim *c = calloc(1, sizeof *c);
    if (c) {
        c->path = strdup(path);
        c->name = strdup(name);
    }
    if (c && c->path && c->name && tsearch(c, &s->claims, sink_compare_claims))
        return true;
    if (c)
        sink_free_claim(c);
    return error_set(err, ERROR_FAILED, "%s: no memory for the names", s->folder);
}

/* Where results have no suffix, names are as different as those of the source. */
bool sink_claim(struct sink *s, const char *name, struct error *err)
{
    bool good = true;
    for (uint32_t i = 0; s->kind == SINK_FOLDER && good && i < s->n; i++) {
        const char *base = file_basename(s->names[i]);
        if (base[file_stem_length(base)])
            good = sink_claim_file(s, i, name, err);
    }
    return good;
}

/* ---- functions ---- */

static bool sink_call(struct sink *s, uint64_t number, struct chunk *const *chunks,
                      struct error *err)
{
    struct handling *h = &s->handling;
    h->item.number = number;
    h->item.name = "sink";
    h->item.attempt = 1;
    h->item.nin = s->n;
    h->item.nout = 0;
    for (uint32_t i = 0; i < s->n; i++) /* nothing: no address, unlike an item without bytes */
        h->view[i] = chunks[i] ? (struct weft_piece){chunk_bytes(chunks[i]), chunks[i]->size}
                               : (struct weft_piece){NULL, 0};
    int status = s->function(&h->item);
    return status == 0 ||
           error_set(err, ERROR_FAILED, "%s: the function returned %d for item %llu",
                     s->text ? s->text : "the sink", status, (unsigned long long)number);
}

bool sink_put(struct sink *s, uint64_t number, const char *name, struct chunk *const *chunks,
              struct error *err)
{
    bool good = true;
    switch (s->kind) {
    case SINK_NOTHING:
        break;
    case SINK_LINES:
        good = sink_put_line(s, chunks[0], err);
        break;
    case SINK_FRAMES:
        good = sink_put_frame(s, number, chunks[0], err);
        break;
    case SINK_FOLDER:
        for (uint32_t i = 0; i < s->n; i++)
            good = good && (!chunks[i] || sink_put_file(s, i, number, name, chunks[i], err));
        break;
    case SINK_FUNCTION:
        good = sink_call(s, number, chunks, err);
        break;
    }
    s->unsent += good && s->fd >= 0;
    return good;
}

/* ---- opening ---- */

static bool sink_make_folder(const char *path, struct error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ||
           error_set(err, ERROR_FAILED, "%s: cannot make the folder: %s", path, strerror(errno));
}

/* Results are told apart by the last part of their names. */
static bool sink_names_differ(const struct sink *s, struct error *err)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(file_basename(s->names[i]), file_basename(s->names[k])) == 0)
                return error_set(err, ERROR_INPUT,
                                 "--to %s: the results '%s' and '%s' would have one folder and the "
                                 "same files; give "
                                 "them different names in the workflow",
                                 s->text, s->names[k], s->names[i]);
    return true;
}

/* Several results have a folder each, so that their files may be called alike. */
static bool sink_open_folder(struct sink *s, const char *path, struct error *err)
{
    s->kind = SINK_FOLDER;
    s->folder = mem_copy_string(path);
    for (size_t n = strlen(path); n > 1 && s->folder[n - 1] == '/'; n--)
        s->folder[n - 1] = 0;
    bool good = sink_names_differ(s, err) && sink_make_folder(s->folder, err);
    for (uint32_t i = 0; good && s->n > 1 && i < s->n; i++) {
        struct strbuf of_result = {0};
        strbuf_printf(&of_result, "%s/%s", s->folder, file_basename(s->names[i]));
        good = sink_make_folder(of_result.at, err);
        strbuf_free(&of_result);
    }
    return good;
}

static bool sink_open_file(struct sink *s, const char *path, enum sink_kind kind, struct error *err)
{
    s->kind = kind;
    s->fd = strcmp(path, "-") == 0 ? fcntl(1, F_DUPFD_CLOEXEC, 3)
                                   : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (s->fd < 0)
        return error_set(err, ERROR_FAILED, "%s: cannot write: %s", path, strerror(errno));
    s->sort = sink_sort_of(s->fd);
    return true;
}

/* As for sources, but a file that is not there yet may be meant: a slash says folder. */
static bool sink_choose(struct sink *s, const char *to, struct filters *filters, struct error *err)
{
    struct stat stat_of;
    size_t length = strlen(to);
    if (strncmp(to, "call:", 5) == 0) {
        s->kind = SINK_FUNCTION;
        s->function = filters_function(filters, to + 5, err);
        handling_open(&s->handling, s->n, &s->never);
        return s->function;
    }
    if ((length && to[length - 1] == '/') || (stat(to, &stat_of) == 0 && S_ISDIR(stat_of.st_mode)))
        return sink_open_folder(s, to, err);
    if (s->n != 1)
        return error_set(
            err, ERROR_INPUT,
            "--to %.200s: the stream has %u results an item; a folder (with a slash at "
            "its end) or a function takes that many, this takes one",
            to, s->n);
    if (strncmp(to, "frames:", 7) == 0)
        return sink_open_file(s, to + 7, SINK_FRAMES, err);
    if (ends_is_socket(to)) {
        s->kind = SINK_FRAMES;
        s->fd = ends_socket(to, &s->listens, err);
        s->sort = SINK_SOCKET;
        return s->fd >= 0;
    }
    return sink_open_file(s, to, SINK_LINES, err);
}

struct sink *sink_open(const char *to, struct filters *filters, const char *const *names,
                       uint32_t n, const atomic_int *halt, struct error *err)
{
    struct sink *s = mem_new_zero(struct sink, 1);
    s->fd = -1;
    s->halt = halt;
    s->n = n;
    s->names = names;
    if (!to)
        return s;
    s->buffer = mem_alloc(OUTLET);
    s->text = mem_copy_string(to);
    if (sink_choose(s, to, filters, err))
        return s;
    struct error ignored = {0};
    sink_close(s, &ignored);
    return NULL;
}

void sink_heed(struct sink *s, const atomic_int *halt)
{
    s->halt = halt;
}

struct sink *sink_of_function(weft_filter_function function, void *context, uint32_t n)
{
    struct sink *s = mem_new_zero(struct sink, 1);
    s->kind = SINK_FUNCTION;
    s->function = function;
    s->n = n;
    s->fd = -1;
    handling_open(&s->handling, n, &s->never);
    s->handling.item.context = context;
    return s;
}

/* A disk that is full may say so only now. */
bool sink_close(struct sink *s, struct error *err)
{
    if (!s)
        return true;
    bool good = sink_flush(s, err);
    if (s->fd >= 0 && close(s->fd) != 0 && good)
        good = sink_fails(s, "write", err);
    handling_close(&s->handling);
    tdestroy(s->claims, sink_free_claim);
    free(s->buffer);
    free(s->text);
    free(s->folder);
    free(s);
    return good;
}
