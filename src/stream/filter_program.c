/* Commands that are started for each item: its data are files of a folder that belongs to one worker's
 * station, under the names that the workflow has. Any program will do; a process an item is the price.
 *
 * I1. The folder is empty before each try: what a failed one has left is no result.
 * I2. An output that the program has not made is an item of which there is nothing. Its exit status
 *     says whether that is so on purpose. */
#include "stream/filter.h"
#include "stream/spawning.h"

#include "base/clock.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool program_fails(struct handling *h, const char *what, const char *name)
{
    snprintf(h->why, sizeof h->why, "cannot %s %.300s: %s", what, name, strerror(errno));
    return false;
}

/* Folders above a name, below the station's own. */
static bool program_parents(int folder, const char *name)
{
    char part[4096];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t n = (size_t)(slash - name);
        if (n == 0 || n >= sizeof part)
            continue;
        memcpy(part, name, n);
        part[n] = 0;
        if (mkdirat(folder, part, 0777) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* An input as a file. */
static bool program_put(int folder, const char *name, struct chunk *chunk, struct handling *h)
{
    if (!program_parents(folder, name))
        return program_fails(h, "make the folder of", name);
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return program_fails(h, "make", name);
    for (size_t done = 0; chunk && done < chunk->size;) {
        ssize_t n = write(fd, (char *)chunk_bytes(chunk) + done, chunk->size - done);
        if (n < 0 && errno != EINTR) {
            close(fd);
            return program_fails(h, "write", name);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return close(fd) == 0 || program_fails(h, "write", name);
}

/* An output, if there is one. Its size is that of the file now: the program has ended. A pipe would be waited for. */
static bool program_take(int folder, const char *name, struct chunk **out, struct handling *h)
{
    struct stat stat;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || program_fails(h, "read", name); /* I2 */
    if (fstat(fd, &stat) == 0 && !S_ISREG(stat.st_mode)) {
        close(fd);
        snprintf(h->why, sizeof h->why,
                 "its output %.300s is a folder, a pipe or the like, and no file", name);
        return false;
    }
    bool good = fstat(fd, &stat) == 0 && (*out = chunk_new((size_t)stat.st_size));
    for (size_t done = 0; good && done < (*out)->size;) {
        ssize_t n = read(fd, (char *)chunk_bytes(*out) + done, (*out)->size - done);
        good = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    if (!good)
        program_fails(h, "read", name);
    close(fd);
    return good;
}

/* Waits for it; past its time, or when all is to stop, it is killed. */
static enum filter_verdict program_wait(const struct filter *f, struct station *s,
                                        struct handling *h, int *status)
{
    double until = clock_seconds() + f->timeout;
    int watch = (int)syscall(SYS_pidfd_open, s->pid, 0);
    enum filter_verdict verdict = FILTER_DONE;
    while (waitpid(s->pid, status, WNOHANG) == 0) {
        double left = fmin(until - clock_seconds(), 0.1); /* `halt` is looked at that often */
        if (atomic_load_explicit(h->halt, memory_order_relaxed) > 1)
            verdict = FILTER_HALTED;
        else if (left <= 0)
            verdict = FILTER_FAILED;
        if (verdict != FILTER_DONE) {
            *status = station_kill(s);
            snprintf(h->why, sizeof h->why, "it took longer than its timeout of %g s", f->timeout);
            break;
        }
        struct pollfd ended = {.fd = watch, .events = POLLIN};
        poll(&ended, watch >= 0, watch >= 0 ? (int)ceil(left * 1000) : 1);
    }
    if (watch >= 0)
        close(watch);
    if (s->pid)
        kill(-s->pid, SIGKILL); /* what it has left behind ends with it, as in runs */
    s->pid = 0;
    return verdict;
}

/* One a station, made when it is first needed, emptied each time. */
static bool program_folder(struct station *s, struct handling *h)
{
    if (!s->folder) {
        const char *parent = getenv("TMPDIR");
        char path[4096];
        snprintf(path, sizeof path, "%s/weft-stream-XXXXXX", parent && *parent ? parent : "/tmp");
        s->folder = strdup(path);
        if (!s->folder || !mkdtemp(s->folder)) {
            (free)(s->folder);
            s->folder = NULL;
            return program_fails(h, "make a folder like", path);
        }
        return true;
    }
    tree_remove(s->folder); /* I1 */
    return mkdir(s->folder, 0700) == 0 || program_fails(h, "make", s->folder);
}

/* Folders of outputs are made, too, as runs do. */
enum filter_verdict filter_program_run(const struct filters *all, const struct filter *f,
                                       struct station *s, struct handling *h)
{
    (void)all;
    char number[64], text[128];
    int status = 0;
    h->why[0] = 0;
    if (!program_folder(s, h))
        return FILTER_FAILED;
    int folder = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 || program_fails(h, "open", s->folder);
    for (uint32_t i = 0; good && i < f->nin; i++)
        good = program_put(folder, f->in[i], h->in[i], h);
    for (uint32_t i = 0; good && i < f->nout; i++)
        good =
            program_parents(folder, f->out[i]) || program_fails(h, "make the folder of", f->out[i]);
    snprintf(number, sizeof number, "WEFT_ITEM=%llu", (unsigned long long)h->item.number);
    struct spawning how = {.folder = s->folder, .variable = number};
    good = good && spawning_start(f, &how, &s->pid, h->why, sizeof h->why);
    enum filter_verdict verdict = good ? program_wait(f, s, h, &status) : FILTER_FAILED;
    if (verdict == FILTER_DONE && status != 0) {
        snprintf(h->why, sizeof h->why, "it %s", station_end_text(status, text, sizeof text));
        verdict = FILTER_FAILED;
    }
    for (uint32_t i = 0; verdict == FILTER_DONE && i < f->nout; i++)
        if (!program_take(folder, f->out[i], &h->out[i], h))
            verdict = FILTER_FAILED;
    if (folder >= 0)
        close(folder);
    if (verdict != FILTER_DONE)
        handling_clear(h);
    return verdict;
}
