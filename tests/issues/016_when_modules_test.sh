#!/usr/bin/env bash
# Issue 16, points 4 and 6: `when` on a sub-workflow. It was refused, and who had a module whose every task hangs on one decision had to
# write it into each of them. The judge is the same graph written out by hand, task by task. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
told() { grep -qF -- "$1" "$work/err"; }
mkdir "$work/p" && cd "$work/p" && mkdir lib reads || exit 1
echo A >reads/a.fq
echo B >reads/b.fq
cat >lib/align.yaml <<'F'
weft: 1
parameters: { least: 0 }
tasks:
  map: { run: "cat {in} > {out}", in: reads.fq, out: tmp.sam }
  own: { run: "echo own{in} > {out}; cat {in.list} >> {out}", out: own.txt }
  cond: { when: "{least} < 5", run: "echo c > {out}", out: cond.txt }
  sort: { run: "cat {in} > {out}", in: [tmp.sam, own.txt, { name: cond.txt, optional: true }], out: sorted.bam }
F
cat >flow.yaml <<'F'
weft: 1
lists: { s: [a, b] }
parameters: { least: 1 }
tasks:
  qc: { each: s, run: "test {s} = a && echo PASS > {out} || echo FAIL > {out}", out: "qc/{s}.txt" }
  align:
    each: s
    flow: lib/align.yaml
    with: { least: "{least}" }
    in: { reads.fq: "reads/{s}.fq", qc.txt: "qc/{s}.txt" }
    out: { sorted.bam: "bam/{s}.bam" }
    when: "{in.qc.txt} contains PASS"
  merge: { run: "cat {in} > {out}", in: [{ name: bam/a.bam, optional: true }, { name: bam/b.bam, optional: true }], out: all.bam }
  lost: { run: "cp {in} {out}", in: bam/b.bam, out: copy.b }
F
say run flow.yaml && grep -q "7 tasks ran, 5 skipped" "$work/out" && [ "$(cat all.bam | tr '\n' ' ')" = "A own c " ] && [ ! -e bam/b.bam ] && [ ! -e align@s=b ]
ok $? "an instance whose condition does not hold is skipped whole, tasks without parents, too; {in} has none of what is asked"
say run flow.yaml && grep -q "nothing to do: 7 tasks are up to date, 5 skipped" "$work/out"
ok $? "and nothing is left to do"
say run flow.yaml -n -v && grep -qF "align@s=b/map is skipped: its \`when\` does not hold: (qc/b.txt contains PASS)" "$work/out"
ok $? "the reason is told"
rm -rf .weft bam qc all.bam align@*
say run flow.yaml -p least=7 && [ "$(cat all.bam | tr '\n' ' ')" = "A own " ]
ok $? "what a task of it says itself holds as well"
for how in --shared --no-shared; do
    rm -rf .weft bam qc all.bam align@*
    say run flow.yaml --on local:2 $how && grep -q "7 tasks ran, 5 skipped" "$work/out" && [ "$(cat all.bam | tr '\n' ' ')" = "A own c " ] && [ ! -e bam/b.bam ]
    ok $? "on agents the same, $how"
done
say show flow.yaml --expanded && cp "$work/out" whole.yaml && rm -rf .weft bam qc all.bam align@* && say run whole.yaml && grep -q "7 tasks ran, 5 skipped" "$work/out" && [ "$(cat all.bam | tr '\n' ' ')" = "A own c " ]
ok $? "and written out"
say sim flow.yaml --on 1 --assume align=no && told "8 tasks with \`when\` are not taken"
ok $? "a simulation is told whether it is taken"
say sim flow.yaml --on 1 --assume align=yes && ! told "not taken"
ok $? "or not"
! say sim flow.yaml --on 1 --assume align=perhaps && told "expected yes or no"
ok $? "in one of two words"

# values alone: known before anything runs, and no file becomes an input
cat >values.yaml <<'F'
weft: 1
lists: { s: [a, b] }
parameters: { mode: fast }
tasks:
  align: { each: s, flow: lib/align.yaml, in: { reads.fq: "reads/{s}.fq" }, out: { sorted.bam: "bam/{s}.bam" }, when: "{s} != b and {mode} = fast" }
F
say show values.yaml --expanded && grep -qF "run: cat {in} > {out}" "$work/out" && grep -qF "when: (\"b\" != b and \"fast\" = fast)" "$work/out"
ok $? "values are filled in by who includes it"
rm -rf .weft bam align@*
say run values.yaml -n && [ "$(grep -c 'is skipped' "$work/out")" = 4 ]
ok $? "what asks no file is known before"
say run values.yaml -p mode=slow && grep -q "all 8 tasks are skipped" "$work/out" && [ ! -e bam ]
ok $? "none is taken"

