#!/usr/bin/env bash
# Workflows that grow while they run: lists that are read when a task is done. What joins, when, what is
# up to date afterwards, what is refused. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
place() { # a folder of its own
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
}
says() { # status text
    run flow.yaml
    [ $? = "$1" ] && grep -qF -- "$2" "$work/err"
}

# ---- the pipeline whose number of parts nobody knows, as it is written ----
place chunks
cat >flow.yaml <<'E'
weft: 1
name: chunks
parameters: { n: 1000 }                              # weft run flow.yaml -p n=5000
lists: { chunk: { files: "parts/{chunk}", after: split } }
tasks:
  split: { run: "mkdir -p {out}; seq {n} | split -l 77 - {out}/chunk_", out: parts }
  train: { each: chunk, run: "awk '{s+=$1} END {print s}' {in} > {out}", in: "parts/{chunk}", out: "models/{chunk}" }
  pick: { run: "sort -n {in} | tail -1 > {out}", in: "models/{chunk}", out: best.txt }
E
run -q flow.yaml && [ "$(cat best.txt)" = 73150 ] && [ "$(find models -type f | wc -l)" = 13 ]
ok $? "a list is read when its task is done, and what runs through it joins"
run flow.yaml && grep -q "nothing to do: 15 tasks are up to date" "$work/out"
ok $? "the second time there is nothing to do, in one go"
run flow.yaml -p n=2000 && [ "$(cat best.txt)" = 147225 ] && grep -q "16 tasks ran, 12 reused" "$work/out"
ok $? "more parts: those that are the same are reused, the others run"
run flow.yaml -p n=100 && [ "$(cat best.txt)" = 3003 ] && run flow.yaml -p n=100 && grep -q "nothing to do: 4 tasks" "$work/out"
ok $? "fewer parts: what vanished is not gathered"
rm models/chunk_aa && run flow.yaml -p n=100 && grep -q "1 task ran, 3 reused" "$work/out" && [ -e models/chunk_aa ]
ok $? "an output of a member that is gone is made again"
run flow.yaml -p chunk=chunk_aa -p n=100 && [ "$(cat best.txt)" = 3003 ]
ok $? "values that are given take the place of what is read"

# ---- several levels, lines and tables, one family before another ----
place levels
cat >flow.yaml <<'E'
weft: 1
lists:
  one: { lines: one.txt, after: first }
  two: { table: two.tsv, after: second }
tasks:
  first: { run: "printf 'a\\nb\\n' > {out}", out: one.txt }
  early: { run: "echo early > {out}", out: early.txt }
  make: { each: one, run: "echo {one} > {out}", in: early.txt, out: "made/{one}" }
  second: { run: "(printf 'name\\tsize\\n'; sed 's/$/\\t7/' {in}) > {out}", in: "made/{one}", out: two.tsv, after: make }
  use: { each: two, run: "echo {name} {size} > {out}", out: "used/{name}" , after: [second, "make@one={name}"] }
  grid: { each: [one, name], run: "echo {one}{name} > {out}", in: ["made/{one}", "used/{name}"], out: "grid/{one}{name}" }
  all: { run: "cat {in} > {out}", in: ["grid/{one}{name}", early.txt], out: all.txt }
  last: { run: "cp {in} {out}", in: all.txt, out: last.txt }
E
run flow.yaml && [ "$(tr '\n' ' ' <last.txt)" = "aa ab ba bb early " ] && [ "$(cat used/b)" = "b 7" ]
ok $? "lists follow one another: lines, then a table whose columns nobody knew"
run flow.yaml && grep -q "nothing to do: 13 tasks" "$work/out"
ok $? "all levels are up to date in one go"
rm one.txt && run flow.yaml && grep -q "1 task ran, 12 reused" "$work/out"
ok $? "a list that is made again and is the same changes nothing"

# ---- mistakes ----
place wrong
cat >flow.yaml <<'E'
weft: 1
lists: { c: { lines: l.txt, after: split } }
tasks:
  split: { run: "printf 'x\\nx\\n' > {out}", out: l.txt }
  t: { each: c, run: "echo {c}" }
