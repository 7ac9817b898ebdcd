/* A log that is too long keeps its two ends. */
#pragma once
#include <stdbool.h>

/* Replace the file at `path`, open as `log`, by the first and the last `most` / 2 of its `size` bytes,
 * with a line between them that says how many are left out. */
bool log_keep_ends(int log, const char *path, double size, double most);
