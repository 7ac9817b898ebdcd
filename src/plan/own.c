/* Planners that a program added while it runs: a list of rows beside the registry.
 *
 * One list for the process, as the registry itself is one: a planner is code, and whoever meets its
 * name (a comparison, `auto`, an experiment on another thread) must find it.
 *
 * I1. The list is read and changed under its lock; a row that was found is used without it. Its
 *     owner promises that nobody plans with it when he takes it out. */
#include "plan/own.h"
#include "base/array.h"

#include <pthread.h>
#include <string.h>

static pthread_rwlock_t own_lock = PTHREAD_RWLOCK_INITIALIZER;
/* malloc's memory, on no account of a call: it outlives every one of them. */
static const struct planner **own_rows;
static size_t own_count;

static size_t own_index(const char *name)
{
    for (size_t i = 0; i < own_count; i++)
        if (strcmp(own_rows[i]->name, name) == 0)
            return i;
    return SIZE_MAX;
}

const struct planner *planner_find_own(const char *name)
{
    pthread_rwlock_rdlock(&own_lock);
    size_t i = own_index(name);
    const struct planner *row = i == SIZE_MAX ? NULL : own_rows[i];
    pthread_rwlock_unlock(&own_lock);
    return row;
}

bool planner_add(const struct planner *row, struct error *err)
{
    if (planner_find(row->name))
        return error_set(err, ERROR_INPUT, "there is a planner '%s' already", row->name);
    pthread_rwlock_wrlock(&own_lock);
    const struct planner **rows = realloc(own_rows, (own_count + 1) * sizeof *rows);
    if (rows) {
        own_rows = rows;
        own_rows[own_count++] = row;
    }
    pthread_rwlock_unlock(&own_lock);
    if (!rows)
        mem_fail((own_count + 1) * sizeof *rows);
    return true;
}

const struct planner *planner_remove(const char *name)
{
    pthread_rwlock_wrlock(&own_lock);
    size_t i = own_index(name);
    const struct planner *row = i == SIZE_MAX ? NULL : own_rows[i];
    if (row)
        memmove(&own_rows[i], &own_rows[i + 1], (--own_count - i) * sizeof *own_rows);
    if (!own_count) {
        free(own_rows);
        own_rows = NULL;
    }
    pthread_rwlock_unlock(&own_lock);
    return row;
}

const struct planner *planner_at(size_t i)
{
    size_t standard = 0;
    while (planner_registry[standard]) {
        if (standard == i)
            return planner_registry[i];
        standard++;
    }
    pthread_rwlock_rdlock(&own_lock);
    const struct planner *row = i - standard < own_count ? own_rows[i - standard] : NULL;
    pthread_rwlock_unlock(&own_lock);
    return row;
}
