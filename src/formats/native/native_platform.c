/* Native platforms, read and written.
 *
 *     weft: 1
 *     name: small
 *     network: {bandwidth: 125M, latency: 1ms, ports: 4}     disk, memory: bandwidth is the least of all three
 *     memory: tasks+files
 *     nodes:
 *       - {name: fat, count: 9, speed: 0.5, memory: 3G, cores: 8}    fat1 ... fat9
 *       - {name: login, up: false}
 *     links:
 *       - {between: [fat1, fat2], bandwidth: 1G} */
#include "base/array.h"
#include "base/suggest.h"
#include "formats/dropped.h"
#include "formats/native/native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_NODES = 1 << 24
}; /* `count` comes from a file: a slip of the finger must not fill the memory */

/* A platform file being read; `nodes` counts them with their counts expanded. */
struct platform_reading {
    struct native file;
    struct platform_builder *b;
    size_t nodes;
    double data; /* bytes a second of where data lies, disk or memory: no transfer is quicker */
};

/* What disk or memory give: the least of them counts. */
static bool platform_read_data(struct platform_reading *r, yaml_ref v, const char *key)
{
    double rate;
    if (!native_bytes_or_unlimited(&r->file, v, key, &rate))
        return false;
    if (!(rate > 0))
        return native_error(&r->file, v,
                            "%s of the network is 0: nothing could ever be sent; leave the key out "
                            "where it limits nothing",
                            key);
    r->data = fmin(r->data, rate);
    return true;
}

/* NAN: the key is absent, and the builder keeps its own value. */
static bool platform_read_network(struct platform_reading *r, yaml_ref network)
{
    static const char *const keys[] = {"bandwidth", "latency", "ports", "disk", "memory", NULL};
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, network))
        return true;
    if (!native_is_mapping(&r->file, network, "network"))
        return false;
    double value[3] = {NAN, NAN, NAN};
    for (yaml_ref k = yaml_first(y, network); k != YAML_NONE; k = yaml_next(y, network, k)) {
        yaml_ref v = yaml_value(k);
        int key = native_key(&r->file, k, keys);
        if (key < 0 ||
            (key == 0 && !native_bytes_or_unlimited(&r->file, v, keys[key], &value[0])) ||
            (key == 1 && !native_seconds(&r->file, v, keys[key], &value[1])) ||
            (key == 2 && !native_number(&r->file, v, keys[key], &value[2])) ||
            (key >= 3 && !platform_read_data(r, v, keys[key])))
            return false;
    }
    if (isfinite(r->data))
        value[0] = fmin(value[0], r->data); /* of NAN and a number it is the number */
    platform_builder_network(r->b, value[0], value[1], value[2], yaml_line(y, network));
    return true;
}

enum {
    NODE_NAME,
    NODE_COUNT,
    NODE_SPEED,
    NODE_MEMORY,
    NODE_CORES,
    NODE_UTILIZATION,
    NODE_UP,
    NODE_PORTS,
    NODE_HAS,
    NODE_RESOURCES,
    NODE_DISK
};
static const char *const node_keys[] = {"name",  "count",       "speed", "memory",
                                        "cores", "utilization", "up",    "ports",
                                        "has",   "resources",   "disk",  NULL};

/* One entry of `nodes`, which may stand for many nodes. */
struct node_values {
    const char *name;
    size_t length, line;
    double count, speed, memory, cores, utilization, ports, disk;
    bool up;
    struct strbuf has, resources;
};

