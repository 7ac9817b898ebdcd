/* Platforms of the library: building, reading, measuring, writing, looking at them. What a
 * function promises stands in weft/platform.h. */
#include "api/api.h"
#include "api/files.h"
#include "base/file.h"
#include "exec/measure.h"
#include "generate/generate.h"
#include "api/measured.h"
#include "session/machine.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- building ---- */

static bool platform_add_node(struct platform_builder *b, const struct weft_node *theirs,
                              struct error *err)
{
    struct weft_node n = WEFT_NODE_INIT(NULL);
    if (!api_options(&n, theirs, err))
        return false;
    if (!n.name)
        return error_set(err, ERROR_INPUT, "a node has no name");
    uint32_t node = platform_builder_node(b, n.name, strlen(n.name), 0);
    if (node == NONE)
        return true; /* the builder keeps the mistake */
    platform_builder_speed(b, node, n.speed, 0);
    platform_builder_cores(b, node, n.cores, 0);
    platform_builder_utilization(b, node, n.utilization, 0);
    if (isfinite(n.memory))
        platform_builder_memory(b, node, n.memory, 0);
    if (n.ports != WEFT_NONE)
        platform_builder_ports(b, node, n.ports, 0);
    if (n.down)
        platform_builder_down(b, node);
    return true;
}

static struct platform *platform_build(const char *name, const struct weft_node *nodes, size_t n,
                                       const struct weft_network *network, struct error *err)
{
    struct weft_network net = WEFT_NETWORK_INIT;
    if (!api_options(&net, network, err))
        return NULL;
    struct platform_builder *b = platform_builder_new("<built>");
    if (name)
        platform_builder_name(b, name, strlen(name));
    platform_builder_network(b, net.bandwidth, net.latency, net.ports ? net.ports : NAN, 0);
    enum memory_rule rule = MEMORY_UNSTATED;
    if (net.memory && !memory_rule_parse(net.memory, &rule))
        platform_builder_error(b, 0, "memory is '%s'; expected tasks or tasks+files", net.memory);
    platform_builder_memory_rule(b, rule);
    /* The caller's array has the stride of the header it was compiled with. */
    for (size_t i = 0; i < n; i++) {
        const char *at = (const char *)nodes + i * nodes->size;
        if (!platform_add_node(b, (const struct weft_node *)(const void *)at, err)) {
            platform_builder_free(b);
            return NULL;
        }
    }
    for (size_t i = 0; i < net.nlinks; i++) {
        const struct weft_link *l = &net.links[i];
        if (l->a >= n || l->b >= n)
            platform_builder_error(b, 0, "a link joins nodes %u and %u of %zu", l->a, l->b, n);
        else
            platform_builder_link(b, l->a, l->b, l->bandwidth, l->latency, 0);
    }
    return platform_builder_finish(b, err);
}

EXPORT struct weft_platform *weft_platform_build(const char *name, const struct weft_node *nodes,
                                                 size_t n, const struct weft_network *network,
                                                 struct weft_error *error)
{
    API_CALL(call, error)
    call.result = api_platform(platform_build(name, nodes, n, network, &call.err));
    return api_result(&call);
}

/* ---- reading, measuring ---- */

static struct weft_platform *platform_take(struct format_file *f, struct error *err)
{
    struct weft_platform *p = f ? api_platform(format_file_platform(f, err)) : NULL;
    format_file_close(f);
    return p;
}

EXPORT struct weft_platform *weft_platform_read(const char *path,
                                                const struct weft_read_options *options,
                                                struct weft_error *error)
{
    API_CALL(call, error)
    call.result = platform_take(api_file_open(path, options, &call.err), &call.err);
    return api_result(&call);
}

EXPORT struct weft_platform *weft_platform_read_text(const char *text, size_t n, const char *name,
                                                     const struct weft_read_options *options,
                                                     struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct text copy = {mem_copy_bytes(text, n), n};
        call.result = platform_take(api_file_of(name, copy, options, &call.err), &call.err);
    }
    return api_result(&call);
}

EXPORT struct weft_platform *weft_platform_named(const char *spec, struct weft_error *error)
{
    API_CALL(call, error)
    call.result = api_platform(spec ? machine_named(spec, &call.err) : machine_this(&call.err));
    return api_result(&call);
}

EXPORT struct weft_platform *weft_platform_generate(const char *generator,
                                                    const char *const *options, uint64_t seed,
                                                    struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct api_generated g;
        if (api_generator(generator, options, &g, &call.err))
            call.result = api_platform(
                generator_platform(g.generator, g.pairs.at, g.pairs.n, seed, &call.err));
        api_generated_free(&g);
    }
    return api_result(&call);
}

static struct weft_platform *platform_measure(const struct weft_measure_options *options,
                                              struct error *err)
{
    struct weft_measure_options own = WEFT_MEASURE_INIT;
    if (!api_options(&own, options, err))
        return NULL;
    struct progress progress = {own.progress, own.context};
    struct measure_options how = {
        .folder = own.folder, .patience = own.patience, .progress = &progress};
    struct strbuf notes = {0};
    struct machine m;
    measure_machine(&m, &how, &notes);
    char *rest = NULL, *line = notes.n ? strtok_r(notes.at, "\n", &rest) : NULL;
    for (; line && own.remark; line = strtok_r(NULL, "\n", &rest))
        own.remark(own.context, line);
    strbuf_free(&notes);
    struct weft_platform *p = api_platform(measured_platform(&m, err));
    if (p) {
        p->measured = mem_new(struct machine, 1);
        *p->measured = m;
    }
    return p;
}

