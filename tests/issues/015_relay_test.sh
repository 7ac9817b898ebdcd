#!/usr/bin/env bash
# A link proves who is at its other end, not only that the key is known there: somebody in the network leads the connections of one cluster
# to another that has the same key, and to another agent of the same cluster. Nothing of the wrong one arrives. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a relay between two clusters" "redis-server is not installed"
command -v python3 >/dev/null || skip "a relay between two clusters" "python3 is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
relays=""
trap 'for pid in $relays; do kill "$pid"; done 2>/dev/null; stop_all' EXIT
port_of() { sed -n 's/.*ready at [^ ]*:\([0-9]*\).*/\1/p' "$work/$1.out"; }
relay() { # name: what is called at 127.0.0.2 of this agent's port goes where $work/NAME.to says
    port_of "$1" >"$work/$1.to"
    python3 "$(dirname "$0")/../cluster/relay.py" 127.0.0.2 "$(port_of "$1")" "$work/$1.to" >"$work/$1.relay" 2>&1 &
    relays="$relays $!"
    wait_for 20 grep -q listening "$work/$1.relay"
}
flow() { # folder word
    mkdir -p "$work/$1"
    cat >"$work/$1/flow.yaml" <<END2
weft: 1
name: $2
tasks:
  t: { run: "echo $2 > {out}", out: [result.txt] }
END2
}
# in cluster A every connection goes through the relay; cluster B has the same key
start_agent a "$weft" agent -j 1 --lease 2 --store "$WEFT_STORE/a" --tell 127.0.0.2
start_agent b "$weft" agent -j 1 --lease 2 --store "$WEFT_STORE/b"
are_ready a b && relay a
ok $? "two clusters with one key, and a relay"
flow one ours
flow other theirs
say submit "$work/one/flow.yaml" --no-shared -q --store "$WEFT_STORE/a" && run=$(cat "$work/out")
ok $? "a run in one of them: $run"
say submit "$work/other/flow.yaml" --no-shared -q --store "$WEFT_STORE/b" && [ "$(cat "$work/out")" = "$run" ]
ok $? "and one of the same number in the other"
ended() { timeout 60 "$weft" status "$run" --json --store "$WEFT_STORE/$1" | grep -q '"state": "ended"'; }
wait_for 30 ended a && wait_for 30 ended b
ok $? "both have ended"
port_of b >"$work/a.to"
say attach "$run" --store "$WEFT_STORE/a"
[ $? != 0 ] && [ ! -e "$work/one/result.txt" ]
ok $? "led to the other cluster's agent: no result, no success"
grep -q "another cluster" "$work/b.log"
ok $? "that agent says that somebody of another cluster called"
port_of a >"$work/a.to"
say attach "$run" --store "$WEFT_STORE/a" && [ "$(cat "$work/one/result.txt")" = ours ]
ok $? "led back: the right result"

# two agents of one cluster: what is for one does not go to the other
start_agent c "$weft" agent -j 1 --lease 2 --store "$WEFT_STORE/a" --tell 127.0.0.2
are_ready c && relay c
port_of a >"$work/c.to"
flow two both
say submit "$work/two/flow.yaml" --no-shared -q --store "$WEFT_STORE/a" && run=$(cat "$work/out")
ok $? "a second agent is called through a relay that leads to the first: the first takes the run alone"
grep -q "it calls 'agent $(node_of c)\.[0-9]*', and this is 'agent $(node_of a)\.[0-9]*'" "$work/a.log"
ok $? "who is called by another's name says so"
say attach "$run" --store "$WEFT_STORE/a" && [ "$(cat "$work/two/result.txt")" = both ]
ok $? "and the result is right"
finish
