/* Keys pressed while a command works: `+` asks a search for more speed. Only on a terminal in the
 * foreground; the terminal's settings are put back by keys_leave(), and on the signals that end the
 * program from the keyboard. */
#pragma once
#include <stdbool.h>
#include <termios.h>

struct keys {
    bool listening;
    struct termios before;
    unsigned pluses;
};

void keys_listen(struct keys *k, bool quiet);
void keys_leave(struct keys *k);
/* How often + was pressed so far; `context` is the struct keys. Does not wait. */
unsigned keys_urgency(void *context);
