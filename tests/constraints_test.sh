#!/usr/bin/env bash
# `weft plan --with constraints` from the outside: where constraints come from, what is explained,
# how mistakes and impossible wishes end. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}
flow="examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml"
plan() { "$weft" plan $flow --with constraints "$@"; }
fails() { # status part-of-message arguments...
    local want=$1 part=$2
    shift 2
    plan "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$want" ] && grep -q -- "$part" "$work/err" && [ ! -s "$work/out" ]
    ok $? "exit $want, '$part'"
    [ $got = "$want" ] || sed 's/^/# /' "$work/err"
}
makespan() { "$weft" plan $flow --json "$@" | grep -m1 '"makespan"' | sed 's/.*: *//; s/[ ,}].*//'; }

plan --explain >"$work/out"
ok $? "the default constraints plan"
[ "$(grep -c '<default>:' "$work/out")" = 5 ]
ok $? "and each of the five is explained"
[ "$(makespan --with constraints)" = "$(makespan --with wu-gajski)" ]
ok $? "they end when wu-gajski does"
plan --assert-file examples/constraints/default.sql --explain | grep -q 'default.sql:5:1: assert'
ok $? "the file of the default constraints is read"

plan --json --assert 'assert relationship requirement ((select task-assigned-proc-id from task) =
    (select proc-id from proc where proc-name = "P2"))' >"$work/one.json"
ok $? "--assert adds a requirement"
! grep -q '"node": "P[13]"' "$work/one.json"
ok $? "and all tasks run on the processor it names"
plan --assert-file "$work/../no such file" >/dev/null 2>&1
[ $? = 2 ]
ok $? "a file that is not there: exit 2"
printf 'assert value preference (\n  opt-type = minimize,\n  function = (select max(task-finsh-time) from task),\n  min = 0, max = 1)' >"$work/slip.sql"
fails 2 "slip.sql:3:26: unknown attribute 'task-finsh-time'; did you mean 'task-finish-time'?" \
    --assert-file "$work/slip.sql"
fails 2 "--assert:2:" --assert 'assert relationship preference (1 < 2)' --assert 'assert nothing'
fails 2 "may only read task, proc and dep" \
    --assert 'assert relationship requirement ((select load_extension("x")) = 1)'
fails 3 "--assert:1:1: assert relationship requirement" \
    --assert 'assert relationship requirement ((select task-assigned-proc-id from task) = UNKNOWN)'
fails 3 "--assert:1:1: assert value requirement" --set states=2000 \
    --assert 'assert value requirement (function = (select max(task-finish-time) from task), max = 50)'
fails 2 "expected -1 to" --set p1=-2

cat >"$work/makespan.sql" <<'END'
assert value preference (opt-type = minimize, priority = 1,
  function = (select max(task-finish-time) from task),
  min = 0, max = (select sum(task-exec-time) from task));
END
plan --assert-file "$work/makespan.sql" --set optimal=true --set limit=20s --set states=300000 \
    >"$work/out"
ok $? "branch and bound plans"
grep -Eq 'proven optimal|at least' "$work/out"
ok $? "and says whether it is proven"

cat >"$work/own.yaml" <<'END'
weft: 1
parameters:
  assert: 'assert relationship requirement ((select task-assigned-proc-id from task where task-name = "b") = 2)'
tasks:
  a: { work: 1 }
  b: { work: 1, after: [a] }
END
"$weft" plan "$work/own.yaml" --on 3 --with constraints --explain >"$work/out" 2>&1
ok $? "constraints from the workflow file"
grep -q '<workflow>:1:1:' "$work/out"
ok $? "are explained like the others"

plan --json -q >"$work/a" && plan --json -q >"$work/b"
[ "$(grep -v planning_seconds "$work/a")" = "$(grep -v planning_seconds "$work/b")" ]
ok $? "the same plan twice"
echo "1..$count"
exit $failed
