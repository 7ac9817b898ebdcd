#!/usr/bin/env bash
# Runs were first come, first served: a run of two tasks waited for one of hours. Runs share agents fairly, `--priority` of a run doubles
# its share. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "fair shares" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2
are_ready one
ok $? "an agent of two cores"

flow() { # folder, tasks, seconds each: every task writes its run's name into one list
    mkdir -p "$work/$1"
    {
        echo 'weft: 1'
        echo 'tasks:'
        for i in $(seq "$2"); do echo "  t$i: { run: 'echo $1 >> $work/order; sleep $3' }"; done
    } >"$work/$1/flow.yaml"
}
flow long 24 0.25
flow short 2 0.25
"$weft" run "$work/long/flow.yaml" --on cluster >"$work/long.out" 2>&1 </dev/null &
long=$!
begun() { test -s "$work/order" && [ "$(grep -c long "$work/order")" -ge 2 ]; }
wait_for 20 begun
say run "$work/short/flow.yaml" --on cluster && lives $long
ok $? "a run of two tasks ends while a long one goes on"
wait $long
ok $? "which ends, too"
[ "$(sed -n '1,14p' "$work/order" | grep -c short)" = 2 ]
ok $? "its tasks did not wait for those of the other"

# two long ones, one of which counts for more
rm "$work/order"
flow low 30 0.2
flow high 16 0.2
"$weft" run "$work/low/flow.yaml" --on cluster >"$work/low.out" 2>&1 </dev/null &
low=$!
wait_for 20 test -s "$work/order"
"$weft" run "$work/high/flow.yaml" --on cluster --priority 2 >"$work/high.out" 2>&1 </dev/null &
high=$!
wait $high && wait $low
ok $? "two runs, one of them more urgent"
echo "# $(tr "\n" " " <"$work/order")"

[ "$(tail -n 3 "$work/order" | grep -c low)" = 3 ]
ok $? "the urgent one is through first, though it came later"
say run "$work/short/flow.yaml" --priority 1
[ $? = 2 ] && grep -q "priority" "$work/err"
ok $? "--priority is of a run on agents"
finish
