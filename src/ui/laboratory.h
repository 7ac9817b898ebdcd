/* What the page is about: a folder, and the history of its user. */
#pragma once
#include <stdbool.h>

struct event_hub;

struct laboratory {
    const char *folder;  /* absolute */
    const char *program; /* weft, which runs what the page starts */
    bool read_only;
    struct event_hub *hub; /* what pages are told without asking (events.h) */
};
