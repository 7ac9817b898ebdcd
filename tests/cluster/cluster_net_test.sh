#!/usr/bin/env bash
# Four agents that only a network joins (tests/cluster/bed_netns: 20 ms each way, one packet in a hundred lost), files apart: data
# travels, once each; one that is cut off comes back and commits nothing that was taken over. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_DELAY=20ms BED_LOSS=1% bash "$(dirname "$0")/bed_netns" 4 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - agents in network namespaces # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "agents in network namespaces" "redis-server is not installed"
in_node 1 redis-server --port 6379 --bind 10.98.0.1 --protected-mode no --dir "$work" --save '' --appendonly yes >"$work/redis.log" 2>&1 &
server=$!
wait_for 30 grep -q "Ready to accept connections" "$work/redis.log"
ok $? "a server at node 1"
export WEFT_STORE=redis://10.98.0.1:6379?insecure=1 WEFT_KEY=$work/key
say key "$work/key"
for i in 1 2 3 4; do
    start_agent n$i in_node $i "$weft" agent --bind 10.98.0.$i:0 -j 1 --lease 4
done
are_ready n1 n2 n3 n4
ok $? "an agent at each of four nodes"

# ---- data travels ----
flow() { # folder
    mkdir -p "$1/data"
    for i in 0 1 2; do seq $i 20000 >"$1/data/in_$i"; done
    {
        echo "weft: 1"
        echo "name: layers"
        echo "tasks:"
        for i in $(seq 0 11); do
            echo "  part_$i: { run: 'sort -r {in} > {out} && echo $i >> {out}', in: [data/in_$((i % 3))], out: [mid/part_$i] }"
            echo "  pair_$i: { run: 'cat {in} | cksum > {out}', in: [mid/part_$i, mid/part_$(((i * 5 + 3) % 12))], out: [mid/pair_$i] }"
            echo "  end_$i: { run: 'cat {in} > {out}', in: [mid/pair_$i, mid/pair_$(((i + 7) % 12))], out: [out/end_$i] }"
        done
    } >"$1/flow.yaml"
}
flow "$work/here"
flow "$work/a"
say run "$work/here/flow.yaml"
ok $? "what it should be: a run on this machine"
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 100 state_is "$run" ended
ok $? "the same over the network"
wait_for 20 work_is "$run" done -eq 36
ok $? "every task was done once"
[ "$(work_of fetched)" -gt 0 ] && [ "$(work_of recomputed)" = 0 ] && [ "$(work_of lost)" = 0 ]
ok $? "data was fetched ($(work_of fetched) times), nothing was computed twice"
for i in 1 2 3 4; do [ "$(work_of done n$i)" -gt 0 ] || echo "none by n$i"; done >"$work/err"
[ ! -s "$work/err" ]
ok $? "all four agents took part"
say attach "$run" && diff -r "$work/here/out" "$work/a/out" >"$work/err" 2>&1
ok $? "with the same results"
[ ! -e "$work/a/mid" ] && [ -e "$work/here/mid" ]
ok $? "and only those came to the submitter"

# ---- a large file, wanted by several tasks at once ----
mkdir "$work/b"
head -c 20000000 /dev/urandom >"$work/b/large"
truncate -s 40000000 "$work/b/large" # and a hole
sum=$(cksum <"$work/b/large")
{
    echo "weft: 1"
    echo "name: large"
    echo "tasks:"
    for i in $(seq 12); do echo "  t_$i: { run: 'cksum < {in} > {out}', in: [large], out: [out/$i] }"; done
} >"$work/b/flow.yaml"
say submit "$work/b/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 100 state_is "$run" ended && wait_for 20 work_is "$run" done -eq 12
ok $? "twelve tasks that read one file of 40 MB"
for i in 1 2 3 4; do
    [ "$(work_of fetched n$i)" -le 1 ] && [ "$(work_of fetched_bytes n$i)" -le 44000000 ] || echo "n$i: $(work_of fetched n$i) times, $(work_of fetched_bytes n$i) bytes"
