/* What the board keeps of a run whose results were taken: enough to say what it was, for as long as it
 * is listed. It stands where the ticket stood, sealed for another purpose. */
#pragma once
#include "base/strbuf.h"
#include "cluster/wire/charter.h"
#include <stdbool.h>
#include <stdint.h>

struct run_remains {
    char *name, *host, *folder; /* of the workflow; from where it was submitted */
    char *taken_by, *taken_to;  /* host and folder of who took the results */
    uint32_t tasks, done, failed, removed;
    double seconds; /* from its opening to its end */
    bool shared;
};

void run_remains_seal(const struct run_remains *r, const struct charter *c, uint64_t run,
                      struct strbuf *out);
/* False: it is none, or not of this run of this cluster. */
bool run_remains_unseal(struct run_remains *r, const struct charter *c, uint64_t run,
                        const void *data, size_t n);
void run_remains_free(struct run_remains *r);
