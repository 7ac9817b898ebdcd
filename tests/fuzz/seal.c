/* Bytes of strangers, and of somebody who has the key but lost his mind: the first byte chooses the
 * end that hears them and how they are cut; then come the bytes. */
#include "base/seal.h"

#include <stdlib.h>
#include <string.h>

static void hear(struct seal *s, const void *data, size_t n, struct strbuf *out)
{
    for (;;) {
        const void *frame = NULL;
        size_t size = 0;
        struct error err = {0};
        enum seal_progress p = seal_take(s, data, n, out, &frame, &size, &err);
        n = 0;
        if (p == SEAL_BROKEN && (err.kind == ERROR_NONE || !*err.text))
            abort(); /* a reason for the log */
        if (p == SEAL_FRAME && (!frame || size > SEAL_FRAME_MAX))
            abort();
        if (p == SEAL_MORE || p == SEAL_BROKEN)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1)
        return 0;
    static const struct seal_key key = {{1, 2, 3}};
    static const struct seal_names answerer = {"here", "answerer", NULL},
                                   caller = {"here", "caller", "answerer"};
    struct seal *end[2] = {seal_new(&key, false, 1, "1", &answerer),
                           seal_new(&key, true, 1, "1", &caller)};
    struct strbuf said[2] = {{0}, {0}};
    seal_begin(end[0], &said[0]);
    unsigned steps = (data[0] >> 1) & 3; /* how far the two get before */
    for (unsigned i = 0; i < steps; i++) {
        unsigned from = i & 1;
        struct strbuf moved = said[from];
        said[from] = (struct strbuf){0};
        hear(end[!from], moved.at, moved.n, &said[!from]);
        strbuf_free(&moved);
    }
    struct seal *victim = end[data[0] & 1];
    struct strbuf *answer = &said[data[0] & 1];
    size_t before = answer->n;
    bool was_open = seal_is_open(victim);
    size_t cut = 1 + (data[0] >> 3);
    for (size_t at = 1; at < n; at += cut)
        hear(victim, data + at, n - at < cut ? n - at : cut, answer);
    /* the answerer says nothing to who did not prove the key; nobody opens for garbage */
    if (!(data[0] & 1) && answer->n != before)
        abort();
    if (!was_open && seal_is_open(victim))
        abort();
    for (int i = 0; i < 2; i++) {
        seal_free(end[i]);
        strbuf_free(&said[i]);
    }
    return 0;
}
