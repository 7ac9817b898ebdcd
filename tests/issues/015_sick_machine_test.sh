#!/usr/bin/env bash
# Issue 15, point 3: a disk that fails under an agent (EIO), and a machine that has no memory left: not the tasks' failures. Others run them,
# no retry is used, the agent is set aside and says why. The agent has a library preloaded that fails its calls (tests/cluster/sick.c); where a
# control group may be made, one is killed by the kernel. 015_sick_node_test.sh has full disks. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a machine that fails" "redis-server is not installed"
library=$WEFT_BUILD/tests/sick_machine.so
[ -e "$library" ] || skip "a machine that fails" "$library is not built"
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent well env NODE=well "$weft" agent -j 2
are_ready well
ok $? "an agent that is well"

# 12 tasks and one that reads what they made; `also` is done by each of them.
flow() { # name also
    mkdir "$work/flow_$1" "$work/sick_$1"
    seq 20000 >"$work/flow_$1/given"
    {
        printf 'weft: 1\ntasks:\n'
        for i in $(seq 12); do
            printf '  t%d: { run: "echo %d $NODE >> %s/ran; sleep 0.2; %s cat {in} > {out}; echo %d >> {out}", in: given, out: o%d }\n' "$i" "$i" "$work/flow_$1" "$2" "$i" "$i"
        done
        echo "  all: { run: 'tail -qn 1 {in} | sort -n > {out}', in: [$(seq -s, -f 'o%.0f' 12)], out: all }"
    } >"$work/flow_$1/flow.yaml"
}
right() { [ "$(tr '\n' ' ' <"$work/flow_$1/all")" = "1 2 3 4 5 6 7 8 9 10 11 12 " ]; }
often() { cut -d ' ' -f 1 "$work/flow_$1/ran" | sort | uniq -c | awk '$1 > most { most = $1 } END { print most + 0 }'; }
# Another agent whose machine fails in this way, from when it is ready on, or from when its first task runs on; and a run on both.
fails() { # name what when also reason
    local also=$4
    [ "$3" = ready ] || also="[ \$NODE != $1 ] || touch $work/sick_$1/$2; $also"
    flow "$1" "$also"
    start_agent "$1" env NODE="$1" SICK="$work/sick_$1" SICK_FOLDER="$work/$1" LD_PRELOAD="$library" "$weft" agent -j 2
    are_ready "$1"
    [ "$3" != ready ] || touch "$work/sick_$1/$2"
    timeout 100 "$weft" run "$work/flow_$1/flow.yaml" --on cluster --no-shared >"$work/out" 2>"$work/err"
    ok $? "$1: the run ends well"
    right "$1"
    ok $? "$1: with what it should have made"
    [ "$(often "$1")" -le 4 ]
    ok $? "$1: no task was begun more than $(often "$1") times ($(wc -l <"$work/flow_$1/ran") in all)"
    # A machine that cannot start processes waits five seconds for each: the run may be over when it is set aside, and its log tells.
    grep -q "set aside: $5" "$work/err" || { [ "$1" = spawn ] && grep -q "set aside: $5" "$work/spawn.log"; }
    ok $? "$1: who follows is told that the agent is set aside, and why: $(grep -o 'set aside.*' "$work/err" | head -n 1)"
    is_aside() { say status && tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q "set aside.*$5"; }
    wait_for 20 is_aside
    ok $? "$1: weft status says it, too"
    eval "end_process \$pid_$1"
}
disk="reading or writing a disk fails: .*Input/output error" memory="the machine is out of memory"
fails make make ready "" "$disk"
fails write write ready "" "$disk"
fails read read ready "" "$disk"
fails make_later make running "" "$disk"
fails read_later read running "" "$disk"
fails spawn spawn ready "" "$memory: .*Cannot allocate memory"
fails oom oom ready '[ $NODE != oom ] || kill -9 $$;' "$memory"
finish
