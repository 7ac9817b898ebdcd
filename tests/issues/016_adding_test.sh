#!/usr/bin/env bash
# Issue 16, point 5: weft_run_add() on agents. A program adds tasks to its run while agents work on it, also when all that is known has ended; what was
# acknowledged (WEFT_EVENT_GROWN) is there for good, whoever dies: an agent, or the program, which attaches again and goes on. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks that a program adds on agents" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
adder() { timeout 100 "$WEFT_ADDER" "$@" >"$work/out" 2>"$work/err"; }
chain() { [ "$(tr '\n' ' ' <"$work/$1/link$2.out" 2>/dev/null)" = "$(seq 0 "$2" | tr '\n' ' ')" ]; } # folder, last link

# ---- the same as on one machine ----
for how in here shared apart; do
    mkdir "$work/$how"
    echo common >"$work/$how/common.txt"
    case $how in here) on="" ;; *) on="on=local:2 $how=1" ;; esac
    # shellcheck disable=SC2086
    adder $on links=12 reads=common.txt "$work/$how" && chain $how 12 && grep -q "over tasks 13 done 13" "$work/out" && [ "$(grep -c grown "$work/out")" = 12 ]
    ok $? "each task that ends adds another, $how"
    ! grep -q "refused\|too late" "$work/out"
    ok $? "and none after its end, $how"
done
mkdir "$work/plain" && adder on=local:1 apart=1 plain=1 links=1 "$work/plain"
grep -q "refused tasks are added to a run on agents only if it was opened for that: set .adds." "$work/out"
ok $? "without being opened for that: refused, with the remedy"
mkdir "$work/twice" && adder on=local:2 apart=1 links=5 twice=3 "$work/twice"
[ $? = 2 ] && grep -q "in the run already" "$work/err" && chain twice 2
ok $? "a name that is there ends the run, as on one machine; what was done is done"

# ---- a cluster that stays ----
start_agent one "$weft" agent -j 2 --lease 4
start_agent two "$weft" agent -j 2 --lease 4
are_ready one two
ok $? "two agents"
begin() { # name, words of the adder: in the background
    local name=$1
    shift
    mkdir -p "$work/$name"
    "$WEFT_ADDER" "$@" "$work/$name" >"$work/out" 2>"$work/err" &
    client=$!
}
told() { grep -qx "$1" "$work/out"; }
told_times() { [ "$(grep -c "$1" "$work/out")" -ge "$2" ]; }
run_of() { sed -n 's/^run //p' "$work/out"; }

begin killed on=cluster apart=1 links=6 "gate=3:$work/killed.gate"
wait_for 60 told_times grown 3
ok $? "three have joined; the third waits"
run=$(run_of)
kill -KILL $client && wait $client 2>/dev/null
client=""
touch "$work/killed.gate"
adder attach="$run" links=6 "$work/killed" && chain killed 6 && grep -q "over tasks 7 done 7" "$work/out"
ok $? "its program is killed and attaches again: what had joined is there, and it goes on adding"

begin left on=cluster apart=1 links=6 "gate=2:$work/left.gate"
wait_for 60 told_times grown 2 || sed 's/^/# /' "$work/err" "$work/out"
run=$(run_of)
kill -KILL $client && wait $client 2>/dev/null
client=""
touch "$work/left.gate"
wait_for 60 work_is "$run" done -ge 3
ok $? "a program that does not come back: agents do what it added"
state_is "$run" running && redis-cli -p "$port" exists "{weft.board}:T.$run.h" | grep -q 1
ok $? "the run is held open for it, for a while"
redis-cli -p "$port" del "{weft.board}:T.$run.h" >/dev/null # as if that while were over
wait_for 60 state_is "$run" ended
ok $? "then agents end it"
say attach "$run" -C "$work/left" && chain left 2
ok $? "and whoever attaches gets what was made"

for try in 1 2; do
    begin "dies$try" on=cluster apart=1 links=8 "gate=$((try * 2)):$work/dies$try.gate"
    wait_for 60 told_times grown $((try * 2))
    name=$([ $((try % 2)) = 1 ] && echo one || echo two)
    eval "pid=\$pid_$name"
    kill -KILL "$pid" && wait "$pid" 2>/dev/null
    touch "$work/dies$try.gate"
    start_agent $name "$weft" agent -j 2 --lease 2
    wait $client && chain "dies$try" 8 && grep -q "over tasks 9 done 9" "$work/out"
    ok $? "an agent is killed between, and the run ends well ($try)"
    client=""
done

end_process "$pid_two"
begin late on=cluster apart=1 links=2 burst=6 "gate=1:$work/late.gate"
wait_for 60 told grown
start_agent two "$weft" agent -j 2 --lease 4
are_ready two && wait_for 60 work_is "$(run_of)" running -ge 1 two
ok $? "an agent that comes late works on what was added"
touch "$work/late.gate"
wait $client && chain late 2 && [ "$(cat "$work"/late/beside*.out | sort -u | wc -l)" = 2 ]
ok $? "and it ends well"
client=""

# what somebody without the key writes in a part's place joins nothing
begin forged on=cluster apart=1 links=4 "gate=2:$work/forged.gate"
wait_for 60 told_times grown 2
redis-cli -p "$port" set "{weft.board}:T.$(run_of).2" "not sealed by anybody who knows" >/dev/null
touch "$work/forged.gate"
wait $client && chain forged 4
ok $? "what somebody wrote in a part's place is written over"
client=""
finish
