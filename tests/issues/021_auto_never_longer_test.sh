#!/usr/bin/env bash
# Issue 21, point 7: `auto` was said to be never worse than any planner, and took 41 where heft-dup took 11: duplication was not among its
# members. Now every planner of static plans that `weft planners` lists is asked, and the bound says its kind. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 9; fi
}
makespan() { sed -n 's/^ *makespan *//p' out; }
cd "$work" || exit 1
cat >fork.yaml <<'YAML'
weft: 1
name: fork
tasks:
  a: { work: 1, out: { name: x, size: 30 } }
  b: { work: 10, in: x }
  c: { work: 10, in: x }
  d: { work: 10, in: x }
  e: { work: 10, in: x }
YAML
"$weft" plan fork.yaml --on homogeneous:n=4,bandwidth=1 -o plan.json >out 2>err
ok $? "a fork of five tasks is planned"
[ "$(makespan)" = 11 ]
ok $? "auto runs the producer beside each consumer: 11, as heft-dup"
grep -q 'lower_bound *11$' out && grep -q 'proven optimal (path)' out
ok $? "nothing is shorter, and the kind of the bound is said"
"$weft" check plan.json --workflow fork.yaml --on homogeneous:n=4,bandwidth=1 >out 2>err
ok $? "the plan with copies is valid"
"$weft" plan fork.yaml --on homogeneous:n=4,bandwidth=1 --set duplication=false >out 2>err
[ "$(makespan)" = 41 ]
ok $? "duplication=false: one copy of each, 41"
grep -q 'proven optimal among plans with one copy of each task' out
ok $? "which is the least with one copy of each, and no more is said"
"$weft" generate layered --set n=40 --set ccr=5 --seed 7 -q -o layered.yaml
"$weft" plan layered.yaml --on homogeneous:n=8,bandwidth=1 --set budget=20000moves >out 2>err
grep -q 'note: bound [0-9.]* (path with communication[^)]*), [0-9.]* % below' out
ok $? "where nothing is proven the bound stands with its kind and its distance"
auto=$(makespan) longer=
for planner in $("$weft" planners --markdown | sed -n 's/^### `\(.*\)`$/\1/p'); do
    case $planner in optimal | auto) continue ;; esac
    "$weft" plan layered.yaml --on homogeneous:n=8,bandwidth=1 --with "$planner" --json >out 2>err || continue
    grep -q '"kind": *"static"' out || continue
    other=$(sed -n 's/.*"makespan": *\([0-9.e+]*\).*/\1/p' out | head -n 1)
    longer+=$(awk -v a="$auto" -v b="$other" -v n="$planner" 'BEGIN { if (b == "" || a > b * (1 + 1e-6)) print n " " b ";"; else print "" }')
    seen=$((seen + 1))
done
[ -z "$longer" ] && [ "$seen" -ge 25 ]
ok $? "of $seen planners that \`weft planners\` lists none has a shorter plan than auto: $longer"
echo "1..$count"
exit $failed
