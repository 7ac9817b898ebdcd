/* Does the process that began a run still live? A number is not enough, since numbers are used
 * again: time of birth and boot (with the namespace of processes) go with it. When in doubt it may
 * live: a run that is called lost must be. */
#include "history/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a small file of /proc. */
static bool read_small(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = 0;
    out[strcspn(out, "\n")] = 0;
    return n > 0;
}

/* Field 22 of /proc/PID/stat; the name in field 2 may hold anything, so count from its end. */
static int64_t process_born(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!read_small(path, text, sizeof text))
        return 0;
    char *at = strrchr(text, ')');
    if (at && at[1] && (at[2] == 'Z' || at[2] == 'X')) /* dead, its parent has not noticed */
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

/* Which boot of which machine, seen from which namespace; empty: the system does not tell. */
static void process_boot(char *out, size_t size)
{
    char id[64] = "", space[48] = "";
    read_small("/proc/sys/kernel/random/boot_id", id, sizeof id);
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    if (*id)
        snprintf(out, size, "%s %s", id, space);
    else
        *out = 0;
}

void process_self(struct process *out)
{
    out->pid = getpid();
    out->born = process_born(out->pid);
    process_boot(out->boot, sizeof out->boot);
}

bool process_may_live(const struct process *p)
{
    char now[128];
    process_boot(now, sizeof now);
    size_t id = strcspn(now, " ");
    if (*p->boot && *now && strcmp(p->boot, now) != 0) /* another boot, or another container? */
        /* the same boot in another container: its numbers mean nothing here, so it may live */
        return strncmp(p->boot, now, id) == 0 && p->boot[id] == ' ';
    if (p->born > 0 && process_born(getpid()) > 0) /* there is a /proc to ask */
        return process_born(p->pid) == p->born;
    return p->pid > 0 && (kill((pid_t)p->pid, 0) == 0 || errno == EPERM);
}
