#!/usr/bin/env bash
# Somebody who may write to Redis and has not the key replays tickets and forges, rolls back, swaps and deletes states of runs: nothing
# runs a second time, nothing is deleted, nothing that did not happen is reported, and somebody is told. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "an attacker at the store" "redis-server is not installed"
command -v python3 >/dev/null || skip "an attacker at the store" "python3 is not installed"
start_server
attack() { python3 "$(dirname "$0")/../cluster/attacker.py" "$port" "$@" >>"$work/attack" 2>&1; }
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2 --lease 2
start_agent two "$weft" agent -j 2 --lease 2
are_ready one two
ok $? "two agents"
told() { grep -q "$1" "$work"/one.log "$work"/two.log; } # by an agent
both_told() { grep -q "$1" "$work/one.log" && grep -q "$1" "$work/two.log"; }
flow() { # folder name seconds: a task that leaves a line each time that it runs, and waits for a gate
    mkdir -p "$work/$1"
    cat >"$work/$1/flow.yaml" <<END2
weft: 1
name: $2
tasks:
  t: { run: "echo $2 >> $work/ran; until [ -e $work/gate.$2 ]; do sleep 0.05; done; echo $2 > {out}", out: [result.txt] }
END2
}
ran() { grep -c "^$1\$" "$work/ran"; }
runs() { [ "$(ran "$1")" = "${2:-1}" ]; }
board='{weft.board}:'

# ---- a run that ends and is collected: its ticket is spent ----
flow a first
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out")
wait_for 20 runs first
ok $? "a run"
attack save "$work/early" # as long as it runs
touch "$work/gate.first"
say attach "$run" && [ "$(cat "$work/a/result.txt")" = first ]
ok $? "its result is brought home"
gone() { ! ls "$work"/*/runs/"$run"/files >/dev/null 2>&1; }
wait_for 20 gone
ok $? "and its data goes"

# the same number: the whole store as it was
attack load "$work/early" "" "" ".run.$run." && attack load "$work/early" "" "" "T.$run" && attack field "$work/early" "${board}R" "$run" "$run"
wait_for 20 both_told "run $run: it had come further before"
ok $? "its ticket and state are put back: the agents notice and say so"
runs first
ok $? "and it does not run again"
say attach "$run" -C "$work/a2"
[ $? != 0 ] || [ ! -e "$work/a2/result.txt" ]
ok $? "nobody gets a result of it"

# a restart does not make them forget
end_process "$pid_one"
start_agent one "$weft" agent -j 2 --lease 2
wait_for 20 is_ready one
again() { grep -q "run $run: it had come further before" "$work/one.log"; }
wait_for 20 again && runs first
ok $? "an agent that was started again remembers it, too"

# another number
attack load "$work/early" ".run.$run." ".run.77." ".run.$run." && attack load "$work/early" "T.$run" "T.77" "T.$run" && attack field "$work/early" "${board}R" "$run" 77
wait_for 20 both_told "run 77: what the board says of it was written by nobody"
ok $? "copied to another number: not believed, and told"
runs first
ok $? "it does not run"
say status
grep -q "77.*forged" "$work/out"
ok $? "status calls it forged"

# another prefix, with the same key and the same server; then another cluster that was founded there in order
attack load "$work/early" "{weft." "{copied."
start_agent copied "$weft" agent -j 2 --lease 2 --store "$WEFT_STORE/copied"
over() { dead "$pid_copied" || grep -q "run $run: what the board says" "$work/copied.log"; }
wait_for 20 over && runs first
ok $? "the whole board copied to another prefix: nothing runs there ($(tail -n 1 "$work/copied.log" | cut -c 1-100))"
[ -s "$work/copied.log" ]
ok $? "and somebody is told"
end_process "$pid_copied"
start_agent other "$weft" agent -j 2 --lease 2 --store "$WEFT_STORE/other"
wait_for 20 is_ready other
attack load "$work/early" "{weft." "{other." "{weft.run."
attack load "$work/early" "{weft." "{other." "T.$run"
attack load "$work/early" "{weft." "{other." "board}:R"
not_believed() { grep -q "run $run: what the board says of it was written by nobody" "$work/other.log"; }
wait_for 20 not_believed && runs first
ok $? "in another cluster with the same key: not believed, told, nothing runs"
end_process "$pid_other"

# ---- results that wait: COLLECTED makes agents delete them ----
flow b second
touch "$work/gate.second"
say submit "$work/b/flow.yaml" --no-shared -q && run=$(cat "$work/out")
wait_for 30 state_is "$run" ended
ok $? "a run that has ended, and its results wait"
kept() { ls "$work"/*/runs/"$run"/files/result.txt >/dev/null 2>&1; }
attack save "$work/ended"
attack state "${board}R" "$run" 4
wait_for 20 told "run $run: what the board says of it was written by nobody"
ok $? "COLLECTED by somebody without the key: told"
wait_for 20 state_is "$run" ended
ok $? "who knows better puts it right"
kept
ok $? "nothing was deleted"
say attach "$run" && [ "$(cat "$work/b/result.txt")" = second ]
ok $? "and the result comes home"
attack field "$work/ended" "${board}R" "$run" "$run" # ended again, after it was collected
attack load "$work/ended" "" "" "T.$run"
wait_for 20 told "run $run: it had come further before"
ok $? "rolled back to ENDED: told"

