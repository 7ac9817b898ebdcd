/* The history of the library: kept results, other histories. */
#include "api/inside.h"
#include "session/imported.h"
#include "session/recorded_results.h"

#include <string.h>

struct weft_kept {
    recorded_results list;
};

/* Looks at the first bytes alone. */
EXPORT bool weft_history_is_database(const char *path)
{
    return history_is_database(path);
}

/* In one transaction: other writers wait, and after an error nothing of it is there. */
EXPORT bool weft_history_merge(const char *path, struct weft_merged *out, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct history_merged m;
        call.good = imported_merge(path, &m, &call.err);
        if (call.good) {
            *out = (struct weft_merged){
                .first = m.first, .runs = m.runs, .there = m.there, .running = m.running};
            memcpy(out->hosts, m.hosts, sizeof out->hosts);
        }
    }
    return api_end(&call);
}

/* After an error the lines that were collected go with it: the error says what matters. */
static struct weft_kept *kept_handle(bool good, struct weft_kept *k)
{
    if (good)
        return k;
    recorded_results_free(&k->list);
    free(k);
    return NULL;
}

/* A number or a name of a run comes before a file that is called so. */
EXPORT struct weft_kept *weft_history_keep(struct weft_history *h, const char *run_or_file,
                                           struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_kept *k = mem_new_zero(struct weft_kept, 1);
        call.result = kept_handle(recorded_keep(h->model, run_or_file, &k->list, &call.err), k);
    }
    return api_result(&call);
}

/* In place it needs the folder for itself, as a run does; into another folder it does not. */
EXPORT struct weft_kept *weft_history_restore(struct weft_history *h, int64_t run, const char *name,
                                              const char *folder, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_kept *k = mem_new_zero(struct weft_kept, 1);
        call.result =
            kept_handle(recorded_restore(h->model, run, name, folder, &k->list, &call.err), k);
    }
    return api_result(&call);
}

EXPORT bool weft_kept_file(const struct weft_kept *k, size_t i, struct weft_kept_file *out)
{
    if (i >= k->list.n)
        return false;
    const struct recorded_result *r = &k->list.at[i];
    *out = (struct weft_kept_file){r->path, r->good, r->text, r->bytes};
    return true;
}

EXPORT void weft_kept_free(struct weft_kept *k)
{
    if (!k)
        return;
    recorded_results_free(&k->list);
    free(k);
}
