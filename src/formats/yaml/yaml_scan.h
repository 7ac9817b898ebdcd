/* A look at YAML text before the parser gets it: what would cost it minutes or gigabytes is refused
 * here.
 *
 * libfyaml scans a whole flow collection before it gives its first event, so 100 MB of brackets
 * would fill the memory before any check of levels can act. This scan finds flow collections, keeps
 * apart quotes, comments and block scalars, and counts levels. It need not be exact: it only
 * decides what is refused early. */
#pragma once
#include "base/error.h"

enum { YAML_MOST_LEVELS = 100 };

/* Also refuses endless lines, blocks (| or >) without lines, and runs of blank lines or directives.
 * Two passes; `text` is UTF-8 without NULs. */
bool yaml_scan(const char *file, const char *text, size_t length, struct error *err);
