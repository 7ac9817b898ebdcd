/* The filter of bench_flow as a function of weft's: a stage that hands its item on after some time. */
#include "bench/metg.h"
#include "weft/item.h"

#define FILTER __attribute__((visibility("default")))
FILTER int stage(struct weft_item *item);
FILTER extern uint64_t stage_rounds;
uint64_t stage_rounds;

int stage(struct weft_item *item)
{
    if (stage_rounds)
        metg_kernel(stage_rounds, 1);
    return item->pass(item, 0, 0);
}
