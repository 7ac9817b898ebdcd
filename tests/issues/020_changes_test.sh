#!/usr/bin/env bash
# Issue 20, point 4: a node's memory or speed changes while a plan is carried out, and what has not begun is mapped again from the
# present state. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
# a root and three chains below it; each node has room for one chain, the root's for all
cat >tree.yaml <<'YAML'
weft: 1
name: chains
tasks:
  r: { out: [{name: a0, size: 4}, {name: b0, size: 4}, {name: c0, size: 4}], work: 4, memory: 4 }
  a1: { in: [a0], out: [{name: a1f, size: 4}], work: 20, memory: 4 }
  a2: { in: [a1f], out: [{name: a2f, size: 4}], work: 20, memory: 4 }
  a3: { in: [a2f], work: 20, memory: 4 }
  b1: { in: [b0], out: [{name: b1f, size: 4}], work: 20, memory: 4 }
  b2: { in: [b1f], out: [{name: b2f, size: 4}], work: 20, memory: 4 }
  b3: { in: [b2f], work: 20, memory: 4 }
YAML
sed -i 's/, {name: c0, size: 4}//' tree.yaml
cat >nodes.yaml <<'YAML'
weft: 1
network: { bandwidth: 4 }
nodes:
  - { name: x, speed: 2, memory: 40 }
  - { name: y, speed: 2, memory: 40 }
  - { name: z, speed: 1, memory: 40 }
YAML
"$weft" plan tree.yaml --on nodes.yaml --with tree -o tree.json >out 2>err
ok $? "a tree on three nodes"
"$weft" sim tree.json -q >out 2>err
before=$(awk '$1 == "makespan" { print $2 }' out)
node=$(sed -n 's/.*"node": "\([xyz]\)".*/\1/p' tree.json | tail -n 1)
"$weft" sim tree.json --change "$node@5:speed=0.1" --keep-plan --json >kept.json 2>err
ok $? "a node that becomes slow, with the plan as it is"
"$weft" sim tree.json --change "$node@5:speed=0.1" --json >moved.json 2>err
ok $? "and planned again"
figure() { sed -n "s/^ *\"$1\": \([0-9.e+]*\),*$/\1/p" "$2" | head -n 1; }
kept=$(figure makespan kept.json) moved=$(figure makespan moved.json)
echo "before $before, kept $kept, moved $moved" >out
awk -v b="$before" -v k="$kept" -v m="$moved" 'BEGIN { exit !(b > 0 && m >= b && m < k / 2) }'
ok $? "what has not begun goes elsewhere: less than half the time"
"$weft" sim tree.json --change "$node@5:memory=7" -q >out 2>err && grep -q 'do not fit any more' out
ok $? "a node that loses its memory: its tasks go elsewhere"
"$weft" sim tree.json --change x@5:memory=7 --change y@5:memory=7 --change z@5:memory=7 -q >out 2>err
[ $? = 3 ] && grep -q 'fit the nodes no more: no node has room for task' err
ok $? "no node has room any more: exit 3, with the task"
"$weft" sim tree.json --change w@5:speed=1 >out 2>err
[ $? = 2 ] && grep -q 'no node of that name' err
ok $? "a node that is not there: exit 2"
for wrong in x@5 x@5:speed=0 x@5:speed=nan x@-1:speed=1 x@5:cores=2 x@5:speed=1,speed=2 x:speed=2; do
    "$weft" sim tree.json --change "$wrong" >out 2>err
    [ $? = 2 ] && grep -q -- '--change is' err
    ok $? "--change $wrong: exit 2"
done
"$weft" sim tree.json --change x@5:speed=1 --noise 0.1 >out 2>err
[ $? = 2 ] && grep -q 'without noise' err
ok $? "not with noise: exit 2"
"$weft" sim tree.json --change x@5:speed=1 --network fair >out 2>err
[ $? = 2 ] && grep -q -- '--network free' err
ok $? "not under another network: exit 2"
"$weft" sim tree.json --keep-plan >out 2>err
[ $? = 2 ]
ok $? "--keep-plan alone: exit 2"
echo "1..$count"
exit "$failed"
