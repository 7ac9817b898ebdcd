#!/usr/bin/env bash
# Issue 15, point 2: a redis-server that an agent had started stayed for ever, with its folder, when that agent was killed. Now a store that
# nobody uses ends by itself, and the next start on the machine clears what is left. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "stores that nobody uses" "redis-server is not installed"
say key "$work/key"
export WEFT_KEY=$work/key
url_of() { sed -n 's/.*store at //p' "$work/$1.out"; }
server_of() { cut -d ' ' -f 1 "$work/$1/store/server" 2>/dev/null; }
keeper_of() { cut -d ' ' -f 1 "$work/$1/store/keeper" 2>/dev/null; }
serve() { # name idle-seconds option...
    local name=$1 idle=$2
    shift 2
    start_agent "$name" env WEFT_STORE_IDLE="$idle" "$weft" agent --serve-store 127.0.0.1:0 -j 1 --lease 2 "$@"
    are_ready "$name"
}
killed() { kill -9 "$1"; wait "$1" 2>/dev/null; }
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<'YAML'
weft: 1
name: small
tasks:
  t: { run: 'echo hello > {out}', out: out.txt }
YAML

# ---- whoever started a store is killed: an agent, one whose store another uses, one that stays, a whole run ----
serve one 1 --temporary
ok $? "an agent with a store of its own"
server_one=$(server_of one)
lives "$server_one" && lives "$(keeper_of one)"
ok $? "its server, and who sees to that"
serve two 1 --temporary
server_two=$(server_of two)
start_agent three "$weft" agent --store "$(url_of two)" -j 1 --lease 2
are_ready three
serve four 1
server_four=$(server_of four)
say run "$work/flow/flow.yaml" --on cluster --store "$(url_of four)" --no-shared
rm -rf "$work/flow/out.txt" "$work/flow/.weft"
mkdir "$work/long"
cat >"$work/long/long.yaml" <<YAML
weft: 1
name: long
tasks:
  t: { run: 'until [ -e $work/gate ]; do sleep 0.1; done; echo hello > {out}', out: long.txt }
YAML
WEFT_STORE_IDLE=1 "$weft" run "$work/long/long.yaml" --on local:2 -j 1 >"$work/out" 2>"$work/err" &
client=$!
runs() { pgrep -f "until \[ -e $work/gate" >/dev/null; }
wait_for 30 runs
ok $? "a run with agents of its own"
server_run=$(cut -d ' ' -f 1 "$work"/long/.weft/agents-*/*/store/server "$work"/long/.weft/agents-*/store/server 2>/dev/null | head -n 1)
mine=$(pgrep -f "weft agent.*$work/long" | tr '\n' ' ')
killed "$pid_two" # first, so that its store would be the first to end
killed "$client"
client=""
for pid in $mine; do kill -9 "$pid" 2>/dev/null; done
touch "$work/gate"
killed "$pid_four"
killed "$pid_one"
wait_for 40 dead "$server_one"
ok $? "the agent is killed: its server ends by itself"
gone() { [ ! -e "$work/$1/store" ]; }
wait_for 20 gone one
ok $? "and its folder goes"
wait_for 40 dead "$server_four"
[ -d "$work/four/store/appendonlydir" ]
ok $? "the store of an agent that is not temporary ends, and its data stays"
wait_for 40 dead "$server_run"
ok $? "all of a run is killed: its store ends"
lives "$server_two"
ok $? "a store that another agent uses goes on"
say run "$work/flow/flow.yaml" --on cluster --store "$(url_of two)" --no-shared && [ "$(cat "$work/flow/out.txt")" = hello ]
ok $? "and a run on it ends well"
# it asks for a while whether the store of the one before comes back
timeout 120 "$weft" run "$work/long/long.yaml" --on local:2 -j 1 >"$work/long.out" 2>"$work/long.log" </dev/null &
next=$!
end_process "$pid_three"
wait_for 40 dead "$server_two"
ok $? "when that has left, it ends"
rm -rf "$work/flow/out.txt" "$work/flow/.weft"
serve four 18 # seconds; the keeper looks every three
say run "$work/flow/flow.yaml" --on cluster --store "$(url_of four)" --no-shared && grep -q "run 2 " "$work/err"
ok $? "the one that stays goes on from where it was when it is started again: $(head -n 1 "$work/err")"
server=$(server_of four)
wait $next && [ "$(cat "$work/long/long.txt")" = hello ]
ok $? "the next run where one was killed ends well"
[ -z "$(find "$work/long/.weft" -name 'agents-*')" ]
ok $? "and clears the folders of the first"

# ---- the keeper is killed, too: the next start clears ----
killed "$pid_four"
serve five 600 --temporary
killed "$(keeper_of five)"
killed "$pid_five"
left=$(server_of five)
lives "$left" && lives "$server"
ok $? "two stores are left: one with its keeper, one without"
serve six 600 --temporary
dead "$left" && gone five
ok $? "the next start ends the one that nobody sees to, with its folder"
lives "$server"
ok $? "and leaves the other alone"
last=$(server_of six) keeper=$(keeper_of six)
end_process "$pid_six"
dead "$last" && [ ! -e "$work/six" ]
ok $? "an agent that leaves in order takes its store along"
wait_for 5 dead "$keeper"
ok $? "and who saw to it"
kill "$server"
nobody() { [ -z "$(ls "$work"/weft-stores-*/ 2>/dev/null)" ]; }
wait_for 20 nobody
ok $? "nothing is noted any more"
server=""
finish
