/* What occupies the memory of nodes, and when: tasks while they run, and files while they wait.
 *
 * A file occupies a node from the first to the last moment at which somebody there makes, receives,
 * reads or sends it:
 *
 *     node 1   [ producer ][ reader ]                 the file is here from the producer's start
 *                          [ transfer ]               until the transfer has ended
 *     node 2               [ transfer ]    [ reader ] and here from the transfer's start
 *              ├── on node 1 ────────┤                until its last reader has ended
 *                          ├── on node 2 ──────────┤
 *
 * One that is brought a second time was not there in between. An object that nobody makes (an input of the workflow) is everywhere on disks: it occupies memory while a
 * reader runs, once for all that read it at the same time. One that nobody reads is written to disk
 * when its producer ends. docs/memory.md is the definition for people. */
#pragma once
#include "model/plan.h"

/* Either a task that runs (object NONE) or a file (task: its producer, NONE: an input). */
struct residence {
    uint32_t node, task, object;
    double start, finish, bytes;
};
typedef ARRAY(struct residence) residence_list;

/* All of a static plan by its own times, in no order. Nodes without a limit are left out, and files, too, unless
 * `files`. O(n log n) for n placements, reads and transfers of one object. */
void residence_collect(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       bool files, residence_list *out);
/* By node, start, tasks before files, number: so that the same plan is always spoken of in the same words. */
void residence_sort(residence_list *all);
