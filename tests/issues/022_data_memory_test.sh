#!/usr/bin/env bash
# Data that functions hand to each other in memory counted nowhere in a run. With --memory-for-data they keep to it: what is read last
# goes to disk and comes back, and nothing is said by silence: no size, too little, nothing to limit. Speaks TAP.
weft=$WEFT functions=$WEFT_BUILD/tests/test_functions.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { # options: a fresh folder, the run's status
    rm -rf .weft ./*.sum size.txt b11
    "$weft" run flow.yaml "$@" >out 2>err
}
cd "$work" || exit 1

# m0 .. m11 make numbers, x11 .. x0 add them up, then y0 .. y11 once more: whatever the order, all are alive in the middle; one object is a
# command's, too
flow() { # size of each object
    echo "weft: 1"
    echo "tasks:"
    for i in $(seq 0 11); do
        extra=""
        [ "$i" = 11 ] && extra=", { name: b11, size: 8000 }"
        echo "  m$i: { call: '$functions:make_numbers', out: [{ name: a$i, $1 in_memory: true }$extra] }"
    done
    for i in $(seq 11 -1 0); do
        echo "  x$i: { call: '$functions:add_numbers', in: [a$i$([ "$i" = 11 ] || echo ", x$((i + 1))")], out: [{ name: x$i, $1 in_memory: true }] }"
    done
    for i in $(seq 0 11); do
        echo "  y$i: { call: '$functions:add_numbers', in: [a$i, $([ "$i" = 0 ] && echo x0 || echo "y$((i - 1))")], out: [{ name: y$i, $1 in_memory: true }] }"
    done
    echo "  s: { call: '$functions:sum_to_folder', in: y11 }"
    echo "  size: { run: 'wc -c < {in} > {out}', in: b11, out: size.txt }"
}
flow "size: 8000," >flow.yaml

run --memory-for-data 32000
ok $? "12 objects of 8,000 bytes under 32,000, functions beside a command"
[ "$(cat s.sum)" = 11988000 ] && [ "$(tr -d ' ' <size.txt)" = 8000 ]
ok $? "every number is right; what the command reads is a file"
peak=$(sed -n 's/.*took at most \([0-9]*\) of 32000 bytes.*made room.*/\1/p' err)
[ -n "$peak" ] && [ "$peak" -le 32000 ]
ok $? "the peak is told ($peak), and what made room"
[ -z "$(find .weft -name 'object*')" ] && [ ! -e a3 ]
ok $? "nothing of it is left"
sed '/^  y/d; /^  size/d; s/in: y11/in: x0/; s/, { name: b11, size: 8000 }//' flow.yaml >once.yaml
rm -rf .weft
"$weft" run once.yaml --memory-for-data 32000 >out 2>err && grep -q "of 32000 bytes" err && ! grep -q "made room" err
ok $? "an order that needs little memory is taken: where each is read once nothing must make room"
rm -rf .weft ./*.sum size.txt b11 && "$weft" run flow.yaml -q --memory-for-data 32000 >out 2>err
ok $? "again"
"$weft" run flow.yaml -q --memory-for-data 32000 >out 2>err && [ ! -s out ]
ok $? "a second run has nothing to do"
rm -f size.txt && "$weft" run flow.yaml -q --memory-for-data 32000 >out 2>err && [ "$(tr -d ' ' <size.txt)" = 8000 ]
ok $? "a command alone is made again"

run -m 40000
ok $? "without the option they are within the run's memory"
grep -q "of 40000 bytes" err
ok $? "which is told where it is short"
run && ! grep -q "data in memory" err
ok $? "and not where there is plenty"

run --memory-for-data 20000; [ $? = 3 ] && grep -q "task '[xy][0-9]*' takes 24000 bytes with its data" err
ok $? "too little for one task is told before anything runs, status 3"
run --memory-for-data 64K -m 32K; [ $? = 3 ] && grep -q "this run has" err
ok $? "more than the run has is told"
flow "" >flow.yaml
run --memory-for-data 32000; [ $? = 2 ] && grep -q "state its .size." err
ok $? "an object whose size nobody states is named"
printf 'weft: 1\ntasks: { a: { run: "true" } }\n' >flow.yaml
run --memory-for-data 32000; [ $? = 2 ] && grep -q "this workflow has none" err
ok $? "nothing to limit is told"
run --memory-for-data 32000 --on local:1; [ $? = 2 ]
ok $? "agents have files between tasks: refused"

flow "size: 8000," >flow.yaml
"$weft" convert flow.yaml again.yaml >out 2>err && [ "$(grep -o 'in_memory: true' again.yaml | wc -l)" = 36 ]
ok $? "a workflow file keeps the mark"
"$weft" convert flow.yaml again.dot >out 2>err; grep -q "memory" err
ok $? "another format says that it does not"
echo "1..$count"
exit $failed
