#!/usr/bin/env bash
# Issue 15, found by the soak of clusters: the agent died that had all results of a task, and who attached asked several agents for them, each
# for some: each computed the task again. One does, for all of its results. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "results that died with their agent" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/home"
cd "$work/home" || exit 1
cat >flow.yaml <<EOF
weft: 1
tasks:
  many:
    run: 'echo \$AGENT >> $work/ran; sleep 1; for i in 0 1 2 3 4 5 6 7; do echo \$i > out\$i; done'
    out: [out0, out1, out2, out3, out4, out5, out6, out7]
EOF
for name in one two three; do AGENT=$name start_agent $name "$weft" agent -j 2 --lease 2; done
are_ready one two three
ok $? "three agents"
say submit flow.yaml -q --no-shared
run=$(cat "$work/out")
has_ended() { say status && grep -q "1 of 1" "$work/out"; }
wait_for 60 has_ended
ok $? "a task with eight results is done"
eval "victim=\$pid_$(cat "$work/ran")"
kill -KILL "$victim"
say attach "$run" && [ "$(cat out0 out1 out2 out3 out4 out5 out6 out7 | tr -d '\n')" = 01234567 ]
ok $? "its agent is killed; who attaches has all of them"
[ "$(wc -l <"$work/ran")" = 2 ]
ok $? "computed again once, by one agent ($(tr '\n' ' ' <"$work/ran"))"
finish
