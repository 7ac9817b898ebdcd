/* Signals while something of a cluster is under way: SIGINT and SIGTERM stop the client or the
 * agents being started; SIGHUP (the terminal is gone) leaves a run that is followed. The handlers
 * are the program's, not the library's: they stand here. One target at a time; without one the
 * signals do what they did before. */
#pragma once
#include "cluster/client/client.h"
#include "cluster/launch/fleet.h"

void cluster_signals_client(struct client *c);
void cluster_signals_fleet(struct fleet *f); /* SIGHUP stays as it was */
void cluster_signals_release(void);
