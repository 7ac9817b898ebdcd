/* Plans of the library: making, reading, writing, looking at them. weft_plan_make() is what every
 * app plans with: planner_choose() decides which planner, the replayer lets planners of streams
 * promise what a simulation confirms, and the checker judges every result. */
#include "api/api.h"
#include "api/making.h"
#include "api/files.h"
#include "base/file.h"
#include "base/plural.h"
#include "model/check.h"
#include "plan/choose.h"
#include "plan/stream/stream.h"
#include "sim/stream.h"

#include <string.h>

/* ---- making ---- */

/* Items that a replay for a planner of streams runs: enough for a steady state behind the
 * pipeline's filling. */
enum { MAKING_ITEMS = 1000 };

static bool making_replay(void *context, const struct workflow *w, const struct platform *p,
                          const struct plan *plan, struct replayed *out)
{
    (void)context;
    struct stream_options o;
    struct stream_result r;
    struct error err = {0};
    stream_options_init(&o);
    o.items = MAKING_ITEMS;
    o.fed = FEED_PERIOD;
    bool good = stream_run(w, p, plan, &o, &r, &err);
    if (good)
        *out = (struct replayed){r.throughput, r.latency_mean};
    stream_result_free(&r);
    return good;
}

const struct replayer api_replayer = {.run = making_replay};

bool making_begin(struct making *m, const struct weft_workflow *w, const struct weft_platform *p,
                  const struct weft_plan_options *options, struct error *err)
{
    *m = (struct making){.options = WEFT_PLAN_INIT};
    if (!api_options(&m->options, options, err) ||
        !api_pairs_split(&m->pairs, m->options.options, err))
        return false;
    m->progress = (struct progress){m->options.progress, m->options.context};
    m->request = (struct plan_request){
        .workflow = w->model,
        .platform = p->model,
        .replayer = &api_replayer,
        .options = m->pairs.at,
        .noptions = m->pairs.n,
        .seed = m->options.seed,
        .progress = m->options.progress ? &m->progress : NULL,
        .explain = m->options.explain,
        .urgency = m->options.hurry,
        .urgency_context = m->options.context,
    };
    return true;
}

void making_end(struct making *m)
{
    api_pairs_free(&m->pairs);
}

/* Our own plans are judged too: a planner's mistake must never reach the user's work. */
static bool making_passes(const struct plan *plan, const struct plan_request *request,
                          struct error *err)
{
    struct check_result result;
    bool good = check_plan(plan, request->workflow, request->platform, &result, err);
    if (good && result.total)
        good = error_set(
            err, ERROR_FAILED,
            "planner '%s' made a plan that is not valid (%zu violation%s, the first: %s); this "
            "is a bug in weft",
            plan->planner, result.total, plural(result.total), result.violations.at[0].detail);
    check_result_free(&result);
    return good;
}

struct plan *making_run(struct making *m, const char *name, struct error *err)
{
    const struct planner *planner = planner_choose(name, m->request.workflow, m->request.platform,
                                                   m->pairs.at, m->pairs.n, err);
    struct plan *plan = planner ? planner_run(planner, &m->request, err) : NULL;
    if (plan && !making_passes(plan, &m->request, err)) {
        plan_free(plan);
        return NULL;
    }
    if (plan && m->request.workflow->nassertions && strcmp(planner->name, "constraints") != 0)
        plan_note(plan,
                  "%s does not look at the constraints of the workflow; --with constraints does",
                  planner->name);
    return plan;
}

EXPORT struct weft_plan *weft_plan_make(const struct weft_workflow *w,
                                        const struct weft_platform *p, const char *name,
                                        const struct weft_plan_options *options,
                                        struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct making m;
        if (making_begin(&m, w, p, options, &call.err))
            call.result = api_plan(making_run(&m, name, &call.err), w, p);
        making_end(&m);
    }
    return api_result(&call);
}

