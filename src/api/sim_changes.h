/* Nodes that change while a plan is carried out: the plan that is followed then. */
#pragma once
#include "api/inside.h"

/* `given` is the plan as it was handed in, *plan its static form. Sets s->changes, s->holds and s->changed, and *plan to
 * what is followed in the end: as it was, or s->sequences. False: the options do not go together, or from some change
 * on nothing fits. Without changes nothing happens. */
bool sim_changes_follow(struct weft_sim *s, const struct plan *given, const struct plan **plan,
                        struct error *err);
