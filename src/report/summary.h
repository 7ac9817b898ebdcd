/* The end of a run, for the terminal: what came out, how long it took and why, what was predicted,
 * what failed and what to do about it. */
#pragma once
#include "base/strbuf.h"
#include "model/record.h"

struct summary_options {
    bool colour;
    unsigned columns;    /* 0: 80 */
    const char *outputs; /* where the results are; NULL: the record's folder */
    const char *logs;    /* folder of the logs; NULL: there are none */
    const char *flow;    /* the workflow as the user names it, for the hints; NULL: the record's */
};

enum { SUMMARY_FAILURES = 10 }; /* causes told in full; the rest is counted */

/* `options` may be NULL. Linear in the events, but for sorts. */
void report_summary(const struct run_record *r, const struct summary_options *options,
                    struct strbuf *out);

/* How an attempt ended, in words: "exit status 127: command not found", "killed by SIGSEGV:
 * segmentation fault", "used 2.3 GB, 300 MB over its limit of 2 GB". `limit` 0: not known. */
void report_ending(const struct trace_event *attempt, double limit, struct strbuf *out);
/* Why a task was skipped (TRACE_SKIPPED). */
void report_skipped(const struct workflow *w, const struct trace_event *e, struct strbuf *out);
