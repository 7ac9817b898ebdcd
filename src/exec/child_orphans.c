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

enum {
    SWEEPS = 8,         /* looks for daemons at the end of a run, at most */
    ROOM_FOR_NEW = 512, /* processes that are remembered, beyond those of the last look */
};

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

/* *blank: it has no variables at all, as in the midst of an exec (and as zombies). */
static struct process_seen process_read(const struct children *c, pid_t pid, ino_t file,
                                        bool *blank)
{
    struct process_seen p = {.pid = pid, .file = file};
    char text[PROC_ENVIRONMENT], mark[64], name[24];
    snprintf(name, sizeof name, "%d", (int)pid);
    ssize_t n = proc_read(name, "environ", text, sizeof text);
    *blank = n == 0;
    if (n <= 0) {
        p.owner = n == 0 && proc_is_kernel(name) ? OWNER_OTHER : OWNER_UNKNOWN;
        return p;
    }
    /* another set of children of this process (an agent has one a run) looks after its own */
    int length = snprintf(mark, sizeof mark, "WEFT_OWNER=%d.%d.", (int)c->pid, c->epoll);
    const char *at = memmem(text, (size_t)n, mark, (size_t)length);
    p.owner = at ? OWNER_TASK : OWNER_OTHER;
    if (at && sscanf(at + length, "%u.%u", &p.task, &p.attempt) != 2)
        p.owner = OWNER_OTHER;
    return p;
}

static bool owner_runs(const struct children *c, const struct process_seen *p)
{
    bool runs = p->owner != OWNER_TASK;
    for (uint32_t i = 0; i < c->config.slots && !runs; i++) {
        const struct child *x = &c->slot[i];
        runs = x->used && x->task == p->task && x->attempt == p->attempt;
    }
    return runs;
}

static bool is_first_of_task(const struct children *c, pid_t pid)
{
    bool is = false;
    for (uint32_t i = 0; i < c->config.slots && !is; i++)
        is = c->slot[i].used && c->slot[i].pid == pid;
    return is;
}

void children_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Orphans are children of our first thread, if we adopt them; then those that run are all it has. */
bool children_are_alone(const struct children *c)
{
    char text[2048], file[48];
    int adopts = 0;
    uint32_t count = 0;
    if (prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) != 0 || !adopts || gettid() != getpid())
        return false;
    snprintf(file, sizeof file, "task/%d/children", (int)getpid());
    ssize_t n = proc_read("self", file, text, sizeof text);
    for (ssize_t i = 0; i < n; i++)
        count += text[i] == ' ';
    return n >= 0 && n + 1 < (ssize_t)sizeof text && count <= children_running(c);
}

static pid_t parent_of(pid_t pid)
{
    char name[24];
    snprintf(name, sizeof name, "%d", (int)pid);
    return proc_parent(name);
}

/* A process that carries the mark of a task which is over. True: it was there. */
static bool end_orphan(struct children *c, pid_t pid)
{
    pid_t parent = parent_of(pid); /* 0: ended meanwhile */
    if (parent && kill(pid, SIGKILL) == 0 && (parent != c->pid || waitpid(pid, NULL, 0) == pid))
        c->orphans++;
    return true;
}

/* One process of the listing. `known`: what it was at the last look; NULL: it was not there. True: there
 * may be more of its kind. */
static bool look_at_process(struct children *c, pid_t pid, ino_t file,
                            const struct process_seen *known)
{
    bool blank = false;
    struct process_seen p =
        known && owner_runs(c, known) ? *known : process_read(c, pid, file, &blank);
    if (!owner_runs(c, &p))
        return end_orphan(c, pid);
    if (p.owner != OWNER_UNKNOWN && c->seen.n < c->seen.cap) /* no room: it is read again */
        array_push(&c->seen, p);
    return blank && parent_of(pid) == c->pid;
}

/* Daemons: processes that left their task's group and outlived it, known by the mark that they
 * inherited, whoever their parent is now (we, after children_adopt_orphans()). Lists every process of
 * the machine once a second while something runs, and reads those that were not there the last time:
 * one is the same if its number and that of its file are. The listing is in the order of the numbers,
 * so both looks are gone through side by side; were it not, they would only be read again. */
bool children_end_orphans(struct children *c, bool afresh)
{
    struct process_list before = c->seen, now = c->seen_before;
    c->seen_before = before;
    c->seen = now;
    c->seen.n = 0;
    array_reserve(&c->seen, before.n + ROOM_FOR_NEW); /* nothing is allocated while /proc is open */
    if (afresh)
        before.n = 0;
    DIR *proc = opendir("/proc");
    struct dirent *e;
    bool more = false;
    size_t at = 0;
    while (proc && (e = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || pid == c->pid || is_first_of_task(c, pid))
            continue;
        while (at < before.n && before.at[at].pid < pid)
            at++;
        bool same = at < before.n && before.at[at].pid == pid && before.at[at].file == e->d_ino;
        more |= look_at_process(c, pid, e->d_ino, same ? &before.at[at] : NULL);
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
    for (int i = 0; i < SWEEPS && children_end_orphans(c, true); i++)
        usleep(2000);
    c->swept = true;
}

uint32_t children_orphans(const struct children *c)
{
    return c->orphans;
}
