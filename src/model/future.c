/* What a workflow will become, and what it is when it has: see future.h and growth.h. */
#include "model/future.h"

#include "base/mem.h"
#include "model/select.h"

#include <string.h>

void future_free(struct future *f)
{
    if (f)
        f->ops->discard(f);
}

void future_part_free(struct future_part *p)
{
    workflow_free(p->workflow);
    array_free(&p->links);
    *p = (struct future_part){0};
}

bool future_may_read(const struct workflow *w, uint32_t object)
{
    char label[512];
    return workflow_is_open(w) &&
           w->future->ops->may_read(w->future,
                                    workflow_object_label(w, object, label, sizeof label));
}

bool workflow_is_open(const struct workflow *w)
{
    return w->future && w->future->ops->items(w->future) > 0;
}

struct workflow *growth_whole(const struct workflow *w)
{
    if (!w->growth)
        return NULL;
    struct error ignored = {0}; /* it was checked part by part */
    uint8_t *all = mem_new(uint8_t, w->ntasks);
    memset(all, 1, w->ntasks);
    struct workflow *whole = workflow_part(w, all, NULL, &ignored);
    free(all);
    return whole;
}

/* ---- parts as bytes ----
 *
 *     items I, their numbers I each (or FUTURE_LAST_ITEM), the folder that names begin with, what was looked at (outside_put()) */

void future_note_part(struct workflow *w, const bool *ready, const char *real, struct strbuf *out)
{
    struct future *f = w->future;
    size_t items = f->ops->items(f), n = 0;
    struct outside o;
    for (size_t i = 0; i < items; i++)
        n += ready[i];
    bytes_put_u32(out, (uint32_t)n);
    for (size_t i = 0; i < items; i++)
        if (ready[i])
            bytes_put_u32(out, (uint32_t)i);
    outside_init(&o);
    o.real = real;
    f->ops->look(f, ready, &o);
    bytes_put_text(out, o.folder ? o.folder : "", o.folder ? strlen(o.folder) : 0);
    outside_put(&o, out);
    outside_free(&o);
}

/* The items that it reads, one bool each, in `ready`, which has `items` entries. */
static bool take_items(struct bytes *in, bool *ready, size_t items)
{
    for (uint32_t n = bytes_u32(in); n && !in->bad; n--) {
        uint32_t item = bytes_u32(in);
        if (item == FUTURE_LAST_ITEM && items)
            item = (uint32_t)items - 1;
        if (item >= items)
            return false;
        ready[item] = true;
    }
    size_t folder;
    bytes_text(in, &folder);
    return !in->bad;
}

bool future_play_part(struct workflow *w, const void *part, size_t n, struct future_part *out,
                      struct error *err)
{
    struct future *f = w->future;
    size_t items = f ? f->ops->items(f) : 0;
    struct bytes in = {part, n, false};
    struct outside o = {0};
    bool *ready = mem_new_zero(bool, items + 1);
    *out = (struct future_part){0};
    bool whole = f && take_items(&in, ready, items) && outside_take(&in, &o) && bytes_end(&in);
    o.plays = true;
    bool good = whole && f->ops->expand(f, w, ready, &o, out, err);
    free(ready);
    outside_free(&o);
    return whole ? good
                 : error_set(err, ERROR_FAILED,
                             "what joins the workflow does not fit it: it is damaged, or another "
                             "version's");
}

bool future_append_part(struct workflow *w, const void *part, size_t n, struct error *err)
{
    struct future_part p;
    bool good = future_play_part(w, part, n, &p, err);
    if (good && p.workflow)
        good = workflow_append(w, p.workflow, p.links.at, p.links.n, err);
    future_part_free(&p);
    return good;
}

/* Each thing that was noted is looked at again. */
bool future_part_is_same(const void *part, size_t n, const char *real)
{
    struct bytes in = {part, n, false};
    struct outside was = {0}, now;
    struct strbuf before = {0}, after = {0};
    for (uint32_t i = bytes_u32(&in); i && !in.bad; i--)
        bytes_u32(&in);
    size_t length;
    const char *begin = bytes_text(&in, &length);
    char *folder = mem_copy_bytes(begin ? begin : "", length);
    if (!outside_take(&in, &was)) {
        outside_free(&was);
        free(folder);
        return false;
    }
    outside_init(&now);
    now.folder = folder;
    now.real = real;
    for (uint32_t i = 0; i < was.at.n; i++) {
        const char *name = intern_text(&was.names, i);
        folder_names names = {0};
        struct text text = {0};
        struct error ignored = {0};
        const struct outside_entry *e = &was.at.at[i];
        if (name[0] == 'a') /* a decision stands, also when what it was taken by was made again */
            outside_note(&now, name + 1, e->there, e->bytes);
        else if (name[0] == 'd' && outside_list(&now, name + 1, &names))
            folder_names_free(&names);
        else if (name[0] == 'f' && outside_read(&now, name + 1, &text, &ignored))
            text_free(&text);
    }
    outside_put(&was, &before);
    outside_put(&now, &after);
    bool same = before.n == after.n && memcmp(before.at, after.at, before.n) == 0;
    strbuf_free(&before);
    strbuf_free(&after);
    outside_free(&was);
    outside_free(&now);
    free(folder);
    return same;
}
