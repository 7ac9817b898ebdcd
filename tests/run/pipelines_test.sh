#!/usr/bin/env bash
# The six pipelines of examples/pipelines run as they are written, with the results of plain loops, and have nothing to do the second
# time. Speaks TAP.
set -u
weft=${WEFT:?}
export PATH=/usr/bin:$PATH # the python3 and the convert that tools/deps installs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY="$work/history.db"
here=$PWD
n=0
ok() {
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$work/log" | tail -n 20
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}
examples/pipelines/make-data "$work/weft" --small && cp -r "$work/weft" "$work/hand"
pipeline() {
    local name=$1 result=$2 lines=$3 count
    shift 3
    "$weft" run "$work/weft/$name/flow.yaml" "$@" >"$work/log" 2>&1
    ok $? "$name runs"
    (cd "$work/hand/$name" && "$here/tests/support/pipelines_by_hand.sh" "$name") >>"$work/log" 2>&1
    cmp "$work/weft/$name/$result" "$work/hand/$name/$result" >>"$work/log" 2>&1
    ok $? "$name: $result is what plain loops make"
    "$weft" run "$work/weft/$name/flow.yaml" "$@" >"$work/log" 2>&1 && grep -q 'nothing to do' "$work/log"
    ok $? "$name: nothing to do the second time"
    count=$(grep -c . "examples/pipelines/$name/flow.yaml")
    [ "$count" -le "$lines" ]
    ok $? "$name: $count lines (at most $lines)"
}
pipeline words total.txt 13
pipeline variants cohort.txt 9
pipeline matrix summary.txt 8
pipeline chunks best.txt 8
if command -v convert >/dev/null; then pipeline images table.tsv 9; else skip images "there is no convert (imagemagick)"; fi
if python3 -c 'import numpy' 2>/dev/null; then DEGREES='1 2' ALPHAS='0.1 1' pipeline ridge model.txt 11 -p degree=1,2 -p alpha=0.1,1; else skip ridge "python3 has no numpy"; fi
echo "1..$n"
