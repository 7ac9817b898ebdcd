/* The page's server: one thread, one loop; libmicrohttpd speaks HTTP. */
#pragma once
#include "base/error.h"
#include "ui/laboratory.h"
#include <stdint.h>

struct ui_options {
    struct laboratory lab;
    uint16_t port;        /* 0: the first free one from UI_PORT on */
    const char *bind;     /* an address, IPv4 or IPv6; NULL: 127.0.0.1 */
    const char *hosts;    /* names by which browsers reach it; NULL: its address */
    char *certificate;    /* PEM, with the private key: it speaks TLS; NULL: it does not */
    const char *password; /* whoever has it may come in; NULL: whoever has the token */
};
enum { UI_PORT = 8787, UI_PORTS = 16 };

/* Serve until SIGINT or SIGTERM. Prints the address, with its token if that opens it, once it listens. Another address than
 * loopback is refused without certificate and password, whoever calls. */
bool ui_serve(const struct ui_options *o, struct error *err);
