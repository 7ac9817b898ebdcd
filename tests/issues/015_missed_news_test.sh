#!/usr/bin/env bash
# An agent that was told of news while its last look at the board was under way took that look's answer for the news, and saw a run that
# had been opened meanwhile a heartbeat later: `weft run --on local:4` of one task took a second more in every third run. Here the look takes
# longer than the opening, and the next heartbeat would come after a minute. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "news that come while an agent looks" "redis-server is not installed"
command -v python3 >/dev/null || skip "news that come while an agent looks" "python3 is not installed"
"$weft" key "$work/key" >/dev/null
export WEFT_KEY=$work/key
start_server
start_relay late "$port"
start_agent slow env WEFT_STORE="redis://127.0.0.1:$relay_port" "$weft" agent -j 1 --lease 300
are_ready slow
ok $? "an agent that looks once a minute"
kill -USR1 "$relay"
mkdir "$work/flow" && cd "$work/flow" || exit 1
printf 'weft: 1\ntasks: { a: { run: "echo 1 > {out}", out: x } }\n' >flow.yaml
for i in 1 2; do
    timeout 40 "$weft" run flow.yaml -f --on cluster --no-shared >"$work/out" 2>"$work/err" && [ "$(cat x)" = 1 ]
    ok $? "run $i begins when it is opened, not when the agent looks the next time"
done
finish
