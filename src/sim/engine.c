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
