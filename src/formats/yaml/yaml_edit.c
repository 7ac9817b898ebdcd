/* yaml_edit.h: patches and their proof. How a change looks in the text is in yaml_edit_text.c.
 *
 *     old text ──patch──▶ new text ──read──▶ what it says ─┐
 *        │                                                 ├─ the same? then it holds
 *        └──read──▶ what it said ──the change──▶ expected ─┘
 *
 * Both sides of the comparison are written on one line by print_node(), which knows nothing of marks, columns
 * and comments: a mistake of the side that makes patches shows as a difference, and the patch is dropped.
 *
 * Patches form one list. The first `done` of them hold; undoing steps back over those of one step, doing
 * again steps forward, and a new patch cuts off what was undone. A patch has the bytes that it took out and
 * those that it put in, so that both directions give the very bytes of before. */
#include "formats/yaml/yaml_edit.h"
#include "formats/yaml/yaml_editing.h"
#include <stdlib.h>
#include <string.h>

bool yaml_edit_new(struct yaml_edit *e, const char *file, const char *text, size_t n,
                   struct error *err)
{
    memset(e, 0, sizeof *e);
    strbuf_add_bytes(&e->text, text, n);
    if (!yaml_load_marked(&e->y, file, strbuf_text(&e->text), n, err)) {
        strbuf_free(&e->text);
        return false;
    }
    e->file = mem_copy_string(file);
    return true;
}

static void patch_free(struct yaml_patch *p)
{
    free(p->removed);
    free(p->inserted);
}

void yaml_edit_free(struct yaml_edit *e)
{
    for (size_t i = 0; i < e->patches.n; i++)
        patch_free(&e->patches.at[i]);
    array_free(&e->patches);
    strbuf_free(&e->text);
    yaml_free(&e->y);
    free(e->file);
    memset(e, 0, sizeof *e);
}

/* ---- writing nodes on one line ---- */

struct edit_printing {
    const struct yaml *y;
    const struct edit_change *change; /* NULL: none */
    struct strbuf *out;
};

/* As a reader takes it: a number stays one, and a text that looks like one keeps its quotes. */
static void print_scalar(const struct yaml *y, yaml_ref v, struct strbuf *out)
{
    const char *text = yaml_text(y, v, NULL);
    if (yaml_is_null(y, v))
        strbuf_add(out, "null");
    else if (y->at[v].plain)
        yaml_write_value(out, text, YAML_IN_FLOW);
    else
        yaml_write_string(out, text, YAML_IN_FLOW);
}

static void print_node(const struct edit_printing *p, yaml_ref v);

/* What is added at the end of a container. */
static void print_more(const struct edit_printing *p, yaml_ref v, bool first)
{
    const struct edit_change *c = p->change;
    if (!c || c->sort != EDIT_INSERT || c->at != v)
        return;
    if (!first)
        strbuf_add(p->out, ", ");
    if (yaml_type(p->y, v) == YAML_MAPPING || yaml_type(p->y, v) == YAML_SCALAR) {
        yaml_write_string(p->out, c->key, YAML_IN_FLOW);
        strbuf_add(p->out, ": ");
    }
    strbuf_add(p->out, c->value);
}

/* Depth is at most YAML_MOST_LEVELS, which the reader has checked. */
static void print_container(const struct edit_printing *p, yaml_ref v)
{
    const struct yaml *y = p->y;
    const struct edit_change *c = p->change;
    bool mapping = yaml_type(y, v) != YAML_SEQUENCE, first = true;
    strbuf_add_char(p->out, mapping ? '{' : '[');
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        if (c && c->sort == EDIT_REMOVE && c->at == k)
            continue;
        if (!first)
            strbuf_add(p->out, ", ");
        first = false;
        if (mapping && c && c->sort == EDIT_RENAME && c->at == k)
            yaml_write_string(p->out, c->key, YAML_IN_FLOW);
        else if (mapping)
            yaml_write_string(p->out, yaml_text(y, k, NULL), YAML_IN_FLOW);
        if (mapping)
            strbuf_add(p->out, ": ");
        print_node(p, mapping ? yaml_value(k) : k);
    }
    print_more(p, v, first);
    strbuf_add_char(p->out, mapping ? '}' : ']');
}

static void print_node(const struct edit_printing *p, yaml_ref v)
{
    const struct edit_change *c = p->change;
    if (c && c->sort == EDIT_REPLACE && c->at == v)
        strbuf_add(p->out, c->value);
    else if (c && c->sort == EDIT_EMPTY && c->at == v)
        strbuf_add(p->out, "null");
    else if (yaml_type(p->y, v) == YAML_SCALAR && !(c && c->sort == EDIT_INSERT && c->at == v))
        print_scalar(p->y, v, p->out);
    else
        print_container(p, v);
}

void yaml_edit_write(const struct yaml *y, yaml_ref v, struct strbuf *out)
{
    struct edit_printing p = {y, NULL, out};
    print_node(&p, v);
}

/* ---- patches ---- */