/* Ranges are the builder's to check, but for `count`, which decides how often it is called. */
static bool read_node_values(struct platform_reading *r, yaml_ref node, struct node_values *out)
{
    const struct native *f = &r->file;
    const struct yaml *y = &f->y;
    *out = (struct node_values){.line = yaml_line(y, node),
                                .count = NAN,
                                .speed = 1,
                                .memory = INFINITY,
                                .cores = 1,
                                .ports = NAN,
                                .up = true};
    for (yaml_ref k = yaml_first(y, node); k != YAML_NONE; k = yaml_next(y, node, k)) {
        yaml_ref v = yaml_value(k);
        int key = native_key(f, k, node_keys);
        bool good = key >= 0;
        switch (key) {
        case NODE_NAME:
            good = native_text(f, v, "name", &out->name, &out->length);
            break;
        case NODE_COUNT:
            good = native_number(f, v, "count", &out->count);
            if (good &&
                (out->count < 1 || out->count > MOST_NODES || out->count != floor(out->count)))
                good = native_error(f, v, "count is %.15g; expected a whole number from 1 to %d",
                                    out->count, MOST_NODES);
            break;
        case NODE_SPEED:
            good = native_number(f, v, "speed", &out->speed);
            break;
        case NODE_MEMORY:
            good = native_bytes_or_unlimited(f, v, "memory", &out->memory);
            break;
        case NODE_DISK:
            good = native_bytes_or_unlimited(f, v, "disk", &out->disk);
            break;
        case NODE_CORES:
            good = native_number(f, v, "cores", &out->cores);
            break;
        case NODE_UTILIZATION:
            good = native_number(f, v, "utilization", &out->utilization);
            break;
        case NODE_PORTS:
            good = native_number(f, v, "ports", &out->ports);
            break;
        case NODE_UP:
            good = native_bool(f, v, "up", &out->up);
            break;
        case NODE_HAS:
            good = native_words(f, v, "has", &out->has);
            break;
        case NODE_RESOURCES:
            good = native_things(f, v, &out->resources);
            break;
        default:
            break;
        }
        if (!good)
            return false;
    }
    return out->name ? true : native_error(f, node, "a node has no name");
}

/* With `count` the names are numbered from 1, also for a count of 1: then a file can grow without
 * renaming. */
static bool platform_read_node(struct platform_reading *r, yaml_ref node)
{
    const struct yaml *y = &r->file.y;
    struct node_values v;
    if (!native_is_mapping(&r->file, node, "a node"))
        return false;
    yaml_ref name = yaml_get(y, node, "name");
    if (name != YAML_NONE)
        snprintf(r->file.where, sizeof r->file.where, "node '%.120s'", yaml_text(y, name, NULL));
    if (!read_node_values(r, node, &v)) {
        strbuf_free(&v.has);
        strbuf_free(&v.resources);
        return false;
    }
    /* the total is bounded as well as each count */
    size_t count = isnan(v.count) ? 1 : (size_t)v.count;
    r->nodes += count;
    if (r->nodes > MOST_NODES)
        return native_error(&r->file, node, "more than %d nodes in all", MOST_NODES);
    struct strbuf text = {0};
    platform_builder_expect(r->b, (uint32_t)count);
    for (size_t i = 1; i <= count && !platform_builder_failed(r->b); i++) {
        char digits[20],
            *digit = digits + sizeof digits; /* printf takes longer than all the rest */
        for (size_t left = isnan(v.count) ? 0 : i; left; left /= 10)
            *--digit = (char)('0' + left % 10);
        strbuf_clear(&text);
        strbuf_add_bytes(&text, v.name, v.length);
        strbuf_add_bytes(&text, digit, (size_t)(digits + sizeof digits - digit));
        uint32_t n = platform_builder_node(r->b, text.at, text.n, v.line);
        platform_builder_speed(r->b, n, v.speed, v.line);
        platform_builder_memory(r->b, n, v.memory, v.line);
        platform_builder_disk(r->b, n, v.disk, v.line);
        platform_builder_cores(r->b, n, v.cores, v.line);
        platform_builder_utilization(r->b, n, v.utilization, v.line);
        platform_builder_ports(r->b, n, v.ports, v.line);
        platform_builder_has(r->b, n, v.has.at, v.has.n);
        platform_builder_resources(r->b, n, v.resources.at, v.resources.n, v.line);
        if (!v.up)
            platform_builder_down(r->b, n);
    }
    strbuf_free(&text);
    strbuf_free(&v.has);
    strbuf_free(&v.resources);
    r->file.where[0] = 0;
    return true;
}

