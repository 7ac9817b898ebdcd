#!/usr/bin/env bash
# Issue 15: a client is killed just when it has opened its run: agents work on it, and the client has not heard so yet. It had left no note in
# the folder then: the next `weft run` began a second run beside the first, and in a folder that all share one replaced the files that the
# other's tasks were reading. Found by the soak (--seed 1502 --round 4). Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a client that is killed while it opens a run" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<EOF
weft: 1
tasks:
  a: { run: 'echo a >> $work/ran; until [ -e $work/go ]; do sleep 0.05; done; echo a > {out}', out: x }
  b: { run: 'echo b >> $work/ran; cat {in} > {out}', in: x, out: y }
EOF
start_agent one "$weft" agent -j 2
are_ready one
ok $? "an agent"
start_relay later "$port"
kill -USR1 "$relay" # what the store answers this client comes late
WEFT_STORE=redis://127.0.0.1:$relay_port "$weft" run "$work/flow/flow.yaml" --on cluster --shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
wait_for 60 test -e "$work/ran"
kill -9 $client
ok $? "its client is killed when the first task has begun"
wait $client 2>/dev/null
client=""
kill -USR1 "$relay"
timeout -k 2 20 "$weft" run "$work/flow/flow.yaml" --on cluster --shared >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "run 1 of this folder goes on at" "$work/err"
ok $? "the next is told that a run of this folder goes on"
touch "$work/go"
say attach 1 -C "$work/flow"
ok $? "and by which command it is followed"
[ "$(cat "$work/flow/y")" = a ] && [ "$(sort "$work/ran" | tr -d '\n')" = ab ]
ok $? "to its end; nothing ran twice"
say run "$work/flow/flow.yaml" --on cluster --shared
[ $? = 0 ] && [ "$(wc -l <"$work/ran")" = 2 ]
ok $? "then there is nothing to do"

# ---- and one that is killed before: nothing runs, and nothing is in the way ----
mkdir "$work/flow/.weft/cluster" 2>/dev/null
echo '{"schema": "weft-cluster-run/1", "run": 99, "store": "'"$WEFT_STORE"'", "key": "'"$WEFT_KEY"'", "on": null}' >"$work/flow/.weft/cluster/99.json"
rm "$work/flow/y"
say run "$work/flow/flow.yaml" --on cluster --shared
[ $? = 0 ] && [ "$(cat "$work/flow/y")" = a ] && [ ! -e "$work/flow/.weft/cluster/99.json" ]
ok $? "the note of a run that was never opened is in nobody's way"
finish
