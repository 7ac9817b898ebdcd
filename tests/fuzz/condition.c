/* Conditions of any text: parsed or refused with a reason; what was parsed can be answered or not,
 * and the same twice. */
#include "model/condition.h"

#include <stdlib.h>
#include <string.h>

static struct condition_file no_file(void *context, bool out, uint32_t place)
{
    const bool *there = context;
    (void)out;
    return (struct condition_file){"file", there && place == 0 ? "/dev/null" : NULL};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct condition_scope scopes[] = {{"when", 1, 0}, {"until", 2, 3}};
    bool there = n && data[0] & 2;
    const struct condition_world world = {&there, no_file};
    if (!n)
        return 0;
    char *text = malloc(n);
    memcpy(text, data + 1, n - 1);
    text[n - 1] = 0;
    struct error err = {0};
    struct condition *c = condition_parse(text, &scopes[data[0] & 1], &err);
    if (!c && err.kind != ERROR_INPUT)
        abort();
    if (c) {
        bool one = false, two = true;
        struct error why = {0}, again = {0};
        bool first = condition_holds(c, &world, &one, &why);
        bool second = condition_holds(c, &world, &two, &again);
        if (first != second || (first && one != two) || (!first && why.kind != ERROR_FAILED))
            abort();
    }
    condition_free(c);
    /* a value stands for itself, whatever it is */
    struct strbuf value = {0};
    bool same = false;
    condition_add_value(&value, text);
    strbuf_add(&value, " = ");
    condition_add_value(&value, text);
    if (value.n < CONDITION_TEXT_MOST) {
        struct error why = {0};
        c = condition_parse(value.at, &scopes[0], &why);
        if (!c || !condition_holds(c, NULL, &same, &why) || !same)
            abort();
        condition_free(c);
    }
    strbuf_free(&value);
    free(text);
    return 0;
}
