#!/usr/bin/env bash
# Slurm's time limit, a minute here: jobs are replaced before they end and the known answer of 111 tasks comes out; a task that no such job
# holds is told, with status 3, when it is known to be too long before it starts, and when it turns out to be. With a real Slurm of
# four nodes (tests/cluster/bed_slurm). Takes two minutes, since Slurm knows no shorter limit. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash "$(dirname "$0")/../cluster/bed_slurm" 4 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - Slurm's time limit # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "Slurm's time limit" "redis-server is not installed"
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING >"$work/err" 2>&1 && [ ! -s "$work/err" ]; }
export WEFT_SBATCH=--time=1

# ---- known to be too long ----
mkdir "$work/known"
printf 'weft: 1\ntasks:\n  slow: { run: "touch %s", out: x, work: 300 }\n' "$work/known/begun" >"$work/known/flow.yaml"
say run "$work/known/flow.yaml" --on slurm
[ $? = 3 ] && grep -q "'slow' takes about 5 min.*taken back after .*WEFT_SBATCH=--time=7" "$work/err" && [ ! -e "$work/known/begun" ]
ok $? "a task of five minutes is refused before it starts, with status 3 and what to do"
wait_for 60 no_jobs
ok $? "and the node is given back"

# ---- turns out to be too long, beside a run of two minutes in jobs of one ----
mkdir "$work/slow"
printf 'weft: 1\ntasks:\n  slow: { run: "echo >> %s; sleep 600; touch {out}", out: x }\n' "$work/slow/begun" >"$work/slow/flow.yaml"
timeout 280 "$weft" run "$work/slow/flow.yaml" --on slurm >"$work/slow.out" 2>"$work/slow.log" </dev/null &
slow=$!
# 110 tasks in ten rows: t_R_C writes R * 11 + C plus what t_(R-1)_C wrote; `sum` adds the last row: 11 * 495 + 10 * 55 = 5995.
mkdir "$work/flow" "$work/flow/on"
{
    echo "weft: 1"
    echo "tasks:"
    for r in $(seq 0 9); do
        for c in $(seq 0 10); do
            before="" value=0
            [ "$r" = 0 ] || before="in: [mid/t_$((r - 1))_$c], " value='$(cat {in})'
            echo "  t_${r}_$c: { run: 'touch $work/flow/on/${r}_$c-\$SLURM_JOB_ID; sleep 1.5; echo \$(($value + $((r * 11 + c)))) > {out}', ${before}out: [mid/t_${r}_$c] }"
        done
    done
    echo "  sum: { run: 'echo \$((\$(cat {in} | paste -sd+))) > {out}', in: [$(seq -s, -f 'mid/t_9_%.0f' 0 10)], out: [sum] }"
} >"$work/flow/flow.yaml"
timeout 280 "$weft" run "$work/flow/flow.yaml" --on slurm --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null
ok $? "a run that lasts longer than its jobs ends well"
[ "$(cat "$work/flow/sum")" = 5995 ]
ok $? "the known answer"
! grep -qi "fail\|no agent is left\|died" "$work/run.log" "$work/run.out"
ok $? "no task has failed, and there was always an agent"
jobs=$(find "$work/flow/on" -type f | sed 's/.*-//' | sort -u | wc -l) starts=$(find "$work/flow/on" -type f | wc -l)
[ "$jobs" -ge 2 ] && [ "$starts" -le 122 ]
ok $? "$jobs jobs took part, and $starts attempts: what one has done was handed over to the next"
wait $slow
[ $? = 3 ] && grep -q "'slow' ran for .*taken back before it ended.*WEFT_SBATCH=--time=" "$work/slow.log"
ok $? "a task that turns out to be too long for every job ends its run with status 3, and is named"
echo "# begun $(wc -l <"$work/slow/begun") times"
wait_for 60 no_jobs && wait_for 30 nothing_left
ok $? "nothing is left"
finish
