/* A loop over the cores. */
#pragma once
#include <stddef.h>

/* Call body(context, i) for i in 0..count-1 on up to `threads` threads (0: one per core).
 * Iterations are handed out one by one in increasing order; the body synchronises what it shares.
 * Results must not depend on the thread that ran them. */
void parallel_for(size_t count, unsigned threads, void (*body)(void *context, size_t i),
                  void *context);
unsigned parallel_cores(void);
