/* What the page is about: a folder, and the history of its user. */
#pragma once
#include <stdbool.h>

struct laboratory {
    const char *folder; /* absolute */
    bool read_only;
};
