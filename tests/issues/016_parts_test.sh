#!/usr/bin/env bash
# Issue 16, point 2: targets, --until and --since on every command that reads a workflow, in every format, not only where it runs. The part that
# a plan, a picture or a simulation is of is the one that a run runs (`run -n` is the judge). Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
told() { grep -qF -- "$1" "$work/err"; }
cat >flow.yaml <<'F'
weft: 1
lists: { g: [a, b, c] }
tasks:
  count: { each: g, run: "echo {g} > {out}", out: "c/{g}", work: 1 }
  merge: { run: "cat {in} > {out}", in: "c/{g}", out: total.txt, work: 2 }
  draw: { run: "cp {in} {out}", in: total.txt, out: picture, work: 4 }
  other: { run: "echo > {out}", out: oth, work: 50 }
F
"$weft" run flow.yaml -q && rm -rf .weft || exit 1 # what a part reads is there, and nobody knows that it is done
would_run() { "$weft" run flow.yaml -n "$@" 2>/dev/null | sed -n 's/^\([a-z@=]*\)  *[-0-9].*/\1/p' | sort; }
shown() { "$weft" show "$@" --tasks 2>"$work/err" | awk '/^───/ { on = 1; next } on && NF { print $1 }' | sort; }
same_part() { # words that name a part, for run and for show
    would_run "$@" >"$work/run"
    shown flow.yaml "$@" >"$work/out"
    [ -s "$work/run" ] && cmp -s "$work/run" "$work/out"
    ok $? "the same part as a run's: $*"
}
same_part total.txt
same_part merge
same_part count
same_part count@g=b oth
same_part --until draw --since merge
same_part --since count@g=a
same_part --since c/a --until total.txt

say plan flow.yaml total.txt --on 1 --json && grep -q '"makespan": 5[,}]' "$work/out" && ! grep -q '"other"' "$work/out"
ok $? "a plan of a target and what it needs"
say plan flow.yaml --until merge --since c/a --on 2 -o part.json && say check part.json --until merge --since c/a
ok $? "which is judged with the same words"
! say check part.json && grep -q "missing-task.*'count@g=b'" "$work/out"
ok $? "and of the whole it is not a plan"
say sim part.json --until merge --since c/a && grep -q "makespan  *3 s simulated" "$work/out"
ok $? "it is simulated"
say sim flow.yaml --until oth --on 2 && grep -q "makespan  *50 s simulated" "$work/out"
ok $? "a workflow's part, too"
say sim flow.yaml --until merge --schedulers 2 && grep -q "4 tasks" "$work/out"
ok $? "among schedulers"
say bound flow.yaml --until count && grep -q "3 tasks in 1 level" "$work/out"
ok $? "a bound"
say compare flow.yaml oth --on 2 && grep -q "^flow: 1 task, 0 edges" "$work/out"
ok $? "planners beside each other"
say predict flow.yaml --until count@g=a && [ "$(grep -c '^count@g=' "$work/out")" = 1 ]
ok $? "predictions"
say sim flow.yaml oth --on 2 && grep -q "makespan  *50 s simulated" "$work/out" && say sim flow.yaml merge --schedulers 2 && grep -q "4 tasks" "$work/out"
ok $? "targets of a simulation"
say bound flow.yaml count && grep -q "3 tasks in 1 level" "$work/out" && say predict flow.yaml count@g=a && [ "$(grep -c '^count@g=' "$work/out")" = 1 ]
ok $? "... of a bound and of predictions"
for format in dot wfformat saga; do
    say convert flow.yaml whole.out --to $format -q && [ "$(shown whole.out --from $format --until merge | wc -l)" = 4 ] && [ "$(shown whole.out --from $format --since merge | wc -l)" = 2 ]
    ok $? "in $format"
done
say convert flow.yaml part.yaml --until total.txt && [ "$(shown part.yaml | wc -l)" = 4 ]
ok $? "a part as a file"

# readers that had no parts: order, lint, clean, stream, experiments, a trace's report, what is imported
[ "$("$weft" order flow.yaml total.txt -q | sort)" = "$("$weft" show flow.yaml total.txt --tasks 2>/dev/null | awk '/^───/ { on = 1; next } on && NF { print $1 }' | sort)" ]
ok $? "an order of a target and what it needs"
! say order flow.yaml --until merge --annotate -o x.dag && told "--until does nothing beside --annotate"
ok $? "a file that is written whole has no part"
! say order flow.yaml merge --annotate -o x.dag && told "'merge' does nothing beside --annotate"
ok $? "nor a target"
cat >suspicious.yaml <<'F'
weft: 1
lists: { g: [a, b, c], unused: [1] }
tasks:
  one: { each: g, run: 'echo > "{out}"', out: "o/{g}" }
  two: { run: 'cat "{in}" > {out}', in: "o/{g}", out: t, temporary: true }
  three: { run: "cp {in} {out}", in: t, out: u }
