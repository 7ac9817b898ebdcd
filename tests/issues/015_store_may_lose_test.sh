#!/usr/bin/env bash
# Issue 15, point 4: a Redis that is set to lose data was taken without a word. Now it is refused with status 2 and what to do, or taken with
# --store-may-lose and a warning; its memory that is full reaches who looks, once. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a store that may lose" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
config() { redis-cli -p "$port" config set "$@" >/dev/null; }
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<'YAML'
weft: 1
name: small
tasks:
  t: { run: 'echo hello > {out}', out: out.txt }
YAML
again() { rm -rf "$work/flow/out.txt" "$work/flow/.weft"; }
# One agent that was there before; then the server is set to lose, in each way.
start_agent one "$weft" agent -j 1 --lease 2
are_ready one
ok $? "an agent at a store that keeps what it answers"
! grep -q "may lose\|lost" "$work/one.log"
ok $? "and nothing to remark"
refused() { # what
    timeout 20 "$weft" agent --state "$work/refused" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q "$1" "$work/err" && grep -q "appendonly yes.*noeviction.*--store-may-lose" "$work/err"
    ok $? "$1: an agent is refused, with status 2 and the remedy"
    say submit "$work/flow/flow.yaml"
    [ $? = 2 ] && grep -q "$1" "$work/err"
    ok $? "$1: submit"
    say run "$work/flow/flow.yaml" --on cluster
    [ $? = 2 ] && grep -q "$1" "$work/err"
    ok $? "$1: run --on cluster"
    say run "$work/flow/flow.yaml" --on local:1 --store "$WEFT_STORE"
    [ $? = 2 ] && grep -q "$1" "$work/err"
    ok $? "$1: run with agents of its own and --store"
    again
    say run "$work/flow/flow.yaml" --on cluster --store-may-lose && grep -q "$1.*--store-may-lose" "$work/err"
    ok $? "$1: taken with --store-may-lose, and a warning"
    again
    say status
    ok $? "$1: looking is not refused"
}
config appendonly no
refused "appendonly no"
say submit "$work/flow/flow.yaml" -q --no-shared --store "@$work/address" --store-may-lose
[ $? != 0 ]
ok $? "a file that is not there is an error"
(umask 077 && echo "$WEFT_STORE" >"$work/address")
say submit "$work/flow/flow.yaml" -q --no-shared --store "@$work/address" --store-may-lose && grep -q "^[0-9]*$" "$work/out"
ok $? "also with an address from a file"
again
config appendonly yes
config appendfsync no
refused "appendfsync no"
config appendfsync everysec
config maxmemory 200mb
config maxmemory-policy allkeys-lru
refused "maxmemory-policy"
config maxmemory 0
say submit "$work/flow/flow.yaml" -q
ok $? "without a limit of memory a policy deletes nothing"
again
config maxmemory-policy noeviction
start_agent two "$weft" agent -j 1 --lease 2 --store "$WEFT_STORE?may-lose=1"
are_ready two && ! grep -q "may-lose\|lost" "$work/two.log"
ok $? "a store that keeps is no reason for a warning"
end_process "$pid_two"

# ---- a user who may not ask ----
redis-cli -p "$port" acl setuser asker on '>word' '~*' '&*' +@all -config >/dev/null
say submit "$work/flow/flow.yaml" --store "redis://asker:word@127.0.0.1:$port" --no-shared
ok $? "a user who may not ask for the configuration"
grep -q "CONFIG GET appendfsync" "$work/err" "$work/out"
ok $? "is told that it could not be checked"
again

# ---- memory that is full ----
cat >"$work/flow/gate.yaml" <<YAML
weft: 1
name: gate
tasks:
  t: { run: 'until [ -e $work/gate ]; do sleep 0.1; done; echo hello > {out}', out: out.txt }
  u: { run: 'cat {in} > {out}', in: out.txt, out: last.txt }
YAML
"$weft" run "$work/flow/gate.yaml" --on cluster --no-shared >"$work/run.out" 2>"$work/run.err" &
client=$!
goes() { pgrep -f "until \[ -e $work/gate" >/dev/null; }
wait_for 30 goes
config maxmemory 1mb
touch "$work/gate"
said() { grep -q "memory is full.*maxmemory" "$1"; }
wait_for 30 said "$work/run.err"
ok $? "its memory is full: who follows a run is told, with the remedy"
status_says() { # its sentences are broken where the terminal ends
    say status && tr "\n" " " <"$work/out" >"$work/joined" && said "$work/joined"
}
wait_for 20 status_says
ok $? "status says so"
mkdir "$work/other" && cp "$work/flow/flow.yaml" "$work/other"
say submit "$work/other/flow.yaml" --no-shared -q &
submit=$!
wait_for 20 said "$work/err"
ok $? "and submit"
kill "$submit" 2>/dev/null
sleep 3
[ "$(grep -c "memory is full" "$work/run.err")" = 1 ] && [ "$(grep -c "memory is full" "$work/one.log")" -le 2 ]
ok $? "once each ($(grep -c "memory is full" "$work/run.err"), in the log $(grep -c "memory is full" "$work/one.log"))"
config maxmemory 0
wait "$client"
status=$?
client=""
[ $status = 0 ] && [ "$(cat "$work/flow/last.txt")" = hello ]
ok $? "with room again the run ends well"
wait "$submit" 2>/dev/null
finish
