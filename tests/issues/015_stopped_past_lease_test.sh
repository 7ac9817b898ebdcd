#!/usr/bin/env bash
# Issue 15: an agent that stood still past its lease, in a folder that all share. Another has done its task meanwhile, and a third task reads
# the result. When the first comes back it has a result, too, and put it in the place of the other's: who read it then failed, since its input
# "was replaced by another file". Nor does it go on with what it held and others have done. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "an agent that stood still" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<EOF
weft: 1
tasks:
  make: { run: 'echo \$NAME >> $work/ran; sleep 1; echo \$NAME \$\$ > {out}; echo \$NAME >> $work/made', out: o }
  read: { run: 'cat {in} > {out}; touch $work/reads; until [ -e $work/go ]; do sleep 0.1; done', in: o, out: p }
  later: { run: 'echo later \$NAME >> $work/ran2; cat {in} > {out}', in: p, out: q }
EOF
for name in one two; do start_agent $name env NAME=$name "$weft" agent -j 1 --lease 3; done
are_ready one two
ok $? "two agents"
touch "$work/ran" "$work/made"
lines() { [ "$(wc -l <"$work/$1")" -ge "$2" ]; }
run=$("$weft" submit "$work/flow/flow.yaml" -q --shared 2>"$work/err")
wait_for 60 lines ran 1
first=$(head -n 1 "$work/ran")
eval "pid=\$pid_$first"
kill -STOP "$pid"
wait_for 60 lines ran 2 && wait_for 60 lines made 2 && wait_for 60 test -e "$work/reads"
ok $? "one stands still past its lease; the other does its task, and goes on"
before=$(stat -c %i "$work/flow/o")
kill -CONT "$pid"
wait_for 60 grep -q "joining again" "$work/$first.log"
ok $? "it comes back, and learns that others took it for dead"
# whatever it does with its result, it has done when the board shows what it works on
idle() { look "$run" && [ "$(work_of running "$first")" = 0 ]; }
wait_for 60 idle
[ "$(stat -c %i "$work/flow/o")" = "$before" ]
ok $? "what it made does not take the place of what another made and others read"
touch "$work/go"
say attach "$run"
ok $? "the run ends well"
[ "$(cat "$work/flow/q")" = "$(cat "$work/flow/o")" ] && [ "$(wc -l <"$work/ran")" = 2 ] && [ "$(wc -l <"$work/ran2")" = 1 ]
ok $? "with one result, and nothing ran once more"
finish
