/* The store of a run under Slurm: a redis-server (store_server.h) beside the client, not in one of the
 * jobs, which end. It outlives the client, so that a run goes on when that is killed or leaves.
 *
 *     own_store_start(folder, &key, &url, &err)        the nodes reach it there
 *     own_store_end(folder)                            when the run is over; on this machine
 *
 * Where it listens: at $WEFT_SERVE_STORE (HOST or HOST:PORT), else at the address from which this
 * machine reaches Slurm's nodes, else at that of its name. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "base/strbuf.h"

bool own_store_start(const char *folder, const struct seal_key *key, struct strbuf *url,
                     struct error *err);
/* End the one of that folder, if there is one here. */
void own_store_end(const char *folder);
