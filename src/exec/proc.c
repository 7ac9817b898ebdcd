/* Small files of /proc/PID. They are made when they are read, in one piece, so one read() gets all
 * that fits; a process may be gone at any time, which is an answer, not an error. */
#include "exec/proc.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

ssize_t proc_read(const char *pid, const char *file, char *text, size_t size)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%.20s/%.40s", pid, file);
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

bool proc_is_kernel(const char *pid)
{
    enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */
    char text[512];
    const char *at = proc_stat(pid, text, sizeof text);
    unsigned flags = 0;
    return at && sscanf(at, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && (flags & KERNEL_THREAD);
}

double proc_high_water(pid_t pid, int depth)
{
    enum { DEEPEST = 4 }; /* a shell, its script, make, a compiler */
    char name[24], file[40], text[2048];
    snprintf(name, sizeof name, "%d", (int)pid);
    snprintf(file, sizeof file, "task/%d/children", (int)pid);
    const char *at =
        proc_read(name, "status", text, sizeof text) > 0 ? strstr(text, "VmHWM:") : NULL;
    double most = at ? 1024.0 * (double)strtoll(at + 6, NULL, 10) : 0;
    if (depth == DEEPEST || proc_read(name, file, text, sizeof text) <= 0)
        return most;
    char *next = text;
    for (long child; (child = strtol(next, &next, 10)) > 0;)
        most = fmax(most, proc_high_water((pid_t)child, depth + 1));
    return most;
}

double proc_own_peak(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? 1024.0 * (double)use.ru_maxrss : 0;
}
