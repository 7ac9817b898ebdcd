#!/usr/bin/env bash
# `weft sim` of workflows that grow: what joins comes after who decides, in plans and among schedulers; what only a run tells is
# assumed as it was the last time or as --assume says, is told, and is never left out without a word. Tasks from tasks in modules.
# Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
sim() { "$weft" sim "$@" >"$work/out" 2>"$work/err"; }
takes() { # makespan in the JSON of the last simulation
    grep -q "\"makespan\": $1,\$" "$work/out"
}
told() { grep -qF -- "$1" "$work/err"; }
place() { mkdir -p "$work/$1" && cd "$work/$1" || exit 1; }

# ---- a list: nothing of the members reads what the deciding task makes, and still they come after it ----
place list
cat >flow.yaml <<'X'
weft: 1
name: chunks
lists: { chunk: { lines: list.txt, after: split } }
tasks:
  split: { run: "seq 5 > {out}", out: list.txt, work: 10 }
  train: { each: chunk, run: "echo {chunk} > {out}", out: "models/{chunk}", work: 5 }
  pick: { run: "cat {in} > {out}", in: "models/{chunk}", out: best.txt, work: 2 }
X
sim flow.yaml --on 8
ok $? "a list that is not known is simulated as far as is known"
told "'train', 'pick' are left out here; --assume chunk=20"
ok $? "... and the note says what is left out, and what can be done"
sim flow.yaml --on 8 --json && grep -q 'left out here' "$work/out"
ok $? "... in JSON, too"
sim flow.yaml --on 8 --assume chunk=5 --json && takes 17
ok $? "--assume: five values, which come after who decides: 10 + 5 + 2"
sim flow.yaml --on 8 --assume chunk=a,b --json && takes 17 && grep -q '"tasks": 4' "$work/out"
ok $? "--assume: values by name"
sim flow.yaml --on 8 -p chunk=a,b --json && takes 10
ok $? "-p gives the values, and nothing is waited for"
seq 3 >list.txt
sim flow.yaml --on 8 && told "list 'chunk' is assumed as it stands from the last run: 3 values"
ok $? "the list of the last run is taken, and said to be"
sim flow.yaml --on 8 --json && takes 17
ok $? "... and its members come after who decides"
"$weft" plan flow.yaml --on 8 --json >"$work/out" 2>"$work/err" && grep -q '"makespan": 17' "$work/out"
ok $? "a plan has that order"
"$weft" show flow.yaml --expanded >"$work/out" 2>"$work/err" && [ "$(grep -c 'after: \[split\]' "$work/out")" = 4 ]
ok $? "so does the graph that is written out"
sim flow.yaml --schedulers 4 --json && grep -q '"joined": 4' "$work/out"
ok $? "schedulers: four tasks join"
got=$(sed -n 's/.*"makespan": \([0-9.]*\),.*/\1/p' "$work/out" | head -n 1)
awk -v x="$got" 'BEGIN { exit !(x > 17 && x < 30) }'
ok $? "... when split is done: longer than the path ($got s)"
sim flow.yaml --schedulers 16 --assume chunk=5000 --policy all && grep -q 'auto' "$work/out"
ok $? "5,000 join 16 schedulers, under every policy"
! sim flow.yaml --assume chnk=5 && told "did you mean 'chunk'?"
ok $? "--assume of something that is known, or not there: an error with what is near"
! sim flow.yaml --assume chunk && told 'expected NAME=VALUE'
ok $? "--assume without a value"
! sim flow.yaml --assume chunk=1000000000 && told 'more than'
ok $? "a billion values are refused before they are made"
sed -i 's/after: split/after: splt/' flow.yaml
! sim flow.yaml && told "did you mean 'split'?"
ok $? "a list after nobody is an error also where it could be read"

# ---- several deciders, a table, several variables ----
place table
cat >flow.yaml <<'X'
weft: 1
lists: { n: [1, 2], s: { table: s.tsv, after: sheet }, f: { files: "x/{a}_{b}", after: many } }
tasks:
  sheet: { run: "true", out: s.tsv, work: 3 }
  many: { each: n, run: "true", out: "x/{n}_z", work: "{n}" }
  call: { each: s, run: "true", out: "called/{sample}", work: 1 }
  count: { each: f, run: "true", out: "counted/{a}{b}", work: 1 }
X
printf 'sample\tlane\na\t1\nb\t2\n' >mine.tsv
sim flow.yaml --on 8 --assume s=mine.tsv --assume f=4 --json && takes 4 && grep -q '"tasks": 9' "$work/out"
ok $? "a table is assumed from a file, rows by their number; they come after all who decide"
! sim flow.yaml --assume s=3 && told 'name a file that has them'
ok $? "columns of a table are not invented"
! sim flow.yaml --assume f=p,q --assume s=mine.tsv && told 'say how many rows'
ok $? "rows of several variables are counted"

