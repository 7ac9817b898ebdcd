#!/usr/bin/env bash
# Issue 14, point 3: `weft run f.yaml --set n=5` was accepted and did nothing. Every option of every command is given alone: the command
# uses it (the program itself fails when a given option was never asked for), or refuses it and says what it needs; with that, it is used.
# An option without a row below fails the test. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
unset WEFT_STORE WEFT_KEY
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
cat >flow.yaml <<'YAML'
weft: 1
name: small
tasks:
  first: { run: "echo a > {out}", out: a.txt, work: 2 }
  second: { run: "cat {in} > {out}", in: a.txt, out: b.txt, work: 1 }
YAML
cat >grows.yaml <<'YAML'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "seq 3 > {out}", out: c.txt, work: 1 }
  use: { each: c, run: "echo {c} > {out}", out: "c/{c}", work: 1 }
YAML
cat >stream.yaml <<'YAML'
weft: 1
tasks:
  s1: { work: 2, out: [{ name: x, size: 1M }] }
  s2: { work: 3, in: x }
YAML
cat >quick.yaml <<'YAML'
weft: 1
tasks:
  s1: { work: 0.002, out: [{ name: x, size: 1 }] }
  s2: { work: 0.003, in: x }
YAML
cat >lines.yaml <<'YAML'
weft: 1
tasks:
  copy: { run: "cat {in} > {out}", per_item: true, in: x, out: y }
YAML
printf 'a\nb\n' >lines.txt
cat >try.exp.yaml <<'YAML'
weft: 1
experiment: try
workflow: flow.yaml
substitute:
  word:
    task: first
    by:
      a: {}
      b: "echo b > {out}"
YAML
printf 'JOB first first.sub\nJOB second second.sub\nPARENT first CHILD second\n' >flow.dag
touch first.sh second.sh
printf 'digraph g { a -> b }\n' >graph.dot
printf 'name\tstatus\tsubmit\trealtime\na\tCOMPLETED\t2026-11-10 10:00:00\t1m\n' >trace.txt
printf 'rule cat:\n    shell: "true"\n' >Snakefile
cat >cluster.yaml <<'YAML'
weft: 1
network: { bandwidth: 1M }
nodes: [{ name: n1, speed: 1 }, { name: n2, speed: 2 }]
YAML
"$weft" plan flow.yaml --on 2 --with heft -o plan.json >/dev/null 2>err || cat err
"$weft" plan quick.yaml --on 2 --with stream --set throughput=0.5Tmax -o quick.json >/dev/null 2>>err || cat err
"$weft" sim flow.yaml --on 2 --trace trace.json >/dev/null 2>>err || cat err
"$weft" run flow.yaml >/dev/null 2>&1
"$weft" run flow.yaml --force >/dev/null 2>&1

