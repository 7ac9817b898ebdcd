/* SAGA / dagbench JSON: a task graph with costs and sizes, and a network of nodes with speeds.
 *
 * Links have no direction: a pair stated both ways must agree. Links of a node with itself are
 * ignored (moving nothing takes no time here). Pairs without a link cannot talk.
 *
 *     {"name": "x",
 *      "task_graph": {"tasks": [{"name": "a", "cost": 3}],
 *                     "dependencies": [{"source": "a", "target": "b", "size": 10}]},
 *      "network":    {"nodes": [{"name": "n1", "speed": 2}],
 *                     "edges": [{"source": "n1", "target": "n2", "speed": 5}]}} */
#include "base/array.h"
#include "base/plural.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "formats/format.h"
#include "formats/json_field.h"

#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 1 << 20 }; /* links written or made, by pairs of nodes */

/* Stands for "no limit" where a number must be. */
static const double unlimited_speed = 1e300;

/* A file of nodes alone may be another format's: then only likely. */
static int sniff_saga(const char *path, const char *text, size_t length)
{
    (void)path;
    size_t head = format_json_head(text, length);
    if (!head || memmem(text, head, "\"schemaVersion\"", 15))
        return 0;
    if (memmem(text, head, "\"task_graph\"", 12))
        return 3;
    return memmem(text, head, "\"network\"", 9) && memmem(text, head, "\"nodes\"", 7) ? 2 : 0;
}

/* NULL: it has none, or (with an error) something else. */
static const char *document_name(const struct json *j, struct error *err)
{
    const char *name;
    return json_field_string(j, 0, "name", &name, "the document", err) ? name : NULL;
}

/* ---- reading ---- */

/* A task without a cost states no work. */
static bool saga_read_tasks(const struct json *j, json_ref tasks, struct builder *b,
                            struct error *err)
{
    struct json_cursor cursor = {0};
    builder_expect(b, json_size(j, tasks), json_size(j, tasks));
    for (json_ref v = json_first(j, tasks); v != JSON_NONE; v = json_next_element(j, tasks, v)) {
        size_t line = json_cursor_line(j, &cursor, v), n;
        if (!json_field_is(j, v, JSON_OBJECT, "a task", err))
            return false;
        json_ref name = json_field_need(j, v, "name", JSON_STRING, "a task", err);
        if (name == JSON_NONE)
            return false;
        const char *text = json_string(j, name, &n);
        uint32_t task = builder_task(b, text, n, line);
        double cost = NAN;
        if (!json_field_number(j, v, "cost", 0, &cost, text, err))
            return false;
        if (!isnan(cost))
            builder_work(b, task, cost, line);
        if (builder_failed(b))
            return false;
    }
    return true;
}

/* One end of a dependency; NONE with an error. */
static uint32_t end_of(const struct json *j, json_ref edge, const char *key,
                       const struct builder *b, struct error *err)
{
    json_ref v = json_field_need(j, edge, key, JSON_STRING, "a dependency", err);
    if (v == JSON_NONE)
        return NONE;
    size_t n;
    const char *name = json_string(j, v, &n);
    uint32_t task = builder_find_task(b, name, n);
    if (task == NONE)
        json_error(j, v, err, "a dependency's %s is '%s', which is no task", key, name);
    return task;
}

/* A size of 0 is plain ordering. */
static bool read_dependencies(const struct json *j, json_ref edges, struct builder *b,
                              struct error *err)
{
    struct json_cursor cursor = {0};
    for (json_ref v = json_first(j, edges); v != JSON_NONE; v = json_next_element(j, edges, v)) {
        if (!json_field_is(j, v, JSON_OBJECT, "a dependency", err))
            return false;
        uint32_t from = end_of(j, v, "source", b, err);
        uint32_t to = from == NONE ? NONE : end_of(j, v, "target", b, err);
        double size = 0;
        if (to == NONE || !json_field_number(j, v, "size", 0, &size, "a dependency", err))
            return false;
        builder_data_edge(b, from, to, size, json_cursor_line(j, &cursor, v));
    }
    return true;
}