done >"$work/err"
[ ! -s "$work/err" ]
ok $? "it came to each agent at most once"
say attach "$run" && [ "$(cat "$work"/b/out/* | sort -u)" = "$sum" ]
ok $? "whole"

# ---- cut off ----
# A task of the first layer waits for a file in its agent's folder; `hold` keeps the second layer (and one core) back, whose tasks
# wait for a file too.
mkdir "$work/c"
{
    echo "weft: 1"
    echo "name: cut"
    echo "tasks:"
    echo "  hold: { run: 'until [ -e $work/first ]; do sleep 0.1; done; echo > {out}', in: [mid/a_1], out: [mid/hold] }"
    for i in $(seq 8); do
        cat <<END2
  a_$i:
    run: 'echo a_$i \$WEFT_FOLDER >> $work/trail; until [ -e \$WEFT_FOLDER/../../../go ]; do sleep 0.1; done; seq $i 3000 > {out}; echo done a_$i \$WEFT_FOLDER >> $work/trail'
    out: [mid/a_$i]
  b_$i:
    run: 'echo b_$i \$WEFT_FOLDER >> $work/trail; until [ -e $work/second ]; do sleep 0.1; done; cksum < mid/a_$i > {out}'
    in: [mid/a_$i, mid/hold]
    out: [out/b_$i]
END2
    done
} >"$work/c/flow.yaml"
at_n3() { grep -q "^$1_.*/n3/" "$work/trail"; }
say submit "$work/c/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 60 at_n3 a
ok $? "a run; node 3 has a task that takes its time"
first_life=$(look "$run" && life_of n3)
cut_node 3
sleep 0.5 # shorter than the lease, whatever else the machine does
heal_node 3
beats() { look "$run" && awk -v node="$(node_of n3)" '/"node":/ { at = $2 + 0 } /"age":/ && at == node { good = $2 + 0 < 1 } END { exit !good }' "$work/status"; }
wait_for 30 beats && [ -n "$first_life" ] && [ "$(life_of n3)" = "$first_life" ] && ! grep -q "taken for dead" "$work"/n?.log
ok $? "cut off for less than its lease: nobody took over anything"
taken=$(sed -n 's/^\(a_[0-9]*\) .*\/n3\/.*/\1/p' "$work/trail" | head -n 1)
cut_node 3
gone() { grep -q "node $(node_of n3) on .* is taken for dead" "$work/n1.log" "$work/n2.log" "$work/n4.log"; }
wait_for 60 gone
ok $? "cut off for longer: the others see it"
touch "$work/n1/go" "$work/n2/go" "$work/n4/go"
again() { grep "^$taken " "$work/trail" | grep -qv /n3/; }
wait_for 60 again
ok $? "and take over what it was doing ($taken)"
! grep -q "joining again" "$work/n3.log" && ! at_n3 b
ok $? "it knows nothing of that"
touch "$work/n3/go"
wait_for 60 grep -q "^done $taken .*/n3/" "$work/trail"
ok $? "it ends its task, still cut off"
heal_node 3
wait_for 60 grep -q "joining again" "$work/n3.log"
ok $? "back, it learns that it was taken for dead"
reborn() { look "$run" && [ -n "$(life_of n3)" ] && [ "$(life_of n3)" != "$first_life" ]; }
wait_for 60 reborn
ok $? "and has a new life"
touch "$work/first"
wait_for 60 at_n3 b
ok $? "in which it gets work"
touch "$work/second"
wait_for 100 state_is "$run" ended
ok $? "the run ends"
wait_for 20 work_is "$run" done -eq 17
ok $? "every task was committed once"
[ "$(work_of lost n3)" -ge 1 ]
ok $? "by the one that took it over: what node 3 had done was refused ($(work_of lost n3) times)"
[ "$(grep -c "node $(node_of n3) on .* is taken for dead" "$work/n1.log")" -le 1 ]
ok $? "it was taken for dead no more than once"
say attach "$run"
ok $? "attach"
for i in $(seq 8); do [ "$(cat "$work/c/out/b_$i")" = "$(seq $i 3000 | cksum)" ] || echo "b_$i"; done >"$work/err" 2>&1
[ ! -s "$work/err" ]
ok $? "and its results are right"
finish
