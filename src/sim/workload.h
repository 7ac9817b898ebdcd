/* Graphs for simulated schedulers: the benchmark DAGs of the MATRIX paper by arithmetic, so that 128
 * million tasks cost no memory, and any workflow behind the same questions.
 *
 *     bot         independent tasks
 *     fan-out     one root, every task the parent of `degree` others (a heap)
 *     fan-in      the same turned round
 *     pipeline    pipes of `degree` tasks
 *     stacking    `ntasks` - 1 tasks, each reads one of `files` files, and one that reads all
 *                 their outputs
 *     all-pairs   every file of set A against every file of set B; `files` in each set
 *
 * A task's length and the size of its output come from a hash of seed and task. Tasks are numbered
 * parents first. A task produces one object of its own number; input files come after those. Of a
 * workflow the tasks and objects are its own. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"
#include "store/graph.h"
#include <stdbool.h>
#include <stdint.h>

enum workload_kind {
    WORKLOAD_BOT,
    WORKLOAD_FAN_OUT,
    WORKLOAD_FAN_IN,
    WORKLOAD_PIPELINE,
    WORKLOAD_STACKING,
    WORKLOAD_ALL_PAIRS,
    WORKLOAD_WORKFLOW,
    WORKLOAD_KINDS
};

const char *workload_name(enum workload_kind kind);
enum workload_kind workload_find(const char *name); /* WORKLOAD_KINDS: none */

/* How a client hands the tasks out (section 2.2.2). */
enum workload_submit {
    WORKLOAD_SUBMIT_BEST,  /* equal shares, neighbours in the graph together */
    WORKLOAD_SUBMIT_HASH,  /* equal shares, neighbours scattered */
    WORKLOAD_SUBMIT_WORST, /* all to the first scheduler */
    WORKLOAD_SUBMIT_EVEN, /* neighbours together, shares of equal work: the client knows the times */
};

#define WORKLOAD_LEVELS 33

struct workload {
    enum workload_kind kind;
    uint32_t ntasks, nobjects;
    uint32_t degree;
    uint32_t files, tile;  /* tile: how many files of A are gone through together (all-pairs) */
    double length, spread; /* mean seconds; uniform within mean * (1 +- spread) */
    double size;           /* mean bytes of outputs, uniform in [0, 2 * mean] when spread > 0 */
    double file_size;
    uint32_t drawn_files; /* 1: input files stand on nodes drawn at random, not evenly */
    uint64_t seed;
    const struct workflow *workflow; /* WORKLOAD_WORKFLOW; its speed is 1 */

    /* trees: first number and count of each level, counted from the root */
    uint32_t level_first[WORKLOAD_LEVELS], level_count[WORKLOAD_LEVELS], nlevels;
    uint32_t half_bits;       /* of the permutation that scatters tasks */
    struct store_graph graph; /* for the store's tables */
};

/* The paper's setting: Table 3 for this many cores in all, or section 4.1 for the applications. */
void workload_benchmark(struct workload *d, enum workload_kind kind, uint64_t cores);
/* Fill in what follows from kind, ntasks, degree, files; the rest must be set. Degree 0 is 10. */
bool workload_init(struct workload *d, struct error *err);

double workload_length(const struct workload *d, uint32_t task);
double workload_mean_length(const struct workload *d); /* exact; O(tasks) */
double workload_size(const struct workload *d, uint32_t object);
uint32_t workload_parents(const struct workload *d, uint32_t task);
uint32_t workload_parent(const struct workload *d, uint32_t task, uint32_t index);
uint32_t workload_children(const struct workload *d, uint32_t task);
uint32_t workload_child(const struct workload *d, uint32_t task, uint32_t index);

/* Edges of the longest way from an entry to it, as far as that is known without a table: a workflow's
 * tasks have none. */
uint32_t workload_depth(const struct workload *d, uint32_t task);

/* Objects that a task reads; `producer` NONE: an input file. An ordering edge has object NONE. */
uint32_t workload_needs(const struct workload *d, uint32_t task);
uint32_t workload_need(const struct workload *d, uint32_t task, uint32_t index, uint32_t *producer);
bool workload_has_data(const struct workload *d);
bool workload_read_once(const struct workload *d, uint32_t object); /* by one task at most */
/* Where an input file stands at first: evenly over the nodes (all-pairs: neighbouring files
 * together; others: dealt out one by one), or as the seed draws. */
uint32_t workload_file_node(const struct workload *d, uint32_t object, uint32_t nodes);

/* The tasks divided among nodes. Shares of neighbours are stretches of the tasks in one order: trees as they are
 * walked, others by number, pipes whole. */
struct workload_division {
    enum workload_submit how;
    uint32_t nodes;
    uint64_t
        *first; /* WORKLOAD_SUBMIT_EVEN: where each node's stretch begins, and the end; else NULL */
};
/* O(1), shares of equal work O(tasks). Free it with workload_division_free(). */
struct workload_division workload_divide(const struct workload *d, enum workload_submit how,
                                         uint32_t nodes);
void workload_division_free(struct workload_division *v);
/* The scheduler that a task is submitted to; also the server that keeps its metadata. */
uint32_t workload_home(const struct workload *d, const struct workload_division *v, uint32_t task);
/* How early a task should be done since other nodes wait for what comes of it; 0: none does. Of a tree that is divided into
 * connected shares: a fan-out's task that branches to other nodes; a fan-in's task of a branch that several nodes
 * have, the smaller the branch the earlier. */
uint32_t workload_urgency(const struct workload *d, const struct workload_division *v,
                          uint32_t task);
/* The tasks of one node, as ranges of places first, first + step ... below end; the range-th of
 * them (they may be empty). False: no more. */
struct workload_range {
    uint32_t first, end, step;
};
/* The task at a place of these ranges. */
uint32_t workload_task(const struct workload *d, enum workload_submit how, uint32_t place);
bool workload_share(const struct workload *d, const struct workload_division *v, uint32_t node,
                    uint32_t range, struct workload_range *out);