static bool saga_read_graph(const struct json *j, struct builder *b, struct error *err)
{
    if (!json_field_is(j, 0, JSON_OBJECT, "the document", err))
        return false;
    const char *name = document_name(j, err);
    if (name)
        builder_name(b, name, strlen(name));
    json_ref graph = json_field_need(j, 0, "task_graph", JSON_OBJECT, "the document", err);
    if (graph == JSON_NONE)
        return false;
    json_ref tasks = json_field_need(j, graph, "tasks", JSON_ARRAY, "the task graph", err);
    if (tasks == JSON_NONE || !saga_read_tasks(j, tasks, b, err))
        return false;
    json_ref edges = json_field_need(j, graph, "dependencies", JSON_ARRAY, "the task graph", err);
    return edges != JSON_NONE && read_dependencies(j, edges, b, err);
}

static struct workflow *saga_read_workflow(const struct format_source *source, struct error *err)
{
    struct json j;
    if (!json_parse(&j, source->path, source->text, source->length, err))
        return NULL;
    struct builder *b = builder_new(source->path, "saga");
    struct error own = {0};
    struct workflow *w = NULL;
    if (saga_read_graph(&j, b, &own) || builder_failed(b)) {
        w = builder_finish(b, err);
    } else {
        error_set(err, own.kind, "%s", own.text);
        builder_free(b);
    }
    json_free(&j);
    return w;
}

/* A link as stated, the lower node first. */
struct stated_link {
    uint32_t a, b;
    json_ref at;
    double speed;
};

