/* Secrets in logs. The file is walked through in pieces that overlap by the length of the value, so
 * that none is missed that stands across the border of two. */
#include "exec/log_mask.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MASK_PIECE = 1 << 18 }; /* twice what a variable of the environment can hold */

/* A descriptor that appends writes at the end whatever it is told: one of its own. */
static int open_to_write(int log)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", log);
    return open(path, O_RDWR | O_CLOEXEC);
}

static bool put_stars(int fd, off_t at, size_t n)
{
    char stars[256];
    memset(stars, '*', sizeof stars);
    while (n) {
        size_t some = n < sizeof stars ? n : sizeof stars;
        if (pwrite(fd, stars, some, at) != (ssize_t)some)
            return false;
        at += (off_t)some;
        n -= some;
    }
    return true;
}

static bool mask_value(int fd, const char *value, size_t n, char *piece, size_t room)
{
    for (off_t at = 0;;) {
        ssize_t got = pread(fd, piece, room, at);
        if (got < 0)
            return false;
        if ((size_t)got < n)
            return true;
        const char *from = piece, *end = piece + got, *found;
        while ((found = memmem(from, (size_t)(end - from), value, n))) {
            if (!put_stars(fd, at + (found - piece), n))
                return false;
            from = found + n;
        }
        at += got - (off_t)n + 1;
    }
}

bool log_mask(int log, const char *const *values)
{
    char *piece = mem_new(char, MASK_PIECE);
    int fd = -1;
    bool good = true;
    for (; *values && good; values++) {
        size_t n = strlen(*values);
        if (n < LOG_MASK_LEAST)
            continue;
        if (fd < 0)
            fd = open_to_write(log);
        good = fd >= 0 && mask_value(fd, *values, n, piece, MASK_PIECE);
    }
    if (fd >= 0)
        close(fd);
    free(piece);
    return good;
}
