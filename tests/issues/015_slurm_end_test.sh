#!/usr/bin/env bash
# Slurm's jobs end while tasks run in them: by scancel, by their time limit. No task has failed for it, none may be tried twice here, and the
# known answer of 56 tasks comes out. With a real Slurm of eight nodes (tests/cluster/bed_slurm). Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash "$(dirname "$0")/../cluster/bed_slurm" 8 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - jobs of Slurm that end # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "jobs of Slurm that end" "redis-server is not installed"
jobs() { squeue -h -o '%A %Z' "$@" | sed -n "s| $work/.*||p"; } # of this part of the test
no_jobs() { jobs -r -t RUNNING,PENDING,COMPLETING >"$work/err" 2>&1 && [ ! -s "$work/err" ]; }
# 55 tasks in five rows: t_R_C writes R * 11 + C plus what t_(R-1)_C wrote; `sum` adds the last row. 5 rows, 11 columns:
# sum over C of (11 * (0 + ... + 4) + 5 * C) = 11 * 110 + 5 * 55 = 1485.
flow() { # folder, what each task does besides
    mkdir "$1" "$1/on"
    {
        echo "weft: 1"
        echo "tasks:"
        for r in $(seq 0 4); do
            for c in $(seq 0 10); do
                before="" value=0
                [ "$r" = 0 ] || before="in: [mid/t_$((r - 1))_$c], " value='$(cat {in})'
                echo "  t_${r}_$c: { run: 'touch $1/on/${r}_$c-\$SLURM_JOB_ID; $2; echo \$(($value + $((r * 11 + c)))) > {out}', ${before}out: [mid/t_${r}_$c] }"
            done
        done
        echo "  sum: { run: 'echo \$((\$(cat {in} | paste -sd+))) > {out}', in: [$(seq -s, -f 'mid/t_4_%.0f' 0 10)], out: [sum] }"
    } >"$1/flow.yaml"
}
begun() { [ "$(ls "$1/on" | wc -l)" -ge "$2" ]; }


# ---- every job is cancelled, while it works, three times; files shared and apart ----
cancelled() { # option
    flow "$work/flow" "sleep 0.3"
    timeout 300 "$weft" run "$work/flow/flow.yaml" --on slurm --nodes 3 "$@" >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
    for n in 6 20 35; do
        wait_for 100 begun "$work/flow" $n
        # shellcheck disable=SC2046
        scancel $(jobs -t RUNNING)
    done
    wait $client
    ok $? "every job is cancelled three times, and the run ends well"
    [ "$(cat "$work/flow/sum")" = 1485 ]
    ok $? "the known answer"
    ! grep -qi "fail" "$work/run.log" "$work/run.out"
    ok $? "nobody speaks of failures"
    [ "$(ls "$work/flow/on" | sed 's/.*-//' | sort -u | wc -l)" -ge 4 ]
    ok $? "several jobs took part"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "nothing is left"
}

# ---- a signal that ends the job of tasks that have a handler for it ----
# All jobs end at once, and others begin together under the same numbers: agents that have not heard of each other yet.
handled() {
    flow "$work/flow" "trap \"exit 1\" TERM; sleep 0.3"
    timeout 300 "$weft" run "$work/flow/flow.yaml" --on slurm --nodes 2 >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
    for n in 10 30; do
        wait_for 100 begun "$work/flow" $n
        # shellcheck disable=SC2046
        scancel $(jobs -t RUNNING)
    done
    wait $client
    [ $? = 0 ] && [ "$(cat "$work/flow/sum")" = 1485 ]
    ok $? "tasks that end by themselves when they get the signal are no failures either"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "nothing is left"
}
beside shared cancelled
beside apart cancelled --no-shared
beside handled handled
meet
finish
