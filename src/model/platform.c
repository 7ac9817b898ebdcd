/* The platform: nodes as columns, a network that holds for every pair, and the pairs that differ.
 *
 * Pairs that differ are kept sorted by (lower node, higher node) with offsets by the lower one,
 * so that a look-up is a binary search; up to DENSE_NODES nodes also as a full table of
 * 1/bandwidth and latency, because list planners ask for every pair again and again. The builder
 * checks values as they come and structure at the end, like the workflow's. */
#include "model/platform.h"
#include "base/array.h"
#include "base/plural.h"
#include "model/things.h"

#include <string.h>

/* Past this many nodes a dense table of pairs would not pay: 1,024^2 x 16 bytes is 16 MB. */
enum { DENSE_NODES = 1024, MOST_CORES = 1 << 24, MOST_TOTAL = 1 << 30 };

/* The first error sticks; `cap` is the room of the node columns, which move into the platform as
 * they are. */
struct platform_builder {
    char *file;
    struct error error;
    struct platform *p;
    size_t cap;
    ARRAY(struct platform_link) links;
};

/* Also a half-built one. */
void platform_free(struct platform *p)
{
    if (!p)
        return;
    free(p->node_name);
    free(p->speed);
    free(p->memory);
    free(p->cores);
    free(p->utilization);
    free(p->disk);
    free(p->up);
    free(p->has);
    free(p->resources);
    free(p->node_ports);
    free(p->links);
    free(p->link_off);
    free(p->dense_inverse);
    free(p->dense_latency);
    pool_free(&p->text);
    name_index_free(&p->node_index);
    free(p);
}

const char *memory_rule_name(enum memory_rule rule)
{
    return rule == MEMORY_TASKS ? "tasks" : rule == MEMORY_FILES ? "tasks+files" : NULL;
}

bool memory_rule_parse(const char *text, enum memory_rule *out)
{
    *out = strcmp(text, "tasks") == 0         ? MEMORY_TASKS
           : strcmp(text, "tasks+files") == 0 ? MEMORY_FILES
                                              : MEMORY_UNSTATED;
    return *out != MEMORY_UNSTATED;
}

bool platform_limits_memory(const struct platform *p)
{
    for (uint32_t n = 0; n < p->nnodes; n++)
        if (p->up[n] && isfinite(p->memory[n]))
            return true;
    return false;
}

bool platform_counts_files(const struct platform *p, const struct workflow *w)
{
    if (p->memory_rule == MEMORY_TASKS || !platform_limits_memory(p))
        return false;
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->size[o] > 0)
            return true;
    return false;
}

uint32_t platform_find_node(const struct platform *p, const char *name)
{
    return name_index_find(&p->node_index, &p->text, p->node_name, name, strlen(name));
}

/* The pair's own link, NULL when it is as the network says. O(log links of the lower node). */
static const struct platform_link *find_link(const struct platform *p, uint32_t a, uint32_t b)
{
    if (!p->nlinks)
        return NULL;
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t lo = p->link_off[a], hi = p->link_off[a + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->links[mid].b < b)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->link_off[a + 1] && p->links[lo].b == b ? &p->links[lo] : NULL;
}

void platform_link(const struct platform *p, uint32_t a, uint32_t b, double *bandwidth,
                   double *latency)
{
    const struct platform_link *link = find_link(p, a, b);
    *bandwidth = link ? link->bandwidth : p->bandwidth;
    *latency = link ? link->latency : p->latency;
}

/* Seconds for `bytes` between two different nodes; INFINITY when they cannot talk (bandwidth 0). */
double platform_link_transfer(const struct platform *p, uint32_t a, uint32_t b, double bytes)
{
    if (p->dense_inverse) {
        size_t i = (size_t)a * p->nnodes + b;
        double rate = p->dense_inverse[i];
        return isinf(rate) ? INFINITY : p->dense_latency[i] + bytes * rate;
    }
    double bandwidth, latency;
    platform_link(p, a, b, &bandwidth, &latency);
    return bandwidth == 0 ? INFINITY : latency + bytes / bandwidth;
}

