/* Options as the caller gives them: structs that may be older than ours, and lists of
 * "name=value". */
#include "api/api.h"

#include <string.h>

bool(api_options)(void *own, size_t size, const void *theirs, struct error *err)
{
    size_t given;
    if (!theirs)
        return true;
    memcpy(&given, theirs, sizeof given); /* `size` is the first field of every one */
    if (given < sizeof given)
        return error_set(err, ERROR_INPUT,
                         "a struct of options has no size: set it with its WEFT_..._INIT");
    /* A newer program on an older library: what we do not know we do not do. */
    memcpy(own, theirs, given < size ? given : size);
    return true;
}

bool api_pairs_split(struct api_pairs *pairs, const char *const *options, struct error *err)
{
    size_t n = 0, bytes = 0;
    *pairs = (struct api_pairs){0};
    for (; options && options[n]; n++) {
        const char *equals = strchr(options[n], '=');
        if (!equals || equals == options[n])
            return error_set(err, ERROR_INPUT, "option '%s' is not name=value", options[n]);
        bytes += strlen(options[n]) + 1;
    }
    pairs->at = mem_new_zero(struct api_pair, n + 1);
    pairs->storage = mem_alloc(bytes);
    char *end = pairs->storage;
    for (; pairs->n < n; pairs->n++) {
        size_t length = strlen(options[pairs->n]) + 1;
        memcpy(end, options[pairs->n], length);
        char *equals = strchr(end, '=');
        *equals = 0;
        pairs->at[pairs->n] = (struct api_pair){end, equals + 1};
        end += length;
    }
    return true;
}

void api_pairs_free(struct api_pairs *pairs)
{
    free(pairs->at);
    free(pairs->storage);
    *pairs = (struct api_pairs){0};
}