static int saga_compare_links(const void *x, const void *y)
{
    const struct stated_link *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    if (p->b != q->b)
        return p->b < q->b ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

typedef ARRAY(struct stated_link) link_array;

/* Ends are put in order, so that both directions of a pair are one link. */
static bool saga_read_links(const struct json *j, json_ref edges, const struct platform_builder *b,
                            link_array *links, struct error *err)
{
    for (json_ref v = json_first(j, edges); v != JSON_NONE; v = json_next_element(j, edges, v)) {
        if (!json_field_is(j, v, JSON_OBJECT, "a link", err))
            return false;
        uint32_t ends[2];
        for (int i = 0; i < 2; i++) {
            size_t n;
            json_ref end =
                json_field_need(j, v, i ? "target" : "source", JSON_STRING, "a link", err);
            if (end == JSON_NONE)
                return false;
            const char *name = json_string(j, end, &n);
            ends[i] = platform_builder_find(b, name, n);
            if (ends[i] == NONE)
                return json_error(j, end, err, "a link names '%s', which is no node", name);
        }
        double speed = NAN;
        if (!json_field_number(j, v, "speed", 0, &speed, "a link", err))
            return false;
        if (isnan(speed))
            return json_error(j, v, err, "a link needs a \"speed\"");
        struct stated_link link = {ends[0] < ends[1] ? ends[0] : ends[1],
                                   ends[0] < ends[1] ? ends[1] : ends[0], v, speed};
        if (link.a != link.b)
            array_push(links, link);
    }
    return true;
}

/* One entry a pair, sorted. */
static bool merge_links(const struct json *j, link_array *links, struct error *err)
{
    if (links->n)
        qsort(links->at, links->n, sizeof *links->at, saga_compare_links);
    size_t n = 0;
    for (size_t i = 0; i < links->n; i++) {
        const struct stated_link *l = &links->at[i], *last = n ? &links->at[n - 1] : NULL;
        if (!last || last->a != l->a || last->b != l->b)
            links->at[n++] = *l;
        else if (last->speed != l->speed)
            return json_error(
                j, l->at, err,
                "this link was stated before with another speed, %g; links have no direction",
                last->speed);
    }
    links->n = n;
    return true;
}

/* A full network of equal links is the network itself; otherwise each pair is stated, and pairs
 * that the file leaves out cannot talk (bandwidth 0), which is why their number is bounded. */
static bool saga_add_links(const struct json *j, json_ref network, const link_array *links,
                           uint32_t nodes, struct platform_builder *b, struct error *err)
{
    /* a network of one node has no pair */
    uint64_t pairs = (uint64_t)nodes * (nodes - (nodes > 0)) / 2;
    bool alike = links->n == pairs && links->n && links->at[0].speed > 0;
    for (size_t i = 1; i < links->n && alike; i++)
        alike = links->at[i].speed == links->at[0].speed;
    if (alike) {
        platform_builder_network(b, links->at[0].speed, NAN, NAN, 0);
        return true;
    }
    for (size_t i = 0; i < links->n; i++)
        platform_builder_link(b, links->at[i].a, links->at[i].b, links->at[i].speed, NAN, 0);
    if (links->n == pairs)
        return true;
    if (pairs > MOST_PAIRS)
        return json_error(j, network, err, "%zu links for %u node%s; expected one for each pair",
                          links->n, nodes, plural(nodes));
    size_t next = 0;
    for (uint32_t x = 0; x < nodes; x++) {
        for (uint32_t y = x + 1; y < nodes; y++) {
            if (next < links->n && links->at[next].a == x && links->at[next].b == y)
                next++;
            else
                platform_builder_link(b, x, y, 0, NAN, 0);
        }
    }
    return true;
}

/* Nodes first, then links between them; errors of the builder stop the loop and are reported at
 * the end. */
static bool saga_read_network(const struct json *j, struct platform_builder *b, struct error *err)
{
    if (!json_field_is(j, 0, JSON_OBJECT, "the document", err))
        return false;
    const char *name = document_name(j, err);
    if (name)
        platform_builder_name(b, name, strlen(name));
    json_ref network = json_field_need(j, 0, "network", JSON_OBJECT, "the document", err);
    if (network == JSON_NONE)
        return false;
    json_ref nodes = json_field_need(j, network, "nodes", JSON_ARRAY, "the network", err);
    if (nodes == JSON_NONE)
        return false;
    struct json_cursor cursor = {0};
    for (json_ref v = json_first(j, nodes); v != JSON_NONE; v = json_next_element(j, nodes, v)) {
        size_t line = json_cursor_line(j, &cursor, v), n;
        if (!json_field_is(j, v, JSON_OBJECT, "a node", err))
            return false;
        json_ref text = json_field_need(j, v, "name", JSON_STRING, "a node", err);
        if (text == JSON_NONE)
            return false;
        const char *node_name = json_string(j, text, &n);
        uint32_t node = platform_builder_node(b, node_name, n, line);
        double speed = 1;
        if (!json_field_number(j, v, "speed", 0, &speed, node_name, err))
            return false;
        platform_builder_speed(b, node, speed, line);
        if (platform_builder_failed(b))
            return true;
    }
    /* a network without links: nobody talks to anybody */
    json_ref edges = json_field(j, network, "edges");
    if (edges != JSON_NONE && !json_field_is(j, edges, JSON_ARRAY, "\"edges\" of the network", err))
        return false;
    link_array links = {0};
    bool good = (edges == JSON_NONE || saga_read_links(j, edges, b, &links, err)) &&
                merge_links(j, &links, err) &&
                saga_add_links(j, network, &links, json_size(j, nodes), b, err);
    array_free(&links);
    return good;
}

static struct platform *saga_read_platform(const struct format_source *source, struct error *err)
{
    struct json j;
    if (!json_parse(&j, source->path, source->text, source->length, err))
        return NULL;
    struct platform_builder *b = platform_builder_new(source->path);
    struct error own = {0};
    struct platform *p = NULL;
    if (saga_read_network(&j, b, &own)) {
        p = platform_builder_finish(b, err);
    } else {
        error_set(err, own.kind, "%s", own.text);
        platform_builder_free(b);
    }
    json_free(&j);
    return p;
}

/* ---- writing ---- */

static void write_dependency(struct json_writer *j, const struct workflow *w, uint32_t from,
                             uint32_t to, double size)
{
    json_write_object_inline(j);
    json_put_string(j, "source", workflow_task_name(w, from));
    json_put_string(j, "target", workflow_task_name(w, to));
    json_put_number(j, "size", size);
    json_write_end_object(j);
}

/* Objects between two tasks are summed into one size; that they were several is named as dropped.
 */
static bool saga_write_workflow(const struct workflow *w, struct strbuf *out,
                                struct strbuf *dropped, struct error *err)
{
    (void)err;
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "name", workflow_text(w, w->name));
    json_write_key(&j, "task_graph");
    json_write_object(&j);
    json_write_key(&j, "tasks");
    json_write_array(&j);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        json_write_object_inline(&j);
        json_put_string(&j, "name", workflow_task_name(w, t));
        json_put_number(&j, "cost", w->work[t]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_key(&j, "dependencies");
    json_write_array(&j);
    /* pred lists are sorted by producer, so that the objects of a pair stand together */
    for (uint32_t t = 0; t < w->ntasks; t++) {
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1];) {
            uint32_t from = w->pred_task[e];
            double size = 0;
            for (; e < w->pred_off[t + 1] && w->pred_task[e] == from; e++)
                size += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
            write_dependency(&j, w, from, t, size);
        }
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
    json_write_end_object(&j);
    dropped_report(w, format_saga.carries, dropped);
    return true;
}

