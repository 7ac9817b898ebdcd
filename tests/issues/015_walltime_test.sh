#!/usr/bin/env bash
# Agents know when their node is taken back (`weft agent --ends`): a task that would last longer runs on another, waits for one, or is
# refused with status 3; what is left goes to others before the end. 015_slurm_time_test.sh has the same under Slurm. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "nodes that are taken back" "redis-server is not installed"
unset SLURM_JOB_ID SLURM_JOB_END_TIME
start_server
say key "$work/key"
export WEFT_KEY=$work/key
flow() { # folder, seconds that the long task is said to take; it takes none
    rm -rf "${work:?}/$1" && mkdir "$work/$1"
    {
        echo "weft: 1"
        echo "tasks:"
        for i in $(seq 12); do echo "  s_$i: { run: 'echo \$NODE > {out}; sleep 0.2', out: s_$i, work: 1 }"; done
        echo "  long: { run: 'echo \$NODE > {out}', out: long, work: $2 }"
        echo "  end: { run: 'cat {in} > {out}', in: [long, $(seq -s, -f 's_%.0f' 12)], out: end, work: 1 }"
    } >"$work/$1/flow.yaml"
}
right() { [ "$(wc -l <"$work/$1/end")" = 13 ]; }

# ---- an agent that goes, and one that stays ----
start_agent short env NODE=short "$weft" agent -j 2 --ends 10m
start_agent stays env NODE=stays "$weft" agent -j 1
are_ready short stays
ok $? "two agents, of which one is taken back after ten minutes"
for round in 1 2 3; do
    flow both 3600
    say run "$work/both/flow.yaml" --on cluster --no-shared
    [ $? = 0 ] && right both && [ "$(head -n 1 "$work/both/end")" = stays ]
    ok $? "what lasts an hour runs where there is an hour ($round)"
done
grep -q short "$work/both/end"
ok $? "the other works, too"
flow both 300
say run "$work/both/flow.yaml" --on cluster
[ $? = 0 ] && right both
ok $? "what lasts five minutes may run on either"

# ---- only one that goes ----
# shellcheck disable=SC2154
end_process "$pid_stays"
flow alone 3600
say run "$work/alone/flow.yaml" --on cluster
[ $? = 3 ] && grep -q "'long' takes about 1 h.*taken back after 9 min.*--time=73" "$work/err" && [ ! -e "$work/alone/s_1" ]
ok $? "what no agent has the time for is refused with status 3, before anything starts"
"$weft" run "$work/alone/flow.yaml" --on cluster --later >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
touch "$work/run.log"
said() { grep -q "waits until an agent joins that has room: it asks for 1 core, for 3600 s" "$work/run.log"; }
wait_for 60 said
ok $? "--later waits, and says for what"
start_agent stays env NODE=stays "$weft" agent -j 1
are_ready stays
wait $client
[ $? = 0 ] && right alone && [ "$(cat "$work/alone/long")" = stays ]
ok $? "until an agent comes that stays"

# ---- its time is over: it leaves by itself, with what it has, since another is there ----
start_agent brief env NODE=brief "$weft" agent -j 2 --ends 8s
are_ready brief
# shellcheck disable=SC2154
wait_for 60 dead "$pid_brief"
grep -q "taken back soon" "$work/brief.log"
ok $? "an agent leaves before its node is taken back"
say agent --ends soon
[ $? = 2 ] && grep -q "ends is 'soon'" "$work/err"
ok $? "a time that is none is refused"
SLURM_JOB_ID=1 SLURM_JOB_END_TIME=$(($(date +%s) + 8)) start_agent told env NODE=told "$weft" agent -j 1
are_ready told
# shellcheck disable=SC2154
wait_for 60 dead "$pid_told"
grep -q "taken back soon" "$work/told.log"
ok $? "Slurm's own variable says it, too"
finish
