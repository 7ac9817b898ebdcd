/* Hashes of tasks: what they do, and what they do with what they read. Private to need.c. */
#pragma once
#include "memo/need.h"

/* Enough to tell two contents of one file apart when people ask what changed; keys are whole. */
uint64_t need_short_digest(const struct digest *d);
/* Of what the task does alone: its command, what that runs in, the names of its outputs. */
uint64_t need_hash_command(const struct needs *n, uint32_t task);
/* Its key; false: the content of an input is not known. `named`: its name is part of it. `command` (may be NULL):
 * need_hash_command() of it, for which nothing is hashed twice. */
bool need_hash_task(const struct needs *n, uint32_t task, bool named, struct digest *key,
                    uint64_t *command);

/* A task's key and the hash of its command: made once for a task that ends, however often they are asked for. */
struct need_hashes {
    struct digest key;
    uint64_t command;
    bool made, known;
};

/* False: its key is not known. */
bool need_hash(const struct needs *n, uint32_t task, struct need_hashes *h);
