/* Processes of another weft that is dead: found by the mark that every child of ours carries in its
 * environment (WEFT_OWNER=PID.NUMBER, see child.c), whoever their parent is by now.
 *
 * I1. Nothing is ended while a process with the owner's number lives: the number may be another's.
 * I2. Our own process is never among them. */
#include "base/array.h"
#include "exec/child.h"
#include "exec/proc.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The mark of another process, which is dead: whatever carries it has nobody to wait for. */
uint32_t children_end_of(pid_t owner)
{
    char text[PROC_ENVIRONMENT], mark[64];
    snprintf(mark, sizeof mark, "%d", (int)owner);
    if (owner <= 1 || proc_parent(mark))
        return 0;
    int length = snprintf(mark, sizeof mark, "WEFT_OWNER=%d.", (int)owner);
    DIR *proc = opendir("/proc");
    struct dirent *e;
    ARRAY(pid_t) dying = {0};
    while (proc && (e = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        ssize_t n =
            pid > 1 && pid != getpid() ? proc_read(e->d_name, "environ", text, sizeof text) : 0;
        if (n > 0 && memmem(text, (size_t)n, mark, (size_t)length) && kill(pid, SIGKILL) == 0)
            array_push(&dying, pid);
    }
    if (proc)
        closedir(proc);
    uint32_t ended = (uint32_t)dying.n;
    /* until they are gone they may still write; at most a second, as a hung disk holds them */
    for (int tries = 0; dying.n && tries < 100; tries++) {
        for (size_t i = dying.n; i--;) {
            snprintf(mark, sizeof mark, "%d", (int)dying.at[i]);
            if (!proc_parent(mark))
                dying.at[i] = array_pop(&dying);
        }
        if (dying.n)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    array_free(&dying);
    return ended;
}
