#!/usr/bin/env bash
# Issue 15: an agent that is cut off from the store told the client that its task was done; another had taken it over, and there it failed for
# good. The client believed the first word: "the run was stopped or cancelled", and nobody said why. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
for program in redis-server python3; do
    command -v $program >/dev/null || skip "two words for one task" "$program is not installed"
done
start_server
say key "$work/key"
export WEFT_KEY=$work/key

# The end of `t` on the agent that is cut off does not count: `t` ends elsewhere, and there it fails. Whether tasks follow it, or all that the
# run has were told as ended by then.
two_words() { # folder more-tasks told-first
    export GO=$work/$1/go
    mkdir "$work/$1"
    cd "$work/$1" || exit 1
    {
        printf 'weft: 1\ntasks:\n'
        echo "  t: { run: 'echo x > \"\$GO.\$AGENT.begun\"; until [ -e \"\$GO.\$AGENT\" ]; do sleep 0.1; done; [ \$AGENT = far ] || exit 3; echo 1 > {out}', out: t.txt }"
        [ -z "$2" ] || echo "$2"
    } >flow.yaml
    # the one agent's way to the store goes through a relay, which falls silent when it is told to
    rm -f "$work/relay"
    start_relay silent "$port"
    AGENT=far WEFT_STORE=redis://127.0.0.1:$relay_port start_agent "far_$1" "$weft" agent -j 1 --lease 2
    local far=$!
    are_ready "far_$1"
    ok $? "$1: an agent"
    timeout 120 "$weft" run flow.yaml --on cluster --no-shared --json >"$work/events" 2>"$work/err" &
    client=$!
    wait_for 60 test -e "$GO.far.begun"
    ok $? "$1: runs the task"
    AGENT=near start_agent "near_$1" "$weft" agent -j 1 --lease 2
    local near=$!
    are_ready "near_$1"
    kill -USR1 $relay
    [ -z "$3" ] || { touch "$GO.far" && wait_for 60 heard "$1"; }
    wait_for 60 test -e "$GO.near.begun"
    ok $? "$1: it is cut off from the store, and another takes the task over"
    touch "$GO.far"
    wait_for 60 heard "$1"
    ok $? "$1: its end there is told to who follows, if that one still listens"
    touch "$GO.near"
    wait $client
    [ $? = 1 ]
    ok $? "$1: where it counts it fails, and so does the run"
    client=""
    grep -q "1 task failed" "$work/err"
    ok $? "$1: which is said"
    kill -9 $far $near
    wait $far $near 2>/dev/null
}
told() { grep -q '"event":"task","time":[^,]*,"task":"t"' "$work/events"; }
# who follows may have taken it for dead, too, and hung up: then it hears one word only
heard() { told || grep -q "gone without a goodbye" "$work/far_$1.log"; }

u="  u: { run: 'cat {in} > {out}', in: t.txt, out: u.txt }"
two_words before "$u" ""
two_words first "$u" yes
two_words alone "" yes
finish