/* Ranks of list planners use the mean over all pairs (HEFT). */
void platform_mean_transfer(const struct platform *p, double *latency, double *seconds_per_byte)
{
    /* The mean of what differs, weighed against the pairs that are as the network says. Pairs that
     * cannot talk are left out: they would make every rank infinite. */
    double pairs = (double)p->nnodes * (p->nnodes - 1.0) / 2, talking = pairs - (double)p->nlinks;
    double lat = talking * p->latency, rate = talking / p->bandwidth;
    for (size_t i = 0; i < p->nlinks; i++)
        if (p->links[i].bandwidth > 0) {
            lat += p->links[i].latency;
            rate += 1 / p->links[i].bandwidth;
            talking++;
        }
    *latency = talking > 0 ? lat / talking : 0;
    *seconds_per_byte = talking > 0 ? rate / talking : 0;
}

static int compare_by_memory(const void *a, const void *b, void *context)
{
    const struct platform *p = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (p->memory[x] != p->memory[y])
        return p->memory[x] > p->memory[y] ? -1 : 1;
    if (p->speed[x] != p->speed[y])
        return p->speed[x] > p->speed[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

void platform_sort_by_memory(const struct platform *p, uint32_t *nodes, size_t count)
{
    qsort_r(nodes, count, sizeof *nodes, compare_by_memory, (void *)(uintptr_t)p);
}

uint64_t platform_total_cores(const struct platform *p)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->nnodes; i++)
        total += p->cores[i];
    return total;
}

#define DIFFERS(...) error_set(why, ERROR_FAILED, __VA_ARGS__)

/* By names, whatever the order of nodes. Ports are compared node by node, since a network's
 * default and the same number at every node mean the same. */
bool platform_equal(const struct platform *a, const struct platform *b, struct error *why)
{
    if (a->nnodes != b->nnodes)
        return DIFFERS("%u node%s and %u", a->nnodes, plural(a->nnodes), b->nnodes);
    if (a->bandwidth != b->bandwidth || a->latency != b->latency ||
        (a->ports != b->ports && !a->node_ports && !b->node_ports))
        return DIFFERS("another network");
    if (a->memory_rule != b->memory_rule)
        return DIFFERS("another rule of what counts in memory");
    for (uint32_t i = 0; i < a->nnodes; i++) {
        const char *name = platform_node_name(a, i);
        uint32_t j = platform_find_node(b, name);
        if (j == NONE)
            return DIFFERS("node '%s' is in one only", name);
        if (a->speed[i] != b->speed[j] || a->memory[i] != b->memory[j] ||
            a->disk[i] != b->disk[j] || a->cores[i] != b->cores[j] ||
            a->utilization[i] != b->utilization[j] ||
            strcmp(platform_has(a, i), platform_has(b, j)) != 0 ||
            strcmp(platform_resources(a, i), platform_resources(b, j)) != 0 ||
            a->up[i] != b->up[j] || platform_ports(a, i) != platform_ports(b, j))
            return DIFFERS("node '%s' differs", name);
    }
    if (a->nlinks != b->nlinks)
        return DIFFERS("%zu links and %zu", a->nlinks, b->nlinks);
    for (size_t i = 0; i < a->nlinks; i++) {
        double bandwidth, latency;
        const char *one = platform_node_name(a, a->links[i].a);
        const char *two = platform_node_name(a, a->links[i].b);
        platform_link(b, platform_find_node(b, one), platform_find_node(b, two), &bandwidth,
                      &latency);
        if (bandwidth != a->links[i].bandwidth || latency != a->links[i].latency)
            return DIFFERS("the link between '%s' and '%s' differs", one, two);
    }
    return true;
}

/* ---- building ---- */

struct platform_builder *platform_builder_new(const char *file)
{
    struct platform_builder *b = mem_new_zero(struct platform_builder, 1);
    b->file = mem_copy_string(file);
    b->p = mem_new_zero(struct platform, 1);
    pool_init(&b->p->text);
    name_index_init(&b->p->node_index);
    b->p->file = pool_add(&b->p->text, file, strlen(file));
    b->p->bandwidth = INFINITY;
    return b;
}

void platform_builder_free(struct platform_builder *b)
{
    if (!b)
        return;
    platform_free(b->p);
    array_free(&b->links);
    free(b->file);
    free(b);
}

bool platform_builder_error(struct platform_builder *b, size_t line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(&b->error, b->file, line, fmt, args);
    va_end(args);
    return false;
}

