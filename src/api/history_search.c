/* Tasks and files of all runs, asked of the history: handles over history/search.c. */
#include "api/inside.h"
#include "base/digest.h"

#include <stdlib.h>

/* Both searches differ in whose rows they read. */
static struct weft_findings *findings_make(struct weft_history *h, const struct weft_search *search,
                                           bool files, struct error *err)
{
    struct weft_search own = WEFT_SEARCH_INIT;
    struct digest digest;
    if (!api_options(&own, search, err) || (own.digest && !api_digest(own.digest, &digest, err)))
        return NULL;
    const struct history_search ask = {
        .run = own.run,
        .workflow = own.workflow,
        .failed = own.failed,
        .since = own.since,
        .where = own.where,
        .words = own.words,
        .digest = own.digest ? &digest : NULL,
        .limit = own.limit,
        .look = own.look,
    };
    struct weft_findings *f = mem_new_zero(struct weft_findings, 1);
    f->files = files;
    if (files ? history_search_files(h->model, &ask, &f->model, err)
              : history_search_tasks(h->model, &ask, &f->model, err))
        return f;
    free(f);
    return NULL;
}

EXPORT struct weft_findings *weft_history_search_tasks(struct weft_history *h,
                                                       const struct weft_search *search,
                                                       struct weft_error *error)
{
    API_CALL(call, error)
    {
        call.result = findings_make(h, search, false, &call.err);
    }
    return api_result(&call);
}

EXPORT struct weft_findings *weft_history_search_files(struct weft_history *h,
                                                       const struct weft_search *search,
                                                       struct weft_error *error)
{
    API_CALL(call, error)
    {
        call.result = findings_make(h, search, true, &call.err);
    }
    return api_result(&call);
}

EXPORT void weft_findings_free(struct weft_findings *f)
{
    if (!f)
        return;
    history_findings_free(&f->model);
    free(f);
}

EXPORT bool weft_findings_whole(const struct weft_findings *f, int64_t *from)
{
    if (from)
        *from = f->model.from;
    return f->model.whole;
}

EXPORT bool weft_findings_task(const struct weft_findings *f, size_t i, struct weft_found_task *out)
{
    if (f->files || i >= f->model.list.n)
        return false;
    const struct history_found *x = &f->model.list.at[i];
    const struct trace_event *e = &x->attempt;
    struct weft_found_task own = {
        .size = out->size,
        .run = x->run.run,
        .workflow = x->run.name,
        .folder = x->run.folder,
        .host = x->run.host,
        .name = x->task,
        .kind = x->kind,
        .command = x->command,
        .outcome = trace_outcome_name(e->outcome),
        .task = e->id,
        .attempt = e->attempt,
        .status = e->status,
        .started = x->run.started + e->start,
        .seconds = e->finish - e->start,
        .cpu = e->cpu,
        .memory = e->memory,
        .read = e->read,
        .written = e->written,
        .node = e->node,
        .core = e->lane,
    };
    /* a program of before has a shorter one */
    memcpy(out, &own, out->size < sizeof own ? out->size : sizeof own);
    return true;
}

EXPORT bool weft_findings_file(const struct weft_findings *f, size_t i, struct weft_found_file *out)
{
    if (!f->files || i >= f->model.list.n)
        return false;
    const struct history_found *x = &f->model.list.at[i];
    struct weft_found_file own = {
        .size = out->size,
        .run = x->run.run,
        .started = x->run.started,
        .workflow = x->run.name,
        .folder = x->run.folder,
        .host = x->run.host,
        .path = x->file.path,
        .maker = x->task,
        .bytes = x->file.size,
        .produced = x->file.produced,
    };
    _Static_assert(sizeof own.digest >= DIGEST_TEXT, "room for the text");
    if (!digest_is_zero(&x->file.digest))
        digest_text(&x->file.digest, own.digest);
    memcpy(out, &own, out->size < sizeof own ? out->size : sizeof own);
    return true;
}

EXPORT bool weft_findings_fact(const struct weft_findings *f, size_t i, size_t k,
                               struct weft_fact *out)
{
    if (i >= f->model.list.n || k >= f->model.list.at[i].run.facts.n)
        return false;
    const struct history_found *x = &f->model.list.at[i];
    const struct record_fact *fact = &x->run.facts.at[k];
    *out = (struct weft_fact){
        .sort = fact_sort_name(fact->sort),
        .name = fact->name,
        .value = fact->value,
        .task = fact->task == NONE ? NULL : x->task,
        .item = fact->item,
    };
    return true;
}
