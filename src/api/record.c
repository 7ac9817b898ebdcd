/* weft/history.h: records for reports. From the history or from a trace, and the page about one. */
#include "api/inside.h"
#include "api/run_handle.h"
#include "base/file.h"
#include "base/mem.h"
#include "formats/json/trace_record.h"
#include "report/page.h"
#include "session/recorded.h"

/* The record and its tasks' names are the handle's; on failure nothing is left. */
static struct weft_record *record_handle(const struct run_record *run)
{
    struct weft_record *r = mem_new_zero(struct weft_record, 1);
    r->run = *run;
    return r;
}

/* Of the standard history, for reports: what was not kept is shown by names and kinds alone. */
EXPORT struct weft_record *weft_record_load(const char *which, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct run_record run = {0};
        if (recorded_show(which, &run, &call.err))
            call.result = record_handle(&run);
    }
    return api_result(&call);
}

/* Traces come from simulations, too: such a run has no number and no files. */
EXPORT struct weft_record *weft_record_of_trace(const char *path, const struct weft_workflow *w,
                                                struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct run_record run = {0};
        /* the reader takes its workflow over, while a handle's is shared: it gets a copy */
        struct workflow *copy = w ? run_copy_workflow(w->model, NULL, &call.err) : NULL;
        if ((!w || copy) && trace_record_read(path, copy, &run, &call.err))
            call.result = record_handle(&run);
    }
    return api_result(&call);
}

/* One file, which needs no other: it can be sent by mail. */
EXPORT bool weft_record_page(const struct weft_record *r, const char *path,
                             struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf page = {0};
        report_page(&r->run, &page);
        call.good = file_write(path, strbuf_text(&page), page.n, &call.err);
        strbuf_free(&page);
    }
    return api_end(&call);
}