bool platform_builder_failed(const struct platform_builder *b)
{
    return b->error.kind != ERROR_NONE;
}

void platform_builder_name(struct platform_builder *b, const char *name, size_t len)
{
    b->p->name = pool_add(&b->p->text, name, len);
}

/* Infinite is fine (no limit), negative and NaN are not. */
static bool good_bandwidth(struct platform_builder *b, double value, size_t line)
{
    if (value >= 0 && !isnan(value))
        return true;
    return platform_builder_error(b, line, "bandwidth is %g; expected bytes a second, 0 or more",
                                  value);
}

static bool good_latency(struct platform_builder *b, double value, size_t line)
{
    if (isfinite(value) && value >= 0)
        return true;
    return platform_builder_error(b, line, "latency is %g; expected seconds, 0 or more", value);
}

static bool good_ports(double ports)
{
    return ports >= 0 && ports <= 1e9 && ports == floor(ports);
}

/* NAN: the file says nothing about it, and what was there stays. */
void platform_builder_network(struct platform_builder *b, double bandwidth, double latency,
                              double ports, size_t line)
{
    if (!isnan(bandwidth) && good_bandwidth(b, bandwidth, line)) {
        if (bandwidth == 0)
            platform_builder_error(b, line,
                                   "bandwidth is 0: nothing could ever be sent; leave the key "
                                   "out for a network without limit");
        b->p->bandwidth = bandwidth;
    }
    if (!isnan(latency) && good_latency(b, latency, line))
        b->p->latency = latency;
    if (!isnan(ports)) {
        if (!good_ports(ports))
            platform_builder_error(b, line, "ports is %g; expected a whole number, 0 for no limit",
                                   ports);
        else
            b->p->ports = (uint32_t)ports;
    }
}

/* A new node with the usual values: speed 1, one core, memory without limit, up. Columns grow
 * together, by doubling. */
uint32_t platform_builder_node(struct platform_builder *b, const char *name, size_t len,
                               size_t line)
{
    struct platform *p = b->p;
    if (!len || memchr(name, 0, len)) {
        platform_builder_error(b, line, "a node has an empty name");
        return NONE;
    }
    if (platform_builder_find(b, name, len) != NONE) {
        platform_builder_error(b, line, "node '%.*s' is defined twice", (int)len, name);
        return NONE;
    }
    if (p->nnodes == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 16;
        p->node_name = mem_resize(p->node_name, b->cap);
        p->speed = mem_resize(p->speed, b->cap);
        p->memory = mem_resize(p->memory, b->cap);
        p->disk = mem_resize(p->disk, b->cap);
        p->cores = mem_resize(p->cores, b->cap);
        p->utilization = mem_resize(p->utilization, b->cap);
        p->up = mem_resize(p->up, b->cap);
        if (p->has)
            p->has = mem_resize(p->has, b->cap);
        if (p->resources)
            p->resources = mem_resize(p->resources, b->cap);
        if (p->node_ports)
            p->node_ports = mem_resize(p->node_ports, b->cap);
    }
    uint32_t node = p->nnodes++;
    p->node_name[node] = pool_add(&p->text, name, len);
    p->speed[node] = 1;
    p->memory[node] = INFINITY;
    p->disk[node] = 0;
    p->cores[node] = 1;
    p->utilization[node] = 0;
    p->up[node] = 1;
    if (p->has)
        p->has[node] = 0;
    if (p->resources)
        p->resources[node] = 0;
    if (p->node_ports)
        p->node_ports[node] = NONE;
    name_index_add(&p->node_index, &p->text, p->node_name, node);
    return node;
}

void platform_builder_expect(struct platform_builder *b, uint32_t nodes)
{
    name_index_expect(&b->p->node_index, b->p->nnodes + nodes);
}

uint32_t platform_builder_find(const struct platform_builder *b, const char *name, size_t len)
{
    return name_index_find(&b->p->node_index, &b->p->text, b->p->node_name, name, len);
}

/* The error names the node, the value and the range. */
static bool bad_node(struct platform_builder *b, uint32_t node, const char *what, double value,
                     const char *expected, size_t line)
{
    return platform_builder_error(b, line, "node '%s': %s is %g; expected %s",
                                  platform_node_name(b->p, node), what, value, expected);
}

