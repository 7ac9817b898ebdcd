#!/usr/bin/env bash
# A plan is followed on agents: placements, the order on each, waits for tasks of others; refused where a node is not there. What a
# dead agent had is done by others, and it is said. Clocks of agents differ by milliseconds: order between two of them is what tasks noted. TAP.
weft=$WEFT
command -v redis-server >/dev/null || { echo "1..0 # SKIP there is no redis-server"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
run() { "$weft" run "$@" >out 2>err; }
cat >look.py <<'END'
import json, sys
at = {}
for e in map(json.loads, open("out")):
    if e.get("event") == "task" and e.get("outcome") == "done":
        at[e["task"]] = (e["start"], e["time"], e["node"])
def after(a, b): return at[a][1] <= at[b][0]
def together(a, b): return at[a][2] == at[b][2]
sys.exit(not eval(sys.argv[1]))
END
look() { python3 look.py "$1" 2>>err; }

cat >flow.yaml <<END
weft: 1
name: four
tasks:
  a: { run: "sleep 0.2; echo a > {out}; echo a >> $work/trail", out: [fa], work: 0.2 }
  b: { run: "echo b >> $work/trail; sleep 0.5; echo b > {out}", out: [fb], work: 0.1 }
  c: { run: "sleep 0.1; echo c > {out}", out: [fc], work: 0.1 }
  d: { run: "cat {in} > {out}", in: [fa, fb, fc], out: [fd], work: 0.1 }
END
cat >placed.json <<'END'
{"schema": "weft-plan/1", "kind": "static", "objectives": {"makespan": 0.5}, "platform": {"file": "2"},
 "waits": [{"task": "b", "after": "a"}], "placements": [
 {"task": "a", "node": "n1", "start": 0, "finish": 0.2}, {"task": "c", "node": "n2", "start": 0, "finish": 0.1},
 {"task": "b", "node": "n2", "start": 0.2, "finish": 0.3}, {"task": "d", "node": "n2", "start": 0.3, "finish": 0.4}]}
END
run flow.yaml --on local:2 -j 1 --json --plan placed.json && [ "$(tr -d '\n' <trail)" = ab ] && look 'after("c", "b") and together("b", "c") and together("c", "d") and not together("a", "b")'
ok $? "two agents keep to placements, the order on each, and a wait for another's task"
[ "$(cat fd)" = "$(printf 'a\nb\nc')" ]
ok $? "and the result is right"
run flow.yaml --on local:1 -j 1 --force --plan placed.json
[ $? = 3 ] && grep -q "node 'n2' of the plan is no agent that is there" err
ok $? "a node that is not there: refused, with what to do"
run flow.yaml --on local:1 -j 1 --force --plan placed.json --follow order
ok $? "--follow order does with the agents that are there"

{
    sed -n 1,2p flow.yaml
    cat <<'END'
assert:
  - assert relationship requirement ((select task-finish-time from task where task-name = "a") < (select task-finish-time from task where task-name = "b"))
  - assert relationship requirement ((select task-assigned-proc-id from task where task-name = "c") = (select proc-id from proc where proc-name = "n2"))
  - assert relationship requirement ((select task-assigned-proc-id from task where task-name = "a") <> (select task-assigned-proc-id from task where task-name = "c"))
END
    sed -n '3,$p' flow.yaml
} >own.yaml
run own.yaml --on local:2 -j 1 --json --force && [ "$(tail -n 2 trail | tr -d '\n')" = ab ] && look 'not together("a", "c")' && [ "$(grep -o '"held":true' out | wc -l)" = 3 ]
ok $? "constraints of the workflow: planned for the agents that came, followed, and held"
sed '2a # a remark' own.yaml >remarked.yaml
run remarked.yaml --on local:2 -j 1 --json --force && grep -q '"remarked.yaml:5 (assert 1)' out && grep -q '"remarked.yaml:7 (assert 3)' out
ok $? "and named by the lines of the file, not of the text that travels"
run own.yaml --on local:1 -j 1 --force
[ $? = 3 ] && grep -q "names processor 'n2'; this run has 1" err
ok $? "a processor that is no agent"
run flow.yaml --on local:2 -j 1 --json --force --with heft --follow strict
ok $? "--with plans for the agents"

# c kills its agent, once
sed "s|sleep 0.1; echo c|if mkdir $work/died 2>/dev/null; then kill -9 \$PPID; sleep 60; fi; echo c|" flow.yaml >dies.yaml
run dies.yaml --on local:2 -j 1 --json --force --plan placed.json && [ -d died ] && look 'after("a", "b") and together("a", "d")' && [ "$(cat fd)" = "$(printf 'a\nb\nc')" ]
ok $? "an agent dies: another does what was placed there, in the plan's order"
grep -q "tasks ran on other agents than planned" err
ok $? "and it is said"
echo "1..$count"
exit $failed
