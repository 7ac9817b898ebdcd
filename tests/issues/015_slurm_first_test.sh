#!/usr/bin/env bash
# Issue 15: the first job of a run was cancelled before its agent was ready, and the run ended with status 1. It asks for another, as it does
# later on; when that is cancelled again and again it says so. With a real Slurm, in which jobs wait until they are let go. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash "$(dirname "$0")/../cluster/bed_slurm" 1 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - a first job that is cancelled # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a first job that is cancelled" "redis-server is not installed"
export WEFT_SBATCH=--hold
mkdir "$work/home"
cd "$work/home" || exit 1
printf 'weft: 1\ntasks:\n  a: { run: "echo 1 > {out}", out: a.txt }\n' >flow.yaml
job() { squeue -h -o %A -t PENDING | head -n 1; }
waits() { [ -n "$(job)" ]; }
gone() { ! squeue -h -o %A -t PENDING,RUNNING | grep -qx "$1"; }
cancel_one() {
    wait_for 60 waits || return 1
    local it
    it=$(job)
    scancel "$it"
    wait_for 60 gone "$it"
}

timeout 120 "$weft" run flow.yaml --on slurm --nodes 1 >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
cancel_one
ok $? "its first job is cancelled while it waits"
wait_for 60 waits && scontrol release "$(job)"
ok $? "another is asked for"
wait $client
[ $? = 0 ] && [ "$(cat a.txt)" = 1 ]
ok $? "and the run ends well"
grep -q "was cancelled before its agent was ready" "$work/run.log"
ok $? "which is said"

# the command stands still while its job starts, and is cancelled: its agent was ready, and is gone before there is a run
rm -rf .weft a.txt
timeout 120 "$weft" run flow.yaml --on slurm --nodes 1 >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
is_up() { grep -qs "ready at" .weft/agents-*/agents/* .weft/agents-*/*; }
wait_for 60 waits
first=$(job) weft_pid=$(pgrep -P $client)
kill -STOP "$weft_pid"
scontrol release "$first"
wait_for 60 is_up
ok $? "an agent is ready that the command does not see yet"
scancel "$first"
wait_for 60 gone "$first"
kill -CONT "$weft_pid"
wait_for 60 waits && scontrol release "$(job)"
ok $? "its job is cancelled, and another is asked for"
wait $client
[ $? = 0 ] && [ "$(cat a.txt)" = 1 ]
ok $? "the run ends well"

rm -rf .weft a.txt
timeout 120 "$weft" run flow.yaml --on slurm --nodes 1 >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
cancel_one && cancel_one && cancel_one && cancel_one
ok $? "all that it asks for are cancelled"
wait $client
[ $? = 1 ] && grep -q "no agent could be started: each of its jobs was cancelled" "$work/run.log"
ok $? "it ends with status 1, and says why"
client=""
finish
