/* The standard descriptors, held open; and whether there are more. */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* O_PATH: there is nothing to read or write behind it, and "/" is there in every container. From 0
 * up, since open() gives the lowest number that is free. Without O_CLOEXEC: a child that begins with a
 * closed number would be in the same danger. */
void descriptors_occupy_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        bool closed = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
        int got = closed ? open("/", O_PATH | O_DIRECTORY) : -1;
        if (got > 2) /* another thread was faster */
            close(got);
    }
}

int descriptors_wanting(unsigned count)
{
    int taken[16], reason = 0;
    unsigned n = 0;
    while (!reason && n < count && n < sizeof taken / sizeof *taken) {
        taken[n] = eventfd(0, EFD_CLOEXEC);
        reason = taken[n] < 0 ? errno : 0;
        n += !reason;
    }
    while (n > 0)
        close(taken[--n]);
    return reason;
}
