/* What a network model implements; only network.c and the models include this. A model embeds
 * `struct network` first. */
#pragma once
#include "sim/network.h"

enum message_state {
    MESSAGE_UNUSED,
    MESSAGE_WAITING, /* kport: for ports; fair: its latency passes */
    MESSAGE_MOVING,
    MESSAGE_DEAD, /* cancelled, but still named by a queue */
};

struct network_ops {
    const char *name, *summary;
    struct network *(*create)(const struct platform *p, uint32_t ports);
    void (*destroy)(
        struct network *n); /* its own things, then the struct is freed by network_free() */
    void (*send)(struct network *n, double now, uint32_t message);
    double (*next)(struct network *n);
    bool (*step)(struct network *n, double now, struct network_message *out);
    void (*settle)(struct network *n, double now);
    /* Forget a message. It becomes MESSAGE_DEAD, and whatever queue still names it calls
     * network_recycle() when it meets it. */
    void (*cancel)(struct network *n, double now, uint32_t message);
};

extern const struct network_ops network_free_ops, network_kport_ops, network_fair_ops;

/* Fill `out`, account for it, recycle the slot. */
void network_deliver(struct network *n, double now, uint32_t message, struct network_message *out);
void network_recycle(struct network *n, uint32_t message);
