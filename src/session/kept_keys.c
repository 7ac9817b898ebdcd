/* The keys of a workflow, sorted: O(n log n) once, O(log n) a question. Keys that are not known yet (an
 * input is missing) are none: such a task would run anyway. */
#include "session/kept_keys.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int kept_keys_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

static void kept_keys_make(struct kept_keys *k)
{
    uint32_t ntasks = k->of->w->ntasks;
    k->at = mem_new(struct digest, ntasks);
    for (uint32_t t = 0; t < ntasks; t++) {
        const struct memo_task *known = k->only && !k->only[t] ? NULL : need_find_record(k->of, t);
        if (known)
            k->at[k->n++] = known->key;
    }
    if (k->n)
        qsort(k->at, k->n, sizeof *k->at, kept_keys_order);
    k->made = true;
}

bool kept_keys_has(void *kept_keys, const struct memo_task *t)
{
    struct kept_keys *k = kept_keys;
    if (!k->made)
        kept_keys_make(k);
    return k->n && bsearch(&t->key, k->at, k->n, sizeof *k->at, kept_keys_order);
}

void kept_keys_free(struct kept_keys *k)
{
    free(k->at);
    *k = (struct kept_keys){0};
}
