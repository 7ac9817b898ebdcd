/* Opening a cluster as the command line names it. */
#include "cli/cluster_view.h"

static void cluster_view_event(void *context, const struct weft_event *e)
{
    if (e->kind == WEFT_EVENT_REMARK)
        cli_remark(context, (enum remark_kind)e->remark, e->text);
}

struct weft_cluster *cluster_view_open(const struct arguments *a, uint64_t run,
                                       struct weft_error *error)
{
    struct weft_cluster_options o = WEFT_CLUSTER_OPTIONS_INIT;
    o.store = cli_store(a);
    o.key = arguments_value(a, "key");
    o.folder = arguments_value(a, "directory");
    o.run = run;
    o.event = cluster_view_event;
    o.context = (void *)a;
    return weft_cluster_open(&o, error);
}
