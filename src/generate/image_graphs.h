/* Stand-ins for the 47 program graphs of the Digital Image Processing course (cantata/Khoros) that
 * the environment paper scheduled, and for its nine workstations. The course is not published with
 * its measured times; drawn from a seed are graphs of the same average size (18 tasks, 18
 * dependencies), with the tasks that the paper's Figure 9 names, and images 36 times as large as
 * the course's on a 10 Mbit/s Ethernet. */
#pragma once
#include "model/platform.h"
#include "model/workflow.h"

enum { IMAGE_GRAPHS = 47, IMAGE_GRAPH_TASKS = 18, IMAGE_WORKSTATIONS = 9 };

struct image_shape {
    char name[32];
    uint32_t tasks, inputs, dependencies;
    uint64_t seed;
};

/* `count` shapes whose tasks and whose dependencies are IMAGE_GRAPH_TASKS on average, exactly. */
void image_shapes(struct image_shape *shapes, size_t count, uint64_t seed);
/* Inputs come first, then operators, then what shows results; kinds are the paper's task names. */
struct workflow *image_graph(const struct image_shape *shape, struct error *err);
/* Nine equal workstations. Each is in use by others (above 3 %) one time in four, drawn from the
 * seed; with `idle`, none is. */
struct platform *image_workstations(uint64_t seed, bool idle, struct error *err);
