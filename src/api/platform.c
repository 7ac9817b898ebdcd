/* Platforms of the library. What a function promises stands in weft/platform.h. */
#include "api/api.h"
#include "api/files.h"

EXPORT struct weft_platform *weft_platform_read(const char *path,
                                                const struct weft_read_options *options,
                                                struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct format_file *f = api_file_open(path, options, &call.err);
        call.result = f ? api_platform(format_file_platform(f, &call.err)) : NULL;
        format_file_close(f);
    }
    return api_result(&call);
}

EXPORT uint32_t weft_platform_nodes(const struct weft_platform *p)
{
    return p->model->nnodes;
}

EXPORT const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node)
{
    return node < p->model->nnodes ? platform_node_name(p->model, node) : NULL;
}
