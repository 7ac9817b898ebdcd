#!/usr/bin/env bash
# One task of a run on this machine is cancelled (`weft cancel --here`): it ends or never begins, what depends on it is told as not
# run, the rest goes on. Nothing is timed: tasks wait for files. Speaks TAP.
weft=$(realpath "$WEFT")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db
. "$(dirname "$0")/../support/tap.sh"
until_it() { # command: until it succeeds, a minute at most
    for _ in $(seq 600); do eval "$1" && return 0; sleep 0.1; done
    return 1
}
cd "$work" || exit 1
cat >flow.yaml <<EOF
weft: 1
tasks:
  long: { run: "touch $work/began; echo here; sleep 600; echo x > {out}", out: a.txt }
  below: { run: "cat {in} > {out}", in: a.txt, out: b.txt }
  deeper: { run: "cat {in} > {out}", in: [b.txt, d.txt], out: c.txt }
  other: { run: "until [ -e $work/gate ]; do sleep 0.05; done; echo 2 > {out}", out: d.txt }
  unwanted: { run: "touch $work/ran; cat {in} > {out}", in: d.txt, out: e.txt }
  last: { run: "cat {in} > {out}", in: d.txt, out: f.txt }
EOF
"$weft" run flow.yaml -j 2 -q --log run.log 2>said & run=$!
until_it '[ -e began ]'; ok $? "a run of six tasks, of which one takes long"
until_it '"$weft" cancel --here 1 long >told 2>&1'; ok $? "a task that runs is cancelled"
grep -q "run 1: task long and what depends on it are being cancelled" told; ok $? "which is said"
"$weft" cancel --here 1 unwanted -q; ok $? "and one that waits"
"$weft" cancel --here 1 nobody 2>told; [ $? = 2 ] && grep -q "no task 'nobody'" told; ok $? "a name that is none is told"
until_it 'grep -q "task unwanted" run.log && grep -q "task deeper" run.log'; ok $? "the run has heard of both"
touch gate
wait $run; [ $? = 1 ]; ok $? "the run does not end well"
grep -q "2 tasks were cancelled, 2 not run because of that" said; ok $? "and says why: $(tail -n 1 said)"
[ "$(cat f.txt)" = 2 ]; ok $? "what did not depend on them was made"
[ ! -e a.txt ] && [ ! -e b.txt ] && [ ! -e c.txt ] && [ ! -e e.txt ] && [ ! -e ran ]; ok $? "nothing else was"
grep -q "task below: not run: 'long', on which it depends, was cancelled" run.log; ok $? "each is told with its reason"
grep -q "task unwanted: cancelled before it began" run.log; ok $? "the one that never began, too"
"$weft" history 1 --json | grep -q '"outcome": "cancelled"'; ok $? "the history has it"
"$weft" cancel --here 1 long 2>told; [ $? = 2 ] && grep -q "run 1 is over" told; ok $? "what is over cannot be cancelled"
"$weft" cancel --here 77 2>told; [ $? = 2 ]; ok $? "nor a run that is not there"
sed -i 's/sleep 600; //' flow.yaml
"$weft" run flow.yaml -q && [ "$(cat c.txt)" = "$(printf 'x\n2')" ] && [ -e e.txt ]; ok $? "the next run makes what was cancelled"

# functions: a crew carries them out, and a scheduler takes over when one is cancelled
cat >slow.c <<'EOF'
#include <unistd.h>
#include <stdlib.h>
int wait_for_gate(void) { while (access(getenv("GATE"), F_OK)) usleep(20000); return 0; }
int nothing(void) { return 0; }
EOF
cc -shared -fPIC -o slow.so slow.c && rm -f gate
cat >calls.yaml <<EOF
weft: 1
lists: { i: { from: 1, to: 200 } }
tasks:
  first: { call: "$work/slow.so:wait_for_gate" }
  many: { each: i, call: "$work/slow.so:nothing", after: first }
  end: { call: "$work/slow.so:nothing", after: many }
EOF
GATE=$work/gate "$weft" run calls.yaml -q 2>said & run=$!
until_it '"$weft" cancel --here 3 many@i=7 -q 2>/dev/null'; ok $? "of 202 functions one is cancelled"
until_it 'grep -q "task many@i=7 and what depends on it are being cancelled" said'; ok $? "the run has heard of it, and says so"
touch gate
wait $run; [ $? = 1 ] && grep -q "1 task was cancelled, 1 not run because of that" said; ok $? "and the last one, which waits for it: $(tail -n 1 said)"
echo "1..$count"
exit $failed
