/* The handlers that stop a client or a fleet.
 *
 * I1. A target is set before the handlers are and cleared after they are gone, so that a handler
 *     never sees one that is closed.
 * I2. A handler calls client_stop(), client_detach() or fleet_stop() and nothing else; all three are
 *     safe there. */
#include "cli/cluster_signals.h"

#include <signal.h>
#include <stdatomic.h>

enum { CLUSTER_SIGNALS = 3 };

static const int cluster_signal_numbers[CLUSTER_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction cluster_actions_before[CLUSTER_SIGNALS];
static int cluster_handled; /* how many of the signals are ours now */
static struct client *_Atomic cluster_stopped_client;
static struct fleet *_Atomic cluster_stopped_fleet;

static void cluster_signal_came(int number)
{
    struct client *c = atomic_load(&cluster_stopped_client);
    struct fleet *f = atomic_load(&cluster_stopped_fleet);
    if (c && number == SIGHUP)
        client_detach(c);
    else if (c)
        client_stop(c);
    if (f)
        fleet_stop(f);
}

static void cluster_signals_install(int n)
{
    struct sigaction action = {.sa_handler = cluster_signal_came, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < n; i++)
        sigaction(cluster_signal_numbers[i], &action, &cluster_actions_before[i]);
    cluster_handled = n;
}

void cluster_signals_client(struct client *c)
{
    cluster_signals_release();
    atomic_store(&cluster_stopped_client, c);
    cluster_signals_install(3);
}

void cluster_signals_fleet(struct fleet *f)
{
    cluster_signals_release();
    atomic_store(&cluster_stopped_fleet, f);
    cluster_signals_install(2); /* whose terminal goes while agents start is ended by it */
}

void cluster_signals_release(void)
{
    for (int i = 0; i < cluster_handled; i++)
        sigaction(cluster_signal_numbers[i], &cluster_actions_before[i], NULL);
    cluster_handled = 0;
    atomic_store(&cluster_stopped_client, NULL);
    atomic_store(&cluster_stopped_fleet, NULL);
}
