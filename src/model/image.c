/* The image of a workflow:
 *
 *     struct workflow          its counts; a pointer only tells whether the array is there
 *     arrays of array_list.h   each padded to 8 bytes
 *     text, task_index.slot, object_index.slot
 *     warnings                 texts with their NULs, one after the other
 *
 * Squeezed, arrays of 4-byte numbers are differences, and the padding is there, too.
 *
 * A field that is no array is carried by the struct itself; an array that is not in the list changes
 * the size of the struct, and the assertion below fails. */
#include "model/image.h"

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/squeeze.h"
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

struct image_writer {
    struct image_sink *plain; /* or */
    struct squeeze *squeezed;
};

static const char image_zeros[8];

static void image_put_plain(struct image_sink *to, const void *data, size_t n, size_t padding)
{
    to->bytes += n + padding;
    if (!to->stream)
        return;
    to->crc = crc32c(crc32c(to->crc, data, n), image_zeros, padding);
    to->failed = to->failed || fwrite(data, 1, n, to->stream) != n ||
                 fwrite(image_zeros, 1, padding, to->stream) != padding;
}

/* Numbers that rise evenly differ by the same: what repeats itself is squeezed. */
static void image_put_numbers(struct squeeze *to, const uint32_t *numbers, size_t n)
{
    uint32_t some[256], before = 0;
    for (size_t at = 0; at < n;) {
        size_t k = 0;
        for (; k < sizeof some / sizeof *some && at < n; k++, at++) {
            some[k] = numbers[at] - before;
            before = numbers[at];
        }
        squeeze_put(to, some, k * sizeof *some);
    }
}

static void image_put_array(const struct image_writer *to, const void *data, size_t count,
                            size_t size)
{
    size_t n = count * size, padding = -n & 7;
    if (to->plain) {
        image_put_plain(to->plain, data, n, padding);
        return;
    }
    if (size == sizeof(uint32_t))
        image_put_numbers(to->squeezed, data, count);
    else
        squeeze_put(to->squeezed, data, n);
    squeeze_put(to->squeezed, image_zeros, padding);
}

static size_t index_slots(const struct name_index *x)
{
    return x->slot ? (size_t)x->mask + 1 : 0;
}

static void image_write(const struct workflow *w, const struct image_writer *to)
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
    image_put_array(to, &head, 1, sizeof head);
#define WORKFLOW_ARRAY(name, count)                                                                \
    if (w->name)                                                                                   \
        image_put_array(to, w->name, (count), sizeof *w->name);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    image_put_array(to, w->text.at, w->text.n, 1);
    image_put_array(to, w->task_index.slot, index_slots(&w->task_index), sizeof(struct name_slot));
    image_put_array(to, w->object_index.slot, index_slots(&w->object_index),
                    sizeof(struct name_slot));
    for (uint32_t i = 0; i < w->nwarnings; i++)
        image_put_array(to, w->warnings[i], strlen(w->warnings[i]) + 1, 1);
}

void workflow_image_write(const struct workflow *w, struct image_sink *to)
{
    image_write(w, &(struct image_writer){.plain = to});
}

void workflow_image_squeeze(const struct workflow *w, struct strbuf *out)
{
    struct squeeze *s = mem_new_zero(struct squeeze, 1);
    s->out = out;
    image_write(w, &(struct image_writer){.squeezed = s});
    squeeze_end(s);
    free(s);
}

/* ---- reading ---- */

struct image_reader {
    const char *at; /* plain */
    size_t left;
    struct unsqueeze *squeezed; /* or NULL */
    bool good;
};

/* Nothing is allocated for a number alone: squeezed bytes hold at most 255 times theirs. */
static bool image_has(const struct image_reader *from, size_t n)
{
    if (!from->squeezed)
        return from->left >= n && from->left - n >= (-n & 7);
    return n / 256 <= from->squeezed->left + SQUEEZE_BLOCK;
}

static void image_take_bytes(struct image_reader *from, void *to, size_t n)
{
    if (from->squeezed) {
        from->good = from->good && unsqueeze_take(from->squeezed, to, n);
        return;
    }
    if (n)
        memcpy(to, from->at, n);
    from->at += n;
    from->left -= n;
}

/* The next `count` entries of `size` bytes in a block of their own. */
static void *image_take(struct image_reader *from, size_t count, size_t size)
{
    char padding[8];
    size_t n = count * size; /* counts are of 32 bits, and the sizes of our structs small */
    if (!from->good || !image_has(from, n)) {
        from->good = false;
        return NULL;
    }
    void *block = mem_array(count, size);
    image_take_bytes(from, block, n);
    image_take_bytes(from, padding, -n & 7);
    if (!from->good) {
        free(block);
        return NULL;
    }
    if (from->squeezed && size == sizeof(uint32_t))
        for (size_t i = 1; i < count; i++)
            ((uint32_t *)block)[i] += ((uint32_t *)block)[i - 1];
    return block;
}

/* A text up to its NUL, by eights: it is padded. */
static char *image_take_text(struct image_reader *from)
{
    struct strbuf text = {0};
    char some[8] = "";
    do {
        from->good = from->good && image_has(from, sizeof some);
        if (from->good)
            image_take_bytes(from, some, sizeof some);
        strbuf_add_bytes(&text, some, strnlen(some, sizeof some));
    } while (from->good && !memchr(some, 0, sizeof some));
    return strbuf_steal(&text);
}

static void image_take_warnings(struct image_reader *from, struct workflow *w, uint32_t count)
{
    from->good = from->good && image_has(from, (size_t)count * 8);
    w->warnings = count && from->good ? mem_new_zero(char *, count) : NULL;
    for (; w->nwarnings < count && from->good; w->nwarnings++)
        w->warnings[w->nwarnings] = image_take_text(from);
}

static struct workflow *image_read(struct image_reader *from)
{
    struct workflow *w = image_take(from, 1, sizeof *w), head;
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
        w->name = image_take(from, (count), sizeof *w->name);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    w->object_end = w->object_off ? w->object_off + 1 : NULL;
    w->text = (struct pool){image_take(from, head.text.n, 1), head.text.n, head.text.n};
    struct name_slot *tasks = image_take(from, index_slots(&head.task_index), sizeof *tasks);
    struct name_slot *objects = image_take(from, index_slots(&head.object_index), sizeof *objects);
    w->task_index = (struct name_index){
        .slot = tasks, .mask = head.task_index.mask, .used = head.task_index.used};
    w->object_index = (struct name_index){
        .slot = objects, .mask = head.object_index.mask, .used = head.object_index.used};
    image_take_warnings(from, w, head.nwarnings);
    bool whole = from->squeezed ? unsqueeze_is_whole(from->squeezed) : !from->left;
    if (from->good && whole)
        return w;
    workflow_free(w);
    return NULL;
}

struct workflow *workflow_image_read(const void *data, size_t n)
{
    return image_read(&(struct image_reader){.at = data, .left = n, .good = true});
}

struct workflow *workflow_image_unsqueeze(const void *data, size_t n)
{
    struct unsqueeze *u = mem_new_zero(struct unsqueeze, 1);
    u->at = data;
    u->left = n;
    struct workflow *w = image_read(&(struct image_reader){.squeezed = u, .good = true});
    free(u);
    return w;
}
