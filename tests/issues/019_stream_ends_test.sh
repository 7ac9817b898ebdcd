#!/usr/bin/env bash
# What went wrong at the two ends of a stream without a word: two items' results under one name, results over the items that were still to
# be read, a reader who reads no more, a folder that is gone, frames of nothing, items counted that nobody got. And filters that left more
# behind than their answers. Speaks TAP.
. "$(dirname "$0")/../support/streams.sh"
cat >copy.yaml <<YAML
weft: 1
tasks: { copy: { call: "$functions:same", in: x, out: y.txt } }
YAML

# --- names ---
mkdir in && printf one >in/a && printf two >in/a.txt
"$weft" stream copy.yaml --from in --to made/ >out 2>err
[ $? = 2 ] && grep -q "the results of 'a' and of 'a.txt' would both have that name" err && [ -z "$(ls made)" ]
ok $? "two items whose results would have one name: refused before anything is made"
mv in/a in/b && "$weft" stream copy.yaml --from in --to made/ >out 2>err && [ "$(cat made/b.txt)$(cat made/a.txt)" = onetwo ]
ok $? "two names, two files"
"$weft" stream copy.yaml --from watch:in --to seen/ >out 2>err &
pid=$!
for _ in $(seq 400); do [ -f seen/b.txt ] && break; sleep 0.05; done
printf x >in/.new && mv in/.new in/b.txt
wait "$pid"
[ $? != 0 ] && grep -q "the results of 'b' and of 'b.txt'" err && [ "$(cat seen/b.txt)" = one ]
ok $? "a file that comes while it runs, likewise"

cat >two.yaml <<'YAML'
weft: 1
tasks: { t: { run: "cp {in} one/r.txt; cp {in} two/r.txt", per_item: true, in: x, out: [one/r.txt, two/r.txt] } }
YAML
printf 'a\nb\n' >lines
"$weft" stream two.yaml --from lines --to both/ >out 2>err
[ $? = 2 ] && grep -q "the results 'one/r.txt' and 'two/r.txt' would have one folder" err && [ ! -e both ]
ok $? "two results that would have one folder: refused"

# --- results where items come from ---
refused() { # text, then the command's arguments
    local text=$1; shift
    "$weft" stream "$@" >out 2>err
    [ $? = 2 ] && grep -q "are the same" err
    ok $? "$text"
}
printf 'a\nb\n' >lines
refused "a file as source and sink" copy.yaml --from lines --to lines
refused "by another name" copy.yaml --from lines --to "$work/./lines"
ln lines linked
refused "by a link" copy.yaml --from lines --to frames:linked
[ "$(wc -l <lines)" = 2 ]
ok $? "whose items are all still there"
refused "a folder" copy.yaml --from in --to in/
refused "a folder that is watched" copy.yaml --from watch:in --to in/
"$weft" stream copy.yaml --from - --to - <lines >>lines 2>err
[ $? = 2 ] && grep -q "are the same file" err
ok $? "standard input and output"
rm in/b.txt
"$weft" stream copy.yaml --from in --to in/results/ >out 2>err && [ "$(cat in/results/a.txt)" = two ]
ok $? "a folder within is another"

# --- a reader who reads no more: two stops end the stream ---
cat >long.yaml <<'YAML'
weft: 1
tasks: { long: { run: "head -c 200000 /dev/zero > {out}", per_item: true, in: x, out: y } }
YAML
mkfifo full
sleep 1000 <>full & # has it open, and never reads
reader=$!
seq 100 | "$weft" stream long.yaml --from - --to full >out 2>err &
pid=$!
"$weft" stream copy.yaml --from lines --to listen:127.0.0.1:0 >out2 2>err2 & # nobody will come
other=$!
# its threads wait for the pipe: the first writes, so the pipe is full
python3 - <<'PY'
import fcntl, os, struct, termios, time
fd = os.open("full", os.O_RDONLY | os.O_NONBLOCK)
for _ in range(400):
    n = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"0000"))[0]
    if n >= 65536: break
    time.sleep(0.05)
