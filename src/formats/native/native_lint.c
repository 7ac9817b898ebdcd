/* Lists and parameters of a native file that nothing names: a slip, or what is left of an earlier
 * version. Found in the text alone, so that no reader pays for it. */
#include "formats/native/native.h"

#include <stdio.h>
#include <string.h>

/* Is there a scalar that is `name`, or has {name} in it, outside of the nodes from `own` to `end`? */
static bool lint_is_named(const struct yaml *y, const char *name, yaml_ref own, yaml_ref end)
{
    char braced[128];
    snprintf(braced, sizeof braced, "{%.120s}", name);
    for (yaml_ref v = 1; v < y->n; v++) {
        if (v == own)
            v = end;
        if (v >= y->n)
            break;
        const char *text = yaml_type(y, v) == YAML_SCALAR ? yaml_text(y, v, NULL) : "";
        if (strcmp(text, name) == 0 || strstr(text, braced))
            return true;
    }
    return false;
}

/* {sample} and {lane} of "reads/{sample}_{lane}.fq"; true when one of them is named elsewhere. */
static bool lint_pattern_is_named(const struct yaml *y, const char *pattern, yaml_ref own,
                                  yaml_ref end)
{
    for (const char *p = strchr(pattern, '{'); p; p = strchr(p + 1, '{')) {
        char name[128];
        size_t n = strcspn(p + 1, "}");
        snprintf(name, sizeof name, "%.*s", (int)(n < 120 ? n : 120), p + 1);
        if (lint_is_named(y, name, own, end))
            return true;
    }
    return false;
}

static bool lint_list_is_used(const struct yaml *y, yaml_ref key)
{
    yaml_ref v = yaml_value(key), end = y->at[v].next;
    if (lint_is_named(y, yaml_text(y, key, NULL), key, end))
        return true;
    if (yaml_type(y, v) != YAML_MAPPING)
        return false;
    if (yaml_get(y, v, "table") != YAML_NONE)
        return true; /* its columns stand in another file */
    yaml_ref files = yaml_get(y, v, "files");
    return files != YAML_NONE && lint_pattern_is_named(y, yaml_text(y, files, NULL), key, end);
}

/* Parts that are read from elsewhere may name what stands here. */
static bool lint_has_parts(const struct yaml *y)
{
    static const char *const keys[] = {"include", "flow", "with"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (yaml_ref v = 1; v < y->n; v++)
            if (yaml_type(y, v) == YAML_SCALAR && strcmp(yaml_text(y, v, NULL), keys[i]) == 0)
                return true;
    return false;
}

void native_lint(const struct format_source *source, format_lint_found found, void *context)
{
    struct yaml y;
    struct error ignored = {0};
    char text[256];
    if (!yaml_load(&y, source->path, source->text, source->length, &ignored))
        return;
    yaml_ref lists = yaml_type(&y, 0) == YAML_MAPPING ? yaml_get(&y, 0, "lists") : YAML_NONE;
    yaml_ref parameters =
        yaml_type(&y, 0) == YAML_MAPPING ? yaml_get(&y, 0, "parameters") : YAML_NONE;
    if (lint_has_parts(&y))
        lists = parameters = YAML_NONE;
    for (yaml_ref k = lists == YAML_NONE ? YAML_NONE : yaml_first(&y, lists); k != YAML_NONE;
         k = yaml_next(&y, lists, k))
        if (!lint_list_is_used(&y, k)) {
            snprintf(text, sizeof text,
                     "no task names the list '%.100s'; `each: %.60s` runs through it",
                     yaml_text(&y, k, NULL), yaml_text(&y, k, NULL));
            found(context, "unused", (uint32_t)yaml_line(&y, k), text);
        }
    for (yaml_ref k = parameters == YAML_NONE ? YAML_NONE : yaml_first(&y, parameters);
         k != YAML_NONE; k = yaml_next(&y, parameters, k))
        if (!lint_is_named(&y, yaml_text(&y, k, NULL), k, y.at[yaml_value(k)].next)) {
            snprintf(text, sizeof text, "nothing names the parameter {%.100s}",
                     yaml_text(&y, k, NULL));
            found(context, "unused", (uint32_t)yaml_line(&y, k), text);
        }
    yaml_free(&y);
}
