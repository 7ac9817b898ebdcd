/* Keys of a workflow that hold texts for others to read: constraints for their planner, hooks for a
 * shell. Nothing is filled in. */
#include "formats/native/native_reading.h"

static bool native_read_assertion(struct native_reading *r, yaml_ref v)
{
    const char *text;
    size_t length;
    if (!native_text(&r->file, v, "assert", &text, &length))
        return false;
    builder_assertion(r->b, text, length, yaml_line(&r->file.y, v));
    return true;
}

/* A text or a list of texts; what they say is the constraint planner's to read. */
bool native_read_assertions(struct native_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) != YAML_SEQUENCE)
        return native_read_assertion(r, v);
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e))
        if (!native_read_assertion(r, e))
            return false;
    return true;
}

/* Commands as they stand: braces are the shell's. */
bool native_read_hooks(struct native_reading *r, yaml_ref hooks)
{
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    if (yaml_is_null(y, hooks))
        return true;
    if (!native_is_mapping(&r->file, hooks, "hooks"))
        return false;
    for (yaml_ref k = yaml_first(y, hooks); k != YAML_NONE; k = yaml_next(y, hooks, k)) {
        int which = native_key(&r->file, k, workflow_hook_name);
        if (which < 0 ||
            !native_text(&r->file, yaml_value(k), workflow_hook_name[which], &text, &length))
            return false;
        builder_hook(r->b, (enum workflow_hook)which, text, length);
    }
    return true;
}
