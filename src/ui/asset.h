/* The page's files, made from page/ at build (cmake/page.cmake). */
#pragma once
#include <stddef.h>

struct ui_asset {
    const char *path, *type; /* "/page.js", "text/javascript; charset=utf-8"; NULL: the end */
    const unsigned char *at;
    size_t n;
};
extern const struct ui_asset ui_assets[];
