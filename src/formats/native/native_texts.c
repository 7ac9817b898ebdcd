/* Keys of a workflow that hold texts for others to read: constraints for their planner, hooks for a
 * shell, frames and notes for people. Nothing is filled in. */
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

/* A frame is a list of tasks. That they are there is not asked: a picture must not stop a run. */
static bool native_check_frame(struct native_reading *r, yaml_ref frame)
{
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    if (yaml_type(y, frame) != YAML_SEQUENCE)
        return native_error(&r->file, frame, "a frame is a list of tasks");
    for (yaml_ref e = yaml_first(y, frame); e != YAML_NONE; e = yaml_next(y, frame, e))
        if (!native_text(&r->file, e, "a task of the frame", &text, &length))
            return false;
    return true;
}

static bool native_check_note(struct native_reading *r, yaml_ref note)
{
    static const char *const keys[] = {"text", "beside", NULL};
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    if (yaml_type(y, note) != YAML_MAPPING)
        return native_text(&r->file, note, "a note", &text, &length);
    for (yaml_ref k = yaml_first(y, note); k != YAML_NONE; k = yaml_next(y, note, k)) {
        int key = native_key(&r->file, k, keys);
        if (key < 0 || !native_text(&r->file, yaml_value(k), keys[key], &text, &length))
            return false;
    }
    return true;
}

/* The Workbench draws it; here it is only seen to be what it could draw, so that a slip of the pen is
 * told. */
bool native_read_canvas(struct native_reading *r, yaml_ref canvas)
{
    static const char *const keys[] = {"frames", "notes", NULL};
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, canvas))
        return true;
    if (!native_is_mapping(&r->file, canvas, "canvas"))
        return false;
    for (yaml_ref k = yaml_first(y, canvas); k != YAML_NONE; k = yaml_next(y, canvas, k)) {
        int key = native_key(&r->file, k, keys);
        yaml_ref all = yaml_value(k);
        if (key < 0)
            return false;
        if (yaml_is_null(y, all))
            continue;
        if (!native_is_mapping(&r->file, all, keys[key]))
            return false;
        for (yaml_ref one = yaml_first(y, all); one != YAML_NONE; one = yaml_next(y, all, one))
            if (!(key ? native_check_note : native_check_frame)(r, yaml_value(one)))
                return false;
    }
    return true;
}
