#!/usr/bin/env bash
# Agents on a Redis Cluster of three masters, one of which is killed and started again in the middle of a run. Speaks TAP.
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "agents on a Redis Cluster" "redis-server is not installed"
masters="" ports=""
start_master() { # port
    mkdir -p "$work/redis$1"
    redis-server --port "$1" --bind 127.0.0.1 --dir "$work/redis$1" --save '' --appendonly yes --appendfsync always --cluster-enabled yes \
        --cluster-port $(($1 + 1)) >"$work/redis$1/log" 2>&1 &
    master=$!
    server="$server $master"
    wait_for 20 redis-cli -p "$1" ping >/dev/null 2>&1
}
first=$((20000 + (RANDOM * 7 + $$) % 12000))
for port in $first $((first + 2)) $((first + 4)); do
    start_master $port || skip "agents on a Redis Cluster" "a port between $first and $((first + 5)) is taken"
    masters="$masters $master"
    ports="$ports $port"
done
joined() { redis-cli --cluster create $(printf '127.0.0.1:%s ' $ports) --cluster-yes 2>&1 | grep -q "All 16384 slots covered"; }
is_well() { for p in $ports; do redis-cli -p "$p" cluster info | grep -q "cluster_state:ok" || return 1; done; }
joined && wait_for 30 is_well
ok $? "three masters"
export WEFT_STORE=redis://127.0.0.1:$first,127.0.0.1:$((first + 2)) WEFT_KEY=$work/key
say key "$work/key"
for i in 1 2 3; do start_agent agent$i "$weft" agent -j 1; done
are_ready agent1 agent2 agent3
ok $? "three agents join there"

# layers in which every task reads three of the layer before
flow() { # folder
    mkdir -p "$1"
    echo "the beginning" >"$1/start"
    {
        printf 'weft: 1\nname: layers\ntasks:\n'
        for i in $(seq 0 9); do echo "  t0_$i: { run: 'sed s/the/$i/ {in} > {out}', in: [start], out: [d/0_$i] }"; done
        for l in $(seq 1 12); do
            for i in $(seq 0 9); do
                in="d/$((l - 1))_$i, d/$((l - 1))_$(((i * 3 + l) % 10)), d/$((l - 1))_$(((i * 7 + 1) % 10))"
                echo "  t${l}_$i: { run: 'cat {in} | cksum > {out}; echo $l $i >> {out}; sleep 0.05', in: [$in], out: [d/${l}_$i] }"
            done
        done
    } >"$1/flow.yaml"
}
flow "$work/here"
say run "$work/here/flow.yaml" -j 4
ok $? "what it should be: a run on this machine"
flow "$work/a"
timeout 200 "$weft" run "$work/a/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err" &
client=$!
some_done() { look 1 && [ "$(work_of done)" -ge 20 ]; }
wait_for 60 some_done
ok $? "it runs"
second=$(echo $masters | cut -d' ' -f2)
kill -9 "$second"
wait "$second" 2>/dev/null
start_master $((first + 2))
ok $? "a master is killed and started again"
wait "$client"
status=$?
client=""
[ $status = 0 ] && grep -q "130 tasks ran" "$work/out"
ok $? "the run is done"
diff -r "$work/here/d" "$work/a/d" 2>&1 | grep -v "^Only in $work/here" >"$work/err"
[ ! -s "$work/err" ] && [ "$(ls "$work/a/d" | grep -c ^12_)" = 10 ]
ok $? "and its results are right"
empty() { for p in $ports; do redis-cli -p "$p" keys '*.run.*' | grep -q . && return 1; done; return 0; }
wait_for 20 empty
ok $? "nothing of it stays in the store"
finish
