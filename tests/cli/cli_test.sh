#!/usr/bin/env bash
# The commands as a user types them: results, mistakes, exit statuses, and that nothing is left half-written.
set -u
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
ok() { # ok CONDITION-STATUS DESCRIPTION
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
        echo "not ok $n - $2"; bad=1
        sed 's/^/# got out: /' "$work/out" | head -n 5; sed 's/^/# got err: /' "$work/err" | head -n 5
    fi
}
# run STATUS DESCRIPTION COMMAND...: the exit status must be this one, and no sanitizer may speak
run() {
    local want=$1 what=$2; shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null
    local got=$?
    [ "$got" -eq "$want" ] && ! grep -qE 'Sanitizer|runtime error' "$work/err"
    ok $? "$what (exit $got, expected $want)"
}
says() { grep -qF -- "$1" "$work/err"; ok $? "says: $1"; }
prints() { grep -qF -- "$1" "$work/out"; ok $? "prints: $1"; }

# --- the ordinary way through ---
run 0 "show" "$weft" show examples/montage-25.dag --svg "$work/graph.svg"
prints "tasks           25"
run 0 "the graph picture renders" rsvg-convert "$work/graph.svg" -o "$work/graph.png"
run 0 "plan" "$weft" plan examples/montage-25.dag --on examples/cluster.yaml --with heft -o "$work/plan.json" --gantt "$work/plan.svg" --trace "$work/trace.json"
run 0 "the Gantt chart renders" rsvg-convert "$work/plan.svg" -o "$work/plan.png"
run 0 "the trace is JSON" python3 -c "import json,sys; json.load(open('$work/trace.json'))['traceEvents'][0]"
run 0 "check" "$weft" check "$work/plan.json"
prints "valid: a static plan by heft"
run 0 "check --json is one JSON object" bash -c "'$weft' check '$work/plan.json' --json | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d[\"valid\"] and d[\"schema\"]==\"weft-check/1\" and d[\"violations\"]==[]'"
run 0 "plan --json is one JSON object" bash -c "'$weft' plan examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml --with heft --json | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d[\"objectives\"][\"makespan\"]==80, d; assert d[\"workflow\"][\"edges\"]==15 and d[\"platform\"][\"nodes\"]==3'"
run 0 "compare --json" bash -c "'$weft' compare examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml --with heft,cpop --json | python3 -c 'import json,sys; d=json.load(sys.stdin); r=d[\"rows\"]; assert [x[\"planner\"] for x in r]==[\"heft\",\"cpop\"] and all(x[\"valid\"] for x in r) and r[1][\"makespan\"]==86'"
run 0 "show --json has what interfaces promise" bash -c "'$weft' show examples/genomics.yaml --json | python3 -c 'import json,sys; d=json.load(sys.stdin); assert all(k in d for k in \"schema format name tasks edges objects sources sinks depth width work data critical_path ccr is_tree warnings\".split())'"
run 0 "planners --json" bash -c "'$weft' planners --json | python3 -c 'import json,sys; d=json.load(sys.stdin); assert len(d[\"planners\"])>=26 and all(k in d[\"planners\"][0] for k in (\"name\",\"family\",\"summary\",\"options\",\"accepts\"))'"
run 0 "formats --json" bash -c "'$weft' formats --json | python3 -c 'import json,sys; assert len(json.load(sys.stdin)[\"formats\"])>=15'"
run 0 "sim" "$weft" sim "$work/plan.json" --network fair
run 0 "sim --json" bash -c "'$weft' sim '$work/plan.json' --json | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d[\"schema\"]==\"weft-sim/1\" and all(k in d for k in (\"makespan\",\"tasks\",\"events\",\"seconds\",\"utilization\",\"bytes_moved\"))'"
run 0 "a platform can be shown" "$weft" show examples/cluster.yaml
prints "fast1"
run 0 "a plan can be shown" "$weft" show "$work/plan.json"
run 0 "plan without --on: this machine" "$weft" plan examples/genomics.yaml --with heft
run 0 "help" "$weft" help
run 0 "help on a command" "$weft" plan --help
prints "usage: weft plan FLOW"
run 0 "every command has help" bash -c "for c in \$('$weft' help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vE '^(help|version)$'); do '$weft' help \$c | grep -q usage || exit 1; done"
run 0 "version" "$weft" version

