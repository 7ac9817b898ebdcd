#!/usr/bin/env bash
# A run on agents whose client was killed, or has left, and that was followed again had two records in the history: one lost, one of
# its end. Now whoever follows it goes on with the record that is there, and what people have said of it stays. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "one record" "redis-server is not installed"
command -v sqlite3 >/dev/null || skip "one record" "sqlite3 is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key WEFT_HISTORY=$work/history.db
start_agent one "$weft" agent -j 2
are_ready one
ok $? "an agent"
mkdir "$work/home" && cd "$work/home" || exit 1
flow() { # name: three tasks; the last waits for a file
    cat >"$1.yaml" <<FLOW
weft: 1
name: $1
parameters: { $1: 7 }
tasks:
  a: { run: "echo a > {out}", out: $1-a.txt }
  b: { run: "echo b > {out}", in: $1-a.txt, out: $1-b.txt }
  wait: { run: "until [ -e $work/gate-$1 ]; do sleep 0.1; done; echo c > {out}", in: $1-b.txt, out: $1-c.txt }
FLOW
}
ask() { sqlite3 "$WEFT_HISTORY" "$1" 2>/dev/null; }
is() { # statement, what it answers
    [ "$(ask "$1")" = "$2" ] || { echo "# $1: $(ask "$1"), not $2"; return 1; }
}
two_done() { [ "$(ask "SELECT count(*) FROM attempts WHERE id >> 32 = $1")" = 2 ]; }
running() { # number: somebody records it, and not the process that is given
    [ -n "$(ask "SELECT 1 FROM runs WHERE id = $1 AND outcome = 0 AND pid <> $2")" ]
}

flow killed
"$weft" run killed.yaml --on cluster --no-shared -q >"$work/out" 2>"$work/err" &
client=$!
wait_for 60 two_done 1
ok $? "a run of which two tasks are recorded"
began=$(ask "SELECT started FROM runs WHERE id = 1")
first=$(ask "SELECT start FROM attempts WHERE id >> 32 = 1 ORDER BY start LIMIT 1")
kill -9 $client
wait $client 2>/dev/null
say history 1 --tag mine
"$weft" history 2>&1 | grep -q lost
ok $? "whoever began it is killed: its record is lost"
run=$(ls .weft/cluster/*.json) && run=${run##*/} && run=${run%.json}
"$weft" attach "$run" -q >"$work/out" 2>"$work/err" &
follower=$!
wait_for 60 running 1 $client && wait_for 60 two_done 1
ok $? "who follows it goes on with that record, and tells again what was done"
kill -9 $follower
wait $follower 2>/dev/null
touch "$work/gate-killed"
say attach "$run" -q
ok $? "so does who comes when that one was killed, too"
is "SELECT count(*) FROM runs" 1 && is "SELECT outcome, ran, failed FROM runs" "1|3|0"
ok $? "one run has one record, with its end"
is "SELECT count(*), count(DISTINCT task) FROM attempts" "3|3" && is "SELECT started FROM runs" "$began"
ok $? "each task once, and the moment at which it began"
is "SELECT abs(min(start) - $first) < 1000000 FROM attempts" 1
ok $? "tasks are where they were in its time"
say history 1 && grep -q mine "$work/out" && grep -q "killed" "$work/out"
ok $? "what was said of it and its parameters are there"

flow left
say submit left.yaml --no-shared -q && run=$(cat "$work/out")
ok $? "a run that is handed in has no record yet"
"$weft" attach "$run" -q >"$work/out" 2>"$work/err" &
follower=$!
wait_for 60 two_done 2
ok $? "who follows it has one"
kill -INT $follower
wait $follower
is "SELECT name, outcome FROM runs WHERE id = 2" "left|3"
ok $? "and leaves it"
touch "$work/gate-left"
say attach "$run" -q
is "SELECT count(*) FROM runs" 2 && is "SELECT outcome, ran FROM runs WHERE id = 2" "1|3"
ok $? "who follows it to its end goes on with it"

flow other
"$weft" run other.yaml --on cluster --no-shared -q >"$work/out" 2>"$work/err" &
client=$!
wait_for 60 two_done 3
kill -9 $client
wait $client 2>/dev/null
run=$(ls .weft/cluster/*.json) && run=${run##*/} && run=${run%.json}
touch "$work/gate-other"
WEFT_HISTORY=$work/another.db say attach "$run" -q
[ $? = 0 ] && [ "$(sqlite3 "$work/another.db" 'SELECT id, outcome, ran FROM runs')" = "1|1|3" ] && is "SELECT outcome FROM runs WHERE id = 1" 1
ok $? "who has another history has a record there"
finish