/* After the builder's first error reading stops and counts as good: the builder has the message. */
static bool read_nodes(struct platform_reading *r, yaml_ref nodes)
{
    const struct yaml *y = &r->file.y;
    char found[80];
    if (yaml_type(y, nodes) != YAML_SEQUENCE)
        return native_error(&r->file, nodes,
                            "nodes is %s; expected a list of { name: ..., speed: ... }",
                            yaml_found(y, nodes, found, sizeof found));
    for (yaml_ref e = yaml_first(y, nodes); e != YAML_NONE; e = yaml_next(y, nodes, e))
        if (platform_builder_failed(r->b) || !platform_read_node(r, e))
            return platform_builder_failed(r->b);
    return true;
}

/* The nodes of the file by their names with counts expanded, for a suggestion. */
static bool platform_unknown_node(struct platform_reading *r, yaml_ref at, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref nodes = yaml_get(y, 0, "nodes");
    ARRAY(char *) names = {0};
    for (yaml_ref e = yaml_first(y, nodes); e != YAML_NONE && names.n < 100000;
         e = yaml_next(y, nodes, e)) {
        yaml_ref base = yaml_get(y, e, "name"), count = yaml_get(y, e, "count");
        double n = 1;
        if (count != YAML_NONE)
            native_number(&r->file, count, "count", &n);
        for (size_t i = 1; i <= (size_t)n && names.n < 100000; i++) {
            struct strbuf text = {0};
            strbuf_add(&text, yaml_text(y, base, NULL));
            if (count != YAML_NONE)
                strbuf_printf(&text, "%zu", i);
            array_push(&names, strbuf_steal(&text));
        }
    }
    const char *near = suggest_nearest(name, (const char *const *)names.at, names.n);
    if (near)
        native_error(&r->file, at, "there is no node '%.80s'; did you mean '%s'?", name, near);
    else
        native_error(&r->file, at, "there is no node '%.80s'", name);
    for (size_t i = 0; i < names.n; i++)
        free(names.at[i]);
    array_free(&names);
    return false;
}

/* Links name nodes after counts are expanded: fat1, not fat. */
static bool read_ends(struct platform_reading *r, yaml_ref between, uint32_t end[2])
{
    const struct yaml *y = &r->file.y;
    char found[80];
    if (yaml_type(y, between) != YAML_SEQUENCE)
        return native_error(&r->file, between, "between is %s; expected a list of two nodes",
                            yaml_found(y, between, found, sizeof found));
    if (yaml_size(y, between) != 2)
        return native_error(&r->file, between, "between has %u entries; expected two nodes",
                            yaml_size(y, between));
    yaml_ref e = yaml_first(y, between);
    for (int i = 0; i < 2; i++, e = yaml_next(y, between, e)) {
        const char *name;
        size_t length;
        if (!native_text(&r->file, e, "an entry of between", &name, &length))
            return false;
        end[i] = platform_builder_find(r->b, name, length);
        if (end[i] == NONE)
            return platform_unknown_node(r, e, name);
    }
    return true;
}

/* bandwidth 0 is allowed here, and only here: these two cannot talk. */
static bool read_link(struct platform_reading *r, yaml_ref link)
{
    static const char *const keys[] = {"between", "bandwidth", "latency", NULL};
    const struct yaml *y = &r->file.y;
    uint32_t end[2] = {NONE, NONE};
    double bandwidth = NAN, latency = NAN;
    if (!native_is_mapping(&r->file, link, "a link"))
        return false;
    for (yaml_ref k = yaml_first(y, link); k != YAML_NONE; k = yaml_next(y, link, k)) {
        yaml_ref v = yaml_value(k);
        int key = native_key(&r->file, k, keys);
        if (key < 0 || (key == 0 && !read_ends(r, v, end)) ||
            (key == 1 && !native_bytes_or_unlimited(&r->file, v, "bandwidth", &bandwidth)) ||
            (key == 2 && !native_seconds(&r->file, v, "latency", &latency)))
            return false;
    }
    if (end[0] == NONE)
        return native_error(&r->file, link,
                            "a link has no 'between'; expected between: [node, node]");
    if (!isnan(bandwidth))
        bandwidth = fmin(bandwidth, r->data);
    platform_builder_link(r->b, end[0], end[1], bandwidth, latency, yaml_line(y, link));
    return true;
}

