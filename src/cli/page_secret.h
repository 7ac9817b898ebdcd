/* What opens a page that others than this machine can reach: the words of a file, or what a cluster's key gives. */
#pragma once
#include "base/error.h"
#include <stddef.h>

enum { PAGE_SECRET = 512, PAGE_SECRET_LEAST = 8 };

/* The first line of a file that nobody else may read; "-": a line of standard input. */
bool page_secret_of_file(const char *given, char out[static PAGE_SECRET], struct error *err);
/* From a cluster's key (NULL: the user's): 64 digits that do not tell the key. `weft key --page` prints them. */
bool page_secret_of_key(const char *given, char out[static PAGE_SECRET], struct error *err);
