#!/usr/bin/env bash
# Issue 20: a tree of five tasks took 237.5 where the whole of it on one node takes 101.33, the bound that weft printed itself; another
# 121.78 for 102.33. Small trees are searched exactly and proven, or proven to have no mapping. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
printf '%s\n' '1 2 1 89 47' '2 4 28 49 30' '3 4 20 94 46' '4 5 41 29 27' '5 0 48 43 0' >one.tree
cat >one.yaml <<'YAML'
weft: 1
name: x
network: { bandwidth: 5 }
nodes:
  - { name: p0, speed: 0.5, memory: 100.8, cores: 1 }
  - { name: p1, speed: 0.5, memory: 288, cores: 1 }
  - { name: p2, speed: 3, memory: 288, cores: 1 }
YAML
printf '%s\n' '1 4 19 61 139' '2 5 5 28 241' '3 4 7 44 459' '4 5 35 96 405' '5 0 37 78 0' >two.tree
cat >two.yaml <<'YAML'
weft: 1
name: x
network: { bandwidth: 50 }
nodes:
  - { name: p0, speed: 1, memory: 2076, cores: 1 }
  - { name: p1, speed: 1, memory: 726.6, cores: 1 }
  - { name: p2, speed: 3, memory: 1038, cores: 1 }
  - { name: p3, speed: 0.5, memory: 726.6, cores: 1 }
YAML
"$weft" plan one.tree --on one.yaml --with tree >out 2>err
ok $? "a plan for five tasks on three nodes"
grep -q 'makespan *101.3333' out && grep -q 'parts *1$' out
ok $? "the whole tree on the fast node: 101.33"
grep -q 'proven optimal' out && grep -q 'lower_bound *101.3333' out
ok $? "proven, and said so"
"$weft" plan two.tree --on two.yaml --with tree >out 2>err
grep -q 'makespan *102.3333' out && grep -q 'proven optimal' out
ok $? "another one: 102.33, one part, proven"

printf '%s\n' '1 3 60 1 10' '2 3 60 1 10' '3 0 60 1 0' >none.tree
cat >none.yaml <<'YAML'
weft: 1
name: x
network: { bandwidth: 5 }
nodes:
  - { name: large, speed: 1, memory: 80, cores: 1 }
  - { name: small, speed: 1, memory: 20, cores: 1 }
YAML
"$weft" plan none.tree --on none.yaml --with tree >out 2>err
# the root needs 60 and its files 20; then a leaf 60 + 10, and the other's file waits
ok $? "a tree that fits one node just so"
sed -i 's/memory: 80/memory: 79.5/' none.yaml
"$weft" plan none.tree --on none.yaml --with tree >out 2>err
[ $? = 3 ] && grep -q "no mapping exists" err
ok $? "half a byte less: no mapping exists, exit status 3"

# a tree that fits nowhere: with a disk it is planned, with as few bytes written as possible
cat >deep.yaml <<'YAML'
weft: 1
tasks:
  r: { out: [{name: a, size: 6}, {name: b, size: 5}], work: 1, memory: 1 }
  x: { in: [a], out: [{name: c, size: 5}, {name: d, size: 4}], work: 1, memory: 1 }
  y: { in: [b], out: [{name: e, size: 7}], work: 1, memory: 1 }
  u: { in: [c], work: 1, memory: 1 }
  v: { in: [d], work: 1, memory: 1 }
  z: { in: [e], work: 1, memory: 1 }
YAML
printf 'weft: 1\nnodes: [{ name: n, memory: 16 }]\n' >none.yaml
printf 'weft: 1\nnodes: [{ name: n, memory: 16, disk: 2 }]\n' >disk.yaml
"$weft" plan deep.yaml --on none.yaml --with tree -o deep.json >out 2>err
[ $? = 3 ]
ok $? "without a disk no mapping exists: exit 3"
"$weft" plan deep.yaml --on disk.yaml --with tree -o deep.json >out 2>err && grep -q 'written  *5$' out && grep -q '"from": "r", "to": "y", "before": "x"' deep.json
ok $? "with one, 5 bytes are written out"
"$weft" check deep.json >out 2>err && grep -q 'written *5 (recomputed)' out
ok $? "valid"
"$weft" sim deep.json >out 2>err && grep -q 'makespan *11 s simulated' out
ok $? "its time at the disk is simulated"
sed '/"from": "r"/d' deep.json >less.json
"$weft" check less.json >out 2>err
[ $? = 1 ]
ok $? "without its eviction the plan is not valid"
"$weft" check deep.json --on none.yaml >out 2>err
[ $? = 1 ] && grep -q "writes files to disk, and 'n' has none" out
ok $? "nor on a node without a disk"
sed 's/"before": "x"/"before": "r"/' deep.json >early.json
"$weft" check early.json >out 2>err
[ $? = 1 ] && grep -q "is not in memory then" out
ok $? "nor with a file that is written before it is made"
# two sites with slow links between them: cuts counted with the mean of all links, and a plan for both was longer than one for either
"$weft" generate prufer --set n=400 --seed 3 -o sites.yaml 2>err
sites() { # how many
    echo "weft: 1"
    echo "network: { bandwidth: 5 }"
    echo "nodes:"
    for s in $(seq "$1"); do for i in 1 2 3 4 5 6; do echo "  - { name: s${s}n$i, speed: $((1 + i % 3)), memory: $((40 + 20 * (i % 2)))k }"; done; done
    echo "links:"
    for s in $(seq "$1"); do for i in 1 2 3 4 5 6; do for k in $(seq $((i + 1)) 6); do echo "  - { between: [s${s}n$i, s${s}n$k], bandwidth: 500 }"; done; done; done
}
sites 2 >both.yaml
sites 1 >single.yaml
makespan() { "$weft" plan sites.yaml --on "$1" --with tree --set budget=200000moves -q 2>err | awk '$1 == "makespan" { print $2 }'; }
one=$(makespan single.yaml) two=$(makespan both.yaml)
echo "one site: $one, two sites: $two" >out
awk -v one="$one" -v two="$two" 'BEGIN { exit !(two > 0 && two <= one * 1.000001) }'
ok $? "two sites are never worse than one of them"
# a value with a point made a generator a file that is not there
"$weft" plan one.tree --on fourfold:dmax=288.5,per-kind=1 --with tree -o half.json >out 2>err && "$weft" check half.json >>out 2>>err
ok $? "--on fourfold:dmax=288.5 is a generator, also when the plan names it again"
"$weft" plan one.tree --on four.yaml >out 2>err
[ $? = 2 ] && grep -q 'four.yaml: cannot open' err
ok $? "a file that is not there is still said to be one"
echo "1..$count"
exit "$failed"