/* A front plans for throughputs of its own; one that was asked for would be passed over. */
static bool plan_front_holds(const struct api_pairs *pairs, struct error *err)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->at[i].name, "throughput") == 0 ||
            strcmp(pairs->at[i].name, "latency") == 0)
            return error_set(err, ERROR_INPUT,
                             "a front is of all throughputs and latencies; leave '%s' out, or plan "
                             "without --front",
                             pairs->at[i].name);
    return true;
}

static struct weft_plan **plan_front(struct making *m, const char *name, unsigned points,
                                     const struct weft_workflow *w, const struct weft_platform *p,
                                     size_t *n, struct error *err)
{
    const struct planner *planner = planner_find(name);
    struct stream_front front = {0};
    if (!planner) {
        planner_unknown(name, err);
        return NULL;
    }
    if (!(planner->accepts & ACCEPTS_STREAM)) {
        error_set(err, ERROR_INPUT,
                  "--front needs a planner of streams (mos, stream); '%s' is none", planner->name);
        return NULL;
    }
    if (!plan_front_holds(&m->pairs, err) ||
        !planner_check_options(planner, m->pairs.at, m->pairs.n, err) ||
        !stream_front(planner, &m->request, points, &front, err)) {
        stream_front_free(&front);
        return NULL;
    }
    struct weft_plan **plans = mem_new_zero(struct weft_plan *, front.plans.n + 1);
    for (*n = 0; *n < front.plans.n; ++*n)
        plans[*n] = api_plan_unkept(front.plans.at[*n], w, p);
    for (size_t i = 0; i < *n; i++)
        api_plan_keep(plans[i], w, p);
    array_free(&front.plans); /* the plans are the handles' now */
    return plans;
}

EXPORT struct weft_plan **weft_plan_front(const struct weft_workflow *w,
                                          const struct weft_platform *p, const char *planner,
                                          unsigned points, const struct weft_plan_options *options,
                                          size_t *n, struct weft_error *error)
{
    *n = 0;
    API_CALL(call, error)
    {
        struct making m;
        if (making_begin(&m, w, p, options, &call.err))
            call.result = plan_front(&m, planner, points, w, p, n, &call.err);
        making_end(&m);
    }
    return api_result(&call);
}

EXPORT void weft_plans_free(struct weft_plan **plans, size_t n)
{
    for (size_t i = 0; plans && i < n; i++)
        weft_plan_free(plans[i]);
    free(plans);
}

/* ---- reading and writing ---- */

EXPORT struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                        const struct weft_platform *p, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct plan_file *f = plan_file_open(path, &call.err);
        call.result = f ? api_plan(plan_file_read(f, w->model, p->model, &call.err), w, p) : NULL;
        plan_file_close(f);
    }
    return api_result(&call);
}

EXPORT bool weft_plan_write(const struct weft_plan *plan, const char *path,
                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf text = {0};
        plan_json_write(plan->model, plan->workflow->model, plan->platform->model, &text);
        call.good = file_write(path, strbuf_text(&text), text.n, &call.err);
        strbuf_free(&text);
    }
    return api_end(&call);
}

EXPORT char *weft_plan_write_text(const struct weft_plan *plan, size_t *n, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf text = {0};
        plan_json_write(plan->model, plan->workflow->model, plan->platform->model, &text);
        call.result = api_text(&text, n);
    }
    return api_result(&call);
}

EXPORT char *weft_plan_trace(const struct weft_plan *plan, size_t *n, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf text = {0};
        trace_json_write_plan(plan->model, plan->workflow->model, plan->platform->model, &text);
        call.result = api_text(&text, n);
    }
    return api_result(&call);
}

/* ---- looking: no call can fail, nothing is allocated ---- */

EXPORT enum weft_plan_kind weft_plan_kind(const struct weft_plan *plan)
{
    _Static_assert((int)PLAN_STATIC == WEFT_PLAN_STATIC &&
                       (int)PLAN_PARTITION == WEFT_PLAN_PARTITION &&
                       (int)PLAN_STREAM == WEFT_PLAN_STREAM && (int)PLAN_ORDER == WEFT_PLAN_ORDER,
                   "same numbers");
    return (enum weft_plan_kind)plan->model->kind;
}