# --- the same seed, the same file; there and back ---
for generator in $("$weft" generate | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
    "$weft" generate "$generator" --seed 5 -o "$work/a.yaml" 2>"$work/err" && "$weft" generate "$generator" --seed 5 -o "$work/b.yaml" 2>>"$work/err"
    cmp -s "$work/a.yaml" "$work/b.yaml" && [ -s "$work/a.yaml" ]
    ok $? "generate $generator twice"
done
for suffix in yaml json dot dag; do
    run 0 "convert to .$suffix" "$weft" convert examples/genomics.yaml "$work/x.$suffix"
    run 0 "and back" "$weft" convert "$work/x.$suffix" "$work/y.yaml"
    a=$("$weft" show examples/genomics.yaml --json | grep -E '"(tasks|edges)"'); b=$("$weft" show "$work/y.yaml" --json | grep -E '"(tasks|edges)"')
    [ "$a" = "$b" ]; ok $? "the same graph through .$suffix"
done
run 0 "convert a platform" "$weft" convert examples/cluster.yaml "$work/p.yaml"
run 0 "what is dropped is said" "$weft" convert examples/genomics.yaml "$work/x.stg"
says "dropped:"

# --- mistakes on the command line: exit 2 and a remedy ---
run 2 "no command" "$weft"
run 2 "unknown command" "$weft" plam x
says "did you mean 'plan'?"
run 2 "unknown option" "$weft" plan examples/edges.yaml --wiht heft
says "did you mean --with?"
run 2 "unknown planner" "$weft" plan examples/edges.yaml --with hfet
says "did you mean 'heft'?"
run 2 "unknown planner option" "$weft" plan examples/edges.yaml --with auto --set bugdet=1s
says "budget"
run 2 "bad planner option" "$weft" plan examples/edges.yaml --with auto --set budget=soon
run 2 "option without value" "$weft" plan examples/edges.yaml --with
run 2 "missing operand" "$weft" plan
run 2 "too many operands" "$weft" show a b
run 2 "unknown format" "$weft" convert examples/edges.yaml "$work/x" --to nonsense
run 2 "unknown suffix" "$weft" convert examples/edges.yaml "$work/x.nonsense"
run 2 "bad seed" "$weft" plan examples/edges.yaml --seed -3
run 2 "generator option out of range" "$weft" generate layered --set n=-5
run 2 "unknown generator" "$weft" generate layerd
says "layered"

# --- infeasible: exit 3, and why ---
printf 'weft: 1\nnodes: [{name: tiny, memory: 1M}]\n' >"$work/tiny.yaml"
run 3 "a task that fits nowhere" "$weft" plan examples/genomics.yaml --on "$work/tiny.yaml" --with heft
says "bytes of memory; the largest node has"

# --- bad files: exit 2, the place and the cause, nothing overwritten ---
bad_file() { # NAME TEXT EXPECTED-MESSAGE
    printf "$2" >"$work/$1"
    echo precious >"$work/keep.yaml"
    run 2 "$1" "$weft" convert "$work/$1" "$work/keep.yaml"
    says "$3"
    [ "$(cat "$work/keep.yaml")" = precious ]; ok $? "$1: the output is untouched"
}
bad_file cycle.yaml 'weft: 1\ntasks:\n  a: {after: [c]}\n  b: {after: [a]}\n  c: {after: [b]}\n' 'in a cycle: '
bad_file twice.yaml 'weft: 1\ntasks:\n  a: {work: 1}\n  a: {work: 2}\n' 'twice.yaml:4'
bad_file unknown.yaml 'weft: 1\ntasks:\n  a: {wrok: 1}\n' "did you mean 'work'?"
bad_file negative.yaml 'weft: 1\ntasks:\n  a: {work: -1}\n' 'negative.yaml:3'
bad_file nan.yaml 'weft: 1\ntasks:\n  a: {work: .nan}\n' 'nan.yaml:3'
bad_file dangling.yaml 'weft: 1\ntasks:\n  a: {after: [nobody]}\n' "nobody"
bad_file self.yaml 'weft: 1\ntasks:\n  a: {after: [a]}\n' "'a' depends on itself"
bad_file truncated.json '{"name": "x", "schemaVersion": "1.5", "workflow": {' 'truncated.json:1'
bad_file huge.json '{"name":"x","schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a","id":"a","parents":[],"children":[]}]},"execution":{"makespanInSeconds":1,"executedAt":"","tasks":[{"id":"a","runtimeInSeconds":1e999}]}}}' 'huge.json:1'
bad_file utf16.yaml '\377\376w\000e\000' 'UTF-16'
bad_file binary.dag '\177ELF\001\002\003\000' 'binary.dag'
: >"$work/empty.yaml"
run 2 "an empty file" "$weft" show "$work/empty.yaml"
says "empty"
run 2 "a directory" "$weft" show "$work"
says "directory"
run 2 "no such file" "$weft" show "$work/none.yaml"
if [ "$(id -u)" != 0 ]; then
    cp examples/edges.yaml "$work/secret.yaml"; chmod 000 "$work/secret.yaml"
    run 2 "no permission" "$weft" show "$work/secret.yaml"
else
    n=$((n + 1)); echo "ok $n - no permission # SKIP root may read everything"
fi
for bracket in '[' '{"a":'; do
    python3 -c "import sys; sys.stdout.write('$bracket' * 20000000)" >"$work/deep.json"
    run 2 "20,000,000 times $bracket" timeout 60 "$weft" show "$work/deep.json"
done
(echo 'weft: 1'; echo 'tasks:'; python3 -c "import sys; sys.stdout.write('[' * 20000000)") >"$work/deep.yaml"
run 2 "20,000,000 brackets of YAML" timeout 60 "$weft" show "$work/deep.yaml"
run 2 "output into a directory that is not there" "$weft" plan examples/edges.yaml --with heft -o "$work/no/such/plan.json"
run 2 "output onto a directory" "$weft" plan examples/edges.yaml --with heft -o "$work"
ls "$work"/*.tmp-* >/dev/null 2>&1; [ $? -ne 0 ]; ok $? "no temporary files are left"
if [ -w /dev/full ]; then
    "$weft" plan examples/edges.yaml --with heft --json >/dev/full 2>"$work/err"; [ $? -eq 1 ]
    ok $? "a full disk under standard output is said"
fi

# --- plans of other workflows, broken plans ---
run 2 "a plan of another workflow" "$weft" check "$work/plan.json" --workflow examples/edges.yaml
sed 's/"makespan": [0-9.]*/"makespan": 1/' "$work/plan.json" >"$work/liar.json"
run 1 "a plan that lies about its makespan" "$weft" check "$work/liar.json" --workflow examples/montage-25.dag --on examples/cluster.yaml
prints "objective"

# --- pipes: a file that can be read only once, and results among results ---
run 0 "show from a pipe" bash -c "'$weft' show <(cat examples/montage-25.dag)"
prints "tasks           25"
run 0 "plan with both files from pipes" timeout 20 bash -c "'$weft' plan <(cat examples/genomics.yaml) --on <(cat examples/cluster.yaml) --with heft"
run 0 "convert from a pipe" timeout 20 bash -c "'$weft' convert <(cat examples/montage-25.dag) - --to dot"
run 0 "a plan through a pipe into check" bash -c "'$weft' plan examples/genomics.yaml --on 4 --with heft --json | '$weft' check -"
run 0 "and into show" bash -c "'$weft' plan examples/genomics.yaml --on 4 --with heft --json | '$weft' show -"
run 2 "a plan of standard input names no workflow" bash -c "'$weft' plan - --on 4 --with heft --json <examples/genomics.yaml | '$weft' check -"
says "does not name its workflow"
run 0 "plan -o - is JSON and nothing else" bash -c "'$weft' plan examples/genomics.yaml --on 4 --with heft -o - | python3 -c 'import json,sys; json.load(sys.stdin)'"
run 0 "plan -o - --json says it once" bash -c "'$weft' plan examples/genomics.yaml --on 4 --with heft -o - --json | python3 -c 'import json,sys; json.load(sys.stdin)'"
run 2 "two results on standard output" "$weft" plan examples/genomics.yaml --on 4 --with heft -o - --gantt -
run 0 "show --svg - is a picture and nothing else" bash -c "'$weft' show examples/genomics.yaml --svg - | rsvg-convert -o '$work/stdout.png'"
"$weft" planners 2>"$work/err" | head -n 1 >/dev/null
[ ! -s "$work/err" ]; ok $? "a reader that has seen enough needs no message"

# --- options that would be passed over ---
run 2 "an option that the reader does not have" "$weft" show examples/montage-25.dag --read subdag=inline
says "no option 'subdag'"
run 2 "no name to read" "$weft" show ""
says "empty"
run 2 "no name to write" "$weft" plan examples/genomics.yaml --on 4 --with heft -o ""
says "empty"
run 2 "a planner that is not there, before anything is read" "$weft" plan no-such-file --with no-such-planner
says "no planner"
for budget in -1 nan 1e300x '' 0; do
    run 2 "compare --budget '$budget'" "$weft" compare examples/genomics.yaml --on 2 --budget "$budget"
    says "--budget is '$budget'"
done
if [ -w /dev/full ]; then
    run 2 "a full disk is named by its file" "$weft" plan examples/edges.yaml --with heft -o /dev/full
    says "/dev/full: cannot write"
fi

# --- the key of a cluster ---
run 0 "a key in folders that are not there yet" "$weft" key "$work/a/b/cluster.key"
prints "copy the file to every machine"
[ "$(stat -c %a "$work/a/b/cluster.key" "$work/a/b" "$work/a" | tr '\n' ' ')" = "600 700 700 " ]; ok $? "for its owner alone, the folders too"
run 2 "a key is never overwritten" "$weft" key "$work/a/b/cluster.key"
says "never overwritten"
run 0 "its eight digits" "$weft" key --show "$work/a/b/cluster.key"
grep -qxE '[0-9a-f]{8}' "$work/out"; ok $? "are all that is shown"
chmod 644 "$work/a/b/cluster.key"
run 2 "a key that others may read is refused" "$weft" key --show "$work/a/b/cluster.key"
says "chmod 600"
run 0 "the standard place" env -u WEFT_KEY XDG_CONFIG_HOME="$work/config" "$weft" key -q
run 0 "which --show knows" env -u WEFT_KEY XDG_CONFIG_HOME="$work/config" "$weft" key --show
run 0 "or the one that WEFT_KEY names" env WEFT_KEY="$work/named.key" "$weft" key --json
[ -s "$work/config/weft/key" ] && [ -s "$work/named.key" ]; ok $? "both are there"
run 2 "no home" env -u WEFT_KEY -u XDG_CONFIG_HOME -u HOME "$weft" key
says "name a file"
run 2 "no such key" "$weft" key --show "$work/nothing.key"
says "cannot be read"

# --- names are anybody's: none steers the terminal ---
printf 'weft: 1\nname: "x\\e[31m\\ny"\ntasks:\n  "a\\e[31m\\nb": {work: 1}\n  c: {work: 2, after: ["a\\e[31m\\nb"]}\n' >"$work/evil.yaml"
printf 'weft: 1\ntasks:\n  c: {work: 2, after: ["a\\e[31m\\nb"]}\n' >"$work/evil-error.yaml"
for command in "show $work/evil.yaml --tasks" "show $work/evil-error.yaml" "plan $work/evil.yaml --on 2 --with heft" "compare $work/evil.yaml --on 2 --with heft"; do
    $weft $command >"$work/out" 2>"$work/err"
    ! grep -q $'\x1b' "$work/out" "$work/err"
    ok $? "no escape sequence from a file: ${command%% *}"
done
echo "1..$n"
exit $bad
