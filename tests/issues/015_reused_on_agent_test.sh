#!/usr/bin/env bash
# Issue 15, found by the soak of clusters (--seed 1600 --round 17): an agent stood still past its lease, and its task ended well meanwhile.
# Another had taken the task over, so its end was not believed; then it came back to the first, which had its results already. "Reused", it
# said, and the client took that for a result that lies in the folder: exit status 0, and the file was not there. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a result that an agent has already" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
# The other agent is busy, so that what it has taken over is stolen back.
cat >"$work/flow/flow.yaml" <<EOF
weft: 1
tasks:
  make: { run: 'echo \$NAME >> $work/ran; until [ -e $work/end ]; do sleep 0.05; done; echo made > {out}; touch $work/made', out: x }
  long: { run: 'touch $work/long; until [ -e $work/go ]; do sleep 0.05; done; echo long > {out}', out: y }
EOF
for name in one two; do start_agent $name env NAME=$name "$weft" agent -j 1 --lease 2; done
are_ready one two
ok $? "two agents"
timeout -k 5 120 "$weft" run "$work/flow/flow.yaml" --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
wait_for 60 test -s "$work/ran" && wait_for 60 test -e "$work/long"
ok $? "each has a task"
first=$(head -n 1 "$work/ran")
eval "pid=\$pid_$first"
kill -STOP "$pid"
touch "$work/end"
wait_for 60 test -e "$work/made" && wait_for 60 grep -q "has died" "$work/run.log"
ok $? "one stands still, its task ends, and the client hears that it is dead"
kill -CONT "$pid"
wait_for 60 grep -q "joining again" "$work/$first.log"
# it has its task again, and is done with it
done_again() { look 1 && [ "$(work_of done "$first")" -ge 1 ]; }
wait_for 60 done_again
ok $? "it comes back, and its task with it"
touch "$work/go"
wait $client
ok $? "the run ends well"
[ "$(cat "$work/flow/x")" = made ] && [ "$(cat "$work/flow/y")" = long ]
ok $? "with both results"
[ "$(wc -l <"$work/ran")" = 1 ]
ok $? "of which none was made twice"
finish
