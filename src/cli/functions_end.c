/* A function of a task is in this very process: exit() in it ends weft, and so does a crash. Nothing can be saved
 * then but a word of whose it was. In an agent that word stands in its log.
 *
 * What was done is on record, as after a kill. Nothing else is closed: other threads go on until the end. */
#include "base/calling.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"},
               {SIGBUS, "SIGBUS"},
               {SIGABRT, "SIGABRT"},
               {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"}};

/* The status of exit() is the function's: 0 would say that a run is done which has hardly begun. */
static void functions_left(void)
{
    if (!calling_task)
        return;
    struct strbuf text = {0};
    strbuf_printf(
        &text,
        "task '%s': its function has called exit(), which ends weft itself; a function must "
        "return (weft/task.h)",
        calling_task);
    cli_say("error: ", strbuf_text(&text));
    _exit(ERROR_FAILED);
}

static struct iovec functions_piece(const char *text)
{
    return (struct iovec){(void *)(uintptr_t)text, strlen(text)};
}

/* In a signal handler: nothing but write(2). The handler is gone already (SA_RESETHAND), so that the signal, which
 * comes again, ends the process as if there had been none. */
static void functions_crashed(int number)
{
    const char *name = "a signal";
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i].number == number)
            name = crashes[i].name;
    if (calling_task) {
        const struct iovec text[] = {
            functions_piece("weft: error: task '"), functions_piece(calling_task),
            functions_piece("': its function has crashed ("), functions_piece(name),
            functions_piece("), which ends weft itself\n")};
        ssize_t wrote = writev(STDERR_FILENO, text, sizeof text / sizeof *text);
        (void)wrote;
    }
    raise(number);
}

void cli_tell_functions(void)
{
    struct sigaction before, action = {.sa_handler = functions_crashed, .sa_flags = SA_RESETHAND};
    atexit(functions_left);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        /* sanitizers have handlers of their own, which say more */
        if (sigaction(crashes[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(crashes[i].number, &action, NULL);
}
