/* The remarks of writers about what is lost, from the table of columns: a column that some task has and
 * the format does not carry is always named. */
#include "formats/dropped.h"
#include "base/plural.h"

void dropped_count(struct strbuf *dropped, size_t count, const char *what, const char *of)
{
    if (dropped && count)
        strbuf_printf(dropped, "%s of %zu %s%s\n", what, count, of, plural(count));
}

/* What belongs to tasks, from the table: one count a column that the format lacks. */
static void dropped_columns(const struct workflow *w, uint64_t carried, struct strbuf *dropped)
{
    if (!(carried & CARRIES_NAMES))
        dropped_count(dropped, w->ntasks, "names", "task");
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++)
        if (task_column[id].lost && !(carried >> id & 1))
            dropped_count(dropped, column_count(w, id), task_column[id].lost, "task");
    /* a work that nobody stated is predicted from the history; a written 0 is taken at its word */
    size_t unstated = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        unstated += !(w->flags[t] & TASK_HAS_WORK);
    if (carried & CARRIES(work) && !(carried & CARRIES_UNSTATED))
        dropped_count(dropped, unstated, "absence of work (written as 0)", "task");
    if (!(carried & CARRIES_PARAMETERS))
        dropped_count(dropped, w->nparameters, "values", "parameter");
    if (!(carried & CARRIES_ASSERTIONS))
        dropped_count(dropped, w->nassertions, "texts", "assert");
    size_t hooks = 0;
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        hooks += w->hook[i] != 0;
    if (!(carried & CARRIES_HOOKS))
        dropped_count(dropped, hooks, "commands", "hook");
}

/* What belongs to objects: three sorts (inputs, unread outputs, those between tasks) are lost in
 * different ways. */
static void dropped_objects(const struct workflow *w, uint64_t carried, struct strbuf *dropped)
{
    size_t names = 0, shared = 0, empty = 0, inputs = 0, outputs = 0, sized = 0, temporary = 0;
    size_t in_memory = 0;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        temporary += workflow_is_temporary(w, o);
        in_memory += workflow_object_is(w, o, OBJECT_IN_MEMORY);
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
    if (!(carried & CARRIES_EMPTY))
        dropped_count(dropped, empty, "existence (an empty one becomes ordering)", "object");
    if (!(carried & CARRIES_INPUTS))
        dropped_count(dropped, inputs, "existence", "input object");
    if (!(carried & CARRIES_OUTPUTS))
        dropped_count(dropped, outputs, "existence", "unread object");
    if (!(carried & CARRIES_TEMPORARY))
        dropped_count(dropped, temporary, "temporary marks", "object");
    if (!(carried & CARRIES_IN_MEMORY))
        dropped_count(dropped, in_memory, "place in memory", "object");
}

void dropped_report(const struct workflow *w, uint64_t carried, struct strbuf *dropped)
{
    if (!dropped)
        return;
    dropped_columns(w, carried, dropped);
    dropped_objects(w, carried, dropped);
    if (!(carried & CARRIES_TITLE) && *workflow_text(w, w->name))
        strbuf_add(dropped, "the workflow's name\n");
}
