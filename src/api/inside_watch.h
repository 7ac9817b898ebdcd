/* The model behind a watch, for the page, which shows more of it than a program wants. */
#pragma once
#include "api/api.h"
#include "session/glance.h"
#include "session/watching.h"

struct weft_watch {
    struct api_account account;
    struct watching model;
};

/* session/glance.h, with memory that runs out as an error. */
bool watch_glance(int64_t run, struct glance *out, bool *told, struct weft_error *error);
