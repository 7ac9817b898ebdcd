/* The image of a workflow:
 *
 *     struct workflow          its counts; a pointer only tells whether the array is there
 *     arrays of array_list.h   each padded to 8 bytes
 *     text, task_index.slot, object_index.slot
 *     warnings                 texts with their NULs, one after the other
 *
 * A field that is no array is carried by the struct itself; an array that is not in the list changes
 * the size of the struct, and the assertion below fails. */
#include "model/image.h"

#include "base/crc32c.h"
#include "base/mem.h"
#include "model/array_list.h"

#include <string.h>

#define WORKFLOW_ARRAY(name, count) +1
enum { WORKFLOW_ARRAY_COUNT = 0 WORKFLOW_ARRAYS };
#undef WORKFLOW_ARRAY
/* three names, five counts; object_end, growth, future and joins, of which an image has none; parameters,
 * attributes, resources, assertions and warnings with their counts, padded (behind the attributes' that
 * of the resources, behind the assertions' the hooks: four numbers of 4 bytes) */
_Static_assert(sizeof(struct workflow) == sizeof(struct pool) + 2 * sizeof(struct name_index) +
                                              WORKFLOW_ARRAY_COUNT * sizeof(void *) + 8 * 4 +
                                              6 * 8 + sizeof(char **) + 4 * sizeof(void *),
               "struct workflow has a field that model/array_list.h does not list (an array), or "
               "that is to be counted here (anything else)");

/* ---- writing ---- */

static void image_put(struct image_sink *to, const void *data, size_t n)
{
    static const char zeros[8];
    size_t padding = -n & 7;
    to->bytes += n + padding;
    if (!to->stream)
        return;
    to->crc = crc32c(crc32c(to->crc, data, n), zeros, padding);
    to->failed = to->failed || fwrite(data, 1, n, to->stream) != n ||
                 fwrite(zeros, 1, padding, to->stream) != padding;
}

static size_t index_slots(const struct name_index *x)
{
    return x->slot ? (size_t)x->mask + 1 : 0;
}

void workflow_image_write(const struct workflow *w, struct image_sink *to)
{
    struct workflow head = *w;
#define WORKFLOW_ARRAY(name, count) head.name = (void *)(uintptr_t)(w->name != NULL);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    head.text.at = NULL;
    head.task_index.slot = (void *)(uintptr_t)(w->task_index.slot != NULL);
    head.object_index.slot = (void *)(uintptr_t)(w->object_index.slot != NULL);
    head.task_index.tag = head.object_index.tag = NULL;
    head.warnings = NULL;
    head.object_end = NULL;
    image_put(to, &head, sizeof head);
#define WORKFLOW_ARRAY(name, count)                                                                \
    if (w->name)                                                                                   \
        image_put(to, w->name, (count) * sizeof *w->name);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    image_put(to, w->text.at, w->text.n);
    image_put(to, w->task_index.slot, index_slots(&w->task_index) * sizeof(struct name_slot));
    image_put(to, w->object_index.slot, index_slots(&w->object_index) * sizeof(struct name_slot));
    for (uint32_t i = 0; i < w->nwarnings; i++)
        image_put(to, w->warnings[i], strlen(w->warnings[i]) + 1);
}

/* ---- reading ---- */

struct image_reader {
    const char *at;
    size_t left;
    bool good;
};

/* The next `count` entries of `size` bytes in a block of their own. */
static void *image_take(struct image_reader *from, size_t count, size_t size)
{
    size_t n = count * size; /* counts are of 32 bits, and the sizes of our structs small */
    if (!from->good || from->left < n || from->left - n < (-n & 7)) {
        from->good = false;
        return NULL;
    }
    void *block = mem_array(count, size);
    if (n)
        memcpy(block, from->at, n);
    from->at += n + (-n & 7);
    from->left -= n + (-n & 7);
    return block;
}

static void image_take_warnings(struct image_reader *from, struct workflow *w, uint32_t count)
{
    w->warnings = count ? mem_new_zero(char *, count) : NULL;
    for (; w->nwarnings < count && from->good; w->nwarnings++) {
        size_t n = strnlen(from->at, from->left) + 1;
        w->warnings[w->nwarnings] = image_take(from, n, 1);
    }
}

struct workflow *workflow_image_read(const void *data, size_t n)
{
    struct image_reader from = {.at = data, .left = n, .good = n >= sizeof(struct workflow)};
    if (!from.good)
        return NULL;
    struct workflow *w = image_take(&from, 1, sizeof *w), head;
    if (!w)
        return NULL;
    head = *w;
    /* from here on a pointer is a block of ours, so that half a workflow can be freed */
#define WORKFLOW_ARRAY(name, count) w->name = NULL;
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    w->text = (struct pool){0};
    w->task_index = w->object_index = (struct name_index){0};
    w->warnings = NULL;
    w->nwarnings = 0;
#define WORKFLOW_ARRAY(name, count)                                                                \
    if (head.name)                                                                                 \
        w->name = image_take(&from, (count), sizeof *w->name);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    w->object_end = w->object_off ? w->object_off + 1 : NULL;
    w->text = (struct pool){image_take(&from, head.text.n, 1), head.text.n, head.text.n};
    struct name_slot *tasks = image_take(&from, index_slots(&head.task_index), sizeof *tasks);
    struct name_slot *objects = image_take(&from, index_slots(&head.object_index), sizeof *objects);
    w->task_index = (struct name_index){
        .slot = tasks, .mask = head.task_index.mask, .used = head.task_index.used};
    w->object_index = (struct name_index){
        .slot = objects, .mask = head.object_index.mask, .used = head.object_index.used};
    image_take_warnings(&from, w, head.nwarnings);
    if (from.good && !from.left)
        return w;
    workflow_free(w);
    return NULL;
}
