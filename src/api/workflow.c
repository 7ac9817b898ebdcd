/* Workflows of the library: reading, writing, generating, walking. Thin over formats, generators
 * and the model; what a function promises stands in weft/workflow.h. */
#include "api/api.h"
#include "api/files.h"
#include "generate/generate.h"
#include "model/command.h"
#include "model/graph.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

static struct weft_workflow *workflow_take(struct format_file *f, struct error *err)
{
    struct weft_workflow *w = f ? api_workflow(format_file_workflow(f, err)) : NULL;
    format_file_close(f);
    return w;
}

EXPORT struct weft_workflow *weft_workflow_read(const char *path,
                                                const struct weft_read_options *options,
                                                struct weft_error *error)
{
    API_CALL(call, error)
    call.result = workflow_take(api_file_open(path, options, &call.err), &call.err);
    return api_result(&call);
}

EXPORT struct weft_workflow *weft_workflow_read_text(const char *text, size_t n, const char *name,
                                                     const struct weft_read_options *options,
                                                     struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct text copy = {mem_copy_bytes(text, n), n}; /* readers change it in place */
        call.result = workflow_take(api_file_of(name, copy, options, &call.err), &call.err);
    }
    return api_result(&call);
}

/* Everything that a reader of the caller's gives. */
static bool workflow_collect(weft_reader read, void *context, const char *name, struct strbuf *all,
                             struct error *err)
{
    char piece[1 << 16]; /* a pipe's worth */
    for (;;) {
        errno = 0;
        ptrdiff_t got = read(context, piece, sizeof piece);
        if (got < 0)
            return error_at(err, name, 0, "cannot read: %s",
                            errno ? strerror(errno) : "the reader gave up");
        if (got == 0)
            return true;
        strbuf_add_bytes(all, piece, (size_t)got);
    }
}

EXPORT struct weft_workflow *weft_workflow_read_from(weft_reader read, void *context,
                                                     const char *name,
                                                     const struct weft_read_options *options,
                                                     struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf all = {0};
        bool good = workflow_collect(read, context, name ? name : "<reader>", &all, &call.err);
        size_t n = all.n;
        struct text text = {strbuf_steal(&all), n};
        if (good)
            call.result = workflow_take(
                api_file_of(name ? name : "<reader>", text, options, &call.err), &call.err);
        else
            text_free(&text);
    }
    return api_result(&call);
}

/* ---- writing ---- */

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

/* The text into `out`; native YAML where no format is named. */
static bool workflow_text_of(const struct workflow *w, const struct weft_write_options *options,
                             struct strbuf *out, struct error *err)
{
    struct api_writing writing;
    bool good = api_writing_begin(&writing, options, err);
    const struct format *format = writing.format ? writing.format : format_find("native");
    if (good && !format->write_workflow)
        good = error_set(err, ERROR_INPUT, "weft does not write workflows as %s", format->name);
    else if (good)
        good = format->write_workflow(w, out, &writing.dropped, err);
    api_writing_end(&writing, good);
    return good;
}

EXPORT char *weft_workflow_write_text(const struct weft_workflow *w,
                                      const struct weft_write_options *options, size_t *n,
                                      struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf out = {0};
        if (workflow_text_of(w->model, options, &out, &call.err))
            call.result = api_text(&out, n);
        strbuf_free(&out);
    }
    return api_result(&call);
}

EXPORT bool weft_workflow_write_to(const struct weft_workflow *w, weft_writer write, void *context,
                                   const struct weft_write_options *options,
                                   struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf out = {0};
        call.good = workflow_text_of(w->model, options, &out, &call.err);
        if (call.good && !write(context, strbuf_text(&out), out.n))
            call.good = error_set(&call.err, ERROR_FAILED, "the writer gave up");
        strbuf_free(&out);
    }
    return api_end(&call);
}

/* ---- generating ---- */

static const struct generator *workflow_generator(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!generator_registry[k])
            return NULL;
    return generator_registry[i];
}

EXPORT bool weft_generator(size_t i, struct weft_generator *out)
{
    const struct generator *g = workflow_generator(i);
    if (g)
        *out = (struct weft_generator){g->name, g->summary, g->kind == GENERATES_PLATFORM};
    return g != NULL;
}

EXPORT size_t weft_generator_find(const char *name, struct weft_error *error)
{
    struct error err = {0};
    size_t i = 0;
    while (generator_registry[i] && strcmp(generator_registry[i]->name, name) != 0)
        i++;
    bool found = generator_registry[i] || generator_unknown(name, &err);
    api_error_out(&err, error);
    return found ? i : SIZE_MAX;
}

EXPORT bool weft_generator_option(size_t i, size_t k, struct weft_option *out)
{
    const struct generator *g = workflow_generator(i);
    return api_option(g ? g->options : NULL, k, out);
}

bool api_generator(const char *name, const char *const *options, struct api_generated *out,
                   struct error *err)
{
    *out = (struct api_generated){.generator = generator_find(name)};
    if (!out->generator)
        return generator_unknown(name, err);
    return api_pairs_split(&out->pairs, options, err);
}

void api_generated_free(struct api_generated *g)
{
    api_pairs_free(&g->pairs);
}

EXPORT struct weft_workflow *weft_workflow_generate(const char *generator,
                                                    const char *const *options, uint64_t seed,
                                                    struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct api_generated g;
        if (api_generator(generator, options, &g, &call.err))
            call.result = api_workflow(
                generator_workflow(g.generator, g.pairs.at, g.pairs.n, seed, &call.err));
        api_generated_free(&g);
    }
    return api_result(&call);
}

/* ---- walking: no call can fail, nothing is allocated ---- */

