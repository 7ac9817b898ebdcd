#!/usr/bin/env bash
# Issue 15: an agent that is cut off from the store told the client that its task was done; another had taken it over, and there it failed for
# good. The client believed the first word: "the run was stopped or cancelled", and nobody said why. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
for program in redis-server python3; do
    command -v $program >/dev/null || skip "two words for one task" "$program is not installed"
done
start_server
say key "$work/key"
export WEFT_KEY=$work/key GO=$work/go
mkdir "$work/home"
cd "$work/home" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
tasks:
  t: { run: 'echo x > "$GO.$AGENT.begun"; until [ -e "$GO.$AGENT" ]; do sleep 0.1; done; [ $AGENT = far ] || exit 3; echo 1 > {out}', out: t.txt }
  u: { run: 'cat {in} > {out}', in: t.txt, out: u.txt }
FLOW
# the one agent's way to the store goes through a relay, which falls silent when it is told to
start_relay silent "$port"
AGENT=far WEFT_STORE=redis://127.0.0.1:$relay_port start_agent far "$weft" agent -j 1 --lease 2
are_ready far
ok $? "an agent"
timeout 120 "$weft" run flow.yaml --on cluster --no-shared --json >"$work/events" 2>"$work/err" &
client=$!
wait_for 60 test -e "$GO.far.begun"
ok $? "runs the task"
AGENT=near start_agent near "$weft" agent -j 1 --lease 2
are_ready near
kill -USR1 $relay
wait_for 60 test -e "$GO.near.begun"
ok $? "it is cut off from the store, and another takes the task over"
touch "$GO.far"
told() { grep -q '"event":"task","time":[^,]*,"task":"t"' "$work/events"; }
# who follows may have taken it for dead, too, and hung up: then it hears one word only
hung_up() { grep -q "gone without a goodbye" "$work/far.log"; }
heard() { told || hung_up; }
wait_for 60 heard
ok $? "its end there is told to who follows, if that one still listens"
touch "$GO.near"
wait $client
[ $? = 1 ]
ok $? "where it counts it fails, and so does the run"
client=""
grep -q "1 task failed" "$work/err"
ok $? "which is said"
finish