EXPORT const char *weft_plan_planner(const struct weft_plan *plan)
{
    return plan->model->planner;
}

EXPORT double weft_plan_seconds(const struct weft_plan *plan)
{
    return plan->model->planning_seconds;
}

EXPORT const struct weft_workflow *weft_plan_workflow(const struct weft_plan *plan)
{
    return plan->workflow;
}

EXPORT const struct weft_platform *weft_plan_platform(const struct weft_plan *plan)
{
    return plan->platform;
}

EXPORT double weft_plan_objective(const struct weft_plan *plan, const char *name)
{
    return plan_objective(plan->model, name);
}

EXPORT const char *weft_plan_objective_name(const struct weft_plan *plan, size_t i, double *value)
{
    if (i >= plan->model->nobjectives)
        return NULL;
    *value = plan->model->objectives[i].value;
    return plan->model->objectives[i].name;
}

EXPORT const char *weft_plan_note(const struct weft_plan *plan, size_t i)
{
    return i < plan->model->notes.n ? plan->model->notes.at[i] : NULL;
}

/* The public structs have the private ones' fields in their order: the compiler is told, nothing is
 * copied. */
EXPORT size_t weft_plan_placements(const struct weft_plan *plan,
                                   const struct weft_placement **placements)
{
    _Static_assert(sizeof(struct weft_placement) == sizeof(struct placement) &&
                       offsetof(struct weft_placement, core) == offsetof(struct placement, core) &&
                       offsetof(struct weft_placement, start) == offsetof(struct placement, start),
                   "same layout");
    *placements = (const struct weft_placement *)(const void *)plan->model->placements.at;
    return plan->model->placements.n;
}

EXPORT size_t weft_plan_transfers(const struct weft_plan *plan,
                                  const struct weft_transfer **transfers)
{
    _Static_assert(sizeof(struct weft_transfer) == sizeof(struct transfer) &&
                       offsetof(struct weft_transfer, to) == offsetof(struct transfer, to) &&
                       offsetof(struct weft_transfer, start) == offsetof(struct transfer, start),
                   "same layout");
    *transfers = (const struct weft_transfer *)(const void *)plan->model->transfers.at;
    return plan->model->transfers.n;
}

EXPORT bool weft_plan_cluster(const struct weft_plan *plan, size_t i,
                              struct weft_stream_cluster *out)
{
    const struct plan *m = plan->model;
    if (i >= m->clusters.n)
        return false;
    const struct cluster *c = &m->clusters.at[i];
    *out = (struct weft_stream_cluster){
        .tasks = m->tasks.at + c->tasks,
        .duplicates = m->tasks.at + c->duplicates,
        .nodes = m->nodes.at + c->nodes,
        .ntasks = c->ntasks,
        .nduplicates = c->nduplicates,
        .nnodes = c->nnodes,
        .replicas = c->replicas,
    };
    return true;
}

EXPORT bool weft_plan_part(const struct weft_plan *plan, size_t i, struct weft_part *out)
{
    const struct plan *m = plan->model;
    if (i >= m->parts.n)
        return false;
    const struct part *p = &m->parts.at[i];
    *out = (struct weft_part){
        .root = p->root,
        .node = p->node,
        .tasks = m->tasks.at + p->tasks,
        .order = p->order == NONE ? NULL : m->tasks.at + p->order,
        .ntasks = p->count,
        .memory = p->memory,
    };
    return true;
}

EXPORT size_t weft_plan_order(const struct weft_plan *plan, const uint32_t **tasks)
{
    *tasks = plan->model->order.at;
    return plan->model->order.n;
}

EXPORT const char *weft_plan_verdict(const struct weft_plan *plan, const char **proof)
{
    if (proof)
        *proof = plan->model->proof;
    return plan->model->verdict;
}

EXPORT uint32_t weft_plan_nodes_used(const struct weft_plan *plan)
{
    return plan_nodes_used(plan->model, plan->platform->model);
}
