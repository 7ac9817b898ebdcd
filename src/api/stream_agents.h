/* The helpers of a stream on agents: a run of one task an agent, which this starts, follows and ends. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "stream/flow.h"
#include "weft/weft.h"

/* Which agents and how many helpers. 0: an error. */
uint32_t stream_agents_count(const struct weft_stream_options *o, struct error *err);

struct stream_agents;
/* Opens the run in a folder of its own beside the workflow; a thread starts agents and follows it. The flow
 * must outlive it. */
struct stream_agents *stream_agents_start(const struct weft_stream_options *o, const char *folder,
                                          uint32_t count, const struct seal_key *key,
                                          struct flow *flow, struct error *err);
/* Helpers are told by the flow itself: this waits for them, ends what does not end, and lets agents go. */
void stream_agents_end(struct stream_agents *a); /* NULL is fine */
