/* Time in the simulation of schedulers: one run alone, or several on the same nodes. Each run has a queue
 * of its own; the next event is the earliest of all, of the first run among equals. */
#include "sched/share.h"
#include "sim/schedulers_state.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>

/* Every 65,536 events, about 30 ms: a line of progress needs no more. */
#define PROGRESS_EVERY 65536

static bool run_is_over(const struct schedulers *c)
{
    return c->done == c->dag->ntasks;
}

/* The run whose event is next; NULL: there is none, or all are through. O(runs). */
static struct schedulers *next_run(struct schedulers *runs, uint32_t n)
{
    struct schedulers *next = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!run_is_over(&runs[i]) && runs[i].queue.n &&
            (!next || runs[i].queue.at[0].key < next->queue.at[0].key))
            next = &runs[i];
    return next;
}

static bool tell_progress(const struct schedulers_config *k, uint64_t done, uint64_t tasks,
                          double now)
{
    char what[64];
    snprintf(what, sizeof what, "%llu task%s done at %.3g s", (unsigned long long)done,
             plural((unsigned long long)done), now);
    return progress_report(k->progress, (double)done / tasks, what);
}

/* Until all are through. False: stopped, or nothing is left to do. */
static bool run_to_end(struct schedulers *runs, uint32_t n, struct error *err)
{
    uint64_t events = 0, done = 0, tasks = 0;
    for (uint32_t i = 0; i < n; i++)
        tasks += runs[i].dag->ntasks;
    for (struct schedulers *c; (c = n == 1 ? runs : next_run(runs, n));) {
        if (n == 1 && (run_is_over(c) || !c->queue.n))
            break;
        done -= c->done;
        schedulers_step(c);
        done += c->done;
        if (c->rooms && run_is_over(c))
            schedulers_room_over(c);
        if (++events % PROGRESS_EVERY == 0 && !tell_progress(&c->config, done, tasks, c->now))
            return error_set(err, ERROR_FAILED, "stopped");
    }
    return done == tasks ||
           error_set(err, ERROR_FAILED, "%llu task%s not done and nothing is left to do",
                     (unsigned long long)(tasks - done),
                     plural_word(tasks - done, " was", "s were"));
}

/* What follows from the sums. */
static void sum_up(const struct schedulers_config *k, double end, struct schedulers_result *out)
{
    out->makespan = end;
    out->efficiency = end > 0 ? out->work / schedulers_all_cores(k) / end : 1;
    out->throughput = end > 0 ? out->tasks / end : 0;
    out->remote_reads = out->reads - out->local_reads;
    out->hit_rate =
        out->remote_reads > out->transfers ? 1 - (double)out->transfers / out->remote_reads : 0;
    out->nbins = (uint32_t)fmin(SCHEDULERS_BINS, ceil(end / out->bin_width));
}

bool schedulers_run(const struct schedulers_config *config, struct schedulers_result *out,
                    struct error *err)
{
    struct schedulers c = {
        .config = *config, .dag = config->dag, .result = out, .total = out, .number = 0};
    if (!schedulers_check(&c.config, err))
        return false;
    c.links = mem_new_zero(struct schedulers_link, c.config.nodes);
    bool good = schedulers_open(&c, err) && run_to_end(&c, 1, err);
    sum_up(&c.config, c.now, out);
    schedulers_close(&c);
    free(c.links);
    return good;
}

/* ---- several runs ---- */

/* Things are counted by each run's scheduler: two runs that hold some would both have all of them. */
static bool check_entries(const struct schedulers_entry *entries, uint32_t n, struct error *err)
{
    uint32_t holding = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct schedulers_entry *e = &entries[i];
        holding += e->dag->workflow && e->dag->workflow->asks;
        if (!(e->at >= 0 && isfinite(e->at)))
            return error_set(err, ERROR_INPUT, "run %u is submitted at %g; expected a time", i + 1,
                             e->at);
        if (!(fabs(e->priority) <= SHARE_PRIORITY_MOST))
            return error_set(err, ERROR_INPUT, "run %u has priority %g; expected -%d to %d", i + 1,
                             e->priority, SHARE_PRIORITY_MOST, SHARE_PRIORITY_MOST);
    }
    return holding < 2 ||
           error_set(err, ERROR_INPUT,
                     "%u of the runs hold things of their nodes (`resources`); only one of several "
                     "runs that are simulated side by side may",
                     holding);
}

