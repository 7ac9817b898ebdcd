/* Notes and keepers of stores (store_keeper.h).
 *
 *     TMPDIR/weft-stores-UID/PID     pid, its start time, yes or no (temporary), folder
 *     FOLDER/server                  pid, host, port: the mark that the folder is that store's
 *     FOLDER/keeper.sh
 *
 * I1. Nothing is believed of a note that stands in a folder of somebody else, or whose folder has not the
 *     mark with the same pid: then it is left alone.
 * I2. A process is only signalled if it is a redis-server of this user that began when the note says. */
#include "cluster/launch/store_keeper.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "cluster/launch/store_server.h"
#include "exec/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern const char cluster_launch_store_keeper_sh[]; /* store_keeper.sh */

struct store_note {
    int pid;
    unsigned long long began; /* field 22 of its stat: in ticks since the machine was started */
    char temporary[8];
    char folder[4096];
};

/* 0: there is no such process, or only its end is not yet noticed. */
static unsigned long long keeper_began(int pid)
{
    char name[24], text[1024];
    unsigned long long began = 0;
    snprintf(name, sizeof name, "%d", pid);
    const char *at = proc_stat(name, text, sizeof text); /* behind the second field */
    if (at && strncmp(at, " Z", 2) == 0)
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    return at && sscanf(at, "%llu", &began) == 1 ? began : 0;
}

/* The folder of this user's notes; false: it is somebody else's, or cannot be made. */
static bool keeper_notes(struct strbuf *path)
{
    const char *base = getenv("TMPDIR");
    struct stat s;
    strbuf_printf(path, "%s/weft-stores-%u", base && *base ? base : "/tmp", (unsigned)geteuid());
    if (mkdir(path->at, 0700) != 0 && errno != EEXIST)
        return false;
    return lstat(path->at, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
           !(s.st_mode & 077);
}

static bool keeper_read_note(const char *path, struct store_note *n)
{
    FILE *f = fopen(path, "re");
    bool good =
        f && fscanf(f, "%d %llu %7s %4095[^\n]", &n->pid, &n->began, n->temporary, n->folder) == 4;
    if (f)
        fclose(f);
    return good && n->pid > 1 && n->folder[0] == '/';
}

/* I1. The pid and port of the server that the folder is of. */
static bool keeper_mark(const char *folder, int *pid, int *port)
{
    struct strbuf path = {0};
    struct stat s;
    char host[256];
    strbuf_printf(&path, "%s/server", folder);
    bool good = lstat(path.at, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid();
    FILE *f = good ? fopen(path.at, "re") : NULL;
    good = f && fscanf(f, "%d %255s %d", pid, host, port) == 3;
    if (f)
        fclose(f);
    strbuf_free(&path);
    return good;
}

/* A connection that is open at the port of a server here. */
static bool keeper_is_used(int port)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    bool used = false;
    for (int i = 0; i < 2 && !used; i++) {
        char line[512];
        FILE *f = fopen(tables[i], "re");
        while (f && !used && fgets(line, sizeof line, f)) {
            unsigned at = 0, state = 0;
            used = sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &at, &state) == 2 &&
                   (int)at == port && state == 1;
        }
        if (f)
            fclose(f);
    }
    return used;
}

/* Its keeper, which sees to it; 0: it has none that runs. */
static int keeper_of(const char *folder)
{
    struct strbuf path = {0};
    int pid = 0;
    unsigned long long began = 0;
    strbuf_printf(&path, "%s/keeper", folder);
    FILE *f = fopen(path.at, "re");
    bool good = f && fscanf(f, "%d %llu", &pid, &began) == 2 && pid > 1 &&
                keeper_began(pid) == began && began;
    if (f)
        fclose(f);
    strbuf_free(&path);
    return good ? pid : 0;
}