/* Every pair is listed, as the format has no other way; hence the bound. */
static bool write_platform(const struct platform *p, struct strbuf *out, struct strbuf *dropped,
                           struct error *err)
{
    uint64_t pairs = (uint64_t)p->nnodes * (p->nnodes - (p->nnodes > 0)) / 2;
    if (pairs > MOST_PAIRS)
        return error_set(err, ERROR_INPUT,
                         "a SAGA network lists every pair of nodes: too many for %u node%s",
                         p->nnodes, plural(p->nnodes));
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "name", pool_text(&p->text, p->name));
    json_write_key(&j, "network");
    json_write_object(&j);
    json_write_key(&j, "nodes");
    json_write_array(&j);
    size_t memory = 0, cores = 0, load = 0, down = 0, endless = 0, late = 0;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        json_write_object_inline(&j);
        json_put_string(&j, "name", platform_node_name(p, n));
        json_put_number(&j, "speed", p->speed[n]);
        json_write_end_object(&j);
        memory += isfinite(p->memory[n]);
        cores += p->cores[n] != 1;
        load += p->utilization[n] != 0;
        down += !p->up[n];
    }
    json_write_end_array(&j);
    json_write_key(&j, "edges");
    json_write_array(&j);
    for (uint32_t x = 0; x < p->nnodes; x++) {
        for (uint32_t y = x + 1; y < p->nnodes; y++) {
            double bandwidth, latency;
            platform_link(p, x, y, &bandwidth, &latency);
            late += latency > 0;
            endless += isinf(bandwidth);
            if (bandwidth == 0)
                continue;
            json_write_object_inline(&j);
            json_put_string(&j, "source", platform_node_name(p, x));
            json_put_string(&j, "target", platform_node_name(p, y));
            json_put_number(&j, "speed", isinf(bandwidth) ? unlimited_speed : bandwidth);
            json_write_end_object(&j);
        }
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
    json_write_end_object(&j);
    dropped_count(dropped, memory, "memory", "node");
    dropped_count(dropped, cores, "cores", "node");
    dropped_count(dropped, load, "utilization", "node");
    dropped_count(dropped, down, "being down", "node");
    dropped_count(dropped, late, "latency", "link");
    dropped_count(dropped, endless, "unlimited bandwidth (written as 1e+300)", "link");
    if (platform_limits_ports(p) && dropped)
        strbuf_add(dropped, "the limit of ports\n");
    return true;
}

/* Both words may stand anywhere in the file, so all of it is searched: cheaper than parsing it
 * twice. */
static unsigned saga_holds(const char *text, size_t length)
{
    unsigned workflow = memmem(text, length, "\"task_graph\"", 12) ? HOLDS_WORKFLOW : 0;
    return workflow | (memmem(text, length, "\"network\"", 9) ? HOLDS_PLATFORM : 0);
}

const struct format format_saga = {
    .name = "saga",
    .summary = "SAGA / dagbench JSON: task graph and network",
    .suffixes = ".saga.json",
    .sniff = sniff_saga,
    .read_workflow = saga_read_workflow,
    .read_platform = saga_read_platform,
    .write_workflow = saga_write_workflow,
    .carries = CARRIES_NAMES | CARRIES(work) | CARRIES_SIZES | CARRIES_TITLE,
    .write_platform = write_platform,
    .holds = saga_holds,
};
