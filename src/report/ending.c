/* How an attempt ended, in words that say what to look for. */
#include "report/human.h"
#include "report/summary.h"

#include <signal.h>
#include <stdio.h>

/* What a signal means to somebody who wonders why his task died. */
static const struct {
    int number;
    const char *name, *words;
} signals[] = {
    {SIGSEGV, "SIGSEGV", "segmentation fault"},
    {SIGABRT, "SIGABRT", "aborted itself"},
    {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error"},
    {SIGILL, "SIGILL", "illegal instruction"},
    {SIGKILL, "SIGKILL", "killed from outside, often by the kernel for want of memory"},
    {SIGTERM, "SIGTERM", "asked to end from outside"},
    {SIGINT, "SIGINT", "interrupted"},
    {SIGHUP, "SIGHUP", "its terminal closed"},
    {SIGQUIT, "SIGQUIT", "quit"},
    {SIGPIPE, "SIGPIPE", "wrote to a pipe that nobody reads"},
    {SIGALRM, "SIGALRM", "its own alarm went off"},
    {SIGTRAP, "SIGTRAP", "trace trap"},
    {SIGSYS, "SIGSYS", "forbidden system call"},
    {SIGXCPU, "SIGXCPU", "over the limit of processor time"},
    {SIGXFSZ, "SIGXFSZ", "wrote a file larger than allowed"},
    {SIGUSR1, "SIGUSR1", "a signal of its own"},
    {SIGUSR2, "SIGUSR2", "a signal of its own"},
};

/* Signals without a row here (real-time ones) are named by number. */
static void add_signal(struct strbuf *out, int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number) {
            strbuf_printf(out, "%s: %s", signals[i].name, signals[i].words);
            return;
        }
    strbuf_printf(out, "signal %d", number);
}

/* Shells report a command that a signal killed as 128 + its number. */
static void add_status(struct strbuf *out, int status)
{
    strbuf_printf(out, "exit status %d", status);
    if (status == 0)
        strbuf_add(
            out,
            ", but it did not do what it declares (an output is missing, or an input changed?)");
    else if (status == 126)
        strbuf_add(out, ": not executable");
    else if (status == 127)
        strbuf_add(out, ": command not found");
    else if (status > 128 && status <= 128 + 64) {
        strbuf_add(out, ": its command was killed by ");
        add_signal(out, status - 128);
    }
}

/* `limit` is the memory limit that applied, 0: none is known. */
void report_ending(const struct trace_event *e, double limit, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
    switch (e->outcome) {
    case TRACE_DONE:
        strbuf_add(out, "done");
        break;
    case TRACE_KILLED:
        strbuf_add(out, "killed by ");
        add_signal(out, e->status > 128 ? e->status - 128 : e->status);
        break;
    case TRACE_TIMEOUT:
        strbuf_printf(out, "over its time limit: ended after %s",
                      human_seconds(a, e->finish - e->start));
        break;
    case TRACE_MEMORY:
        if (e->memory > limit && limit > 0)
            strbuf_printf(out, "over its memory limit: used %s, %s more than its %s",
                          human_bytes(a, e->memory), human_bytes(b, e->memory - limit),
                          human_bytes(c, limit));
        else if (limit > 0)
            strbuf_printf(out, "over its memory limit of %s", human_bytes(a, limit));
        else if (e->memory > 0)
            strbuf_printf(out, "over its memory limit: used %s", human_bytes(a, e->memory));
        else
            strbuf_add(out, "over its memory limit");
        break;
    case TRACE_CANCELLED:
        strbuf_add(out, "cancelled");
        break;
    case TRACE_NODE_FAILED:
        strbuf_printf(out, "its machine failed it (%s), and another takes it",
                      trace_trouble_text(e->status));
        break;
    case TRACE_NOT_STARTED:
        strbuf_add(out, "could not be started");
        if (e->status == 127)
            strbuf_add(out, ": command not found");
        else if (e->status == 126)
            strbuf_add(out, ": not executable");
        break;
    default:
        add_status(out, e->status);
    }
}

void report_skipped(const struct workflow *w, const struct trace_event *e, struct strbuf *out)
{
    if (e->outcome == TRACE_CANCELLED) {
        if (e->other < w->ntasks)
            strbuf_printf(out, "not run: '%s', on which it depends, was cancelled",
                          workflow_task_name(w, e->other));
        else
            strbuf_add(out, "cancelled before it began");
        return;
    }
    if (e->other < w->ntasks)
        strbuf_printf(out, "skipped: it needs what '%s' makes, which has no outputs in this run",
                      workflow_task_name(w, e->other));
    else
        strbuf_add(out, "skipped: its `when` does not hold: ");
    if (e->other >= w->ntasks)
        workflow_when_text(w, e->id, out);
}
