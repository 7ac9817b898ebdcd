#!/usr/bin/env bash
# Plans of streams could be simulated and not run. `weft stream` runs them: three kinds of filters, sources and sinks, order, faults,
# stops. What comes out is compared with what a shell makes of the same items. Speaks TAP.
. "$(dirname "$0")/../support/streams.sh"

# --- three kinds of filters, lines in and out, in order ---
cat >kinds.yaml <<YAML
weft: 1
tasks:
  fetch: { call: "$functions:same", in: line, out: l1 }
  stay: { run: "$stayer ' stays'", in: l1, out: l2 }
  each: { run: "(cat {in}; printf ' %s' \$WEFT_ITEM) > {out}", per_item: true, in: l2, out: l3 }
  last: { call: "$functions:same", in: l3, out: l4, replicable: false }
YAML
seq 0 49 | awk '{ print "item", $1, "stays", $1 }' >expected
seq 0 49 | sed 's/^/item /' >lines
"$weft" stream kinds.yaml --from lines --to result -j 3 >out 2>err && cmp result expected >>out
ok $? "a function, a command that stays and one for each item: lines in their order"
"$weft" stream kinds.yaml --from - --to - -j 3 <lines >out 2>err && cmp out expected >>err
ok $? "standard input and output"
"$weft" stream kinds.yaml --from lines --to result --unordered -j 4 >out 2>err && sort result | cmp - <(sort expected) >>out
ok $? "--unordered: all of them"
"$weft" stream kinds.yaml --from lines --to result --items 7 --json >out.json 2>err && [ "$(wc -l <result)" = 7 ] &&
    [ "$(of out.json '(d["items"], d["given_up"], d["tasks"][1]["items"])')" = "(7, 0, 7)" ]
ok $? "--items, and the figures as JSON"

# --- folders, frames, a clock, functions, sockets ---
mkdir in
for i in a b c; do printf 'file %s\n' $i >in/$i.txt; done
printf 'unfinished' >in/.d.txt
cat >copy.yaml <<YAML
weft: 1
tasks:
  copy: { call: "$functions:same", in: x, out: y.up }
YAML
"$weft" stream copy.yaml --from in --to made/ >out 2>err && [ "$(ls made | tr '\n' ' ')" = "a.txt.up b.txt.up c.txt.up " ] && cmp in/b.txt made/b.txt.up
ok $? "a folder: a file each, named after the item's; what begins with a dot is no item"
"$weft" stream copy.yaml --from lines --to frames:f >out 2>err && "$weft" stream copy.yaml --from frames:f --to result2 >out 2>err && cmp lines result2 >>out
ok $? "frames there and back"
"$weft" stream copy.yaml --from clock:1000 --items 5 --to result >out 2>err && [ "$(tr '\n' ' ' <result)" = "0 1 2 3 4 " ]
ok $? "a clock gives numbers"
"$weft" stream copy.yaml --from "call:$functions:give_64" --to "call:$functions:mix" --items 100 --json >out.json 2>err && [ "$(of out.json 'd["items"]')" = 100 ]
ok $? "functions as source and sink"
python3 - "$work/sock" lines <<'PY' &
import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(1)
c, _ = s.accept()
for i, line in enumerate(open(sys.argv[2], "rb")):
    line = line[:-1]
    c.sendall(struct.pack("<QQ", len(line), i) + line)
c.close()
PY
peer=$!
for _ in $(seq 200); do [ -S sock ] && break; sleep 0.05; done
"$weft" stream copy.yaml --from unix:sock --to result3 >out 2>err && cmp lines result3 >>out
ok $? "frames over a socket"
wait "$peer"

# a folder that files appear in, until the first SIGINT: what is in work still leaves
mkdir appear seen
"$weft" stream copy.yaml --from watch:appear --to seen/ >out 2>err &
pid=$!
for i in 1 2 3; do echo "$i" >appear/.tmp; mv appear/.tmp appear/$i; done
for _ in $(seq 400); do [ -f seen/3.up ] && break; sleep 0.05; done
kill -INT "$pid"
wait "$pid"
status=$?
[ $status = 0 ] && [ "$(cat seen/1.up seen/2.up seen/3.up | tr '\n' ' ')" = "1 2 3 " ]
ok $? "a watched folder: files as they appear; a signal ends it well (status $status)"

# several inputs and outputs of a command, a pipe each; an item of which there is nothing
cat >ports.py <<'PY'
import os, struct, sys
ins, outs = (os.fdopen(0, "rb"), os.fdopen(3, "rb")), (os.fdopen(1, "wb"), os.fdopen(4, "wb"))
def take(f):
    head = f.read(16)
    if len(head) < 16: sys.exit(0)
    n, k = struct.unpack("<QQ", head)
    return k, f.read(n)
def give(f, k, b):
    f.write(struct.pack("<QQ", 2**64 - 1 if b is None else len(b), k) + (b or b""))
    f.flush()
while True:
    k, a = take(ins[0])
    _, b = take(ins[1])
    give(outs[1], k, b + a)
    give(outs[0], k, None if k % 2 else a + b)
PY
cat >ports.yaml <<YAML
weft: 1
tasks:
  one: { call: "$functions:same", in: x, out: a }
  two: { run: "$stayer 2", in: x, out: b }
  both: { run: "python3 ports.py", in: [a, b], out: [ab, ba] }