void platform_builder_speed(struct platform_builder *b, uint32_t node, double speed, size_t line)
{
    if (node >= b->p->nnodes)
        return;
    if (!isfinite(speed) || speed <= 0)
        bad_node(b, node, "speed", speed, "a number above 0", line);
    else
        b->p->speed[node] = speed;
}

/* INFINITY is "no limit", and fine. */
void platform_builder_memory_rule(struct platform_builder *b, enum memory_rule rule)
{
    b->p->memory_rule = rule;
}

void platform_builder_memory(struct platform_builder *b, uint32_t node, double bytes, size_t line)
{
    if (node >= b->p->nnodes)
        return;
    if (isnan(bytes) || bytes < 0)
        bad_node(b, node, "memory", bytes, "bytes, 0 or more", line);
    else
        b->p->memory[node] = bytes;
}

void platform_builder_disk(struct platform_builder *b, uint32_t node, double bandwidth, size_t line)
{
    if (node >= b->p->nnodes)
        return;
    if (isnan(bandwidth) || bandwidth < 0)
        bad_node(b, node, "disk", bandwidth, "bytes a second, 0 for none", line);
    else
        b->p->disk[node] = bandwidth;
}

void platform_builder_cores(struct platform_builder *b, uint32_t node, double cores, size_t line)
{
    if (node >= b->p->nnodes)
        return;
    if (!(cores >= 1 && cores <= MOST_CORES && cores == floor(cores)))
        bad_node(b, node, "cores", cores, "a whole number, 1 or more", line);
    else
        b->p->cores[node] = (uint32_t)cores;
}

void platform_builder_utilization(struct platform_builder *b, uint32_t node, double load,
                                  size_t line)
{
    if (node >= b->p->nnodes)
        return;
    if (!(load >= 0 && load <= 1))
        bad_node(b, node, "utilization", load, "a fraction from 0 to 1", line);
    else
        b->p->utilization[node] = load;
}

/* The column exists from the first node that states ports; NONE marks those that say nothing. */
void platform_builder_ports(struct platform_builder *b, uint32_t node, double ports, size_t line)
{
    struct platform *p = b->p;
    if (node >= p->nnodes || isnan(ports))
        return;
    if (!good_ports(ports)) {
        bad_node(b, node, "ports", ports, "a whole number, 0 for no limit", line);
        return;
    }
    if (!p->node_ports) {
        p->node_ports = mem_new(uint32_t, b->cap);
        for (uint32_t i = 0; i < p->nnodes; i++)
            p->node_ports[i] = NONE;
    }
    p->node_ports[node] = (uint32_t)ports;
}

/* Likewise from the first node that has any. */
void platform_builder_has(struct platform_builder *b, uint32_t node, const char *list, size_t len)
{
    struct platform *p = b->p;
    if (node >= p->nnodes || !len)
        return;
    if (!p->has)
        p->has = mem_new_zero(str_id, b->cap);
    p->has[node] = pool_add(&p->text, list, len);
}

/* Checked and brought into the one form here, whoever calls. */
void platform_builder_resources(struct platform_builder *b, uint32_t node, const char *list,
                                size_t len, size_t line)
{
    struct platform *p = b->p;
    if (node >= p->nnodes || !len)
        return;
    struct thing_list things;
    struct error err = {0};
    struct strbuf text = {0};
    char *copy = mem_copy_bytes(list, len);
    if (!thing_list_read(copy, &things, &err))
        platform_builder_error(b, line, "node '%s': resources: %s", platform_node_name(p, node),
                               err.text);
    thing_list_text(&things, &text);
    if (!p->resources)
        p->resources = mem_new_zero(str_id, b->cap);
    p->resources[node] = text.n ? pool_add(&p->text, text.at, text.n) : 0;
    thing_list_free(&things);
    strbuf_free(&text);
    free(copy);
}

void platform_builder_down(struct platform_builder *b, uint32_t node)
{
    if (node < b->p->nnodes)
        b->p->up[node] = 0;
}

