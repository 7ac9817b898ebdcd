#!/usr/bin/env bash
# Issue 15, found by the soak of clusters: the command and the agents of `weft run --on` were killed, the run was cancelled as its message says,
# and the next run in that folder was refused: run 1 "goes on". Nobody is left who could end it, or bring anything. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a run that was cancelled when its agents were gone" "redis-server is not installed"
mkdir "$work/home"
cd "$work/home" || exit 1
export WEFT_STORE_IDLE=20
printf 'weft: 1\ntasks:\n  a: { run: "touch %s; sleep 300", out: a.txt }\n' "$work/begun" >flow.yaml
"$weft" run flow.yaml --on local:1 >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
begun() { [ -e "$work/begun" ]; }
wait_for 60 begun
ok $? "a run on an agent of its own"
agent=$(pgrep -f "weft agent .*$work/home/.weft/agents-" | tr "\n" " ")
[ -n "$agent" ] && kill -KILL $client $agent
wait $client 2>/dev/null
client=""
say cancel 1 -C .
ok $? "command and agent are killed; it is cancelled"
printf 'weft: 1\ntasks:\n  a: { run: "echo 2 > {out}", out: a.txt }\n' >flow.yaml
runs() { say run flow.yaml --on local:1; }
wait_for 60 runs && [ "$(cat a.txt)" = 2 ]
ok $? "when it is taken for dead the folder can be used again"
! [ -e .weft/cluster/1.json ]
ok $? "nothing of the old one is noted"
finish
