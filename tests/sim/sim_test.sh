#!/usr/bin/env bash
# `weft sim` from the outside: kinds of plans, exit statuses, seeds, repeats. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
# The value of a number at the top of the JSON on standard input.
value() { grep -m1 "^  \"$1\":" | sed 's/.*: //; s/,$//'; }
# Without what differs between two equal runs: how long they took.
same() { grep -v '^  "seconds":'; }
fails() { # status part-of-message arguments...
    local want=$1 part=$2
    shift 2
    "$weft" sim "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$want" ] && grep -q -- "$part" "$work/err" && [ ! -s "$work/out" ]
    ok $? "exit $want, '$part': sim $*"
    [ $got = "$want" ] || sed 's/^/# /' "$work/err"
}

paper="examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml"
"$weft" plan $paper --with heft -o "$work/plan.json" >/dev/null
ok $? "a plan to replay"
[ "$("$weft" sim "$work/plan.json" --json | value makespan)" = 80 ]
ok $? "the plan of the HEFT paper takes 80 without contention"
[ "$("$weft" sim "$work/plan.json" --json --network fair | value makespan)" = 115 ]
ok $? "115 with fair sharing (SimGrid says so too)"
[ "$("$weft" sim $paper --with heft --json | value makespan)" = 80 ]
ok $? "a workflow is planned first"
"$weft" sim "$work/plan.json" | grep -q "80 s simulated, 80 s predicted"
ok $? "as a table"

"$weft" sim "$work/plan.json" --noise 0.3 --mtbf 200 --repair 5 --seed 9 --json | same >"$work/a"
"$weft" sim "$work/plan.json" --noise 0.3 --mtbf 200 --repair 5 --seed 9 --json | same >"$work/b"
"$weft" sim "$work/plan.json" --noise 0.3 --mtbf 200 --repair 5 --seed 8 --json | same >"$work/c"
cmp -s "$work/a" "$work/b" && ! cmp -s "$work/a" "$work/c"
ok $? "the same seed gives the same run, another seed another"
"$weft" sim "$work/plan.json" --noise 0.3 --repeat 30 -j 1 --json | same >"$work/a"
"$weft" sim "$work/plan.json" --noise 0.3 --repeat 30 -j 3 --json | same >"$work/b"
cmp -s "$work/a" "$work/b" && grep -q '"count": 30' "$work/a"
ok $? "repeats do not depend on the number of threads"

"$weft" sim "$work/plan.json" --fail P3@30+10 --trace "$work/trace.json" --gantt "$work/gantt.svg" \
    --utilization "$work/use.svg" -q >/dev/null && grep -q traceEvents "$work/trace.json" &&
    grep -q "<svg" "$work/gantt.svg" && grep -q "<svg" "$work/use.svg"
ok $? "a trace and two pictures"

fails 1 "task 'n5' on 'P3' waits for its node, which failed" "$work/plan.json" --fail P3@30 -q
fails 2 "no node of that name" "$work/plan.json" --fail P9@30
fails 2 "--fail is 'P1'" "$work/plan.json" --fail P1
fails 2 "--noise is 'nan'" "$work/plan.json" --noise nan
fails 2 "noise is -1" "$work/plan.json" --noise=-1
fails 2 "expected free, kport or fair" "$work/plan.json" --network wifi
fails 2 "--repeat" "$work/plan.json" --repeat 0
fails 2 "has no task" "$work/plan.json" --workflow examples/edges.yaml
fails 2 "" "$work/nothing.json"
fails 2 "all clients vanish" examples/edges.yaml --clients --vanish 1
fails 2 "--utilization" examples/edges.yaml --clients --utilization "$work/u.svg"

"$weft" sim examples/montage-25.dag --clients --interarrival 2 --batch 4 --vanish 0.1 --slow 0.1x3 --json --trace "$work/clients.json" >"$work/clients"
ok $? "clients that are slow or vanish"
grep -q '"kind": "order"' "$work/clients" && grep -q '"stall_probability"' "$work/clients" && [ -s "$work/clients.json" ]
ok $? "with their figures and a trace"
"$weft" sim examples/montage-25.dag --on 4 --with heft --clients --json | grep -q '"order": "plan"'
ok $? "clients served in the order of a plan"

# 4.1.3 of the MOS report: two tasks of 10, a transfer of 50, two processors each
cat >"$work/flow.yaml" <<'X'
weft: 1
tasks:
  a: { work: 10, out: [{ name: o, size: 50 }] }
  b: { work: 10, in: [o] }
X
cat >"$work/nodes.yaml" <<'X'
weft: 1
network: { bandwidth: 1 }
nodes: [{ name: n, count: 4 }]
X
cat >"$work/stream.json" <<'X'
{ "schema": "weft-plan/1", "kind": "stream", "pipelined": true, "ports": 1, "objectives": {},
  "clusters": [ { "id": 0, "tasks": ["a"], "duplicates": [], "replicas": 2, "nodes": ["n1", "n2"] },
                { "id": 1, "tasks": ["b"], "duplicates": [], "replicas": 2, "nodes": ["n3", "n4"] } ] }
X
"$weft" sim "$work/stream.json" --workflow "$work/flow.yaml" --on "$work/nodes.yaml" --period 25 --items 100 --json >"$work/out" 2>"$work/err"
ok $? "a stream mapping"
value throughput <"$work/out" | grep -q '^0.04\(0000000\|$\)' && grep -q '"max": 70' "$work/out"
ok $? "2 items every 50, latency 70 for each"

echo "1..$count"
exit $failed
