/* How many processes tasks have. One that starts more and more of them (a fork bomb) is ended before it
 * takes the machine with it: ten times a second it is asked whether any task may have too many, and if so
 * they are counted.
 *
 *     the kernel's count of all there is ── no task can be past its limit ──▶ nothing more: one small read
 *                                        └─ some may be ──▶ /proc is read, each process is its task's
 *
 * A process belongs to the task whose group it is in, or whose mark it inherited (I1 and I3 of child.c);
 * what has left both is not counted. RLIMIT_NPROC would count all that the user runs, other tasks and
 * other programs too, and is not used. */
#include "exec/child_private.h"

#include "exec/proc.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes and threads of this machine, "0.00 0.00 0.00 3/193 4711"; 0: nobody says. */
static uint64_t count_all(void)
{
    char text[128];
    const char *at = proc_read("", "loadavg", text, sizeof text) > 0 ? strchr(text, '/') : NULL;
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* The task that this process is of; NULL: none of ours. */
static struct child *task_of(struct children *c, const char *pid)
{
    char text[PROC_ENVIRONMENT], mark[64];
    const char *at = proc_stat(pid, text, sizeof text);
    long group = 0;
    if (!at || sscanf(at, " %*c %*d %ld", &group) != 1 || pid[0] == '0')
        return NULL;
    for (uint32_t i = 0; i < c->config.slots; i++)
        if (c->slot[i].used && c->slot[i].pid == (pid_t)group)
            return &c->slot[i];
    ssize_t n = proc_read(pid, "environ", text, sizeof text);
    int length = snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.", (int)c->pid, c->epoll);
    at = n > 0 ? memmem(text, (size_t)n, mark, (size_t)length) : NULL;
    char *end = NULL;
    unsigned long task = at ? strtoul(at + length, &end, 10) : 0;
    unsigned long attempt = end && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    for (uint32_t i = 0; at && i < c->config.slots; i++)
        if (c->slot[i].used && c->slot[i].task == task && c->slot[i].attempt == attempt)
            return &c->slot[i];
    return NULL;
}

/* Those of one task that left its group; they may have started others meanwhile. */
static void end_marked(struct children *c, const struct child *x)
{
    enum { ROUNDS = 4 };
    bool found = true;
    for (int round = 0; found && round < ROUNDS; round++) {
        DIR *proc = opendir("/proc");
        struct dirent *e;
        found = false;
        while (proc && (e = readdir(proc)) != NULL) {
            pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
            if (pid > 0 && pid != c->pid && task_of(c, e->d_name) == x)
                found |= kill(pid, SIGKILL) == 0;
        }
        if (proc)
            closedir(proc);
    }
}

static void count_each(struct children *c)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;
    for (uint32_t i = 0; i < c->config.slots; i++)
        c->slot[i].processes = 0;
    while (proc && (e = readdir(proc)) != NULL) {
        struct child *x = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? task_of(c, e->d_name) : NULL;
        if (x)
            x->processes++;
    }
    if (proc)
        closedir(proc);
}

void children_count_processes(struct children *c, bool look)
{
    uint64_t now = count_all(), more = now > c->entities ? now - c->entities : 0;
    bool may = false;
    for (uint32_t i = 0; i < c->config.slots && !may; i++) {
        const struct child *x = &c->slot[i];
        uint64_t most = x->used ? x->processes_most : 0;
        /* those that ended meanwhile may hide those that began: now and then it is counted anyway */
        may = most && (now ? now > most && (look || x->processes + more > most) : look);
    }
    if (!may)
        return;
    count_each(c);
    c->entities = now;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        struct child *x = &c->slot[i];
        if (!x->used || !x->processes_most || x->processes <= x->processes_most)
            continue;
        child_end_group(c, x, CHILD_PROCESSES, true);
        end_marked(c, x);
    }
}
