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

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "exec/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct memo_loader {
    pthread_t thread;
    char *path;
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
    l->memo = memo_open(l->path, &l->found, &l->err);
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
void workspace_begin(struct workspace *ws, const char *flow, const char *folder)
{
    const char *slash = strrchr(flow, '/');
    struct strbuf path = {0};
    *ws = (struct workspace){0};
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

static bool workspace_create_state(const struct workspace *ws, struct error *err)
{
    struct stat st;
    if (stat(ws->folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return error_set(err, ERROR_INPUT, "%s: not a folder", ws->folder);
    if (mkdir(ws->state, 0777) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED,
                         "%s: cannot make the folder in which weft remembers what it has done: %s; "
                         "-C names another",
                         ws->state, strerror(errno));
    return true;
}

bool workspace_open(struct workspace *ws, const struct remarks *remarks, struct error *err)
{
    struct strbuf path = {0};
    /* a folder that cannot be written is told before the memo is waited for */
    if (!workspace_create_state(ws, err))
        return false;
    if (ws->loader) {
        size_t asked;
        if (!loader_end(ws, &asked, err))
            mem_fail(asked);
    } else {
        workspace_path(ws, "memo", &path);
        ws->memo = memo_open(path.at, &ws->found, err);
    }
    if (ws->memo) {
        workspace_path(ws, "running", &path);
        ws->crashed = access(path.at, F_OK) == 0;
    }
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
    FILE *f = running ? fopen(path.at, "we") : NULL;
    if (f) {
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
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
    bool written = memo_close(ws->memo, &err);
    ws->memo = NULL;
    if (!written)
        remark(remarks, REMARK_WARNING, "%s", err.text);
    free(ws->folder);
    free(ws->state);
    *ws = (struct workspace){0};
}
