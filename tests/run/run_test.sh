#!/usr/bin/env bash
# `weft run` from the outside: real commands, never twice, why, plans, limits, signals. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }

mkdir "$work/a"
cat >"$work/a/flow.yaml" <<'END'
weft: 1
name: words
parameters: { size: 3 }
tasks:
  split:
    run: head -n {size} {in} > {out}
    in: [text.txt]
    out: [part.txt]
  upper:
    run: tr a-z A-Z < {in} > {out}
    in: [part.txt]
    out: [upper.txt]
  count:
    run: wc -l < {in} > {out}
    in: [part.txt]
    out: [results/count.txt]
  report:
    run: cat {in} > {out}
    in: [results/count.txt, upper.txt]
    out: [report.txt]
END
printf 'one\ntwo\nthree\nfour\n' >"$work/a/text.txt"

run "$work/a/flow.yaml" -n
ok $? "a dry run" && [ ! -e "$work/a/report.txt" ]
ok $? "makes nothing"
grep -q "would run 4 of 4 tasks" "$work/out" && grep -q "predicted:" "$work/out"
ok $? "says what would run and how long it will take"
run "$work/a/flow.yaml"
ok $? "a run, from another folder"
[ "$(cat "$work/a/report.txt")" = "$(printf '3\nONE\nTWO\nTHREE')" ]
ok $? "its result, inputs in the order of the file"
grep -q "4 tasks ran" "$work/out" && grep -q "critical path" "$work/out"
ok $? "a summary"
run "$work/a/flow.yaml" && grep -q "nothing to do: 4 tasks are up to date" "$work/out"
ok $? "again: nothing to do"
sed -i 's/size: 3/size: 2/' "$work/a/flow.yaml"
run "$work/a/flow.yaml" --why split && grep -q "split runs: its command, its parameters" "$work/out"
ok $? "--why: the parameter"
run "$work/a/flow.yaml" --why report.txt && grep -q "report runs if 'upper'\|report runs if 'count'" "$work/out"
ok $? "--why of a file speaks of its maker"
run "$work/a/flow.yaml" --why splt
[ $? = 2 ] && grep -q "did you mean 'split'" "$work/err"
ok $? "--why of nothing suggests"
run "$work/a/flow.yaml" && [ "$(cat "$work/a/results/count.txt")" = 2 ]
ok $? "a changed parameter runs what depends on it"
run "$work/a/flow.yaml" --force && grep -q "4 tasks ran" "$work/out"
ok $? "--force runs all"
printf 'zero\n' | cat - "$work/a/text.txt" >"$work/new" && cp "$work/new" "$work/a/text.txt"
run "$work/a/flow.yaml" --json && [ "$(grep -c '"event": *"task"' "$work/out")" -ge 3 ]
ok $? "--json streams events"
tail -n 1 "$work/out" | grep -q '"done"'
ok $? "and ends with the outcome"
(cd "$work/a" && run flow.yaml -q) && [ ! -s "$work/out" ]
ok $? "-q says nothing"
run "$work/a/flow.yaml" -n --json && grep -q '"schema": "weft-dry-run/1"' "$work/out"
ok $? "a dry run as JSON"

# plans and orders
"$weft" plan "$work/a/flow.yaml" --on 1 --with heft -o "$work/plan.json" >/dev/null 2>&1
rm "$work/a/report.txt"
run "$work/a/flow.yaml" --plan "$work/plan.json"
ok $? "following a plan"
run "$work/a/flow.yaml" --force --with heft && run "$work/a/flow.yaml" --force --order ic
ok $? "planning first; an order"
run "$work/a/flow.yaml" --with heft --order ic
[ $? = 2 ]
ok $? "but not both"
run "$work/a/flow.yaml" --order heft
[ $? = 2 ] && grep -q "makes plans, not orders" "$work/err"
ok $? "heft is no order"

# order of a plan is really followed: independent tasks on one core
mkdir "$work/o"
{ printf 'weft: 1\ntasks:\n'; for i in 1 2 3 4 5; do printf '  t%s: {run: "echo t%s >> $WEFT_FOLDER/trail", priority: %s}\n' $i $i $i; done; } >"$work/o/flow.yaml"
run "$work/o/flow.yaml" -j 1 && [ "$(tr '\n' ' ' <"$work/o/trail")" = "t5 t4 t3 t2 t1 " ]
ok $? "priorities of the workflow come first"
cat >"$work/o/plan.json" <<'END'
{ "schema": "weft-plan/1", "kind": "order", "order": ["t3", "t1", "t5", "t2", "t4"] }
END
sed -i 's/, priority: .//' "$work/o/flow.yaml"
rm "$work/o/trail"
run "$work/o/flow.yaml" -j 1 --force --plan "$work/o/plan.json" && [ "$(tr '\n' ' ' <"$work/o/trail")" = "t3 t1 t5 t2 t4 " ]
ok $? "and a plan's order is followed"

# failures
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'END'
weft: 1
tasks:
  good: { run: echo fine > {out}, out: [good.txt] }
  bad: { run: 'echo it broke >&2; exit 3', out: [bad.txt] }
  child: { run: cp {in} {out}, in: [bad.txt], out: [child.txt] }
