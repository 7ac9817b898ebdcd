/* What joins a run while it goes on, as it stands on the board: sealed for the run's number, and inside it
 * the run's id and its own place, so that neither another run's part nor another of this run passes for
 * it. The bytes that follow are those of model/future.h. */
#pragma once
#include "cluster/wire/charter.h"

struct run_part {
    uint32_t number;     /* counted from 0 */
    uint32_t node, life; /* who offers it, and puts its tasks into the store */
    struct strbuf bytes;
};

void run_part_seal(const struct run_part *p, const struct charter *c, uint64_t run,
                   const uint8_t id[static SEAL_ID], struct strbuf *out);
/* False: it is not part `number` of this run, by somebody with the key; nothing to free. */
bool run_part_unseal(struct run_part *p, const struct charter *c, uint64_t run,
                     const uint8_t id[static SEAL_ID], uint32_t number, const void *data, size_t n);
void run_part_free(struct run_part *p);