E
says 2 "flow.yaml:2: list 'c' has the value 'x' twice, the second time in line 2"
ok $? "a value twice ends the run with its place, and status 2"
says 2 "twice" && ! grep -q "ran" "$work/out"
ok $? "what had run stays done"
sed -i 's/x\\\\n'"'"'/y\\\\n'"'"'/' flow.yaml && run flow.yaml && grep -q "3 tasks ran" "$work/out"
ok $? "mended, it goes on"
sed -i 's/after: split/after: spilt/' flow.yaml
says 2 "list 'c' is read after 'spilt', which is no task; did you mean 'split'?"
ok $? "a task that is none"
sed -i 's/after: spilt/after: t/' flow.yaml
says 2 "a cycle"
ok $? "a list that waits for what runs through it"
sed -i 's/{ lines: l.txt, after: t }/{ from: 1, to: 3, after: split }/' flow.yaml
says 2 "\`after\` goes with files, lines or table"
ok $? "after of a list that is in the file"
cat >flow.yaml <<'E'
weft: 1
lists: { c: { table: t.tsv, after: split } }
tasks:
  split: { run: "printf 'a\\tb\\n1\\t2\\n' > {out}", out: t.tsv }
  t: { each: c, run: "cat {in}", in: "x/{nosuch}" }
E
says 2 "flow.yaml:5: task 't@a=1': an entry of in: {nosuch} is no variable"
ok $? "a column that the table does not have"
cat >flow.yaml <<'E'
weft: 1
lists: { c: { files: "d/{c}", after: split } }
tasks:
  split: { run: "mkdir d", out: d }
  t: { each: c, run: "cat {in}", in: "d/{c}" }
E
says 2 "no file is like d/{c}"
ok $? "a list that is empty"
cat >flow.yaml <<'E'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "echo a > {out}", out: c.txt }
  "t@c=a": { run: "true" }
  t: { each: c, run: "true" }
E
says 2 "flow.yaml:6: task 't@c=a': a task of this name is in the run already"
ok $? "a name twice"
cat >flow.yaml <<'E'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "echo a > {out}", out: c.txt }
  reads: { run: "cat {in}", in: made/b }
  t: { each: c, run: "echo > {out}", out: "made/{c}" }
E
mkdir -p made && echo b >made/b && says 2 "no task makes 'made/b'" || grep -q "done" "$work/out"
ok $? "who reads what a pattern could make waits until it is known"

# ---- failures ----
place fails
cat >flow.yaml <<'E'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  bad: { run: "false", out: bad.txt }
  split: { run: "printf '1\\n2\\n' > {out}", out: c.txt }
  t: { each: c, run: "echo {c} > {out}", out: "t/{c}", after: split }
  u: { each: c, run: "cat {in} > {out}", in: ["t/{c}", bad.txt], out: "u/{c}" }
  v: { run: "cat {in} > {out}", in: "u/{c}", out: v }
E
run -k flow.yaml; [ $? = 1 ] && [ -e t/1 ] && [ -e t/2 ] && grep -q "3 tasks ran, 1 failed, 3 not run" "$work/out" && [ ! -e u/1 ]
ok $? "what joins below a failed task is not run, the rest is"
sed -i 's/"false"/"echo x > {out}"/' flow.yaml && run flow.yaml && [ "$(tr '\n' ' ' <v)" = "1 x 2 x " ]
ok $? "mended, the rest runs"

# ---- temporary files stay until all who read them are known ----
place temporary
cat >flow.yaml <<'E'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  base: { run: "echo base > {out}", out: { name: base.txt, temporary: true } }
  early: { run: "cat {in} > {out}", in: base.txt, out: early.txt }
  split: { run: "cat {in} > {out}", in: list.txt, out: c.txt, after: early }
  t: { each: c, run: "cat {in} > {out}", in: base.txt, out: "t/{c}" }
E
echo a >list.txt && run flow.yaml && [ "$(cat t/a)" = base ] && [ ! -e base.txt ]
ok $? "a temporary file is there for who joins, and goes when all have read it"
run flow.yaml && grep -q "nothing to do" "$work/out" && echo b >>list.txt && run flow.yaml && [ "$(cat t/b)" = base ] && [ ! -e base.txt ]
ok $? "it is made again when a list grows"

