/* What is inside the larger messages (protocol.h), as bytes and back. Little-endian, no padding,
 * decoded without trust (base/bytes.h). A change of a layout here is a change of the protocol:
 * raise LINK_VERSION in link.h. */
#include "cluster/wire/protocol.h"

#include <stdlib.h>

enum { ITEM_BYTES = 6 * 4 + 2 * 8 };

/* Tasks change nodes with it. */
static bool protocol_moves(const struct sched_message *m)
{
    return m->kind == SCHED_TASKS || m->kind == SCHED_PUSH;
}

/* The items follow the head: what a victim gives to a thief, or a report of tasks. */
void protocol_put_sched(struct strbuf *out, uint64_t run, const struct sched_message *m,
                        const struct meta_item *items, const double *memory)
{
    bytes_put_u64(out, run);
    bytes_put_u8(out, m->kind);
    bytes_put_u32(out, m->from);
    bytes_put_u32(out, m->to);
    bytes_put_u32(out, m->round);
    bytes_put_u32(out, m->load);
    bytes_put_u32(out, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct meta_item *x = &items[i];
        bytes_put_u32(out, x->task);
        bytes_put_u32(out, x->epoch);
        bytes_put_u32(out, x->holder);
        bytes_put_u32(out, x->waiting);
        bytes_put_u32(out, x->max_node);
        bytes_put_u32(out, x->attempts | (uint32_t)x->passed << 16);
        bytes_put_f64(out, x->all_size);
        bytes_put_f64(out, x->max_size);
    }
    for (uint32_t i = 0; protocol_moves(m) && i < m->count; i++)
        bytes_put_f64(out, memory ? memory[i] : 0);
}

/* The count is compared with the bytes that are there before anything is allocated for it. Numbers
 * of tasks are the receiver's to check: only he knows the workflow. */
bool protocol_sched(struct bytes *in, struct sched_message *m, protocol_items *items,
                    protocol_memory *memory)
{
    *m = (struct sched_message){.kind = bytes_u8(in)};
    m->from = bytes_u32(in);
    m->to = bytes_u32(in);
    m->round = bytes_u32(in);
    m->load = bytes_u32(in);
    m->count = bytes_u32(in);
    items->n = memory->n = 0;
    size_t each = ITEM_BYTES + (protocol_moves(m) ? 8 : 0);
    if (in->bad || m->kind >= SCHED_MESSAGE_KINDS || in->n != (size_t)m->count * each)
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        struct meta_item x = {.task = bytes_u32(in)};
        x.epoch = bytes_u32(in);
        x.holder = bytes_u32(in);
        x.waiting = bytes_u32(in);
        x.max_node = bytes_u32(in);
        uint32_t counts = bytes_u32(in);
        x.attempts = (uint16_t)counts;
        x.passed = (uint16_t)(counts >> 16);
        x.all_size = bytes_f64(in);
        x.max_size = bytes_f64(in);
        array_push(items, x);
    }
    for (uint32_t i = 0; protocol_moves(m) && i < m->count; i++)
        array_push(memory, bytes_f64(in));
    return bytes_end(in);
}

/* Fixed size, so that a receiver can check the count of events against the length. */
void protocol_put_event(struct strbuf *out, const struct trace_event *e)
{
    bytes_put_u8(out, (uint8_t)e->kind);
    bytes_put_u32(out, e->id);
    bytes_put_u32(out, e->other);
    bytes_put_u32(out, e->lane);
    bytes_put_u32(out, e->attempt);
    bytes_put_u32(out, (uint32_t)e->outcome);
    bytes_put_u32(out, (uint32_t)e->status);
    bytes_put_f64(out, e->start);
    bytes_put_f64(out, e->finish);
    bytes_put_f64(out, e->cpu);
    bytes_put_f64(out, e->memory);
    bytes_put_f64(out, e->read);
    bytes_put_f64(out, e->written);
    bytes_put_f64(out, e->amount);
}

/* Kinds and outcomes are checked by who uses them; an event of an unknown kind is passed over. */
void protocol_event(struct bytes *in, struct trace_event *e)
{
    *e = (struct trace_event){.kind = (enum trace_kind)bytes_u8(in)};
    e->id = bytes_u32(in);
    e->other = bytes_u32(in);
    e->lane = bytes_u32(in);
    e->attempt = bytes_u32(in);
    e->outcome = (int)bytes_u32(in);
    e->status = (int)bytes_u32(in);
    e->start = bytes_f64(in);
    e->finish = bytes_f64(in);
    e->cpu = bytes_f64(in);
    e->memory = bytes_f64(in);
    e->read = bytes_f64(in);
    e->written = bytes_f64(in);
    e->amount = bytes_f64(in);
}
