#!/usr/bin/env bash
# What can go wrong around `weft run`: kill -9 at any moment, full disks, folders that vanish, signals, damaged records.
# After each: a clear message, the right exit status, no hang, nothing lost. Speaks TAP.
#   FAULT_ROUNDS=200 tests/run/run_faults_test.sh      the whole of it; WEFT names the program
weft=$WEFT
rounds=${FAULT_ROUNDS:-10}
retries=${FAULT_RETRIES:-10000}
work=$(mktemp -d)
mounts=()
cleanup() {
    for m in "${mounts[@]}"; do umount -l "$m" 2>/dev/null; done
    rm -rf "$work"
}
trap cleanup EXIT
export WEFT_HISTORY=$work/history.db
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        echo "not ok $count - $2"
        sed 's/^/# /' "$work/err" 2>/dev/null | tail -n 12
        failed=1
    fi
}
skip() { # text reason
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}
# A sanitizer's program is several times slower.
if grep -qa __asan_init "$weft"; then
    rounds=${FAULT_ROUNDS:-4} retries=${FAULT_RETRIES:-1000}
fi
# Run in folder $1; output in $work/out, messages in $work/err. A hang is status 124.
run() { # folder arguments...
    local folder=$1
    shift
    timeout -k 1 100 "$weft" run "$folder/flow.yaml" -j2 "$@" >"$work/out" 2>"$work/err" </dev/null
}
# The run ended with this status and said this.
ends() { # got want part-of-message text
    [ "$1" = "$2" ] && grep -q -- "$3" "$work/out" "$work/err"
    local good=$?
    [ $good = 0 ] || echo "# status $1, expected $2 and '$3'"
    ok $good "$4"
}
flow() { # folder: the tasks are on standard input
    mkdir -p "$1"
    { printf 'weft: 1\ntasks:\n' && sed 's/^/  /'; } >"$1/flow.yaml"
}
# No process whose command line holds this is left.
none_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f -- "$1" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}
wait_for() { # file: until it is there, ten seconds
    for _ in $(seq 200); do
        [ -e "$1" ] && return 0
        sleep 0.05
    done
    return 1
}
small_disk() { # folder size: false when we may not
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2" tmpfs "$1" 2>/dev/null || return 1
    mounts+=("$1")
}

# ---- kill -9 ----

# 500 tasks in 20 layers; each writes a checksum over two results of the layer before, and its name.
# Its start is told to a file outside of the sandbox.
five_hundred() { # folder starts
    awk -v starts="$2" 'BEGIN {
        for (l = 0; l < 20; l++) for (i = 0; i < 25; i++) {
            input = l ? sprintf("out/%d-%d, out/%d-%d", l - 1, i, l - 1, (i * 7 + l) % 25) : "start"
            if (l && i == (i * 7 + l) % 25) input = sprintf("out/%d-%d", l - 1, i)
            name = sprintf("t%d-%d", l, i)
            printf "%s: { in: [%s], out: [out/%d-%d], run: \"echo %s >> %s; cat {in} | cksum > {out}; echo %s >> {out}\" }\n",
                name, input, l, i, name, starts, name
        }
    }' | flow "$1"
    echo begin >"$1/start"
    : >"$2"
}
all_done() { "$weft" run "$1/flow.yaml" -n 2>/dev/null | grep -q "nothing to do"; }

five_hundred "$work/calm" "$work/calm-starts"
begin=$(date +%s%N)
run "$work/calm" -q
ok $? "500 tasks, undisturbed"
took=$((($(date +%s%N) - begin) / 1000000))
[ "$(sort -u "$work/calm-starts" | wc -l)" = 500 ] && [ "$(wc -l <"$work/calm-starts")" = 500 ]
ok $? "each started once"

