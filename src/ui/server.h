/* The page's server: one thread, one loop; libmicrohttpd speaks HTTP. */
#pragma once
#include "base/error.h"
#include "ui/laboratory.h"
#include <stdint.h>

struct ui_options {
    struct laboratory lab;
    uint16_t port; /* 0: the first free one from UI_PORT on */
};
enum { UI_PORT = 8787, UI_PORTS = 16 };

/* Serve until SIGINT or SIGTERM. Prints the address with its token once it listens. */
bool ui_serve(const struct ui_options *o, struct error *err);
