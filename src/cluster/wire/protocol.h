/* What agents and clients say to each other over links. All numbers little-endian (base/bytes.h);
 * `run` is always the first field, a u64. A message that does not decode to its last byte closes
 * the link. How to add one: docs/adding-a-message.md. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "model/trace.h"
#include "sched/sched.h"

/* Who sends each, who takes it, what is inside: messages.def, and message.h for the rows. */
enum message {
    MESSAGE_NOTHING, /* the links' own: "still here" */
#define MESSAGE(kind, ...) MESSAGE_##kind,
#include "cluster/wire/messages.def"
#undef MESSAGE
    MESSAGES
};

typedef ARRAY(struct meta_item) protocol_items;
typedef ARRAY(double) protocol_memory;

/* `memory`: of TASKS and PUSH, what the next attempt of each task gets; 0, or NULL: as stated. */
void protocol_put_sched(struct strbuf *out, uint64_t run, const struct sched_message *m,
                        const struct meta_item *items, const double *memory);
/* From behind the run's number on; `items` is filled, and `memory` of TASKS and PUSH. False:
 * malformed. */
bool protocol_sched(struct bytes *in, struct sched_message *m, protocol_items *items,
                    protocol_memory *memory);

/* An event of a task, without what the receiver knows better: u8 kind, u32 id, lane, attempt, i32
 * outcome, status, f64 start, finish, cpu, memory, read, written, amount. */
enum { PROTOCOL_EVENT_BYTES = 1 + 6 * 4 + 7 * 8 };
void protocol_put_event(struct strbuf *out, const struct trace_event *e);
void protocol_event(struct bytes *in, struct trace_event *e); /* `node` is the receiver's to set */

/* What an object is, and an entry of a folder's archive. The permission bits of files and folders
 * travel with them, and no others (MESSAGE_MODE): what was private stays so. */
enum message_form {
    MESSAGE_FILE,
    MESSAGE_FOLDER,
    MESSAGE_SYMLINK, /* in archives only; its mode is 0 */
};
enum { MESSAGE_MODE = 0777 };
