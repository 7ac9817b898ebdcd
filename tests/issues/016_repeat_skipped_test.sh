#!/usr/bin/env bash
# Issue 16, sections 4 and 5 together: a round of a repeated task that is not taken, or fails and may, ends its own chain and no other: the
# rest of the family gets its results, and who can do without goes on. A sub-workflow is repeated although one of its tasks is never
# taken. Both used to leave the run with status 0 and without its results. Here and on agents. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run flow.yaml $on "$@" >"$work/out" 2>"$work/err"; }
for on in "" "--on local:2"; do
    case $on in "") where=here ;; *) where="on agents"; command -v redis-server >/dev/null || continue ;; esac
    mkdir -p "$work/$where" && cd "$work/$where" || exit 1
    cat >flow.yaml <<'F'
weft: 1
lists: { chunk: [1, 2, 3] }
tasks:
  work: { each: chunk, when: "{chunk} != 2", run: "echo {chunk} > {out}", out: "w/{chunk}" }
  loop:
    each: chunk
    in: { n: "w/{chunk}" }
    run: "n=$(cat {in}); echo $((n + 1)) > {out}"
    out: { n: "l/{chunk}" }
    repeat: { until: "{out.n} >= 5", most: 9 }
  all: { run: "cat {in} > {out}", in: [{ name: "l/{chunk}", optional: true }], out: all.txt }
  strict: { run: "cat {in} > {out}", in: "l/{chunk}", out: strict.txt }
F
    run && [ "$(tr '\n' ' ' <all.txt)" = "5 5 " ] && ! grep -q "did not run" "$work/err"
    ok $? "$where: a member that is not taken; the others get their results"
    ! [ -e strict.txt ] && ! [ -e l/2 ]
    ok $? "$where: what needs it is skipped"
    run -n && grep -q "nothing to do" "$work/out"
    ok $? "$where: and then there is nothing to do"

    cat >flow.yaml <<'F'
weft: 1
lists: { chunk: [1, 2] }
tasks:
  start: { each: chunk, run: "echo {chunk} > {out}", out: "s/{chunk}" }
  loop:
    each: chunk
    may_fail: true
    in: { n: "s/{chunk}" }
    run: "n=$(cat {in}); test $n != 3 -o {chunk} = 1; echo $((n + 1)) > {out}"
    out: { n: "m/{chunk}" }
    repeat: { until: "{out.n} >= 5", most: 9 }
  all: { run: "cat {in} > {out}", in: [{ name: "m/{chunk}", optional: true }], out: some.txt }
F
    run && [ "$(cat some.txt)" = 5 ]
    ok $? "$where: a round that fails and may"

    cat >step.yaml <<'F'
weft: 1
parameters: { draw: "no" }
tasks:
  add: { run: "n=$(cat {in}); echo $((n + 1)) > {out}", in: before, out: after }
  picture: { when: "{draw} = yes", run: "cp {in} {out}", in: after, out: picture.png }
F
    cat >flow.yaml <<'F'
weft: 1
tasks:
  zero: { run: "echo 0 > {out}", out: zero }
  loop: { flow: step.yaml, in: { before: zero }, out: { after: three }, repeat: { until: "{out.after} >= 3", most: 9 } }
F
    run && [ "$(cat three)" = 3 ]
    ok $? "$where: a sub-workflow with a task that is never taken"
done
echo "1..$count"
exit $failed
