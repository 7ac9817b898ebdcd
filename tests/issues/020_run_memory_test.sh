#!/usr/bin/env bash
# Issue 20, point 5: in a run whose files are in memory, tasks and files keep to it together; point 4: a run follows the plan of a tree. What
# happened is judged from the run's own events. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
cat >flow.yaml <<'YAML'
weft: 1
lists: { i: { from: 1, to: 8 } }
tasks:
  make: { each: i, run: "head -c 4000000 /dev/zero > {out}", out: [{name: "x{i}", size: 4M, temporary: true}], memory: 2M }
  use: { each: i, run: "wc -c < {in} > {out}", in: "x{i}", out: [{name: "y{i}", size: 10}], memory: 2M }
  end: { in: "y{i}", run: "cat {in} > {out}", out: sum, memory: 1M }
YAML
# a task takes its memory while it runs; a file its bytes from the start of its maker to the end of its reader
cat >judge.py <<'PY'
import json, sys
limit, rows, running = float(sys.argv[2]), [], {}
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == "task" and e["outcome"] == "done":
        rows.append((e["task"], e["start"], e["start"] + e["seconds"]))
ends = {task: end for task, _, end in rows}
spans = []
for task, start, end in rows:
    spans.append((start, end, 1e6 if task == "end" else 2e6))
    if task.startswith("make"):
        spans.append((start, ends[task.replace("make", "use")], 4e6))
most = max(sum(b for s, e, b in spans if s <= t < e) for t, _, _ in spans)
print(len(rows), "tasks, most at once", most)
sys.exit(0 if len(rows) == 17 and most <= limit else 1)
PY
run() { # arguments
    rm -rf x* y* sum .weft
    "$weft" run flow.yaml --no-limits "$@" --json >events 2>err
}
run -j 8 -m 14M --in-memory && python3 judge.py events 14e6 >out
ok $? "eight cores, and memory for two tasks with their files: never more at once"
run -j 8 -m 14M && ! python3 judge.py events 14e6 >out
ok $? "files that are on the disk take none of it"
run -j 8 -m 6100k --in-memory && python3 judge.py events 6.1e6 >out
ok $? "just enough for one at a time"
run -j 8 -m 5M --in-memory
[ $? = 3 ] && grep -q "task 'make@i=1' needs 6000000 bytes with its files, and this run has 5000000" err
ok $? "less than a task with its files: exit 3, with the task"
run --in-memory --disk 1G
[ $? = 2 ] && grep -q 'leave one of them out' err
ok $? "not beside --disk: exit 2"
# Two makers that end while weft looks away: their readers are not known yet when it sees room for a third. With its file there
# would be none for any reader: twelve of fourteen MB, and each wants two and ten bytes
cat >timed.yaml <<'YAML'
weft: 1
lists: { i: { from: 1, to: 8 } }
tasks:
  make: { each: i, run: "head -c 4000000 /dev/zero > {out}; echo $$ > $WORK/pid.{i}; n=0; while [ ! -e $WORK/freed ] && [ $((n += 1)) -lt 9000 ]; do sleep 0.01; done", out: [{name: "x{i}", size: 4M, temporary: true}], memory: 2M }
  use: { each: i, run: "wc -c < {in} > {out}", in: "x{i}", out: [{name: "y{i}", size: 10}], memory: 2M }
  end: { in: "y{i}", run: "cat {in} > {out}", out: sum, memory: 1M }
YAML
has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
timed() { # option and limit: both makers end while weft is stopped
    rm -rf x* y* sum .weft pid.* freed
    WORK=$work "$weft" run timed.yaml --no-limits -j 8 "$@" --json >events 2>err &
    run_pid=$!
    # whichever two the order begins with
    until makers=$(find . -maxdepth 1 -name 'pid.*' -size +0) && [ "$(wc -w <<<"$makers")" -ge 2 ]; do sleep 0.02; done
    kill -STOP "$run_pid"
    touch freed
    for maker in $makers; do until has_ended "$(cat "$maker")"; do sleep 0.02; done; done
    kill -CONT "$run_pid"
    wait "$run_pid"
}
timed -m 14M --in-memory && python3 judge.py events 14e6 >out
ok $? "makers that end together, before their readers are known: room is kept for these"
timed --disk 12M
ok $? "and on a disk with room for three files"

