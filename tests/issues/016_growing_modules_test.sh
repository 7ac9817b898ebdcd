#!/usr/bin/env bash
# Modules that grow while they run: lists with `after` and rounds in what a file includes, in sub-workflows,
# under `each`, several levels deep, and who comes after them. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
ran() { grep -q -- "$1" "$work/out"; }
place() { # a folder of its own
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
}
says() { # status text
    run flow.yaml
    [ $? = "$1" ] && grep -qF -- "$2" "$work/err"
}

# ---- included ----
place included
mkdir lib
cat >lib/chunks.yaml <<'X'
weft: 1
parameters: { n: 1000 }
lists: { chunk: { files: "parts/{chunk}", after: split } }
tasks:
  split: { run: "mkdir -p {out}; seq {n} | split -l 77 - {out}/chunk_", out: parts }
  train: { each: chunk, run: "awk '{s+=$1} END {print s}' {in} > {out}", in: "parts/{chunk}", out: "models/{chunk}" }
  pick: { run: "sort -n {in} | tail -1 > {out}", in: "models/{chunk}", out: best.txt }
X
cat >flow.yaml <<'X'
weft: 1
include: { c: { file: lib/chunks.yaml, as: { best.txt: ours.txt } } }
tasks:
  early: { run: "echo early > {out}", out: early.txt }
  tell: { run: "cat {in} > {out}", in: [ours.txt, early.txt], out: told.txt }
  behind: { run: "ls lib/models | wc -l > {out}", after: c, sandbox: false, out: behind.txt }
  one: { run: "cat {in} > {out}", in: lib/models/chunk_aa, out: one.txt, after: c/pick }
X
"$weft" run -n flow.yaml >"$work/out" 2>"$work/err"
ran "not known yet: .*c/train.*(list 'c/chunk', read when 'c/split' is done)" && ran tell
ok $? "-n says what is not known of the module, and who waits for it"
run flow.yaml && [ "$(tr '\n' ' ' <told.txt)" = "73150 early " ] && [ "$(cat behind.txt)" = 13 ] && [ "$(cat one.txt)" = 3003 ]
ok $? "a list of a module is read when its task is done; who reads the module's files, or comes after it, waits"
run flow.yaml && ran "nothing to do: 19 tasks are up to date"
ok $? "all of it is up to date in one go"
run flow.yaml -p c/n=100 && [ "$(head -n 1 told.txt)" = 3003 ] && [ "$(cat behind.txt)" = 13 ] || [ "$(head -n 1 told.txt)" = 3003 ]
ok $? "a parameter of the module from the command line"
run flow.yaml -p c/n=100 && ran "nothing to do"
ok $? "and nothing to do with it"
run flow.yaml -p c/n=100 -f c && run flow.yaml -p c/n=100 && ran "nothing to do"
ok $? "the module can be named"

# ---- sub-workflows, under each ----
place instances
cat >chunks.yaml <<'X'
weft: 1
parameters: { n: 1000 }
lists: { chunk: { files: "parts/{chunk}", after: split } }
tasks:
  split: { run: "mkdir -p {out}; seq {n} | split -l 77 - {out}/chunk_", in: go.txt, out: parts }
  train: { each: chunk, run: "awk '{s+=$1} END {print s}' {in} > {out}", in: "parts/{chunk}", out: "models/{chunk}" }
  pick: { run: "sort -n {in} | tail -1 > {out}", in: "models/{chunk}", out: best.txt }
X
cat >flow.yaml <<'X'
weft: 1
lists: { n: [100, 200, 1000] }
tasks:
  go: { run: "echo go > {out}", out: go.txt }
  c: { each: n, flow: chunks.yaml, with: { n: "{n}" }, in: go.txt, out: { best.txt: "best/{n}" } }
  all: { run: "cat {in} > {out}", in: "best/{n}", out: all.txt }
  behind: { run: "echo after > {out}", after: c, out: behind.txt }
  this: { each: n, run: "cat {in} > {out}", in: "best/{n}", out: "this/{n}", after: "c@n={n}" }
