/* Before anything starts: how long a run will take, and how much memory and disk at its peak, when
 * every task takes the time and memory that is expected of it. */
#pragma once
#include "model/workflow.h"
#include "memo/need.h"

struct run_forecast {
    double seconds, memory, disk;
    uint32_t known; /* tasks whose time is stated or predicted; the rest count with a default */
};

struct run_forecast_request {
    const struct workflow *workflow;
    const struct needs *needs; /* tasks that need not run take no time */
    const double *priority;    /* larger first */
    const double *seconds;     /* per task */
    const double *memory;      /* per task, bytes */
    uint32_t cores;
    double total_memory; /* INFINITY: no limit */
};

/* The scheduler's rule in virtual time: the first of the ready tasks starts as soon as it fits.
 * O(n log n). */
struct run_forecast run_forecast(const struct run_forecast_request *q);
