/* Staging in: the inputs of a run go to agents before it is opened, each in a few copies, so that
 * the run needs its submitter no more and survives the loss of an agent. Private to the client. */
#pragma once
#include "base/error.h"
#include "cluster/client/client.h"

struct bytes;
struct client_peer;
struct stage_in;

struct stage_in_config {
    struct client *client; /* its depot serves what agents fetch */
    const struct client_work *work;
    uint64_t run;
    const uint32_t *nodes; /* agents that get tasks */
    uint32_t nnodes;
    const uint32_t *home; /* per task; NONE: it does not run */
};

/* An input, or the output of a task that is done, which a task that runs reads. `home`: per task;
 * NONE: it does not run. */
bool stage_in_is_read(const struct workflow *w, const uint32_t *home, uint32_t object);

/* What the config points to must stay. Nothing is sent yet. */
struct stage_in *stage_in_new(const struct stage_in_config *config);
void stage_in_free(struct stage_in *s); /* NULL is fine */

/* Send what is to be sent. True: every copy has arrived or was given up, or stage_in_check() fails;
 * or nothing has moved for minutes. */
bool stage_in_advance(struct stage_in *s);
/* False: some input is with nobody, or agents have fallen silent. */
bool stage_in_check(const struct stage_in *s, struct error *err);
/* An agent's MESSAGE_KEPT, behind the run's number. False: malformed. */
bool stage_in_kept(struct stage_in *s, const struct client_peer *from, struct bytes *in);
void stage_in_peer_closed(struct stage_in *s, const struct client_peer *peer);

/* Files that are wanted by some task. */
uint32_t stage_in_files(const struct stage_in *s);
/* Copies, arrived or not: object and agent of the i-th, NONE when it is not there. */
uint32_t stage_in_copies(const struct stage_in *s);
uint32_t stage_in_copy(const struct stage_in *s, uint32_t i, uint32_t *node);
