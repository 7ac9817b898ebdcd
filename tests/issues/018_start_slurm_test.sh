#!/usr/bin/env bash
# A run that is started from the page on jobs of a queue (a real Slurm on loopback). Speaks TAP.
if [ "${1:-}" != inside ]; then
    . tests/support/browser || exit 1
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash tests/cluster/bed_slurm 1 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "1..0 # SKIP $(tail -n 1 "$log")"
    exit 0
fi
command -v redis-server >/dev/null || { echo "redis-server is not installed" >&2; exit 77; }
far=$(mktemp -d)
trap 'rm -rf "$far"' EXIT
export WEFT_REMOTE=$WEFT WEFT_REMOTE_STATE=$far WEFT_PLACE=slurm
node tests/ui/places.mjs
