/* Workflows of the library: reading, writing, walking. Thin over formats and the model; what a
 * function promises stands in weft/workflow.h. */
#include "api/api.h"
#include "api/files.h"

EXPORT struct weft_workflow *weft_workflow_read(const char *path,
                                                const struct weft_read_options *options,
                                                struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct format_file *f = api_file_open(path, options, &call.err);
        call.result = f ? api_workflow(format_file_workflow(f, &call.err)) : NULL;
        format_file_close(f);
    }
    return api_result(&call);
}

EXPORT bool weft_workflow_write(const struct weft_workflow *w, const char *path,
                                const struct weft_write_options *options, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct api_writing writing;
        call.good =
            api_writing_begin(&writing, options, &call.err) &&
            format_write_workflow(path, writing.format, w->model, &writing.dropped, &call.err);
        api_writing_end(&writing, call.good);
    }
    return api_end(&call);
}

EXPORT uint32_t weft_workflow_tasks(const struct weft_workflow *w)
{
    return w->model->ntasks;
}

EXPORT uint32_t weft_workflow_edges(const struct weft_workflow *w)
{
    return w->model->npairs;
}

EXPORT const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task)
{
    return task < w->model->ntasks ? workflow_task_name(w->model, task) : NULL;
}

EXPORT uint32_t weft_workflow_find_task(const struct weft_workflow *w, const char *name)
{
    return workflow_find_task(w->model, name);
}
