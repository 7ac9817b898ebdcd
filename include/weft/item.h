/* A filter of a stream that is a function: `call: lib.so:name` in a workflow that `weft stream` or
 * weft_stream_run() executes.
 *
 *     #include <weft/item.h>
 *     int blur(struct weft_item *item)
 *     {
 *         const float *in = item->in[0].at;
 *         float *out = item->give(item, 0, item->in[0].size);
 *         ...
 *         return 0;
 *     }
 *     cc -shared -fPIC -o lib.so lib.c
 *
 * It is called once for every item, with one piece of data for each of its inputs, in the order of the
 * workflow file, and gives one or none for each of its outputs. What it reads is shared with others and
 * must not be changed. What it gives belongs to the stream when it returns. Anything but 0 is a failure:
 * its outputs are thrown away, and the item is tried again.
 *
 * A filter is called from several threads at once, for different items, unless the workflow says
 * `replicable: false`: then it is called for one item after the other, in their order, and may keep
 * state. It must not exit: what it breaks, it breaks for all.
 *
 * A function that keeps state may have another beside it, NAME_state, for streams on several machines
 * (weft_stream_options.on). Asked with no inputs it gives its state as output 0; called with one input it
 * takes that for its state. It is asked after every item; a process that takes over from one that died is
 * given what it gave last.
 *
 * The same function may be a source of items (no inputs; an item of which it gives nothing ends the
 * stream) or a sink (no outputs). Nothing here needs to be linked. */
#ifndef WEFT_ITEM_H
#define WEFT_ITEM_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_piece {
    const void *at; /* aligned for any type; from 4 KiB on to 64 bytes. Never NULL */
    size_t size;
};

struct weft_item {
    uint64_t number;  /* of the item, from 0 */
    const char *name; /* of the task */
    uint32_t attempt; /* 1 is the first */
    uint32_t nin, nout;
    const struct weft_piece *in;
    /* Memory for an output, which replaces what was given before; NULL: there is none, or no such port. */
    void *(*give)(struct weft_item *item, uint32_t port, size_t size);
    /* Give an input as an output, without a copy. 0: done. */
    int (*pass)(struct weft_item *item, uint32_t out, uint32_t in);
    void *context; /* of a source or sink that a program gave to weft_stream_open(); else NULL */
};

typedef int (*weft_filter_function)(struct weft_item *item);

#ifdef __cplusplus
}
#endif
#endif