# Two chains into one end. Depth first takes the first of the file, whose file then waits beside all that the second needs; the order
# that needs little memory takes the greedy one first, which leaves little. The priorities that every run has stood in its way
mkdir two
cat >two/flow.yaml <<'YAML'
weft: 1
tasks:
  keeps: { run: "echo keeps >> $LOG; head -c 400 /dev/zero > {out}", out: [{name: k, size: 400, temporary: true}], memory: 600 }
  hungry: { run: "echo hungry >> $LOG; echo > {out}", out: [{name: h, size: 1, temporary: true}], memory: 1200 }
  end: { run: "echo end >> $LOG; echo > {out}", in: [k, h], out: sum, memory: 1 }
YAML
order_of() { # arguments
    rm -rf two/.weft two/sum
    : >log
    LOG=$work/log "$weft" run "${flow:-two/flow.yaml}" -j 1 --no-limits -q "$@" >out 2>err && paste -sd' ' log >out
}
order_of -m 10k --in-memory && [ "$(cat out)" = "hungry keeps end" ]
ok $? "without a plan tasks are taken in an order that needs little memory"
order_of -m 10k && [ "$(cat out)" = "keeps hungry end" ]
ok $? "files on the disk: depth first, as ever"
sed 's/  keeps: {/& priority: 5,/' two/flow.yaml >two/own.yaml
flow=two/own.yaml order_of -m 10k --in-memory && [ "$(cat out)" = "keeps hungry end" ]
ok $? "priorities of the workflow come first"
cat >two/plan.json <<'JSON'
{"schema": "weft-plan/1", "kind": "order", "order": ["keeps", "hungry", "end"]}
JSON
order_of -m 10k --in-memory --plan two/plan.json && [ "$(cat out)" = "keeps hungry end" ]
ok $? "and so does a plan"
order_of -m 1202 --in-memory && [ "$(cat out)" = "hungry keeps end" ]
ok $? "which fits where the other order does not"

sed -i 's/, temporary: true//' flow.yaml
run -j 2 -m 20M --in-memory
[ $? = 1 ] && grep -q 'no task fits into memory any more' err
ok $? "files that stay fill it: said, exit 1"

# a tree: r makes a and b; each part is a row of tasks
cat >tree.yaml <<'YAML'
weft: 1
tasks:
  r: { run: "echo > a; echo > b; echo r >> $LOG", out: [{name: a, size: 6}, {name: b, size: 5}], work: 1, memory: 1 }
  x: { run: "echo > c; echo > d; echo x >> $LOG", in: [a], out: [{name: c, size: 5}, {name: d, size: 4}], work: 1, memory: 1 }
  y: { run: "echo > e; echo y >> $LOG", in: [b], out: [{name: e, size: 7}], work: 1, memory: 1 }
  u: { run: "echo u >> $LOG", in: [c], work: 1, memory: 1 }
  v: { run: "echo v >> $LOG", in: [d], work: 1, memory: 1 }
  z: { run: "echo z >> $LOG", in: [e], work: 1, memory: 1 }
YAML
printf 'weft: 1\nnodes: [{ name: n, memory: 16, disk: 2 }]\n' >node.yaml
export LOG=$work/log
"$weft" plan tree.yaml --on node.yaml --with tree -o tree.json >out 2>err
ok $? "a tree that fits with a file on disk"
order=$(python3 -c 'import json; print(" ".join(json.load(open("tree.json"))["parts"][0]["order"]))')
: >log
"$weft" run tree.yaml --plan tree.json --follow strict -j 4 --no-limits -q >out 2>err
[ $? = 0 ] && echo "plan: $order, run: $(paste -sd' ' log)" >out && [ "$order" = "$(paste -sd' ' log)" ]
ok $? "a run carries its part out in the plan's order, one after the other"
"$weft" run tree.yaml --plan tree.json -f --in-memory -m 1G -q >out 2>err
[ $? = 3 ] && grep -q 'writes files to disk' err && grep -q -- '--spill DIR' err
ok $? "with files in memory it has to be said where they are written to: exit 3"
"$weft" run tree.yaml --plan tree.json -f --spill disk -q >out 2>err
[ $? = 2 ]
ok $? "--spill without --in-memory: exit 2"
"$weft" run tree.yaml --plan tree.json -f --in-memory -m 1G --spill nowhere -q >out 2>err
[ $? = 2 ] && grep -q 'spill nowhere: No such file' err
ok $? "a folder that is not there: exit 2"

