/* Files in the memory of nodes during a replay, by the rule of model/residence.h: what is made, received, read
 * or sent where, counted as it happens. NULL stands for "files do not count". */
#pragma once
#include "sim/demand.h"

struct replay_files;

/* NULL: the plan counts no files. */
struct replay_files *replay_files_new(const struct workflow *w, const struct platform *p,
                                      const struct plan *plan, const struct demands *d);
void replay_files_free(struct replay_files *f);

/* Bytes by which the memory of the placement's node rises when it starts (its outputs, and inputs of the
 * workflow that nobody reads there yet) and falls when it ends; `lost` takes a start back. */
double replay_files_start(struct replay_files *f, uint32_t placement);
double replay_files_end(struct replay_files *f, uint32_t placement);
double replay_files_lost(struct replay_files *f, uint32_t placement);
/* Bytes by which the receiver's memory rises when the transfer that meets the demand begins (0 when it only
 * goes on after a failure), and by which the sender's and the receiver's fall when it has ended. */
double replay_files_sent(struct replay_files *f, uint32_t demand);
void replay_files_arrived(struct replay_files *f, uint32_t demand, double *sender,
                          double *receiver);
