/* weft_compute(): the public face of session/compute.c. */
#include "api/api.h"
#include "session/compute.h"
#include "weft/compute.h"

#include <math.h>

/* Standards filled in. No limit may be said by 0, by nothing, or by infinity. */
static bool compute_options_hold(struct weft_compute_options *o, struct error *err)
{
    if (o->memory < 0 || isnan(o->memory))
        return error_set(err, ERROR_INPUT, "memory is limited to %g bytes; expected more",
                         o->memory);
    if (isinf(o->memory))
        o->memory = 0; /* no limit */
    return true;
}

/* Public structs become those of the session, which knows no public header but that of tasks. Both lists are copied:
 * some thousands of entries, against computations of seconds. */
static bool compute_do(const struct workflow *w, const struct weft_compute_options *o,
                       struct weft_compute_figures *out, struct error *err)
{
    struct compute_figures f = {0};
    size_t n = 0;
    while (o->functions && o->functions[n].name)
        n++;
    struct compute_function *functions = mem_new(struct compute_function, n + 1);
    struct compute_lent *lent = mem_new(struct compute_lent, o->nlent + 1);
    for (size_t i = 0; i < n; i++)
        functions[i] = (struct compute_function){o->functions[i].name, o->functions[i].call};
    for (size_t i = 0; i < o->nlent; i++)
        lent[i] = (struct compute_lent){o->lent[i].object, o->lent[i].at, o->lent[i].bytes};
    struct compute_request request = {.workflow = w,
                                      .threads = o->threads,
                                      .functions = functions,
                                      .nfunctions = n,
                                      .given = o->context,
                                      .lent = lent,
                                      .nlent = o->nlent,
                                      .memory = o->memory,
                                      .folder = o->folder,
                                      .follow = o->follow ? o->follow->model : NULL,
                                      .look = o->look,
                                      .pin = o->pin};
    bool good = compute_workflow(&request, &f, err);
    if (out)
        *out = (struct weft_compute_figures){f.done,   f.seconds, f.busy,     f.peak,
                                             f.needed, f.evicted, f.evictions};
    free(functions);
    free(lent);
    return good;
}

EXPORT bool weft_compute(const struct weft_workflow *w, const struct weft_compute_options *options,
                         struct weft_compute_figures *figures, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_compute_options o = WEFT_COMPUTE_INIT;
        call.good = api_options(&o, options, &call.err) && compute_options_hold(&o, &call.err) &&
                    compute_do(w->model, &o, figures, &call.err);
    }
    return api_end(&call);
}
