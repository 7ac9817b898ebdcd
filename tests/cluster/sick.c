/* A machine that fails, for one process: preloaded (LD_PRELOAD) into an agent by 015_sick_machine_test.sh. While a file stands in the folder
 * $SICK, what it names goes wrong for what is below $SICK_FOLDER, as the kernel tells of a disk that fails:
 *
 *     make     files and folders cannot be made, opened for writing or renamed: EIO
 *     write    what is open cannot be written: EIO
 *     read     nor read: EIO
 *     spawn    no process can be started, anywhere: ENOMEM
 *     oom      the kernel counts one process more that it ended for want of memory, each time that it is asked
 *
 * Tasks are not touched: the library takes itself out of the environment that they get. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char *sick_marks, *sick_folder;

__attribute__((constructor)) static void sick_begin(void)
{
    unsetenv("LD_PRELOAD");
    sick_marks = getenv("SICK");
    sick_folder = getenv("SICK_FOLDER");
}

static bool sick_is(const char *what)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", sick_marks ? sick_marks : "/nowhere", what);
    return access(path, F_OK) == 0;
}

static bool sick_is_below(const char *path)
{
    return sick_folder && strncmp(path, sick_folder, strlen(sick_folder)) == 0;
}

static bool sick_fd(int fd, const char *what)
{
    char name[40], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return sick_is_below(path) && sick_is(what);
}

static bool sick_path(int folder, const char *path)
{
    return path[0] == '/' || folder == AT_FDCWD ? sick_is_below(path) && sick_is("make")
                                                : sick_fd(folder, "make");
}

/* The next one of that name: libc's, or that of a sanitizer before it. */
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
#define FAIL_IF(condition, value)                                                                  \
    do {                                                                                           \
        if (condition) {                                                                           \
            errno = EIO;                                                                           \
            return value;                                                                          \
        }                                                                                          \
    } while (0)

static bool sick_writes(int flags)
{
    return flags & (O_CREAT | O_WRONLY | O_RDWR);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                                  \
        va_end(more);                                                                              \
        FAIL_IF(sick_writes(flags) && sick_path(AT_FDCWD, path), -1);                              \
        return NEXT(int (*)(const char *, int, ...), #name)(path, flags, mode);                    \
    }
OPEN(open)
OPEN(open64)

int openat64(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    FAIL_IF(sick_writes(flags) && sick_path(folder, path), -1);
    return NEXT(int (*)(int, const char *, int, ...), "openat64")(folder, path, flags, mode);
}

#define FOPEN(name)                                                                                \
    FILE *name(const char *restrict path, const char *restrict mode)                               \
    {                                                                                              \
        static unsigned long kills = 1000000;                                                      \
        if (strcmp(path, "/proc/vmstat") == 0 && sick_is("oom")) {                                 \
            static char text[64];                                                                  \
            snprintf(text, sizeof text, "oom_kill %lu\n", ++kills);                                \
            return fmemopen(text, strlen(text), "r");                                              \
        }                                                                                          \
        FAIL_IF(!strchr("r", mode[0]) && sick_path(AT_FDCWD, path), NULL);                         \
        return NEXT(FILE * (*)(const char *, const char *), #name)(path, mode);                    \
    }
FOPEN(fopen)
FOPEN(fopen64)

int mkdir(const char *path, mode_t mode)
{
    FAIL_IF(sick_path(AT_FDCWD, path), -1);
    return NEXT(int (*)(const char *, mode_t), "mkdir")(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    FAIL_IF(sick_path(folder, path), -1);
    return NEXT(int (*)(int, const char *, mode_t), "mkdirat")(folder, path, mode);
}

int rename(const char *from, const char *to)
{
    FAIL_IF(sick_path(AT_FDCWD, to), -1);
    return NEXT(int (*)(const char *, const char *), "rename")(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    FAIL_IF(sick_path(b, to), -1);
    return NEXT(int (*)(int, const char *, int, const char *, unsigned), "renameat2")(a, from, b,
                                                                                      to, flags);
}

ssize_t write(int fd, const void *data, size_t n)
{
    FAIL_IF(sick_fd(fd, "write"), -1);
    return NEXT(ssize_t(*)(int, const void *, size_t), "write")(fd, data, n);
}

#define PWRITE(name)                                                                               \
    ssize_t name(int fd, const void *data, size_t n, off_t at)                                     \
    {                                                                                              \
        FAIL_IF(sick_fd(fd, "write"), -1);                                                         \
        return NEXT(ssize_t(*)(int, const void *, size_t, off_t), #name)(fd, data, n, at);         \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags)
{
    FAIL_IF(sick_fd(in, "read") || sick_fd(out, "write"), -1);
    return NEXT(ssize_t(*)(int, off64_t *, int, off64_t *, size_t, unsigned),
                "copy_file_range")(in, from, out, to, n, flags);
}

int fsync(int fd)
{
    FAIL_IF(sick_fd(fd, "write"), -1);
    return NEXT(int (*)(int), "fsync")(fd);
}

ssize_t read(int fd, void *data, size_t n)
{
    FAIL_IF(sick_fd(fd, "read"), -1);
    return NEXT(ssize_t(*)(int, void *, size_t), "read")(fd, data, n);
}

#define PREAD(name)                                                                                \
    ssize_t name(int fd, void *data, size_t n, off_t at)                                           \
    {                                                                                              \
        FAIL_IF(sick_fd(fd, "read"), -1);                                                          \
        return NEXT(ssize_t(*)(int, void *, size_t, off_t), #name)(fd, data, n, at);               \
    }
PREAD(pread)
PREAD(pread64)

ssize_t __pread_chk(int fd, void *data, size_t n, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t n, off_t at, size_t room)
{
    FAIL_IF(sick_fd(fd, "read"), -1);
    return NEXT(ssize_t(*)(int, void *, size_t, off_t, size_t), "__pread_chk")(fd, data, n, at,
                                                                               room);
}

#define SPAWN(name)                                                                                \
    int name(pid_t *restrict pid, const char *restrict program,                                    \
             const posix_spawn_file_actions_t *actions,                                            \
             const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],        \
             char *const environment[restrict])                                                    \
    {                                                                                              \
        if (sick_is("spawn"))                                                                      \
            return ENOMEM;                                                                         \
        return NEXT(int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *,             \
                            const posix_spawnattr_t *, char *const[], char *const[]),              \
                    #name)(pid, program, actions, attributes, arguments, environment);             \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
