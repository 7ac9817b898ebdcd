/* Options as the caller gives them: structs that may be older than ours, and lists of
 * "name=value"; and the tables of options as callers see them. */
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

bool api_risk(double risk, struct error *err)
{
    if (risk == 0 || (risk > 0 && risk < 1))
        return true;
    return error_set(err, ERROR_INPUT,
                     "the risk is %g; expected the probability with which a task stays below its "
                     "time, above 0 and below 1, such as 0.9",
                     risk);
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
    pairs->at = mem_new_zero(struct option_value, n + 1);
    pairs->storage = mem_alloc(bytes);
    char *end = pairs->storage;
    for (; pairs->n < n; pairs->n++) {
        size_t length = strlen(options[pairs->n]) + 1;
        memcpy(end, options[pairs->n], length);
        size_t name = strcspn(end, "="); /* there is one: looked for above */
        end[name] = 0;
        pairs->at[pairs->n] = (struct option_value){end, end + name + 1};
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

bool api_option(const struct option *table, size_t k, struct weft_option *out)
{
    const struct option *o = table;
    for (size_t skip = 0; o && o->name && skip < k; skip++)
        o++;
    if (!o || !o->name)
        return false;
    *out = (struct weft_option){.name = o->name,
                                .type = option_type_name(o->type),
                                .standard = o->standard,
                                .choices = o->choices,
                                .least = o->least,
                                .most = o->most,
                                .help = o->help};
    return true;
}
