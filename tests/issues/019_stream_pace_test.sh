#!/usr/bin/env bash
# A plan's schedule ran at the most that its clusters carry, and items waited for their slots: who asked for a latency of 400 got one
# that took a multiple of it as soon as the stream ran, and nobody said so. What an item takes is judged by replays. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
of() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
is() { awk "BEGIN { exit !($1) }"; }
on=homogeneous:n=32,bandwidth=1,ports=2

# the clusters carry more than was asked for
"$weft" generate tgff --set n=50 --set max-in=4 --set ccr=3 --seed 5 -q -o g.yaml 2>err
"$weft" plan g.yaml --on $on --with mos --set throughput=0.1Tmax -q -o plan.json >out 2>err && "$weft" check plan.json --on $on >out 2>err
ok $? "a plan at a slower pace is valid"
"$weft" sim plan.json --on $on --items 200 --json >sim.json 2>err
ok $? "it is replayed"
steady=$(of plan.json 'd["objectives"]["steady_latency"]') most=$(of sim.json 'd["latency"]["max"]')
is "$most <= $steady * 1.000001 && $most >= $steady * 0.999"
ok $? "an item among others takes what the plan says ($most of $steady)"
is "$(of sim.json 'd["predicted_latency"]') == $steady"
ok $? "and that is what the replay is compared with"
is "$(of sim.json 'd["throughput"]/d["predicted_throughput"]') > 0.999"
ok $? "at the promised rate"
is "$steady < 1.2 * $(of plan.json 'd["objectives"]["latency"]')"
ok $? "hardly more than one that is alone"
grep -q "note: at .* the most that these clusters carry, an item among others would take" out
ok $? "what more throughput would cost is said"
"$weft" sim plan.json --on $on --items 200 --period 3000 --json >slow.json 2>err && is "$(of slow.json 'd["predicted_latency"]') == $(of plan.json 'd["objectives"]["latency"]')"
ok $? "items that come slower are compared with one that is alone"

# nothing to slow down
"$weft" generate tgff --set n=20 --set mean-degree=4 --set ccr=0.5 --seed 8 -q -o h.yaml 2>err
"$weft" plan h.yaml --on $on --with mos --set throughput=0.1Tmax -o tight.json >out 2>err && grep -q "note: an item that is alone takes .* among others" out
ok $? "long waits are said by who plans"
"$weft" check tight.json --on $on >out 2>err && grep -q "note: an item that is alone takes .* among others" out
ok $? "and by who checks"

# a latency that was asked for is that of an item among others
for planner in mos stream; do
    "$weft" plan h.yaml --on $on --with $planner --set latency=1000 -q -o within.json >out 2>err &&
        "$weft" sim within.json --on $on --items 200 --json >sim.json 2>err
    most=$(of sim.json 'd["latency"]["max"]')
    is "$most <= 1000.001" || { "$weft" check within.json --on $on >out 2>err && grep -q "note: a latency of 1000 was asked for" out; }
    ok $? "$planner keeps a latency of 1000, or says that it does not ($most)"
    is "$(of within.json 'd["objectives"].get("steady_latency", d["objectives"]["latency"])') < 1.05 * 1000"
    ok $? "$planner comes near in any case"
done
# --- a flood: an item that waits elsewhere is no reason to do nothing here ---
cat >fro.yaml <<'YAML'
weft: 1
tasks:
  a: { work: 0.010, out: [{ name: x, size: 0 }] }
  b: { work: 0.020, in: [x], out: [{ name: y, size: 0 }] }
  c: { work: 0.010, in: [y] }
YAML
cat >fro.json <<'JSON'
{"schema": "weft-plan/1", "kind": "stream", "pipelined": true, "clusters": [
 {"tasks": ["a", "c"], "duplicates": [], "replicas": 1, "nodes": ["n1"]}, {"tasks": ["b"], "duplicates": [], "replicas": 1, "nodes": ["n2"]}]}
JSON
"$weft" stream fro.yaml --plan fro.json --on homogeneous:n=2,bandwidth=1000,latency=0 --items 60 --flood --json >out 2>err &&
    python3 -c 'import json; d = json.load(open("out")); assert d["items"] == 60 and d["throughput"] > 40, d["throughput"]' 2>>err
ok $? "data goes to another node and comes back: nearly 50 items a second, and not one item after the other (25)"
echo "1..$count"
exit $failed
