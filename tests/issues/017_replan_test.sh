#!/usr/bin/env bash
# An agent of a plan under constraints is gone: what it had to do is planned again for the others under the same constraints, and it is
# said; where no schedule fulfils the requirements any more, a strict run stops and says so. Judged by what weft tells of where tasks
# ran, not by clocks. TAP.
weft=$WEFT
command -v redis-server >/dev/null || { echo "1..0 # SKIP there is no redis-server"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
run() { timeout 60 "$weft" run "$@" >out 2>err; }
cat >look.py <<'END2'
import json, sys
at = {}
for e in map(json.loads, open("out")):
    if e.get("event") == "task" and e.get("outcome") == "done":
        at[e["task"]] = e["node"]
sys.exit(not eval(sys.argv[1]))
END2
look() { python3 look.py "$1" 2>>err; }
on() { echo "(select task-assigned-proc-id from task where task-name = \"$1\")"; }
holds() { [ "$(grep '"event":"done"' out | grep -o '"held":true' | wc -l)" = "$1" ]; }

# k ends its agent, once; p, q and k belong together, r elsewhere, and p before r
flow() { # signal constraint...
    local signal=$1
    shift
    echo "weft: 1"
    echo "name: again"
    echo "assert:"
    printf '  - assert relationship requirement (%s)\n' "$@"
    cat <<END2
tasks:
  f: { run: "echo f > {out}", out: [ff], work: 0.1 }
  k: { run: "if mkdir $work/died 2>/dev/null; then kill -$signal \$PPID; sleep $3; fi; echo k > {out}", in: [ff], out: [fk], work: 0.1 }
  p: { run: "echo p > {out}; echo p >> $work/trail", in: [fk], out: [fp], work: 0.1 }
  q: { run: "echo q > {out}", in: [fk], out: [fq], work: 0.1 }
  r: { run: "echo r >> $work/trail; echo r > {out}", out: [fr], work: 0.1 }
END2
}
together=("$(on p) = $(on k)" "$(on q) = $(on k)" "$(on r) <> $(on k)" "(select task-finish-time from task where task-name = \"p\") < (select task-start-time from task where task-name = \"r\")")

flow KILL "${together[@]}" | sed 's/sleep .*; fi/sleep 60; fi/' >dies.yaml
run dies.yaml --on local:3 -j 1 --json && [ -d died ] && look 'at["k"] == at["p"] == at["q"] != at["r"]' && holds 4
ok $? "an agent dies: what it had is planned again, and every requirement holds"
grep -q "is gone: 3 tasks were planned again under the same constraints, on 'n[123]'" err
ok $? "and it is said"
[ "$(tr -d '\n' <trail)" = pr ]
ok $? "the order of the plan is kept"

# k tells its agent to leave, and ends there; the first agent has the store, and stays for the others
n2='(select proc-id from proc where proc-name = "n2")'
rm -rf died trail
flow TERM "$(on q) = $(on p)" "$(on r) <> $(on p)" "$(on k) = $n2" | sed "s/sleep .*; fi/sleep 0.1; fi/
s/^tasks:/  - assert relationship preference ($(on p) = $n2, priority = 100)\n&/" >leaves.yaml
run leaves.yaml --on local:3 -j 1 --json --force && [ -d died ] && look 'at["p"] == at["q"] != at["k"] and at["r"] != at["p"]'
ok $? "an agent leaves: what it had not begun is planned again"
grep -q "'n2' is gone: . tasks were planned again under the same constraints" err
ok $? "and it is said"

rm -rf died trail
flow TERM "${together[@]}" "$(on k) = $n2" | sed 's/sleep .*; fi/sleep 0.1; fi/' >stays.yaml
run stays.yaml --on local:2 -j 1 --json --force
[ $? = 3 ] && grep -q "'n2' is gone, and nodes that are left cannot do the rest under the plan's requirements" err && grep -q -- '--follow order, which goes on without' err
ok $? "no schedule fulfils the requirements any more: it stops, status 3, with what to do"
[ -f ff ] && [ ! -e trail ]
ok $? "and nothing ran that was not to"
rm -rf died trail
run stays.yaml --on local:2 -j 1 --json --force --with constraints --follow order
[ -d died ] && [ "$(cat fk fp fq fr 2>/dev/null | tr -d '\n')" = kpqr ]
ok $? "--follow order goes on"

# a plan for three, and two are there
sed 's/if mkdir.*fi; //' dies.yaml >three.yaml
"$weft" plan three.yaml --on 3 -o three.json >out 2>err && run three.yaml --on local:2 -j 1 --json --force --plan three.json && holds 4
ok $? "an agent of the plan is not there at the start: planned again for those that are"
grep -q "planned again under the plan's constraints, for the 2 agents that are there" err || ! grep -q '"n3"' three.json
ok $? "and it is said"
echo "1..$count"
exit $failed