EXPORT struct weft_platform *weft_platform_measure(const struct weft_measure_options *options,
                                                   struct weft_error *error)
{
    API_CALL(call, error)
    call.result = platform_measure(options, &call.err);
    return api_result(&call);
}

/* ---- writing ---- */

/* A measured machine says in comments what its format has no key for. */
static bool platform_text_of(const struct weft_platform *p, const struct format *format,
                             struct strbuf *out, struct strbuf *dropped, struct error *err)
{
    if (!format->write_platform)
        return error_set(err, ERROR_INPUT, "weft does not write platforms as %s", format->name);
    if (p->measured && strcmp(format->name, "native") == 0)
        measured_comments(p->measured, out);
    return format->write_platform(p->model, out, dropped, err);
}

EXPORT bool weft_platform_write(const struct weft_platform *p, const char *path,
                                const struct weft_write_options *options, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct api_writing writing;
        struct strbuf out = {0};
        call.good = api_writing_begin(&writing, options, &call.err);
        if (call.good && p->measured && !writing.format) /* a file of ours, whatever its name */
            writing.format = format_find("native");
        if (call.good && !writing.format)
            call.good = (writing.format = format_for_path(path, &call.err)) != NULL;
        if (call.good && !writing.format->write_platform)
            call.good = format_write_platform(path, writing.format, p->model, NULL, &call.err);
        else if (call.good)
            call.good = platform_text_of(p, writing.format, &out, &writing.dropped, &call.err) &&
                        file_write(path, strbuf_text(&out), out.n, &call.err);
        strbuf_free(&out);
        api_writing_end(&writing, call.good);
    }
    return api_end(&call);
}

EXPORT char *weft_platform_write_text(const struct weft_platform *p,
                                      const struct weft_write_options *options, size_t *n,
                                      struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct api_writing writing;
        struct strbuf out = {0};
        bool good = api_writing_begin(&writing, options, &call.err);
        const struct format *format = writing.format ? writing.format : format_find("native");
        good = good && platform_text_of(p, format, &out, &writing.dropped, &call.err);
        if (good)
            call.result = api_text(&out, n);
        strbuf_free(&out);
        api_writing_end(&writing, good);
    }
    return api_result(&call);
}

/* The folders above a file, made where they are missing. */
static bool platform_make_folders(char *path, struct error *err)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        bool good =
            mkdir(path, 0777) == 0 || errno == EEXIST ||
            error_set(err, ERROR_FAILED, "%s: cannot make this folder: %s", path, strerror(errno));
        *slash = '/';
        if (!good)
            return false;
    }
    return true;
}

EXPORT char *weft_platform_save(const struct weft_platform *p, struct weft_error *error)
{
    API_CALL(call, error)
    {
        char *path = machine_file();
        struct strbuf out = {0}, dropped = {0};
        if (!path)
            error_set(&call.err, ERROR_INPUT,
                      "--save: there is no home folder; set HOME or XDG_CONFIG_HOME");
        else if (platform_make_folders(path, &call.err) &&
                 platform_text_of(p, format_find("native"), &out, &dropped, &call.err) &&
                 file_write(path, strbuf_text(&out), out.n, &call.err))
            call.result = path;
        if (!call.result)
            free(path);
        strbuf_free(&out);
        strbuf_free(&dropped);
    }
    return api_result(&call);
}

/* ---- looking ---- */

EXPORT const char *weft_platform_name(const struct weft_platform *p)
{
    const struct platform *m = p->model;
    return pool_text(&m->text, m->name ? m->name : m->file);
}

EXPORT uint32_t weft_platform_nodes(const struct weft_platform *p)
{
    return p->model->nnodes;
}

EXPORT uint64_t weft_platform_cores(const struct weft_platform *p)
{
    return platform_total_cores(p->model);
}

EXPORT const char *weft_platform_memory(const struct weft_platform *p)
{
    return memory_rule_name(p->model->memory_rule);
}

EXPORT const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node)
{
    return node < p->model->nnodes ? platform_node_name(p->model, node) : NULL;
}

EXPORT uint32_t weft_platform_find_node(const struct weft_platform *p, const char *name)
{
    return platform_find_node(p->model, name);
}

EXPORT bool weft_platform_node(const struct weft_platform *p, uint32_t node, struct weft_node *out)
{
    const struct platform *m = p->model;
    if (node >= m->nnodes)
        return false;
    *out = (struct weft_node){
        .size = sizeof *out,
        .name = platform_node_name(m, node),
        .speed = m->speed[node],
        .memory = m->memory[node],
        .utilization = m->utilization[node],
        .cores = m->cores[node],
        .ports = platform_ports(m, node),
        .down = !m->up[node],
    };
    return true;
}

EXPORT void weft_platform_link(const struct weft_platform *p, uint32_t a, uint32_t b,
                               double *bandwidth, double *latency)
{
    platform_link(p->model, a, b, bandwidth, latency);
}

EXPORT double weft_platform_transfer(const struct weft_platform *p, uint32_t a, uint32_t b,
                                     double bytes)
{
    return platform_transfer(p->model, a, b, bytes);
}
