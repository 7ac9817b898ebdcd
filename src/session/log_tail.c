/* The end of a log: one read from its end, however long it is. */
#include "session/log_tail.h"

#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A failure's last words are in its last lines; more would push the other failures off a screen. */
enum { TAIL_LINES = 8, TAIL_BYTES = 4096 };

char *log_tail(const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    char *text = mem_new(char, TAIL_BYTES + 1);
    ssize_t n = pread(fd, text, TAIL_BYTES, from);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *at = text + strlen(text);
    while (at > text && (at[-1] == '\n' || at[-1] == '\r'))
        *--at = 0;
    for (int lines = 0; at > text; at--)
        if (at[-1] == '\n' && ++lines == TAIL_LINES)
            break;
    memmove(text, at, strlen(at) + 1);
    return text;
}
