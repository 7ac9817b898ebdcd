/* What functions have of weft where no call of their run has an object (data.h): scratch memory. */
#include "exec/data.h"

#include "base/mem.h"

#include <stdlib.h>

enum { BARE_ALIGNED = 64 }; /* bytes, as objects are */

struct data_bare_block {
    _Alignas(BARE_ALIGNED) struct data_bare_block *below;
};

/* Of this thread: of the call at hand, above those of calls that wait below it. */
static _Thread_local struct data_bare_block *data_bare_top
    __attribute__((tls_model("initial-exec")));

static const void *data_bare_in(const struct weft_task *task, uint32_t i, size_t *bytes)
{
    (void)task, (void)i;
    if (bytes)
        *bytes = 0;
    return NULL;
}

static void *data_bare_out(const struct weft_task *task, uint32_t i, size_t bytes)
{
    (void)task, (void)i, (void)bytes;
    return NULL;
}

static void *data_bare_pass(const struct weft_task *task, uint32_t in, uint32_t out, size_t *bytes)
{
    (void)task, (void)in, (void)out;
    if (bytes)
        *bytes = 0;
    return NULL;
}

static void *data_bare_scratch(const struct weft_task *task, size_t bytes)
{
    size_t room =
        (bytes + BARE_ALIGNED - 1) / BARE_ALIGNED * BARE_ALIGNED + sizeof(struct data_bare_block);
    struct data_bare_block *block = room < bytes ? NULL : aligned_alloc(BARE_ALIGNED, room);
    (void)task;
    if (!block)
        return NULL;
    block->below = data_bare_top;
    data_bare_top = block;
    return block + 1;
}

const struct weft_task_data data_bare = {data_bare_in, data_bare_out, data_bare_pass,
                                         data_bare_scratch};

struct data_bare_block *data_bare_begin(void)
{
    return data_bare_top;
}

void data_bare_end(struct data_bare_block *before)
{
    while (data_bare_top != before) {
        struct data_bare_block *block = data_bare_top;
        data_bare_top = block->below;
        (free)(block);
    }
}
