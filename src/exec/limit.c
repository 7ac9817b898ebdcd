/* Memory limits by control groups, or by watching.
 *
 *     /sys/fs/cgroup/.../weft-PID.N-SLOT/     version 2: memory.max, memory.swap.max, memory.peak
 *     /sys/fs/cgroup/memory/.../              version 1: memory.limit_in_bytes, ...
 *
 * A group is made beside our own for each slot when it first needs one, and used again. Where none
 * may be written (no delegation, no cgroup file system), /proc is read ten times a second, and what
 * grows faster than that escapes for a moment.
 *
 * I1. The task's first process is put into the group before it runs anything of the task's (the
 *     gate in child.c), so all it starts is in it too.
 * I2. Version 2 has no way to set the peak back: its group is removed after every task and made
 *     again for the next.
 * I3. Never fails: a limit that the kernel does not take is a limit that is not enforced. */
#include "exec/limit.h"

#include "base/mem.h"
#include "exec/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 512 }; /* of a group; a longer one counts as none */

/* A slot that may run a task under a limit. */
struct limited {
    bool exists, used; /* its group exists; a task is in it */
    pid_t pid;         /* and its process group */
    double bytes, peak;
    uint64_t killed; /* the kernel's count before the task began */
};

struct limits {
    int version; /* of control groups; 0: watching */
    char parent[LONGEST_PATH];
    char name[64];
    uint32_t slots;
    struct limited *slot;
};

/* ---- control groups ---- */

/* `path` has room for LONGEST_PATH + 128 bytes. */
static void group_file(const struct limits *l, uint32_t slot, const char *file, char *path)
{
    snprintf(path, LONGEST_PATH + 128, "%s/%s-%u/%s", l->parent, l->name, slot, file);
}

static bool group_write(const struct limits *l, uint32_t slot, const char *file, const char *text)
{
    char path[LONGEST_PATH + 128];
    group_file(l, slot, file, path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return good;
}

/* The number in a file, or behind a word in it. */
static uint64_t group_read(const struct limits *l, uint32_t slot, const char *file,
                           const char *word)
{
    char path[LONGEST_PATH + 128], text[1024];
    group_file(l, slot, file, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = word ? strstr(text, word) : text;
    return at ? strtoull(at + (word ? strlen(word) : 0), NULL, 10) : 0;
}

/* False: it cannot be made, or not be written. A group that a run of the same number left is taken
 * over. */
static bool group_make(struct limits *l, uint32_t slot)
{
    char path[LONGEST_PATH + 128];
    if (l->slot[slot].exists)
        return true;
    group_file(l, slot, "", path);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return false;
    group_file(l, slot, l->version == 2 ? "memory.max" : "memory.limit_in_bytes", path);
    return l->slot[slot].exists = access(path, W_OK) == 0;
}

static void group_remove(struct limits *l, uint32_t slot)
{
    char path[LONGEST_PATH + 128];
    if (!l->slot[slot].exists)
        return;
    group_file(l, slot, "", path);
    /* killed processes leave it a moment later: at most a tenth of a second is waited for them */
    for (int i = 0; i < 50 && rmdir(path) != 0 && errno == EBUSY; i++)
        usleep(2000);
    l->slot[slot].exists = false;
}

/* Where this process stands in the hierarchy that has the memory controller: "12:memory:/a/b" or
 * "0::/a/b" in /proc/self/cgroup, below the mount point. */
static bool find_parent(struct limits *l, const char *mount, const char *controller)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f)
        return false;
    char line[LONGEST_PATH];
    bool found = false;
    while (!found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second)
            continue;
        *second = 0;
        found = strcmp(first + 1, controller) == 0 &&
                snprintf(l->parent, sizeof l->parent, "%s%s", mount, second + 1) <
                    (int)sizeof l->parent;
    }
    fclose(f);
    return found && access(l->parent, W_OK) == 0;
}

/* Version 2 before 1: where both are mounted, 2 is the one that is in use. A group is made on
 * trial. */
static void find_groups(struct limits *l)
{
    static const struct {
        int version;
        const char *mount, *controller;
    } places[] = {{2, "/sys/fs/cgroup", ""}, {1, "/sys/fs/cgroup/memory", "memory"}};
    for (size_t i = 0; i < sizeof places / sizeof *places && !l->version; i++)
        if (find_parent(l, places[i].mount, places[i].controller)) {
            l->version = places[i].version;
            if (!group_make(l, 0)) {
                char path[LONGEST_PATH + 128];
                group_file(l, 0, "", path);
                rmdir(path);
                l->version = 0;
            }
        }
}

