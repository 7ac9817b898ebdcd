/* Cleaning: counts what it removes as it goes; what cannot be removed is not counted. An output is
 * removed only with the content that a task of this folder left (memo/standing.h); what stands in its
 * place otherwise is somebody's, stays, and is named. */
#include "session/cleaning.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/tree.h"
#include "base/plural.h"
#include "memo/standing.h"
#include "model/select.h"
#include "report/human.h"
#include "session/kept_keys.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Counted only when it is gone (or would be): a file that cannot be removed is not claimed. */
static void cleaning_drop(struct cleaning *c, const char *path, uint32_t *count)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    double size = tree_bytes(path);
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
        if (e->d_name[0] != '.' && strncmp(e->d_name, begins, strlen(begins)) == 0)
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
        if (w->producer[o] == NONE || !w->object_name[o] || (c->only && !c->only[w->producer[o]]))
            continue;
        /* a temporary file is of use only to a consumer that must still run */
        bool wanted = false;
        uint32_t n;
        const uint32_t *consumers = workflow_consumers(w, o, &n);
        for (uint32_t i = 0; i < n; i++)
            wanted |= need_runs(&s->needs, consumers[i]);
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
               c->kept - KEPT_TOLD, plural(c->kept - KEPT_TOLD));
    strbuf_free(&path);
}

/* Which records go. */
struct cleaning_records {
    struct kept_keys keys;
    uint32_t dropped;
    bool all; /* none stays, or of a part: those of others */
    const struct session *s;
};

/* A record stays while some task of the workflow as it is now has its key, or its results are kept. With a part all but
 * its own stay. */
static bool cleaning_keeps(void *context, const struct memo_task *t)
{
    struct cleaning_records *r = context;
    bool has = (!r->all || r->keys.only) && kept_keys_has(&r->keys, t);
    if (r->keys.only ? !has
                     : !r->all && (has || keeping_needs_record(&r->s->keeping, r->s->ws.memo, t)))
        return true;
    r->dropped++;
    return false;
}

static bool cleaning_drop_records(struct session *s, struct cleaning *c, struct error *err)
{
    struct cleaning_records k = {.keys = {.of = &s->needs, .only = c->only}, .all = c->all, .s = s};
    double before = 0, after = 0;
    bool good = c->dry || memo_compact(s->ws.memo, cleaning_keeps, &k, &before, &after, err);
    c->records = k.dropped;
    c->bytes += before - after;
    kept_keys_free(&k.keys);
    return good;
}

void session_clean_kept(struct session *s, bool dry, uint32_t *count, double *bytes)
{
    struct objects_eviction e = {.age = dry ? INFINITY : -1, .size = INFINITY};
    objects_evict(s->keeping.objects, &e);
    *count = dry ? e.left_count : e.count;
    *bytes = dry ? e.left_bytes : e.bytes;
}

/* Outputs of a part and the records of them. What the rest of the workflow has, and what is about runs and not about tasks,
 * stays. */
static bool cleaning_part(struct session *s, struct cleaning *c, struct error *err)
{
    if (!c->all)
        return error_set(
            err, ERROR_INPUT,
            "of a part of a workflow only outputs can be removed; say --all, or name no "
            "part");
    const char **targets = path_home_names(s->ws.folder, c->targets);
    const char **since = path_home_names(s->ws.folder, c->since);
    uint8_t *only = mem_new(uint8_t, s->w->ntasks);
    bool good = (targets || session_knows_after(s, c->since, err)) &&
                select_part(s->w, targets, since, only, NULL, err);
    c->only = only;
    if (good) {
        cleaning_drop_outputs(s, c);
        good = cleaning_drop_records(s, c, err);
    }
    c->only = NULL;
    free(only);
    free(targets);
    free(since);
    return good;
}

/* A failure to write the records again does not keep the files: the rest is cleaned all the same. */
bool session_clean(struct session *s, struct cleaning *c, struct error *err)
{
    uint32_t images = 0; /* nobody counts them: they are made again */
    if (s->is_part || (c->targets && *c->targets) || (c->since && *c->since))
        return cleaning_part(s, c, err);
    cleaning_drop_inside(s, c, "logs", "", &c->logs);
    cleaning_drop_inside(s, c, "sandbox", "", &c->sandboxes);
    cleaning_drop_inside(s, c, "kept", "", &c->sandboxes);
    cleaning_drop_inside(s, c, "failed", "", &c->sandboxes);
    if (c->all) {
        cleaning_drop_inside(s, c, ".", "image-", &images);
        cleaning_drop_inside(s, c, "conda", "", &images);
    }
    cleaning_drop_outputs(s, c);
    struct objects_eviction left = {.age = INFINITY, .size = INFINITY};
    if (!c->dry && s->keeping.objects && objects_exist(s->keeping.objects)) {
        char size[HUMAN_SIZE];
        objects_evict(s->keeping.objects, &left); /* what a killed run left half made */
        if (left.left_count)
            remark(&s->o.remarks, REMARK_INFO, "%u kept result%s (%s) stay; --kept removes them",
                   left.left_count, plural(left.left_count), human_bytes(size, left.left_bytes));
    }
    return cleaning_drop_records(s, c, err);
}
