#!/usr/bin/env bash
# Issue 22: a graph of eight columns and many rows ran on one agent at a time. The first half of its rows was one agent's, the other's had nothing
# to do meanwhile, and could steal nothing: functions were started by the hundred, however long, and what ran ahead of the store was bound to its
# agent where all see one folder. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "narrow graphs on agents" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key NAP=20000 # of functions: 20 ms, so that an agent which a busy machine lets begin a second later still finds work in the first half
for name in a0 a1; do start_agent $name "$weft" agent -j 1; done
are_ready a0 a1
ok $? "two agents of one core"

rows=20 width=8
grid() { # what each task does > file: each reads its neighbours in the row above
    printf 'weft: 1\ntasks:\n'
    local row x y in
    for ((row = 0; row < rows; row++)); do
        for ((x = 0; x < width; x++)); do
            in=""
            for ((y = x - 1; row > 0 && y <= x + 1; y++)); do
                [ $y -lt 0 ] || [ $y -ge $width ] || in="$in${in:+, }o$((row - 1))_$y"
            done
            printf '  t%d_%d: { %s, in: [%s], out: o%d_%d }\n' $row $x "$1" "$in" $row $x
        done
    done
}
share_of_both() { # name, what, options...: how many of the tasks in the first half each agent ran
    local name=$1 what=$2
    shift 2
    timeout 100 "$weft" run "$work/$name/flow.yaml" --on cluster --json "$@" >"$work/events.json" 2>"$work/err"
    ok $? "$what: it ends well"
    local least
    least=$(sed -nE 's/.*"task":"t([0-9]+)_.*"outcome":"done".*"node":([0-9]+).*/\1 \2/p' "$work/events.json" |
        awk -v half=$((rows / 2)) '$1 < half { n[$2]++ } END { print (n[0] < n[1] ? n[0] : n[1]) + 0 }')
    [ "$least" -ge $((rows / 2 * width / 5)) ]
    ok $? "$what: both agents worked on its first half ($least of $((rows / 2 * width)) by the one that had fewer)"
}
for name in commands calls; do mkdir "$work/$name"; done
grid 'run: "sleep 0.02; : > {out}"' >"$work/commands/flow.yaml"
grid "call: '$WEFT_BUILD/tests/soak_functions.so:nap'" >"$work/calls/flow.yaml"
share_of_both commands "commands on a folder that both see" --shared
share_of_both commands "commands without one" --no-shared --force
share_of_both calls "functions on a folder that both see" --shared
share_of_both calls "functions without one" --no-shared --force

# One agent has all tasks at first: the other steals half of what is ready, also of functions that are not over in a moment.
share_of_both calls "functions, all submitted to one" --no-shared --force --submit worst
share_of_both calls "the same where all see the folder" --shared --force --submit worst
finish
