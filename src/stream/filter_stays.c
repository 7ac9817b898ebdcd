/* Commands that stay. Items go to them and come back as frames, one pipe a port:
 *
 *     bytes    0 .. 7     8 .. 15    16 ...
 *              length     number     that many bytes
 *
 * both little-endian; a length of all ones is an item of which there is nothing. The first input is
 * descriptor 0, the first output 1; further inputs are 3, 4 ..., further outputs follow them.
 *
 * I1. One item at a time: all its frames are written and all answers read before the next. Both go on
 *     in one poll(), so that it does not matter in which order the command reads and writes.
 * I2. Our ends of pipes do not block and are closed on exec, so that one filter does not keep
 *     another's pipe open.
 * I3. Whatever goes wrong ends the process: what it knows of the item is not known. The next try
 *     starts another. */
#include "stream/filter.h"
#include "stream/spawning.h"

#include "base/clock.h"
#include "base/tree.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEAD = 16, FIRST_OURS = 1000 };
static const double look_again = 0.1; /* seconds between looks at `halt` */
static const double long_silence = 5; /* until somebody is told; programs may be long in starting */

/* ---- pipes ---- */

/* Our end of a new pipe in `ours`, the process's in `theirs`, above the numbers that it will have. */
static bool stays_pipe(bool to_it, int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int theirs_now = ends[to_it ? 0 : 1];
    *ours = ends[to_it ? 1 : 0];
    *theirs = fcntl(theirs_now, F_DUPFD_CLOEXEC, FIRST_OURS);
    if (*theirs < 0) /* few descriptors are allowed: as high as it goes */
        *theirs = fcntl(theirs_now, F_DUPFD_CLOEXEC, 64);
    close(theirs_now);
    fcntl(*ours, F_SETFL, O_NONBLOCK);
    return *theirs >= 0;
}

/* Our ends. What an unfinished answer has brought goes with them. */
static void stays_close(const struct filter *f, struct station *s)
{
    for (uint32_t i = 0; s->in && i < f->nin + f->nout; i++) {
        struct station_port *p = i < f->nin ? &s->in[i] : &s->out[i - f->nin];
        if (p->fd >= 0)
            close(p->fd);
        p->fd = -1;
        chunk_free(p->chunk);
        p->chunk = NULL;
    }
}

/* Which of the process's descriptors a port has: 0 and 1 first (spawning.h numbers the rest). */
static uint32_t stays_place(const struct filter *f, uint32_t port, bool in)
{
    if (port == 0)
        return in ? 0 : 1;
    return in ? port + 1 : (f->nin ? f->nin : 1) + port;
}

