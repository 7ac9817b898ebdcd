/* A process that works for a stream elsewhere: the other end of troop.h. It asks nothing, keeps nothing and
 * ends when the stream does.
 *
 *     h = helper_join(addresses, &key, number, &err);     what the stream is: helper_text()
 *     helper_serve(h, workflow, &err);                    until the stream ends */
#pragma once
#include "base/seal.h"
#include "model/workflow.h"

struct helper;

/* Files that this machine does not have are put into the current folder. NULL: nobody is there, or he does
 * not know the key. */
struct helper *helper_join(const char *addresses, const struct seal_key *key, uint32_t number,
                           struct error *err);
const char *helper_text(const struct helper *h); /* the workflow */
/* False: its filters cannot be opened here. The workflow is what helper_text() says. */
bool helper_serve(struct helper *h, const struct workflow *w, struct error *err);
void helper_close(struct helper *h); /* NULL is fine */
