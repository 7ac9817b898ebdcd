#!/usr/bin/env bash
# Issue 16, point 2: targets, --until and --since on every command that reads a workflow, in every format, not only where it runs. The part that
# a plan, a picture or a simulation is of is the one that a run runs (`run -n` is the judge). Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config
mkdir "$work/p" && cd "$work/p" || exit 1
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 15; fi
}
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
for format in dot wfformat saga; do
    say convert flow.yaml whole.out --to $format -q && [ "$(shown whole.out --from $format --until merge | wc -l)" = 4 ] && [ "$(shown whole.out --from $format --since merge | wc -l)" = 2 ]
    ok $? "in $format"
done
say convert flow.yaml part.yaml --until total.txt && [ "$(shown part.yaml | wc -l)" = 4 ]
ok $? "a part as a file"

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
