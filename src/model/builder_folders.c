/* Folders hold what is in them. A name that is a folder of another object's name joins the two:
 *
 *     `d` made by P, `d/x` made by Q       an error: both would make the file
 *     `d` made by P, `d/x` read by R       P makes d/x, too (OBJECT_INSIDE), and R waits for it
 *     `d` read by R, `d/x` made by P       R reads d/x, too, and waits for it; `d` itself stands for
 *                                          what else lies there (OBJECT_GATHERED)
 *
 * What follows that way stands behind what the file states, in `made` and `readings`. Names are looked
 * up by hash, and those that stand in one folder, as neighbours mostly do, once: without a folder
 * among the objects it costs one comparison of bytes for each. */
#include "model/builder_state.h"

#include <string.h>

/* `below` lies in `above`: numbers of objects. */
struct folder_pair {
    uint32_t above, below;
};

struct folder_joining {
    struct builder *b;
    ARRAY(struct folder_pair) pairs;
    /* who reads `above` reads `below`, too */
    ARRAY(struct folder_pair) follows;
};

/* The objects whose names are folders of this one, appended to the pairs. */
static void find_above(struct folder_joining *j, uint32_t object, const char *name, size_t length)
{
    struct builder *b = j->b;
    for (size_t n = length; n--;)
        if (n && name[n] == '/') {
            uint32_t above =
                name_index_find(&b->w->object_index, &b->w->text, b->object_name.at, name, n);
            if (above != NONE)
                array_push(&j->pairs, (struct folder_pair){above, object});
        }
}

/* A folder that names stood in, and the pairs that were found for one of them. */
struct folder_found {
    const char *name;
    size_t length; /* with its slash */
    size_t first, count;
};

/* Tasks mostly have their files in a few folders, so that neighbours share them. */
static void find_pairs(struct folder_joining *j)
{
    enum { RECENT = 4 };
    struct builder *b = j->b;
    struct folder_found recent[RECENT] = {{0}};
    uint32_t oldest = 0;
    for (uint32_t o = 0; o < b->object_name.n; o++) {
        const char *name = pool_text(&b->w->text, b->object_name.at[o]); /* "": anonymous */
        const char *slash = strrchr(name, '/');
        size_t length = slash ? (size_t)(slash - name) + 1 : 0;
        if (length < 2)
            continue;
        struct folder_found *f = recent;
        while (f < recent + RECENT && (f->length != length || memcmp(name, f->name, length) != 0))
            f++;
        if (f < recent + RECENT) {
            for (size_t i = 0; i < f->count; i++)
                array_push(&j->pairs, (struct folder_pair){j->pairs.at[f->first + i].above, o});
            continue;
        }
        size_t first = j->pairs.n;
        find_above(j, o, name, length);
        recent[oldest++ % RECENT] = (struct folder_found){name, length, first, j->pairs.n - first};
    }
}

static bool refuse_two_makers(struct builder *b, uint32_t above, uint32_t below)
{
    uint32_t p = b->producer.at[above], q = b->producer.at[below];
    return builder_error(
        b, b->line.at[q],
        "task '%s' makes '%s' in the folder '%s', which task '%s' makes; one of them "
        "must make it elsewhere",
        builder_task_name(b, q), builder_object_name(b, below), builder_object_name(b, above),
        builder_task_name(b, p));
}

/* Every object below one that is made gets its producer: all folders above a name are in its pairs. */
static bool join_makers(struct folder_joining *j)
{
    struct builder *b = j->b;
    for (size_t i = 0; i < j->pairs.n; i++) {
        struct folder_pair pair = j->pairs.at[i];
        uint32_t p = b->producer.at[pair.above], q = b->producer.at[pair.below];
        if (p == NONE)
            continue;
        if (q != NONE && q != p)
            return refuse_two_makers(b, pair.above, pair.below);
        if (q == NONE)
            builder_produces(b, p, pair.below, 0);
        array_push(&b->inside, pair.below);
    }
    return true;
}

/* A temporary folder goes when nobody reads it any more, nor anything in it. */
static void keep_temporary(struct folder_joining *j)
{
    struct builder *b = j->b;
    if (!b->temporary.n || !b->inside.n)
        return;
    uint8_t *temporary = mem_new_zero(uint8_t, b->object_name.n);
    for (size_t i = 0; i < b->temporary.n; i++)
        temporary[b->temporary.at[i]] = 1;
    for (size_t i = 0; i < j->pairs.n; i++) {
        struct folder_pair p = j->pairs.at[i];
        if (b->producer.at[p.above] == NONE || !temporary[p.above])
            continue;
        array_push(&j->follows, p);
        array_push(&j->follows, (struct folder_pair){p.below, p.above});
        if (!temporary[p.below])
            array_push(&b->temporary, p.below);
    }
    free(temporary);
}

static void gather(struct folder_joining *j)
{
    struct builder *b = j->b;
    for (size_t i = 0; i < j->pairs.n; i++) {
        struct folder_pair p = j->pairs.at[i];
        if (b->producer.at[p.above] != NONE || b->producer.at[p.below] == NONE)
            continue;
        array_push(&j->follows, p);
        array_push(&b->gathered, p.above);
    }
}

/* Who reads the one reads the other. Grouped by what is read, so that a reading costs what follows
 * from it. */
static void follow_readings(struct folder_joining *j)
{
    struct builder *b = j->b;
    uint32_t *off = mem_new_zero(uint32_t, b->object_name.n + 2);
    uint32_t *to = mem_new(uint32_t, j->follows.n);
    for (size_t i = 0; i < j->follows.n; i++)
        off[j->follows.at[i].above + 2]++;
    for (size_t o = 0; o < b->object_name.n; o++)
        off[o + 2] += off[o + 1];
    for (size_t i = 0; i < j->follows.n; i++)
        to[off[j->follows.at[i].above + 1]++] = j->follows.at[i].below;
    for (size_t i = 0; i < b->stated_readings && !builder_failed(b); i++) {
        struct builder_reading r = b->readings.at[i];
        for (uint32_t k = off[r.object]; k < off[r.object + 1] && !builder_failed(b); k++) {
            if (b->producer.at[to[k]] == r.task)
                builder_error(b, b->line.at[r.task],
                              "task '%s' reads the folder '%s' and makes '%s' in it; it must make "
                              "that elsewhere, or name the files that it reads",
                              builder_task_name(b, r.task), builder_object_name(b, r.object),
                              builder_object_name(b, to[k]));
            else if (b->readings.n >= NONE - 1)
                builder_error(b, 0, "more than %u edges", NONE - 1);
            else
                array_push(&b->readings, (struct builder_reading){r.task, to[k]});
        }
    }
    free(off);
    free(to);
}

void builder_join_folders(struct builder *b)
{
    struct folder_joining j = {.b = b};
    b->stated_readings = b->readings.n;
    b->stated_made = b->made.n;
    if (builder_failed(b))
        return;
    find_pairs(&j);
    if (j.pairs.n && join_makers(&j)) {
        keep_temporary(&j);
        gather(&j);
        if (j.follows.n)
            follow_readings(&j);
    }
    array_free(&j.pairs);
    array_free(&j.follows);
}