static void text_exchange(struct yaml_edit *e, size_t at, size_t removed, const char *inserted,
                          size_t n)
{
    struct strbuf next = {0};
    strbuf_add_bytes(&next, strbuf_text(&e->text), at);
    strbuf_add_bytes(&next, inserted, n);
    strbuf_add_bytes(&next, e->text.at + at + removed, e->text.n - at - removed);
    strbuf_free(&e->text);
    e->text = next;
}

/* What was undone cannot be done again once something else was done. */
static void patches_forget(struct yaml_edit *e)
{
    while (e->patches.n > e->done)
        patch_free(&array_pop(&e->patches));
}

/* Read what the text says now; it was readable before, and is. */
static void text_reread(struct yaml_edit *e)
{
    struct error ignored = {0};
    yaml_free(&e->y);
    yaml_load_marked(&e->y, e->file, strbuf_text(&e->text), e->text.n, &ignored);
    e->readings++;
}

/* The patch holds: it can be undone, and what was undone before is forgotten. */
static bool patch_keep(struct yaml_edit *e, size_t at, size_t removed, const char *text, size_t n)
{
    patches_forget(e);
    struct yaml_patch p = {.at = at,
                           .removed = mem_copy_bytes(e->text.at + at, removed),
                           .nremoved = removed,
                           .inserted = mem_copy_bytes(text, n),
                           .ninserted = n,
                           .step = e->step};
    array_push(&e->patches, p);
    e->done++;
    if (!e->open)
        e->step++;
    text_exchange(e, at, removed, text, n);
    return true;
}

/* The new text must read, and say what was asked (`change`; NULL: whatever it says). */
bool edit_patch(struct yaml_edit *e, size_t at, size_t removed, const struct strbuf *text,
                const struct edit_change *change, struct error *err)
{
    struct strbuf old = {0}, expected = {0}, found = {0};
    struct error broken = {0};
    strbuf_add_bytes(&old, strbuf_text(&e->text), e->text.n);
    struct yaml y;
    struct edit_printing before = {&e->y, change, &expected}, after = {&y, NULL, &found};
    if (change)
        print_node(&before, 0);
    text_exchange(e, at, removed, strbuf_text(text), text->n);
    bool good =
        yaml_load_marked(&y, e->file, strbuf_text(&e->text), e->text.n, change ? &broken : err);
    if (good && change) {
        print_node(&after, 0);
        good = strcmp(strbuf_text(&expected), strbuf_text(&found)) == 0;
        if (!good)
            yaml_free(&y);
    }
    strbuf_free(&e->text);
    e->text = old;
    strbuf_free(&expected);
    strbuf_free(&found);
    if (!good)
        return change ? error_at(err, e->file, yaml_line(&e->y, change->at),
                                 "this place is written in a way that cannot be changed by itself; "
                                 "change it in the text")
                      : false;
    patch_keep(e, at, removed, strbuf_text(text), text->n);
    yaml_free(&e->y);
    e->y = y;
    e->readings++;
    return true;
}

void yaml_edit_begin(struct yaml_edit *e)
{
    e->open = true;
}

/* A patch backwards or forwards; the text is the one that it was made for. */
static void patch_turn(struct yaml_edit *e, const struct yaml_patch *p, bool back)
{
    if (back)
        text_exchange(e, p->at, p->ninserted, p->removed, p->nremoved);
    else
        text_exchange(e, p->at, p->nremoved, p->inserted, p->ninserted);
}

/* All patches of the last step, the newest first. */
bool yaml_edit_undo(struct yaml_edit *e)
{
    if (!e->done)
        return false;
    uint32_t step = e->patches.at[e->done - 1].step;
    while (e->done && e->patches.at[e->done - 1].step == step)
        patch_turn(e, &e->patches.at[--e->done], true);
    text_reread(e);
    return true;
}

bool yaml_edit_redo(struct yaml_edit *e)
{
    if (e->done == e->patches.n)
        return false;
    uint32_t step = e->patches.at[e->done].step;
    while (e->done < e->patches.n && e->patches.at[e->done].step == step)
        patch_turn(e, &e->patches.at[e->done++], false);
    text_reread(e);
    return true;
}

/* A step that failed leaves nothing to undo, nor to do again. */
bool yaml_edit_end(struct yaml_edit *e, bool good)
{
    e->open = false;
    if (!good && e->done && e->patches.at[e->done - 1].step == e->step) {
        yaml_edit_undo(e);
        patches_forget(e);
    }
    e->step++;
    return good;
}

/* What both texts begin and end with is no part of the patch: an undo puts back little. */
bool yaml_edit_replace(struct yaml_edit *e, const char *text, size_t n, struct error *err)
{
    const char *old = strbuf_text(&e->text);
    size_t least = n < e->text.n ? n : e->text.n, front = 0, back = 0;
    while (front < least && old[front] == text[front])
        front++;
    while (back < least - front && old[e->text.n - 1 - back] == text[n - 1 - back])
        back++;
    if (front == n && n == e->text.n)
        return true;
    struct strbuf middle = {0};
    strbuf_add_bytes(&middle, text + front, n - front - back);
    bool good = edit_patch(e, front, e->text.n - front - back, &middle, NULL, err);
    strbuf_free(&middle);
    return good;
}
