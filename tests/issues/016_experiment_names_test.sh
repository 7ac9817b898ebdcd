#!/usr/bin/env bash
# Experiments over what makes the workflow another graph: parameters in names of files and tasks and in settings, and
# lists. Every result is compared with a plain `weft run -p` of that combination, in a folder of its own. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
weft() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
refused() { # text-of-error what: experiment.yaml as it is now
    weft experiment experiment.yaml --plan-only --on 2
    [ $? = 2 ] && grep -qF -- "$1" "$work/err"
    ok $? "$2"
}
mkdir "$work/one" && cd "$work/one" || exit 1

# ---- every combination, nothing twice ----
cat >flow.yaml <<'E'
weft: 1
name: grid
parameters: { res: 10, seed: 7, level: 5, room: 1 }
lists: { part: [1, 2] }
tasks:
  base: { run: "echo {seed} > {out}", out: base.txt }
  "mesh-{res}": { memory: "{room}M", run: "echo mesh {res} $(cat {in}) > {out}", in: base.txt, out: "mesh_{res}.txt" }
  solve: { each: part, run: "echo {part} $(cat {in}) > {out}", in: "mesh_{res}.txt", out: "u_{res}_{part}.txt" }
  sum: { run: "cat {in} > {out}; echo level {level} >> {out}", in: "u_{res}_{part}.txt", out: "sum_{res}.txt" }
E
cat >experiment.yaml <<'E'
weft: 1
workflow: flow.yaml
substitute:
  res: { parameter: res, by: [10, 20] }
  part: { parameter: part, by: { one: "1", two: "1,2", three: "1,2,3" } }
  level: { parameter: level, by: [5, 6] }
E
weft experiment experiment.yaml --plan-only --on 2 --json
# base, 2 meshes, 2 x 3 parts of solve, 2 x 3 x 2 sums; each combination alone has 3 and its parts
python3 - "$work/out" <<'E' 2>"$work/err"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["graphs"] == 6 and x["combinations"] == 12, x
assert x["tasks"] == 1 + 2 + 6 + 12, x["tasks"]
assert x["tasks_without_reuse"] == sum(2 * 2 * (3 + parts) for parts in (1, 2, 3)), x["tasks_without_reuse"]
E
ok $? "twelve combinations in six graphs: what does not depend on a value stands once"
weft experiment experiment.yaml && grep -q "21 tasks ran" "$work/out"
ok $? "it runs"
weft experiment experiment.yaml -n && grep -q "nothing to do" "$work/out"
ok $? "and has nothing to do the second time"
same=0
for res in 10 20; do
    for part in one:1 two:1,2 three:1,2,3; do
        for level in 5 6; do
            mkdir "$work/plain" && cp flow.yaml "$work/plain" && "$weft" run "$work/plain/flow.yaml" -q -p res=$res -p part="${part#*:}" -p level=$level &&
                cmp "$work/plain/sum_$res.txt" "results/res=$res,part=${part%:*},level=$level/sum_$res.txt" && same=$((same + 1))
            rm -rf "$work/plain"
        done
    done
done
[ "$same" = 12 ]
ok $? "every result is what a plain run with -p makes ($same of 12)"
[ -e results/steps/base.txt ] && [ -e results/steps/res=20/mesh_20.txt ] && [ -e results/steps/res=10/u_10_1.txt ]
ok $? "what does not depend on a value does not have it in its label"
weft experiment experiment.yaml --list --values 'sum_{res}.txt' && [ "$(grep -cE '^(10|20) +(one|two|three) +[56] +mesh' "$work/out")" = 12 ]
ok $? "--values names a result by its parameters"
weft experiment experiment.yaml --list --values 'sm_{res}.txt'
[ $? = 2 ] && grep -qF "no result of flow.yaml has that name; one is 'sum_10.txt'" "$work/err"
ok $? "a name that no reading has is told"

# ---- some of them ----
echo 'combine: [ { res: 20 }, { part: three, level: 6 } ]' | cat experiment.yaml - >some.yaml
weft experiment some.yaml && [ -e "results/res=20/sum_20.txt" ] && [ -e "results/part=three,level=6/sum_10.txt" ]
ok $? "what is not named stays as the file has it"
cmp results/res=20/sum_20.txt results/res=20,part=two,level=5/sum_20.txt 2>"$work/err"
ok $? "with the same content"
sed 's/parameter: res, by: .*/parameter: room, by: [1, 2] }/; /level:/d; s/  res:/  room:/' experiment.yaml >room.yaml
weft experiment room.yaml --plan-only --on 2 && grep -q "6 combinations" "$work/out" && grep -qE '^  tasks +8 ' "$work/out"
ok $? "a setting alone makes no other computation"

# ---- mistakes ----
cp experiment.yaml good.yaml
sed 's/parameter: res/parameter: rex/' good.yaml >experiment.yaml
refused "experiment.yaml:4: substitution 'res': there is no parameter 'rex' in flow.yaml; did you mean 'res'?" "a slip in a name"
sed 's/"1,2,3"/"1,1"/' good.yaml >experiment.yaml
refused "experiment.yaml:4: with res=10,part=1,1: -p part=1,1: the value '1' stands twice" "a value that the file cannot be read with"
sed 's/  level: .*/  work: { task: solve@part=3, by: { a: {}, b: "echo > {out}" } }/' good.yaml >experiment.yaml
refused "experiment.yaml:6: substitution 'work': there is no task 'solve@part=3' in flow.yaml; did you mean 'solve@part=1'? (with res=10,part=one)" "a task that some graph does not have"
sed 's/  level: .*/  again: { parameter: res, by: [1] }/' good.yaml >experiment.yaml
refused "experiment.yaml:6: substitutions 'res' and 'again' both replace 'res'" "one parameter twice"
sed 's/by: \[10, 20\]/range: { from: 1, to: 20000 }/; /part:/d; /level:/d' good.yaml >experiment.yaml
refused "the combinations ask for 20000 readings of flow.yaml, and at most 10000 are made" "too many graphs"
cp good.yaml experiment.yaml
weft experiment experiment.yaml --plan-only --on 2 -p res=5
[ $? = 2 ] && grep -qF "experiment.yaml:4: substitution 'res' gives 'res' its values, and so does -p res=5" "$work/err"
ok $? "-p of what the experiment replaces is refused, not passed over"
echo "1..$count"
exit $failed
