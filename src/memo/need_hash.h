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

/* Made once for a task that ends, however often they are asked for. False: its key is not known. */
bool need_hash(const struct needs *n, uint32_t task, struct need_hashes *h);
/* Of the name of an object, as records have it. */
uint64_t need_hash_name(const struct needs *n, uint32_t object);
/* Those of a task that has no files are kept; of all others nothing is done. Once what it reads is known. */
void need_keep_hashes(struct needs *n, uint32_t task);
