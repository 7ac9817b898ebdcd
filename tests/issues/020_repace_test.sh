#!/usr/bin/env bash
# Issue 20, point 4: a node of a plan becomes slow, or has less memory, while the plan is carried out. What has not begun is planned again
# from the present state, and it is said. Judged by where tasks ran, not by times. Speaks TAP.
weft=$WEFT
command -v redis-server >/dev/null || { echo "1..0 # SKIP there is no redis-server"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work WORK=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
# three chains of ten tasks below a root. Whoever runs the first task of chain b is slow from then on: its agent's number stands in `slow`
{
    echo "weft: 1"
    echo "tasks:"
    echo "  r: { run: 'touch a0 b0 c0', out: [{name: a0, size: 1}, {name: b0, size: 1}, {name: c0, size: 1}], work: 0.2, memory: 100M }"
    for chain in a b c; do
        for i in 1 2 3 4 5 6 7 8; do
            echo "  $chain$i: { run: 'sh $work/step.sh $chain$i; touch $chain$i.f', in: [$([ $i = 1 ] && echo ${chain}0 || echo $chain$((i - 1)).f)], out: [{name: $chain$i.f, size: 1}], work: 0.2, memory: 100M }"
        done
    done
} >chains.yaml
cat >step.sh <<'SH'
# the shell of the task is the parent of this one, and the agent that one's
agent=$(awk '{ print $4 }' "/proc/$PPID/stat")
[ "$1" = b1 ] && echo "$agent" >"$WORK/slow"
if [ "$(cat "$WORK/slow" 2>/dev/null)" = "$agent" ]; then sleep 2; else sleep 0.2; fi
SH
cat >nodes.yaml <<'YAML'
weft: 1
network: { bandwidth: 1M }
nodes: [{ name: x, memory: 1G }, { name: y, memory: 1G }, { name: z, memory: 1G }]
YAML
cat >look.py <<'PY'
import json, sys
at = {}
for e in map(json.loads, open("out")):
    if e.get("event") == "task" and e.get("outcome") == "done":
        at[e["task"]] = e["node"]
chain = [at["b%d" % i] for i in range(1, 9)]
print(chain, file=sys.stderr)
sys.exit(not eval(sys.argv[1]))
PY
"$weft" plan chains.yaml --on nodes.yaml --with tree -o chains.json >out 2>err && python3 -c '
import json
plan = json.load(open("chains.json"))
parts = [set(p["tasks"]) for p in plan["parts"]]
assert len(parts) == 3 and any({"b%d" % i for i in range(1, 9)} <= p for p in parts), parts' 2>err
ok $? "a tree of three chains: a part and a node each"
timeout 100 "$weft" run chains.yaml --plan chains.json --follow strict --on local:3 -j 1 --json >out 2>err
ok $? "an agent becomes slow while it is carried out"
grep -qE "takes [0-9.]+ times as long as planned: [0-9]+ tasks? w(as|ere) planned again, on '[xyz]'" err
ok $? "the rest is planned again, and it is said"
python3 look.py 'len(at) == 25 and chain[0] != chain[-1] and len(set(chain)) > 1' 2>>err
ok $? "what had not begun went elsewhere"
echo "1..$count"
exit $failed
