#!/usr/bin/env bash
# Things that tasks hold: ids are exclusive (a folder for each that is in use, made by who uses it: mkdir fails if another has it),
# parts share one, what is not there is refused before anything runs, a killed task gives its id back; the same on agents; plans and
# simulations keep to it. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err" </dev/null; }
mkdir "$work/a" "$work/a/locks"
# as many tasks as `each` has; whoever finds the id in use fails
cat >"$work/a/flow.yaml" <<'END'
weft: 1
parameters: { locks: none, n: 1, nap: 0.05 }
lists: { i: { from: 1, to: 12 } }
defaults: { sandbox: false }
tasks:
  gpu:
    each: i
    resources: { gpu: "{n}" }
    out: "gpu{i}.txt"
    run: |
      for id in $(echo $WEFT_GPU | tr , ' '); do mkdir {locks}/$id || exit 9; done
      sleep {nap}
      for id in $(echo $WEFT_GPU | tr , ' '); do rmdir {locks}/$id; done
      [ "$WEFT_GPU" = "$CUDA_VISIBLE_DEVICES" ] || exit 8
      echo $WEFT_GPU > {out}
  plain: { each: i, run: "echo \"${WEFT_GPU-none}\" > {out}", out: "plain{i}.txt" }
END
flow() { run "$work/a/flow.yaml" -p locks="$work/a/locks" -f -j 8 "$@"; }
on_cluster() { run "$1/flow.yaml" -p locks="$work/a/locks" -f --on cluster --no-shared "${@:2}"; }

flow
[ $? = 3 ] && grep -q "task 'gpu@i=1' asks for 1 gpu; this run has none" "$work/err" && grep -q -- "--resources gpu=1" "$work/err" && [ ! -e "$work/a/plain1.txt" ]
ok $? "what this machine is not said to have is refused before anything runs, with the remedy"
flow --resources gpu=3,7
ok $? "two ids are handed out, one to each task at a time"
[ "$(cat "$work"/a/gpu*.txt | sort -u | tr '\n' ' ')" = "3 7 " ] && [ "$(cat "$work"/a/plain*.txt | sort -u)" = none ]
ok $? "both are used, and tasks that hold none know of none"
flow --resources gpu=3,7,9 -p n=2
[ $? = 0 ] && [ "$(cat "$work"/a/gpu1.txt)" = 3,7 ]
ok $? "two for each, with a comma between"
flow --resources gpu=2 --resources licence=1
[ $? = 0 ] && [ "$(cat "$work"/a/gpu*.txt | sort -u | tr '\n' ' ')" = "0 1 " ]
ok $? "a count of gpu means ids from 0 on; the option may be repeated"
flow --resources gpu=2 -p n=3
[ $? = 3 ] && grep -q "asks for 3 gpu; this run has 2" "$work/err"
ok $? "more than there are is refused"
flow --resources gpu=2 -p n=1.5
[ $? = 3 ] && grep -q "whole ones, or a part of one" "$work/err"
ok $? "one and a half GPUs are none"
for wrong in gpu gpu= 3=4 gpu=1.5 gpu=1,1; do
    flow --resources $wrong
    [ $? = 2 ] && grep -q -- "--resources $wrong: " "$work/err"
    ok $? "--resources $wrong is refused"
done
CUDA_VISIBLE_DEVICES=4,5 flow --resources gpu=auto
[ $? = 0 ] && [ "$(cat "$work"/a/gpu*.txt | sort -u | tr '\n' ' ')" = "4 5 " ]
ok $? "gpu=auto takes those that this process may use"

mkdir "$work/b" "$work/b/locks"
cat >"$work/b/flow.yaml" <<END
weft: 1
lists: { i: { from: 1, to: 12 } }
defaults: { sandbox: false }
tasks:
  half:
    each: i
    resources: { gpu: 0.5 }
    out: "half{i}.txt"
    run: |
      mine=$work/b/locks/\$WEFT_GPU
      mkdir \$mine.a && mine=\$mine.a || { mkdir \$mine.b && mine=\$mine.b; } || exit 9
      sleep 0.05
      rmdir \$mine
      echo \$WEFT_GPU > {out}
END
run "$work/b/flow.yaml" -j 8 --resources gpu=0,1
[ $? = 0 ] && [ "$(cat "$work"/b/half*.txt | sort -u | tr '\n' ' ')" = "0 1 " ]
ok $? "two halves share an id, and never three"

# who is killed gives back what it held; the next attempt finds it
mkdir "$work/c"
cat >"$work/c/flow.yaml" <<'END'
weft: 1
tasks:
  dies: { run: 'if [ {attempt} = 1 ]; then kill -9 $$; fi; echo $WEFT_GPU > {out}', out: dies.txt, retries: 1, resources: { gpu: 1 } }
  waits: { run: 'echo $WEFT_GPU > {out}', out: waits.txt, resources: { gpu: 1 } }
  fails: { run: 'test -e there && echo $WEFT_GPU > {out}', out: fails.txt, resources: { gpu: 1 }, sandbox: false }
END
run "$work/c/flow.yaml" -k --resources gpu=[5]
[ $? = 1 ] && [ "$(cat "$work/c/dies.txt" "$work/c/waits.txt" | sort -u)" = 5 ]
ok $? "a task that was killed gives its id back"
: >"$work/c/there"
run "$work/c/flow.yaml" --resources gpu=[5]
[ $? = 0 ] && [ "$(cat "$work/c/fails.txt")" = 5 ]
ok $? "and the rest of a run that was cut off has it, too"
run "$work/c/flow.yaml"
ok $? "what need not run asks for nothing"