YAML
head -n 4 lines | "$weft" stream ports.yaml --from - --to two/ >out 2>err && [ "$(ls two/ab | wc -l) $(ls two/ba | wc -l)" = "2 4" ] && [ "$(cat two/ba/00000003)" = "item 32item 3" ]
ok $? "two inputs and two outputs of a command; half the items have nothing at one of them"
seq 0 9 | "$weft" stream <(printf 'weft: 1\ntasks:\n  a: { call: "%s:mix_or_none", in: x, out: y }\n' "$functions") --from - --to y --json >out.json 2>err &&
    [ "$(of out.json '(d["items"], d["empty"])')" = "(10, 2)" ]
ok $? "items without a result are counted"

# --- faults ---
cat >dies.yaml <<YAML
weft: 1
tasks:
  a: { run: "$stayer a 15", in: x, out: y, retries: 30 }
  b: { run: "$stayer b 15", in: y, out: z, retries: 30, replicable: false }
YAML
seq 1 400 >numbers
"$weft" stream dies.yaml --from numbers --to result --json -j 3 >out.json 2>err && sed 's/$/ab/' numbers | cmp - result >>out
ok $? "filters that kill themselves, also in the middle of an answer: every item once, in order"
[ "$(of out.json 'd["retried"] >= 20 and d["given_up"] == 0')" = True ]
ok $? "and that was often ($(of out.json 'd["retried"]') times)"
cat >poison.yaml <<YAML
weft: 1
tasks:
  a: { run: "$stayer a 0 13", in: x, out: y }
  b: { call: "$functions:same", in: y, out: z }
YAML
head -n 40 numbers | "$weft" stream poison.yaml --from - --to result --json >out.json 2>err
status=$?
[ $status = 1 ] && grep -q "1 of 40 items was given up" err && grep -q "item 12.*task 'a'.*signal 9" err && [ "$(of out.json 'd["failures"][0]["item"]')" = 12 ] &&
    head -n 40 numbers | grep -v 13 | sed 's/$/a/' | cmp - result >>out
ok $? "a poisoned item is tried three times and given up; the others pass; status 1"
[ "$(of out.json 'd["retried"]')" = 2 ]
ok $? "after as many tries as --tries says by default"
yes x | "$weft" stream <(printf 'weft: 1\ntasks:\n  broken: { run: "false", in: x, out: y }\n') --from - >out 2>err
status=$?
[ $status = 1 ] && grep -q "task 'broken' has failed for each of its first items (10).*ended with status 1" err
ok $? "a filter that never works ends the stream (status $status)"
"$weft" stream <(printf 'weft: 1\ntasks:\n  lost: { run: "no-such-program-at-all x", in: x, out: y }\n') --from numbers >out 2>err
[ $? = 1 ] && grep -q "no-such-program-at-all" err
ok $? "so does a command that is not there, by its name"
"$weft" stream <(printf 'weft: 1\ntasks:\n  slow: { run: "sleep 60", in: x, out: y, per_item: true, timeout: 0.2 }\n') --from numbers --items 1 --tries 1 >out 2>err
[ $? = 1 ] && grep -q "longer than its timeout of 0.2 s" err
ok $? "a timeout ends a program"
echo x | "$weft" stream <(printf 'weft: 1\ntasks:\n  a: { run: "%s a; exit 3", in: x, out: y }\n' "$stayer") --from - --to y >out 2>err
[ $? = 1 ] && grep -q "task 'a' ended with status 3 after its last item" err
ok $? "a filter that fails after its last item is told"

# two signals: all ends, and no process is left
cat >stuck.yaml <<YAML
weft: 1
tasks:
  stuck: { run: "echo \$\$ > $work/stuck.pid; sleep 600", in: x, out: y }
YAML
"$weft" stream stuck.yaml --from numbers >out 2>err &
pid=$!
for _ in $(seq 400); do [ -s stuck.pid ] && break; sleep 0.05; done
kill -INT "$pid"
sleep 0.3
kill -0 "$pid"
drains=$?
kill -INT "$pid"
wait "$pid"
status=$?
[ $drains = 0 ] && [ $status = 1 ] && grep -q "stopped: " err && ! kill -0 "$(cat stuck.pid)" 2>/dev/null
ok $? "the first signal waits for what is in work, the second ends it"

# --- what is refused, with place and remedy ---
refuses() { # status pattern text arguments
    local want=$1 pattern=$2 text=$3
    shift 3
    "$weft" stream "$@" >out 2>err
    local got=$?
    [ $got = "$want" ] && grep -q -e "$pattern" err
    ok $? "$text"
}
refuses 2 "reads 'x'.*--from" "a stream without a source" copy.yaml --to y
refuses 2 "would go on for ever" "one that would not end" <(printf 'weft: 1\ntasks:\n  a: { work: 0 }\n')
refuses 2 "has 2 results" "two results into one file" ports.yaml --from lines --to one
printf 'weft: 1\ntasks:\n  a: { run: "x", in: x, out: y, container: "busybox:1" }\n' >flow.yaml
"$weft" stream flow.yaml --from lines >out 2>err
[ $? = 2 ] && grep -q "flow.yaml:3: task 'a': .container. is for runs" err
ok $? "a key that only runs have, with its place"
refuses 2 "has no function 'nobody'" "a function that is not there" <(printf 'weft: 1\ntasks:\n  a: { call: "%s:nobody", in: x, out: y }\n' "$functions") --from lines
refuses 2 "both write to standard output" "two things on standard output" copy.yaml --from lines --to - --json
refuses 2 "clock:x: expected items a second" "a clock without a rate" copy.yaml --from clock:x
echo "1..$count"
exit $failed
