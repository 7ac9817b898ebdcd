/* Sources. One thread at a time asks for the next item; it may be any worker, so that blocks here are
 * the C library's, and an item that finds no memory is an error of the stream.
 *
 * I1. Whatever waits, waits for `wake` too: a stream that is stopped gives no more items. (What never waits is not
 *     asked any more: flow_take().)
 * I2. A file of a folder is an item once, also where it was seen both in the list and by the watch. */
#include "stream/ends.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "base/tree.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum source_kind {
    SOURCE_NOTHING,
    SOURCE_LINES,
    SOURCE_FRAMES,
    SOURCE_FOLDER,
    SOURCE_CLOCK,
    SOURCE_FUNCTION
};

enum { INLET = 1 << 16, FRAME_HEAD = 16 };

struct source {
    enum source_kind kind;
    char *text; /* as the user said it */
    int wake;
    /* lines, frames */
    int fd;
    bool listens, eof;
    char *buffer;
    size_t at, have, room;
    /* a folder */
    char *folder;
    int watch; /* -1: not watched */
    ARRAY(char *) names;
    size_t taken;
    void *seen; /* tsearch(3) of names; I2 */
    /* a clock */
    double period, began;
    uint64_t ticks;
    /* a function */
    weft_filter_function function;
    struct handling handling;
    atomic_int never; /* the function is not halted */
};

static enum source_answer source_fails(struct source *s, const char *what, struct error *err)
{
    error_set(err, ERROR_FAILED, "%s: cannot %s: %s", s->text, what, strerror(errno));
    return SOURCE_FAILED;
}

