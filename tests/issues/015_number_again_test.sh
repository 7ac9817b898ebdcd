#!/usr/bin/env bash
# Issue 15, point 2: a store has lost all of its data, and its agents are new: numbers of runs come again. A folder still has the note of its
# run 1, and run 1 is another's now. That one was taken for the folder's own: `weft run` was refused since it "goes on", `weft cancel 1` ended
# it, `weft attach 1` brought its results. Notes have the run's id. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a number that comes again" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
for flow in mine theirs; do
    mkdir "$work/$flow"
    cat >"$work/$flow/flow.yaml" <<EOF
weft: 1
tasks:
  a: { run: 'until [ -e $work/go ]; do sleep 0.05; done; echo $flow > {out}', out: x }
EOF
done
start_agent one "$weft" agent -j 1
are_ready one
say submit "$work/mine/flow.yaml" -q --no-shared
[ $? = 0 ] && [ "$(cat "$work/out")" = 1 ] && [ -e "$work/mine/.weft/cluster/1.json" ]
ok $? "a run of this folder"
kill -9 "$pid_one" "$server"
wait "$pid_one" "$server" 2>/dev/null
rm -rf "$work/appendonlydir"
redis-server --port "$port" --bind 127.0.0.1 --dir "$work" --save '' --appendonly yes >"$work/redis.log" 2>&1 &
server=$!
wait_for 30 grep -q "Ready to accept connections" "$work/redis.log"
start_agent two "$weft" agent -j 2
are_ready two
say submit "$work/theirs/flow.yaml" -q --no-shared
[ $? = 0 ] && [ "$(cat "$work/out")" = 1 ]
ok $? "its store lost everything; run 1 is of another folder now"
say cancel 1 -C "$work/mine"
[ $? = 1 ] && grep -q "run 1 of this folder is gone" "$work/err"
ok $? "it is not cancelled from here"
say attach 1 -C "$work/mine"
[ $? = 1 ] && grep -q "run 1 of this folder is gone" "$work/err" && [ ! -e "$work/mine/x" ]
ok $? "nor are its results taken here"
touch "$work/go"
say run "$work/mine/flow.yaml" --on cluster --no-shared
[ $? = 0 ] && [ "$(cat "$work/mine/x")" = mine ] && [ ! -e "$work/mine/.weft/cluster/1.json" ]
ok $? "a run of this folder begins, and brings its own"
say attach 1 -C "$work/theirs"
[ $? = 0 ] && [ "$(cat "$work/theirs/x")" = theirs ]
ok $? "the other is whole"
finish
