/* Recorded executions as a check of the simulator: the WfFormat files of the shared data that state
 * a makespan, machines and run times.
 *
 * What can honestly be claimed. The files state how long each task ran, on which machine (or there
 * is only one), how many cores a machine has, and the makespan. They state no start times and no
 * overheads: the recorded makespan contains whatever the workflow system spent on queueing, staging
 * and cleaning up. So the replay puts every task on its recorded machine for its recorded run time,
 * as a greedy system would (longest way to the end first, first free core), and must come out not
 * above the recorded makespan (stated overheads: none), and not below the critical path of the
 * recorded run times, nor below work / cores. */
#include "base/file.h"
#include "formats/format.h"
#include "formats/wfformat/wfformat.h"
#include "model/graph.h"
#include "sim/queue.h"
#include "sim/replay.h"
#include "tap.h"
#include <dirent.h>

/* One task at a time in order of `bottom`, each as early as its predecessors and the first free
 * core of its machine allow. */
static struct plan *greedy_plan(const struct workflow *w, const struct platform *p,
                                const struct wfformat_execution *x, const double *time)
{
    double *bottom = mem_new(double, w->ntasks);
    graph_bottom_levels(w, time, 0, 0, bottom);
    uint32_t *missing = mem_new(uint32_t, w->ntasks);
    size_t *first_core = mem_new_zero(size_t, (size_t)p->nnodes + 1);
    for (uint32_t i = 0; i < p->nnodes; i++)
        first_core[i + 1] = first_core[i] + p->cores[i];
    double *free_at = mem_new_zero(double, first_core[p->nnodes]);
    double *ready_at = mem_new_zero(double, w->ntasks);
    struct queue ready = {0};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!missing[t])
            queue_push(&ready, -bottom[t], t, t);
    }
    struct plan *plan = plan_new(PLAN_STATIC);
    while (ready.n) {
        uint32_t t = (uint32_t)queue_pop(&ready).value;
        uint32_t node = x->machine_of_task[t] == NONE ? 0 : x->machine_of_task[t];
        double *cores = free_at + first_core[node];
        uint32_t need = w->cores[t] < p->cores[node] ? w->cores[t] : p->cores[node], best = 0;
        double start = INFINITY;
        for (uint32_t c = 0; c + need <= p->cores[node]; c++) {
            double at = ready_at[t];
            for (uint32_t k = 0; k < need; k++)
                at = fmax(at, cores[c + k]);
            if (at < start) {
                start = at;
                best = c;
            }
        }
        double finish = start + time[t];
        for (uint32_t k = 0; k < need; k++)
            cores[best + k] = finish;
        array_push(&plan->placements, (struct placement){t, 0, node, best, start, finish});
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t next = w->succ_task[e];
            ready_at[next] = fmax(ready_at[next], finish);
            if (--missing[next] == 0)
                queue_push(&ready, -bottom[next], next, next);
        }
    }
    plan_sort(plan);
    free(bottom);
    free(missing);
    free(first_core);
    free(free_at);
    free(ready_at);
    queue_free(&ready);
    return plan;
}

/* False: the file does not record what is needed. */
static bool one_file(const char *path, const char *name)
{
    struct error err = {0};
    struct workflow *w = format_read_workflow(path, format_find("wfformat"), NULL, &err);
    struct platform *p = w ? format_read_platform(path, format_find("wfformat"), NULL, &err) : NULL;
    struct text text = {0};
    struct wfformat_execution x = {0};
    bool usable = false;
    if (p && file_read(path, &text, &err)) {
        struct format_source source = {.path = path, .text = text.at, .length = text.n};
        usable = wfformat_read_execution(&source, w, p, &x, &err) && x.makespan > 0;
        for (uint32_t t = 0; usable && t < w->ntasks; t++)
            usable = !isnan(x.runtime[t]) && (x.machine_of_task[t] != NONE || p->nnodes == 1);
    }
    if (usable) {
        double critical = graph_critical_path(w, x.runtime, NULL, NULL), work = 0;
        for (uint32_t t = 0; t < w->ntasks; t++)
            work += x.runtime[t];
        struct plan *plan = greedy_plan(w, p, &x, x.runtime);
        struct replay_options o;
        replay_options_init(&o);
        o.network = "free";
        o.planned_times =
            true; /* run times were measured on these very machines: no scaling by speed */
        struct replay_result r;
        if (ok(replay_run(w, p, plan, &o, &r, &err), "%s replays %s", name, err.text)) {
            ok(r.makespan <= x.makespan * (1 + 1e-9), "%s: %.6g s simulated, %.6g s recorded", name,
               r.makespan, x.makespan);
            ok(r.makespan >= critical * (1 - 1e-9), "%s: not below its critical path of %.6g s",
               name, critical);
            ok(r.makespan >= work / (double)platform_total_cores(p) * (1 - 1e-9),
               "%s: not below work / cores", name);
        }
        replay_result_free(&r);
        plan_free(plan);
    } else
        printf("# %s records no complete execution: %s\n", name, err.text);
    wfformat_execution_free(&x);
    text_free(&text);
    platform_free(p);
    workflow_free(w);
    return usable;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(void)
{
    const char *shared = tap_shared();
    if (!shared) {
        tap_skip("replay of recorded executions", "no shared data");
        return tap_done();
    }
    static const char *const folders[] = {"wfformat", "wfformat-old"};
    int used = 0, files = 0;
    for (int f = 0; f < 2; f++) {
        char folder[4200];
        snprintf(folder, sizeof folder, "%s/data/%s", shared, folders[f]);
        struct dirent **names = NULL;
        int n = scandir(folder, &names, NULL, compare_names);
        for (int i = 0; i < n; i++) {
            char path[4600];
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            size_t len = strlen(names[i]->d_name);
            if (len > 5 && strcmp(names[i]->d_name + len - 5, ".json") == 0) {
                files++;
                used += one_file(path, names[i]->d_name);
            }
            free(names[i]);
        }
        free(names);
    }
    ok(used >= 20 && used == files, "%d of %d files record an execution that could be replayed",
       used, files);
    return tap_done();
}
