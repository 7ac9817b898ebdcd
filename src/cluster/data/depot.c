/* What stands here, and who handles a message. Incoming and outgoing transfers are in
 * depot_fetch.c and depot_serve.c. One loop's thread; callbacks of the owner may call back into
 * the depot, but not free it. */
#include "cluster/data/depot.h"

#include "cluster/data/depot_state.h"
#include "base/tree.h"
#include "model/memory_file.h"

#include <unistd.h>

/* ---- names ---- */

/* "./a" and "a" are the same file. */
static const char *depot_without_dots(const char *name)
{
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    return name;
}

/* .weft is ours: a workflow must not be able to write there. "d/" is the folder d. */
bool depot_name_is_safe(const char *name)
{
    char plain[DEPOT_LABEL];
    name = depot_without_dots(name);
    size_t n = strlen(name);
    if (n > 1 && n <= sizeof plain && name[n - 1] == '/' && name[n - 2] != '/') {
        memcpy(plain, name, n - 1);
        plain[n - 1] = 0;
        name = plain;
    }
    return depot_path_is_safe(name) &&
           !(strncmp(name, ".weft", 5) == 0 && (!name[5] || name[5] == '/'));
}

bool depot_check_names(const struct workflow *w, struct error *err)
{
    char label[DEPOT_LABEL];
    for (uint32_t o = 0; o < w->nobjects; o++) {
        const char *name = workflow_object_label(w, o, label, sizeof label);
        if (name[0] != '/' && !depot_name_is_safe(name))
            return error_set(
                err, ERROR_INPUT,
                "object '%.300s': on a cluster, files stand below a folder of their own; name it "
                "relative, without '..' or empty parts and not in .weft, or absolute if every "
                "machine has it",
                name);
    }
    return true;
}

bool depot_check_folders(const struct workflow *w, struct error *err)
{
    char label[DEPOT_LABEL];
    for (uint32_t o = 0; o < w->nobjects && w->object_flags; o++) {
        const char *name = workflow_object_label(w, o, label, sizeof label);
        if (workflow_object_is(w, o, OBJECT_GATHERED) || workflow_object_is(w, o, OBJECT_INSIDE))
            return error_set(
                err, ERROR_INPUT,
                workflow_object_is(w, o, OBJECT_INSIDE)
                    ? "'%.300s' lies in a folder that the same task makes: agents bring the files "
                      "of a run one by one; let it make the files, not the folder"
                    : "tasks make files in the folder '%.300s', which another reads: agents bring "
                      "the files of a run one by one; name those files in its `in`",
                name);
    }
    return true;
}

const char *depot_label(const struct depot *d, uint32_t object, char label[static DEPOT_LABEL])
{
    return workflow_object_label(d->w, object, label, DEPOT_LABEL);
}

const char *depot_path(struct depot *d, uint32_t object)
{
    char label[DEPOT_LABEL];
    path_in(d->folder, depot_label(d, object, label), &d->path);
    while (d->path.n > 1 && d->path.at[d->path.n - 1] == '/') /* "d/" is the folder d */
        d->path.at[--d->path.n] = 0;
    return d->path.at;
}

/* ---- life ---- */

/* Four arrays by object, zeroed and untouched: for a million objects the system gives pages as they
 * are used. */
struct depot *depot_new(const struct depot_config *config)
{
    struct depot *d = mem_new_zero(struct depot, 1);
    d->config = *config;
    d->config.most = config->most ? config->most : 4;
    d->w = config->workflow;
    d->folder = mem_copy_string(config->folder);
    d->partial = mem_copy_string(config->partial);
    size_t n = d->w->nobjects ? d->w->nobjects : 1;
    d->objects_known = d->w->nobjects;
    d->room = (uint32_t)n;
    d->state = mem_new_zero(uint8_t, n);
    d->objects = mem_new_zero(struct depot_object, n);
    d->fetches = mem_new_zero(struct depot_fetch *, n);
    d->serves = mem_new_zero(struct depot_serve *, n);
    d->piece = mem_new(char, DEPOT_PIECE);
    depot_ring_init(&d->waiting);
    depot_ring_init(&d->begun);
    return d;
}

