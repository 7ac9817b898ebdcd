/* The lineage of a file, as a graph of its own.
 *
 * A file here is a record of one: what a run made at a path, or an input that it found. Back: the maker
 * of a record read its inputs as the newest record up to that run has them; an input with the content
 * of something that a run made is that. Forward: a content was read wherever it stood, from the run
 * that put it there to the one that put something else there; what its readers made in these runs came
 * of it. What was made again with the same content is the same file.
 *
 * Both walk a queue. Each workflow is parsed once. */
#include "session/lineage.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/builder.h"
#include "session/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS_MOST 1000 /* runs that are looked at for readers of one file */
#define PARSED_MOST 64    /* workflows that are kept parsed */

/* A file in the graph. */
struct lineage_file {
    struct history_origin origin; /* owned */
    uint32_t object;
};

struct lineage_walk {
    struct history *h;
    struct builder *b;
    struct lineage *out;
    const char *folder; /* of the file that was asked for: others show their whole path */
    struct intern files, tasks, edges; /* edges: of the forward side */
    ARRAY(struct lineage_file) file;   /* beside files */
    struct {
        int64_t number; /* history_workflow_number() */
        struct workflow *w;
    } parsed[PARSED_MOST];
};

static void origin_free(struct history_origin *o)
{
    free(o->name);
    free(o->folder);
    free(o->maker);
    free(o->file.path);
}

/* The workflow of a run; NULL: its text was not kept. One cell each, by number: runs of one workflow, of
 * which a study has hundreds, read it once. */
static const struct workflow *walk_workflow(struct lineage_walk *k, int64_t run)
{
    int64_t number = history_workflow_number(k->h, run);
    size_t at = (size_t)number % PARSED_MOST;
    if (!number)
        return NULL;
    if (k->parsed[at].number != number) {
        workflow_free(k->parsed[at].w);
        k->parsed[at].number = number;
        k->parsed[at].w = recorded_workflow(k->h, run);
    }
    return k->parsed[at].w;
}

/* What it is called in the graph: the path, whole if it is of another folder; with its run, if another
 * file is called so. */
static uint32_t walk_object(struct lineage_walk *k, const struct history_origin *o)
{
    struct strbuf name = {0};
    if (*o->file.path != '/' && o->folder && strcmp(o->folder, k->folder) != 0)
        strbuf_printf(&name, "%s/", o->folder);
    strbuf_add(&name, o->file.path);
    if (builder_find_object(k->b, name.at, name.n) != NONE)
        strbuf_printf(&name, " (run %lld)", (long long)o->run);
    uint32_t object = builder_object(k->b, name.at, name.n);
    if (o->file.size > 0)
        builder_size(k->b, object, o->file.size, 0);
    strbuf_free(&name);
    return object;
}

/* Takes the origin over. The number of the file; the same for the same record. */
static uint32_t walk_file(struct lineage_walk *k, struct history_origin *o)
{
    struct strbuf key = {0};
    char digest[DIGEST_TEXT];
    /* an input is the same in every run that found it as it was */
    if (o->maker)
        strbuf_printf(&key, "%lld %s", (long long)o->run, o->file.path);
    else
        strbuf_printf(&key, "%s %s/%s", digest_text(&o->file.digest, digest),
                      o->folder ? o->folder : "", o->file.path);
    uint32_t n = intern_number(&k->files, key.at, key.n);
    strbuf_free(&key);
    if (n < k->file.n) {
        origin_free(o);
        return n;
    }
    struct lineage_file f = {*o, walk_object(k, o)};
    array_push(&k->file, f);
    return n;
}

/* The task of the graph; NONE: there are too many. `fresh`: it was not there. */
static uint32_t walk_task(struct lineage_walk *k, int64_t run, const char *task, bool *fresh)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%s (run %lld)", task, (long long)run);
    uint32_t n = intern_find(&k->tasks, name.at, name.n);
    *fresh = n == NONE;
    if (*fresh && k->tasks.n >= LINEAGE_MOST) {
        k->out->cut = true;
    } else if (*fresh) {
        n = intern_number(&k->tasks, name.at, name.n);
        builder_task(k->b, name.at, name.n, 0);
        builder_kind(k->b, n, task, strlen(task));
        array_push(&k->out->run, run);
    }
    strbuf_free(&name);
    return n;
}

/* ---- back ---- */

static bool origin_same_place(const struct history_origin *a, const struct history_origin *b)
{
    return strcmp(a->file.path, b->file.path) == 0 &&
           strcmp(a->folder ? a->folder : "", b->folder ? b->folder : "") == 0;
}

