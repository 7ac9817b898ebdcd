/* Cleaning: counts what it removes as it goes; what cannot be removed is not counted. An output is
 * removed only with the content that a task of this folder left (memo/standing.h); what stands in its
 * place otherwise is somebody's, stays, and is named. */
#include "session/cleaning.h"

#include "base/mem.h"
#include "base/tree.h"
#include "memo/standing.h"

#include <dirent.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of a tree, links not followed. fts keeps no state outside its handle, so that several
 * sessions may clean at once. */
static double cleaning_size(const char *path)
{
    double sum = 0;
    char *paths[] = {(char *)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; walk && (e = fts_read(walk)) != NULL;)
        if (e->fts_info != FTS_DP && e->fts_statp)
            sum += (double)e->fts_statp->st_size;
    if (walk)
        fts_close(walk);
    return sum;
}

/* Counted only when it is gone (or would be): a file that cannot be removed is not claimed. */
static void cleaning_drop(struct cleaning *c, const char *path, uint32_t *count)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    double size = cleaning_size(path);
    if (!c->dry && !tree_remove(path))
        return;
    c->bytes += size;
    ++*count;
}

/* Everything in a folder of ours whose name begins so. */
static void cleaning_drop_inside(const struct session *s, struct cleaning *c, const char *name,
                                 const char *begins, uint32_t *count)
{
    struct strbuf folder = {0}, path = {0};
    strbuf_printf(&folder, "%s/%s", s->ws.state, name);
    DIR *d = opendir(folder.at);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strncmp(e->d_name, begins, strlen(begins)) == 0)
            cleaning_drop(c, path_in(folder.at, e->d_name, &path), count);
    if (d)
        closedir(d);
    strbuf_free(&folder);
    strbuf_free(&path);
}

enum { KEPT_TOLD = 20 }; /* are named, the rest are counted */

static void cleaning_keep(struct session *s, struct cleaning *c, const char *path,
                          enum standing standing)
{
    if (c->kept++ < KEPT_TOLD)
        remark(&s->o.remarks, REMARK_WARNING, "kept %s: %s", path,
               standing == STANDING_CHANGED ? "it is not as a task left it; it was changed since"
                                            : "weft has no record that a task made it");
}

/* Before the records go, which know what tasks left. */
static void cleaning_drop_outputs(struct session *s, struct cleaning *c)
{
    const struct workflow *w = s->w;
    struct strbuf path = {0};
    char label[512];
    for (uint32_t o = 0; o < w->nobjects; o++) {
        bool temporary = workflow_is_temporary(w, o);
        if (w->producer[o] == NONE || !w->object_name[o])
            continue;
        /* a temporary file is of use only to a consumer that must still run */
        bool wanted = false;
        uint32_t n;
        const uint32_t *consumers = workflow_consumers(w, o, &n);
        for (uint32_t i = 0; i < n; i++)
            wanted |= s->needs.task[consumers[i]] != NEED_NOT;
        if (!c->all && (!temporary || wanted))
            continue;
        path_in(s->ws.folder, workflow_object_label(w, o, label, sizeof label), &path);
        enum standing standing = standing_at(&s->needs, o);
        if (standing >= STANDING_CHANGED)
            cleaning_keep(s, c, path.at, standing);
        else
            cleaning_drop(c, path.at, &c->files);
    }
    if (c->kept > KEPT_TOLD)
        remark(&s->o.remarks, REMARK_WARNING, "kept %u more file%s that weft did not make",
               c->kept - KEPT_TOLD, c->kept - KEPT_TOLD == 1 ? "" : "s");
    strbuf_free(&path);
}

/* Keys of the workflow as it is now. */
struct keys_now {
    struct digest *at;
    size_t n;
    uint32_t dropped;
    bool none;
};

static int digest_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

/* A record stays while some task of the workflow as it is now has its key. */
static bool cleaning_keeps(void *context, const struct memo_task *t)
{
    struct keys_now *k = context;
    if (!k->none && k->n && bsearch(&t->key, k->at, k->n, sizeof *k->at, digest_order))
        return true;
    k->dropped++;
    return false;
}

/* Keys that are not known yet (an input is missing) keep nothing: such a task would run anyway. */
static bool cleaning_drop_records(struct session *s, struct cleaning *c, struct error *err)
{
    const struct workflow *w = s->w;
    struct keys_now k = {.at = mem_new(struct digest, w->ntasks), .none = c->all};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const struct memo_task *known = need_find_record(&s->needs, t);
        if (known)
            k.at[k.n++] = known->key;
    }
    if (k.n)
        qsort(k.at, k.n, sizeof *k.at, digest_order);
    double before = 0, after = 0;
    bool good = c->dry || memo_compact(s->ws.memo, cleaning_keeps, &k, &before, &after, err);
    c->records = k.dropped;
    c->bytes += before - after;
    free(k.at);
    return good;
}

/* A failure to write the records again does not keep the files: the rest is cleaned all the same. */
bool session_clean(struct session *s, struct cleaning *c, struct error *err)
{
    uint32_t images = 0; /* nobody counts them: they are made again */
    cleaning_drop_inside(s, c, "logs", "", &c->logs);
    cleaning_drop_inside(s, c, "sandbox", "", &c->sandboxes);
    if (c->all)
        cleaning_drop_inside(s, c, ".", "image-", &images);
    cleaning_drop_outputs(s, c);
    return cleaning_drop_records(s, c, err);
}
