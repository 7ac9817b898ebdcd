/* Programs: looked for in PATH, asked a question. */
#include "base/program.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* What was written into an unnamed file, which needs nobody to read it meanwhile. */
static void take_written(int fd, struct strbuf *out)
{
    char piece[4096];
    ssize_t n;
    off_t at = 0;
    if (!out || fd < 0)
        return;
    strbuf_clear(out);
    for (; (n = pread(fd, piece, sizeof piece, at)) > 0; at += n)
        strbuf_add_bytes(out, piece, (size_t)n);
}

static bool program_wait(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool program_output(const char *const *words, struct strbuf *out, struct strbuf *said)
{
    int fd[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("said", MFD_CLOEXEC)};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fd[0], 1);
    posix_spawn_file_actions_adddup2(&actions, fd[1], 2);
    pid_t pid = 0;
    bool good = fd[0] >= 0 && fd[1] >= 0 &&
                posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    good = good && program_wait(pid);
    take_written(fd[0], out);
    take_written(fd[1], said);
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return good;
}

bool program_succeeds(const char *const *words)
{
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    pid_t pid = 0;
    bool good = posix_spawn(&pid, words[0], &quiet, NULL, (char *const *)words, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    return good && program_wait(pid);
}
