/* A function of a task is in this very process: exit() in it ends weft, and so does a crash; _exit() does it past all
 * handlers, and pthread_exit() takes a thread that nobody would wait for in vain but this run. So both are defined here, in
 * the place of libc's. Nothing can be saved then but a word of whose it was. In an agent that word stands in its log.
 * What a function starts by fork() or vfork() may end as it likes.
 *
 * What was done is on record, as after a kill. Nothing else is closed: other threads go on until the end. */
#include "base/calling.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

static pid_t functions_process; /* 0: nothing is to be told */

static void functions_forked(void)
{
    functions_process = getpid();
    calling_task = NULL;
}

/* Is this thread in a call of this process? The child of a vfork() has its parent's memory. */
static bool functions_call(void)
{
    return calling_task && functions_process == getpid();
}

/* The status of exit() is the function's: 0 would say that a run is done which has hardly begun. */
static void functions_tell_end(const char *how)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "task '%s': its function has called %s, which ends %s; a function must return "
                  "(weft/task.h)",
                  calling_task, how, strcmp(how, "pthread_exit()") ? "weft itself" : "its thread");
    cli_say("error: ", strbuf_text(&text));
    calling_task = NULL;
    _exit(ERROR_FAILED);
}

static void functions_left(void)
{
    if (functions_call())
        functions_tell_end("exit()");
}

/* NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): libc's names, in its place */
__attribute__((visibility("default"))) void _exit(int status)
{
    if (functions_call())
        functions_tell_end("_exit()");
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}
/* NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp) */

__attribute__((visibility("default"))) void pthread_exit(void *result)
{
    void (*theirs)(void *result);
    if (functions_call())
        functions_tell_end("pthread_exit()");
    *(void **)&theirs = dlsym(RTLD_NEXT, "pthread_exit");
    theirs(result);
    abort(); /* it does not return */
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
    if (functions_call()) {
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
    functions_process = getpid();
    pthread_atfork(NULL, NULL, functions_forked);
    atexit(functions_left);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        /* sanitizers have handlers of their own, which say more */
        if (sigaction(crashes[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(crashes[i].number, &action, NULL);
}