static void add_result(struct schedulers_result *total, const struct schedulers_result *r)
{
    total->tasks += r->tasks;
    total->work += r->work;
    total->events += r->events;
    total->messages += r->messages;
    total->store_operations += r->store_operations;
    total->store_trips += r->store_trips;
    total->steals += r->steals;
    total->failed_steals += r->failed_steals;
    total->stolen += r->stolen;
    total->pushed += r->pushed;
    total->joined += r->joined;
    total->relaxed += r->relaxed;
    total->reads += r->reads;
    total->local_reads += r->local_reads;
    total->transfers += r->transfers;
    total->bytes_moved += r->bytes_moved;
    total->waited += r->waited;
    total->memory += r->memory;
    for (int i = 0; i < SCHED_POLICIES; i++)
        total->policies[i] += r->policies[i];
}

/* The same runs one by one, each with the cluster to itself. */
static bool run_alone(const struct schedulers_config *config,
                      const struct schedulers_entry *entries, uint32_t n,
                      struct schedulers_run *runs, struct error *err)
{
    struct schedulers_result *one = mem_new(struct schedulers_result, 1);
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        struct schedulers_config k = *config;
        k.dag = entries[i].dag;
        good = schedulers_run(&k, one, err);
        runs[i] = (struct schedulers_run){.tasks = one->tasks, .alone = one->makespan};
    }
    free(one);
    return good;
}

/* Open, run, sum up. The runs' results stand in `results`. */
static bool run_together(struct schedulers *c, const struct schedulers_entry *entries, uint32_t n,
                         struct schedulers_run *runs, struct schedulers_result *total,
                         struct error *err)
{
    double end = 0;
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++)
        good = schedulers_open(&c[i], err);
    good = good && run_to_end(c, n, err);
    for (uint32_t i = 0; i < n; i++) {
        schedulers_close(&c[i]);
        add_result(total, c[i].result);
        runs[i].first = c[i].first;
        runs[i].finish = c[i].now;
        runs[i].used = c[i].used;
        runs[i].slowdown = runs[i].alone > 0 ? (c[i].now - entries[i].at) / runs[i].alone : 1;
        end = fmax(end, c[i].now);
    }
    sum_up(&c[0].config, end, total);
    return good;
}

bool schedulers_run_beside(const struct schedulers_config *config,
                           const struct schedulers_entry *entries, uint32_t n,
                           struct schedulers_result *total, struct schedulers_run *runs,
                           struct error *err)
{
    *total = (struct schedulers_result){.bin_width = 1e-3};
    if (!n || n > SCHEDULERS_ENTRIES)
        return error_set(err, ERROR_INPUT, "%u run%s; expected 1 to %d", n, plural(n),
                         SCHEDULERS_ENTRIES);
    if (!check_entries(entries, n, err) || !run_alone(config, entries, n, runs, err))
        return false;
    struct schedulers *c = mem_new_zero(struct schedulers, n);
    struct schedulers_result *results = mem_new_zero(struct schedulers_result, n);
    double *priority = mem_new(double, n);
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        c[i] = (struct schedulers){.config = *config,
                                   .dag = entries[i].dag,
                                   .at = entries[i].at,
                                   .number = i,
                                   .result = &results[i],
                                   .total = total};
        c[i].config.dag = entries[i].dag;
        priority[i] = entries[i].priority;
        good = schedulers_check(&c[i].config, err);
    }
    struct schedulers_link *links = mem_new_zero(struct schedulers_link, c[0].config.nodes);
    struct schedulers_rooms *rooms = schedulers_rooms_new(&c[0].config, c, priority, n);
    for (uint32_t i = 0; i < n; i++) {
        c[i].links = links;
        c[i].rooms = rooms;
    }
    good = good && run_together(c, entries, n, runs, total, err);
    schedulers_rooms_free(rooms);
    free(links);
    free(priority);
    free(results);
    free(c);
    return good;
}

double schedulers_fairness(const struct schedulers_run *runs, uint32_t n)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        double speed = runs[i].slowdown > 0 ? 1 / runs[i].slowdown : 1;
        sum += speed;
        squares += speed * speed;
    }
    return squares > 0 ? sum * sum / (n * squares) : 1;
}
