#!/usr/bin/env bash
# Issue 15: tasks that nobody held, since others never saw their agent alive. One died between joining and its first words: nobody took it
# for dead. One came, took tasks over and left while the other could not look: nobody took them back. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
for program in redis-server redis-cli; do
    command -v $program >/dev/null || skip "agents that nobody heard of" "$program is not installed"
done
start_server
say key "$work/key"
export WEFT_KEY=$work/key GO=$work/go
flow() { # folder: two tasks that wait, and one after them
    mkdir "$work/$1"
    cat >"$work/$1/flow.yaml" <<'FLOW'
weft: 1
tasks:
  a: { run: 'echo a >> "$GO.begun"; until [ -e "$GO" ]; do sleep 0.1; done; echo 1 > {out}', out: a.txt }
  b: { run: 'echo b >> "$GO.begun"; until [ -e "$GO" ]; do sleep 0.1; done; echo 2 > {out}', out: b.txt }
  all: { run: 'cat {in} > {out}', in: [a.txt, b.txt], out: all.txt }
FLOW
    rm -f "$GO" "$GO.begun"
}
begun() { [ -e "$GO.begun" ] && [ "$(wc -l <"$GO.begun")" -ge "$1" ]; }
run_begins() { # folder
    timeout 120 "$weft" run "$work/$1/flow.yaml" --on cluster --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
}
run_ends() { # folder
    wait $client
    local status=$?
    client=""
    [ $status = 0 ] && [ "$(cat "$work/$1/all.txt")" = "$(printf '1\n2')" ]
}

# ---- one that has no words on the board: as it is between joining and the first heartbeat ----
start_agent one "$weft" agent -j 1 --lease 2
start_agent two "$weft" agent -j 1 --lease 2
are_ready one two
ok $? "two agents"
flow wordless
run_begins wordless
wait_for 60 begun 2
ok $? "each runs a task"
kill -KILL "$pid_two"
redis-cli -p "$port" hset '{weft.board}:X' "$(node_of two)" '' >"$work/err" 2>&1
[ "$(redis-cli -p "$port" hget '{weft.board}:X' "$(node_of two)")" = "" ]
ok $? "one dies, and nothing of what it said is on the board"
touch "$GO"
run_ends wordless
ok $? "the other takes its task over, and the run ends well"

# ---- one that was gone before the other could look ----
flow missed
run_begins missed
wait_for 60 begun 1
ok $? "a task runs"
kill -STOP "$pid_one"
start_agent three "$weft" agent -j 2 --lease 2
are_ready three && wait_for 60 begun 3
ok $? "its agent is stopped, and another takes over what it held"
end_process "$pid_three"
dead "$pid_three"
ok $? "and leaves"
kill -CONT "$pid_one"
touch "$GO"
run_ends missed
ok $? "the first one takes it back, and the run ends well"
finish
