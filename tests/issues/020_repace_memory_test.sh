#!/usr/bin/env bash
# Issue 20, point 4: the memory of a node changes while a plan is carried out (its control group is set to less). Its agent tells so, starts
# nothing that does not fit any more, and what has not begun there is planned again elsewhere, which is said. Judged by where tasks ran.
# Control groups are files of ours here (WEFT_LIMITS_ROOT), a set for each agent. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "memory that changes" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key WORK=$work
mkdir "$work/home" && cd "$work/home" || exit 1
for name in a b; do
    mkdir -p "$work/root-$name/proc/self" "$work/root-$name/sys/fs/cgroup/job"
    echo "0::/job" >"$work/root-$name/proc/self/cgroup"
    echo 1000000000 >"$work/root-$name/sys/fs/cgroup/job/memory.max"
    start_agent $name env WEFT_LIMITS_ROOT="$work/root-$name" "$weft" agent -j 1 -m 2G
done
are_ready a b
ok $? "two agents"
measured() { "$weft" status --json >"$work/status" 2>>"$work/err" && [ "$(grep -cE '"speed": [0-9.]+, "load": [0-9.]+' "$work/status")" = 2 ]; }
wait_for 30 measured
# two chains below a root; the second task of chain y takes memory from its agent, and waits until the agent has told so
{
    echo "weft: 1"
    echo "tasks:"
    echo "  r: { run: 'touch x0 y0', out: [{name: x0, size: 1}, {name: y0, size: 1}], work: 1, memory: 100M }"
    for chain in x y; do
        for i in 1 2 3 4 5 6; do
            echo "  $chain$i: { run: 'sh $work/step.sh $chain$i; touch $chain$i.f', in: [$([ $i = 1 ] && echo ${chain}0 || echo $chain$((i - 1)).f)], out: [{name: $chain$i.f, size: 1}], work: 10, memory: 300M }"
        done
    done
} >chains.yaml
cat >"$work/step.sh" <<'SH'
[ "$1" = y2 ] || exit 0
echo 200000000 >"$WEFT_LIMITS_ROOT/sys/fs/cgroup/job/memory.max"
for i in $(seq 300); do # until it was heard
    grep -q 'memory for tasks is 200 MB now' "$WORK"/*.log && exit 0
    sleep 0.1
done
exit 1
SH
timeout 100 "$weft" run chains.yaml --with tree --follow strict --on cluster --json >"$work/out" 2>"$work/err"
ok $? "a run whose plan loses memory on a node ends well"
grep -qE "has 200000000 bytes of memory now: [0-9]+ tasks? w(as|ere) planned again, on 'n[12]'" "$work/err"
ok $? "the rest is planned again, and it is said"
python3 - "$work/out" <<'PY'
import json, sys
at = {}
for e in map(json.loads, open(sys.argv[1])):
    if e.get("event") == "task" and e.get("outcome") == "done":
        at[e["task"]] = e["node"]
chain = [at["y%d" % i] for i in range(1, 7)]
sys.exit(not (len(at) == 13 and chain[0] == chain[1] != chain[2] and len(set(chain[2:])) == 1))
PY
ok $? "what does not fit there any more went elsewhere"
finish
