/* What a command may be started behind: scripts that prepare something and then become the command
 * (*.sh, embedded at build), and the programs that they use. */
#pragma once
#include "base/error.h"
#include <stddef.h>

/* conda.sh, for sh: TOOL PREFIX FILE NAME words. */
extern const char exec_conda_sh[];
/* modules.sh, for bash: "gcc/12 openmpi" words. */
extern const char exec_modules_sh[];
/* image.sh, for sh: IMAGE NUMBER ENGINE words. */
extern const char exec_image_sh[];
/* strict_inside.sh, for sh: TEXT. */
extern const char exec_strict_inside_sh[];

/* The first of conda, mamba and micromamba in PATH; NULL: an error. */
const char *wrapper_find_conda(char *path, size_t size, struct error *err);
