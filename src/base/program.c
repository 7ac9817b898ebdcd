/* Programs: looked for in PATH, asked a question. */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool program_find(const char *name, char *path, size_t size)
{
    const char *at = getenv("PATH");
    struct stat s;
    for (at = at ? at : "/usr/bin:/bin";; at++) {
        int n = (int)strcspn(at, ":");
        int length = snprintf(path, size, "%.*s%s%s", n, at, n ? "/" : "./", name);
        if (length > 0 && (size_t)length < size && stat(path, &s) == 0 && S_ISREG(s.st_mode) &&
            access(path, X_OK) == 0)
            return true;
        at += n;
        if (!*at)
            return false;
    }
}

bool program_succeeds(const char *const *words)
{
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    pid_t pid = 0;
    int status = -1;
    bool good = posix_spawn(&pid, words[0], &quiet, NULL, (char *const *)words, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    while (good && waitpid(pid, &status, 0) < 0)
        good = errno == EINTR;
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