static bool platform_read_links(struct platform_reading *r, yaml_ref links)
{
    const struct yaml *y = &r->file.y;
    char found[80];
    if (links == YAML_NONE || yaml_is_null(y, links))
        return true;
    if (yaml_type(y, links) != YAML_SEQUENCE)
        return native_error(&r->file, links,
                            "links is %s; expected a list of { between: [a, b], bandwidth: ... }",
                            yaml_found(y, links, found, sizeof found));
    for (yaml_ref e = yaml_first(y, links); e != YAML_NONE; e = yaml_next(y, links, e))
        if (!read_link(r, e))
            return false;
    return true;
}

/* What counts in the nodes' memory. */
static bool platform_read_memory(struct platform_reading *r, yaml_ref value)
{
    const char *text;
    size_t length;
    enum memory_rule rule;
    if (!native_text(&r->file, value, "memory", &text, &length))
        return false;
    if (!memory_rule_parse(text, &rule))
        return native_error(&r->file, value,
                            "memory is '%.80s'; expected tasks (only what runs counts) or "
                            "tasks+files (files that wait count, too)",
                            text);
    platform_builder_memory_rule(r->b, rule);
    return true;
}

/* Nodes before links, wherever they stand in the file. */
static bool platform_read_file(struct platform_reading *r)
{
    static const char *const keys[] = {"weft", "name", "network", "nodes", "links", "memory", NULL};
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    for (yaml_ref k = yaml_first(y, 0); k != YAML_NONE; k = yaml_next(y, 0, k)) {
        yaml_ref v = yaml_value(k);
        int key = native_key(&r->file, k, keys);
        if (key < 0 || (key == 1 && !native_text(&r->file, v, "name", &text, &length)) ||
            (key == 2 && !platform_read_network(r, v)) || (key == 5 && !platform_read_memory(r, v)))
            return false;
        if (key == 1)
            platform_builder_name(r->b, text, length);
    }
    return read_nodes(r, yaml_get(y, 0, "nodes")) &&
           (platform_builder_failed(r->b) || platform_read_links(r, yaml_get(y, 0, "links")));
}

struct platform *native_read_platform(const struct format_source *source, struct error *err)
{
    struct platform_reading r = {.data = INFINITY};
    if (source->options && source->options->name) {
        error_at(err, source->path, 0, "a platform has no parameters and no lists; leave out -p");
        return NULL;
    }
    if (!native_open(&r.file, source, "nodes", err))
        return NULL;
    r.b = platform_builder_new(source->path);
    bool good = platform_read_file(&r);
    native_close(&r.file);
    if (good)
        return platform_builder_finish(r.b, err);
    platform_builder_free(r.b);
    return NULL;
}

/* ---- writing ---- */

/* Equal but for their names. */
static bool platform_nodes_alike(const struct platform *p, uint32_t a, uint32_t b)
{
    return p->speed[a] == p->speed[b] && p->memory[a] == p->memory[b] && p->disk[a] == p->disk[b] &&
           p->cores[a] == p->cores[b] && p->utilization[a] == p->utilization[b] &&
           p->up[a] == p->up[b] && platform_ports(p, a) == platform_ports(p, b) &&
           strcmp(platform_has(p, a), platform_has(p, b)) == 0 &&
           strcmp(platform_resources(p, a), platform_resources(p, b)) == 0;
}

/* How many nodes from `first` on are equal and named base1, base2, ...; 1: it stands alone. */
static uint32_t run_length(const struct platform *p, uint32_t first)
{
    const char *name = platform_node_name(p, first);
    size_t base = strlen(name);
    if (base < 2 || name[base - 1] != '1')
        return 1;
    base--;
    uint32_t n = 1;
    for (; first + n < p->nnodes && platform_nodes_alike(p, first, first + n); n++) {
        const char *next = platform_node_name(p, first + n);
        char number[16];
        snprintf(number, sizeof number, "%u", n + 1);
        if (strncmp(next, name, base) != 0 || strcmp(next + base, number) != 0)
            break;
    }
    return n;
}

