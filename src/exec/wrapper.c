/* Environments of conda, and modules: by their own commands, which are found when they are used. */
#include "exec/wrapper.h"

#include "base/program.h"

const char *wrapper_find_conda(char *path, size_t size, struct error *err)
{
    static const char *const known[] = {"conda", "mamba", "micromamba"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (program_find(known[i], path, size))
            return path;
    error_set(
        err, ERROR_INPUT,
        "there is no conda, mamba or micromamba in PATH on this machine; install one of them, "
        "or take `conda` out of the workflow");
    return NULL;
}
