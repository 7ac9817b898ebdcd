/* Finding a cluster: options before notes before environment before defaults. */
#include "base/bytes.h"
#include "base/squeeze.h"
#include "model/future.h"
#include "session/place.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "cluster/launch/store_server.h"
#include "formats/format.h"
#include "formats/open_end.h"
#include "model/image.h"
#include "session/key_file.h"
#include "session/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char standard_store[] = "redis://127.0.0.1:6379";

char *place_store_text(const char *given, struct error *err)
{
    char line[4096];
    if (strcmp(given, "-") != 0 && given[0] != '@')
        return mem_copy_string(given);
    /* @FILE?insecure=1&may-lose=1: what the command line adds to the file's address */
    const char *more = strrchr(given, '?');
    if (more && strncmp(more, "?insecure=1", 11) != 0 && strncmp(more, "?may-lose=1", 11) != 0)
        more = NULL; /* a part of the file's name */
    char *name = mem_copy_bytes(given, more ? (size_t)(more - given) : strlen(given));
    bool good = name[0] == '@' ? key_file_private_line(name + 1, line, sizeof line, err)
                               : key_file_next_line(line, sizeof line, err);
    struct strbuf text = {0};
    bool adds = more && good;
    strbuf_printf(&text, "%s%s%s", good ? line : "",
                  !adds               ? ""
                  : strchr(line, '?') ? "&"
                                      : "?",
                  adds ? more + 1 : "");
    explicit_bzero(line, sizeof line);
    free(name);
    if (good)
        return strbuf_steal(&text);
    strbuf_free(&text);
    return NULL;
}

