/* Who reads and makes which file in a workflow: what questions about files ask of a graph. It is stored
 * beside the workflow's text when that is, because reading 10,000 tasks from their text takes 0.1 s, and a
 * lineage over runs of fifty workflows read fifty of them. A history of an older weft gets it when it is
 * asked first.
 *
 * The image is a row of 32-bit numbers in the machine's order, then the names of the objects, each with
 * its NUL:
 *
 *     FIRST, tasks, objects, inputs, readers, bytes of names
 *     in_off[tasks + 1]  in[inputs]        objects that a task reads, in the order of its edges
 *     out[tasks]  out_end[tasks]           objects that it makes, from one to before the other
 *     read_off[objects + 1]  read[readers] tasks that read an object
 *     name_off[objects]                    where its name begins
 *     slot[shape_slots(objects)]           objects by the hash of their names, the next free one; NONE
 *
 * A history may come from elsewhere and be damaged: one that does not fit is as if it were not there. */
#include "history/shape.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* In another order of bytes it is another number. */
#define FIRST UINT32_C(0x57534831)
enum { HEAD = 6 };

/* ---- made ---- */

static void shape_put(struct strbuf *out, uint32_t value)
{
    strbuf_add_bytes(out, (const char *)&value, sizeof value);
}

/* What a task reads: from other tasks, each object once, then inputs of the workflow. */
static uint32_t shape_task_inputs(const struct workflow *w, uint32_t t, struct strbuf *out)
{
    uint32_t n = 0, before = NONE;
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
            before = w->pred_object[e];
            shape_put(out, before);
            n++;
        }
    for (uint32_t e = w->input_off ? w->input_off[t] : 0; w->input_off && e < w->input_off[t + 1];
         e++, n++)
        shape_put(out, w->input_object[e]);
    return n;
}

/* A third of them stay free, so that a search ends. */
static uint32_t shape_slots(uint64_t objects)
{
    uint32_t n = 1;
    while (n < objects + objects / 2 + 1)
        n *= 2;
    return n;
}

/* FNV-1a: part of the file. */
static uint32_t shape_hash(const char *name)
{
    uint32_t hash = UINT32_C(2166136261);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

static void shape_put_slots(const uint32_t *name_off, const char *names, uint32_t objects,
                            struct strbuf *out)
{
    uint32_t n = shape_slots(objects), *slot = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        slot[i] = NONE;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t at = shape_hash(names + name_off[o]) & (n - 1);
        while (slot[at] != NONE)
            at = (at + 1) & (n - 1);
        slot[at] = o;
    }
    strbuf_add_bytes(out, (const char *)slot, n * sizeof *slot);
    free(slot);
}

static void shape_image(const struct workflow *w, struct strbuf *out)
{
    struct strbuf in = {0}, in_off = {0}, read = {0}, read_off = {0}, name_off = {0}, names = {0};
    char buffer[512];
    uint32_t inputs = 0, readers = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        shape_put(&in_off, inputs);
        inputs += shape_task_inputs(w, t, &in);
    }
    shape_put(&in_off, inputs);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t n = 0;
        const uint32_t *reader = workflow_consumers(w, o, &n);
        const char *name = workflow_object_label(w, o, buffer, sizeof buffer);
        shape_put(&read_off, readers);
        if (n)
            strbuf_add_bytes(&read, (const char *)reader, n * sizeof *reader);
        readers += n;
        shape_put(&name_off, (uint32_t)names.n);
        strbuf_add_bytes(&names, name, strlen(name) + 1);
    }
    shape_put(&read_off, readers);
    const uint32_t head[HEAD] = {FIRST, w->ntasks, w->nobjects, inputs, readers, (uint32_t)names.n};
    strbuf_add_bytes(out, (const char *)head, sizeof head);
    strbuf_add_bytes(out, strbuf_text(&in_off), in_off.n);
    strbuf_add_bytes(out, strbuf_text(&in), in.n);
    for (uint32_t t = 0; t < w->ntasks; t++)
        shape_put(out, w->object_off[t]);
    for (uint32_t t = 0; t < w->ntasks; t++)
        shape_put(out, w->object_end[t]);
    strbuf_add_bytes(out, strbuf_text(&read_off), read_off.n);
    strbuf_add_bytes(out, strbuf_text(&read), read.n);
    strbuf_add_bytes(out, strbuf_text(&name_off), name_off.n);
    shape_put_slots((const uint32_t *)(const void *)name_off.at, names.at, w->nobjects, out);
    strbuf_add_bytes(out, strbuf_text(&names), names.n);
    strbuf_free(&in);
    strbuf_free(&in_off);
    strbuf_free(&read);
    strbuf_free(&read_off);
    strbuf_free(&name_off);
    strbuf_free(&names);
}

