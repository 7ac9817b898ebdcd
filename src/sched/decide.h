/* The paper's decisions as functions of their inputs: Algorithm 1, the four policies, FLDS's number
 * of tasks to move. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum sched_policy {
    SCHED_FLDS, /* flexible load balancing and data-locality segregation: RLDS, but a long LReadyQ
                   is relaxed */
    SCHED_RLDS, /* rigid: t between 0 and infinity */
    SCHED_MLB,  /* maximized load balancing: t = infinity */
    SCHED_MDL,  /* maximized data-locality: t = 0 */
    SCHED_POLICIES
};

/* "flds" ...; NULL for a number that is none. */
const char *sched_policy_name(enum sched_policy policy);
/* SCHED_POLICIES: no such policy. Either case. */
enum sched_policy sched_policy_find(const char *name);

/* The threshold that Algorithm 1 works with: the configured t, or the policy's own. */
double decide_threshold(enum sched_policy policy, double t);

enum decision { DECIDE_SHARED, DECIDE_LOCAL, DECIDE_PUSH };

/* Algorithm 1. `all_size` bytes of inputs, the largest of them `max_size` at `max_node`; this is
 * node `self`. An unknown place (max_node == UINT32_MAX) is nobody's: shared. Nothing ever divides
 * by zero: no data is shared, a length or a bandwidth of zero with data is over every finite
 * threshold. */
enum decision decide(double all_size, double max_size, uint32_t max_node, uint32_t self,
                     double bandwidth, double length, double t);

/* The same from the paper's vectors, its loop over data_size included: lines 4 to 11. */
enum decision decide_vectors(const double *data_size, const uint32_t *parent_node, size_t n,
                             uint32_t self, double bandwidth, double length, double t);

/* FLDS: how many of `queued` tasks must leave the LReadyQ so that, at `done` tasks in `seconds`,
 * the rest lasts at most tt. With nothing done yet the rate is taken as less than one task in
 * `seconds`: all that exceeds tt / seconds tasks goes, but nothing before tt has passed. */
uint32_t decide_relax(uint32_t queued, double done, double seconds, double tt);