/* Until there is something to read, or `seconds` have passed. END: the stream is stopped. */
static enum source_answer source_wait(struct source *s, int fd, double seconds)
{
    struct pollfd polls[2] = {{.fd = s->wake, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec limit = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    ppoll(polls, 2, isfinite(seconds) ? &limit : NULL, NULL);
    return polls[0].revents ? SOURCE_END : SOURCE_ITEM;
}

/* ---- bytes ---- */

/* More bytes behind those that are there. ITEM: some came, or it is at its end. */
static enum source_answer source_fill(struct source *s, bool wait, struct error *err)
{
    struct pollfd ready = {.fd = s->fd, .events = POLLIN};
    if (!wait && poll(&ready, 1, 0) == 0)
        return SOURCE_LATER;
    if (wait && source_wait(s, s->fd, INFINITY) == SOURCE_END)
        return SOURCE_END;
    if (s->listens) { /* the first connection is the source */
        int connection = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0)
            return source_fails(s, "accept a connection", err);
        close(s->fd);
        s->fd = connection;
        s->listens = false;
        return SOURCE_ITEM;
    }
    if (s->at && s->have + INLET / 2 > s->room) {
        memmove(s->buffer, s->buffer + s->at, s->have - s->at);
        s->have -= s->at;
        s->at = 0;
    }
    if (s->have + INLET / 2 > s->room) { /* a long line */
        size_t room = s->room ? s->room * 2 : INLET;
        char *grown = realloc(s->buffer, room);
        if (!grown)
            return source_fails(s, "keep a line", err);
        s->buffer = grown;
        s->room = room;
    }
    ssize_t got = read(s->fd, s->buffer + s->have, s->room - s->have);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return source_fails(s, "read", err);
    s->eof = got == 0;
    s->have += got > 0 ? (size_t)got : 0;
    return SOURCE_ITEM;
}

/* A last line without an end is a line. `looked`: bytes known to have no end of a line, so that a line
 * that comes in many parts is looked through once. */
static enum source_answer source_line(struct source *s, bool wait, struct chunk **chunk,
                                      struct error *err)
{
    size_t looked = 0;
    for (;;) {
        char *from = s->buffer + s->at;
        size_t n = s->have - s->at;
        char *end = n > looked ? memchr(from + looked, '\n', n - looked) : NULL;
        if (end || (s->eof && n)) {
            size_t length = end ? (size_t)(end - from) : n;
            *chunk = chunk_of(from, length);
            s->at += length + (end != NULL);
            return *chunk ? SOURCE_ITEM : source_fails(s, "keep a line", err);
        }
        if (s->eof)
            return SOURCE_END;
        looked = n;
        enum source_answer answer = source_fill(s, wait, err);
        if (answer != SOURCE_ITEM)
            return answer;
    }
}

/* The rest of a frame straight into its chunk: large ones are not copied twice. */
static enum source_answer source_frame_bytes(struct source *s, struct chunk *chunk,
                                             struct error *err)
{
    size_t done = s->have - s->at < chunk->size ? s->have - s->at : chunk->size;
    memcpy(chunk_bytes(chunk), s->buffer + s->at, done);
    s->at += done;
    while (done < chunk->size) {
        if (source_wait(s, s->fd, INFINITY) == SOURCE_END)
            return SOURCE_END;
        ssize_t got = read(s->fd, (char *)chunk_bytes(chunk) + done, chunk->size - done);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return source_fails(s, "read", err);
        if (got == 0) {
            error_set(err, ERROR_FAILED,
                      "%s: it ends inside a frame: %zu of its %zu bytes are there", s->text, done,
                      chunk->size);
            return SOURCE_FAILED;
        }
        done += (size_t)got;
    }
    return SOURCE_ITEM;
}

/* Numbers in frames are those of whoever sent them: items are numbered as they come. */
static enum source_answer source_frame(struct source *s, bool wait, struct chunk **chunk,
                                       struct error *err)
{
    uint64_t head[2];
    while (s->have - s->at < FRAME_HEAD) {
        if (s->eof && s->have == s->at)
            return SOURCE_END;
        if (s->eof) {
            error_set(err, ERROR_FAILED,
                      "%s: it ends inside a frame's head; a frame is length and number (8 bytes "
                      "each, little-endian), then the bytes",
                      s->text);
            return SOURCE_FAILED;
        }
        enum source_answer answer = source_fill(s, wait, err);
        if (answer != SOURCE_ITEM)
            return answer;
    }
    memcpy(head, s->buffer + s->at, sizeof head);
    s->at += sizeof head;
    uint64_t size = le64toh(head[0]);
    if (size == UINT64_MAX) /* there is nothing of it, as a sink of frames says */
        return SOURCE_ITEM;
    *chunk = chunk_new(size);
    if (!*chunk) {
        error_set(err, ERROR_FAILED, "%s: a frame announces %llu bytes, and there is no memory",
                  s->text, (unsigned long long)size);
        return SOURCE_FAILED;
    }
    return source_frame_bytes(s, *chunk, err);
}

/* ---- folders ---- */

static int source_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Takes the name. I2; what begins with a dot is somebody's unfinished business. */
static bool source_add_name(struct source *s, const char *name)
{
    if (name[0] == '.' || tfind(name, &s->seen, source_compare))
        return true;
    char *copy = strdup(name);
    char **grown = realloc(s->names.at, (s->names.n + 1) * sizeof *grown);
    if (grown)
        s->names.at = grown;
    if (!copy || !grown || !tsearch(copy, &s->seen, source_compare)) {
        (free)(copy); /* of strdup() */
        return false;
    }
    s->names.at[s->names.n++] = copy;
    return true;
}

/* In the order of their names, as a shell would list them. */
static bool source_list(struct source *s, struct error *err)
{
    folder_names names = {0};
    if (!folder_list(s->folder, &names)) {
        error_set(err, ERROR_FAILED, "%s: cannot list the folder: %s", s->folder, strerror(errno));
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < names.n; i++)
        good = good && source_add_name(s, names.at[i]);
    folder_names_free(&names);
    return good || error_set(err, ERROR_FAILED, "%s: no memory for the names", s->folder);
}

/* Names of files that were closed or moved in since. A folder that is gone gets no more. */
static bool source_events(struct source *s, struct error *err)
{
    _Alignas(struct inotify_event) char bytes[8192];
    ssize_t n = read(s->watch, bytes, sizeof bytes);
    bool good = true;
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const struct inotify_event *)(bytes + at);
        if (e->mask & IN_IGNORED)
            good = good &&
                   error_set(err, ERROR_FAILED,
                             "%s: the folder is gone, or what it lies on: no more files can come",
                             s->text);
        else if (e->mask & IN_Q_OVERFLOW)
            good = good && source_list(s, err); /* what was missed is in the list */
        else if (e->len)
            good = good && source_add_name(s, e->name);
        at += (ssize_t)(sizeof *e + e->len);
    }
    return good;
}