void depot_grow(struct depot *d)
{
    uint32_t n = d->w->nobjects, old = d->room;
    d->objects_known = n;
    if (n <= old)
        return;
    d->room = n + old / 2;
    d->state = mem_resize(d->state, d->room);
    d->objects = mem_resize(d->objects, d->room);
    d->fetches = mem_resize(d->fetches, d->room);
    d->serves = mem_resize(d->serves, d->room);
    memset(d->state + old, 0, (d->room - old) * sizeof *d->state);
    memset(d->objects + old, 0, (d->room - old) * sizeof *d->objects);
    memset(d->fetches + old, 0, (d->room - old) * sizeof *d->fetches);
    memset(d->serves + old, 0, (d->room - old) * sizeof *d->serves);
}

/* Who waits for something from here is told; what was coming is given up without a word to the
 * owner. Large files that were cut stay in `partial`. */
void depot_free(struct depot *d)
{
    if (!d)
        return;
    depot_check_free(d);
    while (!depot_ring_is_empty(&d->waiting))
        depot_fetch_cancel(d, ((struct depot_fetch *)d->waiting.next)->object, false);
    while (!depot_ring_is_empty(&d->begun))
        depot_fetch_cancel(d, ((struct depot_fetch *)d->begun.next)->object, false);
    depot_serve_free(d);
    array_free(&d->stale);
    array_free(&d->peers);
    strbuf_free(&d->path);
    strbuf_free(&d->other);
    strbuf_free(&d->message);
    free(d->state);
    free(d->objects);
    free(d->fetches);
    free(d->serves);
    free(d->piece);
    free(d->folder);
    free(d->partial);
    free(d);
}

/* ---- what stands here ---- */

bool depot_has(const struct depot *d, uint32_t object)
{
    return d->state[object] & OBJECT_HERE;
}

bool depot_in_memory(const struct depot *d, uint32_t object)
{
    return workflow_in_memory_file(d->w, object);
}

double depot_bytes(const struct depot *d, uint32_t object)
{
    return depot_has(d, object) ? d->objects[object].bytes : 0;
}

double depot_owed(const struct depot *d)
{
    return d->owed;
}

const struct digest *depot_digest(const struct depot *d, uint32_t object)
{
    return depot_has(d, object) ? &d->objects[object].digest : NULL;
}

/* Whatever stood under this number is forgotten first, so that counts stay right. */
void depot_put_here(struct depot *d, uint32_t object, const struct digest *digest, double bytes)
{
    struct depot_object x = {bytes, *digest};
    depot_removed(d, object);
    d->state[object] = OBJECT_HERE;
    d->objects[object] = x;
    d->counts.bytes += bytes;
    d->counts.memory_bytes += depot_in_memory(d, object) ? bytes : 0;
    d->counts.here++;
}

/* Whoever has it open or mapped keeps what he has: it is unlinked, not emptied. */
bool depot_spill(struct depot *d, uint32_t object, uint8_t *flags, struct error *err)
{
    if (!depot_has(d, object) || !depot_in_memory(d, object))
        return false;
    struct depot_object x = d->objects[object];
    uint8_t state = d->state[object];
    char *from = mem_copy_string(depot_path(d, object));
    depot_removed(d, object);
    flags[object] &= (uint8_t)~OBJECT_MEMORY_FILE;
    const char *to = depot_path(d, object);
    bool good = make_parents(to, err) && tree_copy(from, to, err);
    if (good) {
        unlink(from);
        memo_learn_digest(d->config.memo, to, &x.digest);
    } else {
        flags[object] |= OBJECT_MEMORY_FILE;
    }
    depot_put_here(d, object, &x.digest, x.bytes);
    d->state[object] = state;
    free(from);
    return good;
}

/* Serving first: a fetch of the same object that is under way has become useless. */
void depot_added(struct depot *d, uint32_t object, const struct digest *digest, double bytes)
{
    depot_put_here(d, object, digest, bytes);
    depot_serve_added(d, object);
    if (d->fetches[object])
        depot_fetch_cancel(d, object, true);
}

void depot_found(struct depot *d, uint32_t object, const struct digest *digest, double bytes)
{
    depot_added(d, object, digest, bytes);
    d->state[object] |= OBJECT_DOUBTED;
}

