#!/usr/bin/env bash
# Two tasks with the same command and no files, `b` after `a`: weft was stopped while `a` ran, and the next run said that there is nothing to do,
# since what `b` does was on record. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }

cat >"$work/flow.yaml" <<'YAML'
weft: 1
tasks:
  a: { run: 'echo $WEFT_TASK >> trail; while [ ! -e go ]; do sleep 0.02; done' }
  b: { run: 'echo $WEFT_TASK >> trail; while [ ! -e go ]; do sleep 0.02; done', after: a }
YAML
"$weft" run "$work/flow.yaml" >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 500); do [ -s "$work/trail" ] && break; sleep 0.02; done
kill -INT $pid # what runs may end, nothing new starts
sleep 0.2
touch "$work/go"
wait $pid
[ "$(cat "$work/trail")" = a ]
ok $? "stopped while a ran: a has ended, b has not begun"
run "$work/flow.yaml" -n && grep -q "would run 1 of 2" "$work/out"
ok $? "b is still to run"
run "$work/flow.yaml" && [ "$(tr '\n' ' ' <"$work/trail")" = "a b " ]
ok $? "and runs"
run "$work/flow.yaml" && grep -q "nothing to do" "$work/out"
ok $? "then there is nothing to do"
"$weft" clean "$work/flow.yaml" >/dev/null 2>&1
run "$work/flow.yaml" && grep -q "nothing to do" "$work/out"
ok $? "nor after weft clean: both records are in use"
sed -i 's/  b:/  c:/' "$work/flow.yaml"
run "$work/flow.yaml" && [ "$(tr '\n' ' ' <"$work/trail")" = "a b c " ]
ok $? "another name is another task, when there are no files to know it by"

# `after` orders and nothing more: b does not run again because a does
run "$work/flow.yaml" --why c && grep -q "c does not run" "$work/out"
ok $? "--why knows it"
sed -i 's/  a: { run: .echo/&  a again/' "$work/flow.yaml"
run "$work/flow.yaml" && [ "$(tail -n 1 "$work/trail")" = "a again a" ] && [ "$(wc -l <"$work/trail")" = 4 ]
ok $? "a task that only comes after another does not run because that one does"

# in an experiment, too
mkdir "$work/x"
cat >"$work/x/flow.yaml" <<'YAML'
weft: 1
parameters: { word: w }
tasks:
  a: { run: 'echo {word} >> trail' }
  b: { run: 'echo {word} >> trail' }
YAML
cat >"$work/x/experiment.yaml" <<'YAML'
weft: 1
experiment: twice
workflow: flow.yaml
substitute:
  word: { parameter: word, by: [x, y] }
YAML
"$weft" experiment "$work/x/experiment.yaml" >"$work/out" 2>"$work/err"
[ "$(wc -l <"$work/x/trail")" = 4 ]
ok $? "two tasks of an experiment that do the same without files are two, for each of two words"
echo "1..$count"
exit $failed