PY
kill -INT "$pid" "$other" && sleep 0.2 && kill -INT "$pid" "$other"
both=$? # they were there to be stopped
for _ in $(seq 200); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
[ $both = 0 ] && ! kill -0 "$pid" 2>/dev/null
ok $? "twice SIGINT ends a stream whose reader reads no more, long before it is ended by force"
wait "$pid"
[ $? = 1 ] && grep -q "stopped: .* lost" err
ok $? "and it says what is lost"
for _ in $(seq 200); do kill -0 "$other" 2>/dev/null || break; sleep 0.05; done
[ $both = 0 ] && ! kill -0 "$other" 2>/dev/null
ok $? "and one whose reader never came"
kill -KILL "$pid" "$other" "$reader" 2>/dev/null
wait "$other" "$reader" 2>/dev/null

# --- a folder that is gone ---
mkdir gone && printf q >gone/a
"$weft" stream copy.yaml --from watch:gone --to left/ >out 2>err &
pid=$!
for _ in $(seq 400); do [ -f left/a.txt ] && break; sleep 0.05; done
rm -r gone
for _ in $(seq 400); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
kill -KILL "$pid" 2>/dev/null
wait "$pid"
[ $? = 1 ] && grep -q "the folder is gone" err
ok $? "a watched folder that is gone ends the stream, and is told"

mkdir links && printf 1 >links/a && ln -s nowhere links/b && printf 3 >links/c
"$weft" stream copy.yaml --from links --to linked.d/ >out 2>err
[ $? = 1 ] && grep -q "links/b: cannot read: No such file" err && [ -f linked.d/a.txt ]
ok $? "a file of the list that is not there is told"

# --- frames of nothing ---
cat >some.yaml <<'YAML'
weft: 1
tasks: { some: { run: "grep -v skip {in} > {out} || rm {out}", per_item: true, in: x, out: y } }
YAML
printf 'x\nskip\nz\n' | "$weft" stream some.yaml --from - --to frames:f >out 2>err &&
    "$weft" stream copy.yaml --from frames:f --to result --json >out 2>err && [ "$(tr '\n' ' ' <result)" = "x z " ] &&
    [ "$(of out '(d["items"], d["empty"])')" = "(3, 1)" ]
ok $? "a frame that says that there is nothing is an item of which there is nothing"

# --- what nobody got has not left ---
seq 1000 | "$weft" stream copy.yaml --from - --to /dev/full --json >out 2>err
[ $? = 1 ] && [ "$(of out 'd["items"]')" = 0 ] && grep -q "No space left" err
ok $? "a full disk: no item has left"

