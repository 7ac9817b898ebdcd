/* A filter that stays: adds a text to every item. `stayer TEXT [DIES] [POISON]`: one time in DIES it kills
 * itself, in the middle of an answer or before it; at items that contain POISON always. */
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void die(void)
{
    fflush(stdout); /* half an answer is out */
    kill(getpid(), SIGKILL);
    abort();
}

int main(int argc, char **argv)
{
    uint64_t head[2];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    srandom((unsigned)getpid() ^ (unsigned)now.tv_nsec);
    long dies = argc > 2 ? atol(argv[2]) : 0;
    while (fread(head, sizeof head, 1, stdin) == 1) {
        char *bytes = calloc(head[0] + strlen(argv[1]) + 1, 1);
        if (!bytes || fread(bytes, 1, head[0], stdin) != head[0])
            return 3;
        if (argc > 3 && strstr(bytes, argv[3]))
            die();
        if (dies && random() % dies == 0)
            die();
        memcpy(bytes + head[0], argv[1], strlen(argv[1]));
        head[0] += strlen(argv[1]);
        fwrite(head, sizeof head, 1, stdout);
        if (dies && random() % dies == 0)
            die();
        fwrite(bytes, 1, head[0], stdout);
        fflush(stdout);
        free(bytes);
    }
    return 0;
}
