/* weft/stream.h over the room of streams. What a stream allocates while it runs belongs to no call
 * (stream/flow_private.h): opening alone is inside the boundary. */
#include "api/api.h"
#include "api/stream_agents.h"
#include "api/stream_handle.h"
#include "base/file.h"
#include "formats/format.h"
#include "model/check.h"
#include "session/place.h"
#include "stream/helper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A plan that breaks its own rules would stand still somewhere in the middle. */
static bool stream_plan_good(const struct weft_plan *plan, struct error *err)
{
    struct check_result result;
    bool good = check_plan(plan->model, plan->workflow->model, plan->platform->model, &result, err);
    if (good && result.total)
        good =
            error_set(err, ERROR_INPUT, "the plan is not valid: %s: %s; `weft check` says more",
                      violation_name(result.violations.at[0].kind), result.violations.at[0].detail);
    check_result_free(&result);
    return good;
}

/* Beside the workflow's file, as for runs; a text in memory has none. */
static char *stream_folder(const struct workflow *w, const char *stated)
{
    const char *file = w->file ? workflow_text(w, w->file) : "";
    if (stated)
        return mem_copy_string(stated);
    return file_exists(file) ? file_beside(file, ".") : mem_copy_string(".");
}

/* What a run of helpers needs when the stream begins; the caller's texts may be gone by then. */
static void stream_keep_texts(struct weft_stream *s)
{
    const char **at[] = {&s->options.on,      &s->options.store,  &s->options.key,
                         &s->options.program, &s->options.listen, &s->options.throughput,
                         &s->options.latency};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (*at[i])
            *at[i] = s->texts[i] = mem_copy_string(*at[i]);
}

/* Helpers read it anew, and are asked by the numbers of tasks. */
static bool stream_text_agrees(const struct workflow *w, const struct strbuf *text,
                               struct error *err)
{
    struct workflow *again = place_read_workflow(text->at, text->n, err);
    bool same = again && again->ntasks == w->ntasks && again->nobjects == w->nobjects;
    for (uint32_t t = 0; same && t < w->ntasks; t++)
        same = strcmp(workflow_task_name(w, t), workflow_task_name(again, t)) == 0 &&
               again->object_off[t] == w->object_off[t];
    workflow_free(again);
    return same || error_set(err, ERROR_FAILED,
                             "the workflow does not read as it is written; write it as native YAML "
                             "(`weft convert`) and stream that");
}

/* Helpers and what they are told; false: an error. */
static bool stream_prepare_helpers(struct weft_stream *s, const struct weft_workflow *w,
                                   struct flow_options *f, struct strbuf *text, struct error *err)
{
    const struct workflow *model = w->model;
    const struct format *native = format_find("native");
    struct strbuf dropped = {0};
    s->helpers = stream_agents_count(&s->options, err);
    if (!s->helpers)
        return false;
    bool good =
        native->write_workflow(model, text, &dropped, err) && stream_text_agrees(model, text, err);
    strbuf_free(&dropped);
    seal_key_random(&s->key);
    f->helpers = s->helpers;
    f->helper_file = model->file ? workflow_text(model, model->file) : NULL;
    f->helper_key = s->key;
    f->helper_bind = s->options.listen;
    if (!f->helper_bind && strncmp(s->options.on, "local:", 6) == 0)
        f->helper_bind = "127.0.0.1:0";
    if (!f->threads)
        f->threads = s->helpers * (s->options.cores ? s->options.cores : 1);
    return good;
}

/* Its user's functions have a context of their own. */
static void stream_on_remark(void *context, const char *text)
{
    struct weft_stream *s = context;
    s->options.remark(s->options.context, text);
}

static void stream_on_tick(void *context)
{
    struct weft_stream *s = context;
    stream_planned_tick(s);
    stream_record_tick(s);
    if (s->options.tick)
        s->options.tick(s->options.context);
}

