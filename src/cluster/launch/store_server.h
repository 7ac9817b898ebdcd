/* A redis-server of one's own, for a cluster that has none: started by an agent, in a session of
 * its own, so that it outlives the agent; found again by what it left in its folder. It speaks TLS
 * alone. Its password and its certificate both come from the cluster's key: who has that can use
 * the server and tell it from others, with nothing to configure; who has not learns nothing. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "base/strbuf.h"
#include "store/address.h"
#include <stdbool.h>
#include <sys/types.h>

/* What an address with `auth=key` lacks: the password, and with TLS the certificate to believe
 * (unless ca, name or unchecked name others). Leaves other addresses alone. */
bool store_server_unlock(const struct seal_key *key, struct store_address *a, struct error *err);

/* The password of a store with `auth=key`: who has the key has it. */
enum { STORE_PASSWORD = 65 };
void store_server_password(const struct seal_key *key, char password[static STORE_PASSWORD]);

/* Start it at "host:port" (port 0: a free one), with its data in `folder`, or find the one that
 * runs there already. `url`: its address, with auth=key. */
bool store_server_start(const char *folder, const char *bind, const struct seal_key *key,
                        struct strbuf *url, pid_t *pid, struct error *err);
pid_t store_server_running(const char *folder); /* the one of that folder; 0: none */
/* End it, if it still runs, after its data is on disk. 0: nothing. */
void store_server_stop(pid_t pid);
