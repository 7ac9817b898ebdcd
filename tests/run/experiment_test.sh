#!/usr/bin/env bash
# `weft experiment` from the outside: figures, labels, the merged workflow, the run, mistakes; and the examples run for real.
# Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
. "$(dirname "$0")/../support/tap.sh"
# json EXPRESSION ARGUMENTS...: holds for the object that `weft experiment ARGUMENTS --json` prints
json() {
    local expression=$1; shift
    "$weft" experiment "$@" --json >"$work/out" 2>"$work/err" && python3 -c "import json, sys
d = json.load(open('$work/out'))
sys.exit(not ($expression))"
}
fails() { # status part-of-message arguments...
    local want=$1 part=$2; shift 2
    "$weft" experiment "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$want" ] && grep -qF -- "$part" "$work/err" && ! grep -qE 'Sanitizer|runtime error' "$work/err"
    ok $? "exit $want, '$part'"
    [ $got = "$want" ] || sed 's/^/# got /' "$work/err"
}
cp -r examples "$work/examples"
root=$PWD
cd "$work" || exit 1
edges=examples/edges/experiment.yaml

# --- the experiment of the paper ---
json 'd["schema"] == "weft-experiment/1" and d["combinations"] == 6 and d["tasks"] == 23 and d["tasks_without_reuse"] == 36 and d["inputs"] == 1' $edges --plan-only --on 9
ok $? "two regions, three filters: 23 tasks in place of 36"
json 'abs(d["work"] - 0.94) < 1e-9 and abs(d["work_without_reuse"] - 3.6) < 1e-9 and 0 < d["makespan"] < d["makespan_without_reuse"]' $edges --plan-only --on 2
ok $? "predicted time with and without reuse"
json 'd["tasks_remaining"] == 23 and "rows" not in d' $edges --plan-only
ok $? "nothing has been computed yet"
json '[r["label"] for r in d["rows"]][1] == "image=region_a,filter=prewitt" and len(d["rows"]) == 6 and d["rows"][5]["results"][1] == "results/image=region_b,filter=canny/score.txt"' $edges --list
ok $? "--list names combinations and their results"
[ ! -e examples/edges/.weft ] && [ ! -e examples/edges/results ]
ok $? "none of these leaves anything behind"
"$weft" experiment $edges -o merged.yaml -q >/dev/null && "$weft" show merged.yaml --json | grep -q '"tasks": 23'
ok $? "-o writes the merged workflow"
"$weft" experiment $edges -o - | cmp -s - merged.yaml
ok $? "-o - prints the same"
"$weft" plan merged.yaml --on 9 --with heft -o plan.json -q >/dev/null && "$weft" check plan.json >/dev/null && "$weft" sim plan.json >/dev/null
ok $? "it is a workflow like any other: planned, checked, simulated"
"$weft" experiment $edges -o merged.dot -q >/dev/null && "$weft" show merged.dot --json | grep -q '"tasks": 23'
ok $? "and goes into other formats"

# --- run ---
"$weft" experiment $edges --values score.txt >out 2>err
ok $? "the experiment runs"
[ "$(grep -cE '^region_[ab] +(sobel|prewitt|canny) .* 0\.[0-9]{4}|^region_[ab] +canny .*1\.0000' out)" = 6 ]
ok $? "and ends with a table of its figures"
grep -q 'merit 0.9' "examples/edges/results/image=region_a,filter=canny/score.txt"
ok $? "results stand under their combination"
[ "$(find examples/edges/results -name view.txt | wc -l)" = 6 ] && [ "$(find examples/edges/results -name region.pgm | wc -l)" = 2 ]
ok $? "six results, each region drawn once"
cp examples/edges/edges.c examples/edges/edges.yaml "$work/" && sed -i 's/draw a/draw b/; s/ sobel / prewitt /' edges.yaml && "$weft" run edges.yaml -q
cmp -s score.txt "examples/edges/results/image=region_b,filter=prewitt/score.txt"
ok $? "a result is what the workflow alone gives when its tasks are replaced by hand"
"$weft" experiment $edges >out 2>err && grep -q 'nothing to do: 23 tasks' out
ok $? "again: nothing is computed twice"
json 'd["tasks_remaining"] == 0' $edges --plan-only
ok $? "--plan-only knows that all is there"
sed -i 's/canny 6 14/canny 5 14/' $edges
json 'd["tasks_remaining"] == 6' $edges --plan-only
ok $? "another canny: two detections and what follows them"
"$weft" experiment $edges --dry-run | grep -q 'would run 6 of 23'
ok $? "--dry-run says which"
"$weft" experiment $edges --json | tail -n 1 | python3 -c 'import json, sys; json.load(sys.stdin)'
ok $? "--json gives the run's events"
json 'd["rows"][2]["values"]["recall"] == "1.0000"' $edges --list --values score.txt
ok $? "figures of results as JSON"

# --- parameters, data, labels ---
cat >flow.yaml <<'END'
weft: 1
parameters: { p: 0, q: 0 }
tasks:
  left: { run: "echo {p} | cat - {in} > {out}", in: [a.txt], out: [left.txt], work: 1 }
  right: { run: "echo {q} | cat - {in} > {out}", in: [b.txt], out: [right.txt], work: 1 }
  join: { run: "cat {in} > {out}", in: [right.txt, left.txt, left.txt], out: [joined.txt], work: 1 }
