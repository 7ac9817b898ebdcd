/* Small files of /proc/PID. They are made when they are read, in one piece, so one read() gets all
 * that fits; a process may be gone at any time, which is an answer, not an error. */
#include "exec/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ssize_t proc_read(const char *pid, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%.20s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* A process may call itself ") 1 (": its name ends at the last parenthesis. */
const char *proc_stat(const char *pid, char *text, size_t size)
{
    const char *name = proc_read(pid, "stat", text, size) > 0 ? strrchr(text, ')') : NULL;
    return name ? name + 1 : NULL;
}

/* The parent of a process; 0: it is gone, or a zombie. */
pid_t proc_parent(const char *pid)
{
    char text[512], state = 0;
    const char *at = proc_stat(pid, text, sizeof text);
    int parent = 0;
    return at && sscanf(at, " %c %d", &state, &parent) == 2 && state != 'Z' ? (pid_t)parent : 0;
}