/* The first of these runs that had the content where `o` has it. */
static int64_t origin_first(const history_origins *same, const struct history_origin *o)
{
    int64_t first = o->run;
    for (size_t i = 0; i < same->n; i++)
        if (same->at[i].run < first && origin_same_place(&same->at[i], o))
            first = same->at[i].run;
    return first;
}

/* An input that a run made, elsewhere or under another name: before the first run that found it. (What
 * a task copies has the same content later, and is not what it was made of.) */
static bool walk_by_content(struct lineage_walk *k, struct history_origin *o, struct error *err)
{
    history_origins same;
    if (o->maker || digest_is_zero(&o->file.digest) || !o->file.size)
        return true; /* empty files are all alike */
    if (!history_content(k->h, &o->file.digest, READERS_MOST, &same, err))
        return false;
    int64_t first = origin_first(&same, o);
    for (size_t i = 0; i < same.n; i++)
        if (same.at[i].maker && same.at[i].run < first) {
            struct history_origin found = same.at[i];
            same.at[i] = *o;
            *o = found;
            break;
        }
    history_origins_free(&same);
    return true;
}

/* One input of a task of a run. */
static bool walk_input(struct lineage_walk *k, const struct history_origin *maker, uint32_t task,
                       const char *name, struct error *err)
{
    struct history_origin o = {0};
    int found = history_file_at(k->h, maker->folder, name, maker->run, &o, err);
    if (found < 0)
        return false;
    if (!found) /* not recorded: it stands there by its name */
        o = (struct history_origin){.run = maker->run,
                                    .folder = maker->folder ? mem_copy_string(maker->folder) : NULL,
                                    .file.task = NONE,
                                    .file.path = mem_copy_string(name)};
    if (!walk_by_content(k, &o, err)) {
        origin_free(&o);
        return false;
    }
    uint32_t n = walk_file(k, &o); /* first: the array moves */
    builder_consumes(k->b, task, k->file.at[n].object, 0);
    return true;
}

/* The maker of file number n, with all that it read; these files come into the queue. */
static bool walk_back(struct lineage_walk *k, uint32_t n, struct error *err)
{
    const struct history_origin o = k->file.at[n].origin; /* the array moves */
    const struct workflow *w = o.maker ? walk_workflow(k, o.run) : NULL;
    bool fresh, ok = true;
    if (!o.maker)
        return true;
    uint32_t task = walk_task(k, o.run, o.maker, &fresh);
    if (task == NONE)
        return true;
    builder_produces(k->b, task, k->file.at[n].object, 0);
    uint32_t t = fresh && w ? workflow_find_task(w, o.maker) : NONE;
    if (t == NONE)
        return true;
    char buffer[512];
    uint32_t before = NONE;
    for (uint32_t e = w->pred_off[t]; ok && e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
            before = w->pred_object[e];
            ok = walk_input(k, &o, task, workflow_object_label(w, before, buffer, sizeof buffer),
                            err);
        }
    for (uint32_t e = w->input_off ? w->input_off[t] : 0;
         ok && w->input_off && e < w->input_off[t + 1]; e++)
        ok = walk_input(k, &o, task,
                        workflow_object_label(w, w->input_object[e], buffer, sizeof buffer), err);
    return ok;
}

/* ---- forward ---- */

/* A place may be looked at twice, when its content came back. */
static bool walk_edge_is_new(struct lineage_walk *k, uint32_t file, uint32_t task)
{
    char key[32];
    int n = snprintf(key, sizeof key, "%u %u", file, task);
    uint32_t before = k->edges.n;
    return intern_number(&k->edges, key, (size_t)n) == before;
}

/* What a reader made in this run. `from`: the file that it read. */
static bool walk_reader(struct lineage_walk *k, const struct workflow *w, uint32_t reader,
                        const char *folder, int64_t run, uint32_t from, struct error *err)
{
    char buffer[512];
    for (uint32_t o = w->object_off[reader]; o < w->object_end[reader]; o++) {
        struct history_origin made = {0};
        bool fresh;
        int found = history_file_at(
            k->h, folder, workflow_object_label(w, o, buffer, sizeof buffer), run, &made, err);
        if (found < 0)
            return false;
        /* found as it was: the run that made it has its own reader */
        if (!found || made.run != run || !made.maker) {
            origin_free(&made);
            continue;
        }
        uint32_t task = walk_task(k, run, made.maker, &fresh);
        if (task == NONE || task < k->out->nback) { /* cut, or it is what the file was made of */
            origin_free(&made);
            continue;
        }
        if (walk_edge_is_new(k, from, task))
            builder_consumes(k->b, task, k->file.at[from].object, 0);
        uint32_t before = k->files.n, n = walk_file(k, &made);
        if (n >= before)
            builder_produces(k->b, task, k->file.at[n].object, 0);
    }
    return true;
}

