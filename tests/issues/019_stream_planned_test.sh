#!/usr/bin/env bash
# `weft stream --throughput` planned with the times that tasks state, which nobody states. It measures its first items and goes on by a
# plan, and by another when times change: every item once, in order, and what keeps state goes on. Speaks TAP.
. "$(dirname "$0")/../support/streams.sh"
cat >tires.yaml <<YAML
weft: 1
tasks:
  tires: { call: "$functions:tires", in: x, out: y }
  same: { run: "$stayer ''", in: y, out: z }
  total: { call: "$functions:total", in: z, out: s, replicable: false }
YAML
seq 1 300 >numbers
awk '{ s += $1; print s }' numbers >expected
"$weft" stream tires.yaml --from numbers --to result --throughput 40 --on 8 --json >out 2>err && cmp result expected
ok $? "every item once and in order, the sum goes on"
grep -q "planned with the times of the first items" err
ok $? "the first items are measured"
grep -q "task 'tires' takes .*planned again" err
ok $? "times that change are planned for again, and that is said"
[ "$(of out '(d["items"], [t["items"] for t in d["tasks"]], d["promised_throughput"] >= 40)')" = "(300, [300, 300, 300], True)" ]
ok $? "figures are those of the whole stream, beside the plan's promise"
head -n 60 numbers | "$weft" stream tires.yaml --from - --to result --latency 10s --on 4 >out 2>err && head -n 60 expected | cmp - result >>out
ok $? "for a latency"
head -n 5 numbers | "$weft" stream tires.yaml --from - --to result --throughput 1 --on 4 >out 2>err && head -n 5 expected | cmp - result >>out
ok $? "a stream that ends before it is measured"
"$weft" stream tires.yaml --from numbers --to result --throughput 1000000 --on 4 >out 2>err
status=$?
[ $status = 3 ] && grep -q "is the most" err
ok $? "what cannot be had (status $status)"
echo "1..$count"
exit $failed