# command | what is given before the option | option and value | beside these it is used, where alone it is not ("-": it is used alone)
rows() {
    cat <<'ROWS'
run|flow.yaml|--jobs 1|-
run|flow.yaml|--memory 1G|-
run|flow.yaml|--in-memory|-
run|flow.yaml|--memory-for-data 1M|refused: the workflow has no such data (022_data_memory_test.sh has)
run|flow.yaml|--spill .|--in-memory --plan plan.json
run|flow.yaml|--disk 1G|-
run|flow.yaml|--directory .|-
run|flow.yaml|--keep-going|-
run|flow.yaml|--force|-
run|flow.yaml|--dry-run|-
run|flow.yaml|--verbose|-n
run|flow.yaml|--resume|-
run|flow.yaml|--no-sandbox|-
run|flow.yaml|--keep-failed|-
run|flow.yaml|--keep-results|-
run|flow.yaml|--overwrite|-
run|flow.yaml|--no-limits|-
run|flow.yaml|--retry-delay 1s|-
run|flow.yaml|--no-history|-
run|flow.yaml|--risk 0.9|-
run||--of last -n|-
run|flow.yaml|--wait|-
run|flow.yaml|--why first|-
run|flow.yaml|--plan plan.json|-
run|flow.yaml|--order ic|-
run|flow.yaml|--with heft|-
run|flow.yaml|--set budget=1s|--with auto -n
run|flow.yaml|--follow hint|--plan plan.json
run|flow.yaml|--on local:1|-
run|flow.yaml|--nodes 2|--on slurm -n
run|flow.yaml|--store redis://127.0.0.1:1|--on local:1 -n
run|flow.yaml|--insecure-store|--on local:1 --store redis://127.0.0.1:1 -n
run|flow.yaml|--store-may-lose|--on cluster -n
run|flow.yaml|--key key|--on local:1 -n
run|flow.yaml|--submit best|--on local:1 -n
run|flow.yaml|--policy flds|--on local:1 -n
run|flow.yaml|--shared|--on local:1 -n
run|flow.yaml|--no-shared|--on local:1 -n
run|flow.yaml|--later|--on local:1 -n
run|flow.yaml|--priority 1|--on local:1 -n
run|flow.yaml|--has ssd|-
run|flow.yaml|--resources gpu=0,1|-
run|flow.yaml|--seed 3|--with heft -n
run|flow.yaml|--until first|-
run|flow.yaml|--since first|-
run|flow.yaml|--log run.log|-
run|flow.yaml|--from native|-
run|flow.yaml|--read x=1|refused by the reader
run|flow.yaml|--json|-
run|flow.yaml|--quiet|-
init|sub1|--quiet|-
import|graph.dot sub2.yaml|--from dot|-
import|graph.dot sub3.yaml|--read x=1|refused by the reader
import|graph.dot sub5.yaml|--until b|-
import|graph.dot sub6.yaml|--since b|-
import|graph.dot sub4.yaml|--quiet|-
lint|flow.yaml|--directory .|-
lint|flow.yaml|--from native|-
lint|flow.yaml|--read x=1|refused by the reader
lint|flow.yaml|--until first|-
lint|flow.yaml|--since second|-
lint|flow.yaml|--json|-
lint|flow.yaml|--quiet|-
profile|run|--json|-
clean|flow.yaml|--all -n|-
clean|flow.yaml|--kept -n|-
clean|flow.yaml|--directory .|-
clean|flow.yaml|--wait|-
clean|flow.yaml|--dry-run|-
clean|flow.yaml|--from native|-
clean|flow.yaml|--read x=1|refused by the reader
clean|flow.yaml|--until second|--all -n
clean|flow.yaml|--since second|--all -n
clean|flow.yaml|--json|-
clean|flow.yaml|--quiet|-
key|new.key|--page|key page
key|new.key|--show|key exists
key|new2.key|--json|-
key|new3.key|--quiet|-
plan|flow.yaml|--on 2|-
plan|flow.yaml|--with heft|-
plan|flow.yaml|--set budget=1s|-
plan|flow.yaml|--output p.json|-
plan|flow.yaml|--gantt p.svg|-
plan|flow.yaml|--zoom 0..5|--gantt z.svg
plan|flow.yaml|--trace p.trace|-
plan|stream.yaml --on 2|--front|-
plan|flow.yaml|--assert true|refused by the planner
plan|flow.yaml|--assert-file none.txt|refused by the planner
plan|flow.yaml|--explain|-
plan|flow.yaml|--seed 3|-
plan|flow.yaml|--from native|-
plan|flow.yaml|--read x=1|refused by the reader
plan|flow.yaml|--until second|-
plan|flow.yaml|--since first|-
plan|grows.yaml|--assume c=2|-
plan|flow.yaml|--no-predict|-
plan|flow.yaml|--risk 0.9|-
plan|flow.yaml|--json|-
plan|flow.yaml|--quiet|-
check|plan.json|--workflow flow.yaml|-
check|plan.json|--on 2|-
check|plan.json|--from native|-
check|plan.json|--read x=1|refused by the reader
check|plan.json|--until second|-
check|plan.json|--since first|-
check|plan.json|--no-predict|-
check|plan.json|--risk 0.9|-
check|plan.json|--json|-
check|plan.json|--quiet|-
compare|flow.yaml|--on 2|-
compare|flow.yaml|--with heft|-
compare|flow.yaml|--budget 1ms|-
compare|flow.yaml|--seed 3|-
compare|flow.yaml|--from native|-
compare|flow.yaml|--read x=1|refused by the reader
compare|flow.yaml|--until second|-
compare|flow.yaml|--since first|-
compare|flow.yaml|--no-predict|-
compare|flow.yaml|--risk 0.9|-
compare|flow.yaml|--json|-
compare|flow.yaml|--quiet|-
stream|lines.yaml|--from lines.txt|-
stream|lines.yaml --from lines.txt|--to lines.out|-
stream|lines.yaml --from clock:1000|--items 3|-
stream|quick.yaml --items 2|--plan quick.json|-
stream|quick.yaml --items 2 --on 2|--throughput 0.2Tmax|-
stream|quick.yaml --items 2 --on 2|--latency 10|-
stream|quick.yaml --items 2 --throughput 0.2Tmax|--on 2|-
stream|lines.yaml --from lines.txt|--unordered|-
stream|quick.yaml --items 2 --on 2 --throughput 0.2Tmax|--flood|-
stream|lines.yaml --from lines.txt|--tries 2|-
stream|lines.yaml --from lines.txt|--threads 2|-
stream|lines.yaml --from lines.txt|--directory .|-
stream|lines.yaml --from lines.txt|--figures figures.json|-
stream|lines.yaml --from lines.txt|--no-history|-
stream|lines.yaml --from lines.txt|--nodes 1|slow
stream|lines.yaml --from lines.txt|--cores 1|slow
stream|lines.yaml --from lines.txt|--listen 127.0.0.1:0|slow
stream|lines.yaml --from lines.txt|--store redis://127.0.0.1:1|slow
stream|lines.yaml --from lines.txt|--insecure-store|slow
stream|lines.yaml --from lines.txt|--key key|slow
stream||--lend 127.0.0.1:1|slow
stream||--helper 0|slow
stream|lines.yaml --from lines.txt|--read x=1|refused by the reader
stream|lines.yaml --from lines.txt|--until copy|-
stream|lines.yaml --from lines.txt|--since copy|-
stream|lines.yaml --from lines.txt|--json|-
stream|lines.yaml --from lines.txt|--quiet|-
sim|plan.json|--workflow flow.yaml|-
sim|flow.yaml|--on 2|-
sim|flow.yaml|--with heft|-
sim|flow.yaml --with auto|--set budget=10ms|-
sim|plan.json|--network fair|-
sim|plan.json|--ports 2|--network kport
sim|plan.json|--noise 0.1|-
sim|flow.yaml --on cluster.yaml|--fail n1@1+1|-
sim|plan.json|--mtbf 1000|-
sim|plan.json|--repair 1|--mtbf 100
sim|plan.json|--planned-times|-
sim|stream.yaml --on 2 --with stream|--items 5|-
sim|stream.yaml --on 2 --with stream|--fed flood|-
sim|stream.yaml --on 2 --with stream|--period 1|-
sim|stream.yaml --on 2 --with stream|--window 2|-
sim|flow.yaml|--clients|-
sim|flow.yaml|--interarrival 1|--clients
sim|flow.yaml|--batch 2|--clients
sim|flow.yaml|--arrivals fixed|--clients
sim|flow.yaml|--run-time 1|--clients
sim|flow.yaml|--deviation 0.1|--clients
sim|flow.yaml|--slow 0.1|--clients
sim|flow.yaml|--vanish 0.1|--clients
sim|flow.yaml|--timeout 5|--clients
sim|flow.yaml|--fifo|--clients
sim|flow.yaml|--schedulers 2|-
sim||--dag bot|-
sim|flow.yaml|--policy flds|--schedulers 2
sim|flow.yaml|--cores 2|--schedulers 2
sim|flow.yaml|--submit best|--schedulers 2
sim|flow.yaml|--beside flow.yaml@1:2|--schedulers 2
sim|plan.json|--repeat 2|-
sim|plan.json|--confidence 0.9|--repeat 2
sim|plan.json|--threads 1|--repeat 2
sim|plan.json|--trace t.json|-
sim|plan.json|--gantt t.svg|-
sim|plan.json|--zoom 0..5|--gantt z.svg
sim|plan.json|--change nobody@1:speed=2|refused: no such node
sim|plan.json|--keep-plan|slow
sim|plan.json|--utilization u.svg|-
sim|plan.json|--seed 3|--noise 0.1
sim|flow.yaml|--from native|-
sim|flow.yaml|--read x=1|refused by the reader
sim|flow.yaml|--until second|-
sim|flow.yaml|--since first|-
sim|grows.yaml|--assume c=2|-
sim|flow.yaml|--no-predict|-
sim|flow.yaml|--risk 0.9|-
sim|plan.json|--json|-
sim|plan.json|--quiet|-
bound||--dag bot|-
bound|flow.yaml|--schedulers 2|-
bound|flow.yaml|--cores 2|-
bound|flow.yaml|--set bandwidth=1M|-
bound|flow.yaml|--wait mean|-
bound|flow.yaml|--seed 3|-
bound|flow.yaml|--from native|-
bound|flow.yaml|--read x=1|refused by the reader
bound|flow.yaml|--until second|-
bound|flow.yaml|--since first|-
bound|grows.yaml|--assume c=2|-
bound|flow.yaml|--json|-
bound|flow.yaml|--quiet|-
experiment|try.exp.yaml|--plan-only|-
experiment|try.exp.yaml|--list|-
experiment|try.exp.yaml|--in-memory|slow
experiment|try.exp.yaml|--memory-for-data 1M|refused: the workflow has no such data
experiment|try.exp.yaml|--values b.txt|-
experiment|try.exp.yaml|--output merged.yaml|-
experiment|try.exp.yaml|--jobs 1|-
experiment|try.exp.yaml|--memory 1G|-
experiment|try.exp.yaml|--disk 1G|-
experiment|try.exp.yaml|--directory .|-
experiment|try.exp.yaml|--keep-going|-
experiment|try.exp.yaml|--force|-
experiment|try.exp.yaml|--dry-run|-
experiment|try.exp.yaml|--verbose|-n
experiment|try.exp.yaml|--resume|-
experiment|try.exp.yaml|--no-sandbox|-
experiment|try.exp.yaml|--keep-failed|-
experiment|try.exp.yaml|--keep-results|-
experiment|try.exp.yaml|--overwrite|-
experiment|try.exp.yaml|--no-limits|-
experiment|try.exp.yaml|--retry-delay 1s|-
experiment|try.exp.yaml|--no-history|-
experiment|try.exp.yaml|--risk 0.9|-
experiment|try.exp.yaml|--wait|-
experiment|try.exp.yaml|--has ssd|-
experiment|try.exp.yaml|--resources gpu=0,1|-
experiment|try.exp.yaml|--on 2|--plan-only
experiment|try.exp.yaml|--with heft|-
experiment|try.exp.yaml|--assert assert|refused by the reader
experiment|try.exp.yaml|--seed 3|--with heft
experiment|try.exp.yaml|--log run.log|-
experiment|try.exp.yaml|--from native|-
experiment|try.exp.yaml|--read x=1|refused by the reader
experiment|try.exp.yaml|--until first|-
experiment|try.exp.yaml|--since first|-
experiment|try.exp.yaml|--json|-
experiment|try.exp.yaml|--quiet|-
history||--import trace.txt|-
history||--workflow small|-
history||--failed|-
history||--since 1d|-
history||--limit 2|-
history||--where tasks>0|-
history||--words small|-
history||--tasks|-
history||--files|-
history||--digest a.txt|-
history|restore 1|--output restored|-
history||--lineage a.txt|-
history||--svg l.svg|--lineage a.txt
history|1|--tag good|-
history|1|--note words|-
history|1|--name first|-
history|1|--unsay|--tag good
history|1 2|--compare|-
history||--file a.txt|-
history||--export h.csv|-
history||--to csv|slow
history||--json|-
predict|flow.yaml|--tasks|-
predict||--error|-
predict||--limit 3|--error
predict|flow.yaml|--risk 0.9|-
predict|flow.yaml|--from native|-
predict|flow.yaml|--read x=1|refused by the reader
predict|flow.yaml|--until second|-
predict|flow.yaml|--since first|-
predict|flow.yaml|--json|-
predict|flow.yaml|--quiet|-
report||--output r.html|-
report|trace.json|--workflow flow.yaml|-
report|trace.json|--from native|--workflow flow.yaml
report|trace.json|--read x=1|refused by the reader
report|trace.json|--until second|--workflow flow.yaml
report|trace.json|--since first|--workflow flow.yaml
report||--json|-
report||--quiet|-
platform||--measure|slow
platform||--folder .|slow
platform|2|--output p.yaml|slow
platform||--save|slow
platform|2|--json|-
platform|2|--quiet|-
show|flow.yaml|--svg s.svg|-
show|flow.yaml|--zoom 0..5|slow
show|flow.yaml|--tasks|-
show|flow.yaml|--by kind|-
show|flow.yaml|--expanded|-
show|plan.json|--workflow flow.yaml|-
show|plan.json|--on 2|-
show|flow.yaml|--from native|-
show|flow.yaml|--read x=1|refused by the reader
show|flow.yaml|--until second|-
show|flow.yaml|--since first|-
show|grows.yaml|--assume c=2|-
show|flow.yaml|--json|-
show|flow.yaml|--quiet|-
convert|flow.yaml out.dot|--from native|-
convert|flow.yaml out.dot|--to dot|-
convert|flow.yaml out.dot|--read x=1|refused by the reader
convert|flow.yaml out.dot|--until second|-
convert|flow.yaml out.dot|--since first|-
convert|flow.yaml out.dot|--order ic|-
convert|cluster.yaml out.yaml|--platform|-
convert|flow.yaml out.dot|--quiet|-
order|flow.yaml|--with prio|-
order|flow.yaml|--set method=paper|-
order|flow.yaml|--for workers:2|-
order|flow.yaml|--repeat 20 --for workers:2|-
order|flow.yaml|--seed 3 --with random-order|-
order|flow.dag|--annotate -o ordered.dag|-
order|flow.yaml|--scripts {task}.sh -o ordered-jobs|-
order|flow.yaml|--snakemake Snakefile -o ordered.smk|-
order|flow.dag|--output ordered.dag --annotate|-
order|flow.yaml|--from native|-
order|flow.yaml|--read x=1|refused by the reader
order|flow.yaml|--until second|-
order|flow.yaml|--since first|-
order|flow.yaml|--quiet|-
generate|layered|--set n=10|-
generate|layered|--seed 3|-
generate|layered|--output g.yaml|-
generate|layered|--to dot|-
generate|layered|--options|-
generate|layered|--quiet|-
planners||--json|-
planners||--names|-
planners||--markdown|-
formats||--json|-
reproduce||--output o|slow
reproduce||--quick|slow
reproduce||--runs 1|slow
reproduce||--data .|slow
reproduce||--seed 3|slow
reproduce||--quiet|slow
ROWS
}
try() { timeout 100 "$weft" "$@" >"$work/out" 2>"$work/err" </dev/null; }
refused() { [ "$1" = 2 ] && grep -q "does nothing" "$work/err"; }

