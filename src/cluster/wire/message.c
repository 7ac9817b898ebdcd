/* The table of messages, from messages.def, and the one place where what came is checked against
 * it. Relies on links (link.h) for whole messages in order; on handlers for what is inside. */
#include "cluster/wire/message.h"

#define MANY LINK_MESSAGE_MAX
#define MESSAGE(kind, of, sender, receiver, shortest, longest, inside, says)                       \
    [MESSAGE_##kind] = {                                                                           \
        .name = #kind,                                                                             \
        .family = MESSAGE_FAMILY_##of,                                                             \
        .from = MESSAGE_##sender,                                                                  \
        .to = MESSAGE_##receiver,                                                                  \
        .least = (shortest),                                                                       \
        .most = (longest),                                                                         \
        .fields = (inside),                                                                        \
        .meaning = (says),                                                                         \
    },

const struct message_kind message_kinds[MESSAGES] = {
    [MESSAGE_NOTHING] = {.name = "NOTHING", .family = MESSAGE_FAMILY_LINK},
#include "cluster/wire/messages.def"
};
#undef MESSAGE
#undef MANY

/* O(1); called for every message before anything else looks at it. */
bool message_is_valid(enum message_end end, uint8_t kind, size_t n)
{
    if (kind >= MESSAGES)
        return false;
    const struct message_kind *k = &message_kinds[kind];
    return (k->to & end) && n >= k->least && n <= k->most;
}

bool message_dispatch(const struct message_receiver *r, void *context, struct link *from,
                      uint8_t kind, const void *data, size_t n)
{
    if (!message_is_valid(r->end, kind, n) ||
        (from && !(message_kinds[kind].from & (unsigned)link_role(from))))
        return false;
    struct message_in m = {
        .kind = kind, .from = from, .in = {data, n, false}, .data = data, .n = n};
    m.run = bytes_u64(&m.in);
    message_handler *handler = r->handler[kind] ? r->handler[kind] : r->otherwise;
    return !handler || handler(context, &m);
}
