/* Messages as rows of a table (messages.def): who sends them, who takes them, how long they are.
 * What comes over a link is checked against its row before any handler sees it.
 *
 *     static const struct message_receiver receiver = {
 *         .end = MESSAGE_CLIENT,
 *         .handler = {[MESSAGE_PROBED] = take_probed, ...},
 *     };
 *     if (!message_dispatch(&receiver, context, link, kind, data, n))
 *         link_close(link, "a message that is not understood");
 *
 * docs/adding-a-message.md says how to add one. */
#pragma once
#include "base/bytes.h"
#include "cluster/wire/link.h"
#include "cluster/wire/protocol.h"

enum message_end { MESSAGE_AGENT = 1, MESSAGE_CLIENT = 2, MESSAGE_EITHER = 3 };

enum message_family {
    MESSAGE_FAMILY_LINK, /* the links' own */
    MESSAGE_FAMILY_SCHED,
    MESSAGE_FAMILY_DATA,
    MESSAGE_FAMILY_REQUEST,
    MESSAGE_FAMILY_ANSWER,
    MESSAGE_FAMILY_REPORT,
};

struct message_kind {
    const char *name;
    enum message_family family;
    enum message_end from, to;
    size_t least, most; /* bytes, the leading u64 included */
    const char *fields, *meaning;
};

extern const struct message_kind message_kinds[MESSAGES];

/* One that came. */
struct message_in {
    uint8_t kind;
    struct link *from;
    uint64_t run;    /* the leading number */
    struct bytes in; /* what stands behind it */
    const void *data;
    size_t n; /* all of it, the leading number included */
};

/* False: malformed; the link is closed. */
typedef bool message_handler(void *context, struct message_in *m);

struct message_receiver {
    enum message_end end;
    message_handler *handler[MESSAGES];
    message_handler *otherwise; /* for kinds without one; NULL: they are ignored */
};

/* False: not for this end, not from that one (an agent does what clients may ask for, a client says
 * nothing that agents say), too short, too long, or its handler says so. `from` NULL: it was checked
 * when it came. */
bool message_dispatch(const struct message_receiver *r, void *context, struct link *from,
                      uint8_t kind, const void *data, size_t n);
/* Does a message of this kind and length exist, for this end? */
bool message_is_valid(enum message_end end, uint8_t kind, size_t n);
static inline enum message_family message_family(uint8_t kind)
{
    return kind < MESSAGES ? message_kinds[kind].family : MESSAGE_FAMILY_LINK;
}