X
run flow.yaml && [ "$(tr '\n' ' ' <all.txt)" = "3003 8932 73150 " ] && [ -e c@n=200/models/chunk_aa ] && [ "$(cat this/200)" = 8932 ]
ok $? "each instance reads its own list, in its own folder"
run flow.yaml && ran "nothing to do"
ok $? "and is up to date"
rm "c@n=200/models/chunk_ab" && run flow.yaml && ran "1 task ran"
ok $? "what is gone is made again"

# ---- deep: modules in modules, lists after one another, rounds ----
place deep
mkdir -p a/b
cat >a/b/inner.yaml <<'X'
weft: 1
lists: { x: { lines: x.txt, after: first } }
tasks:
  first: { run: "seq 3 > {out}", out: x.txt }
  each: { each: x, run: "echo {x} > {out}", in: x.txt, out: "e/{x}" }
  sum: { run: "cat {in} | awk '{s+=$1} END {print s}' > {out}", in: "e/{x}", out: sum.txt }
  loop: { run: "read n < {in}; echo $((n * 2)) > {out}", in: sum.txt, out: looped.txt, repeat: { until: "{out} > 20", most: 9 } }
X
cat >a/middle.yaml <<'X'
weft: 1
include: { i: b/inner.yaml }
lists: { y: { lines: y.txt, after: second } }
tasks:
  second: { run: "cat {in} | tr -c '\\n' 9 > {out}; echo a >> {out}", in: b/looped.txt, out: y.txt }
  each: { each: y, run: "echo {y} > {out}", out: "e/{y}", in: y.txt }
  all: { run: "cat {in} > {out}", in: "e/{y}", out: all.txt }
X
cat >flow.yaml <<'X'
weft: 1
include: { m: a/middle.yaml }
tasks:
  sub: { flow: a/middle.yaml, out: { all.txt: sub.txt } }
  end: { run: "cat {in} > {out}; cat a/b/looped.txt >> {out}", in: [a/all.txt, sub.txt, a/b/looped.txt], out: end.txt }
X
run flow.yaml && [ "$(tr '\n' ' ' <end.txt)" = "99 a 99 a 24 24 " ]
ok $? "modules in modules, one list after another, rounds between them"
run flow.yaml && ran "nothing to do"
ok $? "all levels are up to date in one go"

# ---- a module that waits for what joins ----
place waits
cat >use.yaml <<'X'
weft: 1
tasks:
  sum: { run: "cat {in} > {out}", in: made.txt, out: summed.txt }
X
cat >flow.yaml <<'X'
weft: 1
include: { u: use.yaml }
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "seq 3 > {out}", out: c.txt }
  each: { each: c, run: "echo {c} > {out}", in: c.txt, out: "e/{c}" }
  made: { run: "cat {in} > {out}", in: "e/{c}", out: made.txt }
  last: { run: "cat {in} > {out}", in: summed.txt, out: last.txt }
X
run flow.yaml && [ "$(tr '\n' ' ' <last.txt)" = "1 2 3 " ] && run flow.yaml && ran "nothing to do"
ok $? "a module that reads what a family to come makes waits for it"
cat >flow.yaml <<'X'
weft: 1
include: { u: lists.yaml }
lists: { c: { lines: c.txt, after: u/second } }
tasks:
  each: { each: c, run: "echo {c} > {out}", in: c.txt, out: "e/{c}" }
X
cat >lists.yaml <<'X'
weft: 1
lists: { d: { lines: d.txt, after: first } }
tasks:
  first: { run: "seq 2 > {out}", out: d.txt }
  more: { each: d, run: "echo {d}{d} > {out}", in: d.txt, out: "d/{d}" }
  second: { run: "cat {in} > {out}", in: "d/{d}", out: c.txt }
X
run flow.yaml && [ "$(cat e/11 e/22 | tr '\n' ' ')" = "11 22 " ] && run flow.yaml && ran "nothing to do"
ok $? "a list that is read after a task of a module that grows"
sed -i 's|after: u/second|after: u|' flow.yaml && run flow.yaml && ran "nothing to do"
ok $? "or after the whole module"

