/* libweft: platforms. Nodes with cores, speed and memory, and the network between them.
 *
 * A task of work w takes w / speed seconds on a node; a transfer takes latency + bytes / bandwidth,
 * nothing within a node. Frozen when made: any number of threads may read one. Nodes are numbers
 * from 0. Part of <weft/weft.h>. */
#ifndef WEFT_PLATFORM_H
#define WEFT_PLATFORM_H
#include "weft/common.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_platform;

/* ---- building ---- */

struct weft_node {
    size_t size;
    const char *name;
    double speed;       /* 1: the reference of weft_platform_measure() */
    double memory;      /* bytes; INFINITY: no limit */
    double utilization; /* by others, 0..1 */
    uint32_t cores;
    uint32_t ports; /* partners at once; 0: no limit, WEFT_NONE: as the network says */
    bool down;
};
/* `name` is the node's name. Speed 1, one core, no limits. <math.h> has INFINITY. */
#define WEFT_NODE_INIT(name)                                                                       \
    {                                                                                              \
        sizeof(struct weft_node), name, 1, INFINITY, 0, 1, WEFT_NONE, false                        \
    }

struct weft_link {
    uint32_t a, b;             /* nodes */
    double bandwidth, latency; /* bytes a second, seconds; NAN: the network's own */
};

struct weft_network {
    size_t size;
    double bandwidth, latency;     /* between any two nodes; NAN: no limit, none */
    uint32_t ports;                /* partners of a node at once; 0: no limit */
    const struct weft_link *links; /* pairs that differ */
    size_t nlinks;
    /* what counts in the memory of nodes: "tasks", or "tasks+files"; NULL: files where objects have sizes */
    const char *memory;
};
#define WEFT_NETWORK_INIT                                                                          \
    {                                                                                              \
        sizeof(struct weft_network), NAN, NAN, 0, NULL, 0, NULL                                    \
    }

/* `n` nodes. `network` may be NULL: unlimited. */
struct weft_platform *weft_platform_build(const char *name, const struct weft_node *nodes, size_t n,
                                          const struct weft_network *network,
                                          struct weft_error *error);

/* ---- reading, writing, measuring ---- */

struct weft_platform *weft_platform_read(const char *path, const struct weft_read_options *options,
                                         struct weft_error *error);
struct weft_platform *weft_platform_read_text(const char *text, size_t n, const char *name,
                                              const struct weft_read_options *options,
                                              struct weft_error *error);
/* What --on of the command takes: a file, a number of equal nodes ("16"), a generator with options
 * ("homogeneous:n=8,bandwidth=1e6"), or "this-machine". NULL: this machine, as measured and saved,
 * else its cores and memory at speed 1. */
struct weft_platform *weft_platform_named(const char *spec, struct weft_error *error);
struct weft_platform *weft_platform_generate(const char *generator, const char *const *options,
                                             uint64_t seed, struct weft_error *error);

struct weft_measure_options {
    size_t size;
    const char *folder; /* whose disk is measured; NULL: the current one */
    double patience;    /* seconds for all of it */
    weft_progress progress;
    void (*remark)(void *context, const char *line); /* what could not be measured; may be NULL */
    void *context;                                   /* of both */
};
#define WEFT_MEASURE_INIT                                                                          \
    {                                                                                              \
        sizeof(struct weft_measure_options), NULL, 4, NULL, NULL, NULL                             \
    }
/* Measure this machine: cores, memory, speed, load, disk, loopback. Takes about `patience`. */
struct weft_platform *weft_platform_measure(const struct weft_measure_options *options,
                                            struct weft_error *error);

bool weft_platform_write(const struct weft_platform *p, const char *path,
                         const struct weft_write_options *options, struct weft_error *error);
char *weft_platform_write_text(const struct weft_platform *p,
                               const struct weft_write_options *options, size_t *n,
                               struct weft_error *error);
/* Keep it as what plans without a platform use on this machine. The path where it stands now;
 * weft_text_free(). */
char *weft_platform_save(const struct weft_platform *p, struct weft_error *error);
/* Plans made for it live on: they keep it. */
void weft_platform_free(struct weft_platform *p);

/* ---- looking ---- */

const char *weft_platform_name(const struct weft_platform *p);
uint32_t weft_platform_nodes(const struct weft_platform *p);
uint64_t weft_platform_cores(const struct weft_platform *p); /* of all nodes */
/* What counts in the memory of nodes: "tasks" or "tasks+files"; NULL: not stated. Then plans count files where
 * objects have sizes and nodes a memory. */
const char *weft_platform_memory(const struct weft_platform *p);
/* NULL: no such number. */
const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node);
uint32_t weft_platform_find_node(const struct weft_platform *p, const char *name);
bool weft_platform_node(const struct weft_platform *p, uint32_t node, struct weft_node *out);
/* Bandwidth and latency between two nodes. */
void weft_platform_link(const struct weft_platform *p, uint32_t a, uint32_t b, double *bandwidth,
                        double *latency);
/* Seconds that `bytes` take from a to b; INFINITY: they cannot talk. */
double weft_platform_transfer(const struct weft_platform *p, uint32_t a, uint32_t b, double bytes);

#ifdef __cplusplus
}
#endif
#endif
