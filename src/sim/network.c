/* What the three models share: slots of messages, used again, and the account of bytes and busy
 * time; and the model `free`, which is small enough to stand here.
 *
 * A slot goes UNUSED, WAITING, MOVING, UNUSED; a cancelled one is DEAD until the last queue that
 * names it meets it and gives it back (network_recycle()). */
#include "sim/network.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "sim/network_model.h"
#include "sim/queue.h"
#include <string.h>

static const struct network_ops *const models[] = {&network_free_ops, &network_kport_ops,
                                                   &network_fair_ops};
enum { MODELS = sizeof models / sizeof *models };
const char *const network_names[] = {"free", "kport", "fair", NULL};

static const struct network_ops *find_model(const char *name)
{
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

const char *network_summary(const char *name)
{
    const struct network_ops *ops = find_model(name);
    return ops ? ops->summary : NULL;
}

struct network *network_new(const char *name, const struct platform *p, uint32_t ports,
                            struct error *err)
{
    const struct network_ops *ops = find_model(name);
    if (!ops) {
        const char *near = suggest_nearest(name, network_names, MODELS);
        error_set(err, ERROR_INPUT, "no network model '%s'%s%s%s; there are free, kport and fair",
                  name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        return NULL;
    }
    struct network *n = ops->create(p, ports);
    n->ops = ops;
    n->platform = p;
    n->out_busy = mem_new_zero(double, p->nnodes);
    n->in_busy = mem_new_zero(double, p->nnodes);
    return n;
}

void network_free(struct network *n)
{
    if (!n)
        return;
    n->ops->destroy(n);
    free(n->out_busy);
    free(n->in_busy);
    free(n->message);
    free(n->unused);
    free(n);
}

/* `unused` has room for every slot, so that giving one back cannot fail. */
static uint32_t new_message(struct network *n)
{
    if (n->nunused)
        return n->unused[--n->nunused];
    if (n->nmessages == n->message_cap) {
        n->message_cap = n->message_cap ? n->message_cap * 2 : 64;
        n->message = mem_resize(n->message, n->message_cap);
        n->unused = mem_resize(n->unused, n->message_cap);
    }
    return n->nmessages++;
}

void network_recycle(struct network *n, uint32_t message)
{
    n->message[message].state = MESSAGE_UNUSED;
    n->unused[n->nunused++] = message;
}

void network_deliver(struct network *n, double now, uint32_t message, struct network_message *out)
{
    struct network_message *m = &n->message[message];
    *out = *m;
    out->finish = now;
    n->bytes += m->bytes;
    n->delivered++;
    n->in_flight--;
    n->out_busy[m->from] += now - m->start;
    n->in_busy[m->to] += now - m->start;
    network_recycle(n, message);
}

/* Where the platform has one bandwidth for all, there is nothing to look up. */
bool network_send(struct network *n, double now, uint32_t from, uint32_t to, double bytes,
                  double priority, uint64_t tag)
{
    if (n->platform->nlinks || n->platform->bandwidth <= 0) {
        double bandwidth, latency;
        platform_link(n->platform, from, to, &bandwidth, &latency);
        if (!(bandwidth > 0))
            return false;
    }
    uint32_t id = new_message(n);
    n->message[id] = (struct network_message){.tag = tag,
                                              .from = from,
                                              .to = to,
                                              .bytes = bytes,
                                              .priority = priority,
                                              .asked = now,
                                              .start = now,
                                              .order = n->asked++,
                                              .state = MESSAGE_WAITING};
    n->in_flight++;
    n->ops->send(n, now, id);
    return true;
}

double network_next(struct network *n)
{
    return n->ops->next(n);
}

bool network_step(struct network *n, double now, struct network_message *out)
{
    return n->ops->step(n, now, out);
}

void network_settle(struct network *n, double now)
{
    n->unsettled = false;
    if (n->ops->settle)
        n->ops->settle(n, now);
}

/* In the order of asking, whatever slots the messages have: what the caller does with them must not
 * depend on how slots were used again. */
void network_cancel(struct network *n, double now, uint32_t node,
                    void (*gone)(void *context, uint64_t tag), void *context)
{
    struct queue order = {0};
    for (uint32_t i = 0; i < n->nmessages; i++) {
        struct network_message *m = &n->message[i];
        if ((m->state == MESSAGE_WAITING || m->state == MESSAGE_MOVING) &&
            (m->from == node || m->to == node))
            queue_push(&order, 0, m->order, i);
    }
    while (order.n) {
        uint32_t i = (uint32_t)queue_pop(&order).value;
        uint64_t tag = n->message[i].tag;
        n->ops->cancel(n, now, i);
        if (n->message[i].state != MESSAGE_UNUSED) /* a model may have recycled it at once */
            n->message[i].state = MESSAGE_DEAD;
        n->in_flight--;
        gone(context, tag);
    }
    queue_free(&order);
}

/* ---- free: contention-free ---- */

struct free_network {
    struct network base;
    struct queue arrivals;
};

static struct network *free_create(const struct platform *p, uint32_t ports)
{
    (void)p, (void)ports;
    return &mem_new_zero(struct free_network, 1)->base;
}

static void free_destroy(struct network *n)
{
    queue_free(&((struct free_network *)n)->arrivals);
}

static void free_send(struct network *n, double now, uint32_t message)
{
    struct free_network *f = (struct free_network *)n;
    struct network_message *m = &n->message[message];
    m->state = MESSAGE_MOVING;
    queue_push(&f->arrivals, now + platform_transfer(n->platform, m->from, m->to, m->bytes),
               m->order, message);
}

/* Nothing here depends on anything else: a queue of arrivals is the whole model. */
static double free_next(struct network *n)
{
    struct free_network *f = (struct free_network *)n;
    while (f->arrivals.n && n->message[f->arrivals.at[0].value].state == MESSAGE_DEAD)
        network_recycle(n, (uint32_t)queue_pop(&f->arrivals).value);
    return f->arrivals.n ? f->arrivals.at[0].key : INFINITY;
}

static bool free_step(struct network *n, double now, struct network_message *out)
{
    struct free_network *f = (struct free_network *)n;
    network_deliver(n, now, (uint32_t)queue_pop(&f->arrivals).value, out);
    return true;
}

static void free_cancel(struct network *n, double now, uint32_t message)
{
    (void)n, (void)now, (void)message; /* free_next() meets it */
}

const struct network_ops network_free_ops = {
    .name = "free",
    .summary = "contention-free: latency + size / bandwidth",
    .create = free_create,
    .destroy = free_destroy,
    .send = free_send,
    .next = free_next,
    .step = free_step,
    .cancel = free_cancel,
};
