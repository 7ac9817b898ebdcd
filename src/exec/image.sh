#!/bin/sh
# Sees to it that this machine has an image, and becomes the command that runs it. On agents: where a run begins, weft has looked.
#
#     $1 what the workflow calls it, $2 its number
#     $3 the engine and its options, quoted for a shell
#     then the command
image=$1 what=$2 engine=$3
shift 3
is_here() { eval "$engine image inspect \"\$what\"" >/dev/null 2>&1; }
is_here || {
    eval "$engine pull -q \"\$image\"" >/dev/null
    is_here
} || {
    echo "weft: container '$image': this machine has no image $what, which the run was started with" >&2
    exit 125
}
exec "$@"
