/* The analytical bound of section 3 of the MATRIX paper: no schedule of the graph on so many cores
 * can end earlier. Two passes over the tasks in topological order, O(tasks + edges), 12 bytes a
 * task.
 *
 *   finish(task) = inputs there + length + wait of its level
 *   timespan     = max(latest finish, work / cores)
 *
 * The second term is ours: without it the paper's equation (1) promises more than the cores can do
 * when all tasks are on one level. */
#include "sim/bound.h"
#include "base/array.h"
#include <math.h>

/* Tasks that are equally far from the entries could all run at once; with fewer cores than tasks
 * they wait for each other. */
struct bound_level {
    uint64_t tasks;
    double work, wait;
};

struct bound {
    const struct bound_config *config;
    const struct workload *dag;
    double *finish;
    uint32_t *level;
    ARRAY(struct bound_level) levels;
};

/* The i-th task of a topological order. Benchmark graphs are numbered parents first. */
static uint32_t task_at(const struct workload *d, uint32_t i)
{
    return d->workflow ? d->workflow->topo[i] : i;
}

/* Bytes that the i-th edge into a task carries. */
static double bytes_in(const struct workload *d, uint32_t task, uint32_t i)
{
    uint32_t producer, object = workload_need(d, task, i, &producer);
    return object == NONE ? 0 : workload_size(d, object);
}

/* A level is the longest path from an entry in edges. Its wait is the time that the last task of
 * the level (BOUND_WAIT_MEAN: the average one) spends behind others of the same level. */
static void find_levels(struct bound *b)
{
    const struct workload *d = b->dag;
    for (uint32_t i = 0; i < d->ntasks; i++) {
        uint32_t task = task_at(d, i), level = 0;
        for (uint32_t k = 0, n = workload_parents(d, task); k < n; k++) {
            uint32_t above = b->level[workload_parent(d, task, k)] + 1;
            level = above > level ? above : level;
        }
        b->level[task] = level;
        while (b->levels.n <= level)
            array_add(&b->levels);
        b->levels.at[level].tasks++;
        b->levels.at[level].work += workload_length(d, task);
    }
    for (size_t i = 0; i < b->levels.n; i++) {
        struct bound_level *l = &b->levels.at[i];
        /* the first `cores` tasks of a level do not wait */
        double rest = (double)l->tasks / (double)b->config->cores - 1;
        l->wait = rest > 0 ? rest * (l->work / (double)l->tasks) : 0;
        if (b->config->wait == BOUND_WAIT_MEAN)
            l->wait /= 2;
    }
}

/* When the data of all parents can be at one place: a new one (case 1), or where one parent ran
 * (case 2), for which the task itself moves. The best parent to stay with is the one whose data
 * would arrive last, since its own transfer is the only one that staying saves. */
static double inputs_there(const struct bound *b, uint32_t task)
{
    const struct workload *d = b->dag;
    double speed = b->config->bandwidth, latest = 0, second = 0, own = 0;
    uint32_t n = workload_parents(d, task);
    for (uint32_t k = 0; k < n; k++) {
        double done = b->finish[workload_parent(d, task, k)];
        double there = done + bytes_in(d, task, k) / speed;
        if (k == 0 || there > latest) {
            second = k ? latest : 0;
            latest = there;
            own = done;
        } else if (there > second) {
            second = there;
        }
    }
    double moved = fmax(second, own) + (n ? b->config->task_bytes / speed : 0);
    return fmin(latest, moved);
}

/* The latest finish of all tasks; without waiting this is the critical path with its data. */
static double bound_recursion(struct bound *b, bool waiting)
{
    const struct workload *d = b->dag;
    double last = 0;
    for (uint32_t i = 0; i < d->ntasks; i++) {
        uint32_t task = task_at(d, i);
        double finish = inputs_there(b, task) + workload_length(d, task) +
                        (waiting ? b->levels.at[b->level[task]].wait : 0);
        b->finish[task] = finish;
        last = finish > last ? finish : last;
    }
    return last;
}

bool bound_compute(const struct bound_config *config, struct bound_result *out, struct error *err)
{
    struct bound b = {.config = config, .dag = config->dag};
    *out = (struct bound_result){0};
    if (!config->cores || !(config->bandwidth > 0))
        return error_set(err, ERROR_INPUT, "a bound needs cores and a bandwidth");
    b.finish = mem_new(double, b.dag->ntasks);
    b.level = mem_new(uint32_t, b.dag->ntasks);
    find_levels(&b);
    for (size_t i = 0; i < b.levels.n; i++)
        out->work += b.levels.at[i].work;
    out->levels = (uint32_t)b.levels.n;
    out->path = bound_recursion(&b, false);
    out->recursion = bound_recursion(&b, true);
    out->area = out->work / (double)config->cores;
    out->timespan = fmax(out->recursion, out->area);
    out->throughput = out->timespan > 0 ? b.dag->ntasks / out->timespan : 0;
    array_free(&b.levels);
    free(b.finish);
    free(b.level);
    return true;
}