# ---- states of a run that goes on ----
flow c third
timeout 100 "$weft" run "$work/c/flow.yaml" --on cluster --no-shared >"$work/c.out" 2>"$work/c.err" &
client=$!
wait_for 20 runs third
run=$((run + 1))
until look $run 2>/dev/null; do run=$((run + 1)); done
for byte in 1 2 3 4; do
    attack state "${board}R" "$run" $byte
    wait_for 20 state_is "$run" running
    ok $? "state $byte written by somebody without the key is put right"
done
lives "$client" && runs third
ok $? "the task runs on, and its client follows"
touch "$work/gate.third"
wait "$client"
status=$?
client=""
[ $status = 0 ] && [ "$(cat "$work/c/result.txt")" = third ] && runs third
ok $? "and ends well, having run once"
grep -q "run $run: what the board says of it was written by nobody" "$work/one.log" "$work/two.log"
ok $? "told"

# ---- texts of two runs change places ----
flow d fourth
flow e fifth
say submit "$work/d/flow.yaml" --no-shared -q && first=$(cat "$work/out")
say submit "$work/e/flow.yaml" --no-shared -q && second=$(cat "$work/out")
wait_for 20 runs fourth && wait_for 20 runs fifth
attack swap "${board}T.$first" "${board}T.$second"
say attach "$first" -C "$work/d2"
[ $? = 1 ] && grep -q "not submitted under this number" "$work/err" && [ ! -e "$work/d2/result.txt" ]
ok $? "swapped texts: who attaches is told"
attack swap "${board}T.$first" "${board}T.$second"
touch "$work/gate.fourth" "$work/gate.fifth"
say attach "$first" && [ "$(cat "$work/d/result.txt")" = fourth ] && say attach "$second" && [ "$(cat "$work/e/result.txt")" = fifth ]
ok $? "put back, both come home"

# ---- what is deleted ----
attack do DEL "${board}F"
wait_for 20 told "the cluster's id is gone from the store"
ok $? "the cluster's id is deleted: told"
has_id() { redis-cli -p "$port" exists "${board}F" | grep -q 1; }
wait_for 20 has_id
ok $? "and put back"
attack do SET "${board}F" garbage
back() { ! redis-cli -p "$port" get "${board}F" | grep -q garbage; }
wait_for 20 back
ok $? "written over: put back"
flow f sixth
timeout 100 "$weft" run "$work/f/flow.yaml" --on cluster --no-shared >"$work/f.out" 2>"$work/f.err" &
client=$!
wait_for 20 runs sixth
run=$((second + 1))
wait_for 20 state_is "$run" running
attack do HDEL "${board}R" "$run"
wait "$client"
status=$?
client=""
[ $status = 1 ] && grep -q "vanished from the board" "$work/f.err" && [ ! -e "$work/f/result.txt" ]
ok $? "the record of a run is deleted: no success, and its client is told"
touch "$work/gate.sixth"
finish
