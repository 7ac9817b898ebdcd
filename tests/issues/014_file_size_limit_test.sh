#!/usr/bin/env bash
# Under `ulimit -f` weft was ended by SIGXFSZ in the middle of a run, without a word, and left its tasks behind. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 60); do echo "  t$i: { out: o$i, run: 'echo $i > {out}' }"; done
} >flow.yaml
# the record of sixty tasks is longer than that
(ulimit -f 4 && timeout 60 "$weft" run flow.yaml -q) >out 2>&1 </dev/null
status=$?
[ $status = 1 ] && grep -q "memo.*File too large" out
ok $? "a record that grows past the limit: exit 1, and said ($status)"
timeout 60 "$weft" run flow.yaml -q >out 2>&1 </dev/null && [ "$(cat o* | sort -n | tr '\n' ' ')" = "$(seq 60 | tr '\n' ' ')" ]
ok $? "without the limit it goes on"
printf 'weft: 1\ntasks:\n  a: { out: large, run: "head -c 100000 /dev/zero > {out}" }\n' >flow.yaml
(ulimit -f 40 && timeout 60 "$weft" run flow.yaml --force) >out 2>&1 </dev/null
status=$?
[ $status = 1 ] && grep -q "SIGXFSZ\|signal 25\|File size limit" out
ok $? "a task past it is ended by the signal, as everywhere ($status)"
echo "1..$count"
exit $failed
