#!/usr/bin/env bash
# Issue 20, point 5: a diamond whose source writes 2 x 60 bytes was planned onto nodes of 15 bytes, "proven optimal". Files count in the
# memory of nodes: in the checker, every planner, simulations. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
status() { # expected, text, command ...
    local expected=$1 text=$2 got
    shift 2
    "$@" >out 2>err
    got=$?
    [ "$got" = "$expected" ]
    ok $? "$text (exit $got)"
}
cd "$work" || exit 1
cat >diamond.yaml <<'YAML'
weft: 1
name: diamond
tasks:
  a: { out: [{name: x, size: 60}, {name: y, size: 60}], work: 10, memory: 10 }
  b: { in: [x], out: [{name: u, size: 60}], work: 10, memory: 10 }
  c: { in: [y], out: [{name: v, size: 60}], work: 10, memory: 10 }
  d: { in: [u, v], work: 10, memory: 10 }
YAML
nodes='nodes: [{ name: s, count: 2, speed: 3, memory: 15 }, { name: l, count: 2, memory: 1000 }]'
printf 'weft: 1\nnetwork: { bandwidth: 500 }\n%s\n' "$nodes" >files.yaml
printf 'weft: 1\nmemory: tasks\nnetwork: { bandwidth: 500 }\n%s\n' "$nodes" >tasks.yaml
printf 'weft: 1\nmemory: everything\n%s\n' "$nodes" >wrong.yaml
for with in auto optimal heft heft-mem minmin-mem cpop; do
    status 0 "$with plans the diamond" "$weft" plan diamond.yaml --on files.yaml --with "$with" -o "$with.json"
    grep -q '"memory": "tasks+files"' "$with.json" && ! grep -q '"node": "s' "$with.json"
    ok $? "$with: says what it counted, and nothing is on the nodes of 15 bytes"
    status 0 "$with: valid" "$weft" check "$with.json"
done
status 0 "the best plan" "$weft" plan diamond.yaml --on files.yaml
grep -q 'makespan *30.12' out && grep -q 'proven optimal' out
ok $? "takes 30.12, proven"
status 0 "with memory: tasks in the platform" "$weft" plan diamond.yaml --on tasks.yaml --with heft -o old.json
grep -q '"memory": "tasks"' old.json && grep -q '"node": "s' old.json
ok $? "files do not count, and the plan says so"
status 0 "it is judged by its own word" "$weft" check old.json --on files.yaml
sed '/"memory": "tasks"/d' old.json >older.json
status 0 "a plan from before, without the key, is judged by tasks alone" "$weft" check older.json --on files.yaml
sed 's/"memory": "tasks"/"memory": "tasks+files"/' old.json >broken.json
status 1 "the same plan is not valid when files count" "$weft" check broken.json --on files.yaml
grep -q "at 0, 's1' needs 130 bytes of its 15: task 'a' 10, file 'x' 60, file 'y' 60" out
ok $? "node, time and what is there are named"
sed 's/"memory": "tasks"/"memory": "all"/' old.json >bad.json
status 2 "an unknown word in a plan" "$weft" check bad.json --on files.yaml
grep -q 'expected "tasks" or "tasks+files"' err
ok $? "says what is expected"
status 2 "an unknown word in a platform" "$weft" plan diamond.yaml --on wrong.yaml
grep -q "wrong.yaml:2: memory is 'everything'; expected tasks" err
ok $? "says where, and what is expected"
"$weft" convert files.yaml copy.yaml 2>err && ! grep -q '^memory' copy.yaml && "$weft" convert tasks.yaml copy.yaml 2>err && grep -q '^memory: tasks$' copy.yaml
ok $? "the word is written with the platform"

printf 'weft: 1\nnodes: [{ name: s, count: 3, memory: 100 }]\n' >small.yaml
for with in auto heft heft-mem minmin-mem optimal; do
    status 3 "$with: nodes of 100 bytes" "$weft" plan diamond.yaml --on small.yaml --with "$with"
    grep -q "task 'a' needs 130 bytes with its files; the largest node that can run it has 100" err
    ok $? "$with: names the task that fits nowhere"
done
printf 'weft: 1\nnodes: [{ name: s, memory: 0 }]\n' >zero.yaml
status 3 "a node of 0 bytes" "$weft" plan diamond.yaml --on zero.yaml
grep -q "task 'a' needs" err
ok $? "names the task"

printf 'weft: 1\nnodes: [{ name: s, memory: 0 }, { name: l, memory: 100 }]\n' >half.yaml
printf 'weft: 1\ntasks:\n  r: { out: [{name: a, size: 6}, {name: b, size: 5}], work: 1, memory: 1 }\n  x: { in: [a], work: 1, memory: 1 }\n  y: { in: [b], work: 1, memory: 2 }\n' >fork.yaml
for with in tree hetpart1 hetpart2 heft-mem daghetmem daghetpart auto; do
    status 0 "$with: passes over a node of 0 bytes" "$weft" plan fork.yaml --on half.yaml --with "$with" -o fork.json
    status 0 "$with: valid" "$weft" check fork.json
done
status 3 "hompart counts all nodes as the smallest" "$weft" plan fork.yaml --on half.yaml --with hompart
grep -q "task 'r' needs 12 with its files" err
ok $? "hompart: names the task"

# memory that some tasks state and others do not
sed 's/, work: 10, memory: 10 }/, work: 10 }/;3,4s/work: 10 }/work: 10, memory: 10 }/' diamond.yaml >some.yaml
for with in auto heft heft-mem daghetpart; do
    status 0 "$with: three tasks without a memory" "$weft" plan some.yaml --on files.yaml --with "$with"
    [ "$(grep -c "the memory of 3 of 4 tasks is 0 or not stated, and counts as 0 ('b', ...)" out)" = 1 ]
    ok $? "$with: says which, once"
done
status 0 "all of them state it" "$weft" plan diamond.yaml --on files.yaml --with heft-mem
! grep -q 'not stated' out
ok $? "nothing is said"
# sizes whose sum no number holds were "inf bytes", exit 3
cat >vast.yaml <<'YAML'
weft: 1
tasks:
  a: { out: [{name: x, size: 1.7e308}, {name: y, size: 1.7e308}], work: 10, memory: 10 }
  b: { in: [x, y], work: 10, memory: 10 }
YAML
for with in auto heft heft-mem tree; do
    status 2 "$with: sizes that overflow" "$weft" plan vast.yaml --on files.yaml --with "$with"
    grep -q "task 'a': with its memory and the sizes of its files" err
    ok $? "$with: names the task"
done

"$weft" platform tasks.yaml --json >out && grep -q '"memory": "tasks",' out && "$weft" platform files.yaml --json >out && grep -q '"memory": null,' out
ok $? "platform --json says what counts in memory"

# wide layers: ranks fill all memory with files that wait; in an order that needs little memory it is a quarter as long
"$weft" generate layered --set n=4000 --set density=0.1 --set parents=4 --set memory=50 --seed 3 -o layers.yaml 2>err
cat >tight.yaml <<'YAML'
weft: 1
network: { bandwidth: 10 }
nodes: [{ name: s, count: 2, speed: 3, memory: 1k }, { name: l, count: 6, memory: 2k }]
YAML
for with in heft-mem minmin-mem auto; do
    status 0 "$with: 4,000 tasks, little memory" "$weft" plan layers.yaml --on tight.yaml --with "$with" -q -o layers.json
    status 0 "$with: valid" "$weft" check layers.json
done
echo "1..$count"
exit $failed