static void stream_free(struct weft_stream *s)
{
    stream_planned_free(s);
    plan_free(s->plan);
    for (size_t i = 0; i < sizeof s->texts / sizeof *s->texts; i++)
        free(s->texts[i]);
    free(s->folder);
    free(s->text);
    free(s);
}

static struct weft_stream *stream_make(const struct weft_workflow *w, const struct weft_plan *plan,
                                       const struct weft_stream_options *options, struct error *err)
{
    struct weft_stream_options o = WEFT_STREAM_INIT;
    if (!api_options(&o, options, err) || (plan && !stream_plan_good(plan, err)))
        return NULL;
    struct weft_stream *s = mem_new_zero(struct weft_stream, 1);
    const struct weft_workflow *of = plan ? plan->workflow : w;
    struct strbuf text = {0};
    s->folder = stream_folder(of->model, o.folder);
    s->options = o;
    stream_keep_texts(s);
    s->plan = plan ? plan_copy(plan->model) : NULL;
    struct flow_options f = {
        .workflow = of->model,
        .plan = s->plan,
        .platform = plan ? plan->platform->model : NULL,
        .folder = s->folder,
        .from = o.from,
        .to = o.to,
        .give = o.give,
        .take = o.take,
        .give_context = o.give_context,
        .take_context = o.take_context,
        .items = o.items,
        .threads = o.threads,
        .tries = o.tries,
        .unordered = o.unordered,
        .flood = o.flood,
        .remark = o.remark ? stream_on_remark : NULL,
        .tick = stream_on_tick,
        .context = s,
    };
    bool ready = !o.on || stream_prepare_helpers(s, of, &f, &text, err);
    s->text = strbuf_steal(&text);
    f.helper_text = s->text;
    struct flow *flow = ready && stream_planned_check(s, plan, err) ? flow_open(&f, err) : NULL;
    atomic_store(&s->flow, flow);
    if (flow) { /* after the last allocation: api_plan_unkept() says why */
        s->workflow = api_workflow_keep(of);
        s->platform = plan         ? api_platform_keep(plan->platform)
                      : s->planned ? api_platform_keep(o.platform)
                                   : NULL;
        return s;
    }
    stream_free(s);
    return NULL;
}

EXPORT struct weft_stream *weft_stream_open(const struct weft_workflow *w,
                                            const struct weft_plan *plan,
                                            const struct weft_stream_options *options,
                                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        if (!w && !plan)
            error_set(&call.err, ERROR_INPUT, "a stream needs a workflow or a plan");
        else
            call.result = stream_make(w, plan, options, &call.err);
    }
    return api_result(&call);
}

/* No boundary: threads of the stream take plain memory, and this one allocates nothing but for the
 * record, which has boundaries of its own. */
EXPORT bool weft_stream_run(struct weft_stream *s, struct weft_error *error)
{
    struct error err = {0};
    stream_record_begin(s);
    struct stream_agents *agents =
        s->helpers ? stream_agents_start(&s->options, s->folder, s->helpers, &s->key, s->flow, &err)
                   : NULL;
    bool good = (agents || !s->helpers) &&
                (s->planned ? stream_planned_run(s, &err) : flow_run(s->flow, &err));
    stream_agents_end(agents);
    stream_record_end(s, good);
    api_error_out(&err, error);
    return good;
}

/* Reads nothing that changes after opening: a signal handler may call it at any time until the close. */
EXPORT void weft_stream_stop(struct weft_stream *s)
{
    atomic_store(&s->stopped, true);
    flow_stop(s->flow);
}

EXPORT void weft_stream_close(struct weft_stream *s)
{
    if (!s)
        return;
    flow_close(s->flow);
    weft_workflow_free(s->workflow);
    weft_platform_free(s->platform);
    stream_free(s);
}

EXPORT uint32_t weft_stream_helpers(const struct weft_stream *s)
{
    return flow_helpers(s->flow);
}

