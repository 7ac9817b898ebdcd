#!/usr/bin/env bash
# `weft run --on slurm` with a real Slurm of three nodes (tests/cluster/bed_slurm): asks for the nodes it needs, shares them among many
# tasks, gives all of them back; and works inside an allocation. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=1 bash "$(dirname "$0")/bed_slurm" 3 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - agents by Slurm # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "agents by Slurm" "redis-server is not installed"
# Every job that Slurm ever started has a number above the last: how many a run took.
jobs_before() { before=$(sbatch --parsable --hold --wrap true -o /dev/null) && scancel "$before"; }
jobs_taken() { # the next number, but for our own question
    local now
    now=$(sbatch --parsable --hold --wrap true -o /dev/null) && scancel "$now"
    echo $((now - before - 1))
}
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING >"$work/err" 2>&1 && [ ! -s "$work/err" ]; }

# ---- a chain needs one node ----
mkdir "$work/chain"
{
    echo "weft: 1"
    echo "name: chain"
    echo "tasks:"
    echo "  c_0: { run: 'hostname > {out}; echo \$SLURM_JOB_ID \$SLURMD_NODENAME >> $work/chain/trail', out: [mid/c_0] }"
    for i in $(seq 6); do
        echo "  c_$i: { run: 'cat {in} > {out}; echo $i >> {out}; echo \$SLURM_JOB_ID \$SLURMD_NODENAME >> $work/chain/trail', in: [mid/c_$((i - 1))], out: [$([ "$i" = 6 ] && echo end || echo mid/c_$i)] }"
    done
} >"$work/chain/flow.yaml"
jobs_before
say run "$work/chain/flow.yaml" --on slurm --nodes 3
ok $? "a chain"
[ "$(tail -n 1 "$work/chain/end")" = 6 ] && [ "$(wc -l <"$work/chain/trail")" = 7 ]
ok $? "its result is right"
[ "$(jobs_taken)" = 1 ] && [ "$(sort -u "$work/chain/trail" | wc -l)" = 1 ]
ok $? "asked for one node, of three that it may have"
wait_for 30 no_jobs
ok $? "and gave it back"

# ---- many short tasks share three nodes ----
# The first has every node wait for the others: only three nodes at once can end it.
wide() { # folder
    mkdir "$1"
    {
        echo "weft: 1"
        echo "name: wide"
        echo "tasks:"
        for i in $(seq 3); do
            echo "  meet_$i: { run: 'echo \$SLURM_JOB_ID \$SLURMD_NODENAME >> $1/trail; touch $1/here_$i; until [ -e $1/here_1 -a -e $1/here_2 -a -e $1/here_3 ]; do sleep 0.1; done; echo $i > {out}', out: [mid/meet_$i] }"
        done
        for i in $(seq 60); do
            echo "  t_$i: { run: 'echo \$SLURM_JOB_ID \$SLURMD_NODENAME >> $1/trail; cat {in} > {out}', in: [mid/meet_$((i % 3 + 1))], out: [mid/t_$i] }"
        done
        echo "  all: { run: 'cat {in} > {out}', in: [$(seq -s, -f 'mid/t_%.0f' 60)], out: [all] }"
    } >"$1/flow.yaml"
}
right() { [ "$(wc -l <"$1/all")" = 60 ] && [ "$(sort "$1/all" | uniq -c | tr -s ' \n' ' ')" = " 20 1 20 2 20 3 " ]; }
wide "$work/wide"
jobs_before
say run "$work/wide/flow.yaml" --on slurm --nodes 3
ok $? "a wide graph"
right "$work/wide"
ok $? "its result is right"
nodes=$(cut -d' ' -f2 "$work/wide/trail" | sort -u | wc -l)
[ "$nodes" = 3 ]
ok $? "on three nodes"
taken=$(jobs_taken)
[ "$taken" -le 3 ]
ok $? "64 tasks shared $taken jobs"
wait_for 30 no_jobs
ok $? "all nodes were given back"

# ---- inside an allocation; files apart ----
wide "$work/inside"
jobs_before
timeout 120 salloc -Q -N3 "$weft" run "$work/inside/flow.yaml" --on slurm --nodes 3 --no-shared >"$work/out" 2>"$work/err" </dev/null
ok $? "inside an allocation"
right "$work/inside" && [ "$(cut -d' ' -f2 "$work/inside/trail" | sort -u | wc -l)" = 3 ]
ok $? "its result is right, by three nodes"
[ "$(jobs_taken)" = 1 ] && [ "$(cut -d' ' -f1 "$work/inside/trail" | sort -u | wc -l)" = 1 ]
ok $? "in the allocation's own job, and no other"
wait_for 30 no_jobs
ok $? "which ended with it"

# ---- a failure: nothing is kept ----
mkdir "$work/bad"
printf 'weft: 1\ntasks:\n  bad: { run: "echo it broke; exit 3", out: [x] }\n' >"$work/bad/flow.yaml"
say run "$work/bad/flow.yaml" --on slurm --nodes 2
[ $? = 1 ] && grep -q "it broke" "$work/out"
ok $? "a task that fails is told"
wait_for 30 no_jobs
ok $? "and its node was given back"
[ -z "$(find "$work" -name key)" ]
ok $? "no key stands in any file"
wait_for 30 nothing_left
ok $? "no agent and no redis-server is left"
finish