/* A process with its pipes. The arrays of ports live as long as the station: processes come and go. */
static bool stays_start(const struct filters *all, const struct filter *f, struct station *s,
                        struct handling *h)
{
    uint32_t n = 2 + f->nin + f->nout;
    int *theirs = calloc(n, sizeof *theirs);
    if (!s->in) {
        s->in = calloc(f->nin + 1, sizeof *s->in);
        s->out = calloc(f->nout + 1, sizeof *s->out);
    }
    if (!theirs || !s->in || !s->out) {
        (free)(theirs);
        snprintf(h->why, sizeof h->why, "it cannot be started: no memory");
        return false;
    }
    memset(theirs, 0xff, n * sizeof *theirs);
    bool good = true;
    for (uint32_t i = 0; i < f->nin + f->nout; i++) {
        bool in = i < f->nin;
        struct station_port *p = in ? &s->in[i] : &s->out[i - f->nin];
        *p = (struct station_port){.fd = -1};
        good = good && stays_pipe(in, &p->fd, &theirs[stays_place(f, in ? i : i - f->nin, in)]);
    }
    if (!good)
        snprintf(h->why, sizeof h->why, "it cannot be started: no pipe: %s", strerror(errno));
    struct spawning how = {.descriptors = theirs, .n = n, .folder = all->folder};
    good = good && spawning_start(f, &how, &s->pid, h->why, sizeof h->why);
    for (uint32_t i = 0; i < n; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    (free)(theirs);
    if (!good)
        stays_close(f, s);
    s->starts += good;
    return good;
}

/* ---- one item ---- */

/* As much of the frame as the pipe takes. False: nobody reads it. */
static bool stays_write(struct station_port *p, struct chunk *chunk)
{
    size_t size = chunk ? chunk->size : 0;
    while (p->done < HEAD + size) {
        struct iovec parts[2];
        int n = 0;
        if (p->done < HEAD)
            parts[n++] = (struct iovec){(char *)p->head + p->done, HEAD - p->done};
        size_t from = p->done < HEAD ? 0 : p->done - HEAD;
        if (size > from)
            parts[n++] = (struct iovec){(char *)chunk_bytes(chunk) + from, size - from};
        ssize_t wrote = writev(p->fd, parts, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN;
        p->done += (size_t)wrote;
    }
    return true;
}

/* Where the bytes that come next belong, and how many are still wanted; 0: the frame is whole. */
static size_t stays_wants(struct station_port *p, char **to)
{
    if (p->done < HEAD) {
        *to = (char *)p->head + p->done;
        return HEAD - p->done;
    }
    if (!p->chunk)
        return 0;
    *to = (char *)chunk_bytes(p->chunk) + (p->done - HEAD);
    return p->chunk->size - (p->done - HEAD);
}

/* The head is there: is it this item's, and is there room for it? */
static bool stays_accept(struct station_port *p, uint32_t port, struct handling *h)
{
    uint64_t length = le64toh(p->head[0]), number = le64toh(p->head[1]);
    if (number != h->item.number) {
        snprintf(h->why, sizeof h->why,
                 "its output %u answered item %llu when it had been given item %llu; a frame is "
                 "length and number (8 bytes each, little-endian), then the bytes",
                 port, (unsigned long long)number, (unsigned long long)h->item.number);
        return false;
    }
    if (length == UINT64_MAX)
        return true;
    p->chunk = chunk_new(length);
    if (!p->chunk)
        snprintf(h->why, sizeof h->why,
                 "its output %u announced %llu bytes, and there is no memory", port,
                 (unsigned long long)length);
    return p->chunk;
}

/* False: it has ended, or said what it should not; h->why is empty for the former. */
static bool stays_read(struct station_port *p, uint32_t port, struct handling *h)
{
    char *to;
    for (size_t want; (want = stays_wants(p, &to)) > 0;) {
        ssize_t got = read(p->fd, to, want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0)
            return false;
        p->done += (size_t)got;
        if (p->done == HEAD && !stays_accept(p, port, h))
            return false;
    }
    return true;
}

static bool stays_whole(struct station_port *p)
{
    char *to;
    return stays_wants(p, &to) == 0;
}

/* Pipes that have something left to do; none: the item is through. */
static uint32_t stays_watch(const struct filter *f, struct station *s, const struct handling *h,
                            struct pollfd *polls)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nin; i++)
        if (s->in[i].done < HEAD + (h->in[i] ? h->in[i]->size : 0))
            polls[n++] = (struct pollfd){.fd = s->in[i].fd, .events = POLLOUT};
    for (uint32_t i = 0; i < f->nout; i++)
        if (!stays_whole(&s->out[i]))
            polls[n++] = (struct pollfd){.fd = s->out[i].fd, .events = POLLIN};
    return n;
}

/* A program that knows nothing of frames may read on for ever. */
static void stays_remind(const struct filters *all, const struct filter *f, struct station *s,
                         const struct handling *h, double waited)
{
    char text[400];
    if (!all->say || s->answered || s->reminded || waited < long_silence)
        return;
    s->reminded = true;
    snprintf(
        text, sizeof text,
        "task '%s' has not answered its first item (%llu) for %g s: a command that stays answers "
        "each item with a frame before it gets the next; `per_item: true` starts a program for "
        "each item, with files",
        f->name, (unsigned long long)h->item.number, long_silence);
    all->say(all->context, text);
}

/* Tries first and waits then: an answer is often there by the time that all is written. */
static enum filter_verdict stays_exchange(const struct filters *all, const struct filter *f,
                                          struct station *s, struct handling *h,
                                          struct pollfd *polls)
{
    double began = clock_seconds();
    for (;;) {
        bool good = true;
        for (uint32_t i = 0; i < f->nin; i++)
            good = good && stays_write(&s->in[i], h->in[i]);
        for (uint32_t i = 0; good && i < f->nout; i++)
            good = stays_read(&s->out[i], i, h);
        if (!good)
            return FILTER_FAILED;
        uint32_t n = stays_watch(f, s, h, polls);
        if (!n)
            return FILTER_DONE;
        double left = isfinite(f->timeout) ? began + f->timeout - clock_seconds() : look_again;
        if (left <= 0) {
            snprintf(h->why, sizeof h->why, "it took longer than its timeout of %g s", f->timeout);
            return FILTER_FAILED;
        }
        poll(polls, n, (int)ceil((left < look_again ? left : look_again) * 1000));
        if (atomic_load_explicit(h->halt, memory_order_relaxed) > 1)
            return FILTER_HALTED;
        stays_remind(all, f, s, h, clock_seconds() - began);
    }
}

