/* Orders tried out on clients: how long does a workflow take when clients of a pattern come and are
 * given tasks in this order? The same scenarios for every order.
 *
 * sim/order.h simulates more (slow and vanishing clients, traces) and is the witness of this one:
 * under the same seed both give the same time to the bit (tests/plan). This one is what a search
 * needs: no heap of eligible tasks but a set of ranks, times of tasks drawn once, and bounds for an
 * order of which only the beginning is known. A step is a task given to a client. */
#pragma once
#include "model/clients.h"

struct rehearsal;

struct rehearsal *rehearsal_new(const struct workflow *w, const struct clients *c, uint64_t seed,
                                uint32_t scenarios);
void rehearsal_free(struct rehearsal *r);

uint64_t rehearsal_seed(const struct rehearsal *r, uint32_t scenario);
uint64_t rehearsal_steps(const struct rehearsal *r); /* so far, asking clients among them */
/* When the last task ends in that scenario. `order` holds every task once. */
double rehearsal_time(struct rehearsal *r, const uint32_t *order, uint32_t scenario);
/* Mean over the scenarios; `each` gets the single times, NULL: not wanted. */
double rehearsal_mean(struct rehearsal *r, const uint32_t *order, double *each);
/* No order that begins with these `n` tasks has a smaller mean: the scenarios run until a client
 * would be given a task that is not among them. */
double rehearsal_bound(struct rehearsal *r, const uint32_t *first, uint32_t n);
