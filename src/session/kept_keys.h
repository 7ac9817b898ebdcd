/* Which records of the memo a workflow as it is now has a use for. */
#pragma once
#include "memo/need.h"

struct kept_keys {
    const struct needs *of;
    const uint8_t *only; /* one a task: the keys of these; NULL: of all */
    struct digest *at;   /* sorted; made when the first record is asked for */
    size_t n;
    bool made;
};

/* A callback of memo_compact() and memo_tidy(): some task has this record's key. */
bool kept_keys_has(void *kept_keys, const struct memo_task *t);
void kept_keys_free(struct kept_keys *k);
