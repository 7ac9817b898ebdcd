/* Beginning and end of an engine; the rest is inline in engine.h, where a simulation spends its
 * time. */
#include "sim/engine.h"

void engine_init(struct engine *e, uint64_t seed)
{
    *e = (struct engine){0};
    rng_seed(&e->rng, seed);
}

void engine_free(struct engine *e)
{
    queue_free(&e->queue);
}