bool shape_add(struct history *h, int64_t workflow, const struct workflow *w, struct error *err)
{
    struct strbuf image = {0};
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard, "INSERT OR REPLACE INTO shapes(workflow, image) VALUES(?, ?)", err);
    bool ok = s != NULL;
    if (ok) {
        shape_image(w, &image);
        sqlite3_bind_int64(s, 1, workflow);
        sqlite3_bind_blob64(s, 2, image.at, image.n, SQLITE_STATIC);
        ok = database_run(h, s, err);
    }
    database_close_query(s, &guard);
    strbuf_free(&image);
    return ok;
}

/* ---- read ---- */

/* Offsets that do not fall, up to `most`. */
static bool shape_rises(const uint32_t *off, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++)
        if (off[i] > off[i + 1])
            return false;
    return off[0] == 0 && off[n] == most;
}

static bool shape_below(const uint32_t *at, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i] >= most)
            return false;
    return true;
}

/* Every object or none in each, and one that is free. */
static bool shape_slots_fit(const struct history_shape *s)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < s->nslots; i++) {
        used += s->slot[i] != NONE;
        if (s->slot[i] != NONE && s->slot[i] >= s->nobjects)
            return false;
    }
    return used < s->nslots;
}

static bool shape_fits(const struct history_shape *s, uint32_t inputs, uint32_t readers,
                       uint32_t bytes)
{
    for (uint32_t t = 0; t < s->ntasks; t++)
        if (s->out[t] > s->out_end[t] || s->out_end[t] > s->nobjects)
            return false;
    return shape_rises(s->in_off, s->ntasks, inputs) && shape_below(s->in, inputs, s->nobjects) &&
           shape_rises(s->read_off, s->nobjects, readers) &&
           shape_below(s->read, readers, s->ntasks) &&
           shape_below(s->name_off, s->nobjects, bytes) && shape_slots_fit(s) &&
           (!s->nobjects || s->names[bytes - 1] == 0);
}

/* Points into `at`, which the shape owns from here on. False: it is damaged. */
static bool shape_open(struct history_shape *s, uint32_t *at, size_t n)
{
    *s = (struct history_shape){.image = at};
    if (n < HEAD * sizeof *at || at[0] != FIRST)
        return false;
    uint64_t tasks = at[1], objects = at[2], inputs = at[3], readers = at[4], bytes = at[5];
    uint64_t words = HEAD + tasks + 1 + inputs + 2 * tasks + objects + 1 + readers + objects;
    if (objects > n || n != (words + shape_slots(objects)) * sizeof *at + bytes)
        return false;
    s->nslots = shape_slots(objects);
    s->ntasks = at[1];
    s->nobjects = at[2];
    s->in_off = at + HEAD;
    s->in = s->in_off + tasks + 1;
    s->out = s->in + inputs;
    s->out_end = s->out + tasks;
    s->read_off = s->out_end + tasks;
    s->read = s->read_off + objects + 1;
    s->name_off = s->read + readers;
    s->slot = s->name_off + objects;
    s->names = (const char *)(s->slot + s->nslots);
    return shape_fits(s, at[3], at[4], at[5]);
}

bool history_shape(struct history *h, int64_t workflow, struct history_shape *out)
{
    *out = (struct history_shape){0};
    struct mem_guard guard;
    uint32_t *copy = NULL;
    size_t n = 0;
    sqlite3_stmt *s =
        database_query(h, &guard, "SELECT image FROM shapes WHERE workflow = ?", NULL);
    if (s) {
        sqlite3_bind_int64(s, 1, workflow);
        if (database_step(h, s, NULL) == 1) {
            const void *blob = sqlite3_column_blob(s, 0);
            n = blob ? (size_t)sqlite3_column_bytes(s, 0) : 0;
            copy = mem_new(uint32_t, n / sizeof *copy + 1);
            if (n)
                memcpy(copy, blob, n);
        }
    }
    database_close_query(s, &guard);
    if (copy && shape_open(out, copy, n))
        return true;
    free(copy);
    *out = (struct history_shape){0};
    return false;
}

/* Whoever asks does not wait for others: without it the next one reads the text again. */
bool history_shape_of(struct history *h, int64_t workflow, const struct workflow *w,
                      struct history_shape *out)
{
    struct strbuf image = {0};
    shape_image(w, &image);
    size_t n = image.n;
    uint32_t *copy = mem_new(uint32_t, n / sizeof *copy + 1);
    memcpy(copy, strbuf_text(&image), n);
    strbuf_free(&image);
    sqlite3_busy_timeout(h->db, 0);
    shape_add(h, workflow, w, NULL);
    sqlite3_busy_timeout(h->db, DATABASE_WAIT);
    if (shape_open(out, copy, n))
        return true;
    free(copy);
    *out = (struct history_shape){0};
    return false;
}

uint32_t history_shape_find(const struct history_shape *s, const char *name)
{
    uint32_t at = shape_hash(name) & (s->nslots - 1);
    while (s->slot[at] != NONE && strcmp(s->names + s->name_off[s->slot[at]], name) != 0)
        at = (at + 1) & (s->nslots - 1);
    return s->slot[at];
}

void history_shape_free(struct history_shape *s)
{
    free(s->image);
    *s = (struct history_shape){0};
}
