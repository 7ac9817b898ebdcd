/* The network in virtual time. Three models, chosen by name:
 *
 *     free    contention-free: every message takes latency + size / bandwidth, whatever else is on
 *             its way
 *     kport   a node talks to at most k others at once, sending and receiving together, and a pair
 *             of nodes carries one message at a time; a message holds a port at both ends for
 *             latency + size / bandwidth. Communication overlaps computation. Who waits is served
 *             by priority (smallest first), then in the order of asking, as soon as both ends have
 *             a port (a message that cannot start yet does not hold up later ones)
 *     fair    after its latency a message shares bandwidth: every node has an uplink and a downlink
 *             as fast as the fastest of its pairs, every pair its own bandwidth as a further limit,
 *             and the rates are max-min fair. A message that is alone takes exactly as long as
 *             under `free`
 *
 * Decisions about one instant are taken together: call network_settle() when network->unsettled and
 * nothing else happens at the current time. A driver therefore looks like
 *
 *     for (;;) {
 *         double next = fmin(engine_next(e), network_next(n));
 *         if (next > e->now && n->unsettled) { network_settle(n, e->now); continue; }
 *         ... take the earlier of the two ...
 *     } */
#pragma once
#include "base/error.h"
#include "model/platform.h"

struct network_message {
    uint64_t tag;
    uint32_t from, to;
    double bytes, priority;
    double asked, start, finish; /* start: got its ports (kport), began to flow (fair) */
    uint64_t order;              /* of asking */
    uint32_t group;              /* private: pair or class */
    uint8_t state;               /* private */
};

struct network_ops;

struct network {
    const struct network_ops *ops;
    const struct platform *platform;
    bool unsettled;
    uint32_t in_flight; /* asked for and neither delivered nor cancelled */
    uint64_t asked;
    double bytes; /* delivered */
    uint64_t delivered;
    double *out_busy, *in_busy; /* per node: seconds x messages, from start to finish */
    /* messages, recycled */
    struct network_message *message;
    uint32_t *unused;
    uint32_t nmessages, nunused, message_cap;
};

/* Names of the models, ending with NULL. */
extern const char *const network_names[];
const char *network_summary(const char *name);

/* `ports` is used by kport only: of every node; 0: each node's own as the platform says, where 0 is
 * no limit on partners (still one message at a time per pair).
 * NULL with ERROR_INPUT when there is no model of that name. The platform must outlive it. */
struct network *network_new(const char *name, const struct platform *p, uint32_t ports,
                            struct error *err);
void network_free(struct network *n); /* NULL is fine */

/* Ask for a message. False: the two nodes cannot talk at all (their bandwidth is 0). from != to. */
bool network_send(struct network *n, double now, uint32_t from, uint32_t to, double bytes,
                  double priority, uint64_t tag);
/* When network_step() has something to do; INFINITY: never, as things stand. */
double network_next(struct network *n);
/* Do the one thing that is due at `now` (= network_next()). True: a message arrived, `out` is it.
 */
bool network_step(struct network *n, double now, struct network_message *out);
void network_settle(struct network *n, double now);
/* Take back every message from or to `node`: calls gone() for each, in the order of asking. */
void network_cancel(struct network *n, double now, uint32_t node,
                    void (*gone)(void *context, uint64_t tag), void *context);
