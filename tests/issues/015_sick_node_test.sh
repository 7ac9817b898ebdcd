#!/usr/bin/env bash
# A full disk on one agent ended the run, or ate every retry: 35 good tasks were executed 91 times. What a machine fails is not the
# task's failure: another takes it, no retry is used, the agent is set aside and says why, and comes back when the disk has room. With
# no agent that is better the run fails, and says where, why and what helps. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a sick node" "redis-server is not installed"
mkdir "$work/small"
unshare -rm mount -t tmpfs -o size=1m none "$work/small" 2>/dev/null || skip "a sick node" "no file system can be mounted in a namespace of our own"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
export WORK=$work

# An agent whose folder is a small file system. It is filled when the file `fill` is there, but for as many blocks as that says, and
# emptied when it is gone.
cat >"$work/sick_agent" <<'SH'
mkdir -p "$STATE"
mount -t tmpfs -o size=8m none "$STATE"
while [ -e "$WORK/watch" ]; do
    if [ -s "$WORK/fill" ] && [ ! -e "$STATE/filler" ]; then
        head -c $(($(cat "$WORK/fill") * 4096)) /dev/zero >"$STATE/room"
        dd if=/dev/zero of="$STATE/filler" bs=4096 2>/dev/null
        rm "$STATE/room"
        touch "$WORK/full_$NAME"
    elif [ ! -e "$WORK/fill" ]; then
        rm -f "$STATE/filler" "$WORK/full_$NAME"
    fi
    sleep 0.1
done &
exec "$@" --state "$STATE"
SH
touch "$work/watch"
sick_agent() { # name
    STATE=$work/$1 NAME=$1 start_agent "$1" unshare -rm bash "$work/sick_agent" "$weft" agent -j 2
}
end_watching() { rm -f "$work/watch"; }
trap 'end_watching; stop_all' EXIT

start_agent well "$weft" agent -j 1
start_agent fine "$weft" agent -j 1
sick_agent sick
are_ready well fine sick
ok $? "three agents, one of them on a small disk"

fill() { echo "$1" >"$work/fill.new" && mv "$work/fill.new" "$work/fill"; } # blocks that stay free
flow() { # folder tasks, and keys of each
    mkdir -p "$work/$1"
    {
        printf 'weft: 1\ntasks:\n'
        for i in $(seq "$2"); do
            printf '  t%d: { run: "echo %d >> %s/ran; sleep 0.1; head -c 600000 /dev/zero > {out}", out: o%d.txt%s }\n' "$i" "$i" "$work" "$i" "${3:-}"
        done
    } >"$work/$1/flow.yaml"
}

# --- the disk fills while tasks run ---
fill 128
wait_for 20 test -e "$work/full_sick"
ok $? "which has little room now"
flow many 35
say run "$work/many/flow.yaml" --on cluster
ok $? "35 tasks end well beside a full disk, without a retry"
grep -q "set aside: no space left" "$work/err"
ok $? "the client is told that an agent is set aside, and why"
[ "$(cat "$work"/many/o*.txt | wc -c)" = 21000000 ]
ok $? "and all results are there"
most=$(sort "$work/ran" | uniq -c | awk '$1 > most { most = $1 } END { print most }')
ran=$(wc -l <"$work/ran")
[ "$ran" -gt 35 ] && [ "$ran" -le 45 ] && [ "$most" -le 4 ]
ok $? "few were executed more than once: $ran executions, one task at most $most times"
is_aside() { say status && grep -q "set aside" "$work/out" && grep -q "no space left" "$work/out"; }
wait_for 10 is_aside
ok $? "weft status shows it with the reason"
say status --json && grep -q '"state": *"aside"' "$work/out" && grep -q '"aside": *"no space left on the disk of' "$work/out"
ok $? "also as JSON"

# --- a fresh agent in its place, whose first task meets the disk: what the machine failed is in the events ---
kill $pid_sick
wait_for 30 dead $pid_sick
rm "$work/fill" "$work/full_sick"
sick_agent third
are_ready third
fill 128
wait_for 20 test -e "$work/full_third"
rm "$work/ran"
flow events 20
timeout 100 "$weft" run "$work/events/flow.yaml" --on cluster --json >"$work/events.json" 2>"$work/err"
ok $? "a run whose events are asked for"
grep '"outcome":"node-failed"' "$work/events.json" | grep -q '"trouble":"no space left on a disk"'
ok $? "they tell of attempts that the machine failed, and why"

# --- a disk without any room: not even a run can be opened ---
rm "$work/fill"
wait_for 20 test ! -e "$work/full_third"
fill 0
wait_for 20 test -e "$work/full_third"
rm "$work/ran"
flow again 10
say run "$work/again/flow.yaml" --on cluster
ok $? "another run, on a disk without any room"
[ "$(wc -l <"$work/ran")" = 10 ]
ok $? "uses the others alone"

# --- nobody is better: it fails here, and says so ---
kill $pid_well $pid_fine
wait_for 30 dead $pid_well && wait_for 30 dead $pid_fine
flow alone 4
timeout 60 "$weft" run "$work/alone/flow.yaml" --on cluster >"$work/out" 2>"$work/err"
[ $? = 1 ]
ok $? "with no other agent the run fails, and does not hang"
grep -q "no agent can work on run.*No space left on device.*mend it there, or start another agent" "$work/err"
ok $? "with place, cause and remedy"

# --- the disk has room again ---
rm "$work/fill"
is_up() { say status && ! grep -q "set aside" "$work/out"; }
wait_for 20 is_up
ok $? "with room on its disk it is back by itself"
timeout 60 "$weft" run "$work/alone/flow.yaml" --on cluster >"$work/out" 2>"$work/err"
ok $? "and runs tasks"

# --- two sick agents are no better than one ---
sick_agent other
are_ready other
fill 128
wait_for 20 test -e "$work/full_third" && wait_for 20 test -e "$work/full_other"
flow both 6 ', retries: 2'
timeout 100 "$weft" run "$work/both/flow.yaml" --on cluster >"$work/out" 2>"$work/err"
[ $? = 1 ] && cat "$work/out" "$work/err" | tr '\n' ' ' | grep -q "no space left on a disk on.*run again"
ok $? "a run that meets a full disk on every agent fails, and says why"
end_watching
finish
