#include "formats/dropped.h"

#include <math.h>
#include <string.h>

void dropped_count(struct strbuf *dropped, size_t count, const char *what, const char *of)
{
    if (dropped && count)
        strbuf_printf(dropped, "%s of %zu %s%s\n", what, count, of, count == 1 ? "" : "s");
}

static void report_tasks(const struct workflow *w, unsigned carried, struct strbuf *dropped)
{
    size_t memory = 0, cores = 0, kinds = 0, commands = 0, stream = 0, done = 0, times = 0;
    size_t deadlines = 0, priorities = 0, timeouts = 0, retries = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        memory += w->memory[t] > 0;
        cores += w->cores[t] != 1;
        const char *kind = workflow_text(w, w->kind[t]);
        kinds += *kind && strcmp(kind, workflow_task_name(w, t)) != 0;
        commands += w->command && w->command[t];
        stream += (w->flags[t] & TASK_NOT_REPLICABLE) != 0;
        done += (w->flags[t] & TASK_DONE) != 0;
        times += w->time_off && w->time_off[t + 1] > w->time_off[t];
        deadlines += w->deadline && isfinite(w->deadline[t]);
        priorities += w->priority && w->priority[t] != 0;
        timeouts += w->timeout && isfinite(w->timeout[t]);
        retries += w->retries && w->retries[t] != 0;
    }
    if (!(carried & CARRIES_NAMES))
        dropped_count(dropped, w->ntasks, "names", "task");
    if (!(carried & CARRIES_MEMORY))
        dropped_count(dropped, memory, "memory", "task");
    if (!(carried & CARRIES_KINDS))
        dropped_count(dropped, kinds, "kinds", "task");
    dropped_count(dropped, times, "times on nodes", "task");
    dropped_count(dropped, cores, "cores", "task");
    dropped_count(dropped, commands, "commands", "task");
    dropped_count(dropped, stream, "not replicable", "task");
    dropped_count(dropped, done, "done marks", "task");
    dropped_count(dropped, deadlines, "deadlines", "task");
    dropped_count(dropped, priorities, "priorities", "task");
    dropped_count(dropped, timeouts, "timeouts", "task");
    dropped_count(dropped, retries, "retries", "task");
    dropped_count(dropped, w->nparameters, "values", "parameter");
    dropped_count(dropped, w->nassertions, "texts", "assert");
}

static void report_objects(const struct workflow *w, unsigned carried, struct strbuf *dropped)
{
    size_t names = 0, shared = 0, empty = 0, inputs = 0, outputs = 0, sized = 0;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t consumers;
        workflow_consumers(w, o, &consumers);
        if (w->producer[o] == NONE) {
            inputs++;
        } else if (!consumers) {
            outputs++;
        } else {
            names += w->object_name[o] != 0;
            shared += consumers > 1;
            empty += w->size[o] == 0;
            sized += w->size[o] > 0;
        }
    }
    if (!(carried & CARRIES_OBJECT_NAMES))
        dropped_count(dropped, names, "names", "object");
    if (!(carried & CARRIES_SIZES))
        dropped_count(dropped, sized, "sizes", "object");
    if (!(carried & CARRIES_OBJECTS)) {
        dropped_count(dropped, shared, "sharing by several consumers", "object");
        dropped_count(dropped, w->nedges - w->npairs,
                      "separation from another between the same tasks", "edge");
    }
    dropped_count(dropped, empty, "existence (an empty one becomes ordering)", "object");
    if (!(carried & CARRIES_INPUTS))
        dropped_count(dropped, inputs, "existence", "input object");
    if (!(carried & CARRIES_OUTPUTS))
        dropped_count(dropped, outputs, "existence", "unread object");
}

void dropped_report(const struct workflow *w, unsigned carried, struct strbuf *dropped)
{
    if (!dropped)
        return;
    report_tasks(w, carried, dropped);
    report_objects(w, carried, dropped);
}
