/* posix_spawn for filters: the descriptors of their ports, everything else closed on exec. */
#include "stream/spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Numbers of ports in the process: 0, 1, then 3 and up, since 2 is for what it has to say. */
static int spawning_number(uint32_t port)
{
    return port < 2 ? (int)port : (int)port + 1;
}

/* The group of its own keeps a ^C of the terminal from it: a stream that drains still needs it. */
static void spawning_attributes(posix_spawnattr_t *a)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_init(a);
    posix_spawnattr_setsigmask(a, &none);
    posix_spawnattr_setsigdefault(a, &usual);
    posix_spawnattr_setpgroup(a, 0);
    posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                    POSIX_SPAWN_SETSIGMASK);
}

/* The environment with one variable more; plain memory, as everything on a worker's thread. */
static char **spawning_environment(const struct filter *f, const char *variable)
{
    size_t n = 0;
    while (f->environment[n])
        n++;
    char **all = calloc(n + 2, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, f->environment, n * sizeof *all);
    all[n] = (char *)variable;
    return all;
}

/* Actions are done in order by the child: the folder first, then ports, which stand above every number that
 * they are put onto (filter_stays.c), so that no port is overwritten by another. */
bool spawning_start(const struct filter *f, const struct spawning *how, pid_t *pid, char *why,
                    size_t size)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = spawning_environment(f, how->variable);
    if (!environment) {
        snprintf(why, size, "it cannot be started: no memory");
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, how->folder);
    for (uint32_t i = 0; i < how->n; i++)
        if (how->descriptors[i] >= 0)
            posix_spawn_file_actions_adddup2(&actions, how->descriptors[i], spawning_number(i));
    if (!how->n || how->descriptors[0] < 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (how->n < 2 || how->descriptors[1] < 0) /* what it prints is no result: beside its errors */
        posix_spawn_file_actions_adddup2(&actions, 2, 1);
    spawning_attributes(&attributes);
    int reason = posix_spawnp(pid, f->program, &actions, &attributes, f->words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    (free)(environment);
    if (reason)
        snprintf(why, size, "'%.200s' cannot be started in %.150s: %s", f->program, how->folder,
                 strerror(reason));
    return reason == 0;
}
