#!/usr/bin/env bash
# Issue 15, point 14: `weft status` was 126 columns wide, and the help of a cluster's commands 159. No line of them is longer than the
# terminal, whatever the names; what is left out for that is counted, and --all shows it. (A hundred nodes: src/cli/status_view_test.c.) Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "status" "redis-server is not installed"
fits() { # file columns: characters, not bytes
    python3 - "$1" "$2" <<'END'
import sys
wide = [l for l in open(sys.argv[1], encoding="utf-8").read().split("\n") if len(l) > int(sys.argv[2])]
print("\n".join(wide), file=sys.stderr)
sys.exit(bool(wide))
END
}
for command in agent submit status attach cancel run key; do
    COLUMNS=80 "$weft" help "$command" >"$work/out" 2>"$work/err" && fits "$work/out" 80 2>>"$work/err"
    ok $? "help of $command at 80 columns"
done
COLUMNS=40 "$weft" help cancel >"$work/out" && sed '/^examples/,$d; 1,3d' "$work/out" >"$work/body" && fits "$work/body" 40 2>"$work/err"
ok $? "and at 40, but for its head and examples"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 1
start_agent two "$weft" agent -j 1
are_ready one two
ok $? "two agents"
home="$work/a folder with a long name/of-a-project/that-goes-on-for-a-while/and-does-not-end"
mkdir -p "$home"
cat >"$home/flow.yaml" <<'FLOW'
weft: 1
name: a workflow whose name is made of a whole sentence, with all that somebody wanted to say
tasks:
  one: { run: "echo 1 > {out}", out: one.txt }
  two: { run: "cat {in} > {out}", in: one.txt, out: two.txt }
FLOW
for i in 1 2 3; do say submit "$home/flow.yaml" --no-shared -f -q && runs="$runs $(cat "$work/out")"; done
set -- $runs
[ $# = 3 ]
ok $? "three runs with a long name"
for columns in 80 60 120; do
    COLUMNS=$columns say status && fits "$work/out" $columns 2>"$work/err" && grep -q '^ *0  ' "$work/out" && grep -q "a workflow" "$work/out"
    ok $? "status at $columns columns"
done
COLUMNS=40 say status && fits "$work/out" 40 2>"$work/err"
status=$?
sed 1,2d "$work/out" >"$work/body" # two lines of words
[ $status = 0 ] || fits "$work/body" 40 2>"$work/err"
ok $? "at 40"
COLUMNS=80 say status && ! grep -q "stolen" "$work/out" && COLUMNS=80 say status --all && grep -q "stolen" "$work/out" && grep -q "and-does-not-end" "$work/out"
ok $? "--all has every column, whole"
say status --all --json
[ $? = 2 ] && grep -q -- "--all does nothing beside --json" "$work/err"
ok $? "--json has all anyway"
finish
