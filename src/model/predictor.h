/* Prediction flows left: history fills a predictor, planners receive it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct prediction {
    double seconds, low, high; /* at speed 1 */
    double memory;             /* bytes; NAN: no idea */
    uint32_t samples;
};

struct predictor {
    /* False: knows nothing about this task. */
    bool (*predict)(void *context, uint32_t task, uint32_t node, struct prediction *out);
    void *context;
};
