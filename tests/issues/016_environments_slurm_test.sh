#!/usr/bin/env bash
# What a command runs in, under a real Slurm of two nodes (tests/cluster/bed_slurm): variables of the task, of the shell in which the run was
# started, and secrets, which stand in no script of a job. Speaks TAP.
# shellcheck disable=SC2016 # variables in single quotes are the tasks'
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=1 bash "$(dirname "$0")/../cluster/bed_slurm" 2 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - environments under Slurm # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "environments under Slurm" "redis-server is not installed"
export HOME=$work/home
mkdir -p "$HOME" "$work/f"
unset TOKEN PASSED
cat >"$work/f/flow.yaml" <<'Y'
weft: 1
lists: { i: { from: 1, to: 2 } }
defaults: { env: { WHO: "{task}", CORES: "{cores}" } }
tasks:
  env: { each: i, run: "echo $WHO $CORES $NUMBER > {out}", out: "env{i}", env: { NUMBER: "<{i}>" } }
  pass: { run: "env > {out}", out: pass, pass: [PASSED, UNSET] }
  all: { run: "env > {out}", out: all }
  secret: { run: "echo it is $TOKEN; printf %s $TOKEN | wc -c > {out}", out: secret, secret: TOKEN }
Y
cd "$work/f" || exit 1
say run flow.yaml --on slurm
[ $? = 2 ] && grep -q "flow.yaml: task 'secret': there is no secret 'TOKEN'" "$work/err"
ok $? "a secret that is not here is missed before a job is asked for"
squeue -h >"$work/jobs" && [ ! -s "$work/jobs" ]
ok $? "and none was"
# what Slurm knows of the jobs while they run
(for _ in $(seq 200); do
    for job in $(squeue -h -o %i 2>/dev/null); do scontrol show job "$job"; scontrol write batch_script "$job" - 2>/dev/null; done
    [ -e "$work/over" ] && break
    sleep 0.1
done) >"$work/known" 2>/dev/null &
watcher=$!
TOKEN=opensesame77 PASSED=mine MINE=1 say run flow.yaml --on slurm --nodes 2
status=$?
touch "$work/over"
wait $watcher
[ $status = 0 ] && [ "$(cat env1)" = "env@i=1 1 <1>" ] && [ "$(cat env2)" = "env@i=2 1 <2>" ]
ok $? "variables of tasks"
grep -qx PASSED=mine pass && ! grep -q 'MINE=\|UNSET=\|TOKEN=' pass && grep -q '^PATH=' pass
ok $? "what is passed is what it is in the shell of the run, and nothing else"
grep -q '^SLURM_JOB_ID=' all && ! grep -q 'TOKEN=' all
ok $? "without pass a task has its agent's variables, those of the job among them; no secret"
[ "$(cat secret)" = 12 ]
ok $? "the secret is there"
! grep -rq opensesame77 "$work/f/.weft" "$work/known" "$HOME"
ok $? "it stands in no log, note or script of a job"
# by hand: the file of a secret
mkdir -p "$HOME/.config/weft/secrets" && printf filed99 >"$HOME/.config/weft/secrets/TOKEN" && chmod 600 "$HOME/.config/weft/secrets/TOKEN"
PASSED=mine say run flow.yaml -f secret --on slurm
[ $? = 0 ] && [ "$(cat secret)" = 7 ]
ok $? "a secret from its file"
finish
