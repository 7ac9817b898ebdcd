/* The lineage of a file, as a graph of its own.
 *
 * A file here is a record of one: what a run made at a path, or an input that it found. Back: the maker
 * of a record read its inputs as the newest record up to that run has them; an input with the content
 * of something that a run made is that. Forward: a content was read wherever it stood, from the run
 * that put it there to the one that put something else there; what its readers made in these runs came
 * of it. What was made again with the same content is the same file: the first of these asks every run
 * for readers, the others their own, so that n runs that share all they make are n steps a file, not n * n.
 *
 * Both walk a queue. Who reads and makes what is asked of the history's shapes; a workflow is parsed where
 * there is none. */
#include "session/lineage.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/builder.h"
#include "session/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that are looked at for readers of one file: when a part is wanted, and when all is. */
enum { READERS_OF_PART = 1000, READERS_OF_ALL = 1000000 };
#define SHAPES_MOST 64 /* workflows of which it is known who reads what */

/* A file in the graph. */
struct lineage_file {
    struct history_origin origin; /* owned */
    uint32_t object;
};

struct lineage_walk {
    struct history *h;
    struct builder *b;
    struct lineage *out;
    size_t most;          /* tasks */
    int64_t *readers_run; /* room for nreaders_run: runs that may read a file */
    size_t nreaders_run;
    const char *folder; /* of the file that was asked for: others show their whole path */
    struct intern files, tasks, edges; /* edges: of the forward side */
    struct intern contents;          /* of the forward side: places and contents that were asked */
    struct intern readers;           /* and tasks of runs, with what they are in the graph: */
    ARRAY(uint32_t) reader;          /* NONE: not in it */
    ARRAY(struct lineage_file) file; /* beside files */
    struct {
        int64_t number; /* history_workflow_number() */
        struct history_shape shape;
    } known[SHAPES_MOST];
};

static void origin_free(struct history_origin *o)
{
    free(o->name);
    free(o->folder);
    free(o->maker);
    free(o->file.path);
}

/* Who reads what in the workflow of a run; NULL: its text was not kept. One cell each, by number: runs of
 * one workflow, of which a study has hundreds, read it once. */
static const struct history_shape *walk_shape(struct lineage_walk *k, int64_t run)
{
    int64_t number = history_workflow_number(k->h, run);
    size_t at = (size_t)number % SHAPES_MOST;
    struct history_shape *shape = &k->known[at].shape;
    if (!number)
        return NULL;
    if (k->known[at].number != number) {
        history_shape_free(shape);
        k->known[at].number = number;
        struct workflow *w =
            history_shape(k->h, number, shape) ? NULL : recorded_workflow(k->h, run);
        if (w)
            history_shape_of(k->h, number, w, shape);
        workflow_free(w);
    }
    return shape->image ? shape : NULL;
}

static const char *shape_name(const struct history_shape *s, uint32_t object)
{
    return s->names + s->name_off[object];
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
    if (*fresh && k->tasks.n >= k->most) {
        k->out->cut = true;
    } else if (*fresh) {
        n = intern_number(&k->tasks, name.at, name.n);
        builder_task(k->b, name.at, name.n, 0);
        builder_kind(k->b, n, task, strcspn(task, "@")); /* members of a family are of one kind */
        array_push(&k->out->run, run);
    }
    strbuf_free(&name);
    return n;
}

