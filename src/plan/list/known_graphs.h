/* Graphs of the literature, as test data: the graph of the HEFT paper, the one of the PEFT paper,
 * and the HEFT paper's edges with the works and speeds of a test of dslab-dag. */
#pragma once
#include "model/builder.h"
#include "model/platform.h"
#include <stdio.h>

struct known_edge {
    int from, to; /* from 1, as in the papers */
    double size;
};

static const struct known_edge heft_edges[] = {{1, 2, 18},  {1, 3, 12},  {1, 4, 9},  {1, 5, 11},
                                               {1, 6, 14},  {2, 8, 19},  {2, 9, 16}, {3, 7, 23},
                                               {4, 8, 27},  {4, 9, 23},  {5, 9, 13}, {6, 8, 15},
                                               {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};

static const double heft_times[10][3] = {{14, 16, 9},  {13, 19, 18}, {11, 13, 19}, {13, 8, 17},
                                         {12, 13, 10}, {13, 16, 9},  {7, 15, 11},  {5, 11, 14},
                                         {18, 12, 20}, {21, 7, 16}};

static const struct known_edge peft_edges[] = {
    {1, 2, 17}, {1, 3, 31}, {1, 4, 29}, {1, 5, 13}, {1, 6, 7},  {2, 8, 3},   {2, 9, 30}, {3, 7, 16},
    {4, 8, 11}, {4, 9, 7},  {5, 9, 57}, {6, 8, 5},  {7, 10, 9}, {8, 10, 42}, {9, 10, 7}};

static const double peft_times[10][3] = {{22, 21, 36}, {22, 18, 18}, {32, 27, 43}, {7, 10, 4},
                                         {29, 27, 35}, {26, 17, 24}, {14, 25, 30}, {29, 23, 36},
                                         {15, 21, 8},  {13, 16, 33}};

/* Optimistic cost table of the PEFT paper. */
static const double peft_oct[10][3] = {{64, 68, 86}, {42, 39, 42}, {27, 41, 43}, {42, 39, 50},
                                       {28, 37, 28}, {42, 39, 44}, {13, 16, 22}, {13, 16, 33},
                                       {13, 16, 20}, {0, 0, 0}};

static const double heft_upward[10] = {
    108, 77, 80, 80, 69, 63 + 1 / 3.0, 42 + 2 / 3.0, 35 + 2 / 3.0, 44 + 1 / 3.0, 14 + 2 / 3.0};

static const double dslab_work[10] = {64, 76, 52, 32, 56, 64, 60, 44, 48, 28};
static const double dslab_speed[4] = {1, 2, 4, 4};

/* Ten tasks 1 .. 10; `times` (three nodes P1 .. P3) or `work`, the other NULL. */
static inline struct workflow *known_workflow(const struct known_edge *edges, size_t nedges,
                                              const double (*times)[3], const double *work)
{
    struct builder *b = builder_new("<known>", "test");
    for (int t = 0; t < 10; t++) {
        char name[16];
        int length = snprintf(name, sizeof name, "%d", t + 1);
        uint32_t task = builder_task(b, name, (size_t)length, 0);
        if (work)
            builder_work(b, task, work[t], 0);
        for (int n = 0; times && n < 3; n++) {
            char node[] = {'P', (char)('1' + n), 0};
            builder_time(b, task, node, 2, times[t][n], 0);
        }
    }
    for (size_t e = 0; e < nedges; e++)
        builder_data_edge(b, (uint32_t)edges[e].from - 1, (uint32_t)edges[e].to - 1, edges[e].size,
                          0);
    struct error err = {0};
    return builder_finish(b, &err);
}

/* Nodes P1 .. Pn, bandwidth 1, no latency; speeds NULL: all 1. */
static inline struct platform *known_platform(uint32_t nodes, const double *speeds)
{
    struct platform_builder *b = platform_builder_new("<known>");
    platform_builder_network(b, 1, 0, NAN, 0);
    for (uint32_t n = 0; n < nodes; n++) {
        char name[16];
        int length = snprintf(name, sizeof name, "P%u", n + 1);
        uint32_t node = platform_builder_node(b, name, (size_t)length, 0);
        if (speeds)
            platform_builder_speed(b, node, speeds[n], 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

#define KNOWN(graph) graph##_edges, sizeof graph##_edges / sizeof *graph##_edges