# --- what filters leave behind ---
cat >behind.yaml <<'YAML'
weft: 1
tasks: { b: { run: "sleep 1000 & echo $! >> $WEFT_FOLDER/pids; cp {in} {out}", per_item: true, in: x, out: y } }
YAML
"$weft" stream behind.yaml --from lines --to result >out 2>err && cmp lines result && [ "$(wc -l <pids)" = 2 ]
ok $? "a program for each item finds the workflow's folder in WEFT_FOLDER, wherever it runs"
[ -s pids ] && (
    for pid in $(cat pids); do
        for _ in $(seq 200); do [ ! -d "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status" && break; sleep 0.05; done
        [ ! -d "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status" || exit 1
    done
)
ok $? "processes that a program left behind end with it"
cat >pipe.yaml <<'YAML'
weft: 1
tasks: { p: { run: "mkfifo {out}", per_item: true, in: x, out: y } }
YAML
timeout -k 1 60 "$weft" stream pipe.yaml --from lines --tries 1 --to result >out 2>err
[ $? = 1 ] && grep -q "its output y is a folder, a pipe" err
ok $? "an output that is a pipe is no file, and is not waited for"

cat >stays.py <<'PY'
import os, struct, sys, time
how, i, o = sys.argv[1], sys.stdin.buffer, sys.stdout.buffer
while head := i.read(16):
    length, number = struct.unpack("<QQ", head)
    data = i.read(length)
    if how == "closes":
        os.close(1)
        time.sleep(1000)
    o.write(struct.pack("<QQ", length, number) + data + (b"more" if how == "more" and data == b"b" else b""))
    o.flush()
PY
stays() { printf 'weft: 1\ntasks: { s: { run: "python3 stays.py %s", in: x, out: y } }\n' "$1" >stays.yaml; }
stays closes
"$weft" stream stays.yaml --from lines --tries 1 --to result >out 2>err
[ $? = 1 ] && grep -q "it closed its input or its output before it answered" err && ! grep -q Killed err
ok $? "a filter that closes its output is told of that, not of how it was ended then"
stays more
"$weft" stream stays.yaml --from lines -j 1 --to result >out 2>err
[ $? = 1 ] && grep -q "task 's' has written more to its output 0 than a frame for each item" err && cmp lines result
ok $? "bytes behind the last answer are told"
stays right
"$weft" stream stays.yaml --from lines -j 1 --to result >out 2>err && cmp lines result
ok $? "and none are none"

# --- words that were not looked at ---
for on in local:-1 local:3x local: ssh: ssh:a,,b; do
    timeout -k 1 60 "$weft" stream copy.yaml --from lines --to result --on "$on" >out 2>err
    [ $? = 2 ] && grep -q "expected" err
    ok $? "--on $on is refused before anything starts"
done
for word in "--throughput abc" "--throughput -5" "--latency -5" "--latency soon"; do
    # shellcheck disable=SC2086 # two words
    "$weft" stream copy.yaml --from lines --to result $word >out 2>err
    [ $? = 2 ] && grep -qE "is neither a number|is no time" err
    ok $? "$word is refused, however few items come"
done
"$weft" stream copy.yaml --from frames:- --to result --on cluster --key - </dev/null >out 2>err
[ $? = 2 ] && grep -q "both read standard input" err
ok $? "items and a key on standard input"
"$weft" stream copy.yaml --from lines --to frames:- --json >out 2>err
[ $? = 2 ] && grep -q "both write to standard output" err
ok $? "frames and figures on standard output"
"$weft" stream copy.yaml --from lines --to frames:- >out 2>err && [ "$(wc -c <out)" = 34 ]
ok $? "frames alone: the summary is said beside them"
"$weft" stream copy.yaml --from lines --to result --throughput 1 >out 2>err && grep -q "nothing was planned: the stream ended after 2 items" err
ok $? "a stream that ended before it was planned says so"
"$weft" stream copy.yaml --from lines --to nowhere/result >out 2>err
[ $? = 1 ] && grep -q "nowhere/result: cannot write: No such file or directory" err
ok $? "a result whose folder is not there"

# --- what streams do not do ---
foreign() { # text, what the task says besides, what stands before the tasks
    printf 'weft: 1\n%s\ntasks: { t: { run: "cp {in} {out}", per_item: true, out: y, %s } }\n' "${3-}" "$2" >foreign.yaml
    timeout -k 1 60 "$weft" stream foreign.yaml --from lines --to result >out 2>err
    [ $? = 2 ] && grep -q "foreign.yaml:.*\`$1\` .* for runs" err
    ok $? "$1 is refused"
}
foreign sandbox "in: x, sandbox: false"
foreign keep "in: x, keep: true"
foreign results "in: x, results: keep"
foreign needs "in: x, needs: avx512"
foreign resources "in: x, resources: { gpu: 1 }"
foreign optional "in: [x, { name: more, optional: true }]"
foreign repeat "in: x, repeat: { most: 3 }"
foreign hooks "in: x" "hooks: { done: 'touch hooked' }"
cat >silent.yaml <<'YAML'
weft: 1
tasks: { t: { run: "cat > /dev/null", in: x, out: y } }
YAML
"$weft" stream silent.yaml --from lines --to result -j 1 >out 2>err &
pid=$!
for _ in $(seq 400); do grep -q "has not answered its first item (0) for 5 s: .*per_item" err && break; sleep 0.05; done
kill -INT "$pid" && sleep 0.1 && kill -INT "$pid"
grep -q "has not answered its first item (0) for 5 s: .*per_item" err
ok $? "a command that stays and does not answer: somebody is told"
wait "$pid"

# --- figures of what was short, or long ---
cat >slow.yaml <<'YAML'
weft: 1
tasks: { slow: { run: "sleep 0.3; cp {in} {out}", per_item: true, in: x, out: y } }
YAML
"$weft" stream slow.yaml --from lines --to result -j 2 --json >out 2>err && [ "$(of out '0 < d["throughput"] <= 2 / 0.3')" = True ]
ok $? "two items on two threads are two in their time, not two that follow each other within microseconds"
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 70); do printf '  t%d: { call: "%s:same", in: x%d, out: x%d }\n' "$i" "$functions" "$i" $((i + 1)); done
} >tasks.yaml
"$weft" stream tasks.yaml --from lines --to result >out 2>err && [ "$(grep -cE '^  t[0-9]+ ' out)" = 64 ] && grep -q '^  and 6 more, with --json' out
ok $? "a summary that does not list all tasks says so"
echo "1..$count"
exit "$failed"