void depot_unavailable(struct depot *d, uint32_t object, const char *why)
{
    depot_serve_unavailable(d, object, why);
}

/* Of its metadata only: see depot_drop(). */
void depot_removed(struct depot *d, uint32_t object)
{
    if (!depot_has(d, object))
        return;
    d->counts.bytes -= d->objects[object].bytes;
    d->counts.memory_bytes -= depot_in_memory(d, object) ? d->objects[object].bytes : 0;
    d->counts.here--;
    d->state[object] = 0;
    if (d->counts.here == 0)
        d->counts.bytes = d->counts.memory_bytes = 0; /* no rest from rounding */
}

void depot_drop(struct depot *d, uint32_t object)
{
    char label[DEPOT_LABEL];
    depot_removed(d, object);
    if (depot_name_is_safe(depot_label(d, object, label)))
        tree_remove(depot_path(d, object));
}

/* ---- messages ---- */

/* Every message of the family DATA begins so. */
struct strbuf *depot_begin_message(struct depot *d, uint32_t object)
{
    strbuf_clear(&d->message);
    bytes_put_u64(&d->message, d->config.run);
    bytes_put_u32(&d->message, object);
    return &d->message;
}

void depot_send(struct depot *d, struct link *l, uint8_t kind)
{
    link_send(l, kind, d->message.at, d->message.n, NULL, 0);
}

/* The family DATA (messages.def): asking and no longer asking go to who serves, the answers to the
 * fetch that they are about. */
struct depot_handler {
    bool (*serve)(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
    bool (*fetch)(struct depot *d, struct depot_fetch *f, struct bytes *in);
};

static const struct depot_handler depot_handlers[MESSAGES] = {
    [MESSAGE_FETCH] = {.serve = depot_serve_fetch},
    [MESSAGE_UNFETCH] = {.serve = depot_serve_unfetch},
    [MESSAGE_UNFETCHED] = {.serve = depot_fetch_unfetched},
    [MESSAGE_HEAD] = {.fetch = depot_fetch_head},
    [MESSAGE_DATA] = {.fetch = depot_fetch_data},
    [MESSAGE_ABSENT] = {.fetch = depot_fetch_absent},
    [MESSAGE_LATER] = {.fetch = depot_fetch_later},
};

bool depot_message(struct depot *d, struct link *l, uint8_t kind, const void *data, size_t n)
{
    struct bytes in = {data, n, false};
    uint64_t run = bytes_u64(&in);
    uint32_t object = bytes_u32(&in);
    if (in.bad || run != d->config.run || object >= d->w->nobjects || kind >= MESSAGES)
        return false;
    const struct depot_handler *h = &depot_handlers[kind];
    if (h->serve)
        return h->serve(d, l, object, &in);
    if (!h->fetch)
        return false;
    /* the answer to a fetch that we have given up, still on its way when they were told */
    if (depot_fetch_is_stale(d, l, object))
        return true;
    struct depot_fetch *f = depot_fetch_find(d, l, object);
    return f && h->fetch(d, f, &in);
}

void depot_drained(struct depot *d, struct link *l)
{
    depot_serve_drained(d, l);
}

void depot_closed(struct depot *d, struct link *l)
{
    depot_serve_closed(d, l);
    depot_fetch_closed(d, l);
}

void depot_tick(struct depot *d, double now)
{
    depot_fetch_tick(d, now);
}

bool depot_is_fetching(const struct depot *d, uint32_t object)
{
    return d->fetches[object] != NULL;
}

/* O(peers). */
bool depot_is_quiet(const struct depot *d)
{
    for (size_t i = 0; i < d->peers.n; i++)
        for (int state = 0; state < SERVE_STATES; state++)
            if (!depot_ring_is_empty(&d->peers.at[i]->ring[state]))
                return false;
    return !depot_turns_taken(d) && !d->nfetches[FETCH_WAITING] && !d->nfetches[FETCH_LATER] &&
           !d->checks.n;
}

/* O(1). */
struct depot_counts depot_counts(const struct depot *d)
{
    struct depot_counts c = d->counts;
    c.under_way = depot_turns_taken(d);
    c.waiting = d->nfetches[FETCH_WAITING] + d->nfetches[FETCH_LATER];
    return c;
}
