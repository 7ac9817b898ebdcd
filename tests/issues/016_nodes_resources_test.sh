#!/usr/bin/env bash
# Issue 16, point 3: `nodes: 2` together with `resources: { gpu: 1 }`. Each node of the task gives what it asks for; the command and what it starts on the other
# nodes (WEFT_RSH) find the ids of the node that they run on, and nobody else has them meanwhile. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "things of several nodes" "redis-server is not installed"
mkdir "$work/flow" "$work/held" && cd "$work/flow" || exit 1
# a thing that two have at a time is a folder that cannot be made a second time
cat >flow.yaml <<FLOW
weft: 1
lists: { n: [1, 2, 3, 4, 5] }
tasks:
  wide:
    each: n
    nodes: 2
    resources: { gpu: 1, licence: 1.5 }
    out: "wide/{n}"
    run: |
      take='mkdir $work/held/gpu\$WEFT_GPU && test \$WEFT_GPU = \$CUDA_VISIBLE_DEVICES && echo gpu \$WEFT_GPU >&2 && rmdir $work/held/gpu\$WEFT_GPU'
      while read -r host slots; do "\$WEFT_RSH" "\$host" "\$take" </dev/null 2>> {out}; done < "\$WEFT_HOSTFILE"
      echo own \$WEFT_GPU >> {out}
  narrow:
    each: n
    resources: { gpu: 1 }
    out: "narrow/{n}"
    run: 'mkdir $work/held/gpu\$WEFT_GPU; echo \$WEFT_GPU > {out}; rmdir $work/held/gpu\$WEFT_GPU'
FLOW
# on one machine ids and amounts are shared out: one id and two licences an agent
say run flow.yaml --on local:2 -j 4 --resources gpu=0,1 --resources licence=4
ok $? "tasks on two nodes that hold things of each, and others beside them"
[ "$(cat wide/* | grep -c '^gpu [01]$')" = 10 ]
ok $? "on each of its nodes a command finds an id of that node"
for i in 1 2 3 4 5; do [ "$(grep '^gpu' wide/$i | sort -u | wc -l)" = 2 ] && [ "$(sed -n '1s/gpu //p' wide/$i)" = "$(sed -n 's/^own //p' wide/$i)" ] || echo "$i"; done >"$work/wrong"
[ ! -s "$work/wrong" ]
ok $? "another on each; the task's own is that of its own node"
[ "$(sort -u narrow/* | tr -d '\n' | tr -d 01)" = "" ] && [ -z "$(ls "$work/held")" ]
ok $? "nobody has one that another has"
sed -i 's/gpu: 1, licence: 1.5/gpu: 2/' flow.yaml
say run flow.yaml --on local:2 -j 4 --resources gpu=0,1 --force
[ $? = 3 ] && grep -q "asks for 2 gpu; the largest of the agents has 1" "$work/err"
ok $? "more than the nodes have: refused before anything runs"
say sim --schedulers 3 flow.yaml --set resources=gpu=2
ok $? "simulated schedulers hand them out, too"

# the node of a part dies: its things are free again with it, and the task is tried as a whole
start_server
say key "$work/key"
export WEFT_KEY=$work/key
for name in one two three; do start_agent $name "$weft" agent -j 2 --lease 2 --resources 'gpu=[0]'; done
are_ready one two three
ok $? "three agents with one thing each"
mkdir "$work/dies" && cd "$work/dies" || exit 1
cat >flow.yaml <<FLOW
weft: 1
tasks:
  wide:
    nodes: 2
    resources: { gpu: 1 }
    out: a
    run: |
      while read -r host slots; do "\$WEFT_RSH" "\$host" 'echo \$WEFT_OWNER' </dev/null 2>> $work/who; done < "\$WEFT_HOSTFILE"
      until [ -e $work/gate ]; do sleep 0.05; done
      echo a > {out}
  after: { each: n, in: a, out: "b{n}", resources: { gpu: 1 }, run: 'echo \$WEFT_GPU > {out}' }
lists: { n: [1, 2, 3, 4] }
FLOW
say submit flow.yaml -q --no-shared || cat "$work/err"
run=$(cat "$work/out")
two_are_there() { [ "$(wc -l 2>/dev/null <"$work/who")" = 2 ]; }
wait_for 60 two_are_there
victim=$(sed -n '2s/[^0-9]*\([0-9]*\).*/\1/p' "$work/who")
kill -KILL "$victim"
touch "$work/gate"
timeout 100 "$weft" attach "$run" >"$work/out" 2>"$work/err" && [ "$(cat b1 b2 b3 b4 | tr -d '\n')" = 0000 ]
ok $? "one of its nodes is killed, and the run ends well"

# the node that made its results dies with them: another of its nodes has a copy
start_agent "$(for name in one two three; do eval "lives \$pid_$name" || echo $name; done)" "$weft" agent -j 2 --lease 2 --resources 'gpu=[0]'
are_ready one two three
mkdir "$work/copies" && cd "$work/copies" || exit 1
cat >flow.yaml <<FLOW
weft: 1
tasks:
  wide: { nodes: 2, run: 'echo \$WEFT_OWNER > $work/maker; echo \$WEFT_OWNER > {out}', out: field }
  gate: { run: 'until [ -e $work/copies.gate ]; do sleep 0.05; done; echo > {out}', out: open }
  next: { run: 'cat field > {out}', in: [field, open], out: next.txt }
FLOW
say submit flow.yaml -q --no-shared
run=$(cat "$work/out")
wait_for 60 test -s "$work/maker" && wait_for 60 work_is "$run" fetched -ge 1
ok $? "its results have a second place"
kill -KILL "$(sed 's/[^0-9]*\([0-9]*\).*/\1/' "$work/maker")"
touch "$work/copies.gate"
timeout 100 "$weft" attach "$run" >"$work/out" 2>"$work/err" && cmp -s next.txt "$work/maker"
ok $? "the node that made them is killed, and the run ends well with the same"
finish
