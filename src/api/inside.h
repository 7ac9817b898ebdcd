/* The models behind the handles, for the apps of this house: views (tables, pictures) read them.
 * No program outside can include this, and nothing here decides anything. */
#pragma once
#include "api/api.h"
#include "model/check.h"

static inline const struct workflow *inside_workflow(const struct weft_workflow *w)
{
    return w ? w->model : NULL;
}
static inline const struct platform *inside_platform(const struct weft_platform *p)
{
    return p ? p->model : NULL;
}
static inline const struct plan *inside_plan(const struct weft_plan *p)
{
    return p ? p->model : NULL;
}

struct weft_check {
    struct check_result result;
};