# plans, their checker, replays
cat >"$work/p.yaml" <<'END'
weft: 1
nodes:
  - { name: n, count: 2, cores: 8, resources: { gpu: [0, 1] } }
END
cat >"$work/abstract.yaml" <<'END'
weft: 1
lists: { i: { from: 1, to: 12 } }
tasks: { t: { each: i, work: 1, resources: { gpu: 1 } } }
END
"$weft" plan "$work/abstract.yaml" --on "$work/p.yaml" --with heft -o "$work/plan.json" >"$work/out" 2>"$work/err" &&
    "$weft" check "$work/plan.json" >"$work/out" 2>"$work/err" && grep -q "makespan *3 " "$work/out"
ok $? "heft plans twelve tasks on four GPUs in three rounds"
"$weft" sim "$work/plan.json" >"$work/out" 2>"$work/err" && grep -q "3 s simulated" "$work/out"
ok $? "and a replay takes as long"
sed 's/gpu: \[0, 1\]/gpu: [0]/' "$work/p.yaml" >"$work/less.yaml"
"$weft" check "$work/plan.json" --on "$work/less.yaml" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "resources.*asks for 1 gpu of 'n1', where tasks hold 1 of 1" "$work/out" "$work/err"
ok $? "with one GPU a node the plan is not valid, and the place is named"
"$weft" plan "$work/abstract.yaml" --on 2 >"$work/out" 2>"$work/err"
[ $? = 3 ] && grep -q "'t@i=1' asks for gpu=1; no node" "$work/err"
ok $? "on a platform without any there is no plan"
"$weft" plan "$work/abstract.yaml" --on "$work/p.yaml" --with mos >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q "does not count resources.*heft, auto" "$work/err"
ok $? "a planner that does not count them says who does"
"$weft" sim "$work/abstract.yaml" --schedulers 2 --set resources=gpu=1 >"$work/out" 2>"$work/err" && grep -q "makespan *6" "$work/out"
ok $? "simulated schedulers with a GPU each take six rounds"

# Slurm, by stand-ins: what sbatch is asked for, and what an agent learns on its node
mkdir "$work/bin"
cat >"$work/bin/sbatch" <<END
#!/bin/sh
printf '%s\\n' "\$@" >"$work/asked"
echo "sbatch: error: not today" >&2
exit 1
END
printf '#!/bin/sh\nexit 0\n' >"$work/bin/squeue"
cp "$work/bin/squeue" "$work/bin/scancel"
cp "$work/bin/squeue" "$work/bin/srun"
chmod +x "$work"/bin/*
(
    unset SLURM_JOB_ID
    PATH=$work/bin:$PATH flow --on slurm --resources gpu=2,licence=3
)
grep -qx -- "--gres=gpu:2" "$work/asked" && grep -qx -- "--licenses=licence:3" "$work/asked"
ok $? "Slurm is asked for the GPUs and licences of an agent"
printf '#!/bin/sh\necho "$@"\n' >"$work/bin/agent"
chmod +x "$work/bin/agent"
node() { sh "$(dirname "$0")/../../src/cluster/launch/slurm_node.sh" "$work" "$work/bin/agent" "" key name no redis://h "$@"; }
(
    unset CUDA_VISIBLE_DEVICES SLURM_STEP_GPUS
    SLURM_JOB_ID=1 SLURM_JOB_GPUS=5,6 node 2 licence=3 >"$work/out"
)
grep -q -- "--resources gpu=\[5,6\]" "$work/out" && grep -q -- "--resources licence=3" "$work/out"
ok $? "an agent has the ids that Slurm gave to its job"
(
    unset CUDA_VISIBLE_DEVICES SLURM_STEP_GPUS SLURM_JOB_GPUS
    SLURM_JOB_ID=1 node 2 "" >"$work/out"
)
grep -q -- "--resources gpu=2 " "$work/out"
ok $? "and counts them where Slurm names none"

if ! command -v redis-server >/dev/null; then
    echo "# redis-server is not installed: no agents"
    finish
fi
# so long that the second agent comes before the first has done everything
flow --on local:2 --resources gpu=3,7 --no-shared -p nap=0.4
[ $? = 0 ] && [ "$(cat "$work"/a/gpu*.txt | sort -u | tr '\n' ' ')" = "3 7 " ]
ok $? "agents on this machine share its ids between them"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 4 --resources gpu=0,1
start_agent none "$weft" agent -j 4
are_ready one none
ok $? "an agent with two GPUs, and one without"
on_cluster "$work/a"
[ $? = 0 ] && [ "$(cat "$work"/a/gpu*.txt | sort -u | tr '\n' ' ')" = "0 1 " ]
ok $? "their tasks run where the GPUs are, one on each"
on_cluster "$work/a" -p n=3
[ $? = 3 ] && grep -q "asks for 3 gpu; the largest of the agents has 2" "$work/err" && grep -q -- "--later" "$work/err"
ok $? "what no agent has is refused"
mkdir "$work/d"
cp "$work/a/flow.yaml" "$work/d"
on_cluster "$work/a" &
first=$!
"$weft" run "$work/d/flow.yaml" -p locks="$work/a/locks" -f --on cluster --no-shared >"$work/out2" 2>"$work/err2" </dev/null
second=$?
wait $first
[ $? = 0 ] && [ $second = 0 ]
ok $? "two runs at once share them, an id to one task at a time"
finish
