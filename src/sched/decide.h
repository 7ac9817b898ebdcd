/* The paper's decisions as functions of their inputs: Algorithm 1, FLDS's number of tasks to move.
 * Which policy uses which stands in policies.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum decision { DECIDE_SHARED, DECIDE_LOCAL, DECIDE_PUSH };

/* What Algorithm 1 looks at: one ready task, seen from one node. */
struct decide_input {
    double all_size;   /* bytes of inputs that came from parents */
    double max_size;   /* the largest of them */
    uint32_t max_node; /* where that one is; UINT32_MAX: unknown */
    uint32_t self;     /* this node */
    double bandwidth;  /* bytes a second */
    double length;     /* estimated seconds of the task */
    double t;          /* the configured threshold; a policy may take another */
};

/* Algorithm 1: shared if moving all of the data, or the largest piece, takes at most `t` times the
 * task's length. An unknown place is nobody's: shared. Nothing ever divides by zero: no data is
 * shared, a length or a bandwidth of zero with data is over every finite threshold. */
enum decision decide(const struct decide_input *in, double t);

/* The same from the paper's vectors, its loop over data_size included: lines 4 to 11. Sizes and
 * places of `in` are not looked at. */
enum decision decide_vectors(const double *data_size, const uint32_t *parent_node, size_t n,
                             const struct decide_input *in);

/* FLDS: how many of `queued` tasks must leave the LReadyQ so that, at `done` tasks in `seconds`,
 * the rest lasts at most tt. With nothing done yet the rate is taken as less than one task in
 * `seconds`: all that exceeds tt / seconds tasks goes, but nothing before tt has passed. */
uint32_t decide_relax(uint32_t queued, double done, double seconds, double tt);
