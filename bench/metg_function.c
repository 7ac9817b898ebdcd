/* A point of the METG grid as a function of weft's: reads what it waits for, computes, writes. */
#include "bench/metg.h"
#include "weft/task.h"

__attribute__((visibility("default"))) int point(const struct weft_task *task);
__attribute__((visibility("default"))) extern uint64_t point_rounds;
uint64_t point_rounds;

int point(const struct weft_task *task)
{
    double sum = 0;
    for (uint32_t i = 0; i < task->nin; i++) {
        const double *in = weft_task_in(task, i, NULL);
        sum += in ? in[0] : 0;
    }
    sum = metg_kernel(point_rounds, sum);
    for (uint32_t k = 0; k < task->nout; k++) {
        double *out = weft_task_out(task, k, METG_BYTES);
        if (!out)
            return 1;
        out[0] = sum;
    }
    return 0;
}
