#!/bin/sh
# Runs a command in an environment of conda. Whoever comes first makes it, and the others wait for him.
#
#     $1 conda, mamba or micromamba
#     $2 the folder of the environment; .weft-ready in it says that it is whole
#     $3 the file that describes it, $4 what people call that file
#     then the command
tool=$1 prefix=$2 file=$3 name=$4
shift 4
if [ ! -e "$prefix/.weft-ready" ]; then
    exec 9>"$prefix.lock" || exit 1
    flock 9 || exit 1
    if [ ! -e "$prefix/.weft-ready" ]; then
        rm -rf "$prefix"
        case $tool in
        *micromamba) "$tool" create -y -q -p "$prefix" -f "$file" ;;
        *) "$tool" env create -q -p "$prefix" -f "$file" ;;
        esac >"$prefix.log" 2>&1 </dev/null 9>&- || {
            cat "$prefix.log" >&2
            echo "weft: conda: $tool could not make the environment of $name" >&2
            exit 1
        }
        : >"$prefix/.weft-ready"
    fi
    exec 9>&-
fi
case $tool in
*micromamba) exec "$tool" run -p "$prefix" "$@" ;;
*) exec "$tool" run --no-capture-output -p "$prefix" "$@" ;;
esac