# ---- what decides is not taken; targets that are not known yet ----
place untaken
cat >flow.yaml <<'E'
weft: 1
parameters: { go: "no" }
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "echo a > {out}", out: c.txt, when: "{go} == yes" }
  t: { each: c, run: "echo {c} > {out}", out: "t/{c}" }
E
run flow.yaml && grep -q "'t' did not run: list 'c'" "$work/err"
ok $? "what decides is not taken: a line says what did not run"
run flow.yaml && grep -q "'t' did not run: list 'c'" "$work/err"
ok $? "and again the next time"
run flow.yaml -p go=yes t/a && [ "$(cat t/a)" = a ] && grep -q "'t/a' is not known yet" "$work/err"
ok $? "a target that a list may bring"
run flow.yaml -p go=yes nosuch; [ $? = 2 ] && grep -q "'nosuch' is no task" "$work/err"
ok $? "a target that nothing can make"
"$weft" predict flow.yaml -p go=yes >"$work/out" 2>"$work/err" && grep -Eq "^t@c=a +t .* [1-9][0-9]* +[a-z]" "$work/out"
ok $? "the history knows what joined"

# ---- a task writes a file of tasks ----
place written
cat >flow.yaml <<'E'
weft: 1
tasks:
  plan: { run: "cp {in} {out}", in: source.yaml, out: more.yaml }
  more: { tasks: more.yaml, after: plan }
  end: { run: "cat {in} > {out}", in: b.txt, out: end.txt, after: more }
E
cat >source.yaml <<'E'
weft: 1
lists: { x: [1, 2] }
tasks:
  a: { each: x, run: "echo {x} > {out}", out: "a/{x}" }
  b: { run: "cat {in} > {out}", in: "a/{x}", out: b.txt }
E
run flow.yaml && [ "$(tr '\n' ' ' <end.txt)" = "1 2 " ] && grep -q "5 tasks ran" "$work/out"
ok $? "the tasks of the file join, and what comes after them"
run flow.yaml && grep -q "nothing to do: 5 tasks" "$work/out" && "$weft" show flow.yaml --tasks | grep -q "^more/a@x=2"
ok $? "the next time there is nothing to do, and it is shown as it stands"
sed -i 's/\[1, 2\]/[1, 2, 3]/' source.yaml && run flow.yaml && [ "$(tr '\n' ' ' <end.txt)" = "1 2 3 " ] && grep -q "4 tasks ran, 2 reused" "$work/out"
ok $? "written anew, it is read anew"
sed -i 's/each: x/each: y/' source.yaml && says 2 "more.yaml:4: task 'more/a': each names 'y'"
ok $? "a mistake in it is told with its own place"
sed -i 's/after: plan/after: nobody/' flow.yaml && says 2 "'nobody' is no task"
ok $? "a file that no task writes"
sed -i 's/after: nobody/after: plan, run: x/' flow.yaml && says 2 "unknown key 'run'"
ok $? "what else such an entry says"

# ---- commands that do not run ----
place other
cp "$work/chunks/flow.yaml" .
"$weft" run -n flow.yaml >"$work/out" 2>"$work/err"; grep -q "not known yet" "$work/out" && grep -q "train, pick" "$work/out"
ok $? "a dry run says what is not known yet"
"$weft" show flow.yaml >"$work/out" 2>"$work/err"; grep -q "list 'chunk' is not known before 'split' has run: 'train', 'pick' are left out here" "$work/err"
ok $? "a file that never ran: show says what is left out"
run -q flow.yaml && "$weft" show flow.yaml >"$work/out" 2>"$work/err" && grep -q "tasks  *15" "$work/out"
ok $? "after a run it is shown as it stands"
"$weft" run -n flow.yaml -p n=3000 >"$work/out" 2>"$work/err"; grep -q "13 last time" "$work/out"
ok $? "a dry run says how many there were last time"
run --on local:2 flow.yaml && grep -q "nothing to do" "$work/out"
ok $? "for agents, too, there is nothing left to do (016_growth_cluster_test has the rest)"

echo "1..$count"
exit $failed
