#!/usr/bin/env bash
# Slurm's time limit: jobs are replaced before they end and the known answer of 34 tasks comes out; a task that no such job holds is told,
# with status 3, when it is known to be too long before it starts, and when it turns out to be. With a real Slurm of six nodes
# (tests/cluster/bed_slurm). Slurm knows no limit below a minute: here jobs of some seconds are told of their end as Slurm tells it, and
# cancelled then. `make soak-real` has jobs that end by their own limit. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash "$(dirname "$0")/../cluster/bed_slurm" 6 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - Slurm's time limit # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "Slurm's time limit" "redis-server is not installed"
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING -o '%A %Z' >"$work/err" 2>&1 && ! grep -q " $work/" "$work/err"; } # of this part

# ---- known to be too long, by a limit of Slurm's own ----
known() {
    printf 'weft: 1\ntasks:\n  slow: { run: "touch %s", out: x, work: 300 }\n' "$work/begun" >"$work/flow.yaml"
    WEFT_SBATCH=--time=1 say run "$work/flow.yaml" --on slurm
    [ $? = 3 ] && grep -q "'slow' takes about 5 min.*taken back after .*WEFT_SBATCH=--time=7" "$work/err" && [ ! -e "$work/begun" ]
    ok $? "a task of five minutes is refused before it starts, with status 3 and what to do"
    wait_for 60 no_jobs
    ok $? "and the node is given back"
}

# ---- jobs of so many seconds; who asks for them is counted ----
short_jobs() {
    local limit=$1
    mkdir "$work/bin"
    cat >"$work/bin/sbatch" <<END
#!/bin/sh
echo >>$work/asked
exec $(command -v sbatch) "\$@"
END
    cat >"$work/bin/srun" <<END
#!/bin/sh
export SLURM_JOB_END_TIME=\$((\$(date +%s) + $limit))
(sleep $limit; scancel "\$SLURM_JOB_ID") >/dev/null 2>&1 &
sleeper=\$!
$(command -v srun) "\$@"
status=\$?
wc -l <$work/asked >>$work/asked_at_end
kill \$sleeper
exit \$status
END
    chmod +x "$work"/bin/*
    PATH=$work/bin:$PATH
}

# ---- turns out to be too long ----
turns_out() {
    short_jobs 5 # it takes one to three of them to be sure
    printf 'weft: 1\ntasks:\n  slow: { run: "echo >> %s; sleep 600; touch {out}", out: x }\n' "$work/begun" >"$work/flow.yaml"
    say run "$work/flow.yaml" --on slurm
    [ $? = 3 ] && cp "$work/err" "$work/run.log" && grep -q "'slow' ran for .*taken back before it ended.*WEFT_SBATCH=--time=" "$work/err"
    ok $? "a task that turns out to be too long for every job ends its run with status 3, and is named; it began $(wc -l <"$work/begun") times"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "nothing is left"
}

# ---- a run that lasts longer than its jobs ----
# 33 tasks in three rows: t_R_C writes R * 11 + C plus what t_(R-1)_C wrote; `sum` adds the last row: 11 * (0 + 11 + 22) + 3 * 55 = 528.
renewed() {
    short_jobs 12
    mkdir "$work/flow" "$work/flow/on"
    {
        echo "weft: 1"
        echo "tasks:"
        for r in $(seq 0 2); do
            for c in $(seq 0 10); do
                before="" value=0
                [ "$r" = 0 ] || before="in: [mid/t_$((r - 1))_$c], " value='$(cat {in})'
                echo "  t_${r}_$c: { run: 'touch $work/flow/on/${r}_$c-\$SLURM_JOB_ID; sleep 0.8; echo \$(($value + $((r * 11 + c)))) > {out}', ${before}out: [mid/t_${r}_$c] }"
            done
        done
        echo "  sum: { run: 'echo \$((\$(cat {in} | paste -sd+))) > {out}', in: [$(seq -s, -f 'mid/t_2_%.0f' 0 10)], out: [sum] }"
    } >"$work/flow/flow.yaml"
    timeout 280 "$weft" run "$work/flow/flow.yaml" --on slurm --no-shared >"$work/run.out" 2>"$work/run.log" </dev/null
    ok $? "a run that lasts longer than its jobs ends well"
    [ "$(cat "$work/flow/sum")" = 528 ]
    ok $? "the known answer"
    # On a slow machine a job of twelve seconds may end before it has handed its data over: that is made again, and no failure.
    ! cat "$work/run.log" "$work/run.out" | grep -v "made again" | grep -qi "fail\|died"
    ok $? "no task has failed"
    [ "$(head -n 1 "$work/asked_at_end")" -ge 2 ]
    ok $? "the second job was asked for before the first had ended"
    jobs=$(find "$work/flow/on" -type f | sed 's/.*-//' | sort -u | wc -l) starts=$(find "$work/flow/on" -type f | wc -l)
    [ "$jobs" -ge 2 ] && [ "$starts" -le $((33 + 4 * jobs)) ]
    ok $? "$jobs jobs took part, and $starts attempts: what one has done was handed over to the next"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "nothing is left"
}
beside known known
beside slow turns_out
beside renewed renewed
meet
finish
