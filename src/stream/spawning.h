/* Starting a filter's process: in its own group, with every signal as a fresh program has it. */
#pragma once
#include "stream/filter.h"

/* `descriptors`: what the process gets as 0, 1, 3, 4 ... (-1: nothing to read, output as ours). False:
 * it could not be started, `why` says so. */
struct spawning {
    const int *descriptors;
    uint32_t n;
    const char *folder;   /* to run in */
    const char *variable; /* one more, "NAME=VALUE"; NULL: none */
};
bool spawning_start(const struct filter *f, const struct spawning *how, pid_t *pid, char *why,
                    size_t size);