EXPORT const char *weft_workflow_name(const struct weft_workflow *w)
{
    return w->name;
}

EXPORT uint32_t weft_workflow_tasks(const struct weft_workflow *w)
{
    return w->model->ntasks;
}

EXPORT uint32_t weft_workflow_edges(const struct weft_workflow *w)
{
    return w->model->npairs;
}

EXPORT uint32_t weft_workflow_objects(const struct weft_workflow *w)
{
    return w->model->nobjects;
}

EXPORT const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task)
{
    return task < w->model->ntasks ? workflow_task_name(w->model, task) : NULL;
}

EXPORT char *weft_workflow_command(const struct weft_workflow *w, uint32_t task, uint32_t attempt,
                                   struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf text = {0};
        if (command_readable(w->model, task, attempt, &text))
            call.result = strbuf_steal(&text);
        else if (task >= w->model->ntasks)
            error_set(&call.err, ERROR_INPUT, "there is no task %u", task);
        else
            call.good = true;
    }
    return api_result(&call);
}

EXPORT uint32_t weft_workflow_find_task(const struct weft_workflow *w, const char *name)
{
    return workflow_find_task(w->model, name);
}

EXPORT bool weft_workflow_task(const struct weft_workflow *handle, uint32_t t,
                               struct weft_task_info *out)
{
    const struct workflow *w = handle->model;
    if (t >= w->ntasks)
        return false;
    *out = (struct weft_task_info){
        .name = workflow_task_name(w, t),
        .kind = workflow_text(w, w->kind[t]),
        .command = w->command && w->command[t] ? workflow_text(w, w->command[t]) : NULL,
        .is_call = w->flags[t] & TASK_CALL,
        .work = w->work[t],
        .memory = w->memory[t],
        .cores = w->cores[t],
        .retries = w->retries ? w->retries[t] : 0,
        .priority = w->priority ? w->priority[t] : 0,
        .deadline = w->deadline ? w->deadline[t] : INFINITY,
        .timeout = w->timeout ? w->timeout[t] : INFINITY,
        .line = w->line ? w->line[t] : 0,
    };
    return true;
}

EXPORT size_t weft_workflow_successors(const struct weft_workflow *w, uint32_t task,
                                       const uint32_t **tasks, const uint32_t **objects)
{
    const struct workflow *m = w->model;
    if (task >= m->ntasks)
        return 0;
    *tasks = m->succ_task + m->succ_off[task];
    *objects = m->succ_object + m->succ_off[task];
    return m->succ_off[task + 1] - m->succ_off[task];
}

EXPORT size_t weft_workflow_predecessors(const struct weft_workflow *w, uint32_t task,
                                         const uint32_t **tasks, const uint32_t **objects)
{
    const struct workflow *m = w->model;
    if (task >= m->ntasks)
        return 0;
    *tasks = m->pred_task + m->pred_off[task];
    *objects = m->pred_object + m->pred_off[task];
    return m->pred_off[task + 1] - m->pred_off[task];
}

EXPORT bool weft_workflow_object(const struct weft_workflow *handle, uint32_t o,
                                 struct weft_object_info *out)
{
    const struct workflow *w = handle->model;
    uint32_t count;
    if (o >= w->nobjects)
        return false;
    const uint32_t *consumers = workflow_consumers(w, o, &count);
    *out = (struct weft_object_info){
        .name = workflow_text(w, w->object_name[o]),
        .bytes = w->size[o],
        .producer = w->producer[o],
        .consumers = consumers,
        .nconsumers = count,
        .temporary = workflow_is_temporary(w, o),
    };
    return true;
}

EXPORT uint32_t weft_workflow_find_object(const struct weft_workflow *w, const char *name)
{
    return workflow_find_object(w->model, name);
}

EXPORT const uint32_t *weft_workflow_topological(const struct weft_workflow *w)
{
    return w->model->topo;
}

EXPORT const char *weft_workflow_remark(const struct weft_workflow *w, size_t i)
{
    return i < w->model->nwarnings ? w->model->warnings[i] : NULL;
}

EXPORT bool weft_workflow_statistics(const struct weft_workflow *w, struct weft_statistics *out,
                                     struct weft_error *error)
{
    static const char *const trees[] = {
        [TREE_NOT] = NULL, [TREE_OUT] = "out", [TREE_IN] = "in", [TREE_CHAIN] = "chain"};
    API_CALL(call, error)
    {
        struct statistics s;
        graph_statistics(w->model, &s);
        *out = (struct weft_statistics){
            .tasks = s.tasks,
            .edges = s.edges,
            .objects = s.objects,
            .sources = s.sources,
            .sinks = s.sinks,
            .depth = s.depth,
            .width = s.width,
            .components = s.components,
            .width_exact = s.width_exact,
            .work = s.work,
            .data = s.data,
            .critical_path = s.critical_path,
            .largest_memory = s.memory,
            .ccr = s.ccr,
            .tree = trees[s.tree],
        };
        call.good = true;
    }
    return api_end(&call);
}

EXPORT bool weft_workflow_prioritize(struct weft_workflow *w, const struct weft_plan *order,
                                     struct weft_error *error)
{
    API_CALL(call, error)
    {
        uint32_t n = w->model->ntasks;
        if (order->model->kind != PLAN_ORDER || order->model->order.n != n) {
            error_set(&call.err, ERROR_INPUT,
                      "priorities come from an order of this workflow: plan with a planner of the "
                      "family order (ic, area, prio, ...)");
        } else {
            double *priority = mem_new(double, n);
            for (uint32_t i = 0; i < n; i++)
                priority[order->model->order.at[i]] = n - i;
            workflow_set_priorities(w->model, priority);
            free(priority);
            call.good = true;
        }
    }
    return api_end(&call);
}