/* A whole file. LATER: it is no file, or it has come and gone in a folder that is watched; of a list, one that is gone
 * would be missed. */
static enum source_answer source_load(struct source *s, const char *name, struct chunk **chunk,
                                      struct error *err)
{
    char path[4096];
    struct stat stat;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && s->watch >= 0)
        return SOURCE_LATER;
    bool good = fd >= 0 && fstat(fd, &stat) == 0;
    bool file = good && S_ISREG(stat.st_mode);
    size_t done = 0;
    if (file)
        good = (*chunk = chunk_new((size_t)stat.st_size));
    while (file && good && done < (*chunk)->size) {
        ssize_t got = read(fd, (char *)chunk_bytes(*chunk) + done, (*chunk)->size - done);
        good = got > 0 || (got < 0 && errno == EINTR);
        done += got > 0 ? (size_t)got : 0;
    }
    if (!good)
        error_set(err, ERROR_FAILED, "%s: cannot read: %s", path,
                  errno ? strerror(errno) : "it became shorter meanwhile");
    if (fd >= 0)
        close(fd);
    return !good ? SOURCE_FAILED : file ? SOURCE_ITEM : SOURCE_LATER;
}

/* What is known first, then what the watch has to tell. */
static enum source_answer source_file(struct source *s, bool wait, struct chunk **chunk,
                                      char **name, struct error *err)
{
    for (;;) {
        while (s->taken < s->names.n) {
            const char *next = s->names.at[s->taken++];
            errno = 0;
            enum source_answer answer = source_load(s, next, chunk, err);
            if (answer == SOURCE_LATER)
                continue;
            if (answer == SOURCE_ITEM && !(*name = strdup(next)))
                return source_fails(s, "keep a name", err);
            return answer;
        }
        if (s->watch < 0)
            return SOURCE_END;
        struct pollfd ready = {.fd = s->watch, .events = POLLIN};
        if (!wait && poll(&ready, 1, 0) == 0)
            return SOURCE_LATER;
        if (wait && source_wait(s, s->watch, INFINITY) == SOURCE_END)
            return SOURCE_END;
        if (!source_events(s, err))
            return SOURCE_FAILED;
    }
}

/* ---- clocks and functions ---- */

static enum source_answer source_tick(struct source *s, bool wait, uint64_t number,
                                      struct chunk **chunk, struct error *err)
{
    char text[32];
    if (!s->began)
        s->began = clock_seconds();
    /* by count, not by adding periods: an hour has exactly as many as it should */
    double left = s->began + (double)s->ticks * s->period - clock_seconds();
    if (left > 0 && !wait)
        return SOURCE_LATER;
    if (left > 0 && source_wait(s, -1, left) == SOURCE_END)
        return SOURCE_END;
    s->ticks++;
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    *chunk = chunk_of(text, (size_t)n);
    return *chunk ? SOURCE_ITEM : source_fails(s, "make an item", err);
}

/* A function is asked until it gives nothing. It may take its time: others carry items meanwhile. */
static enum source_answer source_call(struct source *s, uint64_t number, struct chunk **chunk,
                                      struct error *err)
{
    struct handling *h = &s->handling;
    h->item.number = number;
    h->item.name = "source";
    h->item.attempt = 1;
    h->item.nin = 0;
    h->item.nout = 1;
    int status = s->function(&h->item);
    *chunk = h->out[0];
    h->out[0] = NULL;
    if (status == 0)
        return *chunk ? SOURCE_ITEM : SOURCE_END;
    chunk_free(*chunk);
    *chunk = NULL;
    error_set(err, ERROR_FAILED, "%s: the function returned %d for item %llu",
              s->text ? s->text : "the source", status, (unsigned long long)number);
    return SOURCE_FAILED;
}