F
say lint suspicious.yaml
[ $? = 1 ] && [ "$(wc -l <"$work/out")" = 3 ]
ok $? "three findings in all"
say lint suspicious.yaml two
[ $? = 1 ] && [ "$(grep -c quotes "$work/out")" = 2 ] && ! grep -q unused "$work/out" && ! grep -q unread "$work/out"
ok $? "of a part what is about its tasks; who reads them beyond it is known"
say lint suspicious.yaml one@g=b
[ $? = 1 ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q "'one@g=b': " "$work/out"
ok $? "of one member of a family"
say lint suspicious.yaml --since three
[ $? = 0 ] && [ ! -s "$work/out" ]
ok $? "and nothing of what has none"
! say lint suspicious.yaml thre && told "did you mean 'three'?"
ok $? "a name that is not there"

"$weft" run flow.yaml -q
! say clean flow.yaml merge && told "'merge' does nothing without --all" && [ -f total.txt ]
ok $? "clean: of a part only outputs can go"
say clean flow.yaml --all --since "$PWD/total.txt" && [ ! -e total.txt ] && [ ! -e picture ] && [ -f c/a ] && [ -f oth ]
ok $? "what was made of a file, called by its whole name, and that file"
"$weft" run flow.yaml -n 2>/dev/null | grep -q "would run 2 of 6 tasks"
ok $? "the rest is known as done"
say clean flow.yaml --all --since total.txt -n && rm -r c && say clean flow.yaml --all --since draw -n
ok $? "also where what the part reads is gone"
"$weft" run flow.yaml -q && say clean flow.yaml --all count@g=b && [ -f c/a ] && [ ! -e c/b ] && [ -f total.txt ]
ok $? "one member's output"
cat >grows.yaml <<'F'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "seq 3 > {out}", out: c.txt }
  use: { each: c, run: "echo {c} > {out}", out: "g/{c}" }
  last: { run: "cat {in} > {out}", in: "g/{c}", out: sum }
F
"$weft" run grows.yaml -q && say clean grows.yaml --all use@c=2 && [ ! -e g/2 ] && [ -f g/1 ] && [ -f c.txt ] && [ -f sum ]
ok $? "of what joined while it ran"
! say clean grows.yaml --all --since split && told "is not all known before a run" && [ -f sum ]
ok $? "where nobody knows what comes after, nothing goes"
! say run grows.yaml --since split && told "is not all known before a run"
ok $? "nor runs only what is known of it, which was exit 0"
say run grows.yaml --since split --until split
ok $? "with a target it is known"

cat >stream.yaml <<'F'
weft: 1
tasks:
  up: { run: "tr a-z A-Z < {in} > {out}", per_item: true, in: x, out: y }
  twice: { run: "cat {in} {in} > {out}", per_item: true, in: y, out: z }
F
[ "$(printf 'a\nb\n' | "$weft" stream stream.yaml up --from - --to - -q | tr '\n' ' ')" = "A B " ]
ok $? "a stream up to a filter"
[ "$(printf 'a\n' | "$weft" stream stream.yaml --since twice --from - --to - -q | tr -d '\n')" = aa ]
ok $? "and from one on: items enter there"
! say stream stream.yaml nobody --from - --to - </dev/null && told "'nobody' is no task"
ok $? "not to one that is not there"

cat >try.exp.yaml <<'F'
weft: 1
experiment: try
workflow: flow.yaml
substitute:
  how: { task: merge, by: { plain: {}, twice: "cat {in} {in} > {out}" } }
F
say experiment try.exp.yaml merge --list && grep -q "results/how=twice/total.txt" "$work/out" && ! grep -q picture "$work/out"
ok $? "an experiment with a part"
say experiment try.exp.yaml --until merge -q && [ -s results/how=twice/total.txt ] && [ ! -e results/how=twice/picture ]
ok $? "which is what runs"
! say experiment try.exp.yaml --until count --list && told "there is no task 'merge' in flow.yaml (only the part that a target or --until count names was read)"
ok $? "what is replaced must be in it"
say sim flow.yaml --until merge --on 2 --trace part.trace && say report part.trace --workflow flow.yaml --until merge
ok $? "the trace of a part"
! say report part.trace --until merge && told "--until does nothing without --workflow"
ok $? "needs its workflow"
say convert flow.yaml graph.dot -q && say import graph.dot some.yaml --until merge && [ "$(shown some.yaml | wc -l)" = 4 ]
ok $? "a part of what is imported"

! say show flow.yaml totl.txt && told "did you mean 'total.txt'?"
ok $? "a target that is not there"
! say plan flow.yaml --since draw --until merge && told "no task is both needed for the targets and after --since"
ok $? "a part without a task"
cat >platform.yaml <<'F'
weft: 1
nodes: [{ name: n, count: 2 }]
F
! say show platform.yaml --until x && told "--until does nothing for a platform"
ok $? "a platform has no parts"
! say show platform.yaml x && told "has no part called 'x'"
ok $? "nor targets"
! say sim --dag chain --until x && told "--until does nothing for a benchmark"
ok $? "nor has a benchmark"
! say convert flow.yaml x.yaml --platform --until merge && told "--until does nothing beside --platform"
ok $? "nor what is not converted"
! say bound --until x && told "--until"
ok $? "nor a bound without a workflow"
! say predict --error --until x && told "--until does nothing beside --error"
ok $? "nor what is told of runs"
echo "1..$count"
exit $failed
