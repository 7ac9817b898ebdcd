#!/usr/bin/env bash
# What 014_output_test asks of all commands, of those that need a cluster: output that cannot be written is an error. Speaks TAP.
# shellcheck source=tests/cluster/cluster_common.sh
. tests/cluster/cluster_common.sh
command -v redis-server >/dev/null || skip "a cluster" "redis-server is not installed"
start_server
"$weft" key "$work/key" >/dev/null 2>&1
export WEFT_KEY=$work/key
start_agent a "$weft" agent -j 1
are_ready a
ok $? "an agent"
mkdir "$work/f"
printf 'weft: 1\nname: f\ntasks:\n  a: { run: "echo x > {out}", out: x }\n' >"$work/f/flow.yaml"
printf 'weft: 1\nname: long\ntasks:\n  a: { run: "sleep 60" }\n' >"$work/f/long.yaml"
# attach and status of a run that is there for each of them
submit() {
    rm -rf "$work/f/.weft" "$work/f/x"
    run=$("$weft" submit "$work/f/$1.yaml" -q 2>/dev/null)
}
refused() { # TO COMMAND...: it must fail, and say why, once
    local to=$1
    shift
    if [ "$to" = closed ]; then timeout 60 "$weft" "$@" >&- 2>"$work/err"; else timeout 60 "$weft" "$@" >/dev/full 2>"$work/err"; fi
    local got=$?
    [ $got -ne 0 ] && [ $got -le 3 ] && [ "$(grep -c "standard output" "$work/err")" = 1 ]
    ok $? "$1 into what is $to (exit $got)"
}
for to in full closed; do
    refused $to status
    refused $to status --json
    rm -rf "$work/f/.weft" "$work/f/x"
    refused $to submit "$work/f/flow.yaml"
    submit flow && refused $to attach "$run" -C "$work/f"
    [ "$(cat "$work/f/x" 2>/dev/null)" = x ]
    ok $? "its result is here all the same"
    submit long && refused $to cancel "$run" -C "$work/f"
done
# an agent whose line nobody can read works all the same, and says so in the end
"$weft" agent -j 1 --state "$work/b" >&- 2>"$work/b.log" </dev/null &
agent=$!
agents="$agents $agent"
wait_for 30 grep -q "standard output" "$work/b.log"
ok $? "an agent that cannot say that it is ready says that"
kill -TERM $agent
wait $agent
[ $? = 1 ]
ok $? "and ends with an error"
"$weft" run "$work/f/flow.yaml" --force >"$work/out" 2>"$work/err"
ok $? "nothing was harmed by it"
finish
