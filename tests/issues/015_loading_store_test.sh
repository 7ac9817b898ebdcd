#!/usr/bin/env bash
# A server that was restarted reads its file for a while, and says meanwhile that it writes none: whoever came just then
# refused it as one that loses data, and an agent died of that. Now he waits. Speaks TAP.
weft=$WEFT
command -v redis-server >/dev/null || { echo "1..0 # SKIP no redis-server"; exit 0; }
work=$(mktemp -d)
server='' agent=''
trap '[ -z "$agent$server" ] || kill -9 $agent $server 2>/dev/null; rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
start() { # options: a server on a port that was free
    mkdir -p store
    redis-server --port "$port" --bind 127.0.0.1 --dir "$work/store" --save "" --appendonly yes --appendfsync always "$@" >server.log 2>&1 &
    server=$!
}
ask() { redis-cli -p "$port" "$@" 2>/dev/null; }
for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 20000))
    start
    for _ in $(seq 200); do [ "$(ask ping)" != PONG ] || break 2; kill -0 $server 2>/dev/null || break; sleep 0.05; done
done
# keys that each take a while to read (an option of the server's own tests); it answers every 1024 keys
seq -f 'SET key%.0f value' 16000 | ask >/dev/null
kill $server; wait $server 2>/dev/null
start --key-load-delay 300
for _ in $(seq 200); do ask info persistence | tr -d '\r' >seen; grep -q '^loading:1' seen && break; sleep 0.01; done
grep -q '^loading:1' seen && grep -q '^aof_enabled:0' seen
ok $? "the server reads its file, and says that it writes none"
"$weft" key key >/dev/null
"$weft" agent --store "redis://127.0.0.1:$port" --key key --state "$work/state" -j 1 >out 2>err &
agent=$!
for _ in $(seq 400); do grep -q ready out err && break; kill -0 $agent 2>/dev/null || break; sleep 0.05; done
grep -q ready out err && ! grep -q 'append-only' err
ok $? "an agent that comes meanwhile does not call it one that loses data"
ask info persistence | tr -d '\r' | grep -q '^loading:0'
ok $? "and has waited for the end"
echo "1..$count"
exit $failed
