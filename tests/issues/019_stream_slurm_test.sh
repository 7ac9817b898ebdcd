#!/usr/bin/env bash
# `weft stream --on slurm` with a real Slurm of two nodes (tests/cluster/bed_slurm): helpers in jobs of their own, and jobs that end with the
# stream. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=1 bash "$(dirname "$0")/../cluster/bed_slurm" 2 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - a stream by Slurm # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a stream by Slurm" "redis-server is not installed"
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING >"$work/err" 2>&1 && [ ! -s "$work/err" ]; }
mkdir "$work/home"
cd "$work/home" || exit 1
cat >flow.yaml <<'YAML'
weft: 1
tasks:
  where: { run: "(cat {in}; echo $SLURM_JOB_ID >> trail) > {out}", per_item: true, in: line, out: l1 }
YAML
sed -i "s|>> trail|>> $work/trail|" flow.yaml
seq 1 30 >lines
say stream flow.yaml --from lines --to result --on slurm --nodes 2 && cmp result lines >>"$work/err" 2>&1
ok $? "every line, in order"
grep -q '[0-9]' "$work/trail" && ! grep -qvx '[0-9][0-9]*' "$work/trail"
ok $? "each in a job"
wait_for 60 no_jobs
ok $? "and no job is left"
finish
