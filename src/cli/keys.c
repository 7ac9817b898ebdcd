/* Keys while a command works: the terminal without line editing and echo, put back whatever happens. */
#include "cli/keys.h"
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* For the signal handler alone: what to put back. Written before the handler is set. */
static struct termios restore;

/* The terminal first, then the signal again with its usual effect. */
static void put_back(int signal_number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &restore);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Not in the background: reading there would stop the program (SIGTTIN). */
void keys_listen(struct keys *k, bool quiet)
{
    *k = (struct keys){0};
    if (quiet || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
        tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &k->before) != 0)
        return;
    struct termios raw = k->before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    restore = k->before;
    signal(SIGINT, put_back);
    signal(SIGTERM, put_back);
    k->listening = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void keys_leave(struct keys *k)
{
    if (!k->listening)
        return;
    tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    k->listening = false;
}

unsigned keys_urgency(void *context)
{
    struct keys *k = context;
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char pressed[16];
    while (k->listening && poll(&in, 1, 0) == 1 && (in.revents & POLLIN)) {
        ssize_t n = read(STDIN_FILENO, pressed, sizeof pressed);
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            k->pluses += pressed[i] == '+';
    }
    return k->pluses;
}
