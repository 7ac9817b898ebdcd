/* A Gantt of any size for the page: who draws it has some thousand pixels, so at most as many boxes are told. Lanes are cores of
 * nodes; where more than LANES_MOST worked they stand for several cores each, nodes kept apart as long as they can be. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"
#include <stdint.h>

enum {
    LANES_MOST = 256,
    LANES_BOXES = 6000,
    LANES_CURVE = 240,
    LANES_STACK = 300,
    LANES_LINES = 400
};

struct lanes_attempt {
    double start, finish, memory;
    double written; /* bytes of its outputs */
    uint32_t task, node, lane;
    uint8_t colour;
    uint8_t state; /* 0 done, 1 failed, 2 running, 3 cancelled */
};

struct lanes_transfer {
    double start, finish, bytes;
    uint32_t object, from, to; /* nodes; from NONE: who submitted the run */
};

struct lanes_options {
    double from, to;              /* the part that is seen */
    double end;                   /* of everything */
    uint32_t columns;             /* pixels that it has */
    const struct workflow *names; /* of the tasks */
    size_t most;                  /* boxes that are told one by one; 0: LANES_BOXES */
    const struct lanes_transfer *transfer;
    size_t transfers;
};

/* {"lanes": [{"node","core","cores"}], "boxes": [[lane, start, finish, colour, state, task, name]...]} or, where these would be
 * too many, "cells": [[lane, from, to, colour, share]...]: in each column the kind that took most of it, equal neighbours
 * joined; share is how much of the time something ran. Beside it "load" and "memory": LANES_CURVE values over all the time, of
 * what ran at once; "written": of all that was written so far; where data went between nodes, "moved": bytes a second, and, of at
 * most LANES_LINES in the part that is seen, "transfers": [[from, to, start, finish, bytes]...] (from -1: who submitted). Of more than LANES_STACK attempts also "stack": [[colour, LANES_CURVE values]...], cores at work by kind over
 * the part that is seen (colour CELL_KINDS - 1: what failed). Linear in attempts. */
void lanes_json(const struct lanes_attempt *at, size_t n, const struct lanes_options *o,
                struct strbuf *out);
