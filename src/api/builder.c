/* Building a workflow in code: the model's builder behind a handle. The first mistake sticks in
 * the builder, memory that runs out breaks the account; both are told by weft_builder_finish(). */
#include "api/api.h"
#include "model/builder.h"

#include <math.h>
#include <string.h>

struct weft_builder {
    struct api_account account; /* of everything in `builder` */
    struct builder *builder;
};

/* Where a call stands in a file; graphs built in code have none. */
enum { NO_LINE = 0 };

EXPORT struct weft_builder *weft_builder_new(const char *name)
{
    API_CALL(call, NULL)
    call.result = mem_new_zero(struct weft_builder, 1);
    struct weft_builder *b = api_result(&call);
    if (!b)
        return NULL;
    api_account_open(&b->account);
    API_CALL_ON(more, NULL, &b->account)
    {
        b->builder = builder_new("<built>", "built");
        if (name)
            builder_name(b->builder, name, strlen(name));
        more.good = true;
    }
    if (api_end(&more))
        return b;
    weft_builder_free(b);
    return NULL;
}

static void builder_tidy(void *of)
{
    struct weft_builder *b = of;
    builder_free(b->builder);
}

EXPORT void weft_builder_free(struct weft_builder *b)
{
    if (!b)
        return;
    api_account_close(&b->account, builder_tidy, b);
    free(b);
}

/* A call on the builder that gives nothing back: `what` works on b->builder. */
#define BUILDER_DO(what)                                                                           \
    do {                                                                                           \
        API_CALL_ON(call, NULL, &b->account)                                                       \
        {                                                                                          \
            what;                                                                                  \
            call.good = true;                                                                      \
        }                                                                                          \
        api_end(&call);                                                                            \
    } while (0)

/* Numbers that are none of the builder's would be read past its arrays. */
static bool builder_has_task(struct weft_builder *b, uint32_t task)
{
    if (task < builder_task_count(b->builder))
        return true;
    builder_error(b->builder, NO_LINE, "there is no task number %u", task);
    return false;
}

#define BUILDER_TASK(what) BUILDER_DO(if (builder_has_task(b, task)) { what; })

EXPORT uint32_t weft_builder_task(struct weft_builder *b, const char *name)
{
    API_CALL_ON(call, NULL, &b->account)
    {
        call.number = builder_task(b->builder, name, strlen(name), NO_LINE);
        call.good = true;
    }
    return api_end(&call) ? (uint32_t)call.number : WEFT_NONE;
}

EXPORT void weft_builder_command(struct weft_builder *b, uint32_t task, const char *command)
{
    BUILDER_TASK(builder_command(b->builder, task, command, strlen(command)));
}

EXPORT void weft_builder_shell(struct weft_builder *b, uint32_t task, const char *shell)
{
    BUILDER_TASK(builder_shell(b->builder, task, shell, strlen(shell), NO_LINE));
}

EXPORT void weft_builder_call(struct weft_builder *b, uint32_t task, const char *function)
{
    BUILDER_TASK({
        builder_command(b->builder, task, function, strlen(function));
        builder_flag(b->builder, task, TASK_CALL);
    });
}

EXPORT void weft_builder_kind(struct weft_builder *b, uint32_t task, const char *kind)
{
    BUILDER_TASK(builder_kind(b->builder, task, kind, strlen(kind)));
}

EXPORT void weft_builder_work(struct weft_builder *b, uint32_t task, double seconds)
{
    BUILDER_TASK(builder_work(b->builder, task, seconds, NO_LINE));
}

EXPORT void weft_builder_time(struct weft_builder *b, uint32_t task, const char *node,
                              double seconds)
{
    BUILDER_TASK(builder_time(b->builder, task, node, strlen(node), seconds, NO_LINE));
}

EXPORT void weft_builder_memory(struct weft_builder *b, uint32_t task, double bytes)
{
    BUILDER_TASK(builder_memory(b->builder, task, bytes, NO_LINE));
}

EXPORT void weft_builder_cores(struct weft_builder *b, uint32_t task, uint32_t cores)
{
    BUILDER_TASK(builder_cores(b->builder, task, cores, NO_LINE));
}

EXPORT void weft_builder_priority(struct weft_builder *b, uint32_t task, double priority)
{
    BUILDER_TASK(builder_priority(b->builder, task, priority, NO_LINE));
}

