#!/usr/bin/env bash
# Every program in examples/c runs by itself in an empty folder and ends well; what those about runs print is looked at. Speaks TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; cat "$work/out" "$work/err" 2>/dev/null | sed 's/^/# /' | head -n 12; fi
}
# example NAME TEXT: in the folder of its own
example() {
    mkdir -p "$work/$1"
    (cd "$work/$1" && "$WEFT_BUILD/examples/c/example_$1" >"$work/out" 2>"$work/err" </dev/null)
    local status=$?
    [ "$status" = 0 ] && ! grep -qE 'Sanitizer|runtime error' "$work/err"
    ok $? "$2"
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

for source in examples/c/*.c; do
    name=$(basename "$source" .c)
    case $name in run | events) continue ;; esac
    example "$name" "$name runs"
done
echo "1..$count"
exit "$failed"