/* One store that an earlier start left. */
static void keeper_clear_note(const char *path)
{
    struct store_note n;
    int pid = 0, port = 0;
    if (!keeper_read_note(path, &n))
        return;
    bool marked = keeper_mark(n.folder, &pid, &port) && pid == n.pid;
    bool runs = keeper_began(n.pid) == n.began && n.began; /* I2 */
    if (runs && (!marked || keeper_of(n.folder) || keeper_is_used(port)))
        return;
    if (runs)
        store_server_stop(n.pid);
    if (marked && strcmp(n.temporary, "yes") == 0) {
        char *slash = strrchr(n.folder, '/');
        tree_remove(n.folder);
        *slash = 0;
        rmdir(n.folder); /* the agent's, when nothing else is in it */
    }
    unlink(path);
}

static void keeper_clear(const char *notes)
{
    folder_names names = {0};
    struct strbuf path = {0};
    if (folder_list(notes, &names))
        for (size_t i = 0; i < names.n; i++) {
            strbuf_clear(&path);
            strbuf_printf(&path, "%s/%s", notes, names.at[i]);
            keeper_clear_note(path.at);
        }
    folder_names_free(&names);
    strbuf_free(&path);
}

/* In a session of its own, with nobody's descriptors: it outlives us. */
static bool keeper_spawn(char *const words[], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int reason = posix_spawn(pid, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return reason == 0;
}

static bool keeper_write(const char *folder, const char *name, const char *text, size_t n)
{
    struct strbuf path = {0};
    struct error ignored = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    bool good = file_write(path.at, text, n, &ignored);
    strbuf_free(&path);
    return good;
}

static void keeper_begin(const char *folder, const char *notes, bool temporary, double seconds)
{
    int server = 0, port = 0, n;
    pid_t pid = 0;
    char number[16], hex[8], most[24], line[4200];
    struct strbuf script = {0}, note = {0};
    const char *yes = temporary ? "yes" : "no";
    if (!keeper_mark(folder, &server, &port) || keeper_of(folder))
        return;
    snprintf(number, sizeof number, "%d", server);
    snprintf(hex, sizeof hex, "%04X", (unsigned)port & 0xffff);
    snprintf(most, sizeof most, "%.0f", seconds);
    strbuf_printf(&script, "%s/keeper.sh", folder);
    strbuf_printf(&note, "%s/%d", notes, server);
    n = snprintf(line, sizeof line, "%d %llu %s %s\n", server, keeper_began(server), yes, folder);
    if (n < (int)sizeof line)
        keeper_write(notes, number, line, (size_t)n);
    char *words[] = {(char *)"sh",   script.at,   number,  hex, most,
                     (char *)folder, (char *)yes, note.at, NULL};
    if (keeper_write(folder, "keeper.sh", cluster_launch_store_keeper_sh,
                     strlen(cluster_launch_store_keeper_sh)) &&
        keeper_spawn(words, &pid)) {
        n = snprintf(line, sizeof line, "%d %llu\n", (int)pid, keeper_began(pid));
        keeper_write(folder, "keeper", line, (size_t)n);
    }
    strbuf_free(&script);
    strbuf_free(&note);
}

void store_keeper_start(const char *folder, bool temporary, double seconds)
{
    struct strbuf notes = {0};
    const char *given = getenv("WEFT_STORE_IDLE");
    char *whole = realpath(folder, NULL), *end = NULL;
    double asked = given ? strtod(given, &end) : 0;
    if (whole && keeper_notes(&notes)) {
        keeper_clear(notes.at);
        keeper_begin(whole, notes.at, temporary, asked > 0 && !*end ? asked : seconds);
    }
    strbuf_free(&notes);
    free(whole);
}

/* It would notice by itself, some seconds later. In its session are it and what it waits with. */
void store_keeper_end(const char *folder)
{
    struct strbuf note = {0};
    int server = 0, port = 0, keeper = keeper_of(folder);
    if (!keeper_mark(folder, &server, &port) || keeper_began(server))
        return;
    if (keeper && kill(-keeper, SIGTERM) == 0)
        for (int i = 0; i < 100 && waitpid(keeper, NULL, WNOHANG) == 0; i++) /* when it is ours */
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (keeper_notes(&note)) {
        strbuf_printf(&note, "/%d", server);
        unlink(note.at);
    }
    strbuf_free(&note);
}
