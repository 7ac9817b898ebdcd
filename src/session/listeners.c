/* Fanning out: what a run reports reaches everybody who listens. */
#include "session/listeners.h"

#include "base/mem.h"

#include <stdlib.h>

/* A sink must not add another from within its call: the array may move. */
static void listeners_event(void *context, const struct trace_event *event)
{
    const struct listeners *l = context;
    for (size_t i = 0; i < l->sinks.n; i++)
        l->sinks.at[i].event(l->sinks.at[i].context, event);
}

static void listeners_file(void *context, const struct trace_file *file)
{
    const struct listeners *l = context;
    for (size_t i = 0; i < l->sinks.n; i++)
        if (l->sinks.at[i].file)
            l->sinks.at[i].file(l->sinks.at[i].context, file);
}

static void listeners_node(void *context, const struct trace_node *node)
{
    const struct listeners *l = context;
    for (size_t i = 0; i < l->sinks.n; i++)
        if (l->sinks.at[i].node)
            l->sinks.at[i].node(l->sinks.at[i].context, node);
}

void listeners_add(struct listeners *l, struct trace_sink sink)
{
    array_push(&l->sinks, sink);
}

struct trace_sink listeners_sink(struct listeners *l)
{
    return (struct trace_sink){listeners_event, l, listeners_file, listeners_node};
}

void listeners_free(struct listeners *l)
{
    array_free(&l->sinks);
}
