/* The model behind a watch, for the page, which shows more of it than a program wants. */
#pragma once
#include "api/api.h"
#include "session/watching.h"

struct weft_watch {
    struct api_account account;
    struct watching model;
};
