/* Lists of failures that are tried again: see retry.h. Looked at when an attempt has failed, which is
 * rare: nothing is kept but the text. */
#include "model/retry.h"

#include "base/quantity.h"
#include "base/suggest.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int number;
} retry_signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},
                     {"TRAP", SIGTRAP}, {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},
                     {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
                     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"XCPU", SIGXCPU},
                     {"XFSZ", SIGXFSZ}, {"SYS", SIGSYS}};
enum { RETRY_SIGNALS = sizeof retry_signals / sizeof *retry_signals };

/* The status that stands for the signal; 0: it is none. */
static int signal_status(const char *word)
{
    const char *name = strncmp(word, "SIG", 3) == 0 ? word + 3 : word;
    for (int i = 0; i < RETRY_SIGNALS; i++)
        if (strcmp(retry_signals[i].name, name) == 0)
            return 128 + retry_signals[i].number;
    return 0;
}

static bool retry_unknown(const char *word, struct error *err)
{
    const char *names[RETRY_SIGNALS + 2] = {"memory", "timeout"};
    for (int i = 0; i < RETRY_SIGNALS; i++)
        names[2 + i] = retry_signals[i].name;
    const char *near = suggest_nearest(word, names, RETRY_SIGNALS + 2);
    return error_set(err, ERROR_INPUT,
                     "retry_on names '%.80s'; expected exit statuses (1 to 255), signals "
                     "(SIGKILL), memory or timeout%s%s%s",
                     word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool retry_add(struct strbuf *list, const char *word, struct error *err)
{
    int64_t status = signal_status(word);
    bool named = strcmp(word, "memory") == 0 || strcmp(word, "timeout") == 0;
    if (!named && !status) {
        if (!quantity_integer(word, strlen(word), &status))
            return retry_unknown(word, err);
        if (status < 1 || status > 255)
            return error_set(err, ERROR_INPUT, "retry_on names the exit status %lld; %s",
                             (long long)status, status ? "expected 1 to 255" : "0 is no failure");
    }
    if (list->n)
        strbuf_add_char(list, ',');
    if (named)
        strbuf_add(list, word);
    else
        strbuf_printf(list, "%d", (int)status);
    return true;
}

bool retry_check(const char *list, struct error *err)
{
    struct strbuf again = {0};
    bool good = true;
    for (const char *at = list; good && *at;) {
        size_t n = strcspn(at, ",");
        struct strbuf word = {0};
        strbuf_add_bytes(&word, at, n);
        good = retry_add(&again, strbuf_text(&word), err);
        strbuf_free(&word);
        at += n + (at[n] == ',');
    }
    strbuf_free(&again);
    return good;
}

bool retry_has(const char *list, enum trace_outcome outcome, int status)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if ((n == 6 && memcmp(at, "memory", 6) == 0 && outcome == TRACE_MEMORY) ||
            (n == 7 && memcmp(at, "timeout", 7) == 0 && outcome == TRACE_TIMEOUT) ||
            (*at <= '9' && strtol(at, NULL, 10) == status))
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* Every rung of memory is worth an attempt. */
bool retry_is_last(const struct workflow *w, uint32_t task, uint32_t attempt,
                   enum trace_outcome outcome, int status)
{
    uint32_t retries = w->retries ? w->retries[task] : 0;
    uint32_t rungs = w->more_off ? w->more_off[task + 1] - w->more_off[task] : 0;
    const char *list = w->retry_on ? workflow_text(w, w->retry_on[task]) : "";
    return attempt > (retries > rungs ? retries : rungs) ||
           (*list && !retry_has(list, outcome, status));
}