RANDOM=1
kills=0 repeated=0 whole=0 wrong=0
while [ $kills -lt "$rounds" ]; do
    rm -rf "$work/wild"
    five_hundred "$work/wild" "$work/starts"
    : >"$work/recorded"
    lines=0
    while [ $kills -lt "$rounds" ]; do
        "$weft" run "$work/wild/flow.yaml" -q -j2 >"$work/out" 2>"$work/err" </dev/null &
        pid=$!
        # anywhere in the first quarter of a run, so that every run is killed several times
        sleep "$(awk -v r=$RANDOM -v ms=$took 'BEGIN { printf "%.4f", r / 32768 * ms / 4000 }')"
        kill -9 $pid 2>/dev/null && kills=$((kills + 1))
        wait $pid 2>/dev/null
        # what was on record before this run must not have started in it
        tail -n +$((lines + 1)) "$work/starts" | sort -u | comm -12 - "$work/recorded" >"$work/twice"
        [ -s "$work/twice" ] && repeated=$((repeated + $(wc -l <"$work/twice"))) && sed 's/^/# repeated: /' "$work/twice"
        "$weft" run "$work/wild/flow.yaml" -n --json 2>"$work/err" |
            sed -n 's/.*"task": "\([^"]*\)".*/\1/p' | sort >"$work/missing"
        if [ "${PIPESTATUS[0]}" != 0 ]; then
            wrong=$((wrong + 1))
            sed 's/^/# /' "$work/err"
            break
        fi
        sort -u "$work/calm-starts" | comm -23 - "$work/missing" >"$work/recorded"
        lines=$(wc -l <"$work/starts")
        [ -s "$work/missing" ] || break
    done
    run "$work/wild" -q || wrong=$((wrong + 1))
    tail -n +$((lines + 1)) "$work/starts" | sort -u | comm -12 - "$work/recorded" >"$work/twice"
    repeated=$((repeated + $(wc -l <"$work/twice")))
    diff -r "$work/calm/out" "$work/wild/out" >"$work/differs" 2>&1 || wrong=$((wrong + 1))
    all_done "$work/wild" || wrong=$((wrong + 1))
    whole=$((whole + 1))
done
[ $repeated = 0 ]
ok $? "killed $kills times: no recorded task started again ($repeated)"
[ $wrong = 0 ]
ok $? "and $whole whole runs end with results equal to the undisturbed one's, bit by bit"
: >"$work/starts"
run "$work/wild"
ends $? 0 "nothing to do" "after that there is nothing to do"
[ ! -s "$work/starts" ]
ok $? "and nothing is done"

flow "$work/left" <<X
a: { out: [a], run: 'touch $work/left/started; sleep 97.5331; echo a > {out}' }
X
"$weft" run "$work/left/flow.yaml" -q >"$work/out" 2>"$work/err" </dev/null &
pid=$!
wait_for "$work/left/started"
{ kill -9 $pid && wait $pid; } 2>/dev/null
pgrep -f "sleep 97.5331" >/dev/null && [ -n "$(ls -A "$work/left/.weft/sandbox")" ]
ok $? "a run that is killed leaves its task behind"
sed -i 's/sleep 97.5331/sleep 0.1/' "$work/left/flow.yaml"
run "$work/left" --resume
ends $? 0 "still ran" "the next one ends it"
none_left "sleep 97.5331" && [ -z "$(ls -A "$work/left/.weft/sandbox" 2>/dev/null)" ]
ok $? "and clears its sandbox"

# ---- disks ----

if small_disk "$work/full" 4m; then
    flow "$work/full" <<'X'
