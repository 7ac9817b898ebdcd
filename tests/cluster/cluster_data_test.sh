#!/usr/bin/env bash
# Data and agents that come and go: a cache that is too small, an agent that leaves in the middle, one that joins. Speaks TAP.
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "data of a cluster" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key

# ---- a cache that is too small ----
# 12 pieces of 300 kB, each rewritten twice, and two sums over all: 11 MB pass through agents that may keep 1 MB
pieces=12
flow() { # folder
    mkdir -p "$1"
    for i in $(seq $pieces); do yes "piece $i of the input" | head -c 300000 >"$1/in_$i"; done
    {
        echo "weft: 1"
        echo "name: pieces"
        echo "tasks:"
        for i in $(seq $pieces); do
            echo "  turn_$i: { run: 'rev {in} > {out}', in: [in_$i], out: [mid/turn_$i] }"
            echo "  mark_$i: { run: 'nl {in} | head -c 300000 > {out}', shell: sh, in: [mid/turn_$i], out: [mid/mark_$i] }"
            echo "  sum_$i: { run: 'cat {in} | cksum > {out}', in: [mid/turn_$i, mid/mark_$i], out: [out/sum_$i] }"
        done
        echo "  all: { run: 'cat {in} | cksum > {out}', in: [$(seq -s, -f 'mid/mark_%.0f' $pieces)], out: [out/all] }"
    } >"$1/flow.yaml"
}
flow "$work/here"
say run "$work/here/flow.yaml"
ok $? "what it should be: a run on this machine"
for i in 1 2 3; do start_agent small$i "$weft" agent -j 1 --lease 2 --cache 1M; done
are_ready small1 small2 small3
ok $? "three agents that keep 1 MB"
flow "$work/a"
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 100 state_is "$run" ended
ok $? "a run over more data than that ends"
wait_for 20 work_is "$run" dropped -gt 0
ok $? "data was dropped"
[ "$(work_of recomputed)" = 0 ]
ok $? "nothing that was still needed: none is computed again"
# one copy of what nobody can compute again (3.6 MB of inputs) may stay, whatever the limit
less_kept() { look "$run" && [ "$(work_of cache_bytes)" -le $((3 * 1048576 + pieces * 300000)) ]; }
wait_for 20 less_kept
ok $? "in the end they keep what they may, and the inputs: $(work_of cache_bytes) bytes"
say attach "$run" && diff -r "$work/here/out" "$work/a/out" >"$work/err" 2>&1
ok $? "and the results are right"

# ---- one leaves in the middle, one joins ----
# the first layer runs freely; a task of the second waits for a file that we make
cat >"$work/steps" <<'END2'
weft: 1
name: steps
parameters: { gate: none }
tasks:
END2
for i in $(seq 8); do
    cat >>"$work/steps" <<END2
  a_$i: { run: 'yes $i | head -c 50000 > {out}', shell: sh, out: [mid/a_$i] }
  b_$i: { run: 'cksum < {in} > {out}; pwd >> {gate}.trail; until [ -e {gate} ]; do sleep 0.1; done', in: [mid/a_$i], out: [mid/b_$i] }
  c_$i: { run: 'cat {in} | cksum > {out}', in: [mid/a_$i, mid/b_$i], out: [out/c_$i] }
END2
done
mkdir "$work/local" "$work/b"
touch "$work/opened"
sed "s|gate: none|gate: $work/opened|" "$work/steps" >"$work/local/flow.yaml"
sed "s|gate: none|gate: $work/gate|" "$work/steps" >"$work/b/flow.yaml"
say run "$work/local/flow.yaml"
ok $? "what it should be: a run on this machine"
say submit "$work/b/flow.yaml" --no-shared -q && run=$(cat "$work/out")
all_wait() { [ "$(cat "$work/gate.trail" 2>/dev/null | wc -l)" = 3 ]; }
wait_for 60 all_wait
ok $? "a run, until each of three agents has a task that waits"
[ "$(find "$work/small2/runs/$run/files/mid" -name 'a_*' | wc -l)" -gt 0 ]
ok $? "the one that will leave has files of the first layer"
kill -TERM "$pid_small2"
wait_for 20 grep -q leaving "$work/small2.log"
ok $? "it is told to leave while its task runs"
start_agent late "$weft" agent -j 1 --lease 2
are_ready late && wait_for 60 grep -q "/late/" "$work/gate.trail"
ok $? "one joins in the middle, and gets work"
lives "$pid_small2"
ok $? "the other waits for its task"
touch "$work/gate"
wait_for 60 dead "$pid_small2" && wait "$pid_small2"
ok $? "and leaves in order when it has ended"
wait_for 60 state_is "$run" ended && wait_for 20 work_is "$run" done -ge 1 late
ok $? "the run ends, with work by the one that joined"
[ "$(work_of recomputed)" = 0 ] && ! grep -q "computed again" "$work"/*.log
ok $? "its data went to others: nothing is computed again"
[ "$(sort "$work/gate.trail" | wc -l)" = 8 ]
ok $? "and no task ran twice"
look "$run" && awk -v node="$(node_of small2)" '/"node":/ { at = $2 + 0 } at == node && /"state": "(up|silent)"/ { bad = 1 } END { exit bad }' "$work/status"
ok $? "status does not count it among those that are up"
say attach "$run" && diff -r "$work/local/out" "$work/b/out" >"$work/err" 2>&1
ok $? "and the results are right"
finish