{
    rows
    # what no parameter is called by is refused wherever a workflow is read
    rows | sed -n 's/--read x=1|refused by the reader/--param nothing=1|refused by the reader/p'
    rows | sed -n 's/--read x=1|refused by the reader/--params nothing.yaml|refused by the reader/p'
} >table
for command in $("$weft" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vE '^(help|version|agent|submit|status|attach|cancel|drain|ui)$'); do
    # a cluster's commands need one; tests/cluster has it
    for option in $("$weft" help "$command" | sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p'); do
        grep -q "^$command|[^|]*|--$option[ |]" table
        ok $? "$command --$option has a row"
    done
done
while IFS='|' read -r command before option company; do
    # shellcheck disable=SC2086 # words
    try $command $before $option
    status=$?
    case $company in
    -) [ $status = 0 ] && ok 0 "$command $option" || { refused $status; [ $status = 0 ]; ok $? "$command $option (status $status)"; } ;;
    refused*) [ $status = 2 ]; ok $? "$command $option: $company" ;;
    slow) refused $status || [ $status = 0 ]; ok $? "$command $option: used, or refused" ;;
    "key page") try key paged.key && try key --page paged.key && grep -qE "^[0-9a-f]{64}$" "$work/out"; ok $? "key --page of a key" ;;
    "key exists") try key new.key && try key --show new.key; ok $? "key --show of a key" ;;
    *)
        refused $status
        ok $? "$command $option alone is refused"
        # shellcheck disable=SC2086
        try $command $before $company $option
        ok $? "$command $company $option"
        ;;
    esac
