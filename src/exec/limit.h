/* Memory limits of running tasks: a control group for each executor slot where one may be written
 * (version 2 or 1), made once and used again; elsewhere the memory of the task's processes is
 * looked at now and then, and the task is ended past its limit. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct limits;

/* `name` tells this run's groups from others' (the process id is added). Never fails: without
 * groups, watching is what is left. */
struct limits *limits_new(const char *name, uint32_t slots);
void limits_free(struct limits *l);          /* removes the groups; NULL is fine */
bool limits_grouped(const struct limits *l); /* control groups, not watching */

/* Put a process that has just been started under a limit. */
void limit_begin(struct limits *l, uint32_t slot, pid_t pid, double bytes);
/* Look at a running task: its memory now (0: nobody knows), and whether it is over the limit. */
double limit_watch(struct limits *l, uint32_t slot, bool *over);
/* It has ended: its peak (0: not known), and whether the kernel ended something for memory. Kills
 * what is left in the group. */
double limit_end(struct limits *l, uint32_t slot, bool *exceeded);