EXPORT void weft_builder_deadline(struct weft_builder *b, uint32_t task, double seconds)
{
    BUILDER_TASK(builder_deadline(b->builder, task, seconds, NO_LINE));
}

EXPORT void weft_builder_timeout(struct weft_builder *b, uint32_t task, double seconds)
{
    BUILDER_TASK(builder_timeout(b->builder, task, seconds, NO_LINE));
}

EXPORT void weft_builder_retries(struct weft_builder *b, uint32_t task, uint32_t retries)
{
    BUILDER_TASK(builder_retries(b->builder, task, retries, NO_LINE));
}

EXPORT uint32_t weft_builder_object(struct weft_builder *b, const char *name)
{
    API_CALL_ON(call, NULL, &b->account)
    {
        call.number = builder_object(b->builder, name, strlen(name));
        call.good = true;
    }
    return api_end(&call) ? (uint32_t)call.number : WEFT_NONE;
}

static bool builder_has_object(struct weft_builder *b, uint32_t object)
{
    if (object < builder_object_count(b->builder))
        return true;
    builder_error(b->builder, NO_LINE, "there is no object number %u", object);
    return false;
}

EXPORT void weft_builder_size(struct weft_builder *b, uint32_t object, double bytes)
{
    BUILDER_DO(if (builder_has_object(b, object)) builder_size(b->builder, object, bytes, NO_LINE));
}

EXPORT void weft_builder_in_memory(struct weft_builder *b, uint32_t object)
{
    BUILDER_DO(if (builder_has_object(b, object)) builder_in_memory(b->builder, object));
}

EXPORT void weft_builder_temporary(struct weft_builder *b, uint32_t object)
{
    BUILDER_DO(if (builder_has_object(b, object)) builder_temporary(b->builder, object));
}

EXPORT void weft_builder_writes(struct weft_builder *b, uint32_t task, uint32_t object)
{
    BUILDER_TASK(if (builder_has_object(b, object))
                     builder_produces(b->builder, task, object, NO_LINE));
}

EXPORT void weft_builder_reads(struct weft_builder *b, uint32_t task, uint32_t object)
{
    BUILDER_TASK(if (builder_has_object(b, object))
                     builder_consumes(b->builder, task, object, NO_LINE));
}

EXPORT void weft_builder_order(struct weft_builder *b, uint32_t before, uint32_t after)
{
    BUILDER_DO(if (builder_has_task(b, before) && builder_has_task(b, after))
                   builder_edge(b->builder, before, after, NO_LINE));
}

EXPORT void weft_builder_data(struct weft_builder *b, uint32_t from, uint32_t to, double bytes)
{
    BUILDER_DO(if (builder_has_task(b, from) && builder_has_task(b, to))
                   builder_data_edge(b->builder, from, to, bytes, NO_LINE));
}

EXPORT void weft_builder_parameter(struct weft_builder *b, const char *name, const char *value)
{
    BUILDER_DO(builder_parameter(b->builder, name, value));
}

static void builder_add_hook(struct builder *b, const char *when, const char *command)
{
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        if (strcmp(workflow_hook_name[i], when) == 0) {
            builder_hook(b, (enum workflow_hook)i, command, strlen(command));
            return;
        }
    builder_error(b, NO_LINE, "there is no hook '%s'; there are done, failed and task_failed",
                  when);
}

EXPORT void weft_builder_hook(struct weft_builder *b, const char *when, const char *command)
{
    BUILDER_DO(builder_add_hook(b->builder, when, command));
}

EXPORT void weft_builder_constraint(struct weft_builder *b, const char *text)
{
    BUILDER_DO(builder_assertion(b->builder, text, strlen(text), NO_LINE));
}

EXPORT struct weft_workflow *weft_builder_finish(struct weft_builder *b, struct weft_error *error)
{
    API_CALL_ON(call, error, &b->account)
    {
        struct builder *builder = b->builder;
        b->builder = NULL; /* builder_finish() frees it, whatever comes of it */
        call.result = api_workflow(builder_finish(builder, &call.err));
    }
    struct weft_workflow *w = api_result(&call);
    weft_builder_free(b); /* the workflow lives on: api_account_close() keeps its blocks */
    return w;
}