void place_forget(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

bool place_address(const char *store, const struct seal_key *key, struct store_address *out,
                   struct error *err)
{
    char *url = place_store_text(store, err);
    bool good = url && store_address_parse(url, out, err);
    place_forget(url);
    if (!good)
        return false;
    if (store_server_unlock(key, out, err))
        return true;
    store_address_free(out);
    return false;
}

/* The first of these that is there: options, the note of the run, $WEFT_STORE, the standard store on
 * this machine; the key likewise (session/key_file.h). */
bool place_find(struct cluster_place *p, const struct place_options *o, uint64_t run,
                struct error *err)
{
    const char *store = o->store, *key = o->key, *named = getenv("WEFT_STORE");
    struct note note = {0};
    *p = (struct cluster_place){0};
    if (run && !store && !key) { /* either option says that the note is not meant */
        struct strbuf state = {0};
        strbuf_printf(&state, "%s/.weft", o->folder ? o->folder : ".");
        p->noted = note_read(state.at, run, &note);
        strbuf_free(&state);
    }
    if (p->noted) {
        store = note.store;
        key = note.key;
        memcpy(p->id, note.id, sizeof p->id);
    }
    if (!store)
        store = named && *named ? named : standard_store;
    bool good = key_file_get(key, &p->key, err) && place_address(store, &p->key, &p->address, err);
    note_free(&note);
    return good;
}

bool place_is_of(const struct cluster_place *p, uint64_t run, const uint8_t id[static SEAL_ID],
                 struct error *err)
{
    return !p->noted || memcmp(p->id, id, sizeof p->id) == 0 ||
           error_set(err, ERROR_FAILED,
                     "run %" PRIu64
                     " of this folder is gone: the store at %s has lost its data since, "
                     "counts anew, and has another run of that number; run the workflow again "
                     "(`--store %s` means the other one)",
                     run, p->address.text, p->address.text);
}

/* The key does not stay in memory that is given back. */
void place_free(struct cluster_place *p)
{
    store_address_free(&p->address);
    explicit_bzero(&p->key, sizeof p->key);
}

/* While nothing is followed yet its lines only say how things go; then they are notes (remote.c). */
static void place_client_says(void *context, const char *line)
{
    remark(context, REMARK_INFO, "%s", line);
}

/* Connects, looks at the board once, and checks that our key opens what is written there. */
struct client *place_client(const struct cluster_place *p, struct uv_loop_s *loop,
                            const struct remarks *remarks, struct error *err)
{
    return client_open(&(struct client_config){.address = &p->address,
                                               .key = p->key,
                                               .loop = loop,
                                               .say = place_client_says,
                                               .context = (void *)remarks},
                       err);
}

/* Agents that are leaving or silent do not count: nothing new will run there. */
uint32_t place_cores(const struct client *c, double *memory)
{
    uint32_t cores = 0;
    size_t n;
    const struct member *m = client_members(c, &n);
    *memory = 0;
    for (size_t i = 0; i < n; i++) {
        if (!client_is_alive(c, &m[i]))
            continue;
        cores += m[i].cores;
        *memory += m[i].memory;
    }
    return cores;
}

/* A workflow that grows, as it goes into a ticket: a NUL, which no text begins with, what it was read from,
 * and what has joined it already. */
void place_put_source(const struct outside *from, const struct strbuf *parts, size_t n,
                      struct strbuf *out)
{
    strbuf_clear(out);
    bytes_put_u8(out, 0);
    outside_put(from, out);
    bytes_put_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        bytes_put_text(out, parts[i].at, parts[i].n);
}

static struct workflow *place_read_source(const char *text, size_t n, struct error *err)
{
    struct bytes in = {text, n, false};
    struct outside from = {0};
    bytes_u8(&in);
    bool good = outside_take(&in, &from);
    struct workflow *w = good ? format_read_noted(&from, err) : NULL;
    outside_free(&from);
    for (uint32_t parts = bytes_u32(&in); w && good && parts && !in.bad; parts--) {
        size_t size;
        const char *part = bytes_text(&in, &size);
        good = part && future_append_part(w, part, size, err);
    }
    if (w && good && bytes_end(&in))
        return w;
    workflow_free(w);
    if (err && err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "the run's workflow is damaged, or another version's");
    return NULL;
}

/* One to which a program adds tasks has a byte before it that no text begins with. */
enum { PLACE_OPEN_END = 1, PLACE_GUIDE = 2, PLACE_IMAGE = 3 };

void place_put_open_end(struct strbuf *text)
{
    struct strbuf all = {0};
    bytes_put_u8(&all, PLACE_OPEN_END);
    strbuf_add_bytes(&all, text->at, text->n);
    strbuf_free(text);
    *text = all;
}

/* Which images this build reads: those that the same sources wrote, on a machine of the same kind. */
static void place_put_readers(struct strbuf *out)
{
    const uint16_t one = 1;
    uint8_t little;
    memcpy(&little, &one, 1);
    strbuf_printf(out, "%s %zu %zu %u", format_readers(), sizeof(void *), sizeof(struct workflow),
                  little);
}

enum { IMAGE_LEAST = 1 << 16 }; /* bytes of text: less is read in a few milliseconds */

static void place_squeeze_text(const struct strbuf *text, struct strbuf *out)
{
    struct squeeze *s = mem_new_zero(struct squeeze, 1);
    s->out = out;
    bytes_put_u64(out, text->n);
    squeeze_put(s, text->at, text->n);
    squeeze_end(s);
    free(s);
}

/* What the text was read as, before it: agents of this build copy some arrays instead of reading the text
 * once each. Others read the text, which follows. Both are squeezed: the submitter seals them, the store writes
 * them to its disk, and every agent fetches and opens them, before the first task runs. */
void place_put_image(const struct workflow *w, struct strbuf *text)
{
    struct strbuf all = {0}, readers = {0}, image = {0};
    bool marked = false; /* the text does not say which objects stay in memory */
    for (uint32_t o = 0; o < w->nobjects && w->object_flags && !marked; o++)
        marked = workflow_object_is(w, o, OBJECT_IN_MEMORY);
    if ((text->n < IMAGE_LEAST && !marked) || w->future || w->growth || w->joins)
        return;
    workflow_image_squeeze(w, &image);
    if (image.n <= UINT32_MAX) {
        place_put_readers(&readers);
        bytes_put_u8(&all, PLACE_IMAGE);
        bytes_put_text(&all, readers.at, readers.n);
        bytes_put_text(&all, image.at, image.n);
        place_squeeze_text(text, &all);
        strbuf_free(text);
        *text = all;
    }
    strbuf_free(&readers);
    strbuf_free(&image);
}

/* The text behind an image: the image is another build's. */
static struct workflow *place_read_squeezed(struct bytes *in, struct error *err)
{
    uint64_t n = bytes_u64(in);
    struct unsqueeze *u = mem_new_zero(struct unsqueeze, 1);
    struct workflow *w = NULL;
    u->at = (const unsigned char *)in->at;
    u->left = in->n;
    bool good = !in->bad && n / 256 <= in->n + 1; /* nothing is allocated for a number alone */
    char *text = good ? mem_new(char, n + 1) : NULL;
    if (good && unsqueeze_take(u, text, n) && unsqueeze_is_whole(u))
        w = place_read_workflow(text, n, err);
    else
        error_set(err, ERROR_FAILED, "the run's workflow is damaged, or another version's");
    free(text);
    free(u);
    return w;
}

/* The ticket was sealed by somebody with the key, and so the image is undamaged. */
static struct workflow *place_read_image(const char *text, size_t n, struct error *err)
{
    struct bytes in = {text + 1, n - 1, false};
    struct strbuf own = {0};
    size_t length, size;
    const char *readers = bytes_text(&in, &length), *image = bytes_text(&in, &size);
    if (in.bad) {
        error_set(err, ERROR_FAILED, "the run's workflow is damaged, or another version's");
        return NULL;
    }
    place_put_readers(&own);
    bool ours = own.n == length && memcmp(own.at, readers, length) == 0;
    strbuf_free(&own);
    struct workflow *w = ours ? workflow_image_unsqueeze(image, size) : NULL;
    return w ? w : place_read_squeezed(&in, err);
}

/* Before all else that stands there: a guide is about tasks that are known from the start, whatever joins
 * them later. Agents of another version do not know the byte, and say that they cannot read it. */
void place_put_guide(const struct guide *g, struct strbuf *text)
{
    struct strbuf all = {0}, orders = {0};
    guide_put(g, &orders);
    bytes_put_u8(&all, PLACE_GUIDE);
    bytes_put_text(&all, orders.at, orders.n);
    strbuf_add_bytes(&all, text->at, text->n);
    strbuf_free(&orders);
    strbuf_free(text);
    *text = all;
}

/* The rest is the workflow as it is without the plan. */
static struct workflow *place_read_guided(const char *text, size_t n, struct error *err)
{
    struct bytes in = {text + 1, n - 1, false};
    struct guide g = {0};
    size_t size;
    const char *orders = bytes_text(&in, &size);
    struct bytes inner = {orders, orders ? size : 0, false};
    bool good = orders && guide_take(&inner, &g) && bytes_end(&inner);
    struct workflow *w = good ? place_read_workflow(in.at, in.n, err) : NULL;
    if (!good)
        error_set(err, ERROR_FAILED, "the run's plan is damaged, or another version's");
    if (w && !workflow_take_guide(w, &g, true, err)) {
        workflow_free(w);
        w = NULL;
    }
    guide_free(&g);
    return w;
}

/* Every side reads the same text with the same reader, and so has the same numbers of tasks. */
struct workflow *place_read_workflow(const char *text, size_t n, struct error *err)
{
    if (n && text[0] == PLACE_OPEN_END) {
        struct workflow *w = place_read_workflow(text + 1, n - 1, err);
        if (w)
            open_end_begin(w);
        return w;
    }
    if (n && text[0] == PLACE_GUIDE)
        return place_read_guided(text, n, err);
    if (n && text[0] == PLACE_IMAGE)
        return place_read_image(text, n, err);
    if (n && !text[0])
        return place_read_source(text, n, err);
    char *copy = mem_copy_bytes(text, n); /* readers change their text */
    struct workflow *w = format_find("native")->read_workflow(
        &(struct format_source){.path = "the run's workflow", .text = copy, .length = n}, err);
    free(copy);
    return w;
}

const char *place_run_state_name(enum board_run_state state)
{
    static const char *const names[] = {"running", "stopping",  "cancelled",
                                        "ended",   "collected", "expired"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}
