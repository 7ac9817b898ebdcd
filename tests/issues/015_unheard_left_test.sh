#!/usr/bin/env bash
# Issue 15, found by the soak of clusters: without a shared folder, an agent is cut off from the client, ends tasks, hands its data over and
# leaves. Nobody told the client of the content of what lies between tasks: they were not on record, and the next run made them again. The store
# knows it, also of temporary files that are gone by then. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks of an agent that is not reached" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
command -v python3 >/dev/null || skip "tasks of an agent that is not reached" "python3 is not installed"
mkdir "$work/home"
cd "$work/home" || exit 1
cat >flow.yaml <<EOF
weft: 1
tasks:
  first: { run: 'echo \$AGENT >> $work/ran; until [ -e $work/go ]; do sleep 0.1; done; echo 1 > {out}', out: { name: a.txt, temporary: true }, needs: far }
  second: { run: 'echo \$AGENT >> $work/ran; cat {in} > {out}', in: a.txt, out: b.txt, needs: far }
  third: { run: 'echo \$AGENT >> $work/ran; until [ -e $work/end ]; do sleep 0.1; done; cat {in} > {out}', in: b.txt, out: c.txt, needs: near }
EOF
# the one agent has a relay before its port, which is cut when it is told to
start_relay cut
AGENT=near start_agent near "$weft" agent -j 2 --has near
AGENT=far start_agent far "$weft" agent -j 2 --has far --bind "127.0.0.1:$relay_target" --tell "127.0.0.1:$relay_port"
are_ready near far
ok $? "two agents"
timeout 120 "$weft" run flow.yaml --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
lines() { [ -e "$work/ran" ] && [ "$(wc -l <"$work/ran")" = "$1" ]; }
wait_for 60 lines 1
kill -USR1 $relay
touch "$work/go"
wait_for 60 lines 2
ok $? "one is cut off from the client, and ends two tasks"
gone() { ! [ -e "$work/far/runs/1/files/a.txt" ]; }
wait_for 60 gone
ok $? "the temporary file that one left to the other goes"
kill -TERM "$pid_far"
wait_for 60 dead "$pid_far"
ok $? "it leaves, and hands over what is to be read"
touch "$work/end"
wait $client
ok $? "the run ends well"
client=""
timeout 20 "$weft" run flow.yaml --on cluster --no-shared --later >"$work/out" 2>"$work/err"
grep -q "nothing to do" "$work/out" && [ "$(wc -l <"$work/ran")" = 3 ]
ok $? "all of it is on record: nothing is made again"
finish
