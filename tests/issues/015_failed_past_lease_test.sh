#!/usr/bin/env bash
# Issue 15: an agent that stood still past its lease finds, when it comes back, that its task has ended well and has not left what it declares.
# Another has taken the task over meanwhile. The first counted its own attempt as a failure for good, and stopped the whole run. Only the store
# knows whose the task is; what is another's stops nothing, and nobody is told that it failed. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a failure past the lease" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
# Whoever comes first leaves nothing behind, and ends with 0.
cat >"$work/flow/flow.yaml" <<EOF
weft: 1
tasks:
  make: { run: 'echo \$NAME >> $work/ran; until [ -e $work/end ]; do sleep 0.05; done; [ \$NAME = \$(head -n 1 $work/ran) ] || echo made > {out}', out: o }
  read: { run: 'touch $work/reads; until [ -e $work/go ]; do sleep 0.05; done; sleep 1.5; cat {in} > {out}', in: o, out: p }
  last: { run: 'cat {in} > {out}', in: p, out: q }
EOF
for name in one two; do start_agent $name env NAME=$name "$weft" agent -j 1 --lease 2; done
are_ready one two
ok $? "two agents"
touch "$work/ran"
lines() { [ "$(wc -l <"$work/$1")" -ge "$2" ]; }
timeout 120 "$weft" run "$work/flow/flow.yaml" --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
wait_for 60 lines ran 1
first=$(head -n 1 "$work/ran")
eval "pid=\$pid_$first"
kill -STOP "$pid"
wait_for 60 lines ran 2
ok $? "one stands still past its lease, and the other takes its task over"
touch "$work/end"
wait_for 60 test -e "$work/reads"
ok $? "and ends it"
kill -CONT "$pid"
wait_for 60 grep -q "joining again" "$work/$first.log"
ok $? "the first comes back; its own attempt has left nothing"
# it has made up its mind about that when it lives again and runs nothing; the other has heard of it when it looks at the board a second later
idle() { look 1 && [ "$(life_of "$first")" -ge 2 ] && [ "$(work_of running "$first")" = 0 ]; }
wait_for 60 idle
touch "$work/go"
wait $client
ok $? "the run ends well"
[ "$(cat "$work/flow/q")" = made ]
ok $? "with what the other made"
! grep -qi "fail" "$work/run.out" "$work/run.log" && ! grep -q "has failed" "$work/$first.log"
ok $? "and nobody speaks of a failure"
finish