/* Threads of a helper are its own, as those of a stream: joining alone is inside the boundary. */
EXPORT bool weft_stream_lend(const char *addresses, const char *key, uint32_t number,
                             struct weft_error *error)
{
    struct error err = {0};
    struct seal_key sealed;
    struct helper *h = NULL;
    struct workflow *w = NULL;
    bool good = seal_key_parse(key, strlen(key), &sealed, &err) &&
                (h = helper_join(addresses, &sealed, number, &err)) &&
                (w = place_read_workflow(helper_text(h), strlen(helper_text(h)), &err)) &&
                helper_serve(h, w, &err);
    helper_close(h);
    workflow_free(w);
    api_error_out(&err, error);
    return good;
}

EXPORT void weft_stream_figures(const struct weft_stream *s, struct weft_stream_figures *out)
{
    struct flow_figures f;
    flow_figures(s->flow, &f);
    const struct plan *plan = flow_plan(s->flow);
    double paced = plan ? plan_objective(plan, "steady_latency") : NAN;
    *out = (struct weft_stream_figures){
        .taken = f.taken,
        .done = f.done,
        .empty = f.empty,
        .given_up = f.given_up,
        .retried = f.retried,
        .seconds = f.seconds,
        .throughput = f.throughput,
        .latency_mean = f.latency_mean,
        .latency_50 = f.latency_50,
        .latency_95 = f.latency_95,
        .latency_99 = f.latency_99,
        .latency_max = f.latency_max,
        .promised_throughput = plan ? plan_objective(plan, "throughput") : NAN,
        .promised_latency = plan && isnan(paced) ? plan_objective(plan, "latency") : paced,
    };
}

EXPORT bool weft_stream_task(const struct weft_stream *s, size_t i, struct weft_stream_task *out)
{
    const struct workflow *w = s->workflow->model;
    struct flow_task_figures f;
    if (i >= w->ntasks)
        return false;
    flow_task(s->flow, (uint32_t)i, &f);
    *out = (struct weft_stream_task){workflow_task_name(w, (uint32_t)i), f.items, f.seconds,
                                     f.waiting};
    return true;
}

EXPORT bool weft_stream_worker(const struct weft_stream *s, size_t i,
                               struct weft_stream_worker *out)
{
    struct flow_worker_figures f;
    if (i > UINT32_MAX || !flow_worker(s->flow, (uint32_t)i, &f))
        return false;
    *out = (struct weft_stream_worker){
        f.cluster, f.replica,
        flow_plan(s->flow) ? platform_node_name(s->platform->model, f.node) : NULL, f.items,
        f.busy};
    return true;
}

EXPORT bool weft_stream_channel(const struct weft_stream *s, size_t *at,
                                struct weft_stream_channel *out)
{
    struct flow_channel_figures f;
    uint32_t next = *at > UINT32_MAX ? UINT32_MAX : (uint32_t)*at;
    bool found = flow_channel(s->flow, &next, &f);
    *at = next;
    if (!found)
        return false;
    bool nodes = f.from != UINT32_MAX;
    *out = (struct weft_stream_channel){
        .from = nodes ? platform_node_name(s->platform->model, f.from) : NULL,
        .to = nodes ? platform_node_name(s->platform->model, f.to) : NULL,
        .helper = nodes ? 0 : f.to,
        .transfers = f.items,
        .bytes = f.bytes,
        .busy = f.busy,
    };
    return true;
}

EXPORT int64_t weft_stream_recorded(const struct weft_stream *s)
{
    return s->recorded;
}

EXPORT bool weft_stream_failure(const struct weft_stream *s, size_t i,
                                struct weft_stream_failure *out)
{
    struct flow_failure f;
    if (!flow_failure(s->flow, i, &f))
        return false;
    out->item = f.item;
    out->task = workflow_task_name(s->workflow->model, f.task);
    snprintf(out->why, sizeof out->why, "%s", f.why);
    return true;
}
