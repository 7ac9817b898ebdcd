/* A point of the METG grid as a function of weft's: reads what it waits for, computes, writes. On agents its number and
 * its rounds stand in its name ("p12_1024"), since nobody can set a variable there; Dask calls it by ctypes. */
#include "bench/metg.h"
#include "weft/task.h"
#include <stdbool.h>
#include <stdio.h>

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

__attribute__((visibility("default"))) int named_point(const struct weft_task *task);
__attribute__((visibility("default"))) int keep(const struct weft_task *task);
__attribute__((visibility("default"))) void joined_point(uint64_t rounds, uint32_t number,
                                                         uint32_t n, const double *in, double *out);

int named_point(const struct weft_task *task)
{
    const double *in[METG_DEGREE];
    char *end;
    uint32_t number = (uint32_t)strtoul(task->name + 1, &end, 10);
    uint64_t rounds = *end == '_' ? strtoull(end + 1, NULL, 10) : 0;
    double last[METG_BYTES / sizeof(double)], *out = last; /* of the last row: nobody reads it */
    for (uint32_t i = 0; i < task->nin; i++)
        if (i >= METG_DEGREE || !(in[i] = weft_task_in(task, i, NULL)))
            return 1;
    if (task->nout && !(out = weft_task_out(task, 0, METG_BYTES)))
        return 1;
    metg_mix(rounds, number, task->nin, in, out);
    return 0;
}

/* The last row, into the file that METG_KEEP names: the agent was started with it. */
int keep(const struct weft_task *task)
{
    const char *path = getenv("METG_KEEP");
    FILE *f = path ? fopen(path, "we") : NULL;
    bool good = f;
    for (uint32_t i = 0; i < task->nin && good; i++) {
        const void *in = weft_task_in(task, i, NULL);
        good = in && fwrite(in, METG_BYTES, 1, f) == 1;
    }
    return f && fclose(f) == 0 && good ? 0 : 1;
}

/* `in`: the bytes of all parents, one behind the other. */
void joined_point(uint64_t rounds, uint32_t number, uint32_t n, const double *in, double *out)
{
    const double *parents[METG_DEGREE];
    for (uint32_t i = 0; i < n && i < METG_DEGREE; i++)
        parents[i] = in + i * (METG_BYTES / sizeof *in);
    metg_mix(rounds, number, n < METG_DEGREE ? n : METG_DEGREE, parents, out);
}
