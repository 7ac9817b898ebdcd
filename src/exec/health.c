/* What can be known of a machine's health (health.h). Each look is a system call or two, made when a task
 * has failed: a machine that is well pays nothing. */
#include "exec/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static double free_blocks(const struct statvfs *s)
{
    return (double)(geteuid() == 0 ? s->f_bfree : s->f_bavail);
}

bool health_is_full(const char *path)
{
    enum { BLOCKS = 16 }; /* fewer are as good as none: a file's tail does not fit */
    struct statvfs s;
    if (!path || statvfs(path, &s) != 0 || s.f_blocks == 0)
        return false;
    return free_blocks(&s) < BLOCKS || (s.f_files && !(geteuid() == 0 ? s.f_ffree : s.f_favail));
}

bool health_has_room(const char *path)
{
    static const double enough = 1e9, part = 0.05;
    struct statvfs s;
    if (health_is_full(path) || statvfs(path, &s) != 0)
        return false;
    double room = free_blocks(&s);
    return room * (double)s.f_frsize >= enough || room >= part * (double)s.f_blocks;
}

/* Errors are texts by the time that they come here, with strerror() in them. */
enum trace_trouble health_of_error(const char *text)
{
    static const struct {
        int reason;
        enum trace_trouble trouble;
    } rows[] = {
        {ENOSPC, TROUBLE_DISK},      {EDQUOT, TROUBLE_DISK},      {EIO, TROUBLE_IO},
        {EROFS, TROUBLE_IO},         {ESTALE, TROUBLE_IO},        {ENODEV, TROUBLE_IO},
        {EAGAIN, TROUBLE_PROCESSES}, {EMFILE, TROUBLE_PROCESSES}, {ENFILE, TROUBLE_PROCESSES},
        {ENOMEM, TROUBLE_MEMORY},
    };
    for (size_t i = 0; text && i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, strerror(rows[i].reason)))
            return rows[i].trouble;
    return TROUBLE_NONE;
}

/* What standard output has not taken, of a program that has forgotten why when it ends: coreutils' way to say so. */
static bool health_ends_in_write_error(const char *text, size_t n)
{
    static const char words[] = ": write error";
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    return n >= sizeof words - 1 &&
           strncmp(text + n - (sizeof words - 1), words, sizeof words - 1) == 0;
}

/* Nothing but full disks: other words there may well be about files that the task alone has to do with. */
enum trace_trouble health_of_log(const char *path)
{
    char end[4096 + 1];
    struct stat s;
    int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return TROUBLE_NONE;
    off_t most = sizeof end - 1;
    off_t from = fstat(fd, &s) == 0 && s.st_size > most ? s.st_size - most : 0;
    ssize_t n = pread(fd, end, sizeof end - 1, from);
    close(fd);
    for (ssize_t i = 0; i < n; i++)
        end[i] = end[i] ? end[i] : ' ';
    end[n > 0 ? n : 0] = 0;
    return health_of_error(end) == TROUBLE_DISK || health_ends_in_write_error(end, strlen(end))
               ? TROUBLE_DISK
               : TROUBLE_NONE;
}

uint64_t health_oom_kills(void)
{
    FILE *f = fopen("/proc/vmstat", "re");
    char line[128];
    uint64_t kills = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "oom_kill ", 9) == 0) {
            kills = strtoull(line + 9, NULL, 10);
            break;
        }
    if (f)
        fclose(f);
    return kills;
}