END
sed -i "s/run: echo fine > {out}/run: 'echo fine > {out}'/; s/run: cp {in} {out}/run: 'cp {in} {out}'/" "$work/f/flow.yaml"
run "$work/f/flow.yaml" -k
[ $? = 1 ] && grep -q "it broke" "$work/out" && grep -q "exit status 3" "$work/out" && [ -e "$work/f/good.txt" ]
ok $? "a failure shows its status and the end of its log, the rest goes on"
grep -q "1 task failed, 1 not run because of that" "$work/err"
ok $? "and what follows from it"
run "$work/f/none.yaml"
[ $? = 2 ]
ok $? "no such file: 2"
printf 'weft: 1\ntasks: {a: {out: [x], work: 1}}\n' >"$work/f/abstract.yaml"
run "$work/f/abstract.yaml"
[ $? = 2 ] && grep -q "no task has a command" "$work/err"
ok $? "an abstract graph cannot run"
printf 'weft: 1\ntasks: {a: {run: "cat {in}", in: [missing.txt]}}\n' >"$work/f/missing.yaml"
run "$work/f/missing.yaml"
[ $? = 2 ] && grep -q "missing.yaml:2: task 'a' reads 'missing.txt'" "$work/err"
ok $? "a missing input is an error with its place"
run "$work/f/flow.yaml" --jobs 0
[ $? = 2 ]
ok $? "no cores: 2"

# temporary files and a small disk
mkdir "$work/t"
{ printf 'weft: 1\ntasks:\n'
  for i in 1 2 3 4 5 6; do
      printf '  make%s: {run: "head -c 100000 /dev/zero > {out}", out: [{name: big%s, size: 100k, temporary: true}]}\n' $i $i
      printf '  use%s: {run: "wc -c < {in} > {out}", in: [big%s], out: [n%s]}\n' $i $i $i
  done; } >"$work/t/flow.yaml"
run "$work/t/flow.yaml" --disk 250k -j 2 && [ ! -e "$work/t/big1" ] && [ "$(cat "$work/t/n6")" = 100000 ]
ok $? "temporary files come and go on a small disk"
run "$work/t/flow.yaml" --disk 50k --force
[ $? = 1 ] && grep -q "raise --disk" "$work/err"
ok $? "a disk that is too small is said"

# signals: once graceful, no child left
mkdir "$work/s"
printf 'weft: 1\ntasks:\n  a: {run: sleep 1.571}\n  b: {run: sleep 300.571, after: [a]}\n' >"$work/s/flow.yaml"
"$weft" run "$work/s/flow.yaml" -j 1 >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.6
kill -INT $pid
wait $pid
[ $? = 1 ] && grep -q "stopped; 1 of 2 tasks are left" "$work/err"
ok $? "SIGINT once: what runs may end"
"$weft" run "$work/s/flow.yaml" -j 1 >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.6
kill -INT $pid
sleep 0.3
kill -INT $pid
wait $pid
[ $? = 1 ] && ! pgrep -f "sleep 300.571" >/dev/null
ok $? "twice: everything ends, nothing is left behind"

# crash and resume
mkdir "$work/c"
{ printf 'weft: 1\ntasks:\n'; for i in $(seq 40); do printf '  t%s: {run: "echo x >> $WEFT_FOLDER/count%s; sleep 0.05; echo %s > {out}", out: [f%s]}\n' $i $i $i $i; done; } >"$work/c/flow.yaml"
"$weft" run "$work/c/flow.yaml" -j 2 -q >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.5
kill -9 $pid
wait $pid 2>/dev/null
run "$work/c/flow.yaml" --resume -j 2 && grep -q "was cut off; going on with" "$work/err"
ok $? "--resume after kill -9"
[ "$(cat "$work"/c/f[0-9]* | wc -l)" = 40 ] && [ "$(cat "$work"/c/count* | wc -l)" -le 42 ]
ok $? "everything is there, and at most what ran at that moment ran twice"

# clean
run "$work/c/flow.yaml" -f -q
"$weft" clean "$work/c/flow.yaml" -n >"$work/out" 2>"$work/err" && grep -q "would remove" "$work/out"
ok $? "clean -n"
"$weft" clean "$work/c/flow.yaml" >"$work/out" 2>"$work/err" && [ -e "$work/c/f1" ] && run "$work/c/flow.yaml" && grep -q "nothing to do" "$work/out"
ok $? "clean keeps what is known"
"$weft" clean "$work/c/flow.yaml" --all --json >"$work/out" 2>"$work/err" && [ ! -e "$work/c/f1" ] && grep -q '"files": 40' "$work/out"
ok $? "clean --all does not"

# history, prediction, report
"$weft" history >"$work/out" 2>"$work/err" && grep -q words "$work/out"
ok $? "the history knows the runs"
"$weft" predict "$work/a/flow.yaml" >"$work/out" 2>"$work/err" && grep -q "split" "$work/out"
ok $? "and predicts"
"$weft" report last -o "$work/report.html" >"$work/out" 2>"$work/err" && grep -qi "<html" "$work/report.html"
ok $? "a page about the last run"
run "$work/a/flow.yaml" -f --no-history && ! grep -q "weft report" "$work/out"
ok $? "--no-history leaves no record"

# a million would be too slow here: ten thousand calls, and again
mkdir "$work/m"
cp "$WEFT_BUILD/tests/test_functions.so" "$work/m/lib.so"
{ printf 'weft: 1\ntasks:\n'; for i in $(seq 10000); do printf '  t%s: {call: "lib.so:nothing"}\n' $i; done; } >"$work/m/flow.yaml"
run "$work/m/flow.yaml" && grep -q "10,000 tasks ran" "$work/out"
ok $? "ten thousand calls"
run "$work/m/flow.yaml" && grep -q "nothing to do: 10,000 tasks" "$work/out"
ok $? "and nothing the second time"
echo "1..$count"
exit $failed
