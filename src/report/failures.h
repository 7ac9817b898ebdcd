/* The failures of a run, by their cause: what summary, page and JSON show of them. */
#pragma once
#include "base/json.h"
#include "base/strbuf.h"
#include "report/figures.h"

struct failure_group {
    const struct record_failure
        *record;                     /* of its first task; NULL: the event is all that is known */
    const struct trace_event *event; /* of its first task: the last attempt */
    const uint32_t *tasks;           /* in order of time */
    uint32_t n;
};

struct failure_groups {
    ARRAY(struct failure_group) group; /* in order of time */
    uint32_t *tasks;
};

/* Of figures with failures, which must outlive it. Linear in them. */
void failure_groups_of(struct failure_groups *g, const struct run_figures *f);
void failure_groups_free(struct failure_groups *g);

/* "a, b, c and 28 more" of its tasks. */
void failure_names(const struct failure_group *g, const struct run_figures *f, struct strbuf *out);
/* How it ended, in words. */
void failure_ending(const struct failure_group *g, const struct run_figures *f, struct strbuf *out);
/* The command of its first task as it ran; false: not known. */
bool failure_command(const struct failure_group *g, const struct run_figures *f,
                     struct strbuf *out);
/* What would help: the record's hint, else what the ending itself suggests. Nothing: nothing. */
void failure_hint(const struct failure_group *g, struct strbuf *out);

/* "causes", a list with all of it. */
void failure_put_causes(const struct failure_groups *g, const struct run_figures *f,
                        struct json_writer *j);