# ---- rounds, decisions ----
place rounds
cat >flow.yaml <<'X'
weft: 1
tasks:
  start: { run: "echo 100 > {out}", out: start.txt, work: 1 }
  solve:
    run: "echo {round} > {out.state}"
    in: { state: start.txt }
    out: { state: state.txt }
    work: 3
    repeat: { until: "{out.state} >= 4", most: 50 }
  tell: { run: "cat {in} > {out}", in: state.txt, out: told, when: "{in} > 3", work: 1 }
  last: { run: "cat {in} > {out}", in: told, out: last, work: 1 }
  beside: { run: "cat {in} > {out}", in: [{ name: told, optional: true }], out: beside.txt, work: 2 }
X
sim flow.yaml && told 'its `most`, 50, are taken here' && told "('tell') is taken is not known"
ok $? "rounds: most of them; conditions: taken; both are said"
sim flow.yaml --on 2 --no-predict --assume solve=7 --json && takes 25
ok $? "--assume: seven rounds, 1 + 7 * 3 + 1 + 2"
sim flow.yaml --on 2 --no-predict --assume solve=7 --assume tell=no --json && takes 24 && grep -q '2 tasks are skipped' "$work/out"
ok $? "--assume: not taken, nor is what needs it; who can do without it goes on"
! sim flow.yaml --assume solve=51 && told 'expected 1 to its `most`, 50'
ok $? "more rounds than there may be"
! sim flow.yaml --assume tell=perhaps && told 'expected yes or no'
ok $? "neither yes nor no"
sim flow.yaml --schedulers 3 --no-predict 2>/dev/null
sim flow.yaml --schedulers 3 --assume solve=9 --json && grep -q '"joined": 12' "$work/out"
ok $? "schedulers: rounds join one after the other, and what follows them"
"$weft" run -q flow.yaml >/dev/null 2>&1
sim flow.yaml --on 2 --no-predict --json && takes 16 && grep -q '4 rounds are assumed' "$work/out"
ok $? "after a run: as many rounds as there were, and conditions as things stand"
sed -i 's/"{in} > 3"/"{in} > 300"/' flow.yaml
sim flow.yaml --on 2 --no-predict --json && takes 15 && grep -q 'not taken, as things stand' "$work/out"
ok $? "a condition that does not hold as things stand: not taken"

# ---- tasks from tasks, also in modules ----
place files
mkdir lib
cat >lib/grow.yaml <<'X'
weft: 1
tasks:
  plan: { run: "cp {in} {out}", in: src.yaml, out: more.yaml, work: 4 }
  more: { tasks: more.yaml, after: plan }
  end: { run: "echo x > {out}", out: end, after: more, work: 1 }
X
cat >lib/src.yaml <<'X'
weft: 1
tasks:
  a: { run: "echo a > {out}", out: a, work: 2 }
  b: { run: "cat {in} > {out}", in: a, out: b, work: 2 }
X
cp lib/src.yaml src.yaml
cat >flow.yaml <<'X'
weft: 1
lists: { s: [p, q] }
include: { m: lib/grow.yaml }
tasks:
  z: { run: "cat {in} > {out}", in: [lib/end, "ends/{s}"], out: z, work: 1 }
  f: { each: s, flow: lib/grow.yaml, in: { src.yaml: src.yaml }, out: { end: "ends/{s}" } }
X
sim flow.yaml --on 8 && told -- '--assume m/more=FILE' && told -- '--assume f/more=FILE'
ok $? "tasks of a file that is not there: left out, and said"
sim flow.yaml --on 8 --assume m/more=src.yaml --assume f/more=src.yaml --json && takes 10 && grep -q '"tasks": 13' "$work/out"
ok $? "--assume: the tasks of another file, after who writes it, in modules"
"$weft" run flow.yaml >"$work/out" 2>"$work/err" && [ "$(cat z)" = "$(printf 'x\nx\nx')" ] && [ -f 'f@s=q/b' ] && [ -f lib/b ]
ok $? "a module whose task writes a workflow runs: files in its folder, of a sub-workflow in the instance's"
"$weft" run flow.yaml >"$work/out" 2>"$work/err" && grep -q 'nothing to do: 13 tasks' "$work/out"
ok $? "... and nothing is to do the second time"
"$weft" run flow.yaml -n m/more >"$work/out" 2>"$work/err" && "$weft" run flow.yaml --why f@s=p/more/b >"$work/out" 2>"$work/err"
ok $? "its tasks are known by the names of the modules: m/more, f@s=p/more/b"
sim flow.yaml --on 8 --no-predict --json && takes 10 && grep -q 'from the last run' "$work/out"
ok $? "simulated as they stand from the last run"
printf '  a: { run: "true" }\n' >>src.yaml
"$weft" run flow.yaml >"$work/out" 2>"$work/err"
[ $? = 2 ] && told "'a'" && told more.yaml:
ok $? "a mistake in the file that a module's task wrote is told with its place there"

echo "1..$count"
exit $failed
