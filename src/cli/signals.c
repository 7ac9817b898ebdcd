/* The handlers that stop a run.
 *
 * I1. `stopped` is set before the handlers are and cleared after they are gone, so a handler never
 *     sees a run that is not open.
 * I2. The handler does nothing but run_stop(), which is safe there. */
#include "cli/signals.h"

#include "exec/child.h"

#include <signal.h>
#include <stdatomic.h>

enum { SIGNALS = 3 };

static const int signal_numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction actions_before[SIGNALS];
static struct run *_Atomic stopped;

static void on_stop_signal(int number)
{
    (void)number;
    struct run *r = atomic_load(&stopped);
    if (r)
        run_stop(r);
}

void signals_stop(struct run *r)
{
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    atomic_store(&stopped, r);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signal_numbers[i], &action, &actions_before[i]);
}

void signals_release(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signal_numbers[i], &actions_before[i], NULL);
    atomic_store(&stopped, NULL);
}

bool signals_run_workflow(const struct run_options *o, struct run_result *result, struct error *err)
{
    *result = (struct run_result){0};
    struct run *r = run_open(o, err);
    if (!r)
        return false;
    children_adopt_orphans();
    signals_stop(r);
    while (run_step(r, -1))
        ;
    signals_release();
    return run_close(r, result, err);
}
