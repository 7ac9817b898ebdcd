#!/usr/bin/env bash
# Agents tell their speed and how much of them others use; `weft status` shows it, and a plan for the agents rests on it: what another
# run keeps busy gets nothing while somebody is free. Judged by places, not by times. TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "paces" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/home" && cd "$work/home" || exit 1
for name in a b; do start_agent $name "$weft" agent -j 1; done
are_ready a b
ok $? "two agents"
measured() { "$weft" status --json >"$work/status" 2>>"$work/err" && [ "$(grep -cE '"node": [0-9]+, "speed": [0-9.]+, "load": [0-9.]+' "$work/status")" = 2 ]; }
wait_for 30 measured
ok $? "each has measured its speed, and tells its load"
COLUMNS=400 "$weft" status >"$work/out" 2>"$work/err" && grep -q 'cores *speed *load' "$work/out" && grep -qE 'up +1 +[0-9]+\.[0-9]+ +[0-9.]+ ?%' "$work/out"
ok $? "weft status shows both"

# a run keeps agent a busy until it is told to end
mkdir "$work/other"
cat >"$work/other/busy.yaml" <<FLOW
weft: 1
name: busy
tasks:
  busy: { run: "touch $work/began; while [ ! -e $work/end ]; do sleep 0.1; done", work: 1 }
FLOW
run=$("$weft" submit "$work/other/busy.yaml" -q 2>"$work/err") && wait_for 30 test -e "$work/began"
ok $? "a run keeps one of them busy"
is_busy() { look "$run" && [ "$(work_of running)" = 1 ]; }
wait_for 30 is_busy
taken=$([ "$(work_of running a)" = 1 ] && node_of a || node_of b)

# constraints leave agents alone that others use; tasks of our own are as many as would fill both
{
    echo "weft: 1"
    echo "name: free"
    echo "assert: assert value preference (opt-type = minimize, function = (select max(task-finish-time) from task), min = 0, max = 10)"
    echo "tasks:"
    for i in 1 2 3 4; do echo "  t$i: { run: \"true\", work: 1 }"; done
} >free.yaml
say run free.yaml --on cluster --no-history --json
python3 - "$work/out" "$taken" <<'PY'
import json, sys
nodes = [e["node"] for e in map(json.loads, open(sys.argv[1])) if e.get("event") == "task"]
sys.exit(not (len(nodes) == 4 and int(sys.argv[2]) not in nodes))
PY
ok $? "a plan has all on the agent that is free"
told() { grep -q "planned for the agents as they are now: .*used [0-9]* % by others" "$work/err"; }
say submit free.yaml --no-history --force && told
ok $? "weft submit plans for them likewise, and says what others use"
first=$(sed -n 's/^run \([0-9]*\):.*/\1/p' "$work/out")
mkdir "$work/third" && cp free.yaml "$work/third" && say submit "$work/third/free.yaml" --with heft --no-history && told
ok $? "and with the planner that --with names"
touch "$work/end"
second=$(sed -n 's/^run \([0-9]*\):.*/\1/p' "$work/out")
say attach "$first" && say attach "$second" -C "$work/third" && say attach "$run" -C "$work/other"
ok $? "all runs end"
finish
