/* The whole of IC-scheduling for one workflow: skeleton, phases, blocks, and for each phase the
 * best order with what is proved. */
#pragma once
#include "base/progress.h"
#include "base/strbuf.h"
#include "plan/order/blocks.h"
#include "plan/order/linear.h"

enum method {
    METHOD_ALL,   /* theory, then exact search, then Sidney, then heuristics */
    METHOD_PAPER, /* the Sweep paper's procedure alone: no phases, no merged blocks, no search
                     beyond single blocks */
    METHOD_AREA,  /* search for the largest AREA at once */
    METHOD_PRIO,  /* the prio tool's order */
};

struct order_study_options {
    enum method method;
    struct effort effort;
    uint64_t shortcut_budget;
    const struct progress *progress; /* may be NULL */
    struct strbuf *explain;          /* what the paper prints, as text; NULL: not wanted */
};

struct order_study {
    uint32_t *order; /* every task */
    enum proof proof;
    uint64_t area, bound; /* of the whole order, as the specification sums it */
    bool area_proved;     /* no order has a larger area */
    struct strbuf why;    /* the proof in a sentence */
    uint32_t nphases, nblocks, nmerged;
    size_t shortcuts, undecided;
};

void study_options_init(struct order_study_options *o);
/* Never fails. */
void study_run(struct order_study *s, const struct workflow *w,
               const struct order_study_options *options);
void study_free(struct order_study *s);
