#!/usr/bin/env bash
# Tasks that die with their node: whoever takes a node back signals the agent and its tasks at once. They are no failures, use no retry
# and run elsewhere; a task that somebody ends by hand is one, as ever. Agents by hand here; 015_slurm_end_test.sh has a real Slurm. TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks that die with their node" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
started() { [ "$(ls "$work/flow/on" 2>/dev/null | wc -l)" -ge "$1" ]; }
tasks_of() { pgrep -P "$1" | tr '\n' ' '; } # the agent's children
flow() { # seconds: three tasks that wait for a file, then say what they have done; none may be tried twice
    rm -rf "$work/flow" && mkdir "$work/flow" "$work/flow/on"
    {
        echo "weft: 1"
        echo "tasks:"
        for i in 1 2 3; do
            echo "  t_$i: { run: 'echo \$\$ > $work/flow/on/$i-\$\$; $1 until [ -e $work/flow/go ]; do sleep 0.1; done; echo $i > {out}', out: out_$i }"
        done
    } >"$work/flow/flow.yaml"
}
submit() { run=$("$weft" submit "$work/flow/flow.yaml" -q 2>"$work/err"); }
attach() { timeout 120 "$weft" attach "$run" -C "$work/flow" >"$work/out" 2>"$work/err"; }
right() { [ "$(cat "$work/flow/out_1" "$work/flow/out_2" "$work/flow/out_3" 2>/dev/null | tr '\n' ' ')" = "1 2 3 " ]; }

# ---- the node is taken back: tasks and agent get the signal, in whichever order ----
for order in together "tasks first" "tasks that say exit 1"; do
    trapped=""
    [ "$order" = "tasks that say exit 1" ] && trapped="trap \"exit 1\" TERM;"
    flow "$trapped"
    start_agent given env SLURM_JOB_ID=7 "$weft" agent -j 3
    are_ready given
    submit
    wait_for 60 started 3
    ok $? "$order: three tasks run on the agent that goes"
    start_agent stays env -u SLURM_JOB_ID "$weft" agent -j 3
    are_ready stays
    wait_for 20 work_is "$run" held -ge 0 stays
    case $order in
    # shellcheck disable=SC2046,SC2154
    "tasks first") kill $(tasks_of "$pid_given"); sleep 0.3; kill "$pid_given" ;;
    # shellcheck disable=SC2046
    *) kill $(tasks_of "$pid_given") "$pid_given" ;;
    esac
    wait_for 60 started 6
    ok $? "$order: they run again, on the other"
    touch "$work/flow/go"
    attach
    ok $? "$order: the run ends well, though no task may be tried twice"
    right
    ok $? "$order: and its results are right"
    wait_for 30 dead "$pid_given"
    ok $? "$order: the agent has left"
    # shellcheck disable=SC2154
    end_process "$pid_stays"
    rm -rf "$work/given" "$work/stays"
done

# ---- told twice: what is ended then goes back, too ----
flow ""
start_agent given env -u SLURM_JOB_ID "$weft" agent -j 3
are_ready given
submit
wait_for 60 started 3
start_agent stays env -u SLURM_JOB_ID "$weft" agent -j 3
are_ready stays
kill "$pid_given"
sleep 0.5
kill "$pid_given"
wait_for 60 started 6 && touch "$work/flow/go"
attach && right
ok $? "an agent that is told twice ends its tasks, and they run elsewhere"
end_process "$pid_stays"
rm -rf "$work/given" "$work/stays"

# ---- a task that is ended by hand ----
for where in "-u SLURM_JOB_ID" "SLURM_JOB_ID=7"; do
    flow ""
    # shellcheck disable=SC2086
    start_agent stays env $where "$weft" agent -j 3
    are_ready stays
    submit
    wait_for 60 started 3
    kill "$(cat "$work"/flow/on/1-*)"
    touch "$work/flow/go"
    attach
    [ $? = 1 ] && grep -q "1 task failed" "$work/out" "$work/err"
    ok $? "env $where: a task that somebody kills has failed"
    end_process "$pid_stays"
    rm -rf "$work/stays"
done
finish
