/* The workspace: naming and creating the .weft folder, reading the memo ahead, marks of a crash.
 *
 * I1. The memo's lock is what keeps two runs out of one folder: marks and leftovers are touched only
 *     by who has the memo open.
 * I2. The loader's thread touches its struct memo_loader and nothing else; the workspace reads that
 *     after joining it. Every way out (open, close) joins it. It has a boundary of its own
 *     (base/mem.h): memory that ran out there is raised again by who joins it.
 * I3. Nothing is created in the folder before the workflow is known to be one: reading ahead starts
 *     only when a memo is there already. */
#include "session/workspace.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "exec/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct memo_loader {
    pthread_t thread;
    char *path;
    bool look;
    struct memo *memo;
    struct memo_opened found;
    struct error err;
    bool failed; /* `asked` bytes were not there */
    size_t asked;
};

static void workspace_path(const struct workspace *ws, const char *name, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/%s", ws->state, name);
}

static void loader_read_memo(void *context)
{
    struct memo_loader *l = context;
    l->memo = l->look ? memo_look(l->path, &l->err) : memo_open(l->path, &l->found, &l->err);
}

/* On nobody's account, as everything of a run (api/run_handle.h): the memo outlives the call. */
static void *loader_thread(void *context)
{
    struct memo_loader *l = context;
    l->failed = !mem_try(NULL, loader_read_memo, l, &l->asked);
    return NULL;
}

/* Without a memo there is nothing to read, and without a thread nothing is lost but time. */
static void loader_begin(struct workspace *ws)
{
    struct strbuf path = {0};
    workspace_path(ws, "memo", &path);
    if (access(path.at, F_OK) != 0) { /* I3 */
        strbuf_free(&path);
        return;
    }
    struct memo_loader *l = mem_new_zero(struct memo_loader, 1);
    l->path = strbuf_steal(&path);
    l->look = ws->look;
    if (pthread_create(&l->thread, NULL, loader_thread, l) == 0) {
        ws->loader = l;
        return;
    }
    free(l->path); /* no thread to be had: workspace_open() reads it itself */
    free(l);
}

/* Wait for the thread and take over what it read. False: memory ran out there, for `*asked` bytes. */
static bool loader_end(struct workspace *ws, size_t *asked, struct error *err)
{
    struct memo_loader *l = ws->loader;
    if (!l)
        return true;
    pthread_join(l->thread, NULL);
    ws->memo = l->memo;
    ws->found = l->found;
    if (!l->memo)
        error_set(err, l->err.kind, "%s", l->err.text);
    bool good = !l->failed;
    *asked = l->asked;
    free(l->path);
    free(l);
    ws->loader = NULL;
    return good;
}

/* The folder as it is named, never made absolute: messages show it as the user wrote it. */
void workspace_begin(struct workspace *ws, const char *flow, const char *folder, bool look)
{
    const char *slash = strrchr(flow, '/');
    struct strbuf path = {0};
    *ws = (struct workspace){.look = look};
    if (folder)
        ws->folder = mem_copy_string(folder);
    else if (slash)
        ws->folder = mem_copy_bytes(flow, (size_t)(slash - flow) + (slash == flow));
    else
        ws->folder = mem_copy_string(".");
    size_t n = strlen(ws->folder);
    strbuf_printf(&path, "%s%s.weft", ws->folder, n && ws->folder[n - 1] == '/' ? "" : "/");
    ws->state = strbuf_steal(&path);
    loader_begin(ws);
}

