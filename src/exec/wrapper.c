/* Environments of conda, and modules: by their own commands, which are found when they are used. */
#include "exec/wrapper.h"

#include "base/program.h"

const char wrapper_conda[] =
    "tool=$1 prefix=$2 file=$3; shift 3\n"
    "if [ ! -e \"$prefix/.weft-ready\" ]; then\n"
    "  exec 9>\"$prefix.lock\" && flock 9 || exit 1\n"
    "  if [ ! -e \"$prefix/.weft-ready\" ]; then\n"
    "    rm -rf \"$prefix\"\n"
    "    case $tool in\n"
    "    *micromamba) \"$tool\" create -y -q -p \"$prefix\" -f \"$file\" ;;\n"
    "    *) \"$tool\" env create -q -p \"$prefix\" -f \"$file\" ;;\n"
    "    esac >\"$prefix.log\" 2>&1 </dev/null 9>&- || { cat \"$prefix.log\" >&2\n"
    "      echo \"weft: conda: $tool could not make the environment of ${file##*/}\" >&2; exit 1; "
    "}\n"
    "    : >\"$prefix/.weft-ready\"\n"
    "  fi\n"
    "  exec 9>&-\n"
    "fi\n"
    "case $tool in\n"
    "*micromamba) exec \"$tool\" run -p \"$prefix\" \"$@\" ;;\n"
    "*) exec \"$tool\" run --no-capture-output -p \"$prefix\" \"$@\" ;;\n"
    "esac\n";

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

const char wrapper_modules[] =
    "modules=$1; shift\n"
    "if ! command -v module >/dev/null 2>&1; then\n"
    "  for init in \"${LMOD_PKG:+$LMOD_PKG/init/bash}\" \"${MODULESHOME:+$MODULESHOME/init/bash}\" "
    "\\\n"
    "    /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh /etc/profile.d/modules.sh \\\n"
    "    /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do\n"
    "    if [ -n \"$init\" ] && [ -r \"$init\" ]; then . \"$init\"; break; fi\n"
    "  done\n"
    "fi\n"
    "command -v module >/dev/null 2>&1 ||\n"
    "  { echo 'weft: modules: there is no `module` command on this machine' >&2; exit 127; }\n"
    "for module in $modules; do\n"
    "  module load \"$module\" ||\n"
    "    { echo \"weft: modules: '$module' cannot be loaded\" >&2; exit 1; }\n"
    "done\n"
    "exec \"$@\"\n";