static void platform_put_number(struct strbuf *out, const char *key, double value)
{
    strbuf_printf(out, ", %s: ", key);
    strbuf_add_number(out, value);
}

/* Runs of equal, numbered nodes become one entry with a count. Returns texts that were not UTF-8.
 */
static size_t platform_write_nodes(const struct platform *p, struct strbuf *out)
{
    size_t broken = 0;
    uint32_t count;
    for (uint32_t i = 0; i < p->nnodes; i += count) {
        count = run_length(p, i);
        char *name = mem_copy_string(platform_node_name(p, i));
        if (count > 1)
            name[strlen(name) - 1] = 0;
        strbuf_add(out, "  - {name: ");
        broken += !yaml_write_string(out, name, YAML_IN_FLOW);
        free(name);
        if (count > 1)
            strbuf_printf(out, ", count: %u", count);
        platform_put_number(out, "speed", p->speed[i]);
        if (isfinite(p->memory[i]))
            platform_put_number(out, "memory", p->memory[i]);
        if (isinf(p->disk[i]))
            strbuf_add(out, ", disk: unlimited");
        else if (p->disk[i] > 0)
            platform_put_number(out, "disk", p->disk[i]);
        if (p->cores[i] != 1)
            platform_put_number(out, "cores", p->cores[i]);
        if (p->utilization[i] != 0)
            platform_put_number(out, "utilization", p->utilization[i]);
        if (platform_ports(p, i) != p->ports)
            platform_put_number(out, "ports", platform_ports(p, i));
        if (*platform_has(p, i))
            strbuf_printf(out, ", has: [%s]", platform_has(p, i));
        if (*platform_resources(p, i))
            native_write_things(platform_resources(p, i), out);
        strbuf_add(out, p->up[i] ? "}\n" : ", up: false}\n");
    }
    return broken;
}

static void write_network(const struct platform *p, struct strbuf *out)
{
    if (!isfinite(p->bandwidth) && p->latency == 0 && !p->ports)
        return;
    strbuf_add(out, "network: {latency: ");
    strbuf_add_number(out, p->latency);
    if (isfinite(p->bandwidth))
        platform_put_number(out, "bandwidth", p->bandwidth);
    if (p->ports)
        platform_put_number(out, "ports", p->ports);
    strbuf_add(out, "}\n");
}

static size_t write_links(const struct platform *p, struct strbuf *out)
{
    size_t broken = 0;
    if (p->nlinks)
        strbuf_add(out, "links:\n");
    for (size_t i = 0; i < p->nlinks; i++) {
        const struct platform_link *l = &p->links[i];
        strbuf_add(out, "  - {between: [");
        broken += !yaml_write_string(out, platform_node_name(p, l->a), YAML_IN_FLOW);
        strbuf_add(out, ", ");
        broken += !yaml_write_string(out, platform_node_name(p, l->b), YAML_IN_FLOW);
        strbuf_add_char(out, ']');
        if (isfinite(l->bandwidth))
            platform_put_number(out, "bandwidth", l->bandwidth);
        else
            strbuf_add(out, ", bandwidth: unlimited");
        platform_put_number(out, "latency", l->latency);
        strbuf_add(out, "}\n");
    }
    return broken;
}

bool native_write_platform(const struct platform *p, struct strbuf *out, struct strbuf *dropped,
                           struct error *err)
{
    (void)err;
    size_t broken = 0;
    strbuf_add(out, "weft: 1\n");
    if (*pool_text(&p->text, p->name)) {
        strbuf_add(out, "name: ");
        broken += !yaml_write_string(out, pool_text(&p->text, p->name), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    write_network(p, out);
    if (p->memory_rule != MEMORY_UNSTATED)
        strbuf_printf(out, "memory: %s\n", memory_rule_name(p->memory_rule));
    strbuf_add(out, "nodes:\n");
    broken += platform_write_nodes(p, out);
    broken += write_links(p, out);
    dropped_count(dropped, broken, "bytes that are not UTF-8", "text");
    return true;
}
