/* "Did you mean ...?" */
#pragma once
#include <stddef.h>

/* The candidate nearest to `word` by edit distance, NULL when none is near enough to be a likely
 * slip. */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t count);
