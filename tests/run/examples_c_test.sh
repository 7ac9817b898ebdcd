#!/usr/bin/env bash
# Every program in examples/c runs by itself in an empty folder and ends well; what those about runs print is looked at. Speaks TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
. "$(dirname "$0")/../support/tap.sh"
# example NAME TEXT ARGUMENT...: in the folder of its own
example() {
    local name=$1 text=$2; shift 2
    mkdir -p "$work/$name"
    (cd "$work/$name" && "$WEFT_BUILD/examples/c/example_$name" "$@" >"$work/out" 2>"$work/err" </dev/null)
    local status=$?
    [ "$status" = 0 ] && ! grep -qE 'Sanitizer|runtime error' "$work/err"
    ok $? "$text"
}
prints() { grep -qF -- "$1" "$work/out"; ok $? "prints: $1"; }

example run "a graph built in code runs"
prints "3 of 3 tasks must run"
prints "3 done, 0 reused, 0 failed"
[ "$(cat "$work/run/total")" = 10 ]; ok $? "and gives the right sum"
example run "and again"
prints "0 of 3 tasks must run"
prints "0 done, 3 reused, 0 failed"

example events "a run is followed in an epoll loop"
prints "one begins"
prints "the program does something else"
prints "3 tasks done"

example planner "a planner of one's own plans" "$PWD/examples/heft-paper.yaml" "$PWD/examples/heft-paper-nodes.yaml"
prints "greedy: 80"
prints "roundrobin"

example simulate "a graph is simulated"
prints "simulated    17.250 s"
prints "with a fault"
prints "10 tasks ran"

# the history of a run of our own
export WEFT_HISTORY=$work/history.db
mkdir "$work/flow"
printf 'weft: 1\ntasks:\n  make: {run: "echo 1 >made", out: [made]}\n  use: {run: "cat made >used", in: [made], out: [used]}\n' >"$work/flow/flow.yaml"
"$WEFT" run "$work/flow/flow.yaml" --quiet >"$work/out" 2>"$work/err" </dev/null; ok $? "a run to remember"
example history "the history answers" "$work/flow/used" "$work/flow/flow.yaml"
prints "run 1: flow, done, 2 ran, 0 reused"
prints "made by use in run 1, and still as it left it"
prints "  from made"
prints "make: 1 samples"
export WEFT_HISTORY=none

for source in examples/c/*.c; do
    name=$(basename "$source" .c)
    case $name in run | events | planner | simulate | history) continue ;; esac
    case $name in cholesky | lu) [ -x "$WEFT_BUILD/examples/c/example_$name" ] || { echo "# $name needs OpenBLAS, and is not built"; continue; } ;; esac
    example "$name" "$name runs"
done
echo "1..$count"
exit "$failed"
