#!/usr/bin/env bash
# `weft stream --on cluster`: helpers on agents that are there already, one of which is killed while it works; the stream goes on with the
# others, and the cluster is as it was when it has ended. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a stream on a cluster" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent a "$weft" agent --bind 127.0.0.1:0 -j 1
start_agent b "$weft" agent --bind 127.0.0.1:0 -j 1
are_ready a b
ok $? "two agents"
mkdir "$work/home"
cd "$work/home" || exit 1
cp "$WEFT_BUILD/tests/stream_functions.so" lib.so
printf 'weft: 1\ntasks:\n  slowly: { call: "lib.so:slowly", in: x, out: y }\n  total: { call: "lib.so:total", in: y, out: z, replicable: false }\n' >flow.yaml
seq 1 200 >numbers
awk '{ s += $1; print s }' numbers >expected
timeout 120 "$weft" stream flow.yaml --from numbers --to result --on cluster >"$work/out" 2>"$work/stream.log" &
client=$!
has() { [ "$(wc -l <result 2>/dev/null || echo 0)" -ge "$1" ]; }
wait_for 60 has 20
kin=$(pgrep -P "$pid_b")
# shellcheck disable=SC2046
kill -9 "$pid_b" $kin $(for k in $kin; do pgrep -P "$k"; done)
wait $client
status=$?
client=""
[ $status = 0 ] && cmp result expected >>"$work/err" 2>&1
ok $? "an agent and its helper are killed: every item once, in order, sums carried on (status $status)"
say status && grep -q "node" "$work/out"
ok $? "the cluster is still there"
say stream flow.yaml --from numbers --to result --on cluster --nodes 1 --items 30 && head -n 30 expected | cmp - result >>"$work/err" 2>&1
ok $? "and takes another stream"
say stream flow.yaml --from numbers --to result --on cluster --store redis://127.0.0.1:1
[ $? != 0 ] && [ -s "$work/err" ]
ok $? "a store that is not there is said"
finish
