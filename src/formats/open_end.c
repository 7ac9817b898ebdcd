/* An open end: see open_end.h. What is added travels as native text, under a name of its own among what a part
 * notes (model/outside.h). */
#include "formats/open_end.h"

#include "base/mem.h"
#include "formats/format.h"

#include <string.h>

struct open_end {
    struct future base;
    struct future *inner; /* the reader's own; NULL: all else is known */
};

static const char added[] = "added";

static struct open_end *open_end_of(struct future *f)
{
    return (struct open_end *)f;
}

static size_t inner_items(const struct open_end *e)
{
    return e->inner ? e->inner->ops->items(e->inner) : 0;
}

static void open_end_discard(struct future *f)
{
    future_free(open_end_of(f)->inner);
    free(f);
}

/* The last one is never read up: there is always one more. */
static size_t open_end_items(struct future *f)
{
    return inner_items(open_end_of(f)) + 1;
}

static struct future_item open_end_item(struct future *f, size_t i)
{
    const struct open_end *e = open_end_of(f);
    if (i < inner_items(e))
        return e->inner->ops->item(e->inner, i);
    return (struct future_item){.name = "tasks that a program adds"};
}

/* The same text gives the same numbers to all: it is read as nobody's file, in nobody's folder. */
static bool read_added(const struct outside *from, struct future_part *out, struct error *err)
{
    const struct outside_entry *text = from ? outside_find(from, added) : NULL;
    if (!text || !text->there)
        return error_set(err, ERROR_FAILED,
                         "what is added to the workflow is damaged, or another version's");
    char *copy = mem_copy_bytes(text->bytes, text->n); /* readers change their text */
    out->workflow = format_find("native")->read_workflow(
        &(struct format_source){.path = "what is added", .text = copy, .length = text->n}, err);
    free(copy);
    return out->workflow != NULL;
}

static bool open_end_expand(struct future *f, const struct workflow *w, const bool *ready,
                            struct outside *from, struct future_part *out, struct error *err)
{
    const struct open_end *e = open_end_of(f);
    if (ready[inner_items(e)])
        return read_added(from, out, err);
    return e->inner->ops->expand(e->inner, w, ready, from, out, err);
}

static void open_end_look(struct future *f, const bool *ready, struct outside *into)
{
    struct future *inner = open_end_of(f)->inner;
    if (inner)
        inner->ops->look(inner, ready, into);
}

static const char *open_end_unknown(struct future *f, size_t i, size_t *item)
{
    struct future *inner = open_end_of(f)->inner;
    return inner ? inner->ops->unknown(inner, i, item) : NULL;
}

static bool open_end_may_make(struct future *f, const char *name)
{
    struct future *inner = open_end_of(f)->inner;
    return inner && inner->ops->may_make(inner, name);
}

static const char *open_end_secret(struct future *f, size_t i)
{
    struct future *inner = open_end_of(f)->inner;
    return inner && inner->ops->secret ? inner->ops->secret(inner, i) : NULL;
}

static const struct future_ops open_end_ops = {
    .discard = open_end_discard,
    .items = open_end_items,
    .item = open_end_item,
    .expand = open_end_expand,
    .look = open_end_look,
    .unknown = open_end_unknown,
    .may_make = open_end_may_make,
    .secret = open_end_secret,
};

void open_end_begin(struct workflow *w)
{
    struct open_end *e = mem_new_zero(struct open_end, 1);
    e->base.ops = &open_end_ops;
    e->inner = w->future;
    w->future = &e->base;
}

/* It says "the last item", whichever number that has: so it fits the workflow also when others join before. */
bool open_end_put_part(const struct workflow *more, struct strbuf *out, struct error *err)
{
    struct strbuf text = {0};
    struct outside o;
    bool good = format_find("native")->write_workflow(more, &text, NULL, err);
    outside_init(&o);
    outside_note(&o, added, true, strbuf_text(&text));
    bytes_put_u32(out, 1);
    bytes_put_u32(out, FUTURE_LAST_ITEM);
    bytes_put_text(out, "", 0);
    outside_put(&o, out);
    outside_free(&o);
    strbuf_free(&text);
    return good;
}
