#include "bench/run_peers.h"

#include "base/clock.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Output into `out`, a file descriptor; -1: nowhere. */
static struct peer_use peer_spawn(const char *const *words, const char *folder, int out)
{
    struct peer_use use = {.seconds = -1};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (out < 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    pid_t pid;
    double start = clock_seconds();
    int reason = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    struct rusage r;
    int status;
    if (reason || wait4(pid, &status, 0, &r) != pid)
        return use;
    use.cpu = seconds_of(r.ru_utime) + seconds_of(r.ru_stime);
    use.peak = 1024.0 * (double)r.ru_maxrss;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        use.seconds = clock_seconds() - start;
    else
        fprintf(stderr, "bench_run: %s ended with status %d\n", words[0], status);
    return use;
}

struct peer_use peer_run(const char *const *words, const char *folder)
{
    return peer_spawn(words, folder, -1);
}

struct peer_use peer_read(const char *const *words, const char *folder, char *out, size_t size)
{
    FILE *file = tmpfile();
    struct peer_use use = {.seconds = -1};
    out[0] = 0;
    if (!file)
        return use;
    use = peer_spawn(words, folder, fileno(file));
    rewind(file);
    out[fread(out, 1, size - 1, file)] = 0;
    fclose(file);
    return use;
}

bool peer_there(const char *program)
{
    const char *const words[] = {program, "--version", NULL};
    char out[64];
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *save = NULL;
    bool there = false;
    for (char *at = strtok_r(copy, ":", &save); at && !there; at = strtok_r(NULL, ":", &save)) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", at, program);
        there = access(file, X_OK) == 0;
    }
    free(copy);
    return there && peer_read(words, ".", out, sizeof out).seconds >= 0;
}

double peer_loop(uint32_t n, uint32_t slots)
{
    char *const words[] = {(char *)"/bin/true", NULL};
    uint32_t running = 0;
    double start = clock_seconds();
    for (uint32_t begun = 0; begun < n || running;) {
        if (begun < n && running < slots) {
            pid_t pid;
            if (posix_spawn(&pid, words[0], NULL, NULL, words, environ) != 0)
                return -1;
            begun++;
            running++;
            continue;
        }
        if (waitpid(-1, NULL, 0) < 0)
            return -1;
        running--;
    }
    return clock_seconds() - start;
}

static FILE *make_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static void finish_file(FILE *f)
{
    if (fclose(f) != 0) {
        perror("bench_run");
        exit(1);
    }
}

void peer_makefile(const char *folder, uint32_t n, bool chain)
{
    FILE *f = make_file(folder, "Makefile");
    fprintf(f, ".SUFFIXES:\nMAKEFLAGS += -r\nall:");
    for (uint32_t t = 0; t < n; t++)
        fprintf(f, " t%u", t);
    fprintf(f, "\n.PHONY: all");
    for (uint32_t t = 0; t < n; t++)
        fprintf(f, " t%u", t);
    fprintf(f, "\n");
    for (uint32_t t = 0; t < n; t++) {
        if (chain && t)
            fprintf(f, "t%u: t%u\n\t@/bin/true\n", t, t - 1);
        else
            fprintf(f, "t%u:\n\t@/bin/true\n", t);
    }
    finish_file(f);
}

void peer_ninja(const char *folder, uint32_t n, bool chain)
{
    FILE *f = make_file(folder, "build.ninja");
    fprintf(f, "rule r\n  command = /bin/true\n");
    for (uint32_t t = 0; t < n; t++) {
        if (chain && t)
            fprintf(f, "build t%u: r t%u\n", t, t - 1);
        else
            fprintf(f, "build t%u: r\n", t);
    }
    finish_file(f);
}

void peer_lines(const char *folder, uint32_t n)
{
    FILE *f = make_file(folder, "lines");
    for (uint32_t t = 0; t < n; t++)
        fprintf(f, "%u\n", t);
    finish_file(f);
}

void peer_weft(const char *folder, const char *name, uint32_t n, bool chain, const char *work)
{
    FILE *f = make_file(folder, name);
    fprintf(f, "weft: 1\ntasks:\n");
    for (uint32_t t = 0; t < n; t++) {
        if (chain && t)
            fprintf(f, "  t%u: { %s, after: [t%u] }\n", t, work, t - 1);
        else
            fprintf(f, "  t%u: { %s }\n", t, work);
    }
    finish_file(f);
}
