/* A graph by arithmetic instead of arrays, for those too large to write down: every parent gives
 * one object, numbered like its producer; objects from `ntasks` on are inputs of the workflow.
 * Indexes run below the counts; one index is not asked twice in one operation. */
#pragma once
#include <stdint.h>

struct store_graph {
    const void *context;
    uint32_t ntasks, nobjects;
    uint32_t (*parents)(const void *context, uint32_t task); /* how many */
    uint32_t (*parent)(const void *context, uint32_t task, uint32_t index);
    uint32_t (*children)(const void *context, uint32_t task);
    uint32_t (*child)(const void *context, uint32_t task, uint32_t index);
    uint32_t (*inputs)(const void *context, uint32_t task); /* objects without a producer */
    uint32_t (*input)(const void *context, uint32_t task, uint32_t index);
    double (*size)(const void *context, uint32_t object);
};
