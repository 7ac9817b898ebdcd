#!/usr/bin/env bash
# With too few descriptors (ulimit -n 8) a run was aborted inside libuv, without a word, after it had begun. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
export WEFT_HISTORY=$work/history.db
printf 'weft: 1\ntasks:\n  a: { out: a.txt, run: "echo a > {out}" }\n' >flow.yaml
for n in 5 6 7 8 9 10 11 12; do
    rm -rf .weft a.txt
    (ulimit -n $n && exec timeout 60 "$weft" run flow.yaml -q) >out 2>err </dev/null
    status=$?
    if [ $status = 0 ]; then [ "$(cat a.txt)" = a ]; else [ $status = 1 ] && [ -s err ] && [ ! -e .weft/running ]; fi
    ok $? "with $n descriptors it runs or says why not ($status)"
done
rm -rf .weft a.txt
timeout 60 "$weft" run flow.yaml -q >out 2>err </dev/null && [ "$(cat a.txt)" = a ]
ok $? "with as many as usual it runs"
echo "1..$count"
exit $failed
