#!/usr/bin/env bash
# A cluster from the outside: redis-server, a key, three agents; submit, status, attach, cancel, `run --on`. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
# only what was started here: the server and agents by their own numbers
stop_all() {
    for pid in $agents; do kill "$pid" 2>/dev/null; done
    for pid in $agents; do wait "$pid" 2>/dev/null; done
    [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
    rm -rf "$work"
}
agents="" server=""
trap stop_all EXIT
export WEFT_HISTORY=none TMPDIR=$work
unset WEFT_STORE WEFT_KEY
. "$(dirname "$0")/../support/tap.sh"
say() { timeout 120 "$weft" "$@" >"$work/out" 2>"$work/err"; }

if ! command -v redis-server >/dev/null; then
    echo "ok 1 - a cluster # SKIP redis-server is not installed"
    echo "1..1"
    exit 0
fi
for try in 1 2 3 4 5 6 7 8; do
    port=$((20000 + (RANDOM * 7 + $$ + try) % 20000))
    redis-server --port $port --bind 127.0.0.1 --dir "$work" --save '' --appendonly yes --appendfsync always >"$work/redis.log" 2>&1 &
    server=$!
    for i in $(seq 100); do
        grep -q "Ready to accept connections" "$work/redis.log" && break 2
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    kill $server 2>/dev/null
done
store=redis://127.0.0.1:$port

# ---- the key ----
say status --store "$store" --key "$work/none"
[ $? = 2 ] && grep -q "weft key" "$work/err" && [ ! -s "$work/out" ]
ok $? "without the key: a refusal that says how one is made, and nothing else"
say key "$work/key" && [ "$(stat -c %a "$work/key")" = 600 ]
ok $? "a key, for its owner alone"
say key "$work/other"
export WEFT_STORE=$store WEFT_KEY=$work/key
chmod 644 "$work/key"
say status
[ $? != 0 ] && grep -q "$work/key" "$work/err"
ok $? "a key that others can read is refused"
chmod 600 "$work/key"
say status && grep -q "no agents" "$work/out" && grep -q "no runs" "$work/out"
ok $? "an empty cluster"

flow() { # folder: two layers with data, a file apart, one result
    mkdir -p "$1/data"
    for i in 0 1 2 3; do seq $i 500 >"$1/data/in_$i"; done
    {
        echo "weft: 1"
        echo "name: parts"
        echo "tasks:"
        for i in $(seq 0 15); do
            echo "  part_$i: { run: 'sort -r {in} > {out} && echo $i >> {out}', in: [data/in_$((i % 4))], out: [mid/part_$i] }"
            echo "  sum_$i: { run: 'cksum < {in} > {out}', in: [mid/part_$i], out: [sums/sum_$i] }"
        done
        echo "  all: { run: 'cat {in} > {out}', in: [$(for i in $(seq 0 15); do printf 'mid/part_%d, ' $i; done)], out: [all.txt] }"
    } >"$1/flow.yaml"
}
flow "$work/here"
say run "$work/here/flow.yaml"
ok $? "what it should be: a run on this machine"
same() { diff -r "$work/here/sums" "$1/sums" >"$work/err" && cmp "$work/here/all.txt" "$1/all.txt" >"$work/err"; }

flow "$work/a"
say submit "$work/a/flow.yaml"
[ $? = 1 ] && grep -q "no agent is up" "$work/err"
ok $? "nobody is there to submit to"

# ---- agents ----
for i in 1 2 3; do
    "$weft" agent --state "$work/agent$i" -j 1 --lease 2 >"$work/agent$i.out" 2>"$work/agent$i.err" &
    agents="$agents $!"
done
for i in $(seq 100); do
    [ "$(cat "$work"/agent?.out | grep -c "ready at")" = 3 ] && break
    sleep 0.1
done
[ "$(cat "$work"/agent?.out | grep -c "ready at")" = 3 ]
ok $? "three agents"
say status && [ "$(grep -c " up " "$work/out")" = 3 ]
ok $? "status shows them"
say status --key "$work/other"
[ $? = 1 ] && grep -q "another cluster key" "$work/err" && [ ! -s "$work/out" ]
ok $? "another key learns nothing"
say submit "$work/a/flow.yaml" --key "$work/other"
[ $? = 1 ] && grep -q "another cluster key" "$work/err"
ok $? "and submits nothing"

# ---- submit, status, attach ----
say submit "$work/a/flow.yaml" --no-shared && grep -q "33 of 33 tasks on 3 agents" "$work/out" && grep -q "4 files handed over" "$work/out"
ok $? "submit"
say status 1 && grep -q "parts" "$work/out"
ok $? "status of a run"
say attach 1 && grep -q "33 tasks ran" "$work/out"
ok $? "attach"
same "$work/a"
ok $? "its results are those of a run on this machine"
[ ! -e "$work/a/mid" ]
ok $? "files between tasks stay where they are"
say status 1 --json && grep -q '"state": "collected"' "$work/out"
ok $? "its results were taken"
say submit "$work/a/flow.yaml" && grep -q "nothing to do: 33 tasks are up to date" "$work/out"
ok $? "again: nothing to do"
say attach 77
[ $? = 2 ] && grep -q "there is no run 77" "$work/err" && grep -q "nor any other whose results wait" "$work/err"
ok $? "an unknown run: those that could be meant"
say attach x
[ $? = 2 ] && grep -q "not the number of a run" "$work/err"
ok $? "no number"
say submit "$work/a/flow.yaml" -f --submit nobody
[ $? = 2 ] && grep -q "best, worst or group" "$work/err"
ok $? "--submit is checked"
say submit "$work/a/flow.yaml" -f --submit group:elsewhere
[ $? = 2 ] && grep -q "no agent is on 'elsewhere'" "$work/err"
ok $? "so is the group"

# ---- run --on ----
flow "$work/b"
say run "$work/b/flow.yaml" --on cluster --no-shared --submit worst --policy mlb && grep -q "33 tasks ran" "$work/out"
ok $? "run --on cluster, all tasks to one agent"
same "$work/b"
ok $? "the same results"
say run "$work/b/flow.yaml" --on cluster && grep -q "nothing to do" "$work/out"
ok $? "and again nothing to do"
echo more >>"$work/b/data/in_1"
say run "$work/b/flow.yaml" --on cluster --no-shared --json && [ "$(grep -c '"event":"done"\|"event": *"task"' "$work/out")" -ge 1 ]
ok $? "a changed input, and events as JSON lines"
flow "$work/c"
say run "$work/c/flow.yaml" --on cluster && grep -q "work in this folder" "$work/err" && [ -e "$work/c/mid/part_3" ]
ok $? "on one machine the folder is shared: nothing is copied"
same "$work/c"
ok $? "with the same results"
say run "$work/a/flow.yaml" --nodes 3
[ $? = 2 ] && grep -q "does nothing without --on" "$work/err"
ok $? "--nodes without --on"
say run "$work/a/flow.yaml" --on moon
[ $? = 2 ] && grep -q "local:N" "$work/err"
ok $? "--on what?"

# ---- a failure ----
mkdir "$work/d"
cat >"$work/d/flow.yaml" <<'END2'
weft: 1
name: fails
tasks:
  good: { run: "echo fine > {out}", out: [good.txt] }
  bad: { run: "echo it broke; exit 7", out: [bad.txt] }
  after: { run: "cat {in} > {out}", in: [bad.txt], out: [after.txt] }
END2
say run "$work/d/flow.yaml" --on cluster --no-shared -k
[ $? = 1 ] && grep -q "1 task failed, 1 not run" "$work/err" && grep -q "it broke" "$work/out"
ok $? "a task that fails is told with its log"
[ "$(cat "$work/d/good.txt")" = fine ]
ok $? "what is done comes home"

# ---- cancel ----
mkdir "$work/e"
cat >"$work/e/flow.yaml" <<'END2'
weft: 1
name: slow
tasks:
  wait: { run: "sleep 60; touch {out}", out: [wait.txt] }
  child: { run: "cp {in} {out}", in: [wait.txt], out: [child.txt] }
  quick: { run: "echo q > {out}", out: [quick.txt] }
END2
say submit "$work/e/flow.yaml" --no-shared -q && run=$(cat "$work/out")
ok $? "submit -q prints the number"
say cancel "$run" wiat
[ $? = 2 ] && grep -q "did you mean 'wait'" "$work/err"
ok $? "cancel of a task that is not there"
sleep 1
say cancel "$run" wait
ok $? "cancel of a task"
say attach "$run"
[ $? = 1 ] && [ -e "$work/e/quick.txt" ] && [ ! -e "$work/e/child.txt" ]
ok $? "takes its subtree with it, and nothing else"
say submit "$work/e/flow.yaml" -f --no-shared -q && run=$(cat "$work/out") && sleep 0.5 && say cancel "$run" && say attach "$run"
[ $? = 1 ] && [ ! -e "$work/e/child.txt" ]
ok $? "cancel of a run"
say cancel "$run"
[ $? = 1 ] && grep -q "has ended already" "$work/err"
ok $? "only once"

# ---- the client goes, an agent dies, the server restarts ----
mkdir "$work/f" "$work/g"
{
    echo "weft: 1"
    echo "name: steps"
    echo "tasks:"
    for i in $(seq 0 11); do
        echo "  a_$i: { run: 'sleep 0.3; echo $i > {out}', out: [mid/a_$i] }"
        echo "  b_$i: { run: 'sleep 0.1; cat {in} {in} > {out}', in: [mid/a_$i], out: [out/b_$i] }"
    done
} | tee "$work/f/flow.yaml" >"$work/g/flow.yaml"
"$weft" run "$work/f/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err" &
client=$!
sleep 1.2
kill -9 $client
wait $client 2>/dev/null
run=$(ls "$work/f/.weft/cluster" 2>/dev/null | sed 's/[.]json//')
[ -n "$run" ]
ok $? "a client that is killed has left a note"
say run "$work/f/flow.yaml" --on cluster
[ $? = 1 ] && grep -q "goes on" "$work/err"
ok $? "nobody starts the same again meanwhile"
victim=${agents##* }
kill -9 "$victim"
wait "$victim" 2>/dev/null
(unset WEFT_STORE WEFT_KEY && say attach "$run" -C "$work/f")
[ "$(ls "$work/f/out" | wc -l)" = 12 ] && [ "$(cat "$work/f/out/b_7")" = "$(printf '7\n7')" ]
ok $? "attach finds the run by the note, and brings all of it although an agent died"
[ ! -e "$work/f/.weft/cluster" ]
ok $? "the note is gone"
say submit "$work/g/flow.yaml" --no-shared -q && run=$(cat "$work/out")
"$weft" attach "$run" >"$work/out" 2>"$work/err" &
client=$!
sleep 0.5
kill -9 $server
wait $server 2>/dev/null
sleep 0.5
redis-server --port $port --bind 127.0.0.1 --dir "$work" --save '' --appendonly yes --appendfsync always >"$work/redis.log" 2>&1 &
server=$!
wait $client && [ "$(ls "$work/g/out" | wc -l)" = 12 ]
ok $? "the server is killed and comes back: the run ends well"
say submit "$work/g/flow.yaml" -f --no-shared -q && run=$(cat "$work/out")
"$weft" attach "$run" >"$work/out" 2>"$work/err" &
client=$!
sleep 1
kill -INT $client
wait $client && grep -q "goes on without this command" "$work/err"
ok $? "Ctrl-C detaches"
say attach "$run"
ok $? "and the run is attached again"

# ---- agents of one's own ----
flow "$work/h"
say run "$work/h/flow.yaml" --on local:2 -j 1 --no-shared && grep -q "33 tasks ran" "$work/out"
ok $? "run --on local:2: agents, a store and a key of its own"
same "$work/h"
ok $? "the same results"
ls "$work/h/.weft" | grep -q "cluster\|agents"
[ $? != 0 ]
ok $? "nothing of it is left"
say run "$work/h/flow.yaml" --on local:2 && grep -q "nothing to do" "$work/out"
ok $? "nothing to do: nothing is started"

echo "1..$count"
exit $failed
