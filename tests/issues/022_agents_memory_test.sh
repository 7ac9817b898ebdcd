#!/usr/bin/env bash
# Issue 22: objects in memory travel between agents without touching a disk, are computed again when they die with their agent, and go to the
# disk when there are too many. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
objects=$WEFT_BUILD/tests/objects functions=$WEFT_BUILD/tests/objects_functions.so
for program in redis-server "$objects"; do
    command -v "$program" >/dev/null || skip "objects in memory" "$program is not installed"
done
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "objects in memory" "there is no /dev/shm"
start_server
say key "$work/key"
export WEFT_KEY=$work/key OBJECTS_BYTES=300000
n=12

run() { # name: to its end; its sum is right
    mkdir -p "$work/$1"
    WEFT=$weft timeout 100 "$objects" "$functions" "$work/$1" $n $OBJECTS_BYTES >"$work/$1.sum" 2>"$work/err" && cmp -s "$work/$1.sum" "$work/$1/sum.txt"
}
# Files with bytes of objects, below the agents' folders on the disk: the one result is not among them. Links are not followed.
on_disk() { find "$work"/a*/runs -type f -size +250k 2>/dev/null | wc -l; }
# A folder of this test's own in memory: others run agents, too.
memory=/dev/shm/weft-test-$$
mkdir -m 700 "$memory"
export WEFT_MEMORY_FOLDER=$memory
trap 'stop_all; rm -rf "$memory"' EXIT
in_memory() { find "$memory" -type f -size +250k 2>/dev/null | wc -l; }
is_done() { work_is "$1" done -ge "$2"; }

# ---- they travel, and nothing is written ----
for name in a0 a1; do start_agent $name "$weft" agent -j 1 --lease 2; done
are_ready a0 a1
ok $? "two agents"
run first
ok $? "functions on agents hand objects in memory to each other: the result is right"

export OBJECTS_GATE=$work/gate OBJECTS_NAP=100000 # long enough that both agents have work, also when one of them comes late
# One core each: who holds the last task has none to spare while the gate stands there, else it would bring all that the task reads in time.
for name in a2 a3; do start_agent $name "$weft" agent -j 1 --lease 2; done
are_ready a2 a3
for name in a0 a1; do eval "end_process \$pid_$name"; done
mkdir "$work/second"
WEFT=$weft timeout 100 "$objects" "$functions" "$work/second" $n $OBJECTS_BYTES >"$work/second.sum" 2>"$work/err" &
client=$!
wait_for 60 test -s "$OBJECTS_GATE.pid" && wait_for 60 is_done 2 $((2 * n))
ok $? "all but the last are made"
wait_for 20 work_is 2 fetched_bytes -ge $OBJECTS_BYTES # agents say it with their beats
ok $? "some of them came over links"
here=$(in_memory) disk=$(on_disk)
[ $here -ge $((2 * n)) ] && [ "$disk" = 0 ]
ok $? "they stand in memory ($here files), and none on a disk ($disk)"

# ---- an agent that has some of them dies ----
keeper=$(cat "$OBJECTS_GATE.pid")
eval "other=\$pid_a2"
[ "$other" = "$keeper" ] && other=$pid_a3
kill -9 "$other"
touch "$OBJECTS_GATE"
wait $client && cmp -s "$work/second.sum" "$work/second/sum.txt"
ok $? "what died with an agent is computed again"
client=""
again=$(cat "$work"/a[23].out "$work"/a[23].log | grep -c "is computed again: its results died")
[ "$again" -ge 1 ] && [ "$(on_disk)" = 0 ]
ok $? "$again tasks ran again, and nothing came to a disk"
end_process "$keeper"

# ---- too many, and nothing is left behind ----
unset OBJECTS_GATE OBJECTS_NAP
WEFT_MEMORY_FOR_DATA=much say agent -j 1 --state "$work/wrong"
[ $? = 2 ] && grep -q "WEFT_MEMORY_FOR_DATA is 'much', which is no size" "$work/err"
ok $? "a limit that is no size is refused"
export WEFT_MEMORY_FOR_DATA=1M
start_agent a4 "$weft" agent -j 1 --lease 2
are_ready a4
[ "$(in_memory)" = 0 ]
ok $? "what the dead one left in memory is gone"
run third
ok $? "with memory for three of them the result is right"
eval "end_process \$pid_a4"
grep -q "objects* did not fit into memory and went to the disk" "$work/a4.out" "$work/a4.log"
ok $? "the others went to the disk, which the log says"
[ "$(in_memory)" = 0 ]
ok $? "an agent that has left leaves nothing in memory"

# ---- tasks want the memory in which objects wait ----
export WEFT_MEMORY_FOR_DATA=100M # so that nothing else sends them away
export OBJECTS_GATE=$work/room
mkdir "$work/room.d"
cat >"$work/room.d/flow.yaml" <<YAML
weft: 1
tasks:
  make1: { call: "$functions:make", out: [{ name: a, size: 300k, in_memory: true }], after: [ask] }
  make2: { call: "$functions:make", out: [{ name: b, size: 300k, in_memory: true }], after: [ask] }
  slow: { run: "touch $OBJECTS_GATE.on; until [ -e $OBJECTS_GATE.off ]; do sleep 0.05; done", memory: 20M }
  ask: { run: "until [ -e $OBJECTS_GATE.on ]; do sleep 0.05; done", memory: 1M }
  hungry: { run: "touch $OBJECTS_GATE.off", memory: 30M, after: [make1, make2] }
  mix1: { call: "$functions:mix", in: [a, b], out: c, after: [hungry] }
YAML
start_agent a6 "$weft" agent -j 2 -m 50M --lease 2
are_ready a6
say submit "$work/room.d/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 60 state_is "$run" ended && wait_for 20 work_is "$run" done -eq 6
ok $? "beside a task of 20 MB one of 30 starts on a node of 50 in which two objects wait"
eval "end_process \$pid_a6"
grep -q "2 objects did not fit into memory and went to the disk" "$work/a6.out" "$work/a6.log"
ok $? "they made room for it, and are read from the disk"
unset OBJECTS_GATE

# ---- where there is no memory to have ----
export WEFT_MEMORY_FOLDER=$work
start_agent a5 "$weft" agent -j 1 --lease 2
are_ready a5
run fourth && grep -q "its objects in memory are files" "$work/a5.out" "$work/a5.log"
ok $? "without a file system in memory they are files, and the log says so"

# ---- a function that writes to what it may only read ----
# There an input is a file that is mapped: it died of that with its agent, and the run had none left.
mkdir "$work/wrong"
cat >"$work/wrong/flow.yaml" <<YAML
weft: 1
tasks:
  m: { call: "$WEFT_BUILD/tests/test_functions.so:make_numbers", out: [{ name: a, size: 8000, in_memory: true }] }
  bad: { call: "$WEFT_BUILD/tests/test_functions.so:writes_to_input", in: a, out: [{ name: z, size: 8000, in_memory: true }] }
  s: { call: "$WEFT_BUILD/tests/test_functions.so:sum_to_folder", in: z }
YAML
(cd "$work/wrong" && WEFT_CHECK_DATA=1 timeout -s KILL 100 "$weft" run flow.yaml --on local:1) >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "bad: it wrote to its input 'a'" "$work/out" "$work/err"
ok $? "is named on agents, too, where functions are watched"
finish
