#!/usr/bin/env bash
# A sparse factorisation ran on one machine. Its fronts as a workflow of commands run here and on agents of different memory, placed by
# the planner of trees by their memories; the solution is as good. Speaks TAP.
factor=$WEFT_BUILD/examples/factor/weft-factor
if [ ! -x "$factor" ]; then
    echo "1..0 # SKIP without OpenBLAS or CHOLMOD there is no weft-factor"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
export WEFT_HISTORY=none
cd "$work" || exit 1

"$factor" --grid 3d:10 --parts parts --part-work 200000 >"$work/out" 2>"$work/err"
ok $? "fronts are written as a workflow"
parts=$(grep -c -- '--part ' parts/flow.yaml)
[ "$parts" -gt 10 ]
ok $? "of some parts ($parts)"
"$weft" run parts/flow.yaml -j 2 >"$work/out" 2>"$work/err"
ok $? "they run here"
[ -z "$(find parts -name 'c[0-9]*')" ]
ok $? "contributions are gone when they were read"
"$factor" --gather parts -o x1 >"$work/out" 2>"$work/err"
ok $? "and the solution is right: $(cat "$work/out")"
"$factor" --grid 3d:10 -o x2 >"$work/out" 2>"$work/err" && paste x1 x2 | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-12) bad = 1 } END { exit bad }'
ok $? "the same as in one process"
mv parts/l"$(sed -n 's/.*--part \([0-9]*\).*/\1/p' parts/flow.yaml | head -n 1)" lost
"$factor" --gather parts >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "columns are missing" "$work/err"
ok $? "columns that are missing are told"

command -v redis-server >/dev/null || { echo "# without redis-server there are no agents"; finish; }
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent big "$weft" agent -j 1 -m 200M
start_agent middle "$weft" agent -j 1 -m 110M
start_agent small "$weft" agent -j 1 -m 100M
are_ready big middle small
ok $? "three agents, of 200, 110 and 100 MB"
away() { # a workflow of its own folder: --grid 2d:40, with that memory for each part, or what they state
    "$factor" --grid 2d:40 --parts "$1" --part-work 50000 >"$work/out" 2>"$work/err"
    [ -z "${2-}" ] || sed -i "s/memory: [0-9]*/memory: $2/" "$1/flow.yaml"
}
away stated
timeout 100 "$weft" run stated/flow.yaml --with tree --follow strict --on cluster --json >"$work/events" 2>"$work/err"
ok $? "parts are placed by the planner of trees, and run on agents"
"$factor" --gather stated >"$work/out" 2>>"$work/err"
ok $? "columns of L came home: $(cat "$work/out")"
python3 - "$work/events" "$(grep -c -- '--part ' stated/flow.yaml)" <<'PY'
import json, sys
at, count = {}, 0
for e in map(json.loads, open(sys.argv[1])):
    if e.get("event") == "task" and e.get("outcome") == "done":
        at[e["task"]] = e["node"]
        count += 1
print("# ran on:", {n: list(at.values()).count(n) for n in sorted(set(at.values()))})
sys.exit(not (len(at) == count == int(sys.argv[2]) and len(set(at.values())) == 3))
PY
ok $? "every part once, on all three"
away large 300000000
timeout 60 "$weft" run large/flow.yaml --with tree --follow strict --on cluster >"$work/out" 2>"$work/err"
[ $? = 3 ]
ok $? "a part that fits on no agent: refused, status 3"
finish
