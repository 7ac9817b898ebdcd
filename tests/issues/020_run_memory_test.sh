#!/usr/bin/env bash
# Issue 20, point 5: in a run whose files are in memory, tasks and files keep to it together; point 4: a run follows the plan of a tree. What
# happened is judged from the run's own events. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 9; fi
}
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
[ $? = 3 ] && grep -q 'writes files to disk' err
ok $? "with files in memory nobody writes them out: exit 3"
echo "1..$count"
exit "$failed"
