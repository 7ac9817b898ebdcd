#!/usr/bin/env bash
# Issue 15: a task on two nodes held the only GPU of both while it waited for data that had died with its agent; what computes that data again
# needs a GPU, too, and waited for ever. A part that waits lends its things to what is computed again. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "things of a part that waits" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<END
weft: 1
tasks:
  first: { run: 'echo "first \$WEFT_GPU" >> $work/used; sleep 0.5; echo "first \$WEFT_GPU over" >> $work/used; echo 1 > {out}', out: x, resources: { gpu: 1 } }
  wide: { run: 'echo "wide \$WEFT_GPU" >> $work/used; cat {in} > {out}; \$WEFT_RSH \$(sed -n "2s/ .*//p" \$WEFT_HOSTFILE) "echo rsh \\\$WEFT_GPU" </dev/null 2>> {out}', in: x, out: y, nodes: 2, resources: { gpu: 1 } }
  last: { run: 'cat {in} > {out}', in: y, out: z }
END
agent() { # name id
    start_agent "$1" "$weft" agent -j 2 --lease 2 --resources "gpu=[$2]"
}
agent gone a
are_ready gone
timeout 100 "$weft" run "$work/flow/flow.yaml" --on cluster --no-shared --later >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
first_is_done() { grep -q "first a over" "$work/used" 2>/dev/null && look 1 && work_is 1 done -ge 1; }
wait_for 30 first_is_done
ok $? "a task with a GPU is done on the one agent that is there"
# shellcheck disable=SC2154
kill -9 "$pid_gone"
wait "$pid_gone" 2>/dev/null
agent one b
agent two c
are_ready one two
ok $? "it dies with the data; two others come, with a GPU each"
wait $client
ok $? "the task on both, which waits for that data, does not keep it from being computed again"
client=""
{ [ "$(head -n 1 "$work/flow/z")" = 1 ] && grep -qE '^rsh [bc]$' "$work/flow/z"; }
ok $? "and gets its own GPUs back: $(tr '\n' ' ' <"$work/flow/z")"
# between the start and the end of what was computed again nobody else has its GPU
awk '/^first/ && /over/ { used[$2] = 0; next } { if (used[$2]) bad = 1 } /^first/ { used[$2] = 1 } END { exit bad }' "$work/used"
ok $? "no two had one at the same time: $(tr '\n' ';' <"$work/used")"
finish
