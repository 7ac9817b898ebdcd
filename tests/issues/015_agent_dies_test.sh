#!/usr/bin/env bash
# Issue 15, point 14: an agent died, and whoever followed the run saw nothing of it but a run that took longer. Now it is said once, with
# what follows: what runs again, what may have to be made again, what was. Events say on which node a task runs. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "an agent that dies" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/home"
cd "$work/home" || exit 1
# `first` runs where the one agent is; then another comes, both run a long task, and the first agent dies with the only copy of a.txt
cat >flow.yaml <<'FLOW'
weft: 1
name: dies
tasks:
  first: { run: "echo 1 > {out}", out: a.txt }
  left: { after: first, run: "until [ -e $GO ]; do sleep 0.1; done; echo 2 > {out}", out: b.txt }
  right: { after: first, run: "until [ -e $GO ]; do sleep 0.1; done; echo 3 > {out}", out: c.txt }
  all: { run: "cat {in} > {out}", in: [a.txt, b.txt, c.txt], out: all.txt }
FLOW
export GO=$work/go
start_agent one "$weft" agent -j 1 --lease 2
are_ready one
ok $? "an agent"
timeout 120 "$weft" run flow.yaml --on cluster --no-shared --json >"$work/events" 2>"$work/err" &
client=$!
began() { [ "$(grep -c '"event":"begin","time":[^,]*,"task":"\(left\|right\)"' "$work/events")" -ge "$1" ]; }
made() { grep -q '"event":"task","time":[^,]*,"task":"first"' "$work/events"; }
wait_for 60 made && wait_for 60 began 1
ok $? "the first task is done there, and the next runs"
start_agent two "$weft" agent -j 1 --lease 2
are_ready two && wait_for 60 began 2
ok $? "another agent takes the other"
kill -KILL "$pid_one"
died() { grep -q '"event":"agent".*"change":"died"' "$work/events"; }
wait_for 60 died
ok $? "it dies, and an event says so"
touch "$GO"
wait $client
ok $? "the run ends well"
client=""
[ "$(cat all.txt)" = "$(printf '1\n2\n3')" ]
ok $? "with its results"
python3 - "$work/events" "$(node_of one)" "$(node_of two)" <<'END' 2>"$work/err"
import json, sys
events = [json.loads(l) for l in open(sys.argv[1])]
one, two = int(sys.argv[2]), int(sys.argv[3])
agents = [e for e in events if e["event"] == "agent"]
died = [e for e in agents if e["change"] == "died"]
assert [(e["node"], e["running"], e["needed"]) for e in died] == [(one, 1, 1)], died
assert [e["node"] for e in agents if e["change"] == "joined"] == [one, two], agents
assert all(e["host"] and e["cores"] == 1 for e in agents), agents
assert all("node" in e for e in events if e["event"] in ("begin", "task"))
last = [e for e in events if e["event"] == "task" and e["task"] == "all"][-1]
assert last["node"] == two and last["outcome"] == "done", last
END
ok $? "events: who came, who died with how much, where each task ran"

# the same, for people
rm -rf .weft ./*.txt "$GO"
start_agent three "$weft" agent -j 1 --lease 2
are_ready three
timeout 120 "$weft" run flow.yaml --on cluster --no-shared >"$work/out" 2>"$work/err" &
client=$!
busy() { timeout 20 "$weft" status --json >"$work/status" 2>/dev/null && [ "$(work_of running)" = 2 ]; }
wait_for 60 busy
ok $? "two agents are at work"
kill -KILL "$pid_three"
told() { grep -q "node $(node_of three) on .* has died: 1 task that it ran begins again elsewhere" "$work/err"; }
wait_for 60 told
ok $? "who follows is told what died, and what follows from it"
touch "$GO"
wait $client
ok $? "and the run ends well"
client=""
grep -qE "cores +[0-9.]+ % of 2 held" "$work/out"
ok $? "its cores are those that it had, not those that are left"
say status && grep -q "dead" "$work/out"
ok $? "status: dead"
grep -q "node $(node_of three) on .* is taken for dead: no sign of life" "$work/two.log"
ok $? "as the other agent's log says"
finish
