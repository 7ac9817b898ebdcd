#!/usr/bin/env bash
# Loads modules and becomes the command.
#
#     $1 the modules, at blanks
#     then the command
modules=$1
shift
# `module` is a function of a shell that has been told of it: as a login shell is
if ! command -v module >/dev/null 2>&1; then
    for init in "${LMOD_PKG:+$LMOD_PKG/init/bash}" "${MODULESHOME:+$MODULESHOME/init/bash}" \
        /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh /etc/profile.d/modules.sh \
        /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do
        if [ -n "$init" ] && [ -r "$init" ]; then
            # shellcheck source=/dev/null
            . "$init"
            break
        fi
    done
fi
command -v module >/dev/null 2>&1 || {
    echo "weft: modules: there is no 'module' command on this machine" >&2
    exit 127
}
for module in $modules; do
    module load "$module" || {
        echo "weft: modules: '$module' cannot be loaded" >&2
        exit 1
    }
done
exec "$@"