END
cat >exp.yaml <<'END'
weft: 1
workflow: flow.yaml
substitute:
  p: { parameter: p, by: [1, 2, 3] }
  q: { parameter: q, range: { from: 1, to: 3 } }
  a: { data: a.txt, by: [x/f.txt, y/f.txt] }
  b: { data: b.txt, by: [x/f.txt, y/f.txt] }
END
mkdir -p x y && echo X >x/f.txt && echo Y >y/f.txt
json 'd["combinations"] == 36 and d["tasks_without_reuse"] == 108 and d["tasks"] == 6 + 36 and d["inputs"] == 2' exp.yaml --plan-only
ok $? "left and right do the same to the same files: six computations, not twelve"
"$weft" experiment exp.yaml -q
printf '2\nX\n3\nY\n3\nY\n' | cmp -s - "results/p=3,q=2,a=y_f.txt,b=x_f.txt/joined.txt"
ok $? "a combination's result, inputs in their order"
printf '2\nX\n2\nX\n2\nX\n' | cmp -s - "results/p=2,q=2,a=x_f.txt,b=x_f.txt/joined.txt"
ok $? "and where both branches are one computation"
printf 'combine: [{p: 2, a: y/f.txt}, {q: 3, a: x_f.txt, b: x_f.txt}]\n' | cat exp.yaml - >listed.yaml
echo B >b.txt
json '[r["choices"] for r in d["rows"]] == [["2", None, "y_f.txt", None], [None, "3", "x_f.txt", "x_f.txt"]]' listed.yaml --list
ok $? "listed combinations; what they do not name stays"
printf 'combine: { sample: 7, seed: 4 }\n' | cat exp.yaml - >sample.yaml
json 'd["combinations"] == 7 and len(set(r["label"] for r in d["rows"])) == 7' sample.yaml --list
ok $? "a sample"
"$weft" experiment sample.yaml --list --json | grep label >one; "$weft" experiment sample.yaml --list --json | grep label | cmp -s - one
ok $? "is the same every time"

# --- mistakes ---
fails 2 "no/such.yaml" no/such.yaml
fails 2 "this is a workflow file; expected an experiment" flow.yaml
sed 's/parameter: p/parameter: pp/' exp.yaml >bad.yaml; fails 2 "bad.yaml:4: substitution 'p': there is no parameter 'pp' in flow.yaml" bad.yaml
sed 's/workflow: flow/workflow: flwo/' exp.yaml >bad.yaml; fails 2 "flwo.yaml" bad.yaml --plan-only
sed 's/\[1, 2, 3\]/{ from: 1 }/; s/by: {/range: {/' exp.yaml >bad.yaml; fails 2 "bad.yaml:4: substitution 'p': a range has from, to" bad.yaml
fails 2 "no planner 'hfet'" exp.yaml --with hfet
fails 2 "predicts no makespan" exp.yaml --with ic
fails 2 "--values joned.txt: no result of flow.yaml has that name; did you mean 'joined.txt'?" exp.yaml --values joned.txt
fails 2 "only one result can go to standard output" exp.yaml -o - --json
"$weft" show exp.yaml >/dev/null 2>err; [ $? = 2 ] && grep -q "this is an experiment file" err
ok $? "other commands say that it is an experiment"
sed 's/echo {p} |/exit {p}; echo |/' flow.yaml >flow2.yaml; sed 's/flow.yaml/flow2.yaml/' exp.yaml >bad.yaml
"$weft" experiment bad.yaml >out 2>err; [ $? = 1 ] && grep -q "left@p=1" out err
ok $? "a task that fails is named with its combination, exit 1"

# --- size ---
{ echo 'weft: 1'; echo 'parameters: {p: 0, q: 0}'; echo 'tasks:'; for t in $(seq 0 19); do
    case $t in 5) c="x {p}" ;; 12) c="y {q}" ;; *) c="z$t" ;; esac
    echo "  t$t: {run: \"$c {in} {out}\", in: [o$((t - 1))], out: [o$t], work: 1}"; done; } >long.yaml
printf 'weft: 1\nworkflow: long.yaml\nsubstitute:\n  a: {parameter: p, range: {from: 1, to: 100}}\n  b: {parameter: q, range: {from: 1, to: 100}}\n' >large.yaml
json 'd["combinations"] == 10000 and d["tasks"] == 80705 and d["tasks_without_reuse"] == 200000' large.yaml --plan-only --with heft --on 9
ok $? "ten thousand combinations of twenty tasks"

# --- the other examples ---
"$weft" run examples/monte-carlo/monte-carlo.yaml -q && awk '$1 == "pi" { pi = $2 } $1 == "error" { e = $2 } END { d = pi - 3.14159265; exit !(d * d < 16 * e * e && e < 0.01) }' examples/monte-carlo/pi.txt
ok $? "monte-carlo: pi within its error"
"$weft" run examples/genomics/genomics.yaml -q && grep -q 'right 50' examples/genomics/report.txt && grep -q 'wrong 0' examples/genomics/report.txt
ok $? "genomics: every variant is found, and no other"
json 'd["combinations"] == 60 and d["tasks"] == 81 and d["tasks_without_reuse"] == 180' examples/sweep/experiment.yaml --plan-only
ok $? "sweep: 81 tasks in place of 180"
"$weft" experiment examples/sweep/experiment.yaml -q && [ "$(find examples/sweep/results -name peak.txt | wc -l)" = 60 ] && [ "$(find examples/sweep/results -name days.txt | wc -l)" = 20 ]
ok $? "sweep: runs, an epidemic for each pair of chances"
echo "1..$count"
cd "$root" && exit $failed
