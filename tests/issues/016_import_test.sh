#!/usr/bin/env bash
# Issue 16, section 7: who comes with a graph of another tool gets a workflow of weft's and is told how to go on; who comes with the tool's
# program is told how to get the graph. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1

# ---- names and order alone ----
cat >dag.dot <<'DOT'
digraph snakemake_dag {
    0[label = "all", style="rounded"];
    1[label = "sort\nsample: A", style="rounded"];
    2[label = "sort\nsample: B", style="rounded"];
    1 -> 0
    2 -> 0
}
DOT
"$weft" import dag.dot >out 2>err && grep -q '^dag.yaml has the 3 tasks and 2 edges of dag.dot (dot)$' out
ok $? "a dump of Snakemake"
grep -q '^All of its tasks have no command' out && grep -q 'sort (2), all$' out && grep -q 'weft plan dag.yaml' out && ! grep -q 'weft run' out
ok $? "what is missing, by kind, and what can be done without it"
"$weft" show dag.yaml >out 2>err && grep -q '(native)' out
ok $? "it is a workflow of weft's"
cp dag.yaml before && echo x >>dag.yaml && cp dag.yaml mine && "$weft" import dag.dot >out 2>err
[ $? = 2 ] && grep -q 'dag.yaml is here already' err && cmp -s dag.yaml mine
ok $? "nothing is written over"
"$weft" import dag.dot other.yaml -q >out 2>err && cmp -s <(sed /^name/d other.yaml) <(sed /^name/d before) && [ ! -s out ]
ok $? "another name; nothing is said when asked so"

# ---- commands, and files that are not here ----
printf 'b: a\n\tcp a b\nc: b\n\tcp b c\n' >flow.mf
"$weft" import flow.mf >out 2>err && grep -q '1 file that no task makes is not here, as a$' out && grep -q 'weft run flow.yaml -n' out && ! grep -q 'no command' out
ok $? "a file that is missing"
echo 7 >a
"$weft" import flow.mf again.yaml >out 2>err && ! grep -q 'not here' out && "$weft" run again.yaml -q 2>err && [ "$(cat c)" = 7 ]
ok $? "what was imported runs"

# ---- programs ----
program() { # file, what must be said
    echo 'rule all:' >"$1"
    "$weft" import "$1" >out 2>err
    [ $? = 2 ] && grep -qF "$2" err && grep -q 'weft import dag.dot' err && [ ! -e "${1%.*}.yaml" ]
    ok $? "$1: how its tool tells the graph"
}
program Snakefile 'snakemake --dag > dag.dot'
program main.nf 'nextflow run main.nf -preview -with-dag dag.dot'
program Makefile 'make -Bnd | make2graph > dag.dot'
program main.cwl 'cwltool --print-dot main.cwl > dag.dot'

# ---- what is none ----
"$weft" import "$root/examples/heft-paper.yaml" x.yaml >out 2>err
[ $? = 2 ] && grep -q "of weft's own already" err && [ ! -e x.yaml ]
ok $? "a workflow of weft's own"
"$weft" import dag.dot out.dax >out 2>err
[ $? = 2 ] && grep -q 'weft convert' err && [ ! -e out.dax ]
ok $? "another format is convert's"
"$weft" import nothing.dot >out 2>err
[ $? = 2 ] && grep -q 'nothing.dot' err && [ ! -e nothing.yaml ]
ok $? "a file that is not there"
echo "1..$count"
exit $failed