static bool workspace_is_folder(const struct workspace *ws, struct error *err)
{
    struct stat st;
    return (stat(ws->folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
           error_set(err, ERROR_INPUT, "%s: not a folder", ws->folder);
}

/* Others of the group may be meant to read logs there, and to run; everybody else may not write. */
static bool workspace_create_state(const struct workspace *ws, struct error *err)
{
    if (!workspace_is_folder(ws, err))
        return false;
    if (mkdir(ws->state, 0775) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED,
                         "%s: cannot make the folder in which weft remembers what it has done: %s; "
                         "-C names another",
                         ws->state, strerror(errno));
    return folder_check_owner(ws->state, err);
}

/* ---- one at a time ---- */

/* A line each: process, host, seconds since 1970, command. What cannot be written costs others the
 * words, and nothing else. */
static void workspace_write_holder(const struct workspace *ws)
{
    struct strbuf path = {0}, command = {0};
    struct text words;
    char host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    if (file_read("/proc/self/cmdline", &words, NULL)) {
        for (size_t i = 0; i + 1 < words.n; i++) /* its words end with NUL */
            words.at[i] = words.at[i] ? words.at[i] : ' ';
        utf8_add_visible(&command, words.at);
        text_free(&words);
    }
    workspace_path(ws, "holder", &path);
    int fd = open(path.at, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0) {
        dprintf(fd, "%d\n%s\n%lld\n%.1000s\n", (int)getpid(), host, (long long)time(NULL),
                strbuf_text(&command));
        close(fd);
    }
    strbuf_free(&path);
    strbuf_free(&command);
}

/* "process 4711 (weft run flow.yaml), since 14:02:11": whoever has the folder, as it says itself. */
static void workspace_describe_holder(const struct workspace *ws, struct strbuf *out)
{
    struct strbuf path = {0};
    struct text text = {0};
    char host[256] = "", when[64] = "", *line[4] = {0}, *rest = NULL;
    workspace_path(ws, "holder", &path);
    if (file_exists(path.at) && file_read(path.at, &text, NULL))
        for (int i = 0; i < 4 && (line[i] = strtok_r(i ? NULL : text.at, "\n", &rest)); i++)
            ;
    strbuf_clear(out);
    if (line[2]) {
        gethostname(host, sizeof host - 1);
        time_t since = (time_t)strtoll(line[2], NULL, 10), now = time(NULL);
        struct tm parts;
        bool today = now - since < 43200;
        strftime(when, sizeof when, today ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S",
                 localtime_r(&since, &parts));
        bool here = strcmp(line[1], host) == 0;
        strbuf_add(out, "process ");
        utf8_add_visible(out, line[0]);
        strbuf_add(out, here ? "" : " on ");
        utf8_add_visible(out, here ? "" : line[1]);
        strbuf_add(out, line[3] ? " (" : "");
        utf8_add_visible(out, line[3] ? line[3] : "");
        strbuf_printf(out, "%s, since %s", line[3] ? ")" : "", when);
    } else {
        strbuf_add(out, "a process that has not said which");
    }
    text_free(&text);
    strbuf_free(&path);
}

/* Somebody has the folder. memo_open() tries for a second each time, so that it is not asked too often.
 * Whoever comes next is told of as well. */
static void workspace_wait(struct workspace *ws, const char *memo, double wait,
                           const struct remarks *remarks, struct error *err)
{
    double until = clock_seconds() + wait;
    struct strbuf who = {0}, told = {0};
    struct error why = {0};
    while (!ws->memo && ws->found.busy && clock_seconds() < until) {
        workspace_describe_holder(ws, &who);
        if (strcmp(strbuf_text(&who), strbuf_text(&told)) != 0)
            remark(remarks, REMARK_INFO, "waiting: %s is at work in %s", strbuf_text(&who),
                   ws->folder);
        strbuf_clear(&told);
        strbuf_add(&told, strbuf_text(&who));
        error_clear(&why);
        ws->memo = memo_open(memo, &ws->found, &why);
    }
    if (!ws->memo && ws->found.busy) {
        workspace_describe_holder(ws, &who);
        error_set(err, ERROR_FAILED,
                  "%s: another weft is at work in this folder: %s; --wait waits for it", ws->folder,
                  strbuf_text(&who));
    } else if (!ws->memo) {
        error_set(err, why.kind, "%s", why.text);
    }
    strbuf_free(&who);
    strbuf_free(&told);
}

/* The memo that the loader's thread has opened, or one that is opened here. */
static void workspace_open_memo(struct workspace *ws, const char *path, double wait,
                                const struct remarks *remarks, struct error *err)
{
    struct error why = {0};
    size_t asked;
    if (ws->loader) {
        if (!loader_end(ws, &asked, &why))
            mem_fail(asked);
    } else {
        ws->memo = ws->look ? memo_look(path, &why) : memo_open(path, &ws->found, &why);
    }
    if (!ws->memo && ws->found.busy)
        workspace_wait(ws, path, wait, remarks, err);
    else if (!ws->memo)
        error_set(err, why.kind, "%s", why.text);
}

bool workspace_open(struct workspace *ws, double wait, const struct remarks *remarks,
                    struct error *err)
{
    struct strbuf path = {0};
    /* a folder that cannot be written is told before the memo is waited for */
    if (!(ws->look ? workspace_is_folder(ws, err) : workspace_create_state(ws, err)))
        return false;
    workspace_path(ws, "memo", &path);
    workspace_open_memo(ws, path.at, wait, remarks, err);
    if (ws->memo) {
        workspace_path(ws, "running", &path);
        ws->crashed = !ws->look && access(path.at, F_OK) == 0;
    }
    if (ws->memo && !ws->look)
        workspace_write_holder(ws);
    if (ws->memo && ws->found.cut)
        remark(remarks, REMARK_INFO,
               "the last run here was cut off while writing; %llu bytes of an unfinished record "
               "were dropped",
               (unsigned long long)ws->found.cut);
    strbuf_free(&path);
    return ws->memo != NULL;
}

/* A mark that cannot be written costs the remark after a crash, and nothing else. */
void workspace_mark(const struct workspace *ws, bool running)
{
    struct strbuf path = {0};
    workspace_path(ws, "running", &path);
    int fd =
        running ? open(path.at, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) {
        dprintf(fd, "%d\n", (int)getpid());
        close(fd);
    }
    if (!running)
        unlink(path.at);
    strbuf_free(&path);
}

void workspace_clear_leftovers(const struct workspace *ws, const struct remarks *remarks)
{
    struct strbuf path = {0};
    int pid = 0;
    workspace_path(ws, "running", &path);
    FILE *f = fopen(path.at, "re");
    /* children_end_of() does nothing while a process of that number lives: it is another's by now */
    uint32_t ended = f && fscanf(f, "%d", &pid) == 1 ? children_end_of(pid) : 0;
    if (f)
        fclose(f);
    if (ended)
        remark(remarks, REMARK_INFO, "%u process%s of that run still ran and %s ended", ended,
               ended == 1 ? "" : "es", ended == 1 ? "was" : "were");
    strbuf_free(&path);
    workspace_clear_sandboxes(ws);
}

void workspace_clear_sandboxes(const struct workspace *ws)
{
    struct strbuf path = {0};
    workspace_path(ws, "sandbox", &path);
    tree_remove(path.at);
    strbuf_free(&path);
}

void workspace_abandon(struct workspace *ws)
{
    size_t asked;
    loader_end(ws, &asked, &(struct error){0});
    memo_abandon(ws->memo);
    ws->memo = NULL;
}

void workspace_close(struct workspace *ws, const struct remarks *remarks)
{
    struct error err = {0};
    /* the thread may still be reading, when the workflow turned out to be none: I2 */
    size_t asked;
    loader_end(ws, &asked, &(struct error){0});
    if (ws->memo && !ws->look) { /* before the lock is given up: then it is another's */
        struct strbuf path = {0};
        workspace_path(ws, "holder", &path);
        unlink(path.at);
        strbuf_free(&path);
    }
    bool written = memo_close(ws->memo, &err);
    ws->memo = NULL;
    if (!written)
        remark(remarks, REMARK_WARNING, "%s", err.text);
    free(ws->folder);
    free(ws->state);
    *ws = (struct workspace){0};
}