/* NAN: as the network says, which may come later in the file; finish_links() fills it in. */
void platform_builder_link(struct platform_builder *b, uint32_t a, uint32_t c, double bandwidth,
                           double latency, size_t line)
{
    if (a >= b->p->nnodes || c >= b->p->nnodes)
        return;
    if (a == c) {
        platform_builder_error(b, line, "a link joins node '%s' with itself",
                               platform_node_name(b->p, a));
        return;
    }
    if ((!isnan(bandwidth) && !good_bandwidth(b, bandwidth, line)) ||
        (!isnan(latency) && !good_latency(b, latency, line)))
        return;
    array_push(&b->links, (struct platform_link){a < c ? a : c, a < c ? c : a, bandwidth, latency});
}

static int platform_compare_links(const void *a, const void *b)
{
    const struct platform_link *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Sorted by pair, repeats refused, then offsets by the lower node and, for small platforms, the
 * dense table. */
static void finish_links(struct platform_builder *b)
{
    struct platform *p = b->p;
    /* NAN stands for the network's own value, which may have come after the link in the file. */
    for (size_t i = 0; i < b->links.n; i++) {
        struct platform_link *l = &b->links.at[i];
        if (isnan(l->bandwidth))
            l->bandwidth = p->bandwidth;
        if (isnan(l->latency))
            l->latency = p->latency;
    }
    if (!b->links.n)
        return;
    qsort(b->links.at, b->links.n, sizeof *b->links.at, platform_compare_links);
    for (size_t i = 1; i < b->links.n; i++) {
        const struct platform_link *x = &b->links.at[i - 1], *y = &b->links.at[i];
        if (x->a == y->a && x->b == y->b) {
            platform_builder_error(b, 0, "the link between '%s' and '%s' is there twice",
                                   platform_node_name(p, x->a), platform_node_name(p, x->b));
            return;
        }
    }
    p->nlinks = b->links.n;
    array_fit(&b->links);
    p->links = b->links.at;
    b->links.at = NULL;
    p->link_off = mem_new_zero(uint32_t, (size_t)p->nnodes + 1);
    for (size_t i = 0; i < p->nlinks; i++)
        p->link_off[p->links[i].a + 1]++;
    for (uint32_t i = 0; i < p->nnodes; i++)
        p->link_off[i + 1] += p->link_off[i];
    if (p->nnodes > DENSE_NODES)
        return;
    size_t n = p->nnodes;
    p->dense_inverse = mem_new(double, n *n);
    p->dense_latency = mem_new(double, n *n);
    for (size_t i = 0; i < n * n; i++) {
        p->dense_inverse[i] = 1 / p->bandwidth;
        p->dense_latency[i] = p->latency;
    }
    for (size_t i = 0; i < p->nlinks; i++) {
        const struct platform_link *l = &p->links[i];
        size_t both[2] = {l->a * n + l->b, l->b * n + l->a};
        for (int k = 0; k < 2; k++) {
            p->dense_inverse[both[k]] = 1 / l->bandwidth;
            p->dense_latency[both[k]] = l->latency;
        }
    }
}

/* Nodes that said nothing are as the network, which may have come later in the file. Where all are
 * alike, the network says it all. */
static void finish_ports(struct platform *p)
{
    bool alike = true;
    if (!p->node_ports)
        return;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        if (p->node_ports[i] == NONE)
            p->node_ports[i] = p->ports;
        alike &= p->node_ports[i] == p->node_ports[0];
    }
    if (alike) {
        p->ports = p->node_ports[0];
        free(p->node_ports);
        p->node_ports = NULL;
    }
}

/* A platform without nodes could run nothing; one of a billion cores could not be planned for. */
struct platform *platform_builder_finish(struct platform_builder *b, struct error *err)
{
    struct platform *p = NULL;
    if (!platform_builder_failed(b) && !b->p->nnodes)
        platform_builder_error(b, 0, "the platform has no nodes");
    if (!platform_builder_failed(b) && platform_total_cores(b->p) > MOST_TOTAL)
        platform_builder_error(b, 0, "the platform has %llu core%s; at most %d can be planned for",
                               (unsigned long long)platform_total_cores(b->p),
                               plural((unsigned long long)platform_total_cores(b->p)), MOST_TOTAL);
    if (!platform_builder_failed(b)) {
        finish_links(b);
        finish_ports(b->p);
    }
    if (platform_builder_failed(b)) {
        error_set(err, b->error.kind, "%s", b->error.text);
    } else {
        p = b->p;
        b->p = NULL;
    }
    platform_builder_free(b);
    return p;
}
