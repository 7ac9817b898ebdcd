#!/usr/bin/env bash
# Issue 15, found by 015_unheard_left once in some eighty runs: an agent leaves and asks another to keep its data. That one was fetching the same
# file already, over a link that leads nowhere. The fetch failed, the leaver was told that its file is not kept, did not listen, and left with
# the only copy: the task that made it ran nowhere else, and the run waited for ever. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "what is wanted and kept" "redis-server is not installed"
command -v python3 >/dev/null || skip "what is wanted and kept" "python3 is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/home"
cd "$work/home" || exit 1
cat >flow.yaml <<EOF
weft: 1
tasks:
  first: { run: 'touch $work/runs; until [ -e $work/go ]; do sleep 0.1; done; echo 1 > {out}', out: a.txt, needs: far }
  second: { run: 'cat {in} > {out}', in: a.txt, out: b.txt, needs: near }
EOF
# what others say to the one agent goes through a relay, which swallows it when it is told to; what it says itself arrives
start_relay silent
WEFT_AGENT_TRACE=1 AGENT=near start_agent near "$weft" agent -j 2 --has near
AGENT=far start_agent far "$weft" agent -j 2 --has far --bind "127.0.0.1:$relay_target" --tell "127.0.0.1:$relay_port"
are_ready near far
ok $? "two agents"
timeout 120 "$weft" run flow.yaml --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
wait_for 60 test -e "$work/runs"
kill -USR1 $relay
touch "$work/go"
fetches() { grep -q "locating -> fetching" "$work/near.log"; }
wait_for 60 fetches
ok $? "one wants what the other has made, and asks for it where nobody hears"
kill -TERM "$pid_far"
wait_for 60 dead "$pid_far"
ok $? "the other leaves, and asks it to keep just that"
wait $client
ok $? "the run ends well"
client=""
[ "$(cat b.txt)" = 1 ] && ! grep -q "left behind" "$work/far.log"
ok $? "with what it is to have made"

# What is lost, and can be made again nowhere: who follows the run is told what it waits for, and an agent that comes with that makes it.
cat >lost.yaml <<EOF
weft: 1
tasks:
  first: { run: 'echo 2 > {out}', out: c.txt, needs: far }
  gate: { run: 'until [ -e $work/open ]; do sleep 0.1; done; echo 3 > {out}', out: g.txt, needs: near, cores: 2 } # nothing is free: an idle agent would bring c.txt in time
  second: { run: 'cat {in} > {out}', in: [c.txt, g.txt], out: d.txt, needs: near }
EOF
start_agent gone "$weft" agent -j 2 --has far --lease 3
are_ready gone
timeout 120 "$weft" run lost.yaml --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
wait_for 60 work_is 2 done -ge 1 gone
kill -KILL "$pid_gone"
touch "$work/open"
is_told() { grep -q "waits until an agent joins that has room: it asks for .*far" "$work/run.log"; }
wait_for 60 is_told
ok $? "a file that died with its agent and that nobody has room to make again: it is told what is waited for"
start_agent again "$weft" agent -j 2 --has far
wait $client
ok $? "one comes that has it, and the run ends well"
client=""
[ "$(cat d.txt)" = "2
3" ]
ok $? "with what it is to have made"
finish
