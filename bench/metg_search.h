/* The search for METG (bench/metg.h), shared by the benchmarks of threads and of agents: tasks are halved until less
 * than half of the time is their own; between the last two lengths the point is interpolated. */
#pragma once
#include "model/workflow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { METG_WIDTH = 8, METG_MOST_TASKS = 40000, METG_LENGTHS = 16 };

/* Efficiencies of one contender, the shortest task first: filled from the end. */
struct metg_curve {
    double task[METG_LENGTHS], efficiency[METG_LENGTHS]; /* microseconds, percent */
    size_t from;
};

/* The grid as tasks that call `command`, data in memory. `rounds` not 0: a task's name ends with it, for functions in
 * processes that nobody can tell otherwise. `keep`: one more task, of that command, reads the last row. */
struct metg_grid {
    int pattern;
    uint32_t steps;
    const char *command, *keep;
    uint64_t rounds;
};
struct workflow *metg_workflow(const struct metg_grid *grid);

/* Rows for a run whose tasks take so many seconds in all, on so many threads; at least 20. */
uint32_t metg_steps(double seconds, double task, int threads);
double metg_kernel_seconds(uint64_t rounds); /* of one task that does nothing else */

/* The part of a run's time that is the tasks' own, for tasks of `rounds`, which take `task` seconds alone. */
typedef double (*metg_efficiency)(void *context, uint64_t rounds, double task);
/* Seconds; negative: half is never reached, also with tasks of a twentieth of a second. With a curve it goes
 * on below a half. */
double metg_search(metg_efficiency efficiency, void *context, uint64_t first,
                   struct metg_curve *curve);

/* Of those that have points. */
void metg_write_chart(const char *file, const char *title, const char *const *names,
                      const struct metg_curve *curves, size_t n);
