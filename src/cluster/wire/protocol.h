/* What agents and clients say to each other over links. All numbers little-endian (base/bytes.h);
 * `run` is always the first field, a u64. A message that does not decode to its last byte closes
 * the link. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "model/trace.h"
#include "sched/sched.h"

enum message {
    MESSAGE_NOTHING, /* the links' own: "still here" */

    /* between schedulers: u64 run, u8 kind, u32 from, to, round, load, count, then `count` items:
     * u32 task, epoch, holder, waiting, max_node, attempts, f64 all_size, max_size */
    MESSAGE_SCHED,

    /* data, either way (depot.c). Asking: FETCH, then either HEAD and its DATA, or ABSENT (also in
     * the middle), or LATER and then one of these. Who wants no more says UNFETCH, ignores what is
     * still on its way, and may ask again at once: UNFETCHED says where the old ends. */
    MESSAGE_FETCH,     /* u64 run, u32 object, u64 offset, 32 bytes of the digest that the first
                          `offset` bytes belong to (zero: from the beginning), u8 make: recompute it
                          when it is not there. Once a link and object until it is over */
    MESSAGE_HEAD,      /* u64 run, u32 object, u64 offset (the one asked for, or 0), u64 total bytes
                          that the whole has, digest (32), u8 form (enum message_form) */
    MESSAGE_DATA,      /* u64 run, u32 object, then bytes, in order from `offset` to `total`; at
                          least one. Of a folder: its archive (depot_pack.h) */
    MESSAGE_ABSENT,    /* u64 run, u32 object, text: it is not here (any more), or cannot be read */
    MESSAGE_LATER,     /* u64 run, u32 object: it is being made */
    MESSAGE_UNFETCHED, /* u64 run, u32 object: the answer to UNFETCH */
    MESSAGE_UNFETCH,   /* u64 run, u32 object, u8 damaged: send no more of it; damaged: all of it
                          came, and had another digest */

    /* client to agent */
    MESSAGE_LOOK,   /* u64 run: the board has news of it; look now */
    MESSAGE_PROBE,  /* u64 mark, text path, text token: does the file stand there with that content?
                     */
    MESSAGE_KEEP,   /* u64 run, u32 n, n times u32 object: fetch these from me and keep them */
    MESSAGE_WATCH,  /* u64 run: tell me what happens, from now on, until the link closes */
    MESSAGE_CANCEL, /* u64 run, u32 task (NONE: the whole run) */
    MESSAGE_LEAVE,  /* u64 0: end this agent: nothing new starts, its tasks go to others; u8 now:
                       running ones are ended too */

    /* agent to client */
    MESSAGE_PROBED, /* u64 mark, u8 yes */
    MESSAGE_KEPT,   /* u64 run, u32 object, u8 good, text why not */
    MESSAGE_EVENTS, /* u64 run, u32 agent, u32 n, n events (protocol_put_event) */
    MESSAGE_FILES,  /* u64 run, u32 n, n times: u32 object, u32 task, digest (32), key (32),
                       f64 size, u8 made */
    MESSAGE_FAILED, /* u64 run, u32 task, u32 attempt, u32 outcome, u32 status, u8 last, f64 limit,
                       text what weft has to say, text the end of its log */
    MESSAGE_TOLD,   /* u64 run, u8 good, text: the answer to CANCEL and LEAVE */
    MESSAGES
};

typedef ARRAY(struct meta_item) protocol_items;

void protocol_put_sched(struct strbuf *out, uint64_t run, const struct sched_message *m,
                        const struct meta_item *items);
/* From behind the run's number on; `items` is filled. False: malformed. */
bool protocol_sched(struct bytes *in, struct sched_message *m, protocol_items *items);

/* An event of a task, without what the receiver knows better: u8 kind, u32 id, lane, attempt, i32
 * outcome, status, f64 start, finish, cpu, memory, read, written, amount. */
enum { PROTOCOL_EVENT_BYTES = 1 + 5 * 4 + 7 * 8 };
void protocol_put_event(struct strbuf *out, const struct trace_event *e);
void protocol_event(struct bytes *in, struct trace_event *e); /* `node` is the receiver's to set */

/* What an object is, and an entry of a folder's archive. Of a file's mode, only whether it can be
 * executed travels. */
enum message_form {
    MESSAGE_FILE,
    MESSAGE_PROGRAM, /* a file that can be executed */
    MESSAGE_FOLDER,
    MESSAGE_SYMLINK, /* in archives only */
};
