/* Before anything starts: how long a run will take, and how much memory and disk at its peak, when
 * every task takes the time and memory that is expected of it. */
#pragma once
#include "model/workflow.h"
#include "memo/need.h"

struct run_forecast {
    double seconds, memory, disk; /* what is not known counts as 0: the least that it can be */
    uint32_t known;               /* tasks whose time is stated or predicted */
    /* of the tasks that will run, those whose time, memory, or bytes of outputs nobody knows */
    uint32_t no_time, no_memory, no_size;
};

struct run_forecast_request {
    const struct workflow *workflow;
    const struct needs *needs; /* tasks that need not run take no time */
    const double *priority;    /* larger first */
    const double *seconds;     /* per task; NAN: not known */
    const double *memory;      /* per task, bytes; NAN: not known */
    const double *written;     /* bytes of outputs, per task; NAN: not known; NULL: of none */
    uint32_t cores;
    double total_memory; /* INFINITY: no limit */
};

/* For those who must have a number: what is not known (NAN) counts as long as the middle of what is, a
 * second where nothing is. Tasks of no time would all be put in one place. The caller frees. */
double *run_forecast_guesses(const double *seconds, uint32_t n);

/* The scheduler's rule in virtual time: the first of the ready tasks starts as soon as it fits.
 * O(n log n). */
struct run_forecast run_forecast(const struct run_forecast_request *q);
