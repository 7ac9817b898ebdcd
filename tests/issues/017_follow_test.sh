#!/usr/bin/env bash
# A plan is followed on this machine: the order on each core, waits, `assert:` in the workflow; what cannot be followed is refused;
# constraints are asked again of what happened. Order is read from times that the run recorded, never from how long things took. TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
run() { "$weft" run "$@" >out 2>err; }
# after A B: in the events of the last run (--json), A ended before B began
after() {
    python3 - "$1" "$2" <<'END'
import json, sys
times = {}
for line in open("out"):
    e = json.loads(line)
    if e.get("event") == "task":
        times[e["task"]] = (e["start"], e["time"])
a, b = times[sys.argv[1]], times[sys.argv[2]]
sys.exit(not a[1] <= b[0])
END
}

cat >flow.yaml <<'END'
weft: 1
name: three
tasks:
  long: { run: sleep 0.4, work: 9 }
  middle: { run: sleep 0.1, work: 5 }
  short: { run: sleep 0.05, work: 2 }
END
# the same, but that one waits for the end of another: which only a run that does not keep to the plans below can give it
for who in long:short middle:long; do
    sed "s/  ${who%:*}: { run: sleep [0-9.]*/  ${who%:*}: { run: 'for i in {1..400}; do [ -e mark ] \&\& sleep 0.4 \&\& exit; sleep 0.05; done'/; s/  ${who#*:}: { run: \(sleep [0-9.]*\)/  ${who#*:}: { run: '\1; touch mark'/" flow.yaml >"${who%:*}.yaml"
done
order='assert relationship requirement ((select task-finish-time from task where task-name = "long") < (select task-finish-time from task where task-name = "short"));'

# a wait in a plan
"$weft" plan flow.yaml --on 3 --assert "$order" -o plan.json >/dev/null 2>err
ok $? "a plan in which one waits for another"
run flow.yaml -j 3 --json --plan plan.json && after long short
ok $? "and the run waits, though a core is free"
grep -q '"required":true,"held":true' out
ok $? "the requirement held in what happened, and it is told"
run flow.yaml -j 3 --json --force --plan plan.json --follow order && after long short
ok $? "--follow order keeps what a constraint asks for"
run long.yaml -j 3 --json --force --plan plan.json --follow hint
[ $? = 1 ] && ! after long short && grep -q "1 of 1 required constraints did not hold in what happened" err
ok $? "--follow hint does not: the requirement is broken, told loudly, exit 1"

# the workflow's own
sed "2a assert: '$order'" flow.yaml >own.yaml
run own.yaml -j 3 --json --force && after long short && grep -q '"held":true' out
ok $? "assert: in the workflow is planned and followed without being asked for"
run own.yaml -j 3 --force && grep -q "constraints    1 of 1 held in what happened" out
ok $? "and the summary says that it held"
rm -f mark
sed "2a assert: '$order'" long.yaml >own_long.yaml
run own_long.yaml -j 3 --force --follow hint
[ $? = 1 ] && grep -q "BROKEN .*assert relationship requirement" out
ok $? "or that it did not"

# the order on each core
cat >placed.json <<'END'
{"schema": "weft-plan/1", "kind": "static", "objectives": {"makespan": 16}, "placements": [
 {"task": "short", "node": "n1", "start": 0, "finish": 2}, {"task": "middle", "node": "n1", "start": 2, "finish": 7},
 {"task": "long", "node": "n1", "start": 7, "finish": 16}], "platform": {"file": "2"}}
END
run flow.yaml -j 2 --json --force --plan placed.json --follow strict && after short middle && after middle long
ok $? "--follow strict: one core, in the plan's order, though the other is free"
rm -f mark
run middle.yaml -j 2 --json --plan placed.json && ! after middle long
ok $? "a plan without constraints: by default no core idles"

# a time
cat >until.json <<'END'
{"schema": "weft-plan/1", "kind": "static", "objectives": {"makespan": 16}, "platform": {"file": "3"}, "waits": [{"task": "short", "until": 0.6}],
 "placements": [{"task": "long", "node": "n1", "start": 0, "finish": 9}, {"task": "middle", "node": "n2", "start": 0, "finish": 5},
 {"task": "short", "node": "n3", "start": 7, "finish": 9}]}
END
run flow.yaml -j 3 --json --force --plan until.json &&
    python3 -c 'import json; e = [x for x in map(json.loads, open("out")) if x.get("task") == "short"]; assert e and all(x["start"] >= 0.6 for x in e if "start" in x)' 2>>err
ok $? "a wait for a time"

# what cannot be followed
run flow.yaml -j 1 --force --plan plan.json
[ $? = 3 ] && grep -q "plan.json: the plan uses [23] cores.*this run has 1; run with -j" err
ok $? "too few cores: refused, with what to do"
sed '/short/d' flow.yaml >fewer.yaml
run fewer.yaml -j 3 --plan plan.json
[ $? = 2 ]
ok $? "a plan of another workflow: refused"
sed 's/{"task": "short", "node": "n1", "start": 0, "finish": 2}, //' placed.json >lacks.json
run flow.yaml -j 2 --force --plan lacks.json --follow strict
[ $? = 2 ] && grep -q "lacks.json: the plan does not place task 'short'" err
ok $? "a plan that lacks a task"
run flow.yaml -j 2 --force --plan lacks.json
[ $? = 2 ] && grep -q "does not place task 'short'" err
ok $? "also where only its order counts"
sed '2a assert: "assert relationship requirement ((select task-assigned-proc-id from task where task-name = '"'long'"') = (select proc-id from proc where proc-name = '"'willow'"'))"' flow.yaml >willow.yaml
run willow.yaml -j 2
[ $? = 3 ] && grep -q "willow.yaml:3: a constraint names processor 'willow'; this run has 2" err
ok $? "a constraint about a processor that is not there is no wish about nothing"
sed 's/, work: [0-9]*//' own.yaml >unknown.yaml
WEFT_HISTORY=$work/none.db run unknown.yaml -j 2
[ $? = 3 ] && grep -q "nobody knows how long task 'long' takes" err
ok $? "times that nobody knows: no plan of guesses"
run flow.yaml --follow strict
[ $? = 2 ] && grep -q -- "--follow does nothing without a plan" err
ok $? "--follow without a plan"
run own.yaml --follow sternly
[ $? = 2 ] && grep -q -- "--follow is 'sternly'; expected strict, order or hint" err
ok $? "--follow of another word"

# a second run, of results that are there: nothing to judge, and nothing fails
run own.yaml -j 3 --force && run own.yaml -j 3
ok $? "again: nothing to do"

# results do not depend on how they were planned
printf 'weft: 1\ntasks:\n  a: { run: "echo a > {out}", out: [a], work: 1 }\n  b: { run: "echo b > {out}", out: [b], work: 1 }\n' >keys.yaml
run keys.yaml -j 2 && run keys.yaml -j 1 --with heft --follow strict && grep -q "nothing to do" out
ok $? "a plan changes no key: what is done stays done"
echo "1..$count"
exit $failed
