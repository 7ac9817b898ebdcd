/* A platform: nodes and a network. Time on a node = work / speed. A transfer takes latency + size /
 * bandwidth, nothing on one node. Fields are read-only outside platform.c. */
#pragma once
#include "base/error.h"
#include "base/pool.h"
#include "model/workflow.h"
#include <math.h>
#include <stdint.h>

/* What counts in the memory of a node: the tasks that run there, or also the files that wait there
 * (model/residence.h). */
enum memory_rule { MEMORY_UNSTATED, MEMORY_TASKS, MEMORY_FILES };
const char *memory_rule_name(enum memory_rule rule); /* "tasks", "tasks+files"; NULL: unstated */
bool memory_rule_parse(const char *text, enum memory_rule *out); /* false: neither */

struct platform_link {
    uint32_t a, b;    /* a < b */
    double bandwidth; /* bytes a second; 0: cannot talk */
    double latency;
};

struct platform {
    struct pool text;
    str_id name, file;

    uint32_t nnodes;
    str_id *node_name;
    double *speed;
    double *memory; /* bytes; INFINITY: no limit */
    double *
        disk; /* bytes a second to and from a disk for files that memory has no room for; 0: none */
    uint32_t *cores;
    double *utilization; /* load by others, 0..1 */
    uint8_t *up;
    str_id *has;          /* attributes, "avx512,ssd" (model/capacity.h); NULL: no node has any */
    str_id *resources;    /* things that tasks may hold (model/things.h); NULL: no node has any */
    uint32_t *node_ports; /* 0: no limit; NULL: all as the network says, see platform_ports() */

    enum memory_rule memory_rule; /* unstated: files count where objects have sizes */

    double bandwidth; /* INFINITY when the file gives none */
    double latency;
    uint32_t ports; /* partners at once per node, sending and receiving together; 0: no limit */

    /* Pairs that differ, sorted by (a, b). Up to 1,024 nodes also as a dense table. */
    struct platform_link *links;
    size_t nlinks;
    uint32_t *link_off;    /* nnodes + 1, by a; NULL when nlinks is 0 */
    double *dense_inverse; /* nnodes x nnodes seconds a byte, or NULL */
    double *dense_latency;

    struct name_index node_index;
};

void platform_free(struct platform *p); /* NULL is fine */

static inline const char *platform_node_name(const struct platform *p, uint32_t node)
{
    return pool_text(&p->text, p->node_name[node]);
}
uint32_t platform_find_node(const struct platform *p, const char *name); /* NONE: no such node */
/* "" of a node without any. */
static inline const char *platform_has(const struct platform *p, uint32_t node)
{
    return p->has ? pool_text(&p->text, p->has[node]) : "";
}
/* "gpu=[0,1],licence=4"; "" of a node without any. */
static inline const char *platform_resources(const struct platform *p, uint32_t node)
{
    return p->resources ? pool_text(&p->text, p->resources[node]) : "";
}

/* Partners that a node can talk to at once; 0: no limit. */
static inline uint32_t platform_ports(const struct platform *p, uint32_t node)
{
    return p->node_ports ? p->node_ports[node] : p->ports;
}
/* Has any node a limit? (Nodes of their own, all without one, are as the network: node_ports is
 * then NULL.) */
static inline bool platform_limits_ports(const struct platform *p)
{
    return p->ports || p->node_ports;
}

/* Do plans for this pair count files? Where nothing has a size or no node a limit, none can. */
bool platform_counts_files(const struct platform *p, const struct workflow *w);
bool platform_limits_memory(const struct platform *p); /* has a node that is up a limit? */

/* All pairs alike? Then platform->bandwidth and ->latency say it all. */
static inline bool platform_is_uniform(const struct platform *p)
{
    return p->nlinks == 0;
}
void platform_link(const struct platform *p, uint32_t a, uint32_t b, double *bandwidth,
                   double *latency);
double platform_link_transfer(const struct platform *p, uint32_t a, uint32_t b,
                              double bytes); /* pairs that differ */
/* Seconds for `bytes` from a to b; INFINITY when they cannot talk. */
static inline double platform_transfer(const struct platform *p, uint32_t a, uint32_t b,
                                       double bytes)
{
    if (a == b)
        return 0;
    if (p->nlinks)
        return platform_link_transfer(p, a, b, bytes);
    return p->latency + bytes / p->bandwidth;
}
/* Mean over all ordered pairs of different nodes, as the list planners rank with: mean latency and
 * mean seconds a byte. */
void platform_mean_transfer(const struct platform *p, double *latency, double *seconds_per_byte);
/* The nodes of a list by memory, then speed, both falling, then index. */
void platform_sort_by_memory(const struct platform *p, uint32_t *nodes, size_t count);
uint64_t platform_total_cores(const struct platform *p);
bool platform_equal(const struct platform *a, const struct platform *b, struct error *why);

/* ---- building: the same sticky-error rule as the workflow's builder ---- */
struct platform_builder;

struct platform_builder *platform_builder_new(const char *file);
void platform_builder_free(struct platform_builder *b);
bool platform_builder_error(struct platform_builder *b, size_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool platform_builder_failed(const struct platform_builder *b);
void platform_builder_name(struct platform_builder *b, const char *name, size_t len);
void platform_builder_memory_rule(struct platform_builder *b, enum memory_rule rule);
/* NAN leaves the default: unlimited bandwidth, no latency, no port limit. */
void platform_builder_network(struct platform_builder *b, double bandwidth, double latency,
                              double ports, size_t line);
/* A node with speed 1, unlimited memory, 1 core, not loaded, up. Duplicate names are an error. */
uint32_t platform_builder_node(struct platform_builder *b, const char *name, size_t len,
                               size_t line);
void platform_builder_speed(struct platform_builder *b, uint32_t node, double speed, size_t line);
void platform_builder_memory(struct platform_builder *b, uint32_t node, double bytes, size_t line);
/* Files may be written out and read again at so many bytes a second. */
void platform_builder_disk(struct platform_builder *b, uint32_t node, double bandwidth,
                           size_t line);
void platform_builder_cores(struct platform_builder *b, uint32_t node, double cores, size_t line);
void platform_builder_utilization(struct platform_builder *b, uint32_t node, double load,
                                  size_t line);
/* Ports of its own; 0: no limit, NAN: as the network says. */
void platform_builder_ports(struct platform_builder *b, uint32_t node, double ports, size_t line);
/* Attributes that tasks may need, at commas: "avx512,ssd". */
void platform_builder_has(struct platform_builder *b, uint32_t node, const char *list, size_t len);
/* Things that tasks may hold, as thing_list_text() writes them. */
void platform_builder_resources(struct platform_builder *b, uint32_t node, const char *list,
                                size_t len, size_t line);
void platform_builder_down(struct platform_builder *b, uint32_t node);
/* So many more nodes will come: room for their names at once. */
void platform_builder_expect(struct platform_builder *b, uint32_t nodes);
uint32_t platform_builder_find(const struct platform_builder *b, const char *name, size_t len);
/* NAN: the network's own value. */
void platform_builder_link(struct platform_builder *b, uint32_t a, uint32_t c, double bandwidth,
                           double latency, size_t line);
struct platform *platform_builder_finish(struct platform_builder *b, struct error *err);