struct limits *limits_new(const char *name, uint32_t slots)
{
    static atomic_uint count; /* tells the runs of this process apart */
    struct limits *l = mem_new_zero(struct limits, 1);
    snprintf(l->name, sizeof l->name, "%.32s-%d.%u", name, (int)getpid(), count++);
    l->slots = slots ? slots : 1;
    l->slot = mem_new_zero(struct limited, l->slots);
    find_groups(l);
    return l;
}

void limits_free(struct limits *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->slots; i++)
        group_remove(l, i);
    free(l->slot);
    free(l);
}

bool limits_grouped(const struct limits *l)
{
    return l->version != 0;
}

/* How often the kernel ended a process of this group for memory, so far: groups are used again. */
static uint64_t limit_count_kills(const struct limits *l, uint32_t slot)
{
    return l->version == 2 ? group_read(l, slot, "memory.events", "oom_kill ")
                           : group_read(l, slot, "memory.oom_control", "oom_kill ");
}

void limit_begin(struct limits *l, uint32_t slot, pid_t pid, double bytes)
{
    struct limited *s = &l->slot[slot];
    *s = (struct limited){.exists = s->exists, .used = true, .pid = pid, .bytes = bytes};
    if (!l->version || !group_make(l, slot))
        return;
    char text[32];
    snprintf(text, sizeof text, "%.0f", bytes < 1e18 ? bytes : 1e18); /* fits 64 bits */
    if (l->version == 2) {
        group_write(l, slot, "memory.max", text);
        group_write(l, slot, "memory.swap.max", "0");
    } else {
        /* memory plus swap may not be less than memory: lifted first, or raising would fail */
        group_write(l, slot, "memory.memsw.limit_in_bytes", "-1");
        group_write(l, slot, "memory.limit_in_bytes", text);
        group_write(l, slot, "memory.max_usage_in_bytes", "0");
    }
    s->killed = limit_count_kills(l, slot);
    snprintf(text, sizeof text, "%d", (int)pid);
    group_write(l, slot, "cgroup.procs", text);
}

/* ---- watching ---- */

/* Resident bytes of a process, if it belongs to the process group. */
static double limit_resident_bytes(const char *name, pid_t group)
{
    char text[1024];
    const char *at = proc_stat(name, text, sizeof text);
    long of_group, pages = 0;
    if (!at || sscanf(at, " %*c %*d %ld", &of_group) != 1 || of_group != (long)group)
        return 0;
    if (sscanf(at,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
               "%*d %*u %*u %ld",
               &pages) != 1)
        return 0;
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

double limit_watch(struct limits *l, uint32_t slot, bool *over)
{
    struct limited *s = &l->slot[slot];
    *over = false;
    if (!s->used)
        return 0;
    double now = 0;
    if (s->exists) {
        now = (double)group_read(
            l, slot, l->version == 2 ? "memory.current" : "memory.usage_in_bytes", NULL);
    } else {
        /* every process of the machine: some milliseconds, ten times a second */
        DIR *proc = opendir("/proc");
        struct dirent *e;
        while (proc && (e = readdir(proc)) != NULL)
            if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
                now += limit_resident_bytes(e->d_name, s->pid);
        if (proc)
            closedir(proc);
        *over = now > s->bytes;
    }
    s->peak = now > s->peak ? now : s->peak;
    return now;
}

double limit_end(struct limits *l, uint32_t slot, bool *exceeded)
{
    struct limited *s = &l->slot[slot];
    *exceeded = false;
    if (!s->used)
        return 0;
    s->used = false;
    if (!s->exists) {
        *exceeded = s->peak > s->bytes;
        return s->peak;
    }
    *exceeded = limit_count_kills(l, slot) > s->killed;
    double peak = (double)group_read(
        l, slot, l->version == 2 ? "memory.peak" : "memory.max_usage_in_bytes", NULL);
    peak = peak > s->peak ? peak : s->peak;
    if (l->version == 2) {
        group_write(l, slot, "cgroup.kill", "1"); /* what is left in it: it could not be removed */
        group_remove(l, slot);                    /* its peak cannot be set back */
    }
    return peak;
}
