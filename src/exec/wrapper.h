/* What a command may be started behind: scripts that prepare something and then become the command, and
 * the programs that they use. */
#pragma once
#include "base/error.h"
#include <stddef.h>

/* For sh: TOOL PREFIX FILE words. Makes the environment of the file, if it is not there, and runs the
 * words in it. Whoever comes second waits for who makes it. */
extern const char wrapper_conda[];
/* The first of conda, mamba and micromamba in PATH; NULL: an error. */
const char *wrapper_find_conda(char *path, size_t size, struct error *err);

/* For bash: "gcc/12 openmpi" words. Loads the modules and becomes the words. */
extern const char wrapper_modules[];