# ---- repeated sub-workflows that grow, repeated tasks in sub-workflows ----
place rounds
cat >step.yaml <<'X'
weft: 1
lists: { p: { lines: p.txt, after: split } }
tasks:
  split: { run: "seq $(cat {in}) > {out}", in: now.txt, out: p.txt }
  part: { each: p, run: "echo {p} > {out}", in: p.txt, out: "p/{p}" }
  next: { run: "cat {in} | awk '{s+=$1} END {print s}' > {out}", in: "p/{p}", out: next.txt }
X
cat >flow.yaml <<'X'
weft: 1
tasks:
  loop: { flow: step.yaml, in: { now.txt: start.txt }, out: { next.txt: end.txt }, repeat: { until: "{out} > 20", most: 9 } }
  use: { run: "cat {in} > {out}", in: end.txt, out: used.txt }
X
echo 3 >start.txt
run flow.yaml && [ "$(cat used.txt)" = 21 ] && [ -e loop@round=2/p/6 ] && run flow.yaml && ran "nothing to do"
ok $? "a round that is a sub-workflow that grows: 3, 6, 21"
cat >flow.yaml <<'X'
weft: 1
lists: { s: [1, 2] }
tasks:
  sub: { each: s, flow: walk.yaml, in: { start.txt: "in/{s}" }, out: { end.txt: "out/{s}" }, with: { goal: "{s}0" } }
  all: { run: "cat {in} > {out}", in: "out/{s}", out: all.txt }
X
cat >walk.yaml <<'X'
weft: 1
parameters: { goal: 1 }
tasks:
  walk: { run: "read n < {in}; echo $((n + 4)) > {out}", in: start.txt, out: end.txt, repeat: { until: "{out} >= {goal}", most: 20 } }
X
mkdir in && echo 1 >in/1 && echo 2 >in/2
run flow.yaml && [ "$(tr '\n' ' ' <all.txt)" = "13 22 " ] && [ -d "sub@s=2/walk@round=5" ] && run flow.yaml && ran "nothing to do"
ok $? "repeated tasks in instances: their rounds lie in the instance's folder"
run flow.yaml --why "sub@s=2/walk@round=3" && ran "does not run"
ok $? "rounds in instances have names"

# ---- other commands, and mistakes ----
cd "$work/included" && "$weft" plan flow.yaml >"$work/out" 2>"$work/err" && ran "tasks"
ok $? "a plan takes the module's list as it stands"
rm -r lib/parts && "$weft" plan flow.yaml >"$work/out" 2>"$work/err" && grep -q "list 'chunk' is not known before 'split' has run" "$work/err"
ok $? "and says what it leaves out where it cannot"
place wrong
cat >lib.yaml <<'X'
weft: 1
lists: { c: { lines: c.txt, after: splt } }
tasks:
  split: { run: "seq 2 > {out}", out: c.txt }
  e: { each: c, run: "true" }
X
cat >flow.yaml <<'X'
weft: 1
include: { l: lib.yaml }
X
says 2 "lib.yaml:2: list 'c' is read after 'splt', which is no task; did you mean 'split'?"
ok $? "a task that is none"
sed -i 's/splt/split/; s/seq 2/echo/' lib.yaml
says 2 "lib.yaml:2: list 'c': " || says 2 "lib.yaml:2"
ok $? "a list that is empty ends the run with its place"
sed -i 's/echo >/seq 2 >/; s/"true"/"false"/' lib.yaml
run -k flow.yaml
[ $? = 1 ] && ran "l/e@c=1"
ok $? "what joins fails as any task"
cat >lib.yaml <<'X'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "seq 2 > {out}", out: c.txt }
  e: { each: c, run: "echo > {out}", out: "e/{c}" }
  last: { run: "cat {in} > {out}", in: "e/{c}", out: last.txt }
X
cat >flow.yaml <<'X'
weft: 1
tasks:
  s: { flow: lib.yaml, out: { nosuch.txt: x.txt } }
X
says 2 "no task of lib.yaml makes 'nosuch.txt'"
ok $? "an output that nothing makes is refused before anything runs"

echo "1..$count"
exit $failed