# a module in a module: both conditions hold for the inner tasks
cat >lib/outer.yaml <<'F'
weft: 1
parameters: { deep: yes }
tasks:
  before: { run: "echo b > {out}", out: b.txt }
  inner: { flow: align.yaml, in: { reads.fq: x.fq, gate.txt: b.txt }, out: { sorted.bam: y.bam }, when: "{deep} = yes and {in.gate.txt} = b" }
F
cat >nested.yaml <<'F'
weft: 1
parameters: { deep: yes, high: 5 }
tasks:
  level: { run: "echo {high} > {out}", out: level.txt }
  o: { flow: lib/outer.yaml, with: { deep: "{deep}" }, in: { x.fq: reads/a.fq, level: level.txt }, out: { y.bam: y.bam }, when: "{in.level} >= 3" }
F
say run nested.yaml && [ "$(tr '\n' ' ' <y.bam)" = "A own c " ]
ok $? "modules in modules"
say run nested.yaml -p deep=no && grep -q "skipped" "$work/out" && grep -q "4 skipped" "$work/out"
ok $? "the inner one alone is skipped"
say run nested.yaml -p high=2 && grep -q "5 skipped" "$work/out"
ok $? "with the outer one all"

# rounds, and a module that grows
printf 'weft: 1\ntasks:\n  step: { run: "echo $(( $(cat {in}) + 1 )) > {out}", in: now.txt, out: next.txt }\n' >lib/step.yaml
cat >rounds.yaml <<'F'
weft: 1
parameters: { go: 1 }
tasks:
  begin: { run: "echo {go} > {out}", out: start.txt }
  solve: { flow: lib/step.yaml, in: { now.txt: start.txt }, out: { next.txt: end.txt }, repeat: { until: "{out} >= 4", most: 9 }, when: "{in} > 0" }
F
say run rounds.yaml && [ "$(cat end.txt)" = 4 ]
ok $? "each round is asked"
rm -f end.txt
say run rounds.yaml -p go=-1 && [ ! -e end.txt ] && grep -q skipped "$work/out"
ok $? "and one that is not taken ends them"
cat >lib/grow.yaml <<'F'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "seq 3 > {out}", out: c.txt }
  use: { each: c, run: "echo {c}{in} > {out}", out: "u/{c}" }
  sum: { run: "cat {in} > {out}", in: "u/{c}", out: sum.txt }
F
cat >grows.yaml <<'F'
weft: 1
parameters: { word: PASS }
tasks:
  ask: { run: "echo {word} > {out}", out: ask.txt }
  g: { flow: lib/grow.yaml, in: { ask.txt: ask.txt }, out: { sum.txt: sum.txt }, when: "{in.ask.txt} contains PASS" }
F
say run grows.yaml && [ "$(tr '\n' ' ' <sum.txt)" = "1 2 3 " ]
ok $? "what joins a module is asked as the rest of it"
rm -rf sum.txt g .weft
say run grows.yaml -p word=FAIL && [ ! -e sum.txt ] && [ ! -e g ] && grep -q skipped "$work/out"
ok $? "and nothing joins one that is skipped"
rm -rf .weft
say run grows.yaml --on local:2 --no-shared && [ "$(tr '\n' ' ' <sum.txt)" = "1 2 3 " ]
ok $? "on agents"

# mistakes
bad_when() {
    cat >bad.yaml <<F
weft: 1
lists: { s: [a, b] }
tasks:
  align: { each: s, flow: lib/align.yaml, in: { reads.fq: "reads/{s}.fq" }, out: { sorted.bam: "bam/{s}.bam" }, when: "$1" }
F
    ! say run bad.yaml -n && told "$2" && told "bad.yaml:4: task 'align'"
    ok $? "refused: $2"
}
bad_when "{in.read.fq} contains x" "no input is called 'read.fq'; did you mean 'reads.fq'?"
bad_when "{out} = 1" "{out}"
bad_when "{in} contians x" "contians"
bad_when "{mood} = x" "{mood} is no variable and no parameter"
printf 'weft: 1\ntasks:\n  f: { call: "lib.so:f", out: f.txt }\n' >lib/call.yaml
printf 'weft: 1\ntasks:\n  c: { flow: lib/call.yaml, in: { a: reads/a.fq }, out: { f.txt: f.txt }, when: "exists {in.a}" }\n' >bad.yaml
! say show bad.yaml && told "lib/call.yaml:3: task 'c/f': call: a function gets all files that its task reads"
ok $? "a function would get a file that is not its own"
printf 'weft: 1\ntasks:\n  c: { flow: lib/step.yaml, in: { now.txt: reads/a.fq }, out: { next.txt: f.txt }, may_fail: true }\n' >bad.yaml
! say show bad.yaml && told "'may_fail' says nothing of a sub-workflow"
ok $? "other keys of a task are those of its tasks"
echo "1..$count"
exit $failed