/* Readers in all runs from the one that put the content at this path to the one that put another. */
static bool walk_place(struct lineage_walk *k, const struct history_origin *o, uint32_t from,
                       struct error *err)
{
    int64_t list[READERS_MOST];
    size_t n = 0;
    bool ok = history_holders(k->h, o, list, READERS_MOST, &n, err);
    k->out->cut |= n == READERS_MOST;
    for (size_t i = 0; ok && i < n; i++) {
        const struct workflow *w = walk_workflow(k, list[i]);
        uint32_t object = w ? workflow_find_object(w, o->file.path) : NONE, readers = 0;
        const uint32_t *reader = object != NONE ? workflow_consumers(w, object, &readers) : NULL;
        for (uint32_t r = 0; ok && r < readers; r++)
            ok = walk_reader(k, w, reader[r], o->folder, list[i], from, err);
    }
    return ok;
}

/* Every place at which this content was read. Copies count from when they were found; what another task
 * made with the same content is another file, with a lineage of its own. */
static bool walk_forward(struct lineage_walk *k, uint32_t n, struct error *err)
{
    const struct history_origin o = k->file.at[n].origin;
    history_origins places;
    bool ok = true;
    if (digest_is_zero(&o.file.digest) || !o.file.size)
        return walk_place(k, &o, n, err);
    if (!history_content(k->h, &o.file.digest, READERS_MOST, &places, err))
        return false;
    for (size_t i = 0; ok && i < places.n; i++) {
        const struct history_origin *p = &places.at[i];
        /* itself, also made again; or a copy that nobody found before it was made */
        if (origin_same_place(p, &o) || (!p->maker && origin_first(&places, p) > o.run))
            ok = walk_place(k, p, n, err);
    }
    history_origins_free(&places);
    return ok;
}

/* ---- all of it ---- */

static struct history_origin origin_copy(const struct history_origin *o)
{
    struct history_origin copy = *o;
    copy.name = o->name ? mem_copy_string(o->name) : NULL;
    copy.folder = o->folder ? mem_copy_string(o->folder) : NULL;
    copy.maker = o->maker ? mem_copy_string(o->maker) : NULL;
    copy.file.path = mem_copy_string(o->file.path);
    return copy;
}

static void walk_free(struct lineage_walk *k)
{
    for (size_t i = 0; i < k->file.n; i++)
        origin_free(&k->file.at[i].origin);
    array_free(&k->file);
    for (size_t i = 0; i < PARSED_MOST; i++)
        workflow_free(k->parsed[i].w);
    intern_free(&k->files);
    intern_free(&k->tasks);
    intern_free(&k->edges);
}

/* Back first, so that the tasks that made the file have the low numbers; then forward, which skips them:
 * a file that was made again out of itself would go round. */
bool lineage_find(struct history *h, const struct history_origin *of, struct lineage *out,
                  struct error *err)
{
    *out = (struct lineage){0};
    struct lineage_walk *k = mem_new_zero(struct lineage_walk, 1);
    k->h = h;
    k->out = out;
    k->b = builder_new("lineage", "history");
    k->folder = of->folder ? of->folder : "";
    intern_init(&k->files);
    intern_init(&k->tasks);
    intern_init(&k->edges);
    struct history_origin first = origin_copy(of);
    bool ok = walk_by_content(k, &first, err); /* a copy is what it is a copy of */
    walk_file(k, &first);
    for (uint32_t n = 0; ok && n < k->file.n; n++)
        ok = walk_back(k, n, err);
    out->nback = k->tasks.n;
    uint32_t back = (uint32_t)k->file.n;
    ok = ok && walk_forward(k, 0, err);
    for (uint32_t n = back; ok && n < k->file.n; n++)
        ok = walk_forward(k, n, err);
    char *focus = mem_copy_string(builder_object_name(k->b, k->file.at[0].object));
    builder_name(k->b, focus, strlen(focus));
    out->graph = ok ? builder_finish(k->b, err) : NULL;
    if (!ok)
        builder_free(k->b);
    if (out->graph)
        out->focus = workflow_find_object(out->graph, focus);
    free(focus);
    walk_free(k);
    free(k);
    return out->graph != NULL;
}

void lineage_free(struct lineage *l)
{
    workflow_free(l->graph);
    array_free(&l->run);
}
