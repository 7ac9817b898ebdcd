/* Asking for memory before it is needed.
 *
 * A line that is not in the cache comes while other work goes on. GCC takes a function that does nothing but
 * prefetch for one without effect and leaves out every call to it, silently; an empty volatile asm is an effect,
 * and costs no instruction. Everybody asks through here (tools/lint). */
#pragma once

/* Any address will do, also one past the end: nothing is read. */
static inline void prefetch_read(const void *at)
{
    __builtin_prefetch(at);
    __asm__ volatile("");
}

static inline void prefetch_write(const void *at)
{
    __builtin_prefetch(at, 1);
    __asm__ volatile("");
}
