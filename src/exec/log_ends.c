/* The beginning and the end of a log: written beside it, then put in its place by a rename. */
#include "exec/log_ends.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static bool copy_range(int from, off_t at, off_t end, FILE *to)
{
    char piece[65536];
    while (at < end) {
        size_t want = end - at < (off_t)sizeof piece ? (size_t)(end - at) : sizeof piece;
        ssize_t n = pread(from, piece, want, at);
        if (n <= 0 || fwrite(piece, 1, (size_t)n, to) != (size_t)n)
            return false;
        at += n;
    }
    return true;
}

bool log_keep_ends(int log, const char *path, double size, double most)
{
    char beside[4096];
    snprintf(beside, sizeof beside, "%s.short", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0664);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!to) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    off_t half = (off_t)(most / 2);
    bool good = copy_range(log, 0, half, to);
    fprintf(to, "\n[weft: %.0f bytes of this log are left out here]\n", size - 2 * (double)half);
    good &= copy_range(log, (off_t)size - half, (off_t)size, to);
    good &= fclose(to) == 0;
    return good && rename(beside, path) == 0;
}
