/* Task metadata behind one table of functions: whoever drives a scheduler hands its operations in,
 * and the answers come back later, in batches. Embedded (store/embedded.h) on one machine; a server
 * on many.
 *
 *     store_submit(store, ops, n);                a batch in; never blocks
 *     while (store_poll(store, &answers, err) && answers.n) ... a batch out
 *
 * Every operation gets one answer, in order. Nothing here is for two threads at once. */
#pragma once
#include "base/error.h"
#include "model/metadata.h"
#include <stdbool.h>

struct store;

struct store_ops {
    const char *name;
    /* Take copies of the operations. Out of memory ends the program; poll
     * reports any other trouble. */
    void (*submit)(struct store *s, const struct meta_op *ops, size_t n);
    /* What has been answered since the last call; out->n is 0 when nothing has. The arrays are
     * valid until the next call of poll or close. False: the store cannot go on recording; nothing
     * that was reported durable is lost, and what was submitted is kept for retry. */
    bool (*poll)(struct store *s, struct meta_answers *out, struct error *err);
    /* Block until poll has something new to tell, or everything submitted is durable. */
    void (*wait)(struct store *s);
    /* Readable when poll has something to tell; -1: poll after each submit. Belongs to the store.
     */
    int (*fd)(struct store *s);
    /* Operations, counted from the first submit, that survive a crash now. */
    uint64_t (*durable)(struct store *s);
    /* Block until all that was submitted is durable. */
    bool (*flush)(struct store *s, struct error *err);
    /* After poll failed and the cause is out of the way (space on the disk): go on. False: this one
     * cannot be repaired. */
    bool (*retry)(struct store *s, struct error *err);
    /* Its workflow has grown (model/growth.h): tasks that are new are absent, and may be PUT. NULL: it
     * cannot. */
    void (*grow)(struct store *s);
    size_t (*bytes)(const struct store *s); /* of memory */
    /* Flush and free. False: the last operations could not be made durable; it is freed all the
     * same. */
    bool (*close)(struct store *s, struct error *err);
};

/* The first member of every implementation. */
struct store {
    const struct store_ops *ops;
};

static inline void store_submit(struct store *s, const struct meta_op *ops, size_t n)
{
    s->ops->submit(s, ops, n);
}
static inline bool store_poll(struct store *s, struct meta_answers *out, struct error *err)
{
    return s->ops->poll(s, out, err);
}
static inline void store_wait(struct store *s)
{
    s->ops->wait(s);
}
static inline int store_fd(struct store *s)
{
    return s->ops->fd(s);
}
static inline uint64_t store_durable(struct store *s)
{
    return s->ops->durable(s);
}
static inline bool store_flush(struct store *s, struct error *err)
{
    return s->ops->flush(s, err);
}
static inline bool store_retry(struct store *s, struct error *err)
{
    return s->ops->retry(s, err);
}
static inline size_t store_bytes(const struct store *s)
{
    return s->ops->bytes(s);
}
static inline bool store_close(struct store *s, struct error *err)
{
    return !s || s->ops->close(s, err);
}
