/* Sealed connections between agents and clients (libuv, base/seal.h): whole messages in, whole
 * messages out, in order. Who cannot prove the key, and who sends garbage, something too large, too
 * late or cut off, is closed with a line in the log.
 *
 *     struct links *all = links_new(&config, &err);            listens when `bind` is given
 *     struct link *l = link_connect(all, "10.0.0.7:7411", "agent 3.1");   messages may be sent at once
 *     link_send(l, kind, head, nhead, body, nbody);
 *
 * A link that is closed (by us, by them, by an error) is told once by `closed`, from the loop and
 * never from within another call, and freed after it returns. Everything happens in the loop's
 * thread. The process must ignore SIGPIPE. Kind 0 is the links' own and never delivered. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include <uv.h>

struct link;
struct links;

enum {
    LINK_VERSION = 14, /* of the messages; both ends must have the same */
    LINK_MESSAGE_MAX = SEAL_FRAME_MAX - 16,
};

/* Which end of a cluster somebody is; the bits are those of enum message_end. */
enum link_role { LINK_STRANGER = 0, LINK_AGENT = 1, LINK_CLIENT = 2 };

/* "agent NODE.LIFE": how an agent is called. A client is LINK_CLIENT_NAME. */
enum { LINK_NAME = 40 };
#define LINK_CLIENT_NAME "client"
const char *link_agent_name(uint32_t node, uint32_t life, char out[static LINK_NAME]);
/* The number of the agent at the other end; UINT32_MAX (NONE): it is none, or the link is not open. */
uint32_t link_agent_node(const struct link *l);

struct links_config {
    uv_loop_t *loop;
    struct seal_key key;
    const char *bind;         /* "host:port", port 0: any; NULL: does not listen */
    uint8_t cluster[SEAL_ID]; /* that both ends must be of */
    const char *self;         /* who this end is; copied, and changed by links_rename() */
    double handshake;         /* seconds for the hands to be shaken, connecting included [5] */
    double silence; /* seconds without a byte until a link is given up; both ends send an empty
                          message when they have been silent for a third of it [30] */
    uint32_t most;  /* accepted links at once; more are closed at once [4096] */
    /* of them, those that have not proved the key: in all, and from one other machine [64, 8] */
    uint32_t strangers, strangers_each;
    void (*open)(void *context, struct link *l); /* hands are shaken */
    void (*message)(void *context, struct link *l, uint8_t kind, const void *data, size_t n);
    void (*closed)(void *context, struct link *l, const char *why); /* `why`: "" when in order */
    void (*drained)(void *context, struct link *l); /* what was queued has gone: may be NULL */
    void (*log)(void *context, const char *line);   /* may be NULL */
    /* every change of a link's state (link_machine.h), for who looks for a mistake; may be NULL */
    void (*trace)(void *context, const char *line);
    void *context;
};

struct links *links_new(const struct links_config *config, struct error *err);
/* Closes everything (each is told) and frees once the loop has seen it; run the loop afterwards. */
void links_free(struct links *all);
/* The same at once: nothing goes out any more, and its functions are called no more. */
void links_cut_off(struct links *all);
/* From now on new links are made as this one: an agent learns its number when it has joined, and may
 * get another life. */
void links_rename(struct links *all, const char *self);
const char *links_address(const struct links *all); /* "host:port" it listens at; "" none */

/* Never NULL (what is wrong with the address is told by `closed`), but after links_free(). A name
 * with several addresses is tried at each. It opens only when `name` answers there, of the same
 * cluster; else it is closed, and `closed` says who answered. */
struct link *link_connect(struct links *all, const char *address, const char *name);
/* Queue a message (copied): sent at the end of the loop's turn with whatever else there is. */
void link_send(struct link *l, uint8_t kind, const void *head, size_t nhead, const void *body,
               size_t nbody);
/* Bytes queued and not yet taken by the system: whoever sends much waits for `drained` above a few
 * megabytes. */
size_t link_queued(const struct link *l);
/* Without a reason (NULL or ""): in order, after what was sent before has gone, and the other end
 * sees it so. With one: at once; what is queued is lost, and they see a stream that was cut. */
void link_close(struct link *l, const char *why);
bool link_is_open(const struct link *l);
bool link_is_caller(const struct link *l);      /* we connected */
const char *link_name(const struct link *l);    /* who the other end is, once open */
enum link_role link_role(const struct link *l); /* of the other end, once open */
const char *link_address(const struct link *l); /* of the other end */
void link_set_data(struct link *l, void *data); /* its owner's */
void *link_data(const struct link *l);
struct links_counts {
    uint64_t sent, received; /* bytes */
    uint64_t refused;        /* closed because of what they sent, or did not */
};
struct links_counts links_counts(const struct links *all);
