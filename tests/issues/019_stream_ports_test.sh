#!/usr/bin/env bash
# FCP's plans were judged as if a node had any number of ports, and could not be replayed. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
of() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
is() { awk "BEGIN { exit !($1) }"; }

# one source feeds three tasks: 8 s of transfers each, one after the other through a single port
cat >fan.yaml <<'EOF'
weft: 1
tasks:
  a: { work: 10, out: [{ name: ab, size: 8 }, { name: ac, size: 8 }, { name: ad, size: 8 }] }
  b: { work: 10, in: [ab] }
  c: { work: 10, in: [ac] }
  d: { work: 10, in: [ad] }
EOF
plan() { # ports file
    "$weft" plan fan.yaml --on "homogeneous:n=4,bandwidth=1,ports=$1" --with fcp --set throughput=0.05 -o "$2" >out 2>err
}
plan 0 any.json && plan 1 one.json
ok $? "plans with and without a limit"
is "$(of any.json 'd["objectives"]["latency"]') == 28" && is "$(of one.json 'd["objectives"]["latency"]') == 44"
ok $? "through one port the last of three transfers ends at 10 + 24"
is "$(of any.json 'd["objectives"]["throughput"]') == 0.1" && is "$(of one.json 'd["objectives"]["throughput"]*24') < 1.000001" && is "$(of one.json 'd["objectives"]["throughput"]*24') > 0.999"
ok $? "and an item leaves every 24 s"
grep -q "ports are not limited" any.json && ! grep -q "ports are not limited" one.json
ok $? "who has no limit is told that there is none"
"$weft" check one.json >out 2>err && "$weft" sim one.json --items 300 --json >sim.json 2>err && is "$(of sim.json 'd["throughput"]/d["predicted_throughput"]') > 0.999"
ok $? "the plan is valid and its replay reaches the promise"
"$weft" sim one.json --items 1 --json >sim.json 2>err && is "$(of sim.json 'd["latency"]["max"]') == 44"
ok $? "an item alone takes as long as promised"
"$weft" generate tgff --set n=20 --set ccr=1 --seed 3 -q -o busy.yaml
"$weft" plan busy.yaml --on homogeneous:n=8,bandwidth=1,ports=2 --with fcp --set throughput=0.5Tmax -o busy.json >out 2>err
"$weft" sim busy.json --items 1000 --json >sim.json 2>err
alone=$(of busy.json '"%.10g" % d["objectives"]["latency"]') among=$(of sim.json '"%.10g" % d["latency"]["mean"]')
is "$among > 1.1 * $alone" && grep -q "an item that is alone takes $alone; among others, in a replay at .* it takes $among on average" busy.json
ok $? "what an item takes among others is said where it is longer"
! grep -q "among others" one.json
ok $? "and not where it is as promised"
python3 -c "import json; d=json.load(open('one.json')); d['objectives']['throughput']=0.1; json.dump(d,open('bad.json','w'))"
"$weft" check bad.json >out 2>err
[ $? = 1 ] && grep -q "claims throughput" out
ok $? "check sees a promise that the ports cannot carry"
python3 -c "import json; d=json.load(open('any.json')); d.pop('ports',None); json.dump(d,open('old.json','w'))"
"$weft" check old.json >out 2>err && "$weft" sim old.json --items 50 >out 2>err
ok $? "a plan from before is valid, and replayed"

# where data lies on disk, a transfer is no quicker than that
echo '{ weft: 1, network: { bandwidth: 8, disk: 1, memory: 90 }, nodes: [{ name: n, count: 4 }] }' >disk.yaml
"$weft" plan fan.yaml --on disk.yaml --with fcp --set throughput=0.05 -o disk.json >out 2>err && is "$(of disk.json 'd["objectives"]["latency"]') == 28" && "$weft" check disk.json >out 2>err
ok $? "bandwidth is the least of disk, memory and network"

# an object that two tasks on one node read travels there once
cat >shared.yaml <<'EOF'
weft: 1
tasks:
  a: { work: 10, out: [{ name: x, size: 8 }] }
  b: { work: 1, in: [x] }
  c: { work: 1, in: [x] }
EOF
cat >shared.json <<'EOF'
{"schema": "weft-plan/1", "kind": "stream", "pipelined": true, "rotating": true, "ports": 1, "clusters": [
 {"tasks": ["a"], "duplicates": [], "replicas": 1, "nodes": ["n1"]}, {"tasks": ["b", "c"], "duplicates": [], "replicas": 1, "nodes": ["n2"]}]}
EOF
"$weft" sim shared.json --workflow shared.yaml --on homogeneous:n=2,bandwidth=1 --fed flood --items 10 --json >sim.json 2>err && is "$(of sim.json 'd["latency"]["max"]') == 20" && grep -Eq '"transfers": *10[,}]?' sim.json
ok $? "an object that two tasks on one node read travels there once"

python3 "$root/tests/plan/rotation_oracle.py" "$weft" --graphs "${STREAM_GRAPHS:-8}" --first "${STREAM_SEED:-1}" >out 2>err
ok $? "$(tail -n 1 out)"
echo "1..$count"
exit $failed
