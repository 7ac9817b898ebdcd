#!/usr/bin/env bash
# Issue 17, point 3: an experiment had no constraints of its own, neither in its file nor by --assert, and planned past those of its workflow. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
status() { "$weft" "${@:2}" >"$work/out" 2>"$work/err"; [ $? = "$1" ]; }
cat >"$work/flow.yaml" <<'YAML'
weft: 1
name: flow
parameters: { p: 1 }
tasks:
  a: { run: "echo {p} > {out}", out: a.txt, work: 4 }
  b: { run: "cat {in} > {out}", in: a.txt, out: b.txt, work: 2 }
YAML
within() { echo "assert value requirement (function = (select max(task-finish-time) from task), max = $1)"; }
exp() { # assertions, as YAML
    printf 'weft: 1\nexperiment: try\nworkflow: flow.yaml\nsubstitute:\n  s: { parameter: p, by: [1, 2] }\n%s\n' "$1" >"$work/try.exp.yaml"
}
exp ""
say experiment "$work/try.exp.yaml" --plan-only --on 2 && grep -q "by auto" "$work/out"
ok $? "without constraints it is planned as before"
say experiment "$work/try.exp.yaml" --plan-only --on 2 --assert "$(within 7)" && grep -q "by constraints" "$work/out"
ok $? "--assert: planned by the planner that looks at them"
status 3 experiment "$work/try.exp.yaml" --plan-only --on 2 --assert "$(within 5)"
ok $? "what no schedule fulfils is said, with status 3"
status 2 experiment "$work/try.exp.yaml" --plan-only --on 2 --assert 'assert makespam < 5'
ok $? "and what nobody understands, with status 2"
exp "assert: $(within 5)"
status 3 experiment "$work/try.exp.yaml" --plan-only --on 2
ok $? "one in the experiment's file"
exp "assert: ['$(within 7)', '$(within 100)']"
say experiment "$work/try.exp.yaml" -o "$work/merged.yaml" -q && [ "$(grep -c "value requirement" "$work/merged.yaml")" = 2 ]
ok $? "a list of them; the merged workflow has them"
say experiment "$work/try.exp.yaml" --plan-only --on 2 --with heft && grep -q "heft does not look at the constraints" "$work/err"
ok $? "another planner says that it does not look"
exp ""
sed -i "s/^parameters/assert: $(within 5)\nparameters/" "$work/flow.yaml"
status 3 experiment "$work/try.exp.yaml" --plan-only --on 2
ok $? "those of the workflow count, too"
sed -i '/^assert/d' "$work/flow.yaml"
exp "assert: $(within 1000)"
say experiment "$work/try.exp.yaml" -q && [ -s "$work/results/s=2/b.txt" ]
ok $? "and it runs"
echo "1..$count"
exit $failed