a: { out: [a.dat], run: 'head -c 1000000 /dev/zero > {out}' }
b: { in: [a.dat], out: [b.dat], run: 'head -c 9000000 /dev/zero > {out}' }
c: { in: [b.dat], out: [c.dat], run: 'cp {in} {out}' }
X
    run "$work/full"
    ends $? 1 "task 'b'\|'b' \| b " "an output larger than the disk: the task fails"
    grep -qi "no space left" "$work/out" "$work/err"
    ok $? "the message says why"
    [ -e "$work/full/a.dat" ] && [ ! -e "$work/full/b.dat" ]
    ok $? "what is done stays, half a file does not appear"
    [ -z "$(ls -A "$work/full/.weft/sandbox" 2>/dev/null)" ]
    ok $? "nothing of it takes up the disk"
    sed -i 's/9000000/500000/' "$work/full/flow.yaml"
    run "$work/full"
    ends $? 0 "1 reused\|1 up to date\|2 " "with a smaller one it goes on"

    # every block taken while tasks run: the record cannot be written
    rm -rf "$work/full"/.weft "$work/full"/*
    for i in $(seq 40); do
        echo "t$i: { out: [o$i], run: 'sleep 0.02; echo $i > {out}' }"
    done | flow "$work/full"
    (wait_for "$work/full/o3" && head -c 8000000 /dev/zero >"$work/full/ballast" 2>/dev/null) &
    run "$work/full"
    status=$?
    wait $!
    [ $status = 1 ] && grep -qi "no space left" "$work/out" "$work/err"
    ok $? "the disk fills up during the run: exit 1, and said"
    rm -f "$work/full/ballast"
    before=$(ls "$work/full" | grep -c '^o')
    run "$work/full"
    ends $? 0 "" "with space again it goes on ($before of 40 were there)"
    [ "$(cat "$work/full"/o* | sort -n | tr '\n' ' ')" = "$(seq 40 | tr '\n' ' ')" ]
    ok $? "all results are there"

    rm -rf "$work/full"/.weft "$work/full"/o*
    head -c 8000000 /dev/zero >"$work/full/ballast" 2>/dev/null
    run "$work/full"
    status=$?
    [ $status = 1 ] && grep -qi "no space left" "$work/err" "$work/out"
    ok $? "a disk that is full from the beginning: exit 1, and said"

    rm -rf "$work/full"/.weft "$work/full"/ballast
    mount -o remount,ro "$work/full"
    run "$work/full"
    ends $? 1 "Read-only file system" "a folder that cannot be written to"
    mount -o remount,rw "$work/full"
    run "$work/full"
    ends $? 0 "" "and once it can"
else
    skip "full disks" "may not mount a small one"
fi

# ---- folders that vanish ----

vanish() { # folder
    for i in $(seq 30); do
        echo "t$i: { out: [out/o$i], run: 'sleep 0.03; echo $i > {out}' }"
    done
    echo "end: { in: [$(seq -s, -f 'out/o%.0f' 30)], out: [sum], run: 'cat {in} > {out}' }"
}
vanish | flow "$work/outgone"
(wait_for "$work/outgone/out/o30" || wait_for "$work/outgone/out/o5"; rm -rf "$work/outgone/out" 2>/dev/null) &
run "$work/outgone"
status=$?
wait $!
[ $status = 0 ] || { [ $status = 1 ] && [ -s "$work/err" ]; }
ok $? "the folder of outputs is removed during the run: it ends with $status"
run "$work/outgone"
ends $? 0 "" "the next run makes them again"
[ "$(cat "$work/outgone/sum" | sort -n | tr '\n' ' ')" = "$(seq 30 | tr '\n' ' ')" ]
ok $? "all of them"

vanish | flow "$work/stategone"
(wait_for "$work/stategone/out/o5" || wait_for "$work/stategone/out/o30"; rm -rf "$work/stategone/.weft" 2>/dev/null) &
run "$work/stategone"
status=$?
wait $!
[ $status = 0 ] || { [ $status = 1 ] && [ -s "$work/err" ]; }
ok $? "weft's own folder is removed during the run: it ends with $status"
run "$work/stategone"
ends $? 0 "" "the next run does what is not on record"
[ "$(cat "$work/stategone/sum" | sort -n | tr '\n' ' ')" = "$(seq 30 | tr '\n' ' ')" ]
ok $? "all results are there"

# ---- tasks that misbehave ----

flow "$work/notfound" <<'X'
a: { run: no-such-command-anywhere --x }
b: { run: 'true', after: [a] }
X
run "$work/notfound"
ends $? 1 "command not found: no-such-command-anywhere" "a command that is not there"

flow "$work/signal" <<'X'
a: { run: 'kill -SEGV $$' }
X
run "$work/signal"
ends $? 1 "signal 11\|SIGSEGV\|Segmentation" "a task killed by a signal"

flow "$work/retries" <<X
a: { run: /bin/false, retries: $retries }
X
run "$work/retries" --retry-delay 0
ends $? 1 "1 task failed" "$retries retries that all fail"
grep -q "$((retries + 1)) attempts\|attempt $((retries + 1))\|exit status 1\|status 1" "$work/out" "$work/err"
ok $? "say how it failed"

flow "$work/daemon" <<'X'
a: { out: [o], run: 'setsid sleep 97.5311 & (setsid sh -c "sleep 97.5312; true" &) ; sleep 0.5; echo done > {out}' }
b: { in: [o], out: [p], run: 'sleep 0.3; cp {in} {out}' }
X
run "$work/daemon"
ends $? 0 "outlived the task" "a task that leaves daemons behind"
none_left "sleep 97.531"
ok $? "which are ended"

flow "$work/loud" <<'X'
a: { out: [o], run: 'head -c 1000000000 /dev/zero >&2; echo the end >&2; echo x > {out}' }
X
run "$work/loud"
ends $? 0 "" "a task that writes 1 GB to standard error"
size=$(cat "$work"/loud/.weft/logs/*/* 2>/dev/null | wc -c)
[ "$size" -gt 1000000 ] && [ "$size" -lt 40000000 ] && tail -c 8 "$work"/loud/.weft/logs/*/a.log | grep -qx "the end"
ok $? "of which beginning and end are kept ($size bytes)"

# ---- two at once, signals ----

flow "$work/two" <<'X'
a: { out: [o], run: 'sleep 3; echo x > {out}' }
X
run "$work/two" -q &
pid=$!
wait_for "$work/two/.weft/running"
timeout 20 "$weft" run "$work/two/flow.yaml" >"$work/out2" 2>"$work/err2"
status=$?
wait $pid
first=$?
[ $first = 0 ] && { [ $status = 1 ] || [ $status = 2 ]; } && grep -q "another\|in use\|locked" "$work/err2"
ok $? "a second run in the same folder is told so ($status), the first goes on"

stop() { # signal times text: status in $status
    rm -rf "$work/stop"
    flow "$work/stop" <<X
a: { out: [a], run: 'touch $work/stop/started; sleep $3; echo a > {out}' }
b: { in: [a], out: [b], run: 'cp {in} {out}' }
X
    "$weft" run "$work/stop/flow.yaml" -j2 >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    wait_for "$work/stop/started"
    for i in $(seq "$2"); do
        sleep 0.2
        kill "-$1" $pid
    done
    wait $pid
    status=$?
}
# A shell starts what it runs in the background with SIGINT ignored; weft sets its own handler.
for s in INT TERM; do
    stop $s 1 1.2345
    ends $status 1 "stopped" "SIG$s once: what runs may end"
    [ -e "$work/stop/a" ] && [ ! -e "$work/stop/b" ] && none_left "sleep 1.2345"
    ok $? "it did, nothing new was started"
    run "$work/stop"
    ends $? 0 "" "again: the rest"
    stop $s 2 97.5321
    ends $status 1 "stopped" "SIG$s twice: now"
    none_left "sleep 97.5321"
    ok $? "no child is left"
    [ ! -e "$work/stop/a" ] && [ -z "$(ls -A "$work/stop/.weft/sandbox" 2>/dev/null)" ]
    ok $? "and no half a result"
done

# ---- records that are damaged or held ----

flow "$work/records" <<'X'
a: { out: [a], run: 'echo a > {out}' }
b: { in: [a], out: [b], run: 'cp {in} {out}' }
X
echo "this is not a database, and never was one; it is a text of some length" >"$work/bad.db"
WEFT_HISTORY=$work/bad.db run "$work/records"
ends $? 0 "not recorded" "a damaged history: a warning, the run goes on"
grep -q "this is not a database" "$work/bad.db"
ok $? "and it is left as it is"

if command -v python3 >/dev/null; then
    rm -f "$work/held"
    python3 - "$WEFT_HISTORY" "$work/held" <<'X' &
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
open(sys.argv[2], "w").close()
time.sleep(60)
X
    holder=$!
    wait_for "$work/held"
    rm -rf "$work/records/.weft" "$work/records/a" "$work/records/b"
    run "$work/records"
    ends $? 0 "not recorded\|not complete" "a locked history: a warning, the run goes on"
    kill $holder
    wait $holder 2>/dev/null
else
    skip "a locked history" "no python3"
fi

memo=$work/records/.weft/memo
run "$work/records" --force # a second frame: damage in the last one is an unfinished write
cp "$memo" "$work/memo"
printf 'torn' >>"$memo"
run "$work/records"
ends $? 0 "nothing to do" "an unfinished record at the end is cut off"
grep -q "cut off" "$work/err"
ok $? "and said"
cp "$work/memo" "$memo"
printf '\377\377\377\377' | dd of="$memo" bs=1 seek=70 conv=notrunc 2>/dev/null
cp "$memo" "$work/damaged"
run "$work/records"
status=$?
[ $status != 0 ] && [ $status -le 2 ] && grep -q "memo.*damaged\|damaged.*memo" "$work/err"
ok $? "a damaged record is an error ($status)"
cmp -s "$memo" "$work/damaged"
ok $? "and stays as it is"
head -c 20 "$work/memo" >"$memo"
run "$work/records"
status=$?
{ [ $status = 0 ] || grep -q memo "$work/err"; } && [ $status -le 2 ]
ok $? "one cut off in its head ($status)"
echo "something else altogether, and long enough to be looked at as a head" >"$memo"
run "$work/records"
status=$?
[ $status != 0 ] && [ $status -le 2 ] && grep -q "memo" "$work/err"
ok $? "another file in its place is an error ($status)"
rm "$memo"
run "$work/records"
ends $? 0 "" "without it everything is computed again"

skip "clock jumps" "setting the clock is not a test's to do; only file times are ever compared with it"

echo "1..$count"
exit $failed
