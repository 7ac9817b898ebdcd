/* What tasks leave behind: members of their process groups, and daemons that left these. Found by the
 * group's number and by the mark that every child inherits (I1 and I3 of child.c). */
#include "exec/child_private.h"

#include "exec/proc.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Looks for daemons at the end of a run, at most. */
enum { SWEEPS = 8 };

void children_wait_for_groups(struct children *c, bool wait)
{
    for (size_t i = 0; i < c->groups.n;) {
        pid_t pid;
        do
            pid = waitpid(-c->groups.at[i], NULL, wait ? 0 : WNOHANG);
        while (pid > 0 || (pid < 0 && errno == EINTR));
        if (pid == 0)
            i++;
        else
            c->groups.at[i] = array_pop(&c->groups);
    }
}

/* Does the process belong to a task that runs, or not to us at all? By the variable that it
 * inherited (I3); who cannot be read belongs to another user. *blank: it has no variables at all,
 * as in the midst of an exec (and as kernel threads and zombies). */
static bool owner_runs(const struct children *c, const char *pid, bool *blank)
{
    char text[PROC_ENVIRONMENT], mark[64];
    ssize_t n = proc_read(pid, "environ", text, sizeof text);
    *blank = n == 0;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        const struct child *x = &c->slot[i];
        if (!x->used)
            continue;
        int length = snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.%u.%u", (int)getpid(), c->epoll,
                              x->task, x->attempt);
        if (n > 0 && memmem(text, (size_t)n, mark, (size_t)length + 1))
            return true;
    }
    /* another set of children of this process (an agent has one a run) looks after its own */
    snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.", (int)getpid(), c->epoll);
    return n <= 0 || !memmem(text, (size_t)n, mark, strlen(mark));
}

void children_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Daemons: processes that left their task's group and outlived it, known by the mark that they
 * inherited, whoever their parent is now (we, after children_adopt_orphans()). Looks at every
 * process of the machine, a few milliseconds: once a second while something runs. */
bool children_end_orphans(struct children *c)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;
    bool more = false, blank;
    while (proc && (e = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        bool ours = pid <= 0;
        for (uint32_t i = 0; i < c->config.slots && !ours; i++)
            ours = c->slot[i].used && c->slot[i].pid == pid;
        if (ours || pid == c->pid)
            continue;
        if (owner_runs(c, e->d_name, &blank)) {
            more |= blank && proc_parent(e->d_name) == c->pid;
            continue;
        }
        more = true;
        pid_t parent = proc_parent(e->d_name); /* 0: ended meanwhile */
        if (parent && kill(pid, SIGKILL) == 0 && (parent != c->pid || waitpid(pid, NULL, 0) == pid))
            c->orphans++;
    }
    if (proc)
        closedir(proc);
    return more;
}

void children_sweep(struct children *c)
{
    children_wait_for_groups(c, true);
    /* who is killed may have had a child that was not there when the list was read, and who is in
     * the midst of an exec cannot be told: again, until a look finds nobody */
    for (int i = 0; i < SWEEPS && children_end_orphans(c); i++)
        usleep(2000);
    c->swept = true;
}

uint32_t children_orphans(const struct children *c)
{
    return c->orphans;
}