# carried out: a random tree in a folder of its own, in the least memory with which its largest task fits. Each task notes what is in
# the folder when it begins; with what it makes and its own memory that is never more than the run has
cat >grow.py <<'PY'
import random, sys
rng, n = random.Random(5), 30
parent = [None] + [rng.randrange(max(0, i - 4), i) for i in range(1, n)]
size = [rng.randint(20, 90) for _ in range(n)]
kids = [[k for k in range(n) if parent[k] == i] for i in range(n)]
need = max((size[i] if i else 0) + 3 + sum(size[k] for k in kids[i]) for i in range(n))
print("weft: 1\ntasks:")
for i in range(n):
    outs = ", ".join("{name: f%d, size: %d, temporary: true}" % (k, size[k]) for k in kids[i])
    makes = "; ".join("head -c %d /dev/zero > f%d" % (size[k], k) for k in kids[i])
    command = "sh %s t%d %d" % (sys.argv[1], i, 3 + sum(size[k] for k in kids[i])) + ("; " + makes if makes else "")
    print("  t%d: { run: '%s', in: [%s], out: [%s], work: 1, memory: 3 }" % (i, command, "f%d" % i if i else "", outs))
open("least", "w").write(str(need))
PY
mkdir memory disk
cat >look.sh <<'SH'
cd "$WORK/memory" || exit 1
here=$(cat f* 2>/dev/null | wc -c) out=$(cat "$WORK"/disk/*/* 2>/dev/null | wc -c)
echo "$1 $((here + $2)) $out" >>"$WORK/seen"
SH
export WORK=$work
python3 grow.py "$work/look.sh" >memory/random.yaml
least=$(cat least)
printf 'weft: 1\nnodes: [{ name: n, memory: %s, disk: 100 }]\n' "$least" >node.yaml
"$weft" plan memory/random.yaml --on node.yaml --with tree -o random.json >out 2>err && written=$(awk '$1 == "written" { print $2 }' out) && [ "$written" -gt 0 ]
ok $? "a tree of 30 tasks that does not fit: $written bytes are planned to be written out"
"$weft" run memory/random.yaml --plan random.json --in-memory -m "$least" --spill disk --no-limits >out 2>err
ok $? "is carried out in as much memory as its largest task needs"
grep -q "out of memory as planned: $written bytes written, $written read again" err
ok $? "as many bytes are written and read as the plan says"
awk -v least="$least" '{ most = $2 > most ? $2 : most; out = $3 > out ? $3 : out } END { print NR " tasks, " most " bytes at most, " out " out"; exit !(NR == 30 && most <= least && out > 0) }' seen >out
ok $? "no task found more in memory than the run has, and files were outside"
[ -z "$(ls disk)" ] && [ -z "$(ls memory | grep f)" ]
ok $? "nothing of it is left"

# a task fails: what is out comes back, the next run goes on with it; and attempts after a failure
mkdir again
sed 's/{name: \([a-e]\), size: \([0-9]\)/&, temporary: true/g
s/  x: { run: "/&[ -e $GO ] || exit 1; /
s/  y: { run: "/&if mkdir $LOG.d 2>\/dev\/null; then exit 1; fi; /
s/  y: {/  y: { retries: 2,/' tree.yaml >again/tree.yaml
export GO=$work/go
again() { "$weft" run again/tree.yaml --plan tree.json --in-memory -m 16 --spill disk --no-limits -q --retry-delay 0 >out 2>err; }
: >log
again
[ $? = 1 ] && [ -e again/b ] && [ -e again/a ] && [ -z "$(ls disk)" ]
ok $? "a task fails while a file is out: it is back"
touch go
again && [ "$(paste -sd' ' log)" = "$order" ] && [ -d log.d ]
ok $? "the next run goes on from there, also past an attempt of the reader that fails"
# somebody removes what is out
rm -rf again/.weft log.d
sed -i 's|  u: { run: "|&rm $DISK/*/*; |' again/tree.yaml
DISK=$work/disk "$weft" run again/tree.yaml --plan tree.json --in-memory -m 16 --spill disk --no-limits -q --retry-delay 0 >out 2>err
[ $? = 1 ] && grep -q 'weft-spill' err
ok $? "a file that is not there any more: the task that reads it fails, and it is named"
"$weft" run again/tree.yaml --plan tree.json --in-memory -m 16 --spill disk --follow order -q >out 2>err
[ $? = 3 ] && grep -q 'needs --follow strict' err
ok $? "not with --follow order: exit 3"
echo "1..$count"
exit "$failed"
