/* The standard descriptors, held open. */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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
