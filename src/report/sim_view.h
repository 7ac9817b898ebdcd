/* What a simulation found: one table or one JSON object a kind of simulation. */
#pragma once
#include "base/strbuf.h"
#include "sim/order.h"
#include "sim/repeat.h"
#include "sim/replay.h"
#include "sim/stream.h"

struct json_writer;
/* "notes": what the reader has to say of the workflow, what a simulation assumes among it; nothing if it
 * says nothing. */
void sim_view_notes(struct json_writer *j, const struct workflow *w);

/* What came of a change of nodes. */
struct sim_changed {
    double time;
    uint32_t left, moved; /* tasks that had not begun, and those that got another node */
    double stays,
        makespan; /* with the plan as it was (INFINITY: it does not fit any more); as it is followed */
};

struct sim_subject {
    const struct workflow *workflow;
    const struct platform *platform; /* NULL for orders */
    const struct plan *plan;         /* NULL: first in, first out */
    const char *network;
    uint64_t seed;
    double seconds;                     /* real time of everything, repeats included */
    const struct repeat_result *repeat; /* NULL: one run */
    double confidence;
    bool colour;
    const struct sim_changed *changed; /* nodes that changed, by time */
    size_t nchanged;
};

void sim_view_replay(const struct sim_subject *s, const struct replay_result *r, bool json,
                     struct strbuf *out);
void sim_view_stream(const struct sim_subject *s, const struct stream_result *r, bool json,
                     struct strbuf *out);
void sim_view_order(const struct sim_subject *s, const struct order_options *o,
                    const struct order_result *r, bool json, struct strbuf *out);
/* Utilisation of the cores over time as a chart (SVG). */
void sim_view_utilization(const struct sim_subject *s, const struct replay_result *r,
                          struct strbuf *out);
