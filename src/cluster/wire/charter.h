/* A cluster's charter: the id that was drawn when it was founded, sealed, on its board. Whoever has the
 * key and the charter can say and verify things of this cluster, and of no other that has the same key.
 *
 * Redis is a place where anybody may write. So nothing that comes from there is believed because it
 * stands there:
 *
 *     what is secret, or says who somebody is      charter_seal(), charter_unseal()
 *     the state of a run                           charter_change(), charter_proves()
 *     that a task has ended, and who has its data  the store does it (store/redis, `proofs`)
 *
 * One function each way: who adds a sealed piece takes a purpose of its own and the number that it
 * belongs to; who adds a state of runs adds it to enum board_run_state, and is done. A proof says that
 * somebody with the key wrote this once. That it is the newest nobody can prove: agents and clients
 * remember the furthest state that they saw of a run, by its id (agent/spent.h, client/follow.c), and
 * say so when the board goes back. */
#pragma once
#include "base/error.h"
#include "base/file.h"
#include "base/seal.h"
#include "base/strbuf.h"
#include "store/board.h"

struct charter {
    struct seal_key key;
    uint8_t id[SEAL_ID];
    struct strbuf sealed; /* as it stands on the board */
};

enum { CHARTER_NAME = 9 };

/* What an agent brings along when there is no charter: the one that it knew, if that is of this prefix and
 * key, and the last number of a run. */
struct charter_founder {
    const struct text *remembered; /* may be empty */
    uint64_t last_run;
    bool alone; /* the store is its own, and new: nobody else can know better */
};
/* Read it, or found the cluster, with a new charter if the founder has none. Blocks for moments; where
 * nothing stands, and nothing is remembered, for two seconds: a store that lost its data gets its charter
 * back from an agent. `founder` NULL: a client. False: another key's, or the server is silent. */
bool charter_open(struct charter *c, struct board *b, const struct store_address *address,
                  const struct seal_key *key, const struct charter_founder *founder,
                  struct error *err);
void charter_free(struct charter *c);
/* Eight digits by which people tell clusters apart. */
void charter_name(const uint8_t id[static SEAL_ID], char name[static CHARTER_NAME]);

enum charter_standing {
    CHARTER_STANDS,
    CHARTER_GONE,    /* deleted, or written over by somebody without the key */
    CHARTER_CHANGED, /* somebody with the key founded another cluster there, or put an old one back */
};
/* What a view shows of it; `id`: of the other one, when it CHANGED. */
enum charter_standing charter_standing(const struct charter *c, const struct store_address *address,
                                       const struct board_view *view, uint8_t id[static SEAL_ID]);

/* Purposes in use: "ticket", "remains" and "part" (number: the run), "member" (charter_member()). */
void charter_seal(const struct charter *c, const char *purpose, uint64_t number, const void *data,
                  size_t n, struct strbuf *out);
bool charter_unseal(const struct charter *c, const char *purpose, uint64_t number, const void *data,
                    size_t n, struct strbuf *out);
/* The number of a member's text. */
static inline uint64_t charter_member(uint32_t node, uint32_t life)
{
    return (uint64_t)node << 32 | life;
}

/* A change of state with its proof, for board_run_state(). */
struct board_change charter_change(const struct charter *c, uint64_t run,
                                   const uint8_t id[static SEAL_ID], enum board_run_state state);
/* By which the ends of a run's tasks are proved, in its store. */
struct seal_prover charter_prover(const struct charter *c, uint64_t run,
                                  const uint8_t id[static SEAL_ID]);
/* Did somebody with the key say this of this run of this cluster? */
bool charter_proves(const struct charter *c, const struct board_run *run);
