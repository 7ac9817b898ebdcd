#!/usr/bin/env bash
# Issue 15, point 2: the store lost its data (FLUSHALL, a restart without a file), the next run got an old number, and hung for ever, also
# past SIGTERM. Now numbers and lives do not come again, agents end what the store does not know, clients say so, and two signals end
# every client. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a store that lost its data" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2 --lease 2
start_agent two "$weft" agent -j 2 --lease 2
are_ready one two
ok $? "two agents"
flow() { # name: a task that leaves a line, waits for a gate, and writes its name
    mkdir -p "$work/$1"
    cat >"$work/$1/flow.yaml" <<YAML
weft: 1
name: $1
tasks:
  t: { run: "echo $1 >> $work/ran; until [ -e $work/gate.$1 ]; do sleep 0.05; done; echo $1 > {out}", out: result.txt }
  u: { run: "echo $1 >> $work/ran; until [ -e $work/gate.$1 ]; do sleep 0.05; done; echo $1 > {out}", out: other.txt }
YAML
}
ran() { [ "$(grep -c "^$1\$" "$work/ran" 2>/dev/null)" -ge "${2:-2}" ]; }
told() { grep -q "$1" "$work/one.log" "$work/two.log"; }
ends_with() { # status: the client has ended with it
    wait "$client"
    [ $? = "$1" ]
}
follows() { # name
    "$weft" run "$work/$1/flow.yaml" --on cluster --no-shared >"$work/$1.out" 2>"$work/err" &
    client=$!
    wait_for 30 ran "$1"
}

# ---- while runs go on ----
flow first
flow second
touch "$work/gate.second"
say submit "$work/second/flow.yaml" --no-shared -q
follows first
ok $? "a run that is followed, and another that nobody collects"
redis-cli -p "$port" flushall >/dev/null
wait_for 30 dead "$client"
ends_with 1
ok $? "FLUSHALL: who follows a run is told, with status 1"
grep -q "vanished from the board.*hand the workflow in again\|are gone.*start the run again" "$work/err"
ok $? "and what to do: $(tail -n 1 "$work/err" | cut -c 1-60)"
wait_for 30 told "the store does not know it any more\|this agent is node [0-9] now"
ok $? "agents say that the store does not know it, or them"
none_run() { ! pgrep -f "gate.first" >/dev/null; }
wait_for 30 none_run
ok $? "and end its tasks"
ls "$work"/*/runs/*/ended >/dev/null 2>&1
ok $? "its data is not deleted for that"

# ---- a new run at once ----
flow third
touch "$work/gate.third"
redis-cli -p "$port" flushall >/dev/null
timeout 60 "$weft" run "$work/third/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err"
[ $? = 0 ] && [ "$(cat "$work/third/result.txt")" = third ]
ok $? "a run right after FLUSHALL ends well"
grep -q "run [3-9]" "$work/err"
ok $? "with a number that was not given before: $(grep -o 'run [0-9]*' "$work/err" | head -n 1)"
lives "$pid_one" && lives "$pid_two"
ok $? "both agents live"
two_up() { timeout 30 "$weft" status --json >"$work/status" 2>>"$work/err" && [ "$(grep -c '"state": "up"' "$work/status")" = 2 ]; }
wait_for 20 two_up
ok $? "and are members again"

# ---- a restart without a file ----
flow fourth
follows fourth
kill -9 "$server"
wait "$server" 2>/dev/null
rm -rf "$work/appendonlydir"
redis-server --port "$port" --bind 127.0.0.1 --dir "$work" --save '' --appendonly yes --appendfsync everysec >"$work/redis.log" 2>&1 &
server=$!
wait_for 40 dead "$client"
ends_with 1 && grep -q "vanished from the board\|are gone" "$work/err"
ok $? "a store that was started again without its file: its client is told, with status 1"
flow fifth
touch "$work/gate.fifth"
timeout 60 "$weft" run "$work/fifth/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err"
[ $? = 0 ] && [ "$(cat "$work/fifth/result.txt")" = fifth ]
ok $? "and the next run ends well"
touch "$work/gate.fourth"

# ---- an agent started anew between, which is given a number that another believes to be its own ----
end_process "$pid_one"
redis-cli -p "$port" flushall >/dev/null
start_agent three "$weft" agent -j 2 --lease 2
are_ready three
wait_for 20 two_up
ok $? "an agent that joins an emptied store does not share its number with another"
flow sixth
touch "$work/gate.sixth"
timeout 60 "$weft" run "$work/sixth/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err"
[ $? = 0 ] && [ "$(cat "$work/sixth/result.txt")" = sixth ]
ok $? "and a run on both ends well"

# ---- two signals ----
flow seventh
follows seventh
kill -STOP "$pid_two" "$pid_three"
kill -TERM "$client"
sleep 0.5
kill -TERM "$client"
wait_for 40 dead "$client"
ok $? "two signals end a client whose agents do not answer"
wait "$client"
[ $? = 1 ] && grep -q "was told to end, and after" "$work/err"
ok $? "with status 1, and it says what it waited for: $(tail -n 1 "$work/err" | cut -c 1-90)"
client=""
kill -CONT "$pid_two" "$pid_three"
touch "$work/gate.seventh"
finish
