/* The search for METG, and what it is searched on (metg_search.h). Kernel and patterns are of bench/metg.h. */
#include "bench/metg_search.h"

#include "bench/bench.h"
#include "bench/metg.h"
#include "report/chart.h"

static const double METG_LONGEST = 0.05; /* seconds: nobody asks beyond */

/* Does somebody of the next row read it? */
static bool metg_is_read(const struct metg_grid *grid, uint32_t t)
{
    uint32_t step = t / METG_WIDTH + 1, from[METG_DEGREE];
    if (step == grid->steps)
        return grid->keep;
    for (uint32_t x = 0; x < METG_WIDTH; x++)
        for (uint32_t n = metg_parents(grid->pattern, METG_WIDTH, step, x, from); n--;)
            if (from[n] == t % METG_WIDTH)
                return true;
    return false;
}

static void metg_add_task(struct builder *b, const char *name, const char *command)
{
    uint32_t t = builder_task(b, name, strlen(name), 0);
    builder_command(b, t, command, strlen(command));
    builder_flag(b, t, TASK_CALL);
}

struct workflow *metg_workflow(const struct metg_grid *grid)
{
    struct builder *b = builder_new("<metg>", "bench");
    struct error err = {0};
    uint32_t tasks = METG_WIDTH * grid->steps;
    char name[48];
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t from[METG_DEGREE];
        uint32_t n = metg_parents(grid->pattern, METG_WIDTH, t / METG_WIDTH, t % METG_WIDTH, from);
        snprintf(name, sizeof name, grid->rounds ? "p%u_%llu" : "p%u", t,
                 (unsigned long long)grid->rounds);
        metg_add_task(b, name, grid->command);
        builder_object(b, name, strlen(name)); /* made by the task of its number, if it is read */
        for (uint32_t i = 0; i < n; i++)
            builder_consumes(b, t, (t / METG_WIDTH - 1) * METG_WIDTH + from[i], 0);
    }
    if (grid->keep)
        metg_add_task(b, "keep", grid->keep);
    for (uint32_t x = 0; x < METG_WIDTH && grid->keep; x++)
        builder_consumes(b, tasks, tasks - METG_WIDTH + x, 0);
    for (uint32_t t = 0; t < tasks; t++)
        if (metg_is_read(grid, t)) { /* what nobody reads would be a file */
            builder_produces(b, t, t, 0);
            builder_in_memory(b, t);
        }
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

uint32_t metg_steps(double seconds, double task, int threads)
{
    double wanted = seconds * threads / task / METG_WIDTH;
    return (uint32_t)fmin(fmax(wanted, 20), (double)METG_MOST_TASKS / METG_WIDTH);
}

double metg_kernel_seconds(uint64_t rounds)
{
    double best = INFINITY;
    uint64_t repeats = 2000000 / rounds + 1;
    for (int k = 0; k < 5; k++) {
        double start = metg_spent(1);
        for (uint64_t i = 0; i < repeats; i++)
            metg_kernel(rounds, 1);
        best = fmin(best, (metg_spent(1) - start) / (double)repeats);
    }
    return best;
}

/* Between the two, in the logarithm. */
static double metg_between(double task, double e, double last_task, double last)
{
    double share = (0.5 - e) / (last - e);
    return exp(log(task) + share * (log(last_task) - log(task)));
}

double metg_search(metg_efficiency efficiency, void *context, uint64_t first,
                   struct metg_curve *curve)
{
    double last = 0, last_task = 0, found = 0;
    for (uint64_t rounds = first; rounds >= 8; rounds /= 2) {
        double task = metg_kernel_seconds(rounds), e = efficiency(context, rounds, task);
        if (e < 0.5 && !last_task) { /* it began too short */
            if (!e || task > METG_LONGEST)
                return -1;
            rounds *= 4;
            continue;
        }
        if (curve && curve->from) {
            curve->task[--curve->from] = task * 1e6;
            curve->efficiency[curve->from] = e * 100;
        }
        if (e < 0.5 && !found)
            found = metg_between(task, e, last_task, last);
        if (found && (!curve || e < 0.05))
            break;
        last = e;
        last_task = task;
    }
    return found ? found : last_task;
}

void metg_write_chart(const char *file, const char *title, const char *const *names,
                      const struct metg_curve *curves, size_t n)
{
    struct chart_series series[8];
    struct strbuf svg = {0};
    struct error err = {0};
    size_t drawn = 0;
    for (size_t i = 0; i < n && drawn < sizeof series / sizeof *series; i++)
        if (curves[i].from < METG_LENGTHS)
            series[drawn++] = (struct chart_series){.name = names[i],
                                                    .x = curves[i].task + curves[i].from,
                                                    .y = curves[i].efficiency + curves[i].from,
                                                    .n = METG_LENGTHS - curves[i].from,
                                                    .points = true};
    report_line_chart(&(struct chart){.title = title,
                                      .x_title = "length of a task, microseconds",
                                      .y_title = "efficiency, percent",
                                      .x_log = true,
                                      .y_from_zero = true,
                                      .series = series,
                                      .nseries = drawn},
                      &svg);
    bench_must(file_write(file, svg.at, svg.n, &err), &err);
    strbuf_free(&svg);
}