enum source_answer source_next(struct source *s, bool wait, uint64_t number, struct chunk **chunk,
                               char **name, struct error *err)
{
    enum source_answer answer = SOURCE_ITEM;
    *chunk = NULL;
    *name = NULL;
    if (s->kind == SOURCE_LINES)
        answer = source_line(s, wait, chunk, err);
    else if (s->kind == SOURCE_FRAMES)
        answer = source_frame(s, wait, chunk, err);
    else if (s->kind == SOURCE_FOLDER)
        answer = source_file(s, wait, chunk, name, err);
    else if (s->kind == SOURCE_CLOCK)
        answer = source_tick(s, wait, number, chunk, err);
    else if (s->kind == SOURCE_FUNCTION)
        answer = source_call(s, number, chunk, err);
    if (answer != SOURCE_ITEM) {
        chunk_free(*chunk);
        *chunk = NULL;
    }
    return answer;
}

const char *source_known(const struct source *s, size_t i)
{
    return i < s->names.n ? s->names.at[i] : NULL;
}

/* ---- opening ---- */

/* The watch begins before the list is read, so that no file falls between the two (I2). */
static bool source_open_folder(struct source *s, const char *path, bool watched, struct error *err)
{
    s->kind = SOURCE_FOLDER;
    s->folder = mem_copy_string(path);
    if (watched) {
        s->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (s->watch < 0 || inotify_add_watch(s->watch, path, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
            return error_set(err, ERROR_FAILED, "%s: cannot watch the folder: %s", path,
                             strerror(errno));
    }
    return source_list(s, err);
}

static bool source_open_file(struct source *s, const char *path, enum source_kind kind,
                             struct error *err)
{
    s->kind = kind;
    s->fd =
        strcmp(path, "-") == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    return s->fd >= 0 || error_set(err, ERROR_INPUT, "%s: cannot read: %s", path, strerror(errno));
}

static bool source_open_clock(struct source *s, const char *rate, struct error *err)
{
    double items;
    s->kind = SOURCE_CLOCK;
    if (!quantity_number(rate, strlen(rate), &items) || items <= 0)
        return error_set(err, ERROR_INPUT, "clock:%s: expected items a second, as in clock:25",
                         rate);
    s->period = 1 / items;
    return true;
}

/* Words with a colon first: a folder that is called clock:5 can be written ./clock:5. */
static bool source_choose(struct source *s, const char *from, struct filters *filters,
                          struct error *err)
{
    struct stat stat_of;
    if (strncmp(from, "clock:", 6) == 0)
        return source_open_clock(s, from + 6, err);
    if (strncmp(from, "watch:", 6) == 0)
        return source_open_folder(s, from + 6, true, err);
    if (strncmp(from, "frames:", 7) == 0)
        return source_open_file(s, from + 7, SOURCE_FRAMES, err);
    if (strncmp(from, "call:", 5) == 0) {
        s->kind = SOURCE_FUNCTION;
        s->function = filters_function(filters, from + 5, err);
        handling_open(&s->handling, 1, &s->never);
        return s->function;
    }
    if (ends_is_socket(from)) {
        s->kind = SOURCE_FRAMES;
        s->fd = ends_socket(from, &s->listens, err);
        return s->fd >= 0;
    }
    if (stat(from, &stat_of) == 0 && S_ISDIR(stat_of.st_mode))
        return source_open_folder(s, from, false, err);
    return source_open_file(s, from, SOURCE_LINES, err);
}

struct source *source_open(const char *from, struct filters *filters, int wake, struct error *err)
{
    struct source *s = mem_new_zero(struct source, 1);
    s->wake = wake;
    s->fd = s->watch = -1;
    if (!from)
        return s;
    s->text = mem_copy_string(from);
    if (source_choose(s, from, filters, err))
        return s;
    source_close(s);
    return NULL;
}

struct source *source_of_function(weft_filter_function function, void *context, int wake)
{
    struct source *s = mem_new_zero(struct source, 1);
    s->kind = SOURCE_FUNCTION;
    s->function = function;
    s->fd = s->watch = -1;
    s->wake = wake;
    handling_open(&s->handling, 1, &s->never);
    s->handling.item.context = context;
    return s;
}

static void source_keep_name(void *name)
{
    (void)name; /* `names` has it */
}

void source_close(struct source *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    if (s->watch >= 0)
        close(s->watch);
    tdestroy(s->seen, source_keep_name);
    for (size_t i = 0; i < s->names.n; i++)
        (free)(s->names.at[i]);
    (free)(s->names.at);
    (free)(s->buffer);
    handling_close(&s->handling);
    free(s->folder);
    free(s->text);
    free(s);
}