/* There are more tasks than are shown: nothing that is found now would be. */
static bool walk_is_full(const struct lineage_walk *k)
{
    return k->out->cut && k->tasks.n >= k->most;
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
    if (!history_content(k->h, &o->file.digest, k->nreaders_run, &same, err))
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
    const struct history_shape *s = o.maker ? walk_shape(k, o.run) : NULL;
    bool fresh, ok = true;
    if (!o.maker)
        return true;
    uint32_t task = walk_task(k, o.run, o.maker, &fresh);
    if (task == NONE)
        return true;
    builder_produces(k->b, task, k->file.at[n].object, 0);
    uint32_t t = o.file.task;
    if (!fresh || !s || t >= s->ntasks)
        return true;
    for (uint32_t e = s->in_off[t]; ok && e < s->in_off[t + 1]; e++)
        ok = walk_input(k, &o, task, shape_name(s, s->in[e]), err);
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

/* What a reader made in this run comes into the queue. The task in the graph; NONE: it made nothing, or is
 * not shown. */
static bool walk_made(struct lineage_walk *k, const struct history_shape *s, uint32_t reader,
                      const char *folder, int64_t run, uint32_t *task, struct error *err)
{
    *task = NONE;
    for (uint32_t o = s->out[reader]; o < s->out_end[reader]; o++) {
        struct history_origin made = {0};
        bool fresh;
        int found = history_file_at(k->h, folder, shape_name(s, o), run, &made, err);
        if (found < 0)
            return false;
        /* found as it was: the run that made it has its own reader */
        uint32_t t =
            found && made.run == run && made.maker ? walk_task(k, run, made.maker, &fresh) : NONE;
        if (t == NONE || t < k->out->nback) { /* cut, or it is what the file was made of */
            origin_free(&made);
            continue;
        }
        *task = t;
        uint32_t before = k->files.n, n = walk_file(k, &made);
        if (n >= before)
            builder_produces(k->b, t, k->file.at[n].object, 0);
    }
    return true;
}

/* `from`: the file that it read. What it made is looked for once, however many files it reads. */
static bool walk_reader(struct lineage_walk *k, const struct history_shape *s, uint32_t reader,
                        const char *folder, int64_t run, uint32_t from, struct error *err)
{
    struct strbuf key = {0};
    uint32_t task = NONE;
    strbuf_printf(&key, "%lld %u %s", (long long)run, reader, folder ? folder : "");
    uint32_t n = intern_number(&k->readers, key.at, key.n);
    strbuf_free(&key);
    if (n == k->reader.n) {
        if (!walk_made(k, s, reader, folder, run, &task, err))
            return false;
        array_push(&k->reader, task);
    }
    task = k->reader.at[n];
    if (task != NONE && walk_edge_is_new(k, from, task))
        builder_consumes(k->b, task, k->file.at[from].object, 0);
    return true;
}

/* Readers in all runs from the one that put the content at this path to the one that put another, and
 * before `until`; 0: all. */
static bool walk_place(struct lineage_walk *k, const struct history_origin *o, int64_t until,
                       uint32_t from, struct error *err)
{
    int64_t *list = k->readers_run;
    size_t n = 1;
    list[0] = o->run;
    bool ok =
        until == o->run + 1 || history_holders(k->h, o, until, list, k->nreaders_run, &n, err);
    k->out->cut |= n == k->nreaders_run;
    for (size_t i = 0; ok && i < n && !walk_is_full(k); i++) {
        const struct history_shape *s = walk_shape(k, list[i]);
        uint32_t object = s ? history_shape_find(s, o->file.path) : NONE;
        for (uint32_t r = object != NONE ? s->read_off[object] : 0;
             ok && object != NONE && r < s->read_off[object + 1]; r++)
            ok = walk_reader(k, s, s->read[r], o->folder, list[i], from, err);
    }
    return ok;
}

/* Is place number i the file `o`? Itself, also made again; or a copy that nobody found before it was
 * made. */
static bool places_count(const history_origins *places, size_t i, const struct history_origin *o)
{
    const struct history_origin *p = &places->at[i];
    return origin_same_place(p, o) || (!p->maker && origin_first(places, p) > o->run);
}

/* The run that has this content at the same place next: who asks there asks all from it on. Newest first,
 * so it stands before. 0: none. */
static int64_t places_next(const history_origins *places, size_t i, const struct history_origin *o)
{
    for (size_t k = i; k-- > 0;)
        if (origin_same_place(&places->at[k], &places->at[i]) && places_count(places, k, o))
            return places->at[k].run;
    return 0;
}

/* Is it the first file with this content at this place? */
static bool walk_content_is_new(struct lineage_walk *k, const struct history_origin *o)
{
    char digest[DIGEST_TEXT];
    struct strbuf key = {0};
    uint32_t before = k->contents.n;
    strbuf_printf(&key, "%s %s/%s", digest_text(&o->file.digest, digest),
                  o->folder ? o->folder : "", o->file.path);
    bool fresh = intern_number(&k->contents, key.at, key.n) == before;
    strbuf_free(&key);
    return fresh;
}

/* Every place at which this content was read. Copies count from when they were found; what another task
 * made with the same content is another file, with a lineage of its own. */
static bool walk_forward(struct lineage_walk *k, uint32_t n, struct error *err)
{
    const struct history_origin o = k->file.at[n].origin;
    history_origins places;
    bool ok = true;
    if (digest_is_zero(&o.file.digest) || !o.file.size)
        return walk_place(k, &o, 0, n, err);
    if (!walk_content_is_new(k, &o))
        return walk_place(k, &o, o.run + 1, n, err);
    if (!history_content(k->h, &o.file.digest, k->nreaders_run, &places, err))
        return false;
    k->out->cut |= places.n == k->nreaders_run;
    for (size_t i = 0; ok && i < places.n && !walk_is_full(k); i++)
        if (places_count(&places, i, &o))
            ok = walk_place(k, &places.at[i], places_next(&places, i, &o), n, err);
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
    for (size_t i = 0; i < SHAPES_MOST; i++)
        history_shape_free(&k->known[i].shape);
    intern_free(&k->contents);
    intern_free(&k->readers);
    free(k->readers_run);
    array_free(&k->reader);
    intern_free(&k->files);
    intern_free(&k->tasks);
    intern_free(&k->edges);
}

/* Back first, so that the tasks that made the file have the low numbers; then forward, which skips them:
 * a file that was made again out of itself would go round. */
bool lineage_find(struct history *h, const struct history_origin *of, size_t most,
                  struct lineage *out, struct error *err)
{
    *out = (struct lineage){0};
    struct lineage_walk *k = mem_new_zero(struct lineage_walk, 1);
    k->h = h;
    k->out = out;
    k->most = most ? most : SIZE_MAX;
    k->nreaders_run = most ? READERS_OF_PART : READERS_OF_ALL;
    k->readers_run = mem_new(int64_t, k->nreaders_run);
    k->b = builder_new("lineage", "history");
    k->folder = of->folder ? of->folder : "";
    intern_init(&k->files);
    intern_init(&k->tasks);
    intern_init(&k->edges);
    intern_init(&k->contents);
    intern_init(&k->readers);
    struct history_origin first = origin_copy(of);
    bool ok = walk_by_content(k, &first, err); /* a copy is what it is a copy of */
    walk_file(k, &first);
    for (uint32_t n = 0; ok && n < k->file.n; n++)
        ok = walk_back(k, n, err);
    out->nback = k->tasks.n;
    uint32_t back = (uint32_t)k->file.n;
    ok = ok && walk_forward(k, 0, err);
    for (uint32_t n = back; ok && n < k->file.n && !walk_is_full(k); n++)
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
