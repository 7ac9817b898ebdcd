/* StarPU on the graphs of bench/run.c, in a program of its own: it takes the machine over.
 *   peer_starpu TASKS DEGREE WINDOW     prints the seconds from the first task made to the last
 * ended Tasks without data, dependencies declared between tasks, an empty CPU codelet. */
#include "base/clock.h"
#include "base/mem.h"
#include "bench/graph.h"
#include <starpu.h>
#include <stdbool.h>
#include <stdio.h>

static void nothing(void *buffers[], void *arguments)
{
    (void)buffers;
    (void)arguments;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    uint32_t n = (uint32_t)strtoul(argv[1], NULL, 10);
    uint32_t degree = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t window = (uint32_t)strtoul(argv[3], NULL, 10);
    if (!n || degree > GRAPH_DEGREE || !window || starpu_init(NULL) != 0)
        return 1;
    struct starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = nothing;
    codelet.nbuffers = 0;
    codelet.name = "nothing";
    struct starpu_task **task = mem_new(struct starpu_task *, n);
    struct rng r;
    rng_seed(&r, 1);
    double start = clock_seconds();
    for (uint32_t t = 0; t < n; t++) {
        uint32_t parents[GRAPH_DEGREE];
        struct starpu_task *before[GRAPH_DEGREE];
        unsigned count = 0;
        task[t] = starpu_task_create();
        task[t]->cl = &codelet;
        if (t)
            graph_parents(&r, t, degree, window, parents);
        for (uint32_t k = 0; t && k < degree; k++) {
            bool known = false;
            for (unsigned i = 0; i < count && !known; i++)
                known = before[i] == task[parents[k]];
            if (!known)
                before[count++] = task[parents[k]];
        }
        if (count)
            starpu_task_declare_deps_array(task[t], count, before);
        else if (!degree && starpu_task_submit(task[t]) != 0)
            return 1;
    }
    /* a task that has ended is gone: with dependencies all are declared first */
    for (uint32_t t = 0; t < n && degree; t++)
        if (starpu_task_submit(task[t]) != 0)
            return 1;
    starpu_task_wait_for_all();
    printf("%.6f\n", clock_seconds() - start);
    starpu_shutdown();
    free(task);
    return 0;
}
