/* weft/run.h: removing what no run of a workflow needs (session/cleaning.h). */
#include "api/run_handle.h"
#include "session/cleaning.h"

EXPORT bool weft_run_clean_kept(struct weft_run *run, bool dry, uint32_t *count, double *bytes,
                                struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        if (run->started || (run->session.o.look && !dry)) {
            error_set(&call.err, ERROR_FAILED,
                      "a run that goes on, or only looks, removes nothing");
        } else {
            session_clean_kept(&run->session, dry, count, bytes);
            call.good = true;
        }
    }
    return run_call_end(&call);
}

static bool run_clean(struct weft_run *run, struct cleaning *c, struct weft_cleaned *out,
                      struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        call.good = c->dry || !run->session.o.look
                        ? session_clean(&run->session, c, &call.err)
                        : error_set(&call.err, ERROR_FAILED, "the run was opened to look only");
        *out = (struct weft_cleaned){.logs = c->logs,
                                     .sandboxes = c->sandboxes,
                                     .files = c->files,
                                     .records = c->records,
                                     .bytes = c->bytes};
    }
    return run_call_end(&call);
}

EXPORT bool weft_run_clean(struct weft_run *run, bool all, bool dry, struct weft_cleaned *out,
                           struct weft_error *error)
{
    return run_clean(run, &(struct cleaning){.all = all, .dry = dry}, out, error);
}

EXPORT bool weft_run_clean_part(struct weft_run *run, const char *const *targets,
                                const char *const *since, bool dry, struct weft_cleaned *out,
                                struct weft_error *error)
{
    struct cleaning c = {.all = true, .dry = dry, .targets = targets, .since = since};
    return run_clean(run, &c, out, error);
}