/* Ready for the next item. */
static void stays_reset(const struct filter *f, struct station *s, const struct handling *h)
{
    for (uint32_t i = 0; i < f->nin; i++) {
        s->in[i].done = 0;
        s->in[i].head[0] = htole64(h->in[i] ? h->in[i]->size : 0);
        s->in[i].head[1] = htole64(h->item.number);
    }
    for (uint32_t i = 0; i < f->nout; i++) {
        s->out[i].done = 0;
        chunk_free(s->out[i].chunk);
        s->out[i].chunk = NULL;
    }
}

/* I3. An end without a word (a crash) is told by how the process ended; it may take a moment to be seen. */
enum filter_verdict filter_stays_run(const struct filters *all, const struct filter *f,
                                     struct station *s, struct handling *h)
{
    h->why[0] = 0;
    if (!s->pid && !stays_start(all, f, s, h))
        return FILTER_FAILED;
    struct pollfd *polls = calloc(f->nin + f->nout + 1, sizeof *polls);
    if (!polls)
        return FILTER_FAILED;
    stays_reset(f, s, h);
    enum filter_verdict verdict = stays_exchange(all, f, s, h, polls);
    (free)(polls);
    if (verdict == FILTER_DONE) {
        s->answered = true;
        for (uint32_t i = 0; i < f->nout; i++) {
            h->out[i] = s->out[i].chunk;
            s->out[i].chunk = NULL;
        }
        return verdict;
    }
    /* closed pipes: it is ending, and how it ends is what there is to say; one that goes on has closed them itself */
    char text[128];
    stays_close(f, s);
    bool silent = !h->why[0] && verdict == FILTER_FAILED;
    int status = -1;
    pid_t ended = 0;
    for (int i = 0; silent && i < 100 && (ended = waitpid(s->pid, &status, WNOHANG)) == 0; i++)
        usleep(10000);
    if (ended > 0) {
        kill(-s->pid, SIGKILL); /* the rest of its group */
        s->pid = 0;
    } else {
        station_kill(s);
    }
    if (silent && ended)
        snprintf(h->why, sizeof h->why, "it %s before it answered",
                 station_end_text(ended > 0 ? status : -1, text, sizeof text));
    else if (silent) /* it goes on, and would be here for ever */
        snprintf(h->why, sizeof h->why, "it closed its input or its output before it answered");
    return verdict;
}

/* It has ended: whatever is still in its pipes answers nobody. */
static bool stays_wrote_more(const struct filter *f, const struct station *s, struct handling *h)
{
    char byte;
    for (uint32_t i = 0; i < f->nout; i++)
        if (s->out[i].fd >= 0 && read(s->out[i].fd, &byte, 1) > 0) {
            snprintf(h->why, sizeof h->why,
                     "has written more to its output %u than a frame for each item; an answer may "
                     "be wrong",
                     i);
            return true;
        }
    return false;
}

/* Outputs stay open while it ends: it may have something to write, and must not die of that. */
bool station_close(const struct filter *f, struct station *s, struct handling *h, double seconds)
{
    char text[128];
    int status = 0;
    bool good = true;
    if (s->pid) {
        /* inputs first: their end is what it waits for; outputs stay open, it may flush */
        for (uint32_t i = 0; i < f->nin; i++)
            if (s->in[i].fd >= 0) {
                close(s->in[i].fd);
                s->in[i].fd = -1;
            }
        double until = clock_seconds() + seconds;
        pid_t ended;
        while ((ended = waitpid(s->pid, &status, WNOHANG)) == 0 && clock_seconds() < until)
            usleep(1000);
        if (ended > 0) {
            kill(-s->pid, SIGKILL);
            s->pid = 0;
        } else {
            station_kill(s);
        }
        good = ended > 0 && status == 0;
        if (!good && ended > 0)
            snprintf(h->why, sizeof h->why, "%s after its last item",
                     station_end_text(status, text, sizeof text));
        else if (good)
            good = !stays_wrote_more(f, s, h);
        else
            snprintf(h->why, sizeof h->why,
                     "did not end within %g s after its last item, when its inputs were closed",
                     seconds);
    }
    stays_close(f, s);
    (free)(s->in);
    (free)(s->out);
    s->in = s->out = NULL;
    if (s->folder)
        tree_remove(s->folder);
    (free)(s->folder);
    s->folder = NULL;
    return good;
}
