#!/usr/bin/env bash
# Somebody who may write to Redis and has not the key says that tasks are done, that they are not, and how many have ended: nothing starts
# before its parents, nothing is deleted, nobody reports a success that was none, and somebody is told. Speaks TAP.
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
ran() { grep -c "^$1\$" "$work/ran" 2>/dev/null; }
runs() { [ "$(ran "$1")" = "${2:-1}" ]; }
# a waits for a gate, b reads what a made
flow() { # name
    mkdir -p "$work/$1"
    cat >"$work/$1/flow.yaml" <<END2
weft: 1
name: $1
tasks:
  a: { run: "echo $1.a >> $work/ran; until [ -e $work/gate.$1 ]; do sleep 0.05; done; echo $1 > {out}", out: [middle.txt] }
  b: { run: "echo $1.b >> $work/ran; cat {in} > {out}", in: [middle.txt], out: [result.txt] }
END2
}
submit() { say submit "$work/$1/flow.yaml" --no-shared -q && run=$(cat "$work/out"); }
of() { echo "{weft.run.$run.0}:$1"; }

# ---- all is done, says the store ----
flow first
submit first && wait_for 20 runs first.a
ok $? "a run whose first task waits"
for task in 0 1; do attack done "$(of R)" $task; done
attack count "$(of D)" 2 0 0
attack edges "$(of E)" 1
wait_for 20 told "run $run: .*nobody who has the cluster's key wrote that\|run $run: the store says that all tasks have ended"
ok $? "the store says that both tasks are done: an agent tells that nobody with the key wrote it"
state_is "$run" running
ok $? "the run goes on"
grep -q '"done": 0' "$work/status" && grep -q '"unproved": [12]' "$work/status" && grep -q '"proved": true' "$work/status"
ok $? "status counts none of them as done"
COLUMNS=80 say status "$run" && grep -q " 0 of 2 " "$work/out" && grep -q "more tasks\? that .* ended" "$work/out"
ok $? "and says so to people"
timeout 100 "$weft" attach "$run" >"$work/out" 2>"$work/err"
[ $? = 1 ] && [ ! -e "$work/first/result.txt" ] && grep -q "nobody who has the cluster's key wrote that" "$work/err"
ok $? "who attaches gets no success, and is told: $(tail -n 1 "$work/err" | cut -c 1-100)"
! runs first.b
ok $? "the second task has not begun"
say cancel "$run"
touch "$work/gate.first"

# ---- edges alone: the child is ready, says the store ----
flow second
submit second && wait_for 20 runs second.a
attack edges "$(of E)" 1
look "$run" && ! runs second.b
ok $? "its edge says that the parent is done: the child does not start"
touch "$work/gate.second"
say attach "$run" && [ "$(cat "$work/second/result.txt")" = second ] && runs second.a && runs second.b
ok $? "when the parent really is, the run ends well, each task having run once"

# ---- the first task is done, says the store; then it is ----
flow third
submit third && wait_for 20 runs third.a
attack done "$(of R)" 0
touch "$work/gate.third"
timeout 60 "$weft" attach "$run" >"$work/out" 2>"$work/err" && [ "$(cat "$work/third/result.txt")" = third ] && runs third.a && runs third.b
ok $? "a task that is said to be done while it runs: its true end counts, and the run ends well"

# ---- what is done is not, says the store ----
mkdir "$work/fourth"
cat >"$work/fourth/flow.yaml" <<END2
weft: 1
name: fourth
tasks:
  a: { run: "echo fourth.a >> $work/ran; until [ -e $work/gate.a ]; do sleep 0.05; done; echo fourth > {out}", out: [one.txt] }
  b: { run: "echo fourth.b >> $work/ran; until [ -e $work/gate.fourth ]; do sleep 0.05; done; cat {in} > {out}", in: [one.txt], out: [two.txt] }
END2
say submit "$work/fourth/flow.yaml" --no-shared -q && run=$(cat "$work/out")
wait_for 20 runs fourth.a
attack save "$work/before"
touch "$work/gate.a"
wait_for 20 runs fourth.b
attack undo "$work/before" "$(of R)" 0
touch "$work/gate.fourth"
wait_for 60 told "run $run: the store says that all tasks have ended, and their records do not"
ok $? "a task that was done is put back: noticed, and told"
timeout 100 "$weft" attach "$run" >"$work/out" 2>"$work/err"
status=$?
[ $status = 0 ] && [ "$(cat "$work/fourth/two.txt")" = fourth ] || [ $status = 1 ]
ok $? "the run ends right, or not well (status $status)"
[ "$(ran fourth.b)" = 1 ]
ok $? "what was not put back did not run again"

# ---- readers are done, says the store: agents delete temporary files ----
mkdir "$work/fifth"
cat >"$work/fifth/flow.yaml" <<END2
weft: 1
name: fifth
tasks:
  make: { run: "echo fifth > {out}", out: [{ name: big.tmp, temporary: true }] }
  wait: { run: "echo fifth.w >> $work/ran; until [ -e $work/gate.fifth ]; do sleep 0.05; done; echo x > {out}", out: [go.txt] }
  read: { run: "echo fifth.r >> $work/ran; cat {in} > {out}", in: [big.tmp, go.txt], out: [fifth.txt] }
END2
say submit "$work/fifth/flow.yaml" --no-shared -q && run=$(cat "$work/out")
made() { ls "$work"/*/runs/"$run"/files/big.tmp >/dev/null 2>&1; }
wait_for 20 made && wait_for 20 runs fifth.w
ok $? "a temporary file, and a reader that waits for another"
for task in 0 1 2; do attack done "$(of R)" $task; done # whichever number the reader has
wait_for 20 told "run $run: .*nobody who has the cluster's key wrote that"
ok $? "its reader is done, says the store: told"
made
ok $? "and the file stays"
say cancel "$run"
touch "$work/gate.fifth"

# ---- the store of a run is gone ----
flow sixth
timeout 100 "$weft" run "$work/sixth/flow.yaml" --on cluster --no-shared >"$work/s.out" 2>"$work/s.err" &
client=$!
wait_for 20 runs sixth.a
run=$((run + 1))
wait_for 20 state_is "$run" running
attack do DEL "$(of R)"
wait "$client"
status=$?
client=""
[ $status = 1 ] && [ ! -e "$work/sixth/result.txt" ] && [ -s "$work/s.err" ]
ok $? "a run's records are deleted: no success, and its client is told: $(tail -n 1 "$work/s.err" | cut -c 1-100)"
touch "$work/gate.sixth"
finish
