#!/usr/bin/env bash
# Issue 15: in a shared folder an agent is cut off from the client when its last tasks end. The store knows that they are done, their files are there,
# and nobody told of their content: they were not on record, and the next run made them again. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks of an agent that is not reached" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
command -v python3 >/dev/null || skip "tasks of an agent that is not reached" "python3 is not installed"
export GO=$work/go
mkdir "$work/home"
cd "$work/home" || exit 1
{
    echo "weft: 1"
    echo "tasks:"
    for i in 1 2 3 4; do
        echo "  a$i: { run: 'echo \$AGENT >> \"$work/ran\"; until [ -e \"\$GO\" ]; do sleep 0.1; done; echo $i > {out}', out: a$i.txt }"
    done
} >flow.yaml
# the one agent has a relay before its port, which is cut when it is told to
start_relay cut
AGENT=near start_agent near "$weft" agent -j 2
AGENT=far start_agent far "$weft" agent -j 2 --bind "127.0.0.1:$relay_target" --tell "127.0.0.1:$relay_port"
are_ready near far
ok $? "two agents"
timeout 120 "$weft" run flow.yaml --on cluster --shared >"$work/run.out" 2>"$work/run.log" </dev/null &
client=$!
both_work() { [ -e "$work/ran" ] && [ "$(grep -c far "$work/ran")" = 2 ] && [ "$(wc -l <"$work/ran")" = 4 ]; }
wait_for 60 both_work
ok $? "each runs two tasks"
kill -USR1 $relay
touch "$GO"
wait $client
ok $? "one cannot be reached any more, and the run ends well"
client=""
say run flow.yaml --on cluster --shared
grep -q "nothing to do" "$work/out" && [ "$(wc -l <"$work/ran")" = 4 ]
ok $? "all of it is on record: nothing is made again"
finish
