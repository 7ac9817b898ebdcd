/* The handlers that stop a run or a call to a cluster.
 *
 * I1. A target is set before the handlers are and cleared after they are gone, so that a handler
 *     never sees one that is closed.
 * I2. A handler calls weft_..._stop(), weft_run_detach() or alarm() and nothing else; all are safe
 *     there. The one of SIGALRM writes a line and ends the process.
 * I3. A SIGHUP that was ignored when weft started stays ignored: that is what nohup is for.
 * I4. Two signals end a run: what does not end by itself then (a function that does not return, a
 *     disk that hangs) is ended with the process, when the alarm rings. It is not taken back: closing
 *     may hang, too. */
#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static const int signal_numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signal_numbers / sizeof *signal_numbers };
static struct sigaction actions_before[SIGNALS];
static int signals_set; /* how many of them */
static struct weft_run *_Atomic stopped_run;
static struct weft_cluster *_Atomic stopped_cluster;
static struct weft_stream *_Atomic stopped_stream;
static struct weft_agent *_Atomic stopped_agent;
static atomic_int agent_stops, signals_seen;

enum { LAST_SECONDS = 30 }; /* for what is ended to end: tasks are killed at once, files closed */

/* What is on record stays, and a later run ends what this one has left. */
static void on_last_seconds_over(int number)
{
    static const char text[] = "weft: error: the run did not end within 30 s of the second signal; "
                               "ended by force\n";
    (void)number;
    ssize_t written = write(2, text, sizeof text - 1);
    (void)written;
    _exit(1);
}

/* Twice the same signal counts twice: the library makes more of each stop. */
static void on_stop_signal(int number)
{
    struct weft_run *run = atomic_load(&stopped_run);
    struct weft_cluster *cluster = atomic_load(&stopped_cluster);
    if (run && number == SIGHUP)
        weft_run_detach(run);
    else if (run)
        weft_run_stop(run);
    struct weft_stream *stream = atomic_load(&stopped_stream);
    if (stream) /* without its terminal it drains, too: who gave it items may be gone */
        weft_stream_stop(stream);
    if ((run || cluster || stream) && number != SIGHUP && atomic_fetch_add(&signals_seen, 1) == 1)
        alarm(LAST_SECONDS); /* I4 */
    if (cluster)
        weft_cluster_stop(cluster);
    struct weft_agent *agent = atomic_load(&stopped_agent);
    if (agent && atomic_fetch_add(&agent_stops, 1) < 2) {
        weft_agent_stop(agent);
    } else if (agent) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* SA_RESTART: a read that is interrupted elsewhere goes on; the run's loop is woken by the stop itself.
 * All signals are blocked meanwhile, so that handlers do not nest. */
static void signals_install(int count)
{
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < count; i++) {
        sigaction(signal_numbers[i], NULL, &actions_before[i]);
        if (signal_numbers[i] != SIGHUP || actions_before[i].sa_handler != SIG_IGN) /* I3 */
            sigaction(signal_numbers[i], &action, NULL);
    }
    signal(SIGALRM, on_last_seconds_over);
    signals_set = count;
    signals_seen = 0;
}

void signals_stop_run(struct weft_run *run)
{
    signals_release();
    atomic_store(&stopped_run, run);
    signals_install(SIGNALS);
}

void signals_stop_stream(struct weft_stream *stream)
{
    signals_release();
    atomic_store(&stopped_stream, stream);
    signals_install(SIGNALS);
}

void signals_stop_cluster(struct weft_cluster *cluster)
{
    signals_release();
    atomic_store(&stopped_cluster, cluster);
    signals_install(SIGNALS);
}

void signals_stop_agent(struct weft_agent *agent)
{
    signals_release();
    atomic_store(&stopped_agent, agent);
    signals_install(2); /* not SIGHUP: an agent without a terminal goes on */
}

void signals_release(void)
{
    for (int i = 0; i < SIGNALS && i < signals_set; i++)
        sigaction(signal_numbers[i], &actions_before[i], NULL);
    signals_set = 0;
    atomic_store(&stopped_run, NULL);
    atomic_store(&stopped_cluster, NULL);
    atomic_store(&stopped_agent, NULL);
    atomic_store(&stopped_stream, NULL);
}
