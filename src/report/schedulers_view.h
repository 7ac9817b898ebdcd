/* A cluster of schedulers in virtual time, under one policy or several side by side. */
#pragma once
#include "base/strbuf.h"
#include "sim/schedulers.h"

struct schedulers_view {
    const char *name;                /* of the graph */
    const struct workflow *workflow; /* of whose remarks JSON tells; NULL: it is a benchmark */
    uint32_t nodes, cores;
    uint64_t seed;
    double bound;  /* seconds; 0: there is none */
    bool platform; /* its nodes differ; else all have `cores` */
    double all_cores;
    /* several runs on the same nodes; 0: one alone */
    uint32_t nruns;
    const struct schedulers_entry *entries; /* when, and with which priority */
    const struct schedulers_run *figures;
    const char (*run_name)[256];
    uint32_t n; /* runs: */
    const char *policy[SCHED_POLICY_CHOICES];
    const struct schedulers_result *result[SCHED_POLICY_CHOICES];
    double seconds[SCHED_POLICY_CHOICES]; /* real */
    bool colour;
};

void schedulers_view(const struct schedulers_view *s, struct strbuf *out);
void schedulers_view_json(const struct schedulers_view *s, struct strbuf *out);
/* How busy the cores were in the last run: SVG. */
void schedulers_view_chart(const struct schedulers_view *s, struct strbuf *out);