done <table

# what the issue saw, and its siblings
nothing() { # arguments: refused, and says so
    try "$@"
    refused $?
    ok $? "refused: weft $*"
}
nothing run flow.yaml --set n=5
grep -q -- "--set does nothing without --with PLANNER or --order PLANNER" err
ok $? "it says what is missing"
nothing run flow.yaml --with heft --plan plan.json
nothing run flow.yaml --order ic --plan plan.json
nothing order flow.yaml --for workers:2 --with ic
nothing order flow.yaml --repeat 20
nothing run flow.yaml --why first --json
nothing run flow.yaml --on cluster -j 2
nothing run flow.yaml --on cluster --has ssd
nothing run flow.yaml --on local:2 --nodes 3
nothing run flow.yaml --on local:2 --insecure-store
nothing sim plan.json --with heft
nothing sim plan.json --items 5
nothing sim flow.yaml --clients --noise 0.1
nothing sim flow.yaml --schedulers 2 --set degree=3
nothing bound flow.yaml --set cache=1G
nothing plan stream.yaml --on 2 --front -o p.json
nothing report last --workflow flow.yaml
nothing report last --from native
nothing show cluster.yaml --svg s.svg
nothing show flow.yaml --workflow flow.yaml
nothing history 1 --failed
nothing history 1 --unsay
nothing history --tag good
nothing history --export h.json --json
nothing experiment try.exp.yaml --list --keep-going
nothing generate --seed 3
nothing experiment try.exp.yaml --values b.txt --json
nothing reproduce mos --data .
nothing predict flow.yaml --tasks --json
nothing planners heft --names
try plan flow.yaml --with heft --with peft
[ $? = 2 ] && grep -q "given twice" err
ok $? "two values of which one would count"
try run flow.yaml --st n=5
[ $? = 2 ] && grep -q "did you mean --set" err
ok $? "a wrong name is met with the right one"
echo "1..$count"
exit $failed
