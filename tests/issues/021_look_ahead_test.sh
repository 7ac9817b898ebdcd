#!/usr/bin/env bash
# An agent with nothing to do brings the inputs of tasks that wait there as they are made, not when the last of them is. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "inputs that come early" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent left "$weft" agent -j 2 --has left
start_agent right "$weft" agent -j 2
are_ready left right
ok $? "two agents"

# what all joins read is made on the one; the last of it when the gate opens
mkdir -p "$work/a"
{
    echo "weft: 1"
    echo "tasks:"
    echo "  early: { run: 'head -c 3000000 /dev/urandom > {out}', out: early.bin, needs: [left] }"
    echo "  late: { run: 'until [ -e $work/gate ]; do sleep 0.05; done; echo late > {out}', out: late.txt, needs: [left] }"
    for i in $(seq 1 20); do
        echo "  join$i: { run: 'cat {in} | wc -c > {out}', in: [early.bin, late.txt], out: sum$i.txt }"
    done
} >"$work/a/flow.yaml"
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out")
ok $? "a run"
is_here() { [ "$(stat -c %s "$work/right/runs/$run/files/early.bin" 2>/dev/null)" = 3000000 ]; }
wait_for 20 is_here
ok $? "the first input comes to the agent that has nothing to do, while the second is not made"
touch "$work/gate"
say attach "$run" && [ "$(sort -u "$work"/a/sum*.txt)" = 3000005 ] && [ "$(ls "$work"/a/sum*.txt | wc -l)" = 20 ]
ok $? "and all joins are right"
finish
