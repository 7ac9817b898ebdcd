/* Clients that ask a server for tasks: the pattern in which they come, as people write it, and the
 * randomness of one scenario.
 *
 *     workers:N           N workers that stay: each asks again when it has done its task
 *     single[/T]          one client at a time, at random times, T seconds apart on average
 *     batches[:N][/T]     exactly N clients at once, every T seconds
 *     poisson[:N][/T]     N clients at once on average, at random times, T seconds apart on average
 *
 * A client that finds nothing eligible leaves; a worker waits. Tasks take their own work, normal
 * around it; where no task has work, 1 second each.
 *
 * The planner that weighs orders and the simulator draw through the functions below: under one seed
 * every order meets the same clients and the same times (common random numbers), so that what
 * differs between two orders is due to the orders. */
#pragma once
#include "base/error.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/workflow.h"

enum clients_kind { CLIENTS_WORKERS, CLIENTS_SINGLE, CLIENTS_BATCHES, CLIENTS_POISSON };

struct clients {
    enum clients_kind kind;
    double count;     /* workers; clients of a batch, of CLIENTS_POISSON on average */
    double interval;  /* seconds between batches, but for CLIENTS_BATCHES on average; workers: 0 */
    double deviation; /* of a task's time, relative to its mean */
};

/* What is left out is taken from the workflow: a batch of a 48th of the tasks (as 16 is to the 773
 * of AIRSN), once a mean task's time. False with ERROR_INPUT: no pattern, or one under which the
 * server would be asked so often that nobody could follow. */
bool clients_parse(const char *text, const struct workflow *w, struct clients *out,
                   struct error *err);
/* "8 workers that stay". */
void clients_describe(const struct clients *c, struct strbuf *out);

/* Mean time of a task: its work, or 1 s where no task of the workflow has any. */
double clients_mean_time(const struct workflow *w, uint32_t task, bool has_work);
bool clients_have_work(const struct workflow *w);

/* ---- one scenario ---- */

/* The randomness of task `task` when it is given for the `attempt`th time, from 0. */
void clients_task_rng(struct rng *r, uint64_t seed, uint32_t task, uint32_t attempt);
/* Normal around the mean, cut below at a hundredth of it: a negative time makes no sense, and with
 * the usual deviation of 0.1 the cut is ten deviations away. */
double clients_task_time(struct rng *r, double mean, double deviation);
/* The next batch: seconds until it comes, and its requests. Not for workers. */
double clients_next_batch(const struct clients *c, struct rng *r, uint64_t *requests);
