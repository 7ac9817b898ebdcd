#!/usr/bin/env bash
# Agents of unequal size: tasks of 1.5 GB ran on an agent with `-m 500M`, tasks of two cores on one of one core. A task runs only on an
# agent that has its cores, memory and attributes; if there is none, `submit` and `run --on` say so, or wait with --later. An agent that
# leaves gives away what is ready there. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "agents of unequal size" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent small "$weft" agent -j 1 -m 500M
start_agent large "$weft" agent -j 4 -m 4G
are_ready small large
ok $? "a small agent and a large one"

# who ran a task: the agent's folder is above its sandbox and its files
mkdir "$work/mixed"
{
    echo 'weft: 1'
    echo 'tasks:'
    for i in 1 2 3 4 5 6; do
        echo "  wide$i: { run: 'pwd > {out}; sleep 0.05', out: wide$i.txt, cores: 2 }"
        echo "  heavy$i: { run: 'pwd > {out}; sleep 0.05', out: heavy$i.txt, memory: 1.5G }"
        echo "  plain$i: { run: 'pwd > {out}; sleep 1', out: plain$i.txt }"
    done
} >"$work/mixed/flow.yaml"
for how in best worst; do
    say run "$work/mixed/flow.yaml" --on cluster --no-shared --submit $how -f
    ok $? "a run on both, handed in by $how"
    ! grep -l "/small/" "$work"/mixed/wide*.txt "$work"/mixed/heavy*.txt >"$work/wrong" && [ "$(ls "$work"/mixed/*.txt | wc -l)" = 18 ]
    ok $? "no task ran on the agent that has not what it asks for"
    grep -q "/small/" "$work"/mixed/plain*.txt
    ok $? "and the small one had its part of the others"
done

mkdir "$work/huge"
cat >"$work/huge/flow.yaml" <<'END'
weft: 1
tasks:
  little: { run: 'echo > {out}', out: little.txt }
  huge: { run: 'pwd > {out}', in: little.txt, out: huge.txt, cores: 8 }
END
say submit "$work/huge/flow.yaml"
[ $? = 3 ] && grep -q "'huge' asks for 8 cores; the largest of the agents has 4" "$work/err" && grep -q -- "--later" "$work/err"
ok $? "submit: what fits no agent is refused, with the remedy"
say run "$work/huge/flow.yaml" --on cluster
[ $? = 3 ] && [ ! -e "$work/huge/little.txt" ]
ok $? "run --on: likewise, before it starts"
"$weft" run "$work/huge/flow.yaml" --on cluster --later --no-shared >"$work/out" 2>"$work/err" </dev/null &
client=$!
wait_for 30 grep -q "waits until an agent joins that has room: it asks for 8 cores" "$work/err"
ok $? "with --later it begins, and says what a task waits for"
[ "$(grep -c "waits until an agent" "$work/err")" = 1 ]
ok $? "once"
start_agent huge "$weft" agent -j 8
wait $client
status=$?
client=""
[ $status = 0 ] && grep -q "/huge/" "$work/huge/huge.txt"
ok $? "one that has room joins: the task runs there"

# attributes of agents
mkdir "$work/needs"
cat >"$work/needs/flow.yaml" <<'END'
weft: 1
tasks:
  plain: { run: 'pwd > {out}', out: plain.txt }
  vector: { run: 'pwd > {out}', in: plain.txt, out: vector.txt, needs: avx512 }
END
say submit "$work/needs/flow.yaml"
[ $? = 3 ] && grep -q "needs avx512" "$work/err" && grep -q -- "--has avx512" "$work/err"
ok $? "a task that needs what no agent has is refused"
mkdir "$work/disk"
start_agent special "$weft" agent -j 1 --has ssd,avx512 --scratch "$work/disk"
are_ready special
say run "$work/needs/flow.yaml" --on cluster --no-shared && grep -q "^$work/disk/" "$work/needs/vector.txt"
ok $? "it runs on the agent that has it, in that agent's scratch"

# temporary files
mkdir "$work/temporary"
cat >"$work/temporary/flow.yaml" <<'END'
weft: 1
tasks:
  make: { run: 'seq 1000 > {out}', out: big.txt, temporary: true }
  use: { run: 'wc -l < {in} > {out}', in: big.txt, out: count.txt }
  wait: { run: 'sleep 5; echo > {out}', in: count.txt, out: end.txt }
END
"$weft" run "$work/temporary/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err" </dev/null &
client=$!
counted() { ls "$work"/*/runs/*/files/count.txt "$work"/disk/*/runs/*/files/count.txt >/dev/null 2>&1; }
gone() { ! ls "$work"/*/runs/*/files/big.txt "$work"/disk/*/runs/*/files/big.txt >/dev/null 2>&1; }
wait_for 20 counted
wait_for 4 gone && lives $client
ok $? "a temporary file goes from the agents when all who read it are done"
wait $client
status=$?
client=""
[ $status = 0 ] && [ ! -e "$work/temporary/big.txt" ] && [ -e "$work/temporary/end.txt" ]
ok $? "and the run ends well, without it"
say run "$work/temporary/flow.yaml" -f --on cluster --shared && [ ! -e "$work/temporary/big.txt" ]
ok $? "nor does it stay in a folder that agents share"
say run "$work/temporary/flow.yaml" --on cluster && grep -q "nothing to do" "$work/out"
ok $? "that it is gone is no reason to run anything again"

# an agent that leaves: its ready tasks do not wait until its long one has ended
kill "$pid_small" "$pid_large" "$pid_huge" "$pid_special"
for pid in $pid_small $pid_large $pid_huge $pid_special; do wait "$pid"; done 2>/dev/null
agents=""
start_agent one "$weft" agent -j 1
are_ready one
mkdir "$work/leave"
{
    echo 'weft: 1'
    echo 'tasks:'
    echo "  long: { run: 'touch $work/begun; sleep 6; echo > {out}', out: long.txt, priority: 1 }"
    for i in 1 2 3 4; do echo "  short$i: { run: 'pwd > {out}', out: short$i.txt }"; done
} >"$work/leave/flow.yaml"
"$weft" run "$work/leave/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err" </dev/null &
client=$!
wait_for 20 test -e "$work/begun"
start_agent two "$weft" agent -j 1
are_ready two
kill "$pid_one"
all_short() { [ "$(ls "$work"/two/runs/*/files/short*.txt 2>/dev/null | wc -l)" = 4 ]; }
wait_for 4 all_short && [ ! -e "$work/leave/long.txt" ] && lives "$pid_one"
ok $? "the ready tasks of an agent that leaves are done by another while its long task goes on"
wait $client
status=$?
client=""
[ $status = 0 ] && [ -e "$work/leave/long.txt" ]
ok $? "which ends, and is handed over"
finish
