/* Intermediate files: see disk.h. A file goes when the last of its readers that run has ended well;
 * readers that need not run are not counted, since they have read it before or never will. */
#include "drive/disk.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "memo/standing.h"
#include "model/future.h"

#include <stdlib.h>

struct disk {
    const struct workflow *w;
    struct needs *needs;
    const char *folder;
    uint32_t *left; /* per object: consumers that have not ended well yet; NULL: nothing is known */
    uint32_t room;  /* entries of `left`; 0: one for each object */
    bool open;      /* readers may join */
    ARRAY(uint32_t) held; /* temporary, read by all who are known, and not by all who may come */
    size_t next_held;
    double live, peak;
    bool changed;
    struct strbuf path;
};

/* A temporary file that nobody reads is a result, and stays. */
static bool disk_may_remove(const struct workflow *w, uint32_t object)
{
    return workflow_is_temporary(w, object) && workflow_is_intermediate(w, object);
}

double disk_expected(const struct workflow *w, uint32_t task)
{
    double sum = 0;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        sum += workflow_is_intermediate(w, o) ? w->size[o] : 0;
    return sum;
}

struct disk *disk_new(const struct workflow *w, struct needs *needs, const char *folder)
{
    struct disk *d = mem_new_zero(struct disk, 1);
    *d = (struct disk){.w = w, .needs = needs, .folder = folder};
    if (!needs || !w->nobjects)
        return d;
    d->left = mem_new_zero(uint32_t, w->nobjects);
    /* readers that will run */
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!need_runs(needs, t))
            continue;
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            d->left[w->in_object[i]]++;
    }
    /* what earlier runs left */
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (needs->present[o] && workflow_is_intermediate(w, o))
            d->live += needs->bytes[o];
    d->peak = d->live;
    return d;
}

void disk_free(struct disk *d)
{
    if (!d)
        return;
    free(d->left);
    array_free(&d->held);
    strbuf_free(&d->path);
    free(d);
}

/* What cannot be removed stays counted: the disk is as full as before. */
static void disk_remove_object(struct disk *d, uint32_t object)
{
    struct needs *n = d->needs;
    char label[512];
    const char *name = workflow_object_label(d->w, object, label, sizeof label);
    if (!n->present[object] || standing_at(n, object) >= STANDING_CHANGED || /* not weft's */
        !tree_remove(path_in(d->folder, name, &d->path)))
        return;
    n->present[object] = 0;
    d->live -= n->bytes[object];
    d->changed = true;
}

/* Nobody who is known reads it any more. Who may come decides whether it goes now. */
static void disk_was_read(struct disk *d, uint32_t object)
{
    if (!disk_may_remove(d->w, object))
        return;
    if (d->open && future_may_read(d->w, object))
        array_push(&d->held, object);
    else
        disk_remove_object(d, object);
}

/* What is held, after the workflow has grown: all of it when nothing more will come, before that some, in
 * turn, so that growing costs what joins costs. */
static void disk_look_again(struct disk *d)
{
    enum { AT_ONCE = 256 };
    for (size_t i = 0; d->held.n && (i < AT_ONCE || !d->open); i++) {
        if (d->next_held >= d->held.n) {
            if (i >= d->held.n)
                return; /* each was looked at */
            d->next_held = 0;
        }
        uint32_t object = d->held.at[d->next_held];
        bool read_again = d->left[object] > 0; /* by who joined: it comes again when that is done */
        if (!read_again && d->open && future_may_read(d->w, object)) {
            d->next_held++;
            continue;
        }
        d->held.at[d->next_held] = array_pop(&d->held);
        if (!read_again)
            disk_remove_object(d, object);
    }
}

void disk_grow(struct disk *d, uint32_t first, uint32_t object, bool open)
{
    const struct workflow *w = d->w;
    d->open = open;
    if (!d->needs || !w->nobjects)
        return;
    if (d->room < w->nobjects || !d->left) {
        d->room = w->nobjects + object / 2;
        d->left = mem_resize(d->left, d->room);
    }
    for (uint32_t o = object; o < w->nobjects; o++)
        d->left[o] = 0;
    for (uint32_t t = first; t < w->ntasks; t++)
        for (uint32_t i = w->in_off[t]; d->needs->task[t] != NEED_NOT && i < w->in_off[t + 1]; i++)
            d->left[w->in_object[i]]++;
    disk_look_again(d);
}

void disk_task_done(struct disk *d, uint32_t task, bool produced)
{
    if (!d || !d->left)
        return;
    const struct workflow *w = d->w;
    const struct needs *n = d->needs;
    for (uint32_t o = w->object_off[task]; produced && o < w->object_end[task]; o++)
        if (workflow_is_intermediate(w, o)) {
            d->live += n->bytes[o];
            d->changed = true;
        }
    if (d->live > d->peak)
        d->peak = d->live;
    if (!need_runs(n, task))
        return; /* was not counted among the consumers */
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t object = w->in_object[i];
        if (--d->left[object] == 0)
            disk_was_read(d, object);
    }
}

void disk_remove_unread(struct disk *d)
{
    const struct workflow *w = d->w;
    if (!d->left || !w->object_flags)
        return;
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (disk_may_remove(w, o) && !d->left[o] && !(d->open && future_may_read(w, o)))
            disk_remove_object(d, o); /* open: it ended before all was known */
}

void disk_moved_out(struct disk *d, uint32_t object)
{
    d->live -= d->needs->bytes[object];
    d->changed = true;
}

void disk_moved_in(struct disk *d, uint32_t object)
{
    d->live += d->needs->bytes[object];
    d->peak = d->live > d->peak ? d->live : d->peak;
    d->changed = true;
}

double disk_live(const struct disk *d)
{
    return d->live;
}

double disk_peak(const struct disk *d)
{
    return d->peak;
}

bool disk_take_changed(struct disk *d)
{
    bool changed = d->changed;
    d->changed = false;
    return changed;
}
