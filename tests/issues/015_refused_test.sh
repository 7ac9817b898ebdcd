#!/usr/bin/env bash
# A run that every agent refuses to open hung its client for ever; one that some refuse left them the tasks that they were handed. Those
# who cannot say so: others take their tasks, and when nobody can, the client ends and says why. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "refused runs" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key

# an agent in whose folder no run can have one
mkdir -p "$work/one" "$work/two"
touch "$work/one/runs"
start_agent one "$weft" agent -j 1
start_agent two "$weft" agent -j 1
are_ready one two
ok $? "two agents, one of which can open no run"
mkdir "$work/flow"
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 12); do printf '  t%d: { run: "echo %d > {out}", out: o%d.txt }\n' "$i" "$i" "$i"; done
} >"$work/flow/flow.yaml"
timeout -k 1 60 "$weft" run "$work/flow/flow.yaml" --on cluster >"$work/out" 2>"$work/err"
ok $? "a run that one of them refuses"
[ "$(cat "$work"/flow/o*.txt | sort -n | tr '\n' ' ')" = "$(seq 12 | tr '\n' ' ')" ]
ok $? "all of it is done by the other"

kill $pid_two
wait_for 30 dead $pid_two
rm "$work"/flow/o*.txt
rm -rf "$work/flow/.weft"
timeout -k 1 60 "$weft" run "$work/flow/flow.yaml" --on cluster >"$work/out" 2>"$work/err"
[ $? = 1 ]
ok $? "one that nobody can work on ends"
grep -q "no agent can work on run 2: .*/one/runs.*start another agent" "$work/err"
ok $? "and says who cannot, why, and what helps"
say status 2 --json && grep -q '"state": *"ended"' "$work/out"
ok $? "it does not stay open"
finish
